"""What is written down: the decision of one pass, and the `crag` record of a run. Plain JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.deciding.corrections import carried_out, corrections_in, corrections_of, strategy_of
from haystack_integrations.crag.deciding.decisions import Judgement, best_first, dropped_entry, graded_entry
from haystack_integrations.crag.deciding.policy import Choice
from haystack_integrations.crag.deciding.retrieval_report import ran_out_of_time, reasons_of
from haystack_integrations.crag.deciding.thresholds import Thresholds, told
from haystack_integrations.crag.grades import grade_of, origin_of
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import GRADER_FAILED, GRADING_DETAILS, MODE_OFF, NOT_GRADED, Mode

FIRST_STRATEGY: Final = "first"
REFINED_AWAY: Final = "refined_away"
"""Why a document is not among the evidence that the router chose: nothing of it was kept after that."""

REPLACED: Final = "replaced_by_web"
"""Why a document that passed the filter is not among the evidence: the web was asked in its place."""

ABSTAINED: Final = "abstained"
"""Likewise: the run ended without an answer."""

NOT_AMONG_BEST: Final = "not_among_best"
"""Likewise: of all that passed the filter in some pass, others were better."""

NO_ROOM: Final = "no_room"
"""Likewise: the context of the answer's model had no room for it."""

_LEFT_BEHIND: Final = {"refine": REFINED_AWAY, "web_and_refine": REFINED_AWAY, "web": REPLACED, "abstain": ABSTAINED}
_GRADER: Final = "grader_"


def decision_record(
    state: CragState,
    judgement: Judgement,
    choice: Choice,
    thresholds: Thresholds,
    max_iterations: int,
    mode: Mode,
    report: Mapping[str, Any],
) -> dict[str, Any]:
    """
    Write down one decision.

    :param state: What the run knew, with this pass's grading already counted.
    :param judgement: What the grades say.
    :param choice: What was chosen.
    :param thresholds: The thresholds that held.
    :param max_iterations: Most passes.
    :param mode: The mode of this run.
    :param report: The grader's own report, for its `reasons`, its `signals`, what a cascade asked the model about,
        and what its replies were like; and of the retrieval, under that name, what was not searched.
    :returns: The decision: verdict, action, score, rule, kept and discarded documents, corrections, coverage.
    """
    tried, score = state.queries[-1], judgement.score
    kept = _entries(judgement.kept, mode)
    return {
        "iteration": state.iteration + 1,
        "max_iterations": max_iterations,
        "strategy": tried["strategy"] or FIRST_STRATEGY,
        "query": tried["query"],
        "after": state.action or None,
        "verdict": judgement.verdict,
        "score": None if score is None else float(told(score, (thresholds.upper, thresholds.lower), digits=4)),
        "rule": choice.rule,
        "judged_by": judgement.rule,
        "action": choice.action,
        "mode": mode,
        "limit": choice.limit,
        "thresholds": _held(thresholds, judgement),
        "signals": report.get("signals"),
        "cascade": report.get("cascade"),
        "retrieval": report.get("retrieval"),
        "grading": {name: report[name] for name in GRADING_DETAILS if name in report},
        "kept": kept,
        "discarded": judgement.discarded,
        "corrections": corrections_in(kept, judgement.discarded, choice.action),
        "coverage": _coverage_of_pass(state, judgement, choice, report),
    }


def _held(thresholds: Thresholds, judgement: Judgement) -> dict[str, float]:
    """Give the thresholds; that of a calibration for few wrong answers where there is one."""
    held: dict[str, float] = {name: getattr(thresholds, name) for name in ("upper", "lower", "filter")}
    beside = {"beside": thresholds.beside, "second_opinion": thresholds.opinion, "clear_lead": thresholds.lead}
    held |= {name: value for name, value in beside.items() if value is not None}
    return held if judgement.correct_from is None else {**held, "correct_from": judgement.correct_from}


def _coverage_of_pass(
    state: CragState, judgement: Judgement, choice: Choice, report: Mapping[str, Any]
) -> dict[str, Any]:
    """Say how much of the evidence was judged in one pass, what it cost, and why it was not more."""
    retrieval = report.get("retrieval")
    reasons = [*reasons_of(retrieval), *report.get("reasons", ())]
    if not any(reason.startswith(_GRADER) for reason in reasons):
        reasons += _of_grades(judgement)  # a grader that says nothing of its failures, or whose report is not connected
    reasons += [f"web_{state.web}"] if state.web in ("failed", "cooldown") else []
    reasons += [f"limit:{choice.limit}"] if choice.limit else []
    return {
        **judgement.counts,
        "web": state.web,
        "iterations": state.iteration + 1,
        "llm_calls": state.usage.llm_calls,
        "tokens": state.usage.tokens,
        "deadline_hit": _of_time(reasons) or ran_out_of_time(retrieval),
        "degraded": bool(reasons),
        "reasons": reasons,
    }


def _of_time(reasons: Sequence[str]) -> bool:
    """Tell whether one of them is that time ran out: for a correction, a grading or the answer."""
    return any(one.endswith(":deadline") for one in reasons)


def _of_grades(judgement: Judgement) -> list[str]:
    """Say what the grades themselves tell of a grading that failed."""
    counts = judgement.counts
    if counts["failed"]:
        return [f"{_GRADER}{'failed' if counts['failed'] == counts['documents_in'] else 'partial'}"]
    return [NOT_GRADED] if judgement.rule == GRADER_FAILED and not judgement.pending else []


def run_record(
    state: CragState,
    spent: Usage,
    answer: Mapping[str, Any],
    evidence: Sequence[Document],
    unshown: Sequence[Document] = (),
    shortcomings: Sequence[str] = (),
    *,
    untold: bool = False,
) -> dict[str, Any]:
    """
    Write down a whole run: the `crag` record that every query pipeline returns.

    :param state: The final state.
    :param spent: What the answer cost.
    :param answer: What became of the answer; see `answers.answer_account`.
    :param evidence: The documents as they were handed on: after the router, strips may have left some out.
    :param unshown: Those that the answer's model was not shown.
    :param shortcomings: What kept the answer from being written, or from its end; see `answers.shortcomings`.
    :param untold: Whether an answer came whose model told no tokens: then the run's are not known, which is not 0.
    :returns: The record, plain JSON.
    """
    last, first, applied = state.trail[-1], state.trail[0], corrections_of(state)
    total, coverage = state.usage + spent, _coverage(state)
    tokens_in, tokens_out, tokens = (None, None, None) if untold else (total.tokens_in, total.tokens_out, total.tokens)
    reasons = [*coverage["reasons"], *shortcomings]
    coverage |= {"llm_calls": total.llm_calls, "tokens": tokens, "reasons": reasons, "degraded": bool(reasons)}
    coverage["deadline_hit"] |= _of_time(shortcomings)
    return {
        **{key: last[key] for key in ("verdict", "score", "action", "rule", "mode", "thresholds", "limit")},
        "signals": _signals(state.trail),
        "abstention": last.get("abstention"),
        "answer": answer,
        "corrections": carried_out(state),
        "strategy": strategy_of(applied),
        "corrected": bool(applied),
        "iterations": state.iteration,
        "retrieval": [decision["strategy"] for decision in state.trail],
        "queries": [decision["query"] for decision in state.trail],
        "documents_before": first["coverage"]["documents_in"],
        **_size(evidence),
        "kept": _entries(evidence, last["mode"], last["discarded"]),
        "discarded": _never_used(state, evidence, unshown),
        "tokens": {"in": tokens_in, "out": tokens_out},
        "llm_calls": total.llm_calls,
        "milliseconds": round(1000 * state.seconds(), 1),
        "web_used": _is_web_used(evidence),
        "cache_hits": sum(int(n) for one in state.trail if is_number(n := one["grading"].get("cache_hits"))),
        "coverage": coverage,
        "trail": list(state.trail),
    }


def best(documents: Sequence[Document], record: Mapping[str, Any], most: int) -> dict[str, Any]:
    """
    Hand on the best documents of a run, and say so in its record.

    :param documents: The evidence that the run ended with.
    :param record: Its record.
    :param most: Most documents.
    :returns: `documents`, best first by their grades, as found where the run only observed; and `crag`, the record.
    """
    mode, dropped = record["mode"], record["trail"][-1]["discarded"]
    chosen = (best_first(documents) if mode == "enforce" else list(documents))[:most]
    rest = [document for document in documents if all(document is not one for one in chosen)]
    left = zip(rest, _entries(rest, mode, dropped), strict=True)
    cut = [dropped_entry(document, entry["score"], "top_k") for document, entry in left]
    told = {"kept": _entries(chosen, mode, dropped), **_size(chosen), "discarded": [*record["discarded"], *cut]}
    return {"documents": chosen, "crag": {**record, **told, "web_used": _is_web_used(chosen)}}


def _signals(trail: Sequence[Mapping[str, Any]]) -> Any:
    """Give what the last score was made of: a pass that had nothing to grade has that of the one before."""
    told = [decision["signals"] for decision in trail]
    measured = [signals for signals in told if signals and any(signals.values())]
    return measured[-1] if measured and trail[-1]["score"] is not None else told[-1]


def _size(evidence: Sequence[Document]) -> dict[str, int]:
    return {"documents_after": len(evidence), "evidence_tokens": sum(count_tokens(d.content or "") for d in evidence)}


def _entries(documents: Sequence[Document], mode: Mode, dropped: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Describe documents; a run that only observes hands on also those that nobody was asked about."""
    why = {entry["id"]: NOT_GRADED for entry in dropped if entry["reason"] == NOT_GRADED}
    off = MODE_OFF if mode == "off" else None
    return [graded_entry(one, off or (None if grade_of(one) else why.get(one.id))) for one in documents]


def _is_web_used(evidence: Sequence[Document]) -> bool:
    return any(origin_of(document) == "web" for document in evidence)


def _never_used(state: CragState, evidence: Sequence[Document], unshown: Sequence[Document]) -> list[dict[str, Any]]:
    """List the documents of a run that are not among its evidence; the last reason counts."""
    used = {document.id for document in evidence}
    dropped = dict[str, dict[str, Any]]()
    for decision in state.trail:
        reason = _LEFT_BEHIND.get(decision["action"], NOT_AMONG_BEST)
        left = ({key: one[key] for key in ("id", "score", "source") if key in one} for one in decision["kept"])
        dropped |= {one["id"]: {**one, "reason": reason} for one in left}
        dropped |= {entry["id"]: entry for entry in decision["discarded"]}
    for documents, reason in ((state.evidence, REFINED_AWAY), (unshown, NO_ROOM)):
        told = zip(documents, _entries(documents, state.trail[-1]["mode"], state.trail[-1]["discarded"]), strict=True)
        dropped |= {one.id: dropped_entry(one, entry["score"], reason) for one, entry in told}
    return [entry for id_, entry in dropped.items() if id_ not in used]


def _coverage(state: CragState) -> dict[str, Any]:
    """Sum the coverage of all passes; what is cumulative in each pass is taken from the last."""
    passes = [decision["coverage"] for decision in state.trail]
    counted = ("documents_in", "graded", "cached", "approved", "failed")
    return {
        **passes[-1],
        **{key: sum(one[key] for one in passes) for key in counted},
        "web": state.web_at_best(),
        "deadline_hit": any(one["deadline_hit"] for one in passes),
        "reasons": list(dict.fromkeys(reason for one in passes for reason in one["reasons"])),
    }
