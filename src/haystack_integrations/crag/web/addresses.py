"""Which addresses of the internet may be connected to: public ones, and none that leads to one's own network."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# Written out, since `is_global` has changed between versions of Python and calls some of these global.
_REFUSED_V4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this host
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # behind a carrier's translation; also a cloud's metadata
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # a cloud's agent on the host, at an address that looks public
            "169.254.0.0/16",  # link-local; metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments; also a cloud's metadata
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # multicast tunnels
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_REFUSED_V6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, benchmarks, ORCHID, Teredo
            "2001:db8::/32",  # documentation
            "2620:4f:8000::/48",  # AS112
            "3ffe::/16",  # the former test network
            "3fff::/20",  # documentation
        ),
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")


def public(address: str) -> bool:
    """
    Tell whether an address is one of the public internet.

    An IPv4 address inside an IPv6 one (NAT64, 6to4) is what counts there. A network's own NAT64 prefix
    (64:ff9b:1::/48) is refused: where in it the IPv4 address stands, only that network knows.

    :param address: An IP address as a name service gives it.
    :returns: Whether it may be connected to. What is no address, or has a zone, may not.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _REFUSED_V4)
    if parsed.scope_id is not None:
        return False
    inner = _inner(parsed)
    if inner is not None:
        return public(str(inner))
    return parsed in _GLOBAL_UNICAST and not any(parsed in network for network in _REFUSED_V6)


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Find the IPv4 address that a packet to this address ends up at."""
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address.sixtofour
