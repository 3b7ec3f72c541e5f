"""One component on one event loop after the other, as a script has that calls `asyncio.run` for each question."""

import asyncio
import gc
import json
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import FallbackChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from makers import fill

from haystack_integrations.crag.closing import leave_ended_loop
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.store_profiles import open_store


@pytest.fixture(autouse=True)
def sockets() -> Iterator[None]:
    """Those of a loop that has ended can only be closed by the garbage collector, which says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


class _KeepingAlive(BaseHTTPRequestHandler):
    """A chat server that keeps connections, as real ones do, and grades one document."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps([0.9])}}
        reply = {"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def model() -> Iterator[OpenAIChatGenerator]:
    """Haystack's generator before such a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _KeepingAlive) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield OpenAIChatGenerator(Secret.from_token("k"), "m", api_base_url=url, max_retries=0)
        server.shutdown()


@pytest.mark.parametrize("around", [lambda one: one, lambda one: FallbackChatGenerator([one])], ids=["", "fallback"])
def test_a_model_is_asked_on_every_loop(model: Any, around: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Its connections are of the loop before, where each call failed: every second grading, and every second answer."""
    grader, generator = BatchRelevanceGrader(around(model)), AnswerGenerator(around(model))
    for _ in range(3):
        graded = asyncio.run(grader.run_async("q", [Document(content="A text.")]))
        answer = asyncio.run(generator.run_async([ChatMessage.from_user("q")]))
        gc.collect()
        assert (graded["status"], answer["replies"][0].text) == ("ok", "[0.9]")
    assert "never retrieved" not in caplog.text


def test_a_client_is_kept_for_as_long_as_its_loop_goes_on(model: Any) -> None:
    """Also where another loop came and went."""

    async def clients() -> list[Any]:
        generator, seen = AnswerGenerator(model), []
        for _ in range(2):
            await generator.run_async([ChatMessage.from_user("q")])
            seen.append(model.async_client)
            await asyncio.to_thread(asyncio.run, leave_ended_loop(model))
        return seen

    first, second = asyncio.run(clients())
    assert first is second


def test_what_cannot_begin_anew_stays_as_it_is() -> None:
    """A client that nobody makes again is better than none."""

    class Own:
        def __init__(self) -> None:
            self.async_client = object()

    own = Own()
    for part in (own, own, None):
        asyncio.run(leave_ended_loop(part))
    assert own.async_client is not None


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    """A store of one document on the real server."""
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    fill(made, [Document(content="Penguins live on the coast.")])
    yield made
    made.close()


def test_an_index_is_searched_on_every_loop(store: Any) -> None:
    """As a model is asked."""
    rag = load("corrective_retrieval", store=store)

    async def once(*, last: bool) -> Any:
        found = await rag.run_async(query="Where do penguins live?")
        if last:
            await store.close_async()
        return found["crag"]["coverage"]["reasons"]

    assert [asyncio.run(once(last=last)) for last in (False, False, True)] == [[], [], []]
