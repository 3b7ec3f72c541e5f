"""ReportingTextEmbeddingRetriever without a server: what becomes of a run whose embedder fails, or is set wrong."""

import asyncio
import socket
import threading
import time
from typing import Any

import pytest
from haystack import Document, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingEmbeddingRetriever
from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.state import CragState
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@component
class Embedder:
    """An embedder that raises, or hangs until it is released."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.over = error, threading.Event()

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Fail."""
        if self.error is not None:
            raise self.error
        self.over.wait(60)
        return {"embedding": [0.1] * 256}


@component
class LoopEmbedder(Embedder):
    """The same with a door of its own for event loops."""

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, Any]:
        """Fail."""
        if self.error is not None:
            raise self.error
        await asyncio.sleep(60)
        return {"embedding": [0.1] * 256}


@component
class Telling:
    """A retriever of somebody's own that reports, by the one door that Haystack asks for."""

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        state: CragState | None = None,
    ) -> dict[str, Any]:
        """Find it."""
        return {"documents": [Document(content="Emma")], "report": {"status": "incomplete", "kind": "shards"}}


@BOTH
@pytest.mark.parametrize("timeout_s", [None, 5.0])
def test_a_retriever_that_tells_of_itself_need_not_know_event_loops(
    asynchronous: bool, timeout_s: float | None
) -> None:
    """It is run in a thread there."""
    embedder = StaticTextEmbedder()
    retriever = ReportingTextEmbeddingRetriever(retriever=Telling(), text_embedder=embedder, timeout_s=timeout_s)
    asked = {"query": "Who wrote Emma?"}
    found = asyncio.run(retriever.run_async(**asked)) if asynchronous else retriever.run(**asked)
    assert [one.content for one in found["documents"]] == ["Emma"]
    assert found["report"] == {"status": "incomplete", "kind": "shards"}


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"retriever": InMemoryBM25Retriever(InMemoryDocumentStore())}, "goes into ReportingRetriever"),
        ({"retriever": StaticTextEmbedder()}, "got StaticTextEmbedder, which lacks"),
        ({"text_embedder": StaticDocumentEmbedder()}, r"lacks \['text'\]; beside an embedder of documents take that"),
        ({"text_embedder": None}, "got NoneType"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_construction(parts: dict[str, Any], told: str) -> None:
    """The first question would tell of an argument that somebody's function does not know."""
    with pytest.raises(ConfigurationError, match=told):
        ReportingTextEmbeddingRetriever(**{"retriever": Telling(), "text_embedder": StaticTextEmbedder(), **parts})


EMBEDDERS = pytest.mark.parametrize("kind", [Embedder, LoopEmbedder])


def found(embedder: Any, *, asynchronous: bool, timeout_s: float = 5.0, state: CragState | None = None) -> Any:
    """What comes of a search by one of the doors; nobody listens at the store's address."""
    store = ElasticsearchDocumentStore(hosts="http://127.0.0.1:9", max_retries=0)
    by_vector = ReportingEmbeddingRetriever(document_store=store, timeout_s=timeout_s)
    retriever = ReportingTextEmbeddingRetriever(retriever=by_vector, text_embedder=embedder)
    inputs: dict[str, Any] = {"query": "Who wrote Emma?", "state": state}
    return asyncio.run(retriever.run_async(**inputs)) if asynchronous else retriever.run(**inputs)


@EMBEDDERS
@BOTH
def test_an_embedder_that_fails_is_a_failed_search(
    kind: Any, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The run goes on with what was found by words; the failure is named by its kind, not by its text."""
    result = found(kind(ConnectionError("secret-host is down")), asynchronous=asynchronous)
    assert result == {"documents": [], "report": {"status": "failed", "kind": "ConnectionError"}}
    assert "ConnectionError" in caplog.text
    assert "secret-host" not in caplog.text


@EMBEDDERS
@BOTH
def test_an_embedder_that_hangs_is_given_up_in_time(kind: Any, asynchronous: bool) -> None:
    """By the retriever's own limit, or what the run has left, whichever is less."""
    for budget, timeout_s, name in ((Budget(), 0.2, "timeout"), (Budget(seconds=0.2), 30.0, "deadline")):
        embedder, start = kind(), time.monotonic()
        state = CragState.start("Who wrote Emma?", budget=budget)
        result = found(embedder, asynchronous=asynchronous, timeout_s=timeout_s, state=state)
        embedder.over.set()
        assert time.monotonic() - start < 10
        assert result == {"documents": [], "report": {"status": "failed", "kind": name}}


@BOTH
def test_an_embedder_that_is_set_wrong_ends_the_run(asynchronous: bool) -> None:
    """It would fail each time, and its message says the way out."""
    with pytest.raises(ConfigurationError, match="no model"):
        found(Embedder(ConfigurationError("no model there")), asynchronous=asynchronous)


@BOTH
def test_a_limit_of_its_own_holds_also_for_a_search_that_tells_of_itself(asynchronous: bool) -> None:
    """The retriever inside has a longer one: its server takes the request, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = ElasticsearchDocumentStore(hosts=f"http://127.0.0.1:{silent.getsockname()[1]}", max_retries=0)
        by_vector = ReportingEmbeddingRetriever(document_store=store, timeout_s=30)
        retriever = ReportingTextEmbeddingRetriever(
            retriever=by_vector, text_embedder=StaticTextEmbedder(), timeout_s=0.5
        )
        retriever.warm_up()

        async def asked() -> Any:
            try:
                return await retriever.run_async("Who?")
            finally:
                await store.close_async()

        start = time.monotonic()
        result = asyncio.run(asked()) if asynchronous else retriever.run("Who?")
        assert time.monotonic() - start < 15
    assert result == {"documents": [], "report": {"status": "failed", "kind": "timeout"}}
