"""What is written down, as attributes of spans: numbers and names, never a text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack_integrations.crag.deciding.corrections import strategy_of
from haystack_integrations.crag.deciding.decisions import SET_VERDICT
from haystack_integrations.crag.observing.telemetry import MOST_ON_A_SPAN, traced_id
from haystack_integrations.crag.texts.languages.inflections import INFLECTED
from haystack_integrations.crag.vocabulary import JUDGED

_CITATIONS: Final = ("cited", "cited_unknown")
_COUNTED: Final = ("documents_in", "graded", "cached", "approved", "failed")


def route_tags(decision: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give a decision as span attributes: numbers and names, no text of question or documents.

    :param decision: What `decision_record` gave.
    :returns: Attributes by name; see docs/observability.md.
    """
    kept, discarded = decision["kept"], decision["discarded"]
    coverage, cascade, abstention = decision["coverage"], decision["cascade"] or {}, decision.get("abstention")
    return {
        "openinference.span.kind": "CHAIN",
        "crag.decision": decision["verdict"],
        "crag.decision.rule": decision["rule"],
        "crag.decision.judged_by": decision["judged_by"],
        "crag.decision.limit": decision["limit"],
        "crag.decision.absent": absent_in(decision) or None,
        "crag.decision.read_as": read_otherwise(decision) or None,
        "crag.decision.language": language_in(decision),
        "crag.decision.asked_alone": asked_alone(decision),
        "crag.decision.asked_apart": asked_apart(decision),
        "crag.decision.calibrated": calibrated(decision),
        "crag.action": decision["action"],
        "crag.mode": decision["mode"],
        "crag.score": decision["score"],
        **{f"crag.threshold.{name}": value for name, value in decision["thresholds"].items()},
        "crag.iteration": decision["iteration"],
        "crag.iteration.max": decision["max_iterations"],
        "crag.retrieval.strategy": decision["strategy"],
        "crag.correction.strategy": strategy_of([decision["action"]]),
        **{f"crag.documents.{name.removeprefix('documents_')}": coverage[name] for name in _COUNTED},
        "crag.documents.kept": len(kept),
        "crag.documents.discarded": len(discarded),
        "crag.documents.cut": decision["grading"].get("cut") or None,
        **_documents(kept, discarded),
        "crag.web.status": coverage["web"],
        "crag.llm_calls": coverage["llm_calls"],
        "crag.tokens": coverage["tokens"],
        **_degraded(coverage["reasons"]),
        "crag.cascade.asked": cascade.get("asked"),
        "crag.cascade.certainty": cascade.get("certainty"),
        # How many, never which: queries, titles and the question's words are content.
        "crag.abstention.queries": abstention and len(abstention["looked_for"]),
        "crag.abstention.documents": abstention and abstention["found"]["documents"],
        "crag.abstention.missing": abstention and len(abstention["missing"]["words"]),
    }


def _documents(kept: Sequence[Mapping[str, Any]], discarded: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Tell the scores of documents, and why some were dropped."""
    scored = [entry for entry in (*kept, *discarded) if entry["score"] is not None][:MOST_ON_A_SPAN]
    dropped = discarded[:MOST_ON_A_SPAN]
    return {
        "crag.document.ids": [traced_id(entry["id"]) for entry in scored],
        # Unrounded: rounded, a score just below the filter would be at it, and its document dropped for no reason.
        "crag.scores": [entry["score"] for entry in scored],
        "crag.discarded.ids": [traced_id(entry["id"]) for entry in dropped],
        "crag.discarded.reasons": [entry["reason"] for entry in dropped],
        "crag.discarded.scores": [entry["score"] for entry in dropped],
    }


def absent_in(decision: Mapping[str, Any]) -> int:
    """
    Count what a question names exactly and none of its documents has, where that kept the verdict from `correct`.

    :param decision: A decision, as `decision_record` gave it.
    :returns: The number that the grader told, where its verdict holds.
    """
    told = _of_set(decision).get("absent") if decision["judged_by"] == SET_VERDICT else None
    return told if isinstance(told, int) else 0


def read_otherwise(decision: Mapping[str, Any]) -> int:
    """
    Count the words of a question that were read as its documents write them.

    :param decision: A decision, as `decision_record` gave it, or as spans tell it.
    :returns: The number.
    """
    told = _of_set(decision).get("read_as")
    return told if isinstance(told, int) else len(told) if isinstance(told, Mapping) else 0


def language_in(decision: Mapping[str, Any]) -> str | None:
    """
    Give the language by whose forms the words of a question were found in its documents, where it is not English.

    :param decision: A decision, as `decision_record` gave it, or as spans tell it.
    :returns: Its English name, or None.
    """
    told = _of_set(decision).get("language")
    return told if told in INFLECTED else None


def asked_alone(decision: Mapping[str, Any]) -> str | None:
    """
    Give the verdict on what a question asks alone, where it tells something besides.

    :param decision: A decision, as `decision_record` gave it.
    :returns: The verdict, or None.
    """
    told = _of_set(decision).get("asked_alone")
    return told if told in JUDGED else None


def asked_apart(decision: Mapping[str, Any]) -> list[str] | None:
    """
    Give the verdicts on questions that were asked as one.

    :param decision: A decision, as `decision_record` gave it, or as spans tell it.
    :returns: The verdict on each, in order, or None.
    """
    told = _of_set(decision).get("asked_apart")
    return told if isinstance(told, list) and len(told) > 1 and all(each in JUDGED for each in told) else None


def calibrated(decision: Mapping[str, Any]) -> bool | None:
    """
    Tell whether the model that judged without an LLM was fitted on questions of the user's own.

    :param decision: A decision, as `decision_record` gave it, or as spans tell it.
    :returns: The answer, or None where no such model judged.
    """
    told = _of_set(decision).get("calibrated")
    return told if isinstance(told, bool) else None


def _of_set(decision: Mapping[str, Any]) -> Mapping[str, Any]:
    of_set = (decision.get("signals") or {}).get("set")
    return of_set if isinstance(of_set, Mapping) else {}


def record_tags(record: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give the record of a run as span attributes: what came out, and what all of it cost.

    :param record: What `run_record` gave.
    :returns: Attributes by name; no text.
    """
    names = ("action", "mode", "score", "iterations", "corrected", "llm_calls", "milliseconds", "web_used")
    return {
        "openinference.span.kind": "CHAIN",
        "crag.decision": record["verdict"],
        "crag.decision.rule": record["rule"],
        "crag.correction.strategy": record["strategy"],
        **{f"crag.{name}": record[name] for name in names},
        "crag.documents.before": record["documents_before"],
        "crag.documents.after": record["documents_after"],
        "crag.tokens.in": record["tokens"]["in"],
        "crag.tokens.out": record["tokens"]["out"],
        "crag.cache_hits": record["cache_hits"],
        "crag.answer.status": record["answer"]["status"],
        **{f"crag.answer.{name}": record["answer"][name][:MOST_ON_A_SPAN] or None for name in _CITATIONS},
        # How many, never which: they are the answer's own words.
        "crag.answer.unsupported_numbers": len(record["answer"]["unsupported_numbers"]) or None,
        **_degraded(record["coverage"]["reasons"]),
    }


def _degraded(reasons: Sequence[str]) -> dict[str, Any]:
    return {"crag.degraded": bool(reasons), "crag.degraded.reasons": list(reasons) or None}
