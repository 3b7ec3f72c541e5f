"""The address of a Redis, which may hold a password: it is checked, and never shown."""

from typing import Final
from urllib.parse import parse_qs, urlsplit

from haystack.utils import Secret

from haystack_integrations.crag.errors import ConfigurationError

_SCHEMES: Final = frozenset({"redis", "rediss", "unix"})


def is_redis(url: str) -> bool:
    """
    Tell whether a text is the address of a Redis: it names the host, or the socket's file.

    :param url: The text. Where it names none, a client would ask this machine, and nobody asked for that.
    :returns: Whether it is one.
    """
    try:
        parts = urlsplit(url)
        at = parts.path if parts.scheme == "unix" else parts.hostname
        return parts.scheme in _SCHEMES and bool(at) and parts.port != 0  # reading the port checks it
    except ValueError:  # its text may hold a part of the password
        return False


def checked(url: str, *, secret: bool) -> str:
    """
    Refuse what is no address.

    :param url: The address.
    :param secret: Whether it may hold a password.
    :returns: The address.
    :raises ConfigurationError: When it is none, or holds a password that it may not hold.
    """
    if not (is_redis(url) and (secret or _is_bare(url))):
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


def _is_bare(url: str) -> bool:
    parts = urlsplit(url)
    return not parts.password and "password" not in parse_qs(parts.query)
