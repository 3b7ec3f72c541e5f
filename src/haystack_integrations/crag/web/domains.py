"""Addresses of the web: one parser for all that is decided about a URL, so that no two readings of it can differ."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from socket import inet_aton
from typing import Final
from urllib.parse import quote, urlsplit

import idna

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.texts.sanitise import FORBIDDEN

PORTS: Final = {"http": 80, "https": 443}
_LONGEST_URL: Final = 2_048
_LONGEST_HOST: Final = 253

# Clients disagree on what these mean: browsers read a backslash as a slash, parsers skip tabs and line ends.
_TWO_READINGS: Final = re.compile(r"[\\\t\n\r\x0b\x0c\x85\u2028\u2029]")
_LABELS: Final = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)")
_QUOTED: Final = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_TRACKING: Final = re.compile(
    r"(?:utm_[^=]*|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|igsh|li_fat_id|mc_cid|"
    r"mc_eid|mkt_tok|_hsenc|_hsmi|_ga|_gl|vero_id|oly_enc_id|oly_anon_id|wickedid|srsltid|ref_src|spm)(?:=.*)?",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class WebUrl:
    """
    An http or https address, read once; user name, password and fragment are gone.

    :param scheme: `http` or `https`.
    :param host: The canonical host; an IPv6 address without brackets.
    :param port: The port, also where the address left it to the scheme.
    :param target: Path and query, percent-encoded.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and, unless it is the scheme's own, port: what stands in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_url(url: object) -> WebUrl | None:
    """
    Read a web address.

    :param url: Anything; what providers give is not always a string.
    :returns: Its parts, or None for all but an unambiguous http or https address.
    """
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        return None
    url = url.strip(" \t\r\n")
    if _TWO_READINGS.search(url) or FORBIDDEN.search(url):
        return None
    try:
        parts = urlsplit(url)
        host, port = canonical_host(parts.netloc.rpartition("@")[2] and (parts.hostname or "")), parts.port
    except ValueError:
        return None
    if parts.scheme not in PORTS or host is None or port == 0:
        return None
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~?")
    return WebUrl(parts.scheme, host, port or PORTS[parts.scheme], f"{target}?{query}" if query else target)


@lru_cache(maxsize=1_024)
def canonical_host(host: str) -> str | None:
    """
    Bring a host into the one form that hosts are compared in.

    :param host: A name or an address, without port; IPv6 without brackets.
    :returns: Lower-case ASCII without a trailing dot; IPv4 as four decimals whatever its form; None for no host.
    """
    host = host.lower().removesuffix(".")
    if not host or len(host) > _LONGEST_HOST:
        return None
    try:
        if ":" in host:
            return None if "%" in host else str(IPv6Address(host))
        if not host.isascii() or "xn--" in host:
            host = idna.encode(host, uts46=True).decode("ascii").removesuffix(".")
        if _NUMBER.fullmatch(host):
            return str(ip_address(inet_aton(host)))
    except (ValueError, OSError):  # `IDNAError` is a ValueError
        return None
    return host if _LABELS.fullmatch(host) and len(host) <= _LONGEST_HOST else None


def domain_matches(host: str, rule: str) -> bool:
    """
    Tell whether a host is a domain or below it; never whether it merely looks like it.

    ```python
    from haystack_integrations.crag.web.domains import domain_matches

    assert domain_matches("docs.example.com", "example.com")
    assert not domain_matches("evil-example.com", "example.com")
    ```

    :param host: The host of a result.
    :param rule: A domain, such as `example.com`.
    :returns: Whether the rule covers the host. What is no host matches nothing.
    """
    name, domain = canonical_host(host), canonical_host(rule)
    if name is None or domain is None:
        return False
    return name == domain or name.endswith(f".{domain}")  # no name ends in the numbers of an address


def canonical_url(url: object) -> str | None:
    """
    Bring an address into the form that tells whether two results are the same page.

    Without scheme, `www.`, tracking parameters, order of parameters and a slash at the end.

    :param url: Any address.
    :returns: A key for comparison (not for fetching), or None for all but http and https.
    """
    parsed = parse_url(url)
    if parsed is None:
        return None
    path, _, query = _QUOTED.sub(_normal_quote, parsed.target).partition("?")
    kept = sorted(part for part in query.split("&") if part and not _TRACKING.fullmatch(part))
    return f"//{parsed.authority.removeprefix('www.')}{path.rstrip('/')}" + (f"?{'&'.join(kept)}" if kept else "")


def _normal_quote(quoted: re.Match[str]) -> str:
    character = chr(int(quoted[1], 16))
    return character if _UNRESERVED.fullmatch(character) else quoted[0].upper()


@dataclass(frozen=True)
class Rules:
    """
    Which hosts are let in.

    :param allow: Canonical domains that alone are; none means all.
    :param deny: Canonical domains that are not, whatever is allowed.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @classmethod
    def of(cls, allow: Sequence[str] | None, deny: Sequence[str] | None) -> "Rules":
        """
        Read lists of domains.

        :param allow: Domains that alone are let in; None lets in all.
        :param deny: Domains that are not, or None.
        :returns: The rules.
        :raises ConfigurationError: For a rule that is no domain, and for an empty list of what is let in.
        """
        if allow is not None and not allow:
            msg = "allow_domains is empty, which lets in nothing; None lets in all. Name a domain, or leave it out."
            raise ConfigurationError(msg)
        return cls(checked_rules(allow or ()), checked_rules(deny or ()))

    def permit(self, host: str) -> bool:
        """
        Tell whether a host is let in.

        :param host: A canonical host.
        :returns: The answer; what is denied wins.
        """
        if any(domain_matches(host, rule) for rule in self.deny):
            return False
        return not self.allow or any(domain_matches(host, rule) for rule in self.allow)


def checked_rules(rules: Sequence[str]) -> tuple[str, ...]:
    """
    Read a list of allowed or denied domains.

    :param rules: Domains such as `example.com`; each covers the domains below it.
    :returns: The rules in canonical form.
    :raises ConfigurationError: For a rule that is no domain: it would silently match nothing.
    """
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        msg = f"The list of domains is a {type(rules).__name__}; wanted a list, such as ['example.com']."
        raise ConfigurationError(msg)
    checked = [canonical_host(rule) if isinstance(rule, str) else None for rule in rules]
    for rule, host in zip(rules, checked, strict=True):
        if host is None:
            msg = (
                f"The rule {rule!r} is no domain; wanted a name such as 'example.com', which covers all names below "
                "it too. Leave out scheme, port, path, wildcard and leading dot."
            )
            raise ConfigurationError(msg)
    return tuple(host for host in checked if host is not None)
