"""paper_rag.yml: the three actions of arXiv 2401.15884 (sections 4.3 to 4.5), on the real pipeline."""

from typing import Any

import pytest
from haystack import Document
from makers import fill, grading_by, run_by_door, scripted, texts
from metasearch import Metasearch

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.pipelines import load

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
QUESTION = "What is the occupation of Henry Feilden?"
TEXTS = {
    "good": "Henry Feilden was a politician by occupation. The weather in May was mild.",
    "near": "Henry Feilden lived in Witton. Sheep graze there.",
    "far": "The occupation of the bakers ended at noon.",
}
REWRITTEN = "Henry Feilden occupation"


def run(
    store: Any, scores: dict[str, float], *, asynchronous: bool, inputs: Any = None, **parts: Any
) -> dict[str, Any]:
    """Run with a scorer that knows each text, and a model that rewrites and answers."""

    def score(text: str) -> float:
        return next((scores[name] for name, known in TEXTS.items() if text == known and name in scores), 0.9)

    def reply(messages: Any) -> str:
        return "A politician [1]." if "passage-" in messages[-1].text else REWRITTEN

    grader = BatchRelevanceGrader(grading_by(score))
    rag = load("paper_rag", store=store, grader=grader, generator=scripted(reply), **parts)
    return run_by_door(rag, asynchronous=asynchronous, query=QUESTION, **(inputs or {}))


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """The three passages."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS.values()])
    return in_memory_store


@BOTH
def test_one_document_above_the_upper_threshold_makes_the_retrieval_correct(
    store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """Whatever the others are; it is refined into strips, and the web is not asked."""
    result = run(store, {"good": 0.8, "near": 0.0, "far": 0.0}, asynchronous=asynchronous)
    assert result["crag"]["verdict"] == "correct"
    assert "Henry Feilden was a politician by occupation." in " ".join(texts(result))
    assert not any(word in " ".join(texts(result)) for word in ("graze", "bakers"))
    assert metasearch.queries == []


@BOTH
def test_all_documents_below_the_lower_threshold_make_it_incorrect(
    store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """All are discarded; the question goes to the web in keywords."""
    metasearch.finds(["Henry Feilden was an English politician."])
    result = run(store, {"good": 0.2, "near": 0.1, "far": 0.0}, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "incorrect"
    assert texts(result) == ["Henry Feilden was an English politician."]
    assert metasearch.queries == [REWRITTEN]


@BOTH
def test_anything_between_is_ambiguous_and_both_sources_are_used(
    store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """Internal and external knowledge complement each other."""
    metasearch.finds(["Henry Feilden was an English politician."])
    result = run(store, {"good": 0.5, "near": 0.1, "far": 0.0}, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "ambiguous"
    assert result["crag"]["strategy"] == "web_and_refine"
    origins = {document.meta["crag"]["origin"] for document in result["documents"]}
    assert origins == {"web", "index"}


@BOTH
def test_the_query_for_the_web_is_short_without_a_model_too(
    store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """By rule: fewer than ten words."""
    run(store, {"good": 0.2, "near": 0.1, "far": 0.0}, asynchronous=asynchronous, rewriter={"chat_generator": None})
    assert len(metasearch.queries) == 1
    assert 0 < len(metasearch.queries[0].split()) < 10


@pytest.mark.parametrize(("upper", "verdict"), [(0.59, "correct"), (0.95, "ambiguous")])
def test_thresholds_are_set_per_data_set(upper: float, verdict: str, store: Any, metasearch: Metasearch) -> None:
    """PopQA's upper threshold and Biography's."""
    scores = {"good": 0.8, "near": 0.0, "far": 0.0}
    result = run(store, scores, asynchronous=False, router={"upper": upper, "lower": 0.0})
    assert result["crag"]["trail"][0]["verdict"] == verdict


@BOTH
def test_a_web_that_fails_leaves_the_best_that_was_found(
    store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """And the record says so."""
    metasearch.status = 500
    result = run(store, {"good": 0.2, "near": 0.1, "far": 0.0}, asynchronous=asynchronous)
    assert texts(result)
    assert result["crag"]["coverage"]["web"] == "failed"


@BOTH
def test_a_web_that_fails_in_a_later_pass_denies_no_search_that_found_something(
    store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """The record of a run with evidence from the web says that the web answered, and what failed after that."""
    metasearch.finds(["Henry Feilden sat in Parliament."])
    metasearch.fails_from = 2
    scores = {"good": 0.5, "near": 0.1, "far": 0.0}
    room = {"budget": {"llm_calls": 9}}
    result = run(store, scores, asynchronous=asynchronous, router={"max_iterations": 3, "upper": 0.95}, inputs=room)
    record = result["crag"]
    assert [decision["coverage"]["web"] for decision in record["trail"]] == ["off", "ok", "failed"]
    assert (record["coverage"]["web"], record["web_used"]) == ("ok", True)
    assert "web_failed" in record["coverage"]["reasons"]


@BOTH
@pytest.mark.parametrize(
    "off", [{"inputs": {"web": False}}, {"web": {"enabled": False}}], ids=["for this run", "by its setting"]
)
def test_a_run_without_the_web_asks_neither_it_nor_a_model_for_its_words(
    store: Any, asynchronous: bool, off: dict[str, Any], metasearch: Metasearch
) -> None:
    """One call to grade, one to answer."""
    scores = {"good": 0.5, "near": 0.1, "far": 0.0}
    record = run(store, scores, asynchronous=asynchronous, **off)["crag"]
    assert (metasearch.queries, record["coverage"]["web"], record["llm_calls"]) == ([], "skipped", 2)


def test_any_scorer_will_do(store: Any, metasearch: Metasearch) -> None:
    """The YAML's own needs no model."""
    result = load("paper_rag", store=store, generator=scripted("x")).run(query=QUESTION)
    assert result["crag"]["trail"][0]["kept"][0]["grader"].startswith("HeuristicGrader")


@BOTH
def test_the_last_call_is_not_spent_on_a_query_that_the_spent_budget_would_keep_back(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """The rules write it, and the web is asked: a search is no call to a model."""
    fill(in_memory_store, [Document(content="Dogs bark.")])
    metasearch.finds(["Henry Feilden was a politician by occupation."])
    rag = load("paper_rag", store=in_memory_store, generator=scripted("A politician [1]."))
    record = run_by_door(rag, asynchronous=asynchronous, query=QUESTION, budget={"llm_calls": 1})["crag"]
    assert (metasearch.queries, record["coverage"]["web"]) == (["occupation henry feilden"], "ok")
    assert (record["llm_calls"], record["web_used"]) == (1, True)  # the answer
