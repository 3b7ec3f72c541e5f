"""The address of a Redis, which may hold a password: it is checked, and never shown."""

from urllib.parse import parse_qs, urlsplit

from haystack.utils import Secret

from haystack_integrations.crag.errors import ConfigurationError


def checked(url: str, *, secret: bool) -> str:
    """
    Refuse what is no address.

    :param url: The address.
    :param secret: Whether it may hold a password.
    :returns: The address.
    :raises ConfigurationError: When it is none, or holds a password that it may not hold.
    """
    try:
        parts = urlsplit(url)
        bare = not parts.password and "password" not in parse_qs(parts.query)
        fits = parts.scheme in {"redis", "rediss", "unix"} and parts.port != 0  # reading the port checks it
    except ValueError:  # its text may hold a part of the password
        fits = False
    if not (fits and (secret or bare)):
        msg = "url must be like 'redis://127.0.0.1:6379/0', with a password a Secret; this one is not shown"
        raise ConfigurationError(msg)
    return url


def resolved(secret: Secret) -> str:
    """
    Read a Secret as it is now.

    :param secret: What holds the address.
    :returns: The address.
    :raises ConfigurationError: When it holds none.
    """
    try:
        url = secret.resolve_value() or ""
    except ValueError:
        msg = "url got a Secret that is not set, wanted one that holds the address of a Redis; set its variable"
        raise ConfigurationError(msg) from None
    return checked(url, secret=True)
