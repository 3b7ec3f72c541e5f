"""What must hold of every decision, record and run, whatever came in; shared by the tests that make runs up."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

from haystack import Document, component

from haystack_integrations.crag.errors import WebSearchError
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import (
    ACTIONS,
    GRADER_FAILED,
    LOOP_ACTIONS,
    WEB_ACTIONS,
    GradeStatus,
    Verdict,
)

VERDICTS = get_args(Verdict)
STATUSES = get_args(GradeStatus)
ENDS = {"generate", "abstain"}
WORDS = {
    "upper_threshold": {"correct"},
    "lower_threshold": {"incorrect"},
    "between_thresholds": {"ambiguous"},
    "variance": {"ambiguous"},
    "middle": {"correct", "ambiguous"},
    "no_documents": {"incorrect"},
    "grader_failed": {"ungraded"},
    "retrieval_incomplete": {"ungraded"},
    "retrieval_failed": {"ungraded"},
    "mode_off": {"ungraded"},
}
"""Which verdicts a judging rule can give."""


def plain(value: Any) -> Any:
    """The value as JSON has it; fails on what is none, and on NaN."""
    told = json.loads(json.dumps(value, allow_nan=False))
    assert told == value or json.dumps(told) == json.dumps(value)
    return told


def as_they_are(documents: Sequence[Document]) -> list[Any]:
    """A copy of documents to compare with later: nobody may change what he was given."""
    return [json.dumps(document.to_dict(flatten=False), sort_keys=True, default=str) for document in documents]


def check_decision(decision: Mapping[str, Any]) -> None:
    """A decision is JSON, speaks our words, and agrees with itself."""
    plain(decision)
    verdict, score, judged_by = decision["verdict"], decision["score"], decision["judged_by"]
    assert verdict in VERDICTS
    assert decision["action"] in ACTIONS
    assert verdict in WORDS.get(judged_by, VERDICTS)
    assert score is None or 0 <= score <= 1
    limits = decision["thresholds"]
    if judged_by == "upper_threshold":
        assert score >= limits["upper"]
    if judged_by == "lower_threshold" and score is not None:
        assert score <= limits["lower"]
    if judged_by in ("between_thresholds", "variance", "middle"):
        assert limits["lower"] <= score <= limits["upper"]
    assert (decision["limit"] is None) or decision["action"] in ENDS
    coverage = decision["coverage"]
    counted = sum(coverage[name] for name in ("graded", "cached", "approved", "failed"))
    assert counted <= coverage["documents_in"] == len(decision["kept"]) + len(decision["discarded"])
    for entry in decision["kept"]:
        if judged_by == "mode_off":  # nobody was asked
            assert entry["score"] is entry["status"] is entry["grader"] is None
        else:
            assert 0 <= entry["score"] <= 1
            assert entry["status"] in STATUSES
    assert all(entry["reason"] for entry in decision["discarded"])
    assert coverage["degraded"] == bool(coverage["reasons"])
    if coverage["failed"]:
        assert coverage["degraded"]
    types = Counter(entry["type"] for entry in decision["corrections"])
    assert types["keep"] == len(decision["kept"])
    assert types["discard"] == len(decision["discarded"])
    if "abstention" in decision:
        assert decision["action"] == "abstain"


def check_trail(trail: Sequence[Mapping[str, Any]]) -> None:
    """One entry for each pass, each led to by the correction before it, and none after an end."""
    assert [decision["iteration"] for decision in trail] == list(range(1, len(trail) + 1))
    for decision in trail:
        check_decision(decision)
    first, last = trail[0], trail[-1]
    assert first["after"] is None
    if last["mode"] == "enforce":
        assert last["action"] in ENDS
        for before, after in pairwise(trail):
            assert before["action"] in LOOP_ACTIONS
            assert after["after"] in (before["action"], None)
    else:
        assert len(trail) == 1
    _check_what_was_not_judged(trail)
    unsearched = False
    for decision in trail:
        unsearched |= (decision["retrieval"] or {"status": "ok"})["status"] != "ok"
        # What was not searched may answer.
        assert not (unsearched and decision["verdict"] == "incorrect")


def _check_what_was_not_judged(trail: Sequence[Mapping[str, Any]]) -> None:
    """What could not be judged in one pass may answer in all later ones, until it is judged."""
    pending, was_ungraded = set[str](), False
    for decision in trail:
        failed = {entry["id"] for entry in decision["kept"] if entry["status"] == "failed"}
        judged = {entry["id"] for entry in (*decision["kept"], *decision["discarded"]) if entry["score"] is not None}
        pending = (pending - judged) | failed
        was_ungraded |= decision["judged_by"] == GRADER_FAILED
        if pending and decision["action"] in WEB_ACTIONS:  # only where the policy for what is ungraded says so
            assert decision["verdict"] == "ungraded" or decision["rule"] in ("grader_partial", "retrieval_incomplete")
        assert not (pending and was_ungraded and decision["verdict"] == "incorrect")


def _check_corrections(record: Mapping[str, Any]) -> None:
    """What was carried out, and what it searched for; `strategy` and `corrected` say no more and no less."""
    done = [entry for entry in record["corrections"] if entry["type"] not in ("keep", "discard")]
    assert bool(done) == record["corrected"] == (record["strategy"] != "none")
    kinds = {entry["type"] for entry in done}
    assert ("web_search" in kinds) == (record["strategy"] in ("web", "web_and_refine"))
    assert record["strategy"] != "expand" or kinds == {"expand"}
    for entry in done:
        assert entry["type"] == "refine" or entry["query"] in record["queries"]
        assert entry["type"] != "expand" or entry["strategy"] in record["retrieval"]


def check_record(record: Mapping[str, Any], documents: Sequence[Document], came: set[str]) -> None:
    """
    A record is JSON, tells of the documents that were handed on, and of each that ever came in, once.

    :param record: The record of a run.
    :param documents: The evidence handed on.
    :param came: The ids of all documents that were judged in the run.
    """
    plain(record)
    check_trail(record["trail"])
    assert record["iterations"] == len(record["trail"])
    assert [entry["id"] for entry in record["kept"]] == [document.id for document in documents]
    assert record["documents_after"] == len(documents)
    assert record["evidence_tokens"] == sum(count_tokens(document.content or "") for document in documents)
    _check_corrections(record)
    gone = [entry["id"] for entry in record["discarded"]]
    assert len(gone) == len(set(gone))
    kept = {entry["id"] for entry in record["kept"]}
    assert not kept & set(gone)
    assert kept | set(gone) == came
    assert all(entry["reason"] for entry in record["discarded"])
    last = record["trail"][-1]
    assert (record["verdict"], record["action"], record["score"]) == (last["verdict"], last["action"], last["score"])
    if record["mode"] == "enforce" and record["action"] == "abstain":
        assert not documents
        assert record["abstention"]
        assert record["answer"]["status"] == "none"
    assert record["documents_before"] == record["trail"][0]["coverage"]["documents_in"]
    coverage, passes = record["coverage"], [decision["coverage"] for decision in record["trail"]]
    assert coverage["degraded"] == bool(coverage["reasons"])
    assert {reason for one in passes for reason in one["reasons"]} <= set(coverage["reasons"])
    assert coverage["deadline_hit"] or not any(one["deadline_hit"] for one in passes)
    for name in ("documents_in", "graded", "cached", "approved", "failed"):
        assert coverage[name] == sum(one[name] for one in passes)
    assert all(before["llm_calls"] <= after["llm_calls"] for before, after in pairwise([*passes, coverage]))
    web = [document for document in documents if document.meta.get("crag", {}).get("origin") == "web"]
    assert record["web_used"] == bool(web)
    if web:
        assert coverage["web"] == "ok"


@component
class Search:
    """A web search that brings what was drawn."""

    def __init__(self) -> None:
        self.kind, self.pages = "ok", list[int]()

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Search."""
        if self.kind == "failed":
            msg = "scripted"
            raise WebSearchError(msg, kind="http_500")
        pages = [] if self.kind == "empty" else self.pages
        host = "denied.example.net" if self.kind == "denied" else "example.org"
        meta = [{"title": f"Page {n}", "url": f"https://{host}/{n}"} for n in pages]
        return {
            "documents": [
                Document(content=f"Page {n} on the car.", meta=one) for n, one in zip(pages, meta, strict=True)
            ]
        }
