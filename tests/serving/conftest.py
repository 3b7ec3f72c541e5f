"""A served app on a free port, and a client for it."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
import uvicorn
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill
from pytest_httpserver import HTTPServer
from scripted_model import NAME, ScriptedModel, judging

pytest.importorskip("hayhooks", reason='needs pip install -e ".[serve]"')

from haystack_integrations.crag.serving.app import create_app
from haystack_integrations.crag.serving.logs import OURS, SENDERS
from haystack_integrations.crag.serving.server import uvicorn_options
from haystack_integrations.crag.serving.settings import read_settings

DEFAULT_INTERCEPTED = ("uvicorn", "uvicorn.access", "fastapi")
KEY = "a-key-of-the-tests"
BEARER = {"Authorization": f"Bearer {KEY}"}
QUESTION = "Who wrote the novel Emma?"
DOCUMENTS = [
    Document(content="Emma is a novel by Jane Austen, published in 1815.", meta={"source": "emma.md", "year": 1815}),
    Document(content="Persuasion was the last novel that Jane Austen finished.", meta={"source": "persuasion.md"}),
    Document(content="Gardens need water in summer.", meta={"source": "gardens.md", "title": "Gardens"}),
]


class Served:
    """A running app: its address, its app object, its event loop."""

    def __init__(self, app: Any, server: uvicorn.Server, port: int) -> None:
        self.app, self.server, self.port = app, server, port
        self.url = f"http://127.0.0.1:{port}"
        self.loop: asyncio.AbstractEventLoop | None = None

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, **{"headers": BEARER, **options})


@contextmanager
def served(app: Any, settings: Any) -> Iterator[Served]:
    """Serve an app in a thread, with the options of `crag serve`, while the block runs."""
    # The protocol is named, since asyncio sends small parts without delay only where it is.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, **{**uvicorn_options(settings), "port": port}))
        running = Served(app, server, port)

        async def run() -> None:
            running.loop = asyncio.get_running_loop()
            await server.serve(sockets=[listener])

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        try:
            while not server.started and thread.is_alive():
                threading.Event().wait(0.01)
            assert server.started
            yield running
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine reaches a server."""
    for name in [name for name in os.environ if name.startswith(("CRAG_", "ELASTICSEARCH_", "OTEL_", "HAYHOOKS_"))]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Hayhooks and `crag serve` take loggers over, as the owner of a process may; other tests want them back."""
    known = [logging.getLogger(name) for name in (None, *OURS, *SENDERS, *DEFAULT_INTERCEPTED)]
    kept = [(logger, logger.level, logger.propagate, list(logger.handlers)) for logger in known]
    yield
    for logger, level, propagate, handlers in kept:
        logger.setLevel(level)
        logger.propagate, logger.handlers = propagate, handlers


def filled() -> Any:
    """A store of its own with three documents."""
    store = InMemoryDocumentStore(index=f"test_{uuid4().hex}", embedding_similarity_function="cosine")
    fill(store, DOCUMENTS)
    return store


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Serve one pipeline, or what the given settings say; ends with the test."""
    with ExitStack() as stack:

        def start(store: Any = None, **given: Any) -> Served:
            settings = read_settings(**{"api_keys": KEY, "pipelines": "corrective_retrieval", **given})
            return stack.enter_context(served(create_app(settings, store=store or filled()), settings))

        yield start


@pytest.fixture(scope="package")
def everything() -> Iterator[tuple[Served, ScriptedModel]]:
    """All pipelines, with a scripted model: loaded once for all tests here."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server, pytest.MonkeyPatch.context() as environment:
        model = ScriptedModel(server)
        environment.setenv("CRAG_LLM_BASE_URL", model.url)
        environment.setenv("CRAG_LLM_MODEL", NAME)
        settings = read_settings(api_keys=KEY, uploads=True)
        app = create_app(settings, store=filled())
        with served(app, settings) as running:
            yield running, model
        model.end()


@pytest.fixture
def model(everything: tuple[Served, ScriptedModel]) -> ScriptedModel:
    """The model of `answering`, which finds Emma relevant until a test says otherwise."""
    _, model = everything
    model.reply = judging(lambda text: float(text.startswith("Emma")))
    model.status, model.delay, model.refuses, model.words, model.streams = 200, 0.0, "", None, True
    model.parts, model.pause, model.streams_usage, model.in_parts = None, 0.0, True, False
    model.requests.clear()
    return model


@pytest.fixture
def answering(everything: tuple[Served, ScriptedModel], model: ScriptedModel) -> Served:
    """All pipelines, served."""
    del model
    return everything[0]
