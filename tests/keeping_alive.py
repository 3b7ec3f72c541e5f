"""A model's server that keeps connections, as real ones do: it answers, as a stream where that is asked, and embeds."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class KeepingAlive(BaseHTTPRequestHandler):
    """One connection; as it stands, it grades one document."""

    protocol_version = "HTTP/1.1"

    def words(self) -> str:
        """Say what is replied."""
        return json.dumps([0.9])

    def number(self) -> float:
        """Give what a vector is made of."""
        return 0.1

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = {"role": "assistant", "content": self.words()}
        reply: dict[str, Any] = {"id": "r", "object": "chat.completion", "created": 0, "model": "m"}
        choice = {"index": 0, "finish_reason": "stop"}
        if "input" in asked:
            vector = {"object": "embedding", "index": 0, "embedding": [self.number()] * 256}
            tokens = {"prompt_tokens": 1, "total_tokens": 1}
            reply = {"object": "list", "model": "m", "data": [vector], "usage": tokens}
        elif asked.get("stream"):
            reply |= {"object": "chat.completion.chunk", "choices": [{**choice, "delta": said}]}
        else:
            reply |= {"choices": [{**choice, "message": said}]}
        body, kind = json.dumps(reply).encode(), "application/json"
        if asked.get("stream"):
            body, kind = b"data: " + body + b"\n\ndata: [DONE]\n\n", "text/event-stream"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[KeepingAlive] = KeepingAlive) -> Iterator[str]:
    """Serve on loopback; gives the address of its API."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
