"""What a grading says of itself: outputs, span attributes, one warning. Numbers and names, never a text."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from haystack import Document, logging
from haystack.tracing.tracer import Span

from haystack_integrations.crag.errors import GradingError
from haystack_integrations.crag.grades import Grade, grade_of, set_score_of, with_grade, without_grade
from haystack_integrations.crag.grading.batch import Grading
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.observing.evaluations import tell_grading
from haystack_integrations.crag.observing.telemetry import set_tags
from haystack_integrations.crag.vocabulary import BUDGET_LIMITS, FAILED_SCORE, GRADING_DETAILS, GraderStatus

logger = logging.getLogger(__name__)


def concluded(grading: Grading, span: Span, *, strict: bool) -> dict[str, Any]:
    """
    Give a grader's outputs, tell the span what the grading was like, and the log what was not judged.

    :param grading: A grading that has ended.
    :param span: Its span.
    :param strict: Whether a grading without any usable judgement is an error.
    :returns: `documents`, `scores`, `status`, `report`.
    :raises GradingError: When nothing could be judged and the grader is strict.
    """
    documents, grades, tally = grading.documents, grading.grades, grading.tally
    failed = sum(grade.status == "failed" for grade in grades.values())
    status: GraderStatus = "skipped" if grading.skipped else "ok"
    if failed:
        status = "failed" if failed == len(grades) else "partial"
    graded = [
        with_grade(document, grades[place]) if place in grades else _ungraded(document, grading.question)
        for place, document in enumerate(documents)
    ]
    all_grades = [grade_of(document, grading.question) for document in graded]
    scores = [grade.score if grade else FAILED_SCORE for grade in all_grades]
    # Behind a cascade the router reads a score of the set from either grader, and must not find an earlier pass's.
    of_set = set_score_of(all_grades)
    met: dict[str, Any] = {"reasks": tally.reasks, "bisections": tally.bisections, "canaries": tally.canaries}
    met |= {"repaired": tally.repaired, "positional": tally.positional, "unknown_ids": tally.unknown_keys}
    met |= {"not_asked": all_grades.count(None)}  # of `max_documents`: the router misses no grade of these
    met |= {"cut": tally.cut, "cache_hits": tally.cache_hits, "cache_error": tally.cache_error}
    reasons = [f"grader_{status}:{reason}" for reason in dict.fromkeys(tally.reasons)] if failed else []
    limit = next((reason for reason in tally.reasons if reason in BUDGET_LIMITS), None)
    report = {**asdict(tally.spent), **met, **of_set}
    report |= {"structured": grading.model.structured, "reasons": reasons, "limit": limit}
    result = {"documents": graded, "scores": scores, "status": status, "report": report}
    if not grading.skipped:
        metrics.grading_ended([g.reason for g in grades.values() if g.status == "failed"], tally.spent.llm_calls)
    set_tags(span, _asked_tags(grading, status))
    _tell(span, result, grades, strict=strict)
    return result


def _ungraded(document: Document, question: str) -> Document:
    """Leave a document without a grade, but for one that was given for this question."""
    return without_grade(document) if grade_of(document, question) is None else document


def _asked_tags(grading: Grading, status: GraderStatus) -> dict[str, Any]:
    """Say who was asked, in which words (by a hash), and how the replies ended."""
    tally = grading.tally
    return {
        "crag.grader.prompt.sha256": grading.prompt.digest,
        "gen_ai.request.model": grading.model.model,
        "gen_ai.response.finish_reasons": list(dict.fromkeys(tally.finish_reasons)) or None,
        "error.type": next(iter(tally.reasons), None) if status == "failed" else None,
    }


def _tell(span: Span, result: Mapping[str, Any], grades: Mapping[int, Grade], *, strict: bool) -> None:
    report, status = result["report"], result["status"]
    failed = sum(grade.status == "failed" for grade in grades.values())
    cached = sum(grade.status == "cached" for grade in grades.values())
    in_order = [
        (document.id, grade.score)
        for place, document in enumerate(result["documents"])
        if (grade := grades.get(place)) is not None and grade.status != "failed"
    ]
    tags = {
        "crag.grader.status": status,
        "crag.documents.in": len(result["documents"]),
        "crag.documents.graded": len(grades) - failed - cached,
        "crag.documents.cached": cached,
        "crag.documents.failed": failed,
        "crag.grader.calls": report["llm_calls"],
        "gen_ai.usage.input_tokens": report["tokens_in"],
        "gen_ai.usage.output_tokens": report["tokens_out"],
        **{f"crag.grader.{name}": report[name] for name in GRADING_DETAILS},
        "crag.grader.failures": report["reasons"] or None,
    }
    tell_grading(span, result["documents"], in_order, tags)
    if not failed:
        return
    reasons = ", ".join(report["reasons"])
    logger.warning(
        "Grading failed for {failed} of {total} documents, which keep the score 0.5: {reasons}",
        failed=failed,
        total=len(result["documents"]),
        reasons=reasons,
    )
    if strict and status == "failed":
        msg = f"none of {failed} documents could be judged ({reasons}); check the model, or on_failure"
        raise GradingError(msg)
