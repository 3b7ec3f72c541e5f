"""A model's server that sends more than memory holds: packed, packed twice, or without end."""

import gzip
import json
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from makers import grade_by_door, scripted
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedModel, judging
from waiting import eventually
from werkzeug import Request, Response

from haystack_integrations.crag.chat import NoCompletionError, ask
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.replies.bodies import MOST_BYTES, read_to_a_limit

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
MUCH = 10 * MOST_BYTES
DOCUMENTS = [Document(content="Penguins live on the coast.")]


def packed(megabytes: int) -> bytes:
    """A JSON text of so many megabytes in about a thousandth of them; nobody reads as far as its missing end."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b'{"id": "') + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"a" * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * megabytes


BOMBS = {
    "gzip": packed(2_000),
    "gzip, gzip": gzip.compress(packed(8_000)),
    "deflate": zlib.compress(b"a" * MUCH),
    "gzip that is none": b"no gzip",
}


class Endpoint:
    """A chat server whose reply is set by a test; `ended` once the client reads no more of one without end."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.port}/v1"
        self.packing, self.body, self.asked = "", b"", list[str]()
        self.ended = threading.Event()
        server.expect_request("/v1/chat/completions").respond_with_handler(self._respond)

    def _respond(self, request: Request) -> Response:
        self.asked.append(request.headers.get("Accept-Encoding", ""))
        headers = {"Content-Encoding": self.packing.partition(" that")[0]} if self.packing else {}
        kind = "text/event-stream" if request.get_json().get("stream") else "application/json"
        return Response(self.body or self._endless(), headers=headers, content_type=kind)

    def _endless(self) -> Iterator[bytes]:
        try:
            while True:
                yield (b":" + b" " * 4094 + b"\n") * 16
        finally:
            self.ended.set()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve one while the test runs."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        yield Endpoint(server)


@pytest.fixture
def held() -> Iterator[Any]:
    """Tell the most memory that was held since the test began, in bytes."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def model(url: str, **settings: Any) -> OpenAIChatGenerator:
    """Haystack's generator as anyone makes it."""
    return OpenAIChatGenerator(api_key=Secret.from_token("k"), model="m", api_base_url=url, max_retries=0, **settings)


@BOTH
@pytest.mark.parametrize("packing", BOMBS)
def test_a_reply_that_unpacks_to_gigabytes_is_cut_and_fails_at_once(
    endpoint: Endpoint, held: Any, packing: str, *, asynchronous: bool
) -> None:
    """The grade is a failed one that says why; nothing is unpacked beyond the limit, whatever it is packed in."""
    endpoint.packing, endpoint.body = packing, BOMBS[packing]
    result = grade_by_door(BatchRelevanceGrader(model(endpoint.url)), "q", DOCUMENTS, asynchronous=asynchronous)
    assert [each.meta["crag"]["reason"] for each in result["documents"]] == ["no_completion"]
    assert held() < MUCH


@BOTH
def test_a_reply_without_end_is_read_to_the_limit(endpoint: Endpoint, held: Any, *, asynchronous: bool) -> None:
    """The connection is closed there, so nothing goes on behind the back of a run that has ended."""
    result = grade_by_door(BatchRelevanceGrader(model(endpoint.url)), "q", DOCUMENTS, asynchronous=asynchronous)
    assert result["status"] == "failed"
    assert endpoint.ended.wait(10)
    assert held() < MUCH


def test_a_stream_without_end_is_read_to_the_limit(endpoint: Endpoint) -> None:
    """A server may keep a stream open with signs of life for ever: also behind an answer that was given up."""
    heard = list[Any]()
    generator = AnswerGenerator(model(endpoint.url), timeout_s=0.3)
    result = generator.run([ChatMessage.from_user("Who?")], streaming_callback=heard.append)
    assert result["replies"][0].meta["crag_failure"] in ("deadline", "no_completion")
    assert not heard
    assert eventually(endpoint.ended.is_set)


@BOTH
@pytest.mark.parametrize("settings", [{}, {"http_client_kwargs": {"timeout": 5.0}}], ids=["httpx2", "httpx"])
def test_a_packed_reply_is_read_as_ever(endpoint: Endpoint, settings: Any, *, asynchronous: bool) -> None:
    """Gzip is what is asked for; either client of OpenAI's library reads it, also again and again."""
    message = {"role": "assistant", "content": json.dumps([0.9])}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = {"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    endpoint.packing, endpoint.body = "gzip", gzip.compress(json.dumps(reply).encode())
    grader = BatchRelevanceGrader(model(endpoint.url, **settings))
    for _ in range(3):
        assert grade_by_door(grader, "q", DOCUMENTS, asynchronous=asynchronous)["scores"] == [0.9]
    assert endpoint.asked == ["gzip"] * 3


@BOTH
async def test_more_replies_than_can_be_asked_for_go_no_further(endpoint: Endpoint, *, asynchronous: bool) -> None:
    """A pipeline makes an answer of each, which holds all of them; a server copied a million, and stood still."""
    choices = [{"index": 0, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}] * 1000
    reply = {"id": "r", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
    endpoint.body, generator = json.dumps(reply).encode(), AnswerGenerator(model(endpoint.url))
    asked = {"messages": [ChatMessage.from_user("q")]}
    result = await generator.run_async(**asked) if asynchronous else generator.run(**asked)
    assert len(result["replies"]) == 128


def test_own_hooks_of_a_client_stay(scripted_model: ScriptedModel) -> None:
    """Ours comes once, behind a user's."""
    scripted_model.reply, seen = judging(lambda _: 0.8), list[httpx.Response]()
    settings = {"http_client_kwargs": {"event_hooks": {"response": [seen.append]}}}
    generator = model(scripted_model.url, **settings)
    generator.warm_up()
    for _ in range(2):
        assert ask(generator, [ChatMessage.from_user("q")], 5.0)["replies"]
    assert (len(seen), len(generator.client._client.event_hooks["response"])) == (2, 2)


def test_the_members_of_a_fallback_are_bounded_too(endpoint: Endpoint) -> None:
    """Haystack's FallbackChatGenerator asks others."""
    from haystack.components.generators.chat import FallbackChatGenerator

    endpoint.packing, endpoint.body = "gzip, gzip", BOMBS["gzip, gzip"]
    generator = FallbackChatGenerator([model(endpoint.url), scripted("as well")])
    generator.warm_up()
    assert ask(generator, [ChatMessage.from_user("q")], 5.0)["replies"][0].text == "as well"
    assert generator.chat_generators[0].client._client.headers["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("generator", [object(), scripted("a"), model("http://127.0.0.1:9/v1")])
def test_what_has_no_such_client_stays_as_it_is(generator: Any) -> None:
    """Another vendor's generator, or one that has no client yet."""
    before = {**getattr(generator, "__dict__", {})}
    read_to_a_limit(generator)
    assert getattr(generator, "__dict__", {}) == before


def test_a_cut_reply_names_the_way_out(endpoint: Endpoint) -> None:
    """As everything that is no chat completion."""
    generator = model(endpoint.url)
    generator.warm_up()
    with pytest.raises(NoCompletionError, match="check the address"):
        ask(generator, [ChatMessage.from_user("q")], 20.0)


class OfOllama:
    """A generator whose clients stand where Ollama's does: a client of Ollama around one of httpx."""

    def __init__(self) -> None:
        """Make both, as its warm-up does."""
        self._client = SimpleNamespace(_client=httpx.Client())
        self._async_client = SimpleNamespace(_client=httpx.AsyncClient())


def test_what_ollamas_generator_reads_is_read_to_a_limit_and_closed_like_openais() -> None:
    """Its server, too, wrote on into a stream that was given up."""
    generator = OfOllama()
    read_to_a_limit(generator)
    for http in (generator._client._client, generator._async_client._client):
        assert len(http.event_hooks["response"]) == 1
    generator._client._client.close()
