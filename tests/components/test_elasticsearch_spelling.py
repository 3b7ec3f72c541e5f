"""A misspelt word is looked for as the index spells it; real Elasticsearch."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from haystack import Document, Pipeline
from lying_server import Wire, lying
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.components.stop_word_remover import StopWordRemover
from haystack_integrations.crag.store_profiles import open_store, prepare

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
HARBOUR, VINLAND = "The harbour of Kestrel is in the north.", "Leif Eriksson reached Vinland by ship."
_LEGAL = {"term": {"team": "legal"}}
TEXTS = [HARBOUR, VINLAND, "Bread is baked in the village.", "Karlsson lives on the roof."]


@pytest.fixture
def wire(elasticsearch_url: str) -> Iterator[Wire]:
    with lying(elasticsearch_url) as made:
        yield made


@pytest.fixture
def store(wire: Wire, elasticsearch_index: str) -> Iterator[Any]:
    """Three shards with four documents: most words are in one of them alone."""
    made = open_store("elasticsearch", wire.url, elasticsearch_index)
    prepare(made, number_of_shards=3)
    made.write_documents([Document(content=text) for text in TEXTS])
    wire.searches.clear()
    yield made
    made.close()


def found(store: Any, query: str, *, asynchronous: bool = False, **settings: Any) -> tuple[list[str | None], Any]:
    retriever = ReportingBM25Retriever(document_store=store, **settings)

    async def ask() -> Any:
        try:
            return await retriever.run_async(query=query)
        finally:
            await retriever.close_async()

    result = asyncio.run(ask()) if asynchronous else retriever.run(query=query)
    return [document.content for document in result["documents"]], result["report"]


@BOTH
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Erikssson", VINLAND),
        ("Eriskson", VINLAND),
        ("Eriksson Vinlamd", VINLAND),
        ("Kestrle harbours", HARBOUR),
        ("kestral", HARBOUR),
    ],
)
def test_a_slip_in_a_word_finds_what_the_word_finds(store: Any, query: str, text: str, asynchronous: bool) -> None:
    """A letter too many, too few, another one, or two in each other's place; never the first."""
    documents, report = found(store, query, asynchronous=asynchronous)
    assert documents[0] == text
    assert report == {"status": "ok", "shards": {"total": 3, "failed": 0}, "respelt": 1 + ("harbours" in query)}


@BOTH
@pytest.mark.parametrize("query", ["Eriksson", "Karlsson ships", "bread", "Wrestle", "xyzzyxy", "Kestr"])
def test_a_word_of_the_index_of_english_or_of_nobody_is_left_alone(store: Any, query: str, asynchronous: bool) -> None:
    """Also one that two of the three shards do not have."""
    _, report = found(store, query, asynchronous=asynchronous)
    assert report == {"status": "ok", "shards": {"total": 3, "failed": 0}}


@BOTH
@pytest.mark.parametrize("hidden_by", ["alias", "filters"])
def test_nothing_tells_that_documents_have_a_word_which_a_search_may_not_show(
    store: Any,
    wire: Wire,
    elasticsearch_url: str,
    elasticsearch_index: str,
    hidden_by: str,
    asynchronous: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Elasticsearch gives near words of the whole index, whatever its alias or a filter closes."""
    monkeypatch.setattr("haystack_integrations.crag.elasticsearch.spelling._PATIENCE_S", 5.0)  # or it proves nothing
    store.write_documents(
        [Document(content=f"{name} is for sale.", meta={"team": name}) for name in ("legal", "Zorblax")]
    )
    with Elasticsearch(elasticsearch_url) as client:
        client.indices.put_alias(index=elasticsearch_index, name=f"{elasticsearch_index}_of", filter=_LEGAL)
    settings = {} if hidden_by == "alias" else {"filters": {"field": "meta.team", "operator": "==", "value": "legal"}}
    name = f"{elasticsearch_index}_of" if hidden_by == "alias" else elasticsearch_index
    of_legal = open_store("elasticsearch", wire.url, name)
    documents, report = found(of_legal, "sale of Zorblxa", asynchronous=asynchronous, **settings)
    of_legal.close()
    assert documents == ["legal is for sale."]
    assert "respelt" not in report
    assert found(store, "sale of Zorblxa", asynchronous=asynchronous)[1]["respelt"] == 1


def test_a_question_without_such_a_word_is_one_request(store: Any, wire: Wire) -> None:
    found(store, "Where is the harbour of Kestrel in the village?")
    assert len(wire.searches) == 1
    wire.searches.clear()
    found(store, "Where is the harbour of Kestrle?")
    assert len(wire.searches) == 3


@BOTH
def test_what_cannot_be_asked_takes_nothing_away(store: Any, wire: Wire, asynchronous: bool) -> None:
    """A server that has no answer to the second request."""

    def without_words(reply: dict[str, Any]) -> None:
        reply.pop("suggest", None)

    wire.change = without_words
    documents, report = found(store, "bread Kestrle", asynchronous=asynchronous)
    assert documents == [TEXTS[2]]
    assert report["status"] == "ok"
    assert "respelt" not in report


@BOTH
def test_a_server_that_is_slow_to_spell_is_not_waited_for(store: Any, wire: Wire, asynchronous: bool) -> None:
    """What was found is there already."""
    wire.only, wire.fault = "suggest", "hang"
    begun = time.monotonic()
    documents, _ = found(store, "bread Kestrle", asynchronous=asynchronous)
    took = time.monotonic() - begun
    wire.over.set()
    assert documents == [TEXTS[2]]
    assert took < 3


def test_whoever_lets_words_differ_is_not_asked_twice(store: Any, wire: Wire) -> None:
    """Elasticsearch has looked for near words then."""
    documents, report = found(store, "Kestrle", fuzziness="AUTO")
    assert documents == [HARBOUR]
    assert "respelt" not in report
    assert len(wire.searches) == 1


def test_a_text_that_is_searched_as_a_whole_value_stays_a_failed_search(
    elasticsearch_url: str, elasticsearch_index: str
) -> None:
    """There are no words to be near to."""
    with Elasticsearch(elasticsearch_url) as client:
        client.indices.create(index=elasticsearch_index, mappings={"properties": {"content": {"type": "keyword"}}})
        client.index(index=elasticsearch_index, document={"id": "1", "content": VINLAND}, refresh=True)
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    documents, report = found(made, "Erikssson")
    made.close()
    assert (documents, report["status"]) == ([], "failed")


def test_the_span_says_how_many_words_were_read_otherwise_and_not_which(
    store: Any, exporter: InMemorySpanExporter
) -> None:
    """A word of a question is content."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", ReportingBM25Retriever(document_store=store))
    pipeline.run({"bm25": {"query": "Where is Kestrle?"}})
    [span] = [one for one in exporter.get_finished_spans() if "crag.retrieval.respelt" in (one.attributes or {})]
    assert (span.attributes or {})["crag.retrieval.respelt"] == 1
    assert "estr" not in str(dict(span.attributes or {}))


def _without_a_shard(reply: dict[str, Any]) -> None:
    failures = [{"reason": {"type": "no_shard_available_action_exception"}}]
    reply["_shards"] |= {"failed": 1, "failures": failures}


@BOTH
@pytest.mark.parametrize("fault", [("503", None), ("", _without_a_shard)], ids=["failed", "incomplete"])
def test_the_span_and_the_log_tell_of_the_search_whose_documents_are_given(
    store: Any,
    wire: Wire,
    exporter: InMemorySpanExporter,
    caplog: pytest.LogCaptureFixture,
    fault: Any,
    asynchronous: bool,
) -> None:
    """Where the one by the index's words fails, the first one stays: the record said `ok`, and the span `failed`."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", ReportingBM25Retriever(document_store=store))
    wire.only, (wire.fault, wire.change) = "kestrel", fault
    asked = {"bm25": {"query": "bread Kestrle"}}

    async def ask() -> Any:
        try:
            return await pipeline.run_async(asked)
        finally:
            await pipeline.close_async()

    result = asyncio.run(ask()) if asynchronous else pipeline.run(asked)
    assert len(wire.searches) > 2
    assert result["bm25"]["report"] == {"status": "ok", "shards": {"total": 3, "failed": 0}}
    [span] = [one for one in exporter.get_finished_spans() if "crag.retrieval.status" in (one.attributes or {})]
    assert (span.attributes or {})["crag.retrieval.status"] == "ok"
    assert "crag.retrieval.failure" not in (span.attributes or {})
    assert "search failed" not in caplog.text
    assert "a part of the index" not in caplog.text


@pytest.mark.parametrize(
    ("query", "text"),
    [("IC402", "IC 402 to Port Selby"), ("IC 402", "IC402 to Port Selby"), ("v3.12", "3.12 adds tabs")],
)
def test_an_id_and_a_version_are_found_as_documents_write_them(store: Any, query: str, text: str) -> None:
    """To the index IC402 is one word and IC 402 two; the query has both."""
    store.write_documents([Document(content=text)])
    assert found(store, StopWordRemover().run(query)["query"])[0] == [text]
    assert found(store, query)[0] == []
