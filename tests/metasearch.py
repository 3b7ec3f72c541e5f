"""A metasearch server on loopback in SearXNG's dialect, for pipelines that go to the web; it counts and can fail.

The fixture `metasearch` gives one for each test and sets CRAG_SEARXNG_URL, which the shipped pipelines read.
"""

import json
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Final

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

_PATIENCE: Final = 30.0


class Metasearch:
    """
    The server's script and its memory; set `results`, `status` and `delay` at any time.

    Where `allowed` is cleared, a search waits for it: something else must happen first. From the search
    number `fails_from` on, all fail.
    """

    def __init__(self, server: HTTPServer) -> None:
        self.results: list[dict[str, str]] = []
        self.status = 200
        self.fails_from: int | None = None
        self.delay = 0.0
        self.begun, self.allowed = Event(), Event()  # a search has come; it may be answered
        self.allowed.set()
        self.queries: list[str] = []
        self._over = Event()
        self.url = f"http://{server.host}:{server.port}"
        server.expect_request("/search").respond_with_handler(self._search)

    def finds(self, texts: Sequence[str]) -> None:
        """Answer every query with one page for each text."""
        self.results = [
            {"title": f"Page {n}", "url": f"https://example{n}.org/", "content": text} for n, text in enumerate(texts)
        ]

    def end(self) -> None:
        """Let searches that still wait end at once."""
        self._over.set()
        self.allowed.set()

    def _search(self, request: Request) -> Response:
        self.queries.append(request.values["q"])
        self.begun.set()
        self._over.wait(self.delay)
        self.allowed.wait(_PATIENCE)
        status = 500 if self.fails_from and len(self.queries) >= self.fails_from else self.status
        if status != 200:
            return Response("<html>scripted</html>", status, content_type="text/html")
        body = {"query": request.values["q"], "results": self.results, "unresponsive_engines": [], "answers": []}
        return Response(json.dumps(body), content_type="application/json")


@pytest.fixture
def metasearch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Metasearch]:
    """Serve a scripted metasearch while the test runs."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        made = Metasearch(server)
        monkeypatch.setenv("CRAG_SEARXNG_URL", made.url)
        yield made
        made.end()
