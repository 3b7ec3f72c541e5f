"""CragState: immutable, JSON-friendly, and honest about what is left."""

import json
import time
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from haystack import Document
from makers import graded

from haystack_integrations.crag.budget import Budget, Usage
from haystack_integrations.crag.grades import Grade, question_id, with_grade
from haystack_integrations.crag.state import CragState, given_in_run, known_grades, never_judged


def test_a_state_survives_json() -> None:
    """With its documents, budget and usage."""
    state = CragState.start(
        "q",
        budget=Budget(seconds=5, llm_calls=2),
        usage=Usage(1, 2, 3),
        kept=(graded("text", 0.5, "q"),),
        best=(graded("better", 0.9, "q"),),
        evidence=(graded("best", 1.0, "q"),),
        grades={"x": {"score": 0.5}},
        trail=({"action": "refine"},),
    )
    read = CragState.from_dict(json.loads(json.dumps(state.to_dict())))
    assert replace(read, started=state.started) == state


def test_the_time_that_a_written_state_waits_is_not_the_runs() -> None:
    """A pipeline that is stopped at a breakpoint is resumed with what its budget had left, in any process."""
    state = CragState.start("q", budget=Budget(seconds=60), started=time.monotonic() - 10)
    written = state.to_dict()
    time.sleep(1.0)
    read = CragState.from_dict(written)
    assert 10 <= read.seconds() < 10.9
    assert state.seconds() >= 11


def test_a_state_is_never_changed_in_place_and_so_never_copied() -> None:
    """Haystack deep-copies inputs before each component; this one is the same object."""
    state = CragState.start("q")
    assert deepcopy(state) is state
    with pytest.raises(FrozenInstanceError):
        state.iteration = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("budget", "usage", "limit"),
    [
        (Budget(), Usage(99, 99, 99), None),
        (Budget(llm_calls=2), Usage(1, 0, 0), None),
        (Budget(llm_calls=2), Usage(2, 0, 0), "llm_calls"),
        (Budget(tokens=10), Usage(1, 6, 4), "tokens"),
        (Budget(seconds=1e-9), Usage(), "deadline"),
    ],
)
def test_the_limit_that_is_reached_is_named(budget: Budget, usage: Usage, limit: str | None) -> None:
    """None while something is left of everything."""
    assert CragState.start("q", budget=budget, usage=usage).exhausted() == limit


@pytest.mark.parametrize(("left", "beside", "limit"), [(100, 0, None), (199, 1, "tokens"), (200, 1, None)])
def test_a_call_leaves_tokens_to_those_that_run_beside_it(left: int, beside: int, limit: str | None) -> None:
    """Each by itself would fit into what is left; together they would exceed it."""
    state = CragState.start("q", budget=Budget(tokens=1_000), usage=Usage(1, 1_000 - left, 0))
    assert state.forbids(100, beside) == limit


@pytest.mark.parametrize(("left", "beside", "limit"), [(1, 0, None), (1, 1, "llm_calls"), (2, 1, None)])
def test_a_call_leaves_one_to_each_that_runs_beside_it(left: int, beside: int, limit: str | None) -> None:
    """Both branches see the same count."""
    state = CragState.start("q", budget=Budget(llm_calls=4), usage=Usage(4 - left, 0, 0))
    assert state.forbids(100, beside) == limit


def test_of_branches_that_ran_side_by_side_the_one_that_asked_the_web_says_what_became_of_it() -> None:
    """In whatever order they come together."""
    state = CragState.start("q")
    searched, refined = replace(state, web="empty"), state.spend(Usage(1, 2, 3))
    for one, other in ((searched, refined), (refined, searched)):
        united = CragState.merged(one, None, other)
        assert united is not None
        assert (united.web, united.usage) == ("empty", Usage(1, 2, 3))


def test_of_branches_that_ran_side_by_side_each_spending_counts_once() -> None:
    """What was spent before them, too, and all that one of them spent."""
    before = CragState.start("q").spend(Usage(1, 10, 10))
    one, other = before.spend(Usage(1, 1, 1)), before.spend(Usage(1, 2, 2)).spend(Usage(1, 4, 4))
    for branches in ((one, other), (other, one)):
        united = CragState.merged(*branches)
        assert united is not None
        assert united.usage == Usage(4, 17, 17)


def test_of_branches_that_ran_side_by_side_what_one_has_handed_on_is_kept_no_more() -> None:
    """And the queries that one of them added are known, in whatever order they come together."""
    state = CragState.start("q", kept=(graded("text", 0.9, "q"),))
    refined, searched = (
        replace(state, kept=()),
        replace(state, queries=(*state.queries, {"query": "r", "strategy": ""})),
    )
    for branches in ((refined, searched), (searched, refined)):
        united = CragState.merged(*branches)
        assert united is not None
        assert (united.kept, united.queries) == ((), searched.queries)


def judged(content: str, score: float, status: Any = "graded") -> Document:
    """A text of the document `a` with a grade."""
    return with_grade(Document(id="a", content=content), Grade(score, status, "test", question_id("q")))


def known(state: CragState, content: str) -> float | None:
    """The score that a text of the document `a` was given in a run."""
    grade = given_in_run(state, Document(id="a", content=content), question_id("q"))
    return grade and grade.score


def test_each_text_of_an_id_keeps_the_grade_that_it_was_given_last() -> None:
    """Two stores may count from one, and what a refinement left of a document is a text of its own."""
    state = CragState.start("q")
    for content, score in (("one", 0.9), ("two", 0.2), ("three", 0.3), ("one", 0.8), ("two", 0.1)):
        state = replace(state, grades=known_grades([judged(content, score)], question_id("q"), state))
    assert [known(state, content) for content in ("one", "two", "three", "four")] == [0.8, 0.1, 0.3, None]


def test_a_grade_that_failed_is_not_known_in_the_run() -> None:
    """It may be tried again: whoever gave it, and also for a text that a refinement left."""
    state, question = CragState.start("q"), question_id("q")
    assert known_grades([judged("one", 0.5, "failed")], question, state) == {}
    state = replace(state, grades=known_grades([judged("one", 0.9)], question, state))
    assert given_in_run(state, judged("two", 0.5, "failed"), question) is None
    assert given_in_run(state, judged("two", 0.5), question_id("another")) is None


def test_a_document_whose_grading_failed_is_judged_once_it_has_a_grade() -> None:
    """That it was found again is no judgement."""
    failed = {"kept": [{"id": "a", "status": "failed"}, {"id": "b", "status": "graded"}]}
    state, question = CragState.start("q", trail=(failed,)), question_id("q")
    assert never_judged(state, [Document(id="a", content="one")], question) == 1
    assert never_judged(state, [judged("one", 0.1)], question) == 0
    assert never_judged(replace(state, grades={"a": {"score": 0.1}}), [], question) == 0
