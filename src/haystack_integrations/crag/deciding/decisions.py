"""From grades to a verdict: pure functions, no sockets. Source: arXiv 2401.15884 section 4.3, and design 000."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance
from typing import Any, Final, Literal, cast, get_args

from haystack import Document

from haystack_integrations.crag.deciding.thresholds import Thresholds
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.fusion import lead_of
from haystack_integrations.crag.grades import Grade, grade_of
from haystack_integrations.crag.metadata import source_name
from haystack_integrations.crag.settings import check_one_of
from haystack_integrations.crag.vocabulary import GRADER_FAILED, MODE_OFF, NOT_GRADED, Verdict

Aggregate = Literal["mean", "rank_weighted", "max", "min", "set"]
Over = Literal["kept", "all"]


def _rank_weighted(scores: Sequence[float]) -> float:
    return fmean(scores, [1 / (position + 1) for position in range(len(scores))])


AGGREGATES: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "mean": fmean,
    "rank_weighted": _rank_weighted,
    "max": max,
    "min": min,
}

SET_VERDICT: Final = "set_verdict"
"""The rule by which a grader's own verdict on the whole set holds."""

_MIDDLE, _VARIANCE_OF_DOUBT = 0.5, 0.1


@dataclass(frozen=True)
class Judgement:
    """
    What the grades of one pass say.

    :param verdict: The three-way verdict, or `ungraded`.
    :param score: The aggregate in [0, 1], or None when there is nothing to aggregate.
    :param rule: What decided, for example `upper_threshold` or `no_documents`.
    :param kept: Documents that passed the filter, in their order.
    :param discarded: The others, each `{"id", "score", "reason"}`, and `source` where the document has one.
    :param counts: How many documents came in and what became of their grading.
    :param correct_from: Only a verdict `correct` is answered from, and needs this probability: so says a calibration
        made with `--max-wrong-generate`. None without one.
    :param pending: How many documents of earlier passes failed in their grading and were never judged since.
    """

    verdict: Verdict
    score: float | None
    rule: str
    kept: list[Document]
    discarded: list[dict[str, Any]]
    counts: dict[str, int]
    correct_from: float | None = None
    pending: int = 0


def check_aggregate(aggregate: str, over: str) -> None:
    """
    Refuse an unknown aggregate.

    :param aggregate: A name.
    :param over: Whose scores.
    :raises ConfigurationError: With the list of known ones.
    """
    check_one_of("aggregate_over", over, get_args(Over))
    check_one_of("aggregate", aggregate, get_args(Aggregate))


def unjudged(documents: Sequence[Document]) -> Judgement:
    """
    Judge nothing, for the mode `off`: every document is kept as it is.

    :param documents: What was retrieved.
    :returns: A judgement with the verdict `ungraded`.
    """
    return Judgement("ungraded", None, MODE_OFF, list(documents), [], _counts([None] * len(documents)))


def judge(
    documents: Sequence[Document],
    thresholds: Thresholds,
    *,
    question: str | None = None,
    aggregate: str = "mean",
    over: str = "kept",
    variance_rule: bool = False,
    set_score: float | None = None,
    set_verdict: str | None = None,
) -> Judgement:
    """
    Filter graded documents and judge the retrieval as a whole.

    A document whose grading failed is kept and marked, but says nothing: it does not enter the aggregate, and when
    fewer than half of the documents were judged the verdict is `ungraded`. A document without any grade is dropped.

    :param documents: Graded documents in rank order.
    :param thresholds: The thresholds.
    :param question: `question_id`; grades for other questions do not count.
    :param aggregate: How scores become one.
    :param over: Whose scores: of the `kept` documents that pass the filter, or of `all` that were judged.
    :param variance_rule: Between the thresholds, look at the spread: a population variance above 0.1 is ambiguous,
        otherwise an aggregate above 0.5 is correct, unless it is over all and some of them are below the filter.
    :param set_score: The grader's own score of the whole set, for `aggregate="set"`.
    :param set_verdict: The grader's own verdict on it: with `aggregate="set"` it holds, whatever the thresholds.
    :returns: The judgement.
    :raises ConfigurationError: For `aggregate="set"` without a set score.
    """
    if not documents:
        return Judgement("incorrect", None, "no_documents", [], [], _counts([]))
    grades = [(document, grade_of(document, question)) for document in documents]
    counts = _counts([grade for _, grade in grades])
    judged = counts["graded"] + counts["cached"] + counts["approved"]
    usable = [grade.score for _, grade in grades if grade is not None and grade.status != "failed"]
    keeps = thresholds.enough(grade for _, grade in grades if grade is not None)
    # Where most grades failed, none of the others is enough to drop a document by.
    kept, discarded = _filtered(grades, keeps if judged >= counts["failed"] else lambda *_: True)
    if judged == 0 or judged < counts["failed"]:
        everything = kept or list(documents)
        return Judgement("ungraded", None, GRADER_FAILED, everything, discarded if kept else [], counts)
    scores = usable if over == "all" else [score for score in usable if score >= thresholds.filter]
    low = any(score < thresholds.filter for score in usable)
    if aggregate == "set" and (counts["approved"] == len(documents) or (counts["approved"] and set_score is None)):
        aggregate = "max"  # a rule spoke, and no grader was asked about the set
    score = _aggregate(aggregate, scores, set_score)
    if score is None:
        return Judgement("incorrect", None, "lower_threshold", kept, discarded, counts)
    score = round(score, 9)  # the mean of three times 0.7 is 0.7, whatever floats make of it
    verdict, rule = _verdict(score, scores, thresholds, variance_rule=variance_rule, mixed=over == "all" and low)
    if aggregate == "set" and set_verdict in get_args(Verdict):
        verdict, rule = cast("Verdict", set_verdict), SET_VERDICT
        kept, discarded = _never_empty(documents, kept, discarded, verdict)
    if counts["approved"] == len(documents):
        rule = _approving_rule(documents, question)
    return Judgement(verdict, score, rule, kept, discarded, counts)


def _filtered(
    grades: Sequence[tuple[Document, Grade | None]], keeps: Callable[[Document, Grade], bool]
) -> tuple[list[Document], list[dict[str, Any]]]:
    """Keep what reaches the filter, and what could not be judged; say why the rest is dropped."""
    kept: list[Document] = []
    discarded: list[dict[str, Any]] = []
    for document, grade in grades:
        if grade is None:
            discarded.append(dropped_entry(document, None, NOT_GRADED))
        elif not keeps(document, grade):
            discarded.append(dropped_entry(document, grade.score, "below_filter"))
        else:
            kept.append(document)
    return kept, discarded


def _never_empty(
    documents: Sequence[Document], kept: list[Document], discarded: list[dict[str, Any]], verdict: Verdict
) -> tuple[list[Document], list[dict[str, Any]]]:
    """Keep the best document where several weak ones together are called correct: an answer needs evidence."""
    if kept or verdict != "correct":
        return kept, discarded
    best = best_first(documents)[0]
    return [best], [entry for document, entry in zip(documents, discarded, strict=True) if document is not best]


def _counts(grades: Sequence[Grade | None]) -> dict[str, int]:
    """Count the documents, and what became of their grading."""
    counts = {"documents_in": len(grades), "graded": 0, "cached": 0, "approved": 0, "failed": 0}
    for grade in filter(None, grades):
        counts[grade.status] += 1
    return counts


def _aggregate(name: str, scores: Sequence[float], set_score: float | None) -> float | None:
    """Make one score of many; None when there is none to make it of."""
    if name != "set":
        return AGGREGATES[name](scores) if scores else None
    if set_score is None:
        msg = "aggregate 'set' needs a set_score in the report of the grader (set_score_of makes one), but got none; "
        msg += "connect grader.report to router, or choose aggregate='max'"
        raise ConfigurationError(msg)
    return set_score


def _verdict(
    score: float, scores: Sequence[float], thresholds: Thresholds, *, variance_rule: bool, mixed: bool
) -> tuple[Verdict, str]:
    """Compare an aggregate with the thresholds; gives the verdict and the rule that decided."""
    if thresholds.is_correct(score):
        return "correct", "upper_threshold"
    if thresholds.is_incorrect(score):
        return "incorrect", "lower_threshold"
    if not variance_rule:
        return "ambiguous", "between_thresholds"
    if scores and pvariance(scores) > _VARIANCE_OF_DOUBT:
        return "ambiguous", "variance"
    return ("correct", "middle") if score > _MIDDLE and not mixed else ("ambiguous", "middle")


def _approving_rule(documents: Sequence[Document], question: str | None) -> str:
    """Name the rule that approved the documents, for example `rule:few_context`."""
    grades = [grade_of(document, question) for document in documents]
    return next((grade.grader for grade in grades if grade is not None), "approved")


def graded_entry(document: Document, unjudged: str | None = None) -> dict[str, Any]:
    """
    Describe a kept document for the decision record, without its text.

    :param document: A graded document.
    :param unjudged: Why it was not to be judged, so that there is no score to tell; else no grade is a failed one.
    :returns: `{"id", "score", "status", "grader"}`, and `reason`, `opinion`, `lead` and `source` where it has them.
    """
    grade = grade_of(document) or Grade.failed("none", "", NOT_GRADED)
    given = {name: None if unjudged else getattr(grade, name) for name in ("score", "status", "grader")}
    more = {"reason": unjudged} if unjudged else {"reason": grade.reason or None, "opinion": grade.opinion}
    told = {name: value for name, value in {**more, "lead": lead_of(document) or None}.items() if value is not None}
    return {"id": document.id, **given, **told, **_source(document)}


def dropped_entry(document: Document, score: float | None, reason: str) -> dict[str, Any]:
    """
    Describe a dropped document for the decision record, without its text.

    :param document: The document.
    :param score: Its grade, or None.
    :param reason: Why it was dropped, in a word.
    :returns: `{"id", "score", "reason"}`, and `source` where the document has one.
    """
    return {"id": document.id, "score": score, "reason": reason, **_source(document)}


def _source(document: Document) -> dict[str, str]:
    name = source_name(document)
    return {} if name is None else {"source": name}


def best_first(documents: Sequence[Document]) -> list[Document]:
    """
    Order documents by grade, best first; equal grades keep their order, ungraded documents come last.

    :param documents: Graded documents.
    :returns: A new list.
    """
    return sorted(documents, key=lambda document: -(grade.score if (grade := grade_of(document)) else -1.0))
