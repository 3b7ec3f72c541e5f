"""uvicorn's protocol, with limits for clients that neither end their request nor read their answer."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from haystack_integrations.crag.serving.offers import PlainParser

_HEAD_SECONDS: Final = 10.0
_HEAD_BYTES: Final = 65_536
_BODY_SECONDS: Final = 90.0  # more than any route gives a body: it is for what is refused before its body is read
_READ_SECONDS: Final = 60.0
_LAST_SECONDS: Final = 2.0


class PunctualProtocol(HttpToolsProtocol):
    """
    Closes a connection whose request does not come, or does not end, or whose answer nobody reads.

    uvicorn waits for ever, and keeps as many headers as come: both hold a connection without a key. An answer that is
    longer than the buffers on its way holds a place as well, until its client reads on.
    """

    url = b""  # uvicorn has none before the first request
    _is_refused = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what uvicorn gives its protocols."""
        super().__init__(*args, **kwargs)
        self.parser: Any = PlainParser(self, lambda: (self.url, self.headers))

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._reader: asyncio.TimerHandle | None = None
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        self._stop_reader()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin to wait for the headers of a request; uvicorn's own limit is for a silent connection between two."""
        super().on_message_begin()
        self._begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count headers that come all at once, too: too many are no HTTP to this server, and end as that does."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _HEAD_BYTES:
            raise ValueError
        if self._in_head:  # behind a body they are no headers: whether uvicorn took them for some would be a race
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to wait for the end of the body, which may be refused and never read by the app."""
        if self.parser.get_method() == b"CONNECT":  # a tunnel: no HTTP to this server, and ends as that does
            raise ValueError
        if self.parser.is_offered:
            return
        self._stop()
        self._wait(_BODY_SECONDS)
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait no more."""
        if self.parser.is_offered:
            return
        self._stop()
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Read, and count what belongs to headers that have not ended."""
        if self._is_refused:
            return
        self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > _HEAD_BYTES and not self._is_refused:
            self._refuse(431, "The headers are too long.")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP to this server."""
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete:
            super().send_400_response(msg)  # the app waits for the rest of a body, which is not to come
        elif self._header_bytes > _HEAD_BYTES:
            self._refuse(431, "The headers are too long.")
        else:
            self._refuse(400, msg)

    def _refuse(self, status: int, text: str) -> None:
        """
        Answer with a line of text, and throw away what still comes for a moment.

        Closed at once, the connection of a client that still sends would be reset, and the client not read why.
        """
        self._is_refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self._close()  # behind the answer of the request before: within it, this would be no answer
            return
        if len(self.url) > _HEAD_BYTES:
            status, text = 414, "The address is too long."
        told = {b"content-type": b"text/plain; charset=utf-8", b"content-length": b"%d" % len(text)}
        told |= {**dict(self.server_state.default_headers), b"connection": b"close"}
        lines = (b"%s: %s\r\n" % line for line in told.items())
        self.transport.write(b"".join((STATUS_LINE[status], *lines, b"\r\n", text.encode("ascii"))))
        self._stop()
        self._timer = self.loop.call_later(_LAST_SECONDS, self.transport.close)

    def pause_writing(self) -> None:
        """Begin to wait for a client to read what is there for it; a slow one that goes on reading is let be."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Wait no more."""
        self._stop_reader()
        super().resume_writing()

    def _wait_for_reader(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._reader = self.loop.call_later(_READ_SECONDS, self._let_go, unread)

    def _let_go(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._wait_for_reader()
        else:
            self.transport.abort()  # closed, it would first wait for the client to read the rest

    def _stop_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _begin(self) -> None:
        self._in_head, self._head_bytes, self._header_bytes = True, 0, 0
        self._wait(_HEAD_SECONDS)

    def _wait(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(seconds, self._close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._stop()
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait(_HEAD_SECONDS)  # an answer is still being made or sent
        elif not self.transport.is_closing():
            self.transport.close()
