"""HTTP requests that offer to go on in another protocol: read as if they did not, which HTTP lets a server do."""

from collections.abc import Callable
from typing import Any, Final

import httptools

_OFFER: Final = b"upgrade"


class PlainParser:
    """
    httptools' parser, for a server that changes to no other protocol.

    Of a request with an offer httptools leaves the body out, and reads it as the next request. Java's own client
    offers HTTP/2 with every request, and so does what is built on it.

    :param protocol: Whom the parser tells what it reads; it is told of such a request a second time, without the offer.
    :param head: Gives what was read of a request so far: its target, and its headers.
    """

    def __init__(self, protocol: Any, head: Callable[[], tuple[bytes, list[tuple[bytes, bytes]]]]) -> None:
        """Begin to read."""
        self._protocol, self._head = protocol, head
        self._parser = self._fresh()

    def feed_data(self, data: bytes) -> None:
        """
        Read what has come.

        :param data: A part of a request, or of several.
        """
        rest = memoryview(data)
        while True:
            try:
                self._parser.feed_data(rest)
            except httptools.HttpParserUpgrade as offer:
                rest, again = rest[offer.args[0] :], self._without_offer()
                self._parser = self._fresh()
                self._parser.feed_data(again)
            else:
                return

    @property
    def is_offered(self) -> bool:
        """Tell whether the request that is read now will be read again, without its offer."""
        return bool(self._parser.should_upgrade())

    def __getattr__(self, name: str) -> Any:
        """Do all else as the parser does."""
        return getattr(self._parser, name)

    def _without_offer(self) -> bytes:
        target, headers = self._head()
        version = self._parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self._parser.get_method(), target, version)]
        lines += [b"%s: %s" % (name, value) for name, value in headers if name != _OFFER]
        return b"\r\n".join([*lines, b"", b""])

    def _fresh(self) -> httptools.HttpRequestParser:
        parser = httptools.HttpRequestParser(self._protocol)
        # As uvicorn does: what comes behind a request that closes is not read, and no mistake.
        parser.set_dangerous_leniencies(lenient_data_after_close=True)
        return parser
