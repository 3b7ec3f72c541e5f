"""What `load` gives: the same plain results at each door, and no copies of what nobody reads."""

import asyncio
import json
import pickle
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.joiners import BranchJoiner
from haystack.tracing.utils import coerce_tag_value
from makers import fill, grading_by, scripted

from haystack_integrations.crag.components import BatchRelevanceGrader, HeuristicGrader, ReportingRetriever
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.loaded import LoadedPipeline
from haystack_integrations.crag.sealing import Sealed
from haystack_integrations.crag.state import CragState

QUESTION = "Where do penguins live?"
TEXTS = ["Penguins live in Antarctica and on southern coasts.", "Camels live in deserts.", "Tea is a hot drink."]


@component
class Reader:
    """Reads a mapping, as a component of a user's own does."""

    @component.output_types(verdict=str)
    def run(self, told: dict[str, Any]) -> dict[str, Any]:
        """Take a verdict out of it."""
        return {"verdict": told["verdict"]}


@pytest.fixture
def rag(in_memory_store: Any) -> Any:
    """The recommended pipeline on three short documents."""
    fill(in_memory_store, [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate(TEXTS)])
    grader = grading_by(lambda text: 0.9 if "Penguins" in text else 0.1)
    return load("corrective_rag", store=in_memory_store, grader=grader, generator=scripted("In Antarctica [1]."))


@pytest.fixture
def retrieval(in_memory_store: Any) -> Any:
    """A pipeline that judges by wording, on three short documents."""
    fill(in_memory_store, [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate(TEXTS)])
    return load("corrective_retrieval", store=in_memory_store)


@pytest.fixture
def cascade(in_memory_store: Any) -> Any:
    """The pipeline that judges by wording first and hands what it says on, on three short documents."""
    fill(in_memory_store, [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate(TEXTS)])
    grader = grading_by(lambda text: 0.9 if "Penguins" in text else 0.1)
    return load("cascade_rag", store=in_memory_store, grader=grader, generator=scripted("In Antarctica [1]."))


def leaves(value: Any) -> int:
    """How many values Haystack copies one by one."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if isinstance(value, list | tuple | set) else 1


def test_on_the_event_loop_the_record_is_the_same_plain_json(rag: Any) -> None:
    """By each door; only times differ."""

    def told(result: dict[str, Any]) -> Any:
        record = {**result["crag"], "milliseconds": 0}
        assert type(result["crag"]) is dict
        return json.loads(json.dumps(record))

    assert told(asyncio.run(rag.run_async(query=QUESTION))) == told(rag.run(query=QUESTION))


def test_record_and_decision_are_not_copied_leaf_by_leaf(rag: Any) -> None:
    """Haystack copies what a component gives, though `run_async` reads none of the copies; its documents are few."""

    found = {name: leaves(outputs) for name, outputs in asyncio.run(copied(rag)).items()}
    assert found["router"] == 2  # decision, state
    assert found["record"] == 2  # crag, the document that was kept


async def copied(rag: Any) -> dict[str, Any]:
    """What each component gives, as Haystack copies it."""
    parts = rag.pipeline.run_async_generator(rag.arguments({"query": QUESTION}), include_outputs_from=rag.last)
    return {name: outputs async for part in parts if len(part) == 1 for name, outputs in part.items()}


@pytest.mark.parametrize(("name", "part"), [("retrieval", "grader"), ("cascade", "scorer")])
def test_signals_are_not_copied_leaf_by_leaf(name: str, part: str, request: pytest.FixtureRequest) -> None:
    """Of ten documents they are a thousand numbers, which `crag["signals"]` tells in short."""
    rag = request.getfixturevalue(name)
    found = asyncio.run(copied(rag))[part]
    assert leaves(found["signals"]) == 1
    assert type(found["signals"].content["documents"]) is dict
    result = rag.pipeline.get_component(part).run(QUESTION, [Document(content=text) for text in TEXTS], sealed=True)
    assert leaves(result["report"]) < 10  # the router and the gate get it


@pytest.mark.parametrize("name", ["retrieval", "cascade"])
def test_sealed_signals_are_in_the_record_as_plain_json(name: str, request: pytest.FixtureRequest) -> None:
    """What the router reads of them, it opens."""
    rag = request.getfixturevalue(name)
    for record in (rag.run(query=QUESTION)["crag"], asyncio.run(rag.run_async(query=QUESTION))["crag"]):
        assert json.loads(json.dumps(record))["signals"] == record["signals"]
        assert set(record["signals"]) == {"set", "documents"}
        assert all("answers" in signals for signals in record["signals"]["documents"].values())


@component
class Counter:
    """Reads signals, as a component of a user's own does."""

    @component.output_types(documents=int)
    def run(self, told: dict[str, Any]) -> dict[str, Any]:
        """Count documents in them."""
        return {"documents": len(told.get("signals", told)["documents"])}


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("retrieval", "grader.signals"),
        ("retrieval", "grader.report"),
        ("cascade", "scorer.report"),
        ("cascade", "gate.report"),
    ],
)
def test_a_component_inside_that_reads_signals_gets_plain_dictionaries(
    name: str, read: str, request: pytest.FixtureRequest
) -> None:
    """Also where they reach it by way of the gate, which hands the report on."""
    rag = request.getfixturevalue(name)
    rag.pipeline.add_component("counter", Counter())
    rag.pipeline.connect(read, "counter.told")
    results = asyncio.run(rag.pipeline.run_async(rag.arguments({"query": QUESTION}), include_outputs_from={"counter"}))
    assert results["counter"]["documents"] >= 1


def test_a_report_that_is_an_output_of_the_pipeline_comes_as_plain_json(retrieval: Any) -> None:
    """Of a YAML of one's own that gives it."""
    plain = LoadedPipeline(retrieval.pipeline, retrieval.input_mapping, {"grader.report": "report"})
    assert json.dumps(plain.run(query=QUESTION)["report"]["signals"])


def test_who_runs_the_pipeline_inside_gets_plain_dictionaries(rag: Any) -> None:
    """As Hayhooks does with the file: the sockets give what they always gave."""
    asked = {part: {"query": QUESTION} for part in ("guard", "grader", "router", "answer")}
    inputs = {**asked, "prompt": {"question": QUESTION}}
    results = asyncio.run(rag.pipeline.run_async(inputs, include_outputs_from={"router"}))
    assert type(results["router"]["decision"]) is dict
    assert results["record"]["crag"]["trail"] == [results["router"]["decision"]]


@pytest.mark.parametrize("read", ["router.decision", "record.crag"])
def test_a_component_inside_that_reads_them_gets_plain_dictionaries(rag: Any, read: str, tmp_path: Path) -> None:
    """Of a pipeline of one's own, and of one that was changed after it was loaded."""
    rag.pipeline.add_component("reader", Reader())
    rag.pipeline.connect(read, "reader.told")
    results = asyncio.run(rag.pipeline.run_async(rag.arguments({"query": QUESTION}), include_outputs_from={"reader"}))
    assert results["reader"]["verdict"] == "correct"


def test_a_sealed_value_is_traced_as_its_content() -> None:
    """Where content is traced, the span of the component holds the record."""
    assert coerce_tag_value({"crag": Sealed({"score": 0.9})}) == coerce_tag_value({"crag": {"score": 0.9}})
    assert str({"crag": Sealed({"score": 0.9})}) == str({"crag": {"score": 0.9}})


def test_inputs_that_a_pipeline_around_it_was_not_given_are_left_out(rag: Any) -> None:
    """Haystack fills in a placeholder for them."""
    outer = Pipeline()
    outer.add_component("rag", rag)
    result = asyncio.run(outer.run_async({"rag": {"query": QUESTION}}))["rag"]
    assert result["answers"][0].data == "In Antarctica [1]."


@component
class Silent:
    """An expander that gives nothing where it knows no other query."""

    @component.output_types(query=str, state=CragState, exhausted=list[Document])
    def run(self, state: CragState) -> dict[str, Any]:
        """Give nothing."""
        return {}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_run_that_ends_within_a_component_of_ones_own_says_so(
    asynchronous: bool, in_memory_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """What came back was an empty dictionary, and the first thing said of it a KeyError in the application."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    retrieval = load("corrective_retrieval", store=in_memory_store, expander=Silent())
    asked = {"query": "Who repairs bicycles?"}
    assert (asyncio.run(retrieval.run_async(**asked)) if asynchronous else retrieval.run(**asked)) == {}
    (message,) = [record.getMessage() for record in caplog.records if "The run ended" in record.getMessage()]
    assert "before record, so none of its outputs ['documents', 'crag'] came" in message


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("name", ["corrective_retrieval", "corrective_rag"])
def test_an_empty_store_in_memory_is_told_once_when_nothing_is_found(
    name: str, asynchronous: bool, in_memory_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Else `load` without a store looks like a question that nothing answers; a filled one is a question's matter."""
    parts = {"grader": HeuristicGrader(), "generator": scripted("In Antarctica [1].")}
    rag = load(name, store=in_memory_store, **parts)

    def warnings(**inputs: Any) -> list[str]:
        caplog.clear()
        asyncio.run(rag.run_async(**inputs)) if asynchronous else rag.run(**inputs)
        return [record.getMessage() for record in caplog.records if "holds no document" in record.getMessage()]

    (message,) = warnings(query=QUESTION)
    assert "load(..., store=...)" in message
    assert warnings(query=QUESTION) == []
    fill(in_memory_store, [Document(content=text, meta={"page": 1}) for text in TEXTS])
    rag = load(name, store=in_memory_store, **{**parts, "grader": HeuristicGrader()})
    assert warnings(query=QUESTION, filters={"field": "meta.page", "operator": "==", "value": 2}) == []


def test_an_empty_store_of_another_vendor_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    """Their retrievers keep it as `_document_store`; one that cannot be counted is not called empty."""

    class Store:
        documents: Any = 0

        def count_documents(self) -> int:
            return len([None] * self.documents)

    @component
    class Search:
        _document_store = Store()

        @component.output_types(documents=list[Document])
        def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            return {"documents": []}

    for documents, told in ((None, False), (1, False), (0, True)):
        Store.documents = documents
        load("corrective_retrieval", bm25=Search(), dense=Search()).run(query=QUESTION)
        assert ("(Store) holds no document" in caplog.text) is told


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_store_is_counted_off_the_event_loop_and_not_where_its_search_failed(asynchronous: bool) -> None:
    """A server that hangs would hold the run once more, and all other runs of the loop."""
    counting: list[int] = []

    class Store:
        def count_documents(self) -> int:
            counting.append(threading.get_ident())
            return 1

    @component
    class Search:
        _document_store = Store()

        def __init__(self, error: Exception | None) -> None:
            self.error = error

        @component.output_types(documents=list[Document])
        def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            if self.error is not None:
                raise self.error
            return {"documents": []}

    for error, counted in ((ConnectionError(), False), (None, True)):
        rag = load("corrective_retrieval", bm25=Search(error), dense=Search(error))
        asyncio.run(rag.run_async(query=QUESTION)) if asynchronous else rag.run(query=QUESTION)
        assert bool(counting) is counted
    assert threading.get_ident() not in counting


@pytest.mark.parametrize("asynchronous", [False, True])
def test_filters_under_which_nothing_is_found_are_told_once(
    asynchronous: bool, in_memory_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A field with another name than the documents' leaves none of them, and that looks like no answer, too."""
    fill(in_memory_store, [Document(content=text, meta={"lang": "en"}) for text in TEXTS])
    rag = load("corrective_retrieval", store=in_memory_store)

    def warnings(value: str) -> list[str]:
        caplog.clear()
        only = {"field": "meta.lang", "operator": "==", "value": value}
        asyncio.run(rag.run_async(query=QUESTION, filters=only)) if asynchronous else rag.run(
            query=QUESTION, filters=only
        )
        return [record.getMessage() for record in caplog.records if "under the filters" in record.getMessage()]

    assert warnings("en") == []
    assert len(warnings("EN")) == 1
    assert warnings("EN") == []


@pytest.mark.parametrize("texts", [[], TEXTS[:1]], ids=["nothing", "something"])
def test_who_searches_elsewhere_is_not_told_of_an_empty_store(
    texts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The grader's store, which nobody searches, is not meant, nor one beside a search that finds nothing, too."""

    @component
    class Elsewhere:
        @component.output_types(documents=list[Document])
        def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            return {"documents": [Document(content=text) for text in texts]}

    load("corrective_retrieval", bm25=Elsewhere(), dense=Elsewhere()).run(query=QUESTION)
    load("corrective_retrieval", bm25=Elsewhere()).run(query=QUESTION)
    assert "holds no document" not in caplog.text


def hops_of(loaded: Any, **asked: Any) -> tuple[int, dict[str, Any]]:
    """How often a run goes to the pool of threads that all requests share, and what it gives."""

    class Counting(ThreadPoolExecutor):
        hops = 0

        def submit(self, *args: Any, **options: Any) -> Future[Any]:
            self.hops += 1
            return super().submit(*args, **options)

    async def run() -> tuple[int, dict[str, Any]]:
        await loaded.warm_up_async()
        pool = Counting()
        asyncio.get_running_loop().set_default_executor(pool)
        result = await loaded.run_async(**asked)
        return pool.hops, result

    return asyncio.run(run())


@pytest.mark.parametrize(("name", "most"), [("rag", 0), ("retrieval", 1), ("cascade", 1)])
def test_only_searches_and_the_judgement_of_texts_leave_the_event_loop(name: str, most: int, request: Any) -> None:
    """What only hands a value on does not wait for a thread; the in-memory store has threads of its own."""
    hops, result = hops_of(request.getfixturevalue(name), query=QUESTION)
    assert result["crag"]["action"] == "generate"
    assert hops == most


def test_what_stays_on_the_event_loop_is_copied_as_before() -> None:
    """Each copy runs as itself, and nothing of it is written down."""
    pipeline = Pipeline()
    pipeline.add_component("first", BranchJoiner(str))
    loaded = LoadedPipeline(pipeline)
    copied, pickled = deepcopy(loaded).pipeline, pickle.loads(pickle.dumps(pipeline.get_component("first")))
    made: Any
    for made in (copied.get_component("first"), pickled):
        assert made.run_async.args[0].__self__ is made is not pipeline.get_component("first")
        assert asyncio.run(made.run_async(value=["Emma"])) == {"value": "Emma"}
    assert copied.to_dict() == pipeline.to_dict()
    assert not hasattr(Pipeline.loads(pipeline.dumps()).get_component("first"), "run_async")


class Local:
    """A store whose documents are where its synchronous client is, as Chroma's and Qdrant's are without a server."""

    def __init__(self, **servers: Any) -> None:
        self.servers = servers

    def to_dict(self) -> dict[str, Any]:
        return {"type": "local.Local", "init_parameters": self.servers}


@component
class LocalRetriever:
    """Finds by vector or by words; on the event loop it opens another, empty store."""

    def __init__(self, store: Local, socket: str) -> None:
        self._document_store = store
        component.set_input_type(self, socket, Any)
        for name in ("filters", "top_k"):
            component.set_input_type(self, name, Any, None)

    @component.output_types(documents=list[Document])
    def run(self, **_: Any) -> dict[str, Any]:
        return {"documents": [Document(content=text) for text in TEXTS]}

    @component.output_types(documents=list[Document])
    async def run_async(self, **_: Any) -> dict[str, Any]:
        return {"documents": []}


@pytest.mark.parametrize(
    ("servers", "found"),
    [
        ({"host": None, "port": None, "persist_path": None}, True),
        ({"location": ":memory:", "url": None, "host": None}, True),
        ({"location": None, "url": None, "host": None, "path": "folder"}, True),
        ({"location": None, "url": "http://127.0.0.1:6333", "host": None}, False),
        ({"hosts": None}, False),
    ],
)
def test_a_store_without_a_server_is_searched_in_a_thread(
    servers: dict[str, Any], found: bool, in_memory_store: Any
) -> None:
    """Else a served question would find nothing, and read as one without an answer."""
    fill(in_memory_store, [Document(content="Tea is a hot drink.")])
    by_words, by_vector = (LocalRetriever(Local(**servers), name) for name in ("query", "query_embedding"))
    rag = load("corrective_retrieval", bm25=by_words, dense=by_vector)
    result = asyncio.run(rag.run_async(query=QUESTION))
    assert (result["crag"]["verdict"] == "correct") is found
    for one in (rag.pipeline.get_component(name).retriever for name in ("bm25", "dense")):
        assert bool(asyncio.run(one.run_async())["documents"]) is found
    unloaded = ReportingRetriever(LocalRetriever(Local(**servers), "query"))  # as Hayhooks reads it from a YAML
    for _ in range(2):
        assert bool(asyncio.run(unloaded.run_async(query=QUESTION))["documents"]) is found


@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval"])
def test_a_model_that_rejects_what_the_search_clearly_has_first_loses_it_only_where_nothing_else_passes(
    name: str, in_memory_store: Any
) -> None:
    """By the shipped settings; the record tells the lead, and another verdict is not made of it."""
    fill(in_memory_store, [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate(TEXTS)])
    parts: dict[str, Any] = {"generator": scripted("So it is.")} if name == "corrective_rag" else {}
    for other, kept in ((0.9, True), (0.1, False)):
        grader = BatchRelevanceGrader(grading_by(lambda text, other=other: 0.1 if text == TEXTS[0] else other))
        asked = load(name, store=in_memory_store, grader=grader, **parts).run(query=TEXTS[0])
        first, crag = asked["crag"]["trail"][0], asked["crag"]
        assert ({"0.md"} <= {document.meta["source"] for document in asked["documents"]}) is kept
        assert (first["verdict"], crag["action"] == "abstain") == (("correct", False) if kept else ("incorrect", True))
        assert [entry["lead"] >= 1.1 for entry in first["kept"] if entry["source"] == "0.md"] == [True] * kept


def test_a_run_that_asks_for_more_documents_than_the_joiner_gives_on_is_told_once(
    rag: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The cost of judging stays the operator's to choose; whoever asks for more learns how to get it."""
    rag.run(query=QUESTION, top_k=10)
    assert "gives on" not in caplog.text
    for _ in range(2):
        rag.run(query=QUESTION, top_k=11)
    assert caplog.text.count('by load(..., fuse={"top_k": 11})') == 1


def test_with_a_joiner_of_more_room_more_documents_are_judged(
    in_memory_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The way out that the warning names."""
    fill(in_memory_store, [Document(content=f"Penguins of island {number} live on rocks.") for number in range(12)])
    rag = load("corrective_retrieval", store=in_memory_store, fuse={"top_k": 12})
    assert rag.run(query=QUESTION, top_k=12)["crag"]["documents_before"] == 12
    assert "gives on" not in caplog.text
