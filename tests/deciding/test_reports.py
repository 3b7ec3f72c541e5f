"""Anybody's grader may report on its work: what is readable is read, the rest is refused by name."""

import json
from typing import Any

import numpy as np
import pytest
from haystack import Document
from makers import graded

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.deciding.reports import plain
from haystack_integrations.crag.errors import ConfigurationError

QUESTION = "Who wrote Emma?"


def decided(report: dict[str, Any], retrieval: Any = None, **settings: Any) -> dict[str, Any]:
    """The decision about one good document."""
    documents = [graded("a", 0.9, QUESTION)]
    result = CragRouter(**settings).run(query=QUESTION, documents=documents, report=report, retrieval=retrieval)
    decision: dict[str, Any] = result["decision"]
    return decision


def test_none_is_as_good_as_nothing() -> None:
    names = ("llm_calls", "tokens_in", "tokens_out", "reasons", "verdict", "set_score", "signals", "cascade", "limit")
    assert decided(dict.fromkeys(names)) == decided({})


def test_one_reason_may_stand_alone() -> None:
    assert decided({"reasons": "grader_partial:slow"})["coverage"]["reasons"] == ["grader_partial:slow"]


@pytest.mark.parametrize("verdict", ["Incorrect", " INCORRECT\n", {"verdict": "Incorrect"}])
def test_capitals_make_no_other_verdict(verdict: Any) -> None:
    report = {"set_score": 0.9, "verdict": verdict}
    assert decided(report, aggregate="set", on_incorrect="abstain")["verdict"] == "incorrect"


def test_what_numpy_counts_is_plain_in_the_record() -> None:
    """Numbers and arrays, wherever they stand."""
    signals = {
        "spread": np.float32(0.5),
        "scores": np.array([0.25, 0.5]),
        "sure": np.bool_(1),
        "kinds": ("a",),
        7: {"a"},
    }
    report = {"set_score": np.float64(0.9), "llm_calls": np.int64(2), "signals": signals}
    decision = decided(report, aggregate="set")
    assert json.loads(json.dumps(decision["signals"])) == {
        "spread": 0.5,
        "scores": [0.25, 0.5],
        "sure": True,
        "kinds": ["a"],
        "7": ["a"],
    }
    assert list(decision["signals"])[-1] == "7"
    assert (decision["verdict"], decision["coverage"]["llm_calls"]) == ("correct", 2)
    assert plain(object).startswith("<class")
    assert (type(plain(np.str_("a"))), plain(b"a")) == (str, "b'a'")


def test_a_measurement_that_is_no_number_is_null_in_the_record() -> None:
    """JSON has no NaN: one would make the whole record unreadable to who reads it strictly."""
    signals = {"spread": float("nan"), "documents": [{"ratio": np.float64("inf"), "sure": np.float64(0.5)}]}
    retrieval = {"retrievers": {"own": {"recall": float("nan")}}}
    decision = decided({"signals": signals, "cascade": {"asked": 0, "share": float("-inf")}}, retrieval)
    told = json.loads(json.dumps(decision, allow_nan=False))
    assert told["signals"] == {"spread": None, "documents": [{"ratio": None, "sure": 0.5}]}
    assert type(decision["signals"]["documents"][0]["sure"]) is float
    assert told["cascade"]["share"] is told["retrieval"]["retrievers"]["own"]["recall"] is None


@pytest.mark.parametrize("verdict", ["good", {"verdict": "good"}, 0.9])
def test_a_word_that_is_no_verdict_leaves_it_to_the_thresholds(
    verdict: object, caplog: pytest.LogCaptureFixture
) -> None:
    """And is told in the log: a model may have written it."""
    decision = decided({"set_score": 0.9, "verdict": verdict}, aggregate="set")
    assert (decision["verdict"], decision["judged_by"]) == ("correct", "upper_threshold")
    assert "What a grader gave as its verdict is none of" in caplog.text


@pytest.mark.parametrize(
    ("report", "told"),
    [
        ({"llm_calls": "two"}, "got 'two' as llm_calls in the grader's report, wanted a whole number"),
        ({"tokens_in": -1}, "got -1 as tokens_in"),
        ({"tokens_out": float("nan")}, "got nan as tokens_out"),
        ({"tokens_out": float("inf")}, "got inf as tokens_out"),
        ({"reasons": 3}, "got 3 as reasons in the grader's report, wanted a list of texts"),
        ({"verdict": {"verdict": "correct", "correct_from": "x"}}, "got 'x' as verdict.correct_from"),
        ({"signals": 0.5}, "got 0.5 as signals in the grader's report, wanted a mapping"),
        ({"cascade": "asked"}, "got 'asked' as cascade in the grader's report, wanted a mapping"),
        ({"set_score": 1.01}, "got 1.01 as set_score"),
        ({"set_score": 85}, "wanted a number from 0 to 1; divide by its maximum"),
        ({"set_score": float("nan")}, "got nan as set_score"),
        ({"verdict": {"verdict": "correct", "correct_from": float("nan")}}, "got nan as verdict.correct_from"),
        ({"limit": 10}, "got 10 as limit in the grader's report, wanted one of ['llm_calls', 'tokens', 'deadline']"),
    ],
)
def test_what_is_not_what_its_name_says_is_refused(report: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        decided(report)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("retrieval", "told"),
    [
        (
            {"retrievers": {"bm25": "slow"}},
            "got a dict as `retrievers` in a retrieval's report, wanted what EvidenceJoiner gives",
        ),
        ({"status": "slow"}, "got 'slow' as the status of a search, wanted one of ['ok', 'incomplete', 'failed']"),
        ({"retrievers": {"bm25": {"status": "slow"}}}, "got 'slow' as the status of a search"),
    ],
)
def test_a_report_of_a_search_in_words_of_its_own_is_refused(retrieval: Any, told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        decided({}, retrieval)
    assert told in str(refused.value)


@pytest.mark.parametrize("asked", ["five", ["a"], True, None, -1])
def test_a_number_of_a_cascade_that_is_none_takes_no_verdict_back(asked: Any) -> None:
    """It ended the run by a TypeError."""
    decision = decided({"set_score": 0.1, "cascade": {"asked": asked}}, aggregate="set", on_incorrect="abstain")
    assert decision["verdict"] == "incorrect"


@pytest.mark.parametrize("place", [*"reasons set_score signals cascade limit llm_calls".split(), "retrieval", "status"])
@pytest.mark.parametrize(
    "value", [Document(content="Our salaries."), object(), "Our salaries, from the first to the last."]
)
def test_what_stands_in_the_wrong_place_is_not_quoted(place: str, value: Any) -> None:
    """It may be a document or a reply; messages go to logs."""
    retrieval = {"retrieval": {"retrievers": [value]}, "status": {"status": value}}.get(place)
    with pytest.raises(ConfigurationError) as refused:
        decided({"set_score": 0.5, place: {1: value} if place == "reasons" else [value]}, retrieval)
    assert "alaries" not in str(refused.value)


@pytest.mark.parametrize(
    ("bm25", "dense", "status"),
    [
        (None, "ok", "ok"),
        (None, "incomplete", "incomplete"),
        (None, "failed", "incomplete"),
        ("ok", "failed", "incomplete"),
        ("incomplete", "failed", "incomplete"),
        ("failed", "failed", "failed"),
    ],
)
def test_a_search_has_failed_where_none_of_its_retrievers_could_and_is_incomplete_where_one_could_not(
    bm25: str | None, dense: str | None, status: str
) -> None:
    """One that says nothing has searched. What was not searched may answer: nothing found is then no `incorrect`."""
    told = {"bm25": bm25, "dense": dense}
    reports = {f"{name}_report": said and {"status": said} for name, said in told.items()}
    report = EvidenceJoiner(weights={"bm25": 1.0, "dense": 1.0}).run(bm25=[], dense=[], **reports)["report"]
    assert report == {"status": status, "retrievers": {name: {"status": said} for name, said in told.items() if said}}
    decision = CragRouter().run(query=QUESTION, documents=[], retrieval=report)["decision"]
    assert decision["judged_by"] == ("no_documents" if status == "ok" else f"retrieval_{status}")


def test_a_report_of_searches_that_names_no_status_has_that_of_its_searches() -> None:
    """As somebody's own joiner may write it."""
    for statuses, rule in ((("failed", "failed"), "retrieval_failed"), (("failed", "ok"), "retrieval_incomplete")):
        report = {"retrievers": {str(n): {"status": status} for n, status in enumerate(statuses)}}
        decision = CragRouter().run(query=QUESTION, documents=[], retrieval=report)["decision"]
        assert (decision["verdict"], decision["judged_by"]) == ("ungraded", rule)


def test_a_retriever_that_names_no_status_searched_all() -> None:
    joined = EvidenceJoiner(weights={"own": 1.0}).run(own=[], own_report={"hits": 0})["report"]
    assert joined == {"status": "ok", "retrievers": {"own": {"status": "ok", "hits": 0}}}
    assert decided({}, joined)["coverage"]["degraded"] is False
    with pytest.raises(ConfigurationError, match="got 'slow' as the status"):
        EvidenceJoiner(weights={"own": 1.0}).run(own=[], own_report={"status": "slow"})


@pytest.mark.parametrize(
    ("said", "reasons", "is_late"),
    [
        ({"status": "failed", "kind": "deadline"}, ["retrieval_failed:dense"], True),
        ({"status": "incomplete", "kind": "shards"}, ["retrieval_incomplete:dense"], False),
        ({"status": "ok", "kind": "no_vectors"}, ["no_vectors:dense"], False),
        ({"status": "ok", "kind": "own"}, [], False),
    ],
)
def test_the_coverage_says_what_was_not_searched_and_whether_time_ran_out(
    said: dict[str, str], reasons: list[str], is_late: bool
) -> None:
    coverage = decided({}, {"retrievers": {"bm25": {"status": "ok"}, "dense": said}})["coverage"]
    assert (coverage["reasons"], coverage["degraded"], coverage["deadline_hit"]) == (reasons, bool(reasons), is_late)


@pytest.mark.parametrize("status", ["incomplete", "failed"])
def test_nothing_is_answered_from_what_does_not_answer_where_not_all_was_searched(status: str) -> None:
    """Nor has it a score: what was not searched may answer."""
    result = CragRouter(on_ungraded="generate", on_limit="generate").run(
        query=QUESTION,
        documents=[graded("a", 0.1, QUESTION)],
        retrieval={"retrievers": {"bm25": {"status": status}}},
    )
    decision = result["decision"]
    assert (decision["verdict"], decision["score"], decision["action"]) == ("ungraded", None, "abstain")
