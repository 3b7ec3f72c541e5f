"""The rule `set_verdict`: a grader's own verdict on the whole retrieval, from its report to the router's decision."""

from typing import Any

import pytest
from haystack import Document
from makers import graded

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.deciding.abstention import in_words
from haystack_integrations.crag.deciding.decisions import SET_VERDICT, judge
from haystack_integrations.crag.deciding.thresholds import Thresholds

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


@pytest.mark.parametrize("verdict", ["ambiguous", "incorrect"])
@pytest.mark.parametrize("settings", [{"max_iterations": 1}, {"on_limit": "generate", "max_iterations": 1}])
def test_a_calibration_for_few_wrong_answers_lets_only_what_is_correct_be_answered(
    verdict: str, settings: dict[str, Any]
) -> None:
    """Without that limit a run ends with the best evidence there is, and the share that was asked for with it."""
    said = report(verdict)
    assert "generate" in route(docs(0.9), said, **settings)
    said["verdict"]["correct_from"] = 0.92
    result = route(docs(0.9), said, **settings)
    decision = result["decision"]
    assert (decision["action"], decision["thresholds"]["correct_from"]) == ("abstain", 0.92)
    assert "is correct with a probability of 0.92 is answered from" in in_words("No.", decision)
    assert (result["outcome"].evidence, "generate" in result) == ((), False)
    said["verdict"]["correct_from"] = 0.0  # all that is called correct keeps the limit
    assert "Only what is correct is answered from" in in_words("No.", route(docs(0.9), said, **settings)["decision"])


def test_what_is_correct_is_answered_under_that_limit_and_a_correction_still_runs() -> None:
    said = report("correct", 0.95)
    said["verdict"]["correct_from"] = 0.92
    assert "generate" in route(docs(0.9), said)
    assert "re_retrieve" in route(docs(0.9), {**said, "verdict": {**said["verdict"], "verdict": "incorrect"}})


def test_a_pass_without_anything_to_grade_keeps_the_limit() -> None:
    said = report("ambiguous")
    said["verdict"]["correct_from"] = 0.92
    router = CragRouter(aggregate="set", on_ambiguous=["refine", "generate"])
    first = router.run(query=QUESTION, documents=docs(0.9), report=said)
    second = router.run(query=QUESTION, documents=[], state=first["state"])["outcome"].trail[-1]
    assert (second["action"], second["thresholds"]["correct_from"]) == ("abstain", 0.92)


def test_another_judge_than_the_calibration_is_not_held_to_its_limit() -> None:
    """Such as a model behind a cascade, or the documents' own scores."""
    said = report("ambiguous")
    said["verdict"]["correct_from"] = 0.92
    decision = route(docs(0.5), said, aggregate="mean", max_iterations=1)["decision"]
    assert (decision["action"], "correct_from" in decision["thresholds"]) == ("generate", False)
