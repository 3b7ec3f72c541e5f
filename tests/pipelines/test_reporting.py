"""Retrievers and embedders of others: where one fails or hangs, the run goes on with the rest, and says so."""

import re
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from makers import fill, run_by_door

from haystack_integrations.crag.components import EvidenceJoiner, StaticTextEmbedder, StripRefiner
from haystack_integrations.crag.components.reporting_retriever import ReportingRetriever
from haystack_integrations.crag.errors import ConfigurationError, causes
from haystack_integrations.crag.pipelines import export, load
from haystack_integrations.crag.pipelines.loader import read

QUESTION = "When is a refund paid?"
BEST = "A refund is paid within 30 days of the return."
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@component
class OfAVendor:
    """A retriever that is asked by text and does as it is told: raise, hang, or find."""

    def __init__(self, error: Exception | None = None, found: list[Document] | None = None) -> None:
        self.error, self.found, self.over = error, found, threading.Event()

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        if self.found is None:
            self.over.wait(60)
        return {"documents": self.found or []}


@component
class ByVectorOfAVendor(OfAVendor):
    """The same, asked by a vector."""

    @component.output_types(documents=list[Document])
    def run(self, query_embedding: list[float], filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        return dict(OfAVendor.run(self, "", filters, top_k))


@component
class EmbedderOfAVendor(OfAVendor):
    """An embedder that does as it is told."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        OfAVendor.run(self, text)
        return {"embedding": [0.1] * 256}


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """One document that answers, and others."""
    texts = [BEST, "Parcels go out on Mondays.", "The courier is paid by the shop."]
    fill(in_memory_store, [Document(content=text) for text in texts])
    return in_memory_store


def reasons(result: dict[str, Any]) -> list[str]:
    """What the record says of a run that was not whole."""
    return list(result["crag"]["coverage"]["reasons"])


PARTS = pytest.mark.parametrize(
    ("role", "part"),
    [
        ("bm25", OfAVendor),
        ("dense", ByVectorOfAVendor),
        ("dense", lambda *how: {"text_embedder": EmbedderOfAVendor(*how)}),
    ],
    ids=["by-words", "by-vectors", "embedder"],
)


@BOTH
@PARTS
def test_a_part_of_another_vendor_that_fails_costs_its_own_results_only(
    store: Any, role: str, part: Any, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The other retriever's are judged; the record names which failed, and how, without its words."""
    rag = load("corrective_retrieval", store=store, **{role: part(ConnectionError("secret-host"))})
    result = run_by_door(rag, asynchronous=asynchronous, query=QUESTION)
    assert result["documents"][0].content == BEST
    assert f"retrieval_failed:{role}" in reasons(result)
    assert result["crag"]["trail"][0]["retrieval"]["retrievers"][role] == {
        "status": "failed",
        "kind": "ConnectionError",
    }
    assert "secret-host" not in caplog.text


@BOTH
@PARTS
def test_a_part_of_another_vendor_that_hangs_ends_with_the_run(
    store: Any, role: str, part: Any, asynchronous: bool
) -> None:
    """Its own client may wait for minutes, or for ever."""
    given, start = part(), time.monotonic()
    rag = load("corrective_retrieval", store=store, **{role: given})
    result = run_by_door(rag, asynchronous=asynchronous, query=QUESTION, budget={"seconds": 1})
    (given["text_embedder"] if isinstance(given, dict) else given).over.set()
    assert time.monotonic() - start < 15
    assert f"retrieval_failed:{role}" in reasons(result)
    assert result["crag"]["verdict"] != "incorrect"


@BOTH
def test_nothing_is_incorrect_where_no_search_reached_its_store(store: Any, asynchronous: bool) -> None:
    """A store that is down answers nothing, which is no word on what is in it."""
    down = {"bm25": OfAVendor(ConnectionError()), "dense": ByVectorOfAVendor(ConnectionError())}
    result = run_by_door(load("corrective_retrieval", store=store, **down), asynchronous=asynchronous, query=QUESTION)
    assert (result["crag"]["verdict"], result["documents"]) == ("ungraded", [])
    assert {"retrieval_failed:bm25", "retrieval_failed:dense"} <= set(reasons(result))


@BOTH
def test_a_router_of_another_name_is_told_as_well_that_no_search_reached_its_store(
    store: Any, tmp_path: Path, asynchronous: bool
) -> None:
    """A file of the user's own may name its parts as it likes, and needs not know of reports."""
    told = ("fuse.report", "dense.report")
    spec = read("corrective_retrieval")
    spec["connections"] = [one for one in spec["connections"] if one["sender"] not in told]
    text = re.sub(r"\brouter\b(?=[.:])", "decider", yaml.safe_dump(spec))
    (tmp_path / "own.yml").write_text(text)
    down = {"bm25": OfAVendor(ConnectionError()), "dense": ByVectorOfAVendor(ConnectionError())}
    rag = load(tmp_path / "own.yml", store=store, **down)
    result = run_by_door(rag, asynchronous=asynchronous, query=QUESTION)
    assert (result["crag"]["verdict"], result["documents"]) == ("ungraded", [])
    assert rag.pipeline.get_component("bm25").__haystack_input__.state.senders == ["state"]


class RefusedError(Exception):
    """What a store's client raises for a response."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


@BOTH
@pytest.mark.parametrize(
    "slip",
    [
        TypeError("missing a positional argument"),
        sqlite3.ProgrammingError("no such table"),
        ValueError("expected 3 dimensions"),
        RefusedError(400),
        RefusedError(401),
    ],
    ids=repr,
)
def test_a_slip_in_a_retriever_of_ones_own_is_raised(store: Any, slip: Exception, asynchronous: bool) -> None:
    """Told as a failed search it would be hard to find."""
    with pytest.raises(Exception, match=str(slip)) as raised:
        run_by_door(
            load("corrective_retrieval", store=store, bm25=OfAVendor(slip)), asynchronous=asynchronous, query=QUESTION
        )
    assert slip in list(causes(raised.value))


@pytest.mark.parametrize("status", [429, 503])
def test_a_store_that_is_in_trouble_now_may_answer_the_next_question(store: Any, status: int) -> None:
    """The kind has the status."""
    result = load("corrective_retrieval", store=store, bm25=OfAVendor(RefusedError(status))).run(query=QUESTION)
    said = result["crag"]["trail"][0]["retrieval"]["retrievers"]["bm25"]
    assert said == {"status": "failed", "kind": f"RefusedError_{status}"}


@BOTH
def test_vectors_of_another_length_are_raised_in_the_stores_words(store: Any, asynchronous: bool) -> None:
    """An embedder that was named by mistake would be found by its log line only, each question marked and answered."""

    @component
    class ThreeNumbers:
        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            return {"embedding": [0.6, 0.8, 0.1]}

    rag = load("corrective_retrieval", store=store, dense={"text_embedder": ThreeNumbers()})
    with pytest.raises(Exception, match="embedded with the same model"):
        run_by_door(rag, asynchronous=asynchronous, query=QUESTION)


def test_an_embedder_in_the_place_of_one_in_haystacks_own_retriever_is_covered_too(store: Any, tmp_path: Path) -> None:
    """Of a file of one's own: what is named by `load` may be a server's."""
    spec, own = read("corrective_retrieval"), tmp_path / "own.yml"
    spec["components"]["dense"]["type"] = f"{TextEmbeddingRetriever.__module__}.TextEmbeddingRetriever"
    reports = {"dense.state", "dense.report", "fuse.report"}
    spec["connections"] = [one for one in spec["connections"] if not reports & {*one.values()}]
    own.write_text(yaml.safe_dump(spec))
    rag = load(own, store=store, dense={"text_embedder": EmbedderOfAVendor(ConnectionError())})
    assert "retrieval_failed:dense" in reasons(rag.run(query=QUESTION))


def test_a_joiner_of_the_callers_gets_the_reports_too(store: Any) -> None:
    """One with other weights, say."""
    joiner = EvidenceJoiner(weights={"bm25": 1.0, "dense": 1.0})
    rag = load("corrective_retrieval", store=store, fuse=joiner, bm25=OfAVendor(ConnectionError()))
    assert "retrieval_failed:bm25" in reasons(rag.run(query=QUESTION))


def test_a_retriever_whose_other_outputs_are_used_stays_as_it_is(store: Any, tmp_path: Path) -> None:
    """One around it would not have them."""

    @component
    class Counting:
        @component.output_types(documents=list[Document], count=int)
        def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            return {"documents": [], "count": 7}

    own = tmp_path / "own.yml"
    own.write_text(export("corrective_retrieval").replace("outputs:\n", "outputs:\n  count: bm25.count\n"))
    given = Counting()
    rag = load(own, store=store, bm25=given)
    assert rag.pipeline.get_component("bm25") is given
    assert rag.run(query=QUESTION)["count"] == 7


def test_what_is_no_retriever_stays_as_it_is_before_a_joiner(store: Any) -> None:
    """A web search tells of itself in other words."""
    refiner = StripRefiner()
    rag = load("signals_rag", store=store, refine=refiner, generator=MockChatGenerator("An answer."))
    assert rag.pipeline.get_component("refine") is refiner


def test_parts_that_cannot_fail_stay_haystacks_own(store: Any) -> None:
    """In memory, with the model that is in the package, nothing is asked of a server."""
    pipeline = load("corrective_retrieval", store=store).pipeline
    assert type(pipeline.get_component("bm25")) is InMemoryBM25Retriever
    assert type(pipeline.get_component("dense").retriever) is InMemoryEmbeddingRetriever


def test_a_pipeline_whose_retrievers_report_is_written_down_and_read_again(store: Any) -> None:
    """With its connections; a retriever around another keeps its limit."""
    around = ReportingRetriever(InMemoryBM25Retriever(store), timeout_s=3)
    rag = load("corrective_retrieval", store=store, bm25=around, dense={"text_embedder": StaticTextEmbedder()})
    again = Pipeline.loads(rag.pipeline.dumps())
    assert again.get_component("bm25").timeout_s == 3
    assert again.to_dict()["components"] == rag.pipeline.to_dict()["components"]
    assert {"sender": "fuse.report", "receiver": "router.retrieval"} in again.to_dict()["connections"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_wrapped_retriever_is_asked_with_the_filters_and_the_number_of_the_run(
    in_memory_store: Any, is_async: bool
) -> None:
    """Left out, a filter would open what it is to close; what the run does not say is the retriever's own."""
    pages = [Document(content=f"warranty {number}", meta={"part": number % 2}) for number in range(6)]
    in_memory_store.write_documents(pages)
    retriever = ReportingRetriever(InMemoryBM25Retriever(in_memory_store, top_k=5))
    of_part = {"field": "meta.part", "operator": "==", "value": 1}
    for given, number in (({}, 5), ({"top_k": 2}, 2), ({"filters": of_part}, 3), ({"filters": of_part, "top_k": 1}, 1)):
        asked: dict[str, Any] = {"query": "warranty", **given}
        found = await retriever.run_async(**asked) if is_async else retriever.run(**asked)
        parts = [document.meta["part"] for document in found["documents"]]
        assert (len(parts), found["report"]) == (number, {"status": "ok"})
        assert 0 not in parts or "filters" not in given
    with pytest.raises(ConfigurationError, match="top_k"):
        retriever.run(query="warranty", top_k=0)
