"""A real Elasticsearch behind a wire that lies: it changes a search's reply, breaks it off, or keeps it back."""

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SO_LINGER, SOL_SOCKET
from threading import Event, Thread
from typing import Any, ClassVar
from urllib.parse import urlsplit

Change = Callable[[dict[str, Any]], None]


class Wire:
    """What is done to the replies of searches; set at any time. `searches` keeps their requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.change: Change | None = None  # made to the JSON of a reply
        self.fault = ""  # `reset`, `cut`, `hang`, or a status such as `503`
        self.only = ""  # only searches with this word in the request
        self.barred = ""  # paths with this word are answered by a proxy's page
        self.over = Event()
        self.searches: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    target: ClassVar[tuple[str, int]]
    wire: ClassVar[Wire]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.wire.barred and self.wire.barred in self.path:
            self.send_error(403)
            return
        connection = HTTPConnection(*self.target, timeout=10)
        connection.request(self.command, self.path, body, {**self.headers})
        reply = connection.getresponse()
        text, status = reply.read(), reply.status
        connection.close()
        if "/_search" in self.path:
            self.wire.searches.append({"path": self.path, **json.loads(body)})
            if self.wire.only in body.decode():
                text, status = self._lie(text, status)
        self.send_response(status)
        for name in ("Content-Type", "X-Elastic-Product"):
            if value := reply.headers.get(name):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text[: len(text) // 2] if self.wire.fault == "cut" and "/_search" in self.path else text)

    do_POST = do_PUT = do_HEAD = do_DELETE = do_GET  # noqa: N815 - the names of http.server

    def _lie(self, text: bytes, status: int) -> tuple[bytes, int]:
        fault = self.wire.fault
        if self.wire.change is not None:
            reply = json.loads(text)
            self.wire.change(reply)
            text = json.dumps(reply).encode()
        if fault == "hang":
            self.wire.over.wait(60)
        if fault == "reset":
            self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            raise ConnectionResetError
        return (b'{"error": {"type": "scripted"}}', int(fault)) if fault.isdecimal() else (text, status)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing: a broken connection is what was wanted."""


@contextmanager
def lying(url: str) -> Iterator[Wire]:
    """Put the wire between a client and the server at `url`."""
    at = urlsplit(url)
    handler = type("Handler", (_Handler,), {"target": (at.hostname, at.port)})
    server = _Server(("127.0.0.1", 0), handler)
    handler.wire = wire = Wire(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
