"""A corrective retrieval in a retriever's place, by one entry of a YAML file."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.core.errors import DeserializationError, PipelineRuntimeError
from haystack.core.serialization import component_to_dict
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import FilterPolicy
from haystack.tools import ComponentTool
from makers import fill, graded, grading_by

from haystack_integrations.components.retrievers.elasticsearch import (
    ElasticsearchBM25Retriever,
    ElasticsearchEmbeddingRetriever,
    ElasticsearchHybridRetriever,
)
from haystack_integrations.crag.components import BatchRelevanceGrader, HeuristicGrader
from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.deciding.records import best
from haystack_integrations.crag.errors import ConfigurationError, QuestionError
from haystack_integrations.crag.grades import annotate
from haystack_integrations.crag.pipelines import CorrectiveRetriever, export
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

PAGES = (
    "A refund is paid within 14 days after the goods have arrived.",
    "Goods can be returned within 30 days.",
    "The warranty on a kettle is two years.",
)


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Three pages of a handbook."""
    fill(in_memory_store, [Document(content=page, meta={"part": part}) for part, page in enumerate(PAGES)])
    return in_memory_store


@pytest.mark.parametrize("is_async", [False, True])
def test_what_answers_is_handed_on_and_nothing_where_nothing_does(store: Any, is_async: bool) -> None:
    retriever = CorrectiveRetriever(store)

    def asked(query: str) -> dict[str, Any]:
        return asyncio.run(retriever.run_async(query=query)) if is_async else retriever.run(query=query)

    found, missed = asked("When is a refund paid?"), asked("Who repairs bicycles?")
    assert found["documents"][0].content == PAGES[0]
    assert (found["crag"]["verdict"], found["crag"]["action"]) == ("correct", "generate")
    assert missed["documents"] == []
    assert missed["crag"]["action"] == "abstain"


def test_a_retrievers_entry_in_yaml_becomes_a_corrective_one_by_its_type(store: Any) -> None:
    """Store and `top_k` stay as they stand; written out, it is one entry again."""
    text = """
components:
  retriever:
    type: haystack.components.retrievers.in_memory.bm25_retriever.InMemoryBM25Retriever
    init_parameters:
      top_k: 1
      document_store:
        type: haystack.document_stores.in_memory.document_store.InMemoryDocumentStore
        init_parameters: {index: a handbook}
connections: []
"""
    old = "haystack.components.retrievers.in_memory.bm25_retriever.InMemoryBM25Retriever"
    new = "haystack_integrations.crag.pipelines.corrective_retriever.CorrectiveRetriever"
    pipeline = Pipeline.loads(text.replace(old, new))
    for loaded in (pipeline, Pipeline.loads(pipeline.dumps())):
        retriever: Any = loaded.get_component("retriever")
        if not retriever.document_store.count_documents():  # one index of this process
            fill(retriever.document_store, [Document(content=page) for page in PAGES])
        (document,) = loaded.run({"query": "When is a refund paid?"})["retriever"]["documents"]
        assert document.content == PAGES[0]
    assert len(pipeline.dumps().splitlines()) < 30


def exchanged(retriever: Any) -> str:
    """What Haystack writes of a pipeline with a retriever, with that one line changed."""
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    old = f"{type(retriever).__module__}.{type(retriever).__qualname__}"
    text = pipeline.dumps()
    assert text.count(old) == 1
    return text.replace(old, "haystack_integrations.crag.pipelines.corrective_retriever.CorrectiveRetriever")


def elasticsearch() -> Any:
    """A store whose server is not asked before the first question."""
    return ElasticsearchDocumentStore(hosts="http://127.0.0.1:9", index="handbook")


@pytest.mark.parametrize(
    "make",
    [
        lambda: InMemoryBM25Retriever(InMemoryDocumentStore(index="written"), top_k=3),
        lambda: ElasticsearchBM25Retriever(document_store=elasticsearch(), top_k=3),
        lambda: ReportingBM25Retriever(document_store=elasticsearch(), top_k=3),
        lambda: InMemoryEmbeddingRetriever(InMemoryDocumentStore(index="written"), top_k=3),
        lambda: ElasticsearchEmbeddingRetriever(document_store=elasticsearch(), top_k=3),
    ],
    ids=lambda make: type(make()).__name__,
)
def test_a_retrievers_entry_that_haystack_wrote_becomes_a_corrective_one_too(make: Any) -> None:
    """It holds every setting of the retriever, also those that nobody chose."""
    before = make()
    written = before.to_dict()["init_parameters"]
    pipeline = Pipeline.loads(exchanged(before))
    for loaded in (pipeline, Pipeline.loads(pipeline.dumps())):
        retriever: Any = loaded.get_component("retriever")
        assert isinstance(retriever, CorrectiveRetriever)
        assert (retriever.top_k, retriever.filters) == (3, written["filters"])
        assert retriever.document_store.to_dict() == written["document_store"]


def test_what_haystack_wrote_of_an_app_answers_after_the_change_of_one_line() -> None:
    store = InMemoryDocumentStore(index="an app")
    fill(store, [Document(content=page) for page in PAGES])
    loaded = Pipeline.loads(exchanged(InMemoryBM25Retriever(store, top_k=1)))
    (document,) = loaded.run({"query": "When is a refund paid?"})["retriever"]["documents"]
    assert document.content == PAGES[0]


def test_a_retrievers_setting_that_somebody_chose_is_refused_with_the_way_out() -> None:
    """It would be lost without a word; the retriever inside takes it."""
    store = InMemoryDocumentStore(index="chosen scale_score")
    text = exchanged(InMemoryBM25Retriever(store, scale_score=True))
    with pytest.raises(
        DeserializationError, match=r"does not take \['scale_score'\].*{bm25: {scale_score: \.\.\.}}"
    ) as raised:
        Pipeline.loads(text)
    assert isinstance(raised.value.__cause__, ConfigurationError)
    fill(store, [Document(content=page) for page in PAGES])
    inside = CorrectiveRetriever(store, settings={"bm25": {"scale_score": True}})
    assert inside.run(query="When is a refund paid?")["documents"]


def test_a_setting_that_is_not_taken_is_refused_with_the_way_out_in_python_too() -> None:
    """In code the class's name is exchanged, and the arguments stay: Python's TypeError named no way out."""
    store: Any = InMemoryDocumentStore(index="chosen in code")
    made: Any = CorrectiveRetriever
    with pytest.raises(ConfigurationError, match=r"does not take \['scale_score'\].*{bm25: {scale_score: \.\.\.}}"):
        made(store, top_k=3, scale_score=True)
    with pytest.raises(ConfigurationError, match=r"does not take \['embedder'\].*{dense: {text_embedder: \.\.\.}}"):
        made(store, embedder=MockTextEmbedder())


def test_a_class_made_of_it_takes_settings_of_its_own() -> None:
    class Named(CorrectiveRetriever):
        def __init__(self, *given: Any, name: str, **settings: Any) -> None:
            super().__init__(*given, **settings)
            self.name = name

    assert Named(InMemoryDocumentStore(index="named"), name="ours", top_k=3).top_k == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: TextEmbeddingRetriever(
            retriever=InMemoryEmbeddingRetriever(InMemoryDocumentStore(index="written")),
            text_embedder=MockTextEmbedder(),
        ),
        lambda: ElasticsearchHybridRetriever(elasticsearch(), embedder=MockTextEmbedder(), top_k=3),
    ],
    ids=lambda make: type(make()).__name__,
)
def test_a_retriever_with_an_embedder_inside_is_told_where_that_goes(make: Any) -> None:
    """It was sent to the search by words, which has none; and what nobody had set was named as chosen."""
    with pytest.raises(DeserializationError, match=r"settings: {dense: {text_embedder: \.\.\.}}") as raised:
        Pipeline.loads(exchanged(make()))
    assert "filters_bm25" not in str(raised.value.__cause__)


def test_more_is_judged_than_is_handed_on(store: Any) -> None:
    """At most `top_k` leave, of all candidates; a run's number counts before the component's."""
    retriever = CorrectiveRetriever(store, top_k=1, mode="observe")
    first, more = retriever.run(query="When is a refund paid?"), retriever.run(query="When is a refund paid?", top_k=2)
    assert (len(first["documents"]), len(more["documents"])) == (1, 2)
    assert first["crag"]["documents_before"] == more["crag"]["documents_before"] == 3


@pytest.mark.parametrize("asked", [{"top_k": 25}, {"top_k": 5, "candidates": 25}])
def test_as_many_are_judged_and_handed_on_as_are_asked_for(in_memory_store: Any, asked: dict[str, int]) -> None:
    """Joiner and router stop at 10 by themselves; whoever asked a retriever for 25 gets 25 from this one."""
    fill(in_memory_store, [Document(content=f"A refund of {euros} euros is paid.") for euros in range(30)])

    def retrieved(**settings: Any) -> dict[str, Any]:
        grader = BatchRelevanceGrader(grading_by(lambda _: 0.5))
        retriever = CorrectiveRetriever(in_memory_store, grader=grader, **asked, **settings)
        return retriever.run(query="When is a refund paid?")

    found = retrieved()
    assert found["crag"]["documents_before"] == 25
    assert len(found["documents"]) == len(found["crag"]["kept"]) == asked["top_k"]
    assert retrieved(settings={"fuse": {"top_k": 3}})["crag"]["documents_before"] == 3


def test_filters_of_a_run_take_the_place_of_the_components(store: Any) -> None:
    only = {"field": "meta.part", "operator": "==", "value": 2}
    retriever = CorrectiveRetriever(store, filters=only, mode="observe")
    assert [document.content for document in retriever.run(query="When is a refund paid?")["documents"]] == [PAGES[2]]
    other = {**only, "value": 0}
    assert [document.content for document in retriever.run(query="A refund?", filters=other)["documents"]] == [PAGES[0]]


async def test_it_can_be_closed_before_the_first_question_and_asked_again_after(store: Any) -> None:
    """As any part of a pipeline; what was not opened is not closed."""
    retriever = CorrectiveRetriever(store)
    retriever.close()
    await retriever.close_async()
    for _ in range(2):
        assert (await retriever.run_async(query="When is a refund paid?"))["documents"]
        await retriever.close_async()
        assert retriever.run(query="When is a refund paid?")["documents"]
        retriever.close()


def test_empty_filters_of_a_run_do_not_open_what_the_components_own_close(store: Any) -> None:
    """As with the retriever that stood there: they are none, and not filters that restrict nothing."""
    only = {"field": "meta.part", "operator": "==", "value": 2}
    for retriever in (CorrectiveRetriever(store, filters=only, mode="observe"), InMemoryBM25Retriever(store, only)):
        found = retriever.run(query="When is a refund paid?", filters={})["documents"]
        assert [document.content for document in found] == [PAGES[2]]


@pytest.mark.parametrize("policy", ["merge", FilterPolicy.MERGE])
def test_filters_of_a_run_hold_beside_the_components_where_they_are_merged(store: Any, policy: Any) -> None:
    """In both searches, by words and by vector, and as a retriever's own entry says it."""
    written = InMemoryBM25Retriever(store, filters={"field": "meta.part", "operator": "<", "value": 2}).to_dict()
    written["init_parameters"] |= {"filter_policy": "merge"}
    read = CorrectiveRetriever.from_dict({**written, "type": f"{CorrectiveRetriever.__module__}.CorrectiveRetriever"})
    made = CorrectiveRetriever(store, filters=read.filters, filter_policy=policy, mode="observe")
    assert read.filter_policy == made.filter_policy == "merge"
    other = {"field": "content", "operator": "!=", "value": PAGES[0]}
    found = made.run(query="When is a refund paid?", filters=other)
    assert [document.content for document in found["documents"]] == [PAGES[1]]
    assert found["crag"]["documents_before"] == 1


@pytest.mark.parametrize(
    "of_run",
    [
        {"field": "meta.part", "operator": ">=", "value": 0},
        {"operator": "OR", "conditions": [{"field": "meta.part", "operator": "<", "value": 9}]},
        {"operator": "NOT", "conditions": [{"field": "meta.part", "operator": "==", "value": 9}]},
    ],
)
def test_no_filters_of_a_run_open_what_merged_filters_close(store: Any, of_run: dict[str, Any]) -> None:
    """Haystack's own merge drops the component's, where a run's are on the same field or are joined otherwise."""
    only = {"field": "meta.part", "operator": "==", "value": 2}
    retriever = CorrectiveRetriever(store, filters=only, filter_policy="merge", mode="observe")
    found = retriever.run(query="When is a refund paid?", filters=of_run)["documents"]
    assert [document.content for document in found] == [PAGES[2]]


@pytest.mark.parametrize("more", [{"filters": {"field": "meta.part", "operator": ">=", "value": 0}}, {"top_k": 9}])
def test_a_model_that_calls_it_as_a_tool_opens_no_merged_filters(store: Any, more: dict[str, Any]) -> None:
    """Haystack hands on what a call holds besides the schema of its tool; docs/permissions.md relies on this."""
    only = {"field": "meta.part", "operator": "==", "value": 2}
    retriever = CorrectiveRetriever(store, filters=only, filter_policy="merge", mode="observe")
    words = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    source = {"found": {"source": "documents"}}
    tool = ComponentTool(retriever, name="search", description="Search.", parameters=words, outputs_to_state=source)
    call = ToolCall("search", {"query": "When is a refund paid?", **more})
    model = MockChatGenerator([ChatMessage.from_assistant(tool_calls=[call]), "Done."])
    agent = Agent(chat_generator=model, tools=[tool], state_schema={"found": {"type": list[Document]}})
    found = agent.run(messages=[ChatMessage.from_user("When is a refund paid?")])["found"]
    assert [document.content for document in found] == [PAGES[2]]


def test_a_file_of_ones_own_may_be_a_path_and_is_written_down(store: Any, tmp_path: Path) -> None:
    """As `load` takes it; YAML knows no paths."""
    mine = tmp_path / "mine.yml"
    mine.write_text(export("corrective_retrieval"), "utf-8")
    pipeline = Pipeline()
    pipeline.add_component("retriever", CorrectiveRetriever(store, pipeline=mine))
    assert str(mine) in pipeline.dumps()


def test_a_path_that_no_yaml_could_tell_from_a_name_is_refused_when_the_retriever_is_made(
    store: Any, tmp_path: Path
) -> None:
    """And not at the first question: written down it is a text, and read as one."""
    mine = tmp_path / "mine"
    mine.write_text(export("corrective_retrieval"), "utf-8")
    with pytest.raises(ConfigurationError, match=r"pass the path of a \.yml file"):
        CorrectiveRetriever(store, pipeline=mine)


@pytest.mark.parametrize("is_async", [False, True])
def test_first_questions_side_by_side_load_one_pipeline(store: Any, is_async: bool) -> None:
    """A grader can be in one pipeline only, and a server's first questions come together."""
    retriever = CorrectiveRetriever(store, grader=HeuristicGrader())

    async def gathered() -> list[Any]:
        return await asyncio.gather(*(retriever.run_async(query="When is a refund paid?") for _ in range(8)))

    if is_async:
        found = asyncio.run(gathered())
    else:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda _: retriever.run(query="When is a refund paid?"), range(8)))
    assert [one["documents"][0].content for one in found] == [PAGES[0]] * 8


def test_a_filter_policy_that_is_none_is_refused(store: Any) -> None:
    """With those that there are."""
    with pytest.raises(ConfigurationError, match=r"one of \['replace', 'merge'\], but got 'both'"):
        CorrectiveRetriever(store, filter_policy="both")


def test_a_model_may_judge_and_settings_replace_those_of_the_file(store: Any) -> None:
    """One call for all documents; both are written down with the pipeline."""
    model = MockChatGenerator("[0.0, 0.0, 0.0]")
    settings = {"router": {"max_iterations": 1}}
    retriever = CorrectiveRetriever(store, grader=BatchRelevanceGrader(model), settings=settings)
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    for loaded in (pipeline, Pipeline.loads(pipeline.dumps())):
        result = loaded.run({"query": "When is a refund paid?"})["retriever"]
        record = result["crag"]
        assert (result["documents"], record["iterations"], record["llm_calls"]) == ([], 1, 1)


def test_settings_of_the_grader_inside_replace_those_of_the_file(store: Any) -> None:
    """Such as one's own calibration, in a YAML file that names no grader."""
    retriever = CorrectiveRetriever(store, settings={"grader": {"weights": "evidence"}})
    record = retriever.run(query="When is a refund paid?")["crag"]
    assert {entry["grader"] for entry in record["trail"][0]["kept"]} == {"HeuristicGrader:evidence"}


def test_the_text_embedder_of_ones_own_vectors_is_asked_and_written_down() -> None:
    """As the error on vectors of another length says: given as it is, or as YAML holds it."""
    store = InMemoryDocumentStore(index="vectors of another model")
    store.write_documents(
        MockDocumentEmbedder(dimension=7).run([Document(content=page) for page in PAGES])["documents"]
    )
    embedder = MockTextEmbedder(dimension=7)
    for given in (embedder, component_to_dict(embedder, "text_embedder")):
        pipeline = Pipeline()
        pipeline.add_component("retriever", CorrectiveRetriever(store, settings={"dense": {"text_embedder": given}}))
        for loaded in (pipeline, Pipeline.loads(pipeline.dumps())):
            result = loaded.run({"query": "When is a refund paid?"})["retriever"]
            assert [document.content for document in result["documents"]] == [PAGES[0]]
            assert "dense" in result["documents"][0].meta["crag"]["retrievers"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"top_k": 0}, "top_k"),
        ({"candidates": -1}, "candidates"),
        ({"top_k": True}, "top_k"),
        ({"top_k": 1.5}, "top_k"),
        ({"pipeline": "corrective_rag"}, r"corrective_retrieval"),
        ({"pipeline": "indexing"}, r"corrective_retrieval"),
        ({"pipeline": "nothing"}, "no shipped pipeline"),
        ({"mode": "obsrve"}, "mode must be one of"),
        ({"settings": {"router": 0.9}}, "settings must be a mapping of settings by component"),
        ({"settings": ["router"]}, "settings must be a mapping of settings by component"),
        ({"settings": {"bm25": HeuristicGrader()}}, r"of your own goes into load\(\.\.\.\)"),
        ({"grader": HeuristicGrader(), "settings": {"grader": {"calibration": "mine.json"}}}, "wanted either"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_opened(store: Any, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        CorrectiveRetriever(store, **wrong)
    for top_k in (0, True, 1.5):
        with pytest.raises(ConfigurationError, match="top_k"):
            CorrectiveRetriever(store).run(query="Who?", top_k=top_k)  # type: ignore[arg-type]


def test_a_missing_question_is_refused_as_an_empty_one(store: Any) -> None:
    """Not by Haystack's words on an input inside."""
    wrong: Any = None
    with pytest.raises(PipelineRuntimeError, match="the question is empty") as caught:
        CorrectiveRetriever(store).run(query=wrong)
    assert isinstance(caught.value.__cause__, QuestionError)


def test_of_more_documents_than_asked_for_the_best_graded_are_handed_on() -> None:
    """And not those that were found first: one of these may be all that answers."""
    store = InMemoryDocumentStore()
    pages = ["Refund refund paid: forms.", "Refund paid desk.", "A refund is paid within 14 days."]
    store.write_documents([Document(content=text) for text in pages])
    grader = BatchRelevanceGrader(grading_by(lambda text: 0.95 if "14 days" in text else 0.4))
    result = CorrectiveRetriever(store, top_k=1, grader=grader).run(query="When is a refund paid?")
    assert [document.content for document in result["documents"]] == [pages[2]]
    record = result["crag"]
    assert (record["documents_after"], [entry["score"] for entry in record["kept"]]) == (1, [0.95])
    assert [entry["reason"] for entry in record["discarded"]] == ["top_k", "top_k"]


def test_the_record_tells_of_what_is_handed_on_in_its_order_and_its_origin() -> None:
    """A page of the web that is left out of the best was not used."""
    pages = [graded("the web", 0.4, "?"), graded("the handbook", 0.9, "?")]
    pages[0] = annotate(pages[0], origin="web")
    record: dict[str, Any] = {"mode": "enforce", "discarded": [], "web_used": True, "documents_after": 2, "kept": []}
    record["trail"] = [{"discarded": []}]
    both, one = best(pages, record, 2), best(pages, record, 1)
    assert [entry["id"] for entry in both["crag"]["kept"]] == [document.id for document in both["documents"]]
    assert (both["crag"]["web_used"], one["crag"]["web_used"]) == (True, False)


@pytest.mark.parametrize("store", [None, "http://localhost:9200", InMemoryDocumentStore])
def test_what_is_no_store_is_refused_when_the_retriever_is_made(store: Any) -> None:
    """With None, the empty store of the pipeline's file was searched, and no question was answered."""
    with pytest.raises(ConfigurationError, match="as store, wanted"):
        CorrectiveRetriever(store)


@pytest.mark.parametrize(("part", "setting"), [("router", "max_evidence"), ("fuse", "top_k")])
def test_a_number_of_a_file_that_is_none_is_named(store: Any, tmp_path: Path, part: str, setting: str) -> None:
    """Not by Python's words on two things that it cannot compare."""
    spec = read("corrective_retrieval")
    spec["components"][part]["init_parameters"][setting] = None
    file = tmp_path / "own.yml"
    file.write_text(yaml.safe_dump(spec))
    with pytest.raises(ConfigurationError, match=f"{setting} of '{part}' must be a whole number"):
        CorrectiveRetriever(store, pipeline=file).warm_up()
