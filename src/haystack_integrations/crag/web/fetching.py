"""Fetching a page from the public internet: the address that is connected to is the address that was checked."""

import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from ssl import SSLContext
from typing import Final, Literal, NoReturn
from urllib.parse import urljoin

import httpcore

from haystack_integrations.crag.deadlines import call_within_async
from haystack_integrations.crag.web.addresses import public
from haystack_integrations.crag.web.domains import PORTS, WebUrl, parse_url

PAGE_SECONDS: Final = 5.0
MARKUP: Final = frozenset({"text/html", "application/xhtml+xml"})
_MOST_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200
# Each part of a body costs the event loop time, and there may be one for each byte.
_MOST_PARTS: Final = 4_096
# Not compressed: a few bytes can become gigabytes, and few servers insist. No cookie, no address of where we were.
_HEADERS: Final = (
    ("Accept", "text/html, text/*;q=0.8"),
    ("Accept-Encoding", "identity"),
    ("User-Agent", "crag-haystack"),
)

Check = Callable[[str], bool]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


Kind = Literal[
    "address", "charset", "connection", "domain", "empty", "encoding", "error", "name", "port", "redirects", "short",
    "status", "timeout", "type", "url",
]  # fmt: skip
"""Why a page was not read."""


class PageError(Exception):
    """
    A page that is not read.

    :param kind: The reason.
    """

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind = kind


def give_up(kind: Kind, cause: Exception | None = None) -> NoReturn:
    """
    End the reading of a page.

    :param kind: The reason.
    :param cause: The error behind it.
    :raises PageError: Always.
    """
    raise PageError(kind) from cause


async def addresses_of(host: str, port: int) -> Sequence[str]:
    """Ask the name service, in a thread that can be left behind: it has no timeout of its own."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await call_within_async(PAGE_SECONDS, look_up)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """
    Connects to the address that was checked; the name is not looked up a second time.

    The name stays what the server hears (`Host`) and what its certificate must be for.
    """

    def __init__(self, check: Check, resolve: Resolve) -> None:
        self._check, self._resolve, self._backend = check, resolve, httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Look the name up once, refuse it when any of its addresses is refused, connect to one of them."""
        is_address = ":" in host or host.replace(".", "").isdigit()
        try:
            addresses = [host] if is_address else await self._resolve(host, port)
        except OSError as error:
            give_up("timeout" if isinstance(error, TimeoutError) else "name", error)
        if not addresses:
            give_up("name")
        if not all(map(self._check, addresses)):
            give_up("address")
        connect = partial(self._backend.connect_tcp, port=port, timeout=timeout, local_address=local_address)
        for address in addresses[:-1]:
            try:
                return await connect(address, socket_options=socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await connect(addresses[-1], socket_options=socket_options)


@dataclass(frozen=True)
class PageFetcher:
    """
    Fetches pages; what it is made with exists for tests, which have no public address to read from.

    :param check: Tells whether an address may be connected to.
    :param resolve: Finds the addresses of a name.
    :param ports: The ports that may be connected to.
    """

    check: Check = public
    resolve: Resolve = addresses_of
    ports: frozenset[int] = frozenset(PORTS.values())

    async def fetch(
        self, url: WebUrl | None, max_bytes: int, permits: Callable[[str], bool]
    ) -> tuple[WebUrl, str, bytes]:
        """
        Fetch a page over few redirects, each checked like the first address; no connection outlives the page.

        :param url: Its address; None for one that is not a web address.
        :param max_bytes: The most of its body.
        :param permits: Tells whether a host may be asked.
        :returns: The address it was found at, its content type, the beginning of its body.
        :raises PageError: When it must not or cannot be read. Errors of `httpcore` come as they are.
        """
        for _ in range(_MOST_REDIRECTS + 1):
            if url is None:
                give_up("url")
            if url.port not in self.ports:
                give_up("port")
            if not permits(url.host):
                give_up("domain")
            context = _tls() if url.scheme == "https" else None
            backend = PinnedBackend(self.check, self.resolve)
            async with httpcore.AsyncConnectionPool(ssl_context=context, network_backend=backend) as pool:
                location, kind, body = await _get(pool, url, max_bytes)
            if location is None:
                return url, kind, body
            url = parse_url(urljoin(str(url), location))
        give_up("redirects")


async def _get(pool: httpcore.AsyncConnectionPool, url: WebUrl, most: int) -> tuple[str | None, str, bytes]:
    """Ask for one address: where it redirects to, or its content type and the first bytes of its body."""
    target = httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), PAGE_SECONDS)
    headers = [("Host", url.authority), *_HEADERS]
    async with pool.stream("GET", target, headers=headers, extensions={"timeout": timeout}) as response:
        # A server may write an address as it is, in UTF-8.
        given = {name.lower(): value.decode(errors="replace") for name, value in response.headers}
        if response.status in _REDIRECTS and b"location" in given:
            return given[b"location"], "", b""
        kind = given.get(b"content-type", "")
        name = kind.partition(";")[0].strip().lower()
        if response.status != _OK:
            give_up("status")
        if not (name.startswith("text/") or name in MARKUP):
            give_up("type")
        if given.get(b"content-encoding", "identity").strip().lower() not in {"", "identity"}:
            give_up("encoding")
        body, parts = bytearray(), 0
        async for part in response.aiter_stream():
            body += part  # in place: a copy for each part would take the square of their number
            parts += 1
            if len(body) >= most or parts == _MOST_PARTS:
                break
        return None, kind, bytes(body[:most])


@cache
def _tls() -> SSLContext:
    return httpcore.default_ssl_context()
