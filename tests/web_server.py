"""A search engine on loopback that can misbehave in any way, and keeps every byte it is sent; and clients for it."""

import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import requests
from haystack import Document, component

RESULTS = [
    {"title": f"Page {n}", "url": f"https://example.org/page/{n}", "content": f"Penguins of colony {n}."}
    for n in (1, 2, 3)
]


@dataclass
class Reply:
    """What the server does with one request."""

    status: int = 200
    body: Any = field(default_factory=lambda: {"results": RESULTS})
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False  # half of the body, then the connection ends


class WebServer:
    """Set `reply` at any time: from the number of the request, from 1, to what is done with it."""

    def __init__(self) -> None:
        self.reply: Callable[[int], Reply] = lambda _: Reply()
        self.requests: list[bytes] = []
        self.times: list[float] = []
        self.url = ""
        self.over = threading.Event()
        self._lock = threading.Lock()

    def always(self, **values: Any) -> None:
        """Do the same with every request."""
        self.reply = lambda _: Reply(**values)

    @property
    def calls(self) -> int:
        """Count the requests."""
        return len(self.requests)

    def serve(self, connection: Any) -> None:
        """Read one request, keep it, and answer as scripted."""
        data = b""
        while b"\r\n\r\n" not in data:
            got = connection.recv(65536)
            if not got:
                return
            data += got
        head, _, body = data.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        while len(body) < length:
            body += connection.recv(65536)
        with self._lock:
            self.requests.append(head + b"\r\n\r\n" + body)
            self.times.append(time.monotonic())
            reply = self.reply(len(self.requests))
        self.over.wait(reply.delay)
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        lines = [f"HTTP/1.1 {reply.status} Scripted", f"Content-Length: {len(content)}", "Connection: close"]
        lines += ["Content-Type: application/json", *(f"{name}: {value}" for name, value in reply.headers.items())]
        sent = content[: len(content) // 2] if reply.cut else content
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + sent)


@contextmanager
def web_server() -> Iterator[WebServer]:
    """Serve while the block runs."""
    web = WebServer()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                web.serve(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, request_queue_size = True, 128

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        web.url = f"http://127.0.0.1:{server.server_address[1]}/search"
        yield web
        web.over.set()
        server.shutdown()


def parsed(reply: Any, key: str) -> dict[str, Any]:
    """Documents as Haystack's integrations make them."""
    results = reply["results"]
    return {
        "documents": [
            Document(content=result.get("content"), meta={"title": result.get("title"), key: result.get("url")})
            for result in results
        ],
        "links": [result["url"] for result in results if result.get("url")],
    }


@component
class HttpxSearch:
    """A search with both doors, as SerperDev's: the link is `link`, errors come from httpx. Reads no certificates."""

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        self.url, self.timeout = url, timeout

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str) -> dict[str, Any]:
        """Search."""
        with httpx.Client(trust_env=False, verify=False, timeout=self.timeout) as client:
            response = client.get(self.url, params={"q": query})
        return parsed(response.raise_for_status().json(), "link")

    @component.output_types(documents=list[Document], links=list[str])
    async def run_async(self, query: str) -> dict[str, Any]:
        """Search on an event loop."""
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=self.timeout) as client:
            response = await client.get(self.url, params={"q": query})
        return parsed(response.raise_for_status().json(), "link")


@component
class RequestsSearch:
    """A search with the blocking door only; the link is `url`, errors come from requests, wrapped in one of its own."""

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        self.url, self.timeout = url, timeout

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str) -> dict[str, Any]:
        """Search."""
        try:
            with requests.Session() as session:
                session.trust_env = False
                response = session.post(self.url, json={"q": query}, timeout=self.timeout)
                response.raise_for_status()
                return parsed(response.json(), "url")
        except requests.RequestException as error:
            msg = f"secret words of a provider about {query}"
            raise RuntimeError(msg) from error
