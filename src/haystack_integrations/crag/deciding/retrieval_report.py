"""What a retrieval could not search: the reports of several retrievers as one, and what it means for a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, cast, get_args

from haystack_integrations.crag.deciding.decisions import Judgement
from haystack_integrations.crag.errors import ConfigurationError, shown
from haystack_integrations.crag.vocabulary import NONE_TO_SEARCH

ReportStatus = Literal["ok", "incomplete", "failed"]
"""All of the index was searched, a part of it, or nothing."""

RETRIEVAL_RULES: Final = ("retrieval_incomplete", "retrieval_failed")
"""Rules by which a verdict is `ungraded`: what was not searched may answer."""


def together(reports: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """
    Make one report of several retrievers.

    :param reports: What each retriever says of its search, by its name; None for one that says nothing.
    :returns: `status`: `failed` when none of them could search, `incomplete` when something was not searched, else
        `ok`; and `retrievers`, what each said.
    """
    said = {name: _with_status(report) for name, report in reports.items() if report}
    statuses = [said[name]["status"] if name in said else "ok" for name in reports]
    return {"status": _status(statuses), "retrievers": said}


def checked_retrieval(report: Any) -> dict[str, Any] | None:
    """
    Refuse what is no report of a retrieval.

    :param report: What was given as one, or None.
    :returns: It, with `status`, that of its retrievers where it names none, and `retrievers`.
    :raises ConfigurationError: For another form, or an unknown status.
    """
    if report is None:
        return None
    said = report.get("retrievers", {}) if isinstance(report, Mapping) else None
    if not isinstance(said, Mapping) or not all(isinstance(one, Mapping) for one in said.values()):
        what, got = ("a retrieval's report", report) if said is None else ("`retrievers` in a retrieval's report", said)
        msg = (
            f"got {shown(got)} as {what}, wanted what EvidenceJoiner gives: its status, and under `retrievers` a "
            "mapping for each"
        )
        raise ConfigurationError(msg)
    each = {name: _with_status(one) for name, one in said.items()}
    return {**_with_status({"status": _status([one["status"] for one in each.values()]), **report}), "retrievers": each}


def _with_status(report: Mapping[str, Any]) -> dict[str, Any]:
    """Take a search that names no status for a whole one, and refuse a status that is none."""
    known = {"status": "ok", **report}
    if known["status"] not in get_args(ReportStatus):
        msg = f"got {shown(known['status'])} as the status of a search, wanted one of {list(get_args(ReportStatus))}"
        raise ConfigurationError(msg)
    return known


def _status(statuses: Sequence[str]) -> ReportStatus:
    if statuses and all(status == "failed" for status in statuses):
        return "failed"
    return "incomplete" if any(status != "ok" for status in statuses) else "ok"


def reasons_of(retrieval: Mapping[str, Any] | None) -> list[str]:
    """
    Name what was not searched, and what had no document to search.

    :param retrieval: A report as `together` gives it, or None.
    :returns: Such as `retrieval_incomplete:bm25`, `retrieval_failed:dense` or `filters_leave_none:bm25`.
    """
    said = (retrieval or {}).get("retrievers", {})
    kinds = {name: _shortcoming(one) for name, one in said.items()}
    return [f"{kind}:{name}" for name, kind in kinds.items() if kind is not None]


def _shortcoming(said: Mapping[str, Any]) -> str | None:
    if said["status"] != "ok":
        return f"retrieval_{said['status']}"
    return said["kind"] if said.get("kind") in NONE_TO_SEARCH else None


def ran_out_of_time(retrieval: Mapping[str, Any] | None) -> bool:
    """
    Tell whether the run's deadline ended a search.

    :param retrieval: A report as `together` gives it, or None.
    :returns: True when it did.
    """
    return any(one.get("kind") == "deadline" for one in (retrieval or {}).get("retrievers", {}).values())


def status_of_run(trail: Sequence[Mapping[str, Any]], retrieval: Mapping[str, Any] | None) -> ReportStatus:
    """
    Tell how much all passes of a run have searched.

    :param trail: The decisions so far, each with its `retrieval`.
    :param retrieval: The report of this pass; None for a pass that searched nothing.
    :returns: The status: one pass that was incomplete leaves the run incomplete.
    """
    passes = [*(decision.get("retrieval") for decision in trail), retrieval]
    return _status([cast("str", one["status"]) for one in passes if one])


def doubted(judgement: Judgement, status: ReportStatus) -> Judgement:
    """
    Take back a verdict `incorrect` where something was not searched: what is there may answer.

    :param judgement: What the grades say.
    :param status: How much was searched.
    :returns: The judgement, or the same as `ungraded`.
    """
    if status == "ok" or judgement.verdict != "incorrect":
        return judgement
    return replace(judgement, verdict="ungraded", score=None, rule=f"retrieval_{status}")
