"""The rule `set_verdict`: a grader's own verdict on the whole retrieval, from its report to the router's decision."""

from typing import Any

import pytest
from haystack import Document
from makers import graded

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.decisions import SET_VERDICT, judge
from haystack_integrations.crag.thresholds import Thresholds

QUESTION = "Which river flows through Vienna?"
THRESHOLDS = Thresholds(0.7, 0.3, 0.3)


def docs(*scores: float, status: str = "graded") -> list[Document]:
    """One document for each score."""
    return [graded(f"passage {n}", score, QUESTION, status) for n, score in enumerate(scores)]


def report(verdict: str, score: float = 0.5) -> dict[str, Any]:
    """What a grader says of the set."""
    return {"set_score": score, "verdict": {"verdict": verdict, "probabilities": {verdict: score}}}


def route(documents: list[Document], said: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Route once by the verdict on the set."""
    return CragRouter(**{"aggregate": "set", **settings}).run(query=QUESTION, documents=documents, report=said)


@pytest.mark.parametrize(
    ("verdict", "branch"), [("correct", "generate"), ("ambiguous", "refine"), ("incorrect", "re_retrieve")]
)
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_the_set_follows_the_graders_verdict_whatever_its_score(verdict: str, branch: str, score: float) -> None:
    """The rule is on record, with the score."""
    result = route(docs(0.9, 0.1), report(verdict, score))
    decision = result["decision"]
    assert branch in result
    assert (decision["verdict"], decision["judged_by"], decision["score"]) == (verdict, SET_VERDICT, score)


@pytest.mark.parametrize("aggregate", ["mean", "max", "min", "rank_weighted"])
def test_another_aggregate_does_not_read_it(aggregate: str) -> None:
    """The thresholds decide."""
    decision = route(docs(0.9), report("incorrect"), aggregate=aggregate)["decision"]
    assert (decision["verdict"], decision["judged_by"]) == ("correct", "upper_threshold")


@pytest.mark.parametrize("verdict", [None, "", "maybe"])
def test_without_a_usable_verdict_the_set_score_meets_the_thresholds(verdict: str | None) -> None:
    """As with a grader that gives a score only."""
    said = {"set_score": 0.8, "verdict": {"verdict": verdict}}
    assert route(docs(0.1), said)["decision"]["judged_by"] == "upper_threshold"
    assert route(docs(0.1), {"set_score": 0.8, "verdict": None})["decision"]["judged_by"] == "upper_threshold"


def test_a_correct_set_of_weak_documents_is_answered_from_the_best() -> None:
    """Several together may answer where none does alone; nothing is ever generated from nothing."""
    result = route(docs(0.1, 0.25, 0.2), report("correct"))
    assert [document.content for document in result["generate"]] == ["passage 1"]
    decision = result["decision"]
    assert [entry["score"] for entry in decision["kept"]] == [0.25]
    assert sorted(entry["score"] for entry in decision["discarded"]) == [0.1, 0.2]


def test_documents_above_the_filter_are_enough() -> None:
    """Then none is taken back."""
    result = route(docs(0.1, 0.35, 0.2), report("correct"))
    assert [document.content for document in result["generate"]] == ["passage 1"]
    assert judge(docs(0.1), THRESHOLDS, aggregate="set", set_score=0.2, set_verdict="ambiguous").kept == []


def test_without_documents_the_set_is_incorrect_whatever_is_said() -> None:
    """On a first pass."""
    assert route([], report("correct"))["decision"]["judged_by"] == "no_documents"


def test_a_failed_grading_comes_before_a_verdict() -> None:
    """An outage is no judgement."""
    decision = route(docs(0.5, 0.5, status="failed"), report("incorrect"))["decision"]
    assert (decision["verdict"], decision["judged_by"]) == ("ungraded", "grader_failed")


def test_grader_and_router_agree() -> None:
    """From the report as the grader makes it."""
    for content, verdict in (("The river Danube flows through Vienna.", "correct"), ("Rain is likely.", "incorrect")):
        graded_list = HeuristicGrader().run(query=QUESTION, documents=[Document(content=content)])
        result = route(graded_list["documents"], graded_list["report"])
        assert result["decision"]["verdict"] == verdict == graded_list["report"]["verdict"]["verdict"]
        assert result["decision"]["score"] == graded_list["set_score"]
