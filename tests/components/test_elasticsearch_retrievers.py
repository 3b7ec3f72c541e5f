"""The retrievers for Elasticsearch on a real server: the same documents, and each fault is a report (promise P6)."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import BadRequestError, Elasticsearch, NotFoundError
from haystack import Document, Pipeline
from haystack.components.generators.chat import MockChatGenerator
from haystack.errors import FilterError
from lying_server import Change, Wire, lying
from makers import fill, run_by_door
from metasearch import Metasearch
from scripted_model import ScriptedModel
from service_fixtures import temporary_index

from haystack_integrations.components.retrievers.elasticsearch import (
    ElasticsearchBM25Retriever,
    ElasticsearchEmbeddingRetriever,
)
from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.chat_model import chat_model
from haystack_integrations.crag.cli import outcome
from haystack_integrations.crag.cli.output import plain
from haystack_integrations.crag.cli.views import run_view
from haystack_integrations.crag.components.elasticsearch_retrievers import (
    ReportingBM25Retriever,
    ReportingEmbeddingRetriever,
)
from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.corpus_statistics import StatisticsSource
from haystack_integrations.crag.elasticsearch.requests import words_request
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import Place, elasticsearch_store
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare, server_of, store_spec
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
QUESTION = "Where do penguins live?"
TEXTS = ["Penguins live in Antarctica and on southern coasts.", "Camels live in deserts.", "Tea is made from leaves."]
OTHER = "Who repaired the lighthouse in winter?"


@pytest.fixture(scope="module")
def between(elasticsearch_url: str) -> Iterator[Wire]:
    with lying(elasticsearch_url) as wire:
        yield wire


@pytest.fixture
def wire(between: Wire) -> Wire:
    """An honest wire, until the test says otherwise."""
    between.change, between.fault, between.only = None, "", ""
    between.searches.clear()
    return between


@pytest.fixture(scope="module")
def store(between: Wire, elasticsearch_url: str) -> Iterator[Any]:
    """Three documents and, behind them, 27 that share a word with the question."""
    with temporary_index(elasticsearch_url) as index:
        made = open_store("elasticsearch", between.url, index)
        prepare(made)
        many = [f"Where trains of line {number} live their life." for number in range(27)]
        fill(made, [Document(content=text, meta={"n": n}) for n, text in enumerate([*TEXTS, *many])])
        yield made
        made.close()


@pytest.fixture
def empty(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    """An index without a document."""
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    prepare(made)
    yield made
    made.close()


def both(store: Any, **settings: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Each retriever with what it takes for a question."""
    vector = StaticTextEmbedder().run(text=QUESTION)["embedding"]
    by_words = ReportingBM25Retriever(document_store=store, **settings)
    by_vector = ReportingEmbeddingRetriever(document_store=store, **settings)
    return [(by_words, {"query": QUESTION}), (by_vector, {"query_embedding": vector})]


def asked(retriever: Any, *, asynchronous: bool, **inputs: Any) -> dict[str, Any]:
    """Ask by one of the doors."""

    async def ask() -> Any:
        try:
            return await retriever.run_async(**inputs)
        finally:
            await retriever.close_async()

    return dict(asyncio.run(ask()) if asynchronous else retriever.run(**inputs))


def failed_shard(reply: dict[str, Any]) -> None:
    reply["_shards"] = {"total": 3, "successful": 2, "skipped": 0, "failed": 1}


def timed_out(reply: dict[str, Any]) -> None:
    reply["timed_out"] = True


def endless(reply: dict[str, Any]) -> None:
    reply["hits"]["total"]["value"] = 10**9


def nothing_left(reply: dict[str, Any]) -> None:
    failed_shard(reply)
    reply["hits"]["hits"] = []


@BOTH
@pytest.mark.parametrize("top_k", [2, 25])
def test_they_find_what_haystacks_own_find_in_one_request(
    store: Any, wire: Wire, top_k: int, asynchronous: bool
) -> None:
    """Same documents, scores and order, with a filter too; a page of 25 is not three requests."""
    only = {"field": "meta.n", "operator": ">=", "value": 1}
    stock = [
        ElasticsearchBM25Retriever(document_store=store, fuzziness="0"),
        ElasticsearchEmbeddingRetriever(document_store=store),
    ]
    for (ours, inputs), theirs in zip(both(store), stock, strict=True):
        for filters in (None, only):
            wire.searches.clear()
            found = asked(ours, asynchronous=asynchronous, **inputs, filters=filters, top_k=top_k)
            assert len(wire.searches) == 1
            assert found["report"] == {"status": "ok", "shards": {"total": 1, "failed": 0}}
            expected = theirs.run(**inputs, filters=filters, top_k=top_k)["documents"]
            assert [(one.id, one.score) for one in found["documents"]] == [(one.id, one.score) for one in expected]
            assert len(expected) == top_k


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does shutil.copytree do?", "copytree(src, dst) copies a whole tree."),
        ("Where is report.txt?", "The report lies on the table."),
        ("Where do Anna\u2019s penguins sleep?", "Anna sleeps at noon."),
        ("환불이 언제 되나요?", "환불은 30일 이내에 지급됩니다."),
        ("E42 뜻은?", "E42는 뜨겁다는 말입니다."),
        ("ba\u0309o ha\u0300nh?", "\u0110\u00e8n \u0111\u01b0\u1ee3c b\u1ea3o h\u00e0nh."),
    ],
    ids=["dotted name", "file", "possessive", "Korean particle", "Korean particle on a Latin word", "accents apart"],
)
def test_words_that_are_written_in_another_way_are_searched_as_in_memory(
    elasticsearch_url: str, question: str, text: str
) -> None:
    """By the parts of joined words too: the first search for `shutil.copytree` found nothing named `copytree`."""
    with temporary_index(elasticsearch_url) as index:
        made = open_store("elasticsearch", elasticsearch_url, index)
        prepare(made)
        fill(made, [Document(content=text), Document(content="Camels live in deserts.")])
        found = ReportingBM25Retriever(document_store=made).run(query=question)["documents"]
        made.close()
    assert [document.content for document in found] == [text]


def test_a_question_without_such_words_is_asked_as_it_stands_and_soon() -> None:
    for question in ("Version 3.11 of the U.S. law?", "a" * 100_000, "Who? " * 20_000, "返金はいつ"):
        started = time.monotonic()
        asked_for = words_request(question, "0", None, 10)["query"]["bool"]["must"][0]["multi_match"]["query"]
        assert asked_for == question
        assert time.monotonic() - started < 1


@pytest.mark.parametrize(("top_k", "candidates"), [(1001, None), (10_000, None), (60, 50)])
def test_as_many_neighbours_are_looked_at_as_the_server_does_and_no_fewer_than_asked_for(
    store: Any, top_k: int, candidates: int | None
) -> None:
    """Ten times `top_k` are too many from 1,001 on, and a number that was set too few for a larger `top_k` of a run."""
    retriever = ReportingEmbeddingRetriever(document_store=store, num_candidates=candidates)
    vector = StaticTextEmbedder().run(text=QUESTION)["embedding"]
    assert len(retriever.run(query_embedding=vector, top_k=top_k)["documents"]) == 30
    with pytest.raises(ConfigurationError, match="top_k must be a whole number from 1 to 10000, but got 10001"):
        retriever.run(query_embedding=vector, top_k=10_001)


@BOTH
@pytest.mark.parametrize(
    ("change", "kind"), [(failed_shard, "shards"), (timed_out, "timed_out"), (nothing_left, "shards")]
)
def test_a_part_of_the_index_is_used_and_named(
    store: Any, wire: Wire, change: Change, kind: str, asynchronous: bool
) -> None:
    """What is left is given on, and the report says that it is a part, whatever the cluster's own default is."""
    wire.change = change
    for retriever, inputs in both(store):
        found = asked(retriever, asynchronous=asynchronous, **inputs)
        assert (found["report"]["status"], found["report"]["kind"]) == ("incomplete", kind)
        assert bool(found["documents"]) is (change is not nothing_left)
    assert all("allow_partial_search_results=true" in search["path"] for search in wire.searches)


def left(reason: str) -> dict[str, Any]:
    """A shard's failure as Elasticsearch 8 gives it; both were seen while a node of three was killed."""
    return {"shard": 1, "index": "i", "node": None, "reason": {"type": reason, "reason": "[node-1] disconnected"}}


@BOTH
@pytest.mark.parametrize("second", ["whole", "partial", "503", "hang"])
def test_a_server_that_leaves_during_a_search_is_asked_past_once(
    store: Any, wire: Wire, second: str, asynchronous: bool
) -> None:
    """A copy of its shard answers the next search; where none does, what was found first is kept."""

    def leave(reply: dict[str, Any]) -> None:
        failed_shard(reply)
        reply["_shards"]["failures"] = [left("node_disconnected_exception")]
        wire.change = None if second == "whole" else leave
        wire.fault = second if second in ("503", "hang") else ""

    for retriever, inputs in both(store, timeout_s=3 if second == "hang" else 30):
        wire.searches.clear()
        wire.change, wire.fault = leave, ""
        found = asked(retriever, asynchronous=asynchronous, **inputs)
        assert len(wire.searches) == (3 if second == "503" else 2)  # the client repeats a 503 by itself
        assert found["report"]["status"] == ("ok" if second == "whole" else "incomplete")
        assert found["documents"]


@BOTH
def test_a_shard_without_any_copy_is_not_asked_for_again(store: Any, wire: Wire, asynchronous: bool) -> None:
    """It would cost every question a second search, and bring the same."""

    def nowhere(reply: dict[str, Any]) -> None:
        failed_shard(reply)
        reply["_shards"]["failures"] = [left("no_shard_available_action_exception")]

    wire.change = nowhere
    for retriever, inputs in both(store):
        assert asked(retriever, asynchronous=asynchronous, **inputs)["report"]["status"] == "incomplete"
    assert len(wire.searches) == 2


@BOTH
def test_a_total_without_end_is_one_request(store: Any, wire: Wire, asynchronous: bool) -> None:
    """Haystack's store asks on until it has as many as the server claims."""
    wire.change = endless
    for retriever, inputs in both(store):
        assert len(asked(retriever, asynchronous=asynchronous, **inputs)["documents"]) == 10
    assert len(wire.searches) == 2


@BOTH
@pytest.mark.parametrize(
    ("fault", "kind"), [("503", "http_503"), ("429", "http_429"), ("reset", "connection"), ("cut", "connection")]
)
def test_trouble_on_the_way_is_a_report(store: Any, wire: Wire, fault: str, kind: str, asynchronous: bool) -> None:
    """Nothing is raised, and no document is invented."""
    wire.fault = fault
    for retriever, inputs in both(store):
        found = asked(retriever, asynchronous=asynchronous, **inputs)
        assert found == {"documents": [], "report": {"status": "failed", "kind": kind}}


@BOTH
def test_a_server_that_hangs_is_left_at_the_nearer_of_both_ends(store: Any, wire: Wire, asynchronous: bool) -> None:
    """Its own timeout, or what the run has left; with nothing left it is not asked at all."""
    wire.fault = "hang"
    (slow, inputs), _ = both(store, timeout_s=0.6)
    started = time.monotonic()
    assert asked(slow, asynchronous=asynchronous, **inputs)["report"] == {"status": "failed", "kind": "timeout"}
    (patient, _), _ = both(store, timeout_s=30)
    state = CragState.start(QUESTION, budget=Budget(seconds=0.6))
    found = asked(patient, asynchronous=asynchronous, **inputs, state=state)
    assert found["report"] == {"status": "failed", "kind": "deadline"}
    assert time.monotonic() - started < 15  # the patient one alone would wait for longer
    searches = len(wire.searches)
    assert asked(patient, asynchronous=asynchronous, **inputs, state=state) == found
    assert len(wire.searches) == searches


@BOTH
def test_a_mistake_is_raised(store: Any, wire: Wire, asynchronous: bool) -> None:
    """A vector of another length is nobody's outage; neither is a status such as 404."""
    (by_words, inputs), (by_vector, _) = both(store)
    with pytest.raises(BadRequestError):
        asked(by_vector, asynchronous=asynchronous, query_embedding=[1.0, 2.0])
    wire.fault = "404"
    with pytest.raises(NotFoundError):
        asked(by_words, asynchronous=asynchronous, **inputs)


def test_a_cluster_is_named_by_all_its_nodes() -> None:
    """With commas between, as one setting."""
    spec = store_spec("elasticsearch", "http://a:9200, http://b:9200")
    assert spec["init_parameters"]["hosts"] == ["http://a:9200", "http://b:9200"]
    with pytest.raises(ConfigurationError, match=r"wanted http://HOST:PORT"):
        elasticsearch_store(Place("elasticsearch", "http://a:9200,b", "x"))


@pytest.mark.parametrize("url", [" http://a:9200", "http://a:9200\n", "http://a:9200, http://a:9200"])
def test_an_address_with_blanks_around_it_or_told_twice_is_that_address(url: str) -> None:
    """The client takes neither, and its own error came in the place of ours."""
    assert server_of(elasticsearch_store(Place("elasticsearch", url, "x"))).hosts == "http://a:9200"
    with elasticsearch_client(open_store("elasticsearch", url, "x")) as client:
        assert [node.config.host for node in client.transport.node_pool.all()] == ["a"]


@pytest.mark.parametrize(
    ("kind", "wrong", "said"),
    [
        (ReportingBM25Retriever, {"fuzziness": "auto:3"}, "fuzziness must be '0', '1', '2', 'AUTO'"),
        (ReportingEmbeddingRetriever, {"num_candidates": 0}, "num_candidates must be a whole number from 1 to 10000"),
        (ReportingEmbeddingRetriever, {"top_k": 10_001}, "top_k must be a whole number from 1 to 10000"),
        (ReportingEmbeddingRetriever, {"filters": []}, "got a list for filters, wanted a mapping"),
    ],
)
def test_a_setting_that_each_question_would_fail_on_is_refused_when_they_are_made(
    kind: Any, wrong: dict[str, Any], said: str
) -> None:
    """And filters of nothing, which left the vectors of all documents open."""
    with pytest.raises(ConfigurationError, match=said):
        kind(document_store=open_store("elasticsearch", "http://127.0.0.1:9", "x"), **wrong)
    for fuzziness in ("0", "1", "2", "AUTO", "auto", "AUTO:3,6"):
        ReportingBM25Retriever(
            document_store=open_store("elasticsearch", "http://127.0.0.1:9", "x"), fuzziness=fuzziness
        )


def test_they_come_back_from_yaml_as_they_were(elasticsearch_url: str) -> None:
    """All settings, in Haystack's safe loading."""
    store = open_store("elasticsearch", elasticsearch_url, "x")
    pipeline = Pipeline()
    pipeline.add_component("bm25", ReportingBM25Retriever(document_store=store, fuzziness="1", top_k=3, timeout_s=2))
    dense = ReportingEmbeddingRetriever(document_store=store, num_candidates=40, timeout_s=3)
    asked_by_text = ReportingTextEmbeddingRetriever(retriever=dense, text_embedder=StaticTextEmbedder())
    pipeline.add_component("dense", asked_by_text)
    assert Pipeline.loads(pipeline.dumps()).to_dict() == pipeline.to_dict()
    with pytest.raises(ConfigurationError, match="timeout_s must be a finite number > 0"):
        ReportingBM25Retriever(document_store=store, timeout_s=0)


class TestInAPipeline:
    """What a fault makes of a run, on pipelines whose next step would be the web."""

    @pytest.fixture(params=["heuristic_rag", "corrective_retrieval"])
    def name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @BOTH
    @pytest.mark.parametrize("fault", [failed_shard, timed_out, nothing_left, "503", "reset", "cut", "hang"])
    def test_a_question_without_an_answer_is_never_judged_incorrect(
        self, store: Any, wire: Wire, name: str, fault: Any, asynchronous: bool, metasearch: Metasearch
    ) -> None:
        """Verdict `ungraded`, no web, in time, with the reason in the record and in the words of the abstention."""
        rag = load(name, store=store)
        whole = run_by_door(rag, asynchronous=asynchronous, query=OTHER)["crag"]
        assert whole["trail"][0]["verdict"] != "ungraded"
        assert whole["coverage"]["degraded"] is bool(whole["coverage"]["reasons"])
        asked_before = len(metasearch.queries)
        wire.change, wire.fault = (fault, "") if callable(fault) else (None, fault)
        started = time.monotonic()
        record = run_by_door(rag, asynchronous=asynchronous, query=OTHER, **self._budget(rag))["crag"]
        assert time.monotonic() - started < (15 if fault == "hang" else 30)
        assert (record["verdict"], record["action"]) == ("ungraded", "abstain")
        assert len(metasearch.queries) == asked_before
        status = "incomplete" if callable(fault) else "failed"
        assert record["rule"] == f"retrieval_{status}"
        assert record["coverage"]["degraded"] is True
        assert f"retrieval_{status}:bm25" in record["coverage"]["reasons"]
        assert record["abstention"]["searched"] == status

    @BOTH
    def test_when_one_of_two_retrievers_fails_the_evidence_of_the_other_is_used(
        self, store: Any, wire: Wire, name: str, asynchronous: bool
    ) -> None:
        """Both ways round; the record names the one that failed, and why."""
        for only, failed, other in (("knn", "dense", "bm25"), ("multi_match", "bm25", "dense")):
            wire.fault, wire.only = "503", only
            result = run_by_door(load(name, store=store), asynchronous=asynchronous, query=QUESTION)
            assert TEXTS[0] in [document.content for document in result["documents"]]
            assert set(result["documents"][0].meta["crag"]["retrievers"]) - {"kept"} == {other}
            assert result["crag"]["verdict"] in ("correct", "ambiguous")
            assert f"retrieval_failed:{failed}" in result["crag"]["coverage"]["reasons"]
            said = result["crag"]["trail"][0]["retrieval"]["retrievers"]
            assert said[failed] == {"status": "failed", "kind": "http_503"}
            assert said[other]["status"] == "ok"

    def test_an_answer_that_rests_on_no_search_does_not_pass_for_a_found_one(
        self, store: Any, wire: Wire, configured_model: ScriptedModel
    ) -> None:
        """The control pipeline judges nothing and asks its model all the same; record and status tell."""
        model = chat_model()
        assert model is not None
        rag = load("baseline_rag", store=store, generator=model.generator(5.0))
        assert rag.run(query=QUESTION)["crag"]["answer"]["status"] == "written"
        wire.fault = "503"
        record = rag.run(query=QUESTION)["crag"]
        assert record["answer"]["status"] == "failed"
        reasons = ["retrieval_failed:bm25", "retrieval_failed:dense", "answer_failed:no_evidence"]
        assert [reason for reason in record["coverage"]["reasons"] if reason in reasons] == reasons
        del configured_model

    def test_a_retriever_without_weight_was_not_asked_for(self, store: Any, wire: Wire) -> None:
        """Its failure costs nothing, so nothing is said of it."""
        wire.fault, wire.only = "503", "knn"
        rag = load("corrective_retrieval", store=store)
        rag.pipeline.get_component("guard").strategy = {"name": "bm25", "weights": {"bm25": 1.0, "dense": 0.0}}
        assert rag.run(query=QUESTION)["crag"]["coverage"]["degraded"] is False

    def test_a_retriever_of_ones_own_is_connected_as_the_pipeline_says(self, store: Any, wire: Wire) -> None:
        """It has no report; the other one's is read all the same."""
        rag = load("corrective_retrieval", store=store, bm25=ElasticsearchBM25Retriever(document_store=store))
        wire.fault, wire.only = "503", "knn"
        result = rag.run(query=QUESTION)
        assert TEXTS[0] in [document.content for document in result["documents"]]
        assert result["crag"]["coverage"]["reasons"][0] == "retrieval_failed:dense"

    @pytest.mark.parametrize(("fault", "code"), [("", 3), ("503", 5)])
    def test_crag_ask_tells_no_answer_from_no_search(self, store: Any, wire: Wire, fault: str, code: int) -> None:
        """Exit code 3 says that nothing in the documents answers; 5, that the store cannot be used."""
        wire.fault = fault
        told = outcome.run(load("corrective_retrieval", store=store), "name", OTHER)
        assert told.exit_code == code
        shown = plain(run_view(told.crag))
        assert ("say that not all documents could be searched" in shown) is bool(fault)
        assert ("say that the documents do not answer" in shown) is not bool(fault)

    def _budget(self, rag: Any) -> dict[str, Any]:
        takes = "budget" in rag.__haystack_input__._sockets_dict
        return {"budget": {"seconds": 2.0}} if takes else {}


@BOTH
@pytest.mark.parametrize("only", [{"field": "meta.nobody", "operator": "==", "value": 1}, None])
@pytest.mark.usefixtures("wire")
def test_no_document_to_search_is_told_from_none_that_answers(
    store: Any, empty: Any, only: dict[str, Any] | None, asynchronous: bool
) -> None:
    """A filter by a field that is not there, and an index made anew, read as "nothing there" otherwise."""
    wanted = "filters_leave_none" if only else "index_empty"
    searched = store if only else empty
    shards = {"total": 1, "failed": 0}
    found = asked(
        ReportingBM25Retriever(document_store=searched), asynchronous=asynchronous, query=QUESTION, filters=only
    )
    assert found == {"documents": [], "report": {"status": "ok", "kind": wanted, "shards": shards}}
    rag = load("corrective_retrieval", store=searched)
    record = run_by_door(rag, asynchronous=asynchronous, query=QUESTION, **({"filters": only} if only else {}))["crag"]
    assert (record["verdict"], record["action"]) == ("incorrect", "abstain")
    assert record["coverage"]["reasons"][0] == f"{wanted}:bm25"
    of_a_search = asked(ReportingBM25Retriever(document_store=store), asynchronous=asynchronous, query="xylophone")
    assert of_a_search == {"documents": [], "report": {"status": "ok", "shards": shards}}


@BOTH
@pytest.mark.usefixtures("wire")
def test_documents_without_vectors_are_told_from_an_empty_index(empty: Any, asynchronous: bool) -> None:
    """An index made anew by somebody who knows of words only would be searched by them, and nobody would read it."""
    vector = StaticTextEmbedder().run(text=QUESTION)["embedding"]
    by_vector, shards = ReportingEmbeddingRetriever(document_store=empty), {"total": 1, "failed": 0}
    found = asked(by_vector, asynchronous=asynchronous, query_embedding=vector)
    assert found == {"documents": [], "report": {"status": "ok", "shards": shards}}
    rag = load("corrective_retrieval", store=empty)
    empty.write_documents([Document(content=TEXTS[0], meta={"kind": "plain"})])
    for only in (None, {"field": "meta.kind", "operator": "==", "value": "plain"}):
        found = asked(by_vector, asynchronous=asynchronous, query_embedding=vector, filters=only)
        assert found == {"documents": [], "report": {"status": "ok", "kind": "no_vectors", "shards": shards}}
    none = {"field": "meta.kind", "operator": "==", "value": "other"}
    assert "kind" not in asked(by_vector, asynchronous=asynchronous, query_embedding=vector, filters=none)["report"]
    record = run_by_door(rag, asynchronous=asynchronous, query=QUESTION)["crag"]
    assert (record["verdict"], record["coverage"]["reasons"]) == ("correct", ["no_vectors:dense"])


@BOTH
def test_texts_kept_as_whole_values_are_a_search_that_failed(
    elasticsearch_url: str, elasticsearch_index: str, asynchronous: bool
) -> None:
    """Where a YAML runs without `load`, which refuses such an index: every question would be `incorrect`."""
    mapping = {"properties": {"content": {"type": "keyword"}}}
    kept = ElasticsearchDocumentStore(hosts=elasticsearch_url, index=elasticsearch_index, custom_mapping=mapping)
    kept.write_documents([Document(content="Emma is a novel by Jane Austen.")], refresh=True)
    retriever = ReportingBM25Retriever(document_store=kept)
    found = asked(retriever, asynchronous=asynchronous, query="Who wrote Emma?")
    assert found["documents"] == []
    assert (found["report"]["status"], found["report"]["kind"]) == ("failed", "content_not_searchable")


@pytest.mark.usefixtures("wire")
def test_an_abstention_says_that_there_was_no_document_to_search(store: Any, empty: Any) -> None:
    only = {"field": "meta.nobody", "operator": "==", "value": 1}
    for searched, filters, sentence in (
        (store, only, "Found: no documents. The filters leave no document to search."),
        (empty, None, "Found: no documents. The index holds no document with a text."),
    ):
        rag = load("corrective_rag", store=searched, generator=MockChatGenerator("An answer."))
        assert sentence in rag.run(query=QUESTION, filters=filters)["answers"][0].data


@pytest.mark.parametrize(
    ("fields", "got"),
    [
        ({"content": ["Shared pages."]}, "'content' as list"),
        ({"content": "Shared pages.", "meta": "none"}, "'meta' as str"),
        ({"content": "Shared pages.", "id": {"a": 1}}, "'id' as dict"),
        ({"content": "Shared pages.", "blob": {"size": 3}}, "what is no document of Haystack"),
    ],
)
def test_a_document_that_is_none_of_haystacks_is_named(
    elasticsearch_url: str, elasticsearch_index: str, fields: dict[str, Any], got: str
) -> None:
    """It was written by something else; Haystack's own words for it name neither document nor field."""
    with Elasticsearch(elasticsearch_url) as client:
        client.index(index=elasticsearch_index, id="one", document=fields, refresh=True)
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    with pytest.raises(StoreError, match=f"got {got} in the document 'one' of the index '{elasticsearch_index}'"):
        ReportingBM25Retriever(document_store=store).run(query="pages")
    store.close()


@pytest.mark.parametrize("operator", ["OR", "AND", "NOT"])
@pytest.mark.parametrize("sequence", [list, tuple])
@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("nothing", [[], (), {}, "", None])
def test_filters_without_any_condition_do_not_open_the_whole_index(
    store: Any, operator: str, depth: int, sequence: type, nothing: Any
) -> None:
    """
    One of these groups, for a user without a group: Elasticsearch itself takes that for no restriction.

    Lua and PHP write an empty list as `{}`.
    """
    filters: dict[str, Any] = {"operator": operator, "conditions": nothing}
    for _ in range(depth):
        filters = {"operator": "AND", "conditions": sequence([filters])}
    asked = {"query_embedding": [0.1] * 256, "filters": filters}
    for retriever, inputs in (
        (ReportingBM25Retriever(document_store=store), {"query": "Who?", "filters": filters}),
        (ReportingEmbeddingRetriever(document_store=store), asked),
    ):
        with pytest.raises(FilterError, match="empty list of conditions"):
            retriever.run(**inputs)


@pytest.mark.parametrize("field", [1, None, ["meta.year"]])
def test_a_field_that_is_no_text_is_an_error_of_the_filters(store: Any, field: Any) -> None:
    """Not of the program: over HTTP it was a 500."""
    filters = {"operator": "AND", "conditions": [{"field": field, "operator": "==", "value": 1}]}
    with pytest.raises(FilterError, match="a field that is no text"):
        ReportingBM25Retriever(document_store=store).run(query="Who?", filters=filters)


def test_half_a_character_of_another_client_is_a_sign(elasticsearch_url: str, elasticsearch_index: str) -> None:
    """Of a text that was cut within an emoji. As it was, no server and no terminal could write the answer."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    prepare(store)
    vector = StaticTextEmbedder().run(text="Penguins")["embedding"]
    written = {"id": "a\ud83d", "content": "Penguins \ud83d\ude00 swim \ud83d", "title": "\ude00", "embedding": vector}
    headers = {"content-type": "application/json", "accept": "application/json"}
    put: dict[str, Any] = {"headers": headers, "body": json.dumps(written).encode()}
    store.client.perform_request("PUT", f"/{elasticsearch_index}/_doc/a?refresh=true", **put)
    (found,) = ReportingEmbeddingRetriever(document_store=store).run(query_embedding=vector)["documents"]
    assert (found.id, found.content, found.meta) == ("a\ufffd", "Penguins \U0001f600 swim \ufffd", {"title": "\ufffd"})


@pytest.mark.parametrize("operator", ["CANARY", ["CANARY"], {"CANARY": 1}, None])
def test_an_operator_that_is_none_is_an_error_of_the_filters(store: Any, operator: Any) -> None:
    """The store's own translation looks it up in a table and raises a bare error; of a list, the field was blamed."""
    filters = {"field": "meta.year", "operator": operator, "value": 1}
    with pytest.raises(FilterError, match="operator that is none") as raised:
        ReportingBM25Retriever(document_store=store).run(query="Who?", filters=filters)
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize("value", [{"CANARY"}, Path("CANARY"), b"CANARY", object()])
def test_a_value_that_json_does_not_hold_is_an_error_of_the_filters(store: Any, value: Any) -> None:
    """The client's error is one of its transport: the record said that there was no connection, and the run went on."""
    filters = {"field": "meta.year", "operator": "==", "value": value}
    with pytest.raises(FilterError, match="a value that JSON does not hold") as raised:
        ReportingBM25Retriever(document_store=store).run(query="Who?", filters=filters)
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize(
    "of_run",
    [
        {"field": "meta.team", "operator": "==", "value": "b"},
        {"field": "meta.team", "operator": "!=", "value": "a"},
        {"operator": "AND", "conditions": [{"field": "meta.team", "operator": "==", "value": "b"}]},
        {"operator": "OR", "conditions": [{"field": "meta.level", "operator": "==", "value": 1}]},
        {"operator": "NOT", "conditions": [{"field": "meta.level", "operator": "==", "value": 2}]},
    ],
)
def test_no_filters_of_a_run_open_what_merged_filters_close(
    elasticsearch_url: str, elasticsearch_index: str, of_run: dict[str, Any]
) -> None:
    """An operator's own may be a permission; Haystack's merge leaves them out where those of a run name their field."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    fill(store, [Document(content=f"Penguins of {team}.", meta={"team": team, "level": 1}) for team in "ab"])
    vector = StaticTextEmbedder().run(text="Penguins")["embedding"]
    team = {"field": "meta.team", "operator": "==", "value": "a"}
    for own in (team, {"operator": "OR", "conditions": [team, {**team, "value": "nobody"}]}):
        settings: dict[str, Any] = {"document_store": store, "filters": own, "filter_policy": "merge"}
        by_words = ReportingBM25Retriever(**settings).run(query="Penguins", filters=of_run)
        by_vector = ReportingEmbeddingRetriever(**settings).run(query_embedding=vector, filters=of_run)
        found = [one.meta["team"] for one in by_words["documents"] + by_vector["documents"]]
        assert set(found) <= {"a"}
        assert bool(found) == ("level" in str(of_run))
    store.close()


def test_an_alias_with_a_filter_hides_the_rest_from_every_search_and_from_the_statistics(
    elasticsearch_url: str, elasticsearch_index: str
) -> None:
    """What docs/permissions.md promises: nobody who asks can open it, in no pass, and no word of the rest weighs."""
    everything = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    pages = [
        Document(content=f"Penguins of {team} live in zone {n}.", meta={"team": team}) for team in "ab" for n in "12"
    ]
    fill(everything, pages)
    alias = f"{elasticsearch_index}-of-a"
    add = {"index": elasticsearch_index, "alias": alias, "filter": {"term": {"team": "a"}}}
    with Elasticsearch(elasticsearch_url) as client:
        client.indices.update_aliases(actions=[{"add": add}])
    narrow = open_store("elasticsearch", elasticsearch_url, alias)
    rag = load("corrective_retrieval", store=narrow)
    other = {"field": "meta.team", "operator": "!=", "value": "a"}
    either = {"operator": "OR", "conditions": [other, {"field": "meta.team", "operator": "==", "value": "a"}]}
    for question in ("Where do penguins live?", "Which zones have lighthouses of b?"):
        for filters, most in ((None, 2), (either, 2), (other, 0)):
            record = (found := rag.run(query=question, filters=filters, mode="observe"))["crag"]
            assert {one.meta["team"] for one in found["documents"]} <= {"a"}
            assert record["documents_before"] == most
    known = StatisticsSource(store=narrow).resolve("Where do penguins live?")
    assert known is not None
    assert (known.documents, known.frequencies["penguin"]) == (2, 2)
    for store in (everything, narrow):
        store.close()
