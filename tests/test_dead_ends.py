"""A branch that a pipeline of one's own does not connect: the run ends there, and says so."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline, SuperComponent
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import BranchJoiner
from haystack.components.rankers import LLMRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.core.errors import PipelineRuntimeError
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill, graded, run_by_door, scripted

from haystack_integrations.crag.components import (
    CascadeGate,
    CragRouter,
    EvidencePromptBuilder,
    HeuristicGrader,
    QueryExpander,
    QuestionGuard,
    RecordBuilder,
    RulePrefilter,
    WebFallback,
)
from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import export, load
from haystack_integrations.crag.state import CragState

QUESTION = "Who wrote Emma?"
FEW = [Document(content="Emma is by Jane Austen.")]
MANY = [Document(content=str(number)) for number in range(3)]
SURE, UNSURE = [graded("Emma is by Jane Austen.", 0.95, QUESTION)], [graded("Emma", 0.5, QUESTION)]


def warnings_of(part: Any, connected: dict[str, type], inputs: dict[str, Any], log: pytest.LogCaptureFixture) -> str:
    """Run it in a pipeline that connects these outputs, by both doors."""
    pipeline = Pipeline()
    pipeline.add_component("part", part)
    for output, kind in connected.items():
        pipeline.add_component(output, BranchJoiner(kind))
        pipeline.connect(f"part.{output}", output)
    log.clear()
    pipeline.run({"part": inputs})
    first = log.text
    log.clear()
    asyncio.run(pipeline.run_async({"part": inputs}))
    assert ("leads nowhere" in log.text) == ("leads nowhere" in first)
    return first


@pytest.mark.parametrize(
    ("part", "documents", "taken", "other"),
    [
        (RulePrefilter, FEW, "approved", "documents"),
        (RulePrefilter, MANY, "documents", "approved"),
        (CascadeGate, SURE, "decided", "undecided"),
        (CascadeGate, UNSURE, "undecided", "decided"),
    ],
)
def test_the_branch_taken_is_named_where_only_the_other_one_is_connected(
    part: Any, documents: list[Document], taken: str, other: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Two documents or fewer passed a prefilter, and nobody got an answer or a word."""
    inputs = {"query": QUESTION, "documents": documents}
    kind: Any = list[Document]
    said = warnings_of(part(), {other: kind}, inputs, caplog)
    assert f"the output {taken} of {part.__name__} leads nowhere" in said
    assert QUESTION not in said
    for connected in ({}, {taken: kind}, {taken: kind, other: kind}):
        assert "leads nowhere" not in warnings_of(part(), connected, inputs, caplog)


@pytest.mark.parametrize("output", ["query", "queries"])
def test_an_expander_without_another_query_names_the_output_that_ends_the_run(
    output: str, caplog: pytest.LogCaptureFixture
) -> None:
    state: Any = CragRouter().run(query=QUESTION, documents=[])["re_retrieve"]
    expander = QueryExpander(strategies=[{"name": "again", "weights": {}}])
    while "exhausted" not in (result := expander.run(state=state)):
        state = result["state"]
    kind: Any = str if output == "query" else list[str]
    said = warnings_of(expander, {output: kind}, {"state": state}, caplog)
    assert "the output exhausted of QueryExpander leads nowhere" in said


def test_an_expander_whose_query_nobody_searches_for_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """The run ended without a word behind an expander that was connected to the joiner of states only."""
    state: Any = CragRouter().run(query=QUESTION, documents=[])["re_retrieve"]
    inputs, judged = {"state": state}, {"exhausted": list[Document], "state": CragState}
    said = "the output query of QueryExpander leads nowhere"
    assert said in warnings_of(QueryExpander(), judged, inputs, caplog)
    for output, kind in {"query": str, "queries": list[str]}.items():
        assert said not in warnings_of(QueryExpander(), {**judged, output: kind}, inputs, caplog)


def test_a_web_that_gets_no_query_is_asked_by_the_state_and_no_dead_end(caplog: pytest.LogCaptureFixture) -> None:
    """As the shipped pipelines connect it."""
    state = CragRouter(on_incorrect="web").run(query=QUESTION, documents=[])["web"]
    expander = QueryExpander(mode="web")
    while "exhausted" not in (result := expander.run(state=state)):
        state = result["state"]
    pipeline = Pipeline()
    pipeline.add_component("expander", QueryExpander(mode="web"))
    pipeline.add_component("web", WebFallback(SearXNGWebSearch(url="http://127.0.0.1:9")))
    pipeline.connect("expander.query", "web.query")
    pipeline.connect("expander.state", "web.state")
    pipeline.run({"expander": {"state": state}})
    assert "leads nowhere" not in caplog.text


@pytest.mark.parametrize(
    ("settings", "inputs", "lost"),
    [
        ({"budget": {"seconds": 3}}, {}, "budget"),
        ({}, {"mode": "observe", "web": False}, "mode and web"),
        ({}, {}, ""),
    ],
)
def test_a_guard_of_which_only_the_query_is_taken_says_what_has_no_effect(
    settings: dict[str, Any], inputs: dict[str, Any], lost: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that was to observe only, or to take three seconds at most, did as any other, and nothing said so."""
    said = f"{lost} of QuestionGuard has no effect"
    warnings_of(QuestionGuard(**settings), {"query": str}, {"query": QUESTION, **inputs}, caplog)
    assert (said in caplog.text) == bool(lost)
    warnings_of(QuestionGuard(**settings), {"query": str, "state": CragState}, {"query": QUESTION, **inputs}, caplog)
    assert "has no effect" not in caplog.text


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("sender", ["expander.state", "guard.state", None])
def test_a_loop_of_ones_own_that_brings_no_state_back_to_the_router_is_refused_by_its_first_pass(
    sender: str | None, asynchronous: bool
) -> None:
    """Each pass was the first one, until Haystack's error after a hundred of them, which names no connection."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(content="Emma is by Jane Austen.")])
    parts = {"retriever": InMemoryBM25Retriever(store), "grader": HeuristicGrader(), "router": CragRouter()}
    pipeline = Pipeline()
    for name, part in {
        "guard": QuestionGuard(),
        "query": BranchJoiner(str),
        **parts,
        "expander": QueryExpander(),
    }.items():
        pipeline.add_component(name, part)
    ways = {"guard.query": "query", "query": "retriever.query", "retriever": "grader.documents"}
    ways |= {"grader.documents": "router.documents", "router.re_retrieve": "expander.state", "expander.query": "query"}
    for giving, taking in (ways | ({sender: "router.state"} if sender else {})).items():
        pipeline.connect(giving, taking)
    inputs = {name: {"query": "Who repairs bicycles?"} for name in ("guard", "grader", "router")}
    run = partial(asyncio.run, pipeline.run_async(inputs)) if asynchronous else partial(pipeline.run, inputs)
    if sender == "expander.state":
        assert "abstain" in run()["router"]
        return
    with pytest.raises(PipelineRuntimeError, match="re_retrieve leads back to the router, but brings no state"):
        run()


def test_a_state_that_is_not_handed_on_by_each_component_on_the_way_back_is_none() -> None:
    """A web that is asked by a query alone gives none: the same was searched for again in each of a hundred passes."""
    parts = {"grader": HeuristicGrader(), "router": CragRouter(on_incorrect="web", on_ambiguous="web")}
    parts |= {"expander": QueryExpander(mode="web"), "web": WebFallback(SearXNGWebSearch(url="http://127.0.0.1:9"))}
    pipeline = Pipeline()
    for name, part in {"found": BranchJoiner(list[Document]), **parts}.items():
        pipeline.add_component(name, part)
    ways = {"found": "grader.documents", "grader.documents": "router.documents", "router.web": "expander.state"}
    ways |= {"expander.query": "web.query", "web.documents": "found", "web.state": "router.state"}
    for giving, taking in ways.items():
        pipeline.connect(giving, taking)
    inputs = {"found": {"value": FEW}, **{name: {"query": "Who repairs bicycles?"} for name in ("grader", "router")}}
    with pytest.raises(PipelineRuntimeError, match="web leads back to the router, but brings no state"):
        pipeline.run(inputs)


@pytest.mark.parametrize("cut", ["refine.state", "correction.value"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_joiner_that_leads_a_state_on_and_got_none_of_what_was_refined_says_what_to_connect(
    cut: str, asynchronous: bool, tmp_path: Path, in_memory_store: Any
) -> None:
    """It gave none: each of 25 passes was the first one, and Haystack's error names no connection."""
    spec = yaml.safe_load(export("signals_rag"))
    taking = {"refine.state": "join.refined_state", "correction.value": "refine.state"}[cut]
    spec["connections"].remove({"sender": cut, "receiver": taking})
    spec["components"]["router"]["init_parameters"]["on_incorrect"] = "web_and_refine"
    file = tmp_path / "cut.yml"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    rag = load(str(file), store=in_memory_store, generator=scripted("x"))
    with pytest.raises(
        PipelineRuntimeError, match=r"got no refined_state.*connect .* refine.state to join.refined_state"
    ):
        run_by_door(rag, asynchronous=asynchronous, query=QUESTION)


def test_a_pipeline_that_gives_answers_is_refused_where_an_abstention_is_none_of_them(
    tmp_path: Path, in_memory_store: Any
) -> None:
    """Its result had no `answers` then, and nothing said so."""
    spec, file = yaml.safe_load(export("corrective_rag")), tmp_path / "cut.yml"
    spec["connections"].remove({"sender": "router.abstain", "receiver": "replies.value"})
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    ask = partial(load, str(file), store=in_memory_store, grader=HeuristicGrader(), generator=scripted("x"))
    with pytest.raises(ConfigurationError, match=r"where 'router' abstains there .* connect router.abstain to"):
        ask()
    spec["outputs"]["abstention"] = "router.abstain"
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    assert "do not answer" in ask().run(query=QUESTION)["abstention"]


@pytest.mark.parametrize(
    ("name", "cut", "match"),
    [
        ("corrective_rag", "generator.replies", r"where .router. has evidence .* ends at generator; lead on from"),
        ("corrective_retrieval", "expander.state", "the action re_retrieve leads back to the router, but brings no"),
        ("paper_rag", "web.state", "the action web leads back to the router, but brings no state"),
        ("cascade_rag", "expander.query", r"'expander' writes another query.* to graded by .* connect expander\.query"),
        ("heuristic_rag", "expander.query", "'expander' writes another query, and nothing searches for it"),
    ],
)
def test_a_file_that_lacks_a_connection_which_only_some_questions_need_is_refused_before_the_first(
    tmp_path: Path, name: str, cut: str, match: str
) -> None:
    """Each had a result, but for those with evidence, or those that were to be corrected."""
    spec, file = yaml.safe_load(export(name)), tmp_path / "cut.yml"
    spec["connections"] = [one for one in spec["connections"] if one["sender"] != cut]
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=match):
        load(file)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_web_search_that_gets_neither_a_query_nor_a_state_is_refused(
    asynchronous: bool, tmp_path: Path, in_memory_store: Any
) -> None:
    """It was never asked, and the record said that the web was searched."""
    spec, file = yaml.safe_load(export("signals_rag")), tmp_path / "cut.yml"
    spec["connections"].remove({"sender": "correction.value", "receiver": "web.state"})
    file.write_text(yaml.safe_dump(spec), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"join.web comes from web, which runs once: .* pass ends there"):
        load(str(file), store=in_memory_store, generator=scripted("x"))
    spec["components"]["generator"]["init_parameters"] = {"chat_generator": MockChatGenerator("x").to_dict()}
    rag = SuperComponent(Pipeline.from_dict(spec), spec["inputs"], {"record.crag": "crag"})  # Haystack looks at no ways
    with pytest.raises(PipelineRuntimeError, match="WebFallback got neither a question nor a state"):
        run_by_door(rag, asynchronous=asynchronous, query=QUESTION)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("told", [False, True])
def test_a_record_that_is_not_told_of_the_answer_says_so(
    told: bool, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer was there, and its record said that no model was asked, that nothing was spent and nothing cited."""
    parts = {"router": CragRouter(), "prompt": EvidencePromptBuilder(), "llm": scripted("Jane Austen [1].")}
    pipeline = Pipeline()
    for name, part in {**parts, "record": RecordBuilder()}.items():
        pipeline.add_component(name, part)
    ways = {"router.generate": "prompt.documents", "prompt.prompt": "llm.messages", "router.outcome": "record.outcome"}
    for giving, taking in {**ways, **({"llm.replies": "record.replies"} if told else {})}.items():
        pipeline.connect(giving, taking)
    inputs = {"router": {"query": QUESTION, "documents": SURE}, "prompt": {"question": QUESTION}}
    result = asyncio.run(pipeline.run_async(inputs)) if asynchronous else pipeline.run(inputs)
    said = (
        "not told of the answer that llm writes" in caplog.text and "connect llm.replies to the record's" in caplog.text
    )
    assert (result["record"]["crag"]["answer"]["status"], said) == (("written", False) if told else ("none", True))


def test_a_record_of_a_run_that_writes_no_answer_has_none_to_be_told_of(
    in_memory_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    fill(in_memory_store, FEW)
    load("corrective_retrieval", store=in_memory_store).run(query=QUESTION)
    assert "RecordBuilder" not in caplog.text


@pytest.mark.parametrize("query", ["guard.query", "search_query.value"])
def test_a_part_that_waits_in_the_second_pass_is_told_by_a_router_that_haystack_loaded(
    query: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The result had no answer and no record, and nothing said why; where the query comes each time all is well."""
    spec = yaml.safe_load(export("corrective_retrieval"))
    ranker = LLMRanker(chat_generator=MockChatGenerator('{"documents": [{"index": 1}]}'))
    spec["components"]["rank"] = ranker.to_dict()
    links = [one for one in spec["connections"] if one["receiver"] != "grader.documents"]
    ways = {"fuse.documents": "rank.documents", query: "rank.query", "rank.documents": "grader.documents"}
    spec["connections"] = links + [{"sender": one, "receiver": other} for one, other in ways.items()]
    pipeline = Pipeline.loads(yaml.safe_dump(spec))
    asked = {part: {"query": "Who repairs bicycles?"} for part in ("guard", "grader", "router")}
    is_once = query == "guard.query"
    assert ("record" in pipeline.run(asked)) is not is_once
    said = "'rank' runs in each pass, and rank.query comes from guard, which runs once: the second pass ends there"
    assert (said in caplog.text) is is_once
