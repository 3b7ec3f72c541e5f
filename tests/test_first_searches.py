"""Stores whose clients open at the first search: first questions that come at once, or while the server is down."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from haystack import Document, component, default_to_dict

from haystack_integrations.crag.components import ReportingRetriever
from haystack_integrations.crag.pipelines import load

PAGE = Document(content="Penguins live on the coast.")


class Client:
    """Of any thread."""

    is_open = False

    def search(self) -> list[Document]:
        """Answer where it is open."""
        if not self.is_open:
            raise ConnectionError
        return [PAGE]

    def close(self) -> None:
        """Let go."""
        self.is_open = False


class LoopClient:
    """Of the loop that opened it."""

    is_open = False

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()

    def search(self) -> list[Document]:
        """Answer where it is open."""
        if not self.is_open or self.loop is not asyncio.get_running_loop():
            raise ConnectionError
        return [PAGE]

    async def close(self) -> None:
        """Let go."""
        self.is_open = False


class LateStore:
    """As Weaviate's: gives away clients that are still connecting, and keeps one that could not."""

    def __init__(self, url: str = "http://127.0.0.1:1") -> None:
        self.url, self.is_up, self.opened = url, True, 0
        self._client: Client | None = None
        self._async_client: LoopClient | None = None
        self._async_collection: LoopClient | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write it down."""
        return default_to_dict(self, url=self.url)

    async def close_async(self) -> None:
        """Let go of the client of a loop."""
        self._async_client = self._async_collection = None

    def search(self) -> list[Document]:
        """Search with a client of any thread."""
        if self._client is None:
            self._client = Client()
            time.sleep(0.05)
            self._opened(self._client)
        return self._client.search()

    async def search_async(self) -> list[Document]:
        """Search with a client of this loop."""
        if self._async_collection is None:
            if self._async_client is None:
                self._async_client = LoopClient()
                await asyncio.sleep(0.05)
                self._opened(self._async_client)
            self._async_collection = self._async_client
        return self._async_collection.search()

    def _opened(self, client: Client | LoopClient) -> None:
        if not self.is_up:
            raise ConnectionError
        client.is_open, self.opened = True, self.opened + 1


@component
class LateRetriever:
    """Searches it."""

    def __init__(self, store: LateStore) -> None:
        self._document_store = store

    async def close_async(self) -> None:
        """As integrations have it."""
        await self._document_store.close_async()

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        """Search."""
        return {"documents": self._document_store.search()}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        """Search on the loop."""
        return {"documents": await self._document_store.search_async()}


def pipeline(store: LateStore) -> Any:
    """With both halves on one store, and loaded twice, as servers load many pipelines on it."""
    bm25, dense = LateRetriever(store), LateRetriever(store)
    loaded = [
        load("corrective_retrieval", bm25=ReportingRetriever(bm25), dense=ReportingRetriever(dense)) for _ in range(2)
    ]
    return loaded[-1]


def coverage(result: Any) -> list[str]:
    """Why a run did not search all."""
    reasons: list[str] = result["crag"]["coverage"]["reasons"]
    return reasons


def test_first_questions_that_come_at_once_on_a_loop_are_all_answered() -> None:
    """All but one failed: they were given a client that was still connecting."""

    async def ask() -> list[Any]:
        return await asyncio.gather(*(rag.run_async(query="Where do penguins live?") for _ in range(8)))

    store = LateStore()
    rag = pipeline(store)
    for loops in (1, 2):  # another loop begins anew, with what hangs on a client
        assert [coverage(result) for result in asyncio.run(ask())] == [[]] * 8
        assert store.opened == loops


def test_first_searches_without_load_are_all_answered_too() -> None:
    """Hayhooks reads a YAML by itself."""

    async def ask() -> list[Any]:
        return await asyncio.gather(*(retriever.run_async(query="Where do penguins live?") for _ in range(8)))

    retriever = ReportingRetriever(LateRetriever(LateStore()))
    for _ in range(2):
        assert [found["report"] for found in asyncio.run(ask())] == [{"status": "ok"}] * 8


def test_first_questions_that_come_at_once_in_threads_are_all_answered() -> None:
    """As on a loop."""
    store = LateStore()
    rag = pipeline(store)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: rag.run(query="Where do penguins live?"), range(8)))
    assert [coverage(result) for result in found] == [[]] * 8
    assert store.opened == 1


@component
class Around:
    """Sorts what another retriever finds, and shows its store, as one of an app may."""

    def __init__(self, retriever: LateRetriever) -> None:
        self.retriever, self.document_store = retriever, retriever._document_store

    async def close_async(self) -> None:
        """As integrations have it."""
        await self.retriever.close_async()

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Search."""
        return dict(self.retriever.run(query=query))

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str) -> dict[str, Any]:
        """Search on the loop."""
        return dict(await self.retriever.run_async(query=query))


def test_a_retriever_around_another_one_of_its_store_does_not_wait_for_itself() -> None:
    """On a loop it waited until its time was up, at each search again; in a thread five seconds."""
    retriever = ReportingRetriever(Around(LateRetriever(LateStore())), timeout_s=4.0)
    assert asyncio.run(retriever.run_async(query="Where do penguins live?"))["report"] == {"status": "ok"}
    assert retriever.run(query="Where do penguins live?")["report"] == {"status": "ok"}


def test_a_store_without_a_hash_is_searched_all_the_same() -> None:
    """As one that is a dataclass: it cannot be told from another one that is equal."""

    @dataclass
    class Plain(LateStore):
        url: str = "http://127.0.0.1:1"
        is_up = True
        opened = 0
        _client = _async_client = _async_collection = None

    retriever = ReportingRetriever(LateRetriever(Plain()))
    assert retriever.run(query="Where do penguins live?")["report"] == {"status": "ok"}
    assert asyncio.run(retriever.run_async(query="Where do penguins live?"))["report"] == {"status": "ok"}


def test_first_searches_in_threads_without_load_are_all_answered_too(monkeypatch: Any) -> None:
    """Each of them prepared the retriever, which then waited for itself."""
    written = LateStore.to_dict
    monkeypatch.setattr(LateStore, "to_dict", lambda store: time.sleep(0.05) or written(store))
    retriever = ReportingRetriever(LateRetriever(LateStore()), timeout_s=4.0)
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda _: retriever.run(query="Where do penguins live?"), range(4))]
    found.append(asyncio.run(retriever.run_async(query="Where do penguins live?")))
    assert [each["report"] for each in found] == [{"status": "ok"}] * 5


def test_a_store_that_could_not_connect_connects_when_its_server_is_there() -> None:
    """It kept the client that could not, and failed for ever."""

    async def ask() -> tuple[list[str], list[str]]:
        store.is_up = False
        first = await rag.run_async(query="Where do penguins live?")
        store.is_up = True
        return coverage(first), coverage(await rag.run_async(query="Where do penguins live?"))

    store = LateStore()
    rag = pipeline(store)
    down, up = asyncio.run(ask())
    assert "retrieval_failed:bm25" in down
    assert up == []
    store.is_up = False
    assert "retrieval_failed:bm25" in coverage(rag.run(query="Where do penguins live?"))
    store.is_up = True
    assert coverage(rag.run(query="Where do penguins live?")) == []


def test_a_first_search_that_hangs_does_not_hold_up_others_for_ever(monkeypatch: Any) -> None:
    """Its thread cannot be ended."""
    monkeypatch.setattr("haystack_integrations.crag.homes._WAIT_S", 0.1)
    store = LateStore()
    rag = pipeline(store)
    answer, slow = store.search, [True]

    def search() -> list[Document]:
        if slow:
            slow.clear()
            time.sleep(3)
        return answer()

    store.search = search  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(rag.run, query="Where do penguins live?")
        time.sleep(0.3)
        began = time.monotonic()
        assert coverage(rag.run(query="Where do penguins live?")) == []
        assert time.monotonic() - began < 2
        assert coverage(hanging.result()) == []


def test_the_client_of_a_store_that_is_told_no_server_is_kept_whatever_fails() -> None:
    """Documents may be in it."""
    store = LateStore(url="")
    rag = pipeline(store)
    store.is_up = False
    rag.run(query="Where do penguins live?")
    assert store._client is not None
