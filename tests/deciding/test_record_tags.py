"""What spans tell of a decision and of a run: numbers and names, never a text."""

from typing import Any

import pytest
from makers import graded

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.deciding.record_tags import (
    asked_alone,
    asked_apart,
    calibrated,
    read_otherwise,
    record_tags,
    route_tags,
)

QUESTION = "Which canoe did Amundsen paddle?"
OF_SET = {
    "absent": 2,
    "read_as": {"canoo": "canoe"},
    "language": "german",
    "asked_alone": "incorrect",
    "asked_apart": ["correct", "incorrect"],
    "calibrated": False,
}


def decided(scores: list[float], of_set: Any = None, verdict: str = "incorrect", **report: Any) -> dict[str, Any]:
    """What a router gives that takes the grader's word on the set."""
    documents = [graded(f"passage {number}", score, QUESTION) for number, score in enumerate(scores)]
    said = {"set_score": 0.2, "verdict": verdict, "signals": {"set": of_set or {}}, **report}
    return CragRouter(aggregate="set", on_incorrect="abstain").run(query=QUESTION, documents=documents, report=said)


def test_the_span_of_a_decision_tells_all_of_it_in_numbers_and_names() -> None:
    """What is nothing to tell is None, which no span shows."""
    decision = decided([0.9, 0.1], OF_SET, llm_calls=2, tokens_in=30, tokens_out=4, cascade={"asked": 1})["decision"]
    (kept,), (dropped,) = decision["kept"], decision["discarded"]
    assert route_tags(decision) == {
        "openinference.span.kind": "CHAIN",
        "crag.decision": "incorrect",
        "crag.decision.rule": "set_verdict",
        "crag.decision.judged_by": "set_verdict",
        "crag.decision.limit": None,
        "crag.decision.absent": 2,
        "crag.decision.read_as": 1,
        "crag.decision.language": "german",
        "crag.decision.asked_alone": "incorrect",
        "crag.decision.asked_apart": ["correct", "incorrect"],
        "crag.decision.calibrated": False,
        "crag.action": "abstain",
        "crag.mode": "enforce",
        "crag.score": 0.2,
        "crag.threshold.upper": 0.7,
        "crag.threshold.lower": 0.3,
        "crag.threshold.filter": 0.3,
        "crag.iteration": 1,
        "crag.iteration.max": 3,
        "crag.retrieval.strategy": "first",
        "crag.correction.strategy": "none",
        "crag.documents.in": 2,
        "crag.documents.graded": 2,
        "crag.documents.cached": 0,
        "crag.documents.approved": 0,
        "crag.documents.failed": 0,
        "crag.documents.kept": 1,
        "crag.documents.discarded": 1,
        "crag.documents.cut": None,
        "crag.document.ids": [kept["id"], dropped["id"]],
        "crag.scores": [0.9, 0.1],
        "crag.discarded.ids": [dropped["id"]],
        "crag.discarded.reasons": ["below_filter"],
        "crag.discarded.scores": [0.1],
        "crag.web.status": "off",
        "crag.llm_calls": 2,
        "crag.tokens": 34,
        "crag.degraded": False,
        "crag.degraded.reasons": None,
        "crag.cascade.asked": 1,
        "crag.cascade.certainty": None,
        "crag.abstention.queries": 1,
        "crag.abstention.documents": 2,
        "crag.abstention.missing": 3,
    }


def test_the_span_of_a_run_tells_what_came_out_and_what_it_cost() -> None:
    result = decided([0.9, 0.1], llm_calls=2, tokens_in=30, tokens_out=4, cache_hits=1, reasons=["grader_partial:slow"])
    record = RecordBuilder().run(outcome=result["outcome"])["crag"]
    assert record_tags(record) == {
        "openinference.span.kind": "CHAIN",
        "crag.decision": "incorrect",
        "crag.decision.rule": "set_verdict",
        "crag.correction.strategy": "none",
        "crag.action": "abstain",
        "crag.mode": "enforce",
        "crag.score": 0.2,
        "crag.iterations": 1,
        "crag.corrected": False,
        "crag.llm_calls": 2,
        "crag.milliseconds": record["milliseconds"],
        "crag.web_used": False,
        "crag.documents.before": 2,
        "crag.documents.after": 0,
        "crag.tokens.in": 30,
        "crag.tokens.out": 4,
        "crag.cache_hits": 1,
        "crag.answer.status": record["answer"]["status"],
        "crag.answer.cited": None,
        "crag.answer.cited_unknown": None,
        "crag.answer.unsupported_numbers": None,
        "crag.degraded": True,
        "crag.degraded.reasons": ["grader_partial:slow"],
    }


def test_of_many_documents_a_span_names_the_first_fifty() -> None:
    """They are counted all the same."""
    tags = route_tags(decided([0.1] * 130)["decision"])
    names = (
        "crag.document.ids",
        "crag.scores",
        "crag.discarded.ids",
        "crag.discarded.reasons",
        "crag.discarded.scores",
    )
    assert {name: len(tags[name]) for name in names} == dict.fromkeys(names, 50)
    assert tags["crag.documents.discarded"] == 130


@pytest.mark.parametrize(
    ("of_set", "words", "alone", "apart"),
    [
        ({"read_as": 3, "asked_alone": "correct", "asked_apart": ["correct"] * 2}, 3, "correct", ["correct"] * 2),
        ({"read_as": {"a": "b", "c": "d"}, "asked_alone": "ungraded", "asked_apart": ["correct"]}, 2, None, None),
        ({"read_as": "canoe", "asked_alone": None, "asked_apart": ["correct", 1], "calibrated": "no"}, 0, None, None),
        ("none", 0, None, None),
    ],
)
def test_what_a_grader_of_ones_own_says_of_a_set_is_told_as_far_as_it_is_that(
    of_set: Any, words: int, alone: str | None, apart: list[str] | None
) -> None:
    """Anybody may write signals of these names."""
    decision = decided([0.9], of_set)["decision"]
    assert (read_otherwise(decision), asked_alone(decision), asked_apart(decision)) == (words, alone, apart)
    assert calibrated(decision) is None


def test_what_a_question_names_and_no_document_has_is_told_only_where_it_decided() -> None:
    assert route_tags(decided([0.9], OF_SET, verdict="")["decision"])["crag.decision.absent"] is None
