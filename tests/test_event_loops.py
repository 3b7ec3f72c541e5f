"""One component on several event loops, one after the other as in a script, or at once as in threads of a server."""

import asyncio
import gc
import json
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import tavily
from haystack import Document, component
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import FallbackChatGenerator, OpenAIChatGenerator
from haystack.components.retrievers import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
    MultiRetriever,
    TextEmbeddingRetriever,
)
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from keeping_alive import KeepingAlive, serving
from makers import fill

from haystack_integrations.components.websearch.tavily import TavilyWebSearch
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.homes import at_home
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.store_profiles import open_store


@pytest.fixture(autouse=True)
def sockets() -> Iterator[None]:
    """Those of a loop that has ended can only be closed by the garbage collector, which says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@pytest.fixture
def url() -> Iterator[str]:
    """A model's server that grades one document."""
    with serving() as url:
        yield url


@pytest.fixture
def model(url: str) -> OpenAIChatGenerator:
    """Haystack's generator before it."""
    return OpenAIChatGenerator(Secret.from_token("k"), "m", api_base_url=url, max_retries=0)


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


def test_a_model_is_asked_by_loops_that_run_at_the_same_time(model: Any) -> None:
    """As Flask runs one for each request, in threads that share a pipeline: half of the answers failed."""
    grader, generator = BatchRelevanceGrader(model), AnswerGenerator(model)
    heard: list[str] = []

    async def listen(part: Any) -> None:
        heard.append(part.content)

    async def once(meeting: threading.Barrier) -> tuple[Any, Any]:
        await asyncio.to_thread(meeting.wait)
        graded = await grader.run_async("q", [Document(content="A text.")])
        answer = await generator.run_async([ChatMessage.from_user("q")], streaming_callback=listen)
        await asyncio.to_thread(meeting.wait)
        return graded["status"], answer["replies"][0].text

    meeting = threading.Barrier(4, timeout=30)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: asyncio.run(once(meeting)), range(4)))
    gc.collect()
    assert found == [("ok", "[0.9]")] * 4
    assert heard == ["[0.9]"] * 4


class Unclosing(OpenAITextEmbedder):
    """Has no `close_async`, as Cohere's, which makes its client when it is wanted all the same."""

    def __getattribute__(self, name: str) -> Any:
        """Hide one."""
        if name == "close_async":
            raise AttributeError
        return super().__getattribute__(name)


@pytest.mark.parametrize("kind", [OpenAITextEmbedder, Unclosing])
def test_an_embedder_of_others_is_asked_on_every_loop(kind: type, url: str) -> None:
    """It stands in a retriever of Haystack's own: every second question raised."""
    embedder = kind(Secret.from_token("k"), "m", api_base_url=url, max_retries=0)
    store = memory_store()
    fill(store, [Document(content="Penguins live on the coast.")])
    rag = load("corrective_retrieval", store=store, dense={"text_embedder": embedder})
    for _ in range(3):
        assert asyncio.run(rag.run_async(query="Where do penguins live?"))["crag"]["verdict"] == "correct"
        gc.collect()


@pytest.mark.filterwarnings("ignore:'MultiRetriever' is an experimental component")
def test_the_embedder_of_a_retriever_beside_others_is_asked_on_every_loop(url: str) -> None:
    """Those that Haystack runs side by side stand in a mapping: every second question raised."""
    embedder = OpenAITextEmbedder(Secret.from_token("k"), "m", api_base_url=url, max_retries=0)
    store = memory_store()
    fill(store, [Document(content="Penguins live on the coast.")])
    dense = TextEmbeddingRetriever(retriever=InMemoryEmbeddingRetriever(store), text_embedder=embedder)
    rag = load(
        "corrective_retrieval",
        store=store,
        dense=MultiRetriever(retrievers={"words": InMemoryBM25Retriever(store), "dense": dense}),
    )
    for _ in range(3):
        found = asyncio.run(rag.run_async(query="Where do penguins live?"))
        assert (found["crag"]["verdict"], found["crag"]["coverage"]["reasons"]) == ("correct", [])
        gc.collect()


class Searching(KeepingAlive):
    """A web search in Tavily's form."""

    def do_POST(self) -> None:  # noqa: N802 - http.server's name
        """Find one page."""
        self.rfile.read(int(self.headers["Content-Length"]))
        found = {"title": "Emma", "url": "https://example.org/emma", "content": "By Jane Austen.", "score": 0.9}
        body = json.dumps({"results": [found]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def fallback_to(url: str) -> WebFallback:
    """One with tavily's own clients, which alone take another address than the vendor's."""

    @component
    class Local(TavilyWebSearch):
        def warm_up(self) -> None:
            self._tavily_client = self._tavily_client or tavily.TavilyClient("tvly-k", api_base_url=url)

        async def warm_up_async(self) -> None:
            made = self._async_tavily_client or tavily.AsyncTavilyClient("tvly-k", api_base_url=url)
            self._async_tavily_client = made

    return WebFallback(Local(Secret.from_token("tvly-k")), query_cooldown_s=0, max_retries=0)


@pytest.fixture
def web() -> Iterator[str]:
    """A web search's server."""
    with serving(Searching) as url:
        yield url


def test_the_web_is_searched_on_every_loop(web: str) -> None:
    """Each second search failed, and the provider was left alone for it."""
    fallback = fallback_to(web)
    for _ in range(3):
        assert asyncio.run(fallback.run_async(query="Who wrote Emma?"))["status"] == "ok"
        gc.collect()


def test_the_web_is_searched_by_loops_that_run_at_the_same_time(web: str) -> None:
    """One has the client that knows loops, the others search in threads."""
    fallback = fallback_to(web)

    async def once(meeting: threading.Barrier) -> list[str]:
        await asyncio.to_thread(meeting.wait)
        found = [(await fallback.run_async(query="Who wrote Emma?"))["status"] for _ in range(2)]
        await asyncio.to_thread(meeting.wait)
        return found

    meeting = threading.Barrier(4, timeout=30)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: asyncio.run(once(meeting)), range(4)))
    gc.collect()
    assert found == [["ok", "ok"]] * 4


def test_a_client_is_kept_for_as_long_as_its_loop_goes_on(model: Any) -> None:
    """Also where another loop came and went."""

    async def clients() -> list[Any]:
        generator, seen = AnswerGenerator(model), []
        for _ in range(2):
            await generator.run_async([ChatMessage.from_user("q")])
            seen.append(model.async_client)
            await asyncio.to_thread(asyncio.run, at_home(model))
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
        asyncio.run(at_home(part))
    assert own.async_client is not None


def test_a_client_that_its_part_only_makes_is_left_behind_with_its_loop_too() -> None:
    """Cohere's generator has no `close_async`: in a script's second `asyncio.run` every grading failed."""

    class Making:
        def __init__(self) -> None:
            self.async_client: Any = None

        async def warm_up_async(self) -> None:
            self.async_client = self.async_client or object()

    async def client() -> Any:
        await at_home(part)
        await part.warm_up_async()
        return part.async_client

    part = Making()
    first, second = asyncio.run(client()), asyncio.run(client())
    assert first is not second


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


def test_an_index_is_searched_by_loops_that_run_at_the_same_time(store: Any) -> None:
    """As a model is asked."""
    rag, meeting = load("corrective_retrieval", store=store), threading.Barrier(4, timeout=30)

    async def once() -> Any:
        await asyncio.to_thread(meeting.wait)
        found = await rag.run_async(query="Where do penguins live?")
        await asyncio.to_thread(meeting.wait)
        await rag.close_async()
        return found["crag"]["coverage"]["reasons"]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: asyncio.run(once()), range(4))) == [[]] * 4
