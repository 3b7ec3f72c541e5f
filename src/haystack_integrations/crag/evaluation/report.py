"""
The report of an evaluation: one HTML page that needs nothing else, with pictures and the worst decisions.

The page loads nothing, by construction and by its own content security policy. All texts (questions, titles, documents)
are escaped, and what would turn the direction of writing is shown as a sign: they come from users' stores and from the
web.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from statistics import median
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from haystack_integrations.crag.evaluation import drawing
from haystack_integrations.crag.evaluation.cascades import in_words
from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.evaluation.gaps import gap_recall_at, two_scales
from haystack_integrations.crag.evaluation.intervals import rare_verdicts
from haystack_integrations.crag.evaluation.measures import certainty, filter_measures, judged, told
from haystack_integrations.crag.evaluation.probabilities import probability_measures
from haystack_integrations.crag.evaluation.risk import cost_curve, saved_at, saving
from haystack_integrations.crag.evaluation.table import (
    LABELS,
    Comparison,
    Interval,
    judgement,
    label_of,
    number,
    span,
    values,
    which_lists,
)
from haystack_integrations.crag.texts.steering import as_signs
from haystack_integrations.crag.vocabulary import JUDGED, MODE_OFF

_HEADLINE: Final = (
    "verdict.macro_f1",
    "first.macro_f1",
    "filter.f1",
    "strips.f1",
    "answer_support.after",
    "gaps.recall",
    "cost.llm_calls",
)
_BARS: Final = {
    "documents": ("filter.precision", "filter.recall", "filter.f1"),
    "strips": ("strips.precision", "strips.recall", "strips.f1", "strips.words_kept"),
    "support": ("answer_support.before", "answer_support.after", "answer_support.accidental"),
    "gaps": ("gaps.recall", "gaps.false_alarms"),
}
_GRADES: Final = {2: "answers", 1: "on topic", 0: "neither", None: "not labelled"}
_WORST: Final = 10
_ROWS_OF_CURVE: Final = 10


def html_report(
    result: Mapping[str, Any],
    records: Sequence[Record],
    *,
    intervals: Mapping[str, Interval | None] | None = None,
    calibration: Mapping[str, Any] | None = None,
    comparison: Comparison | None = None,
    compared_on: str | None = None,
) -> str:
    """
    Make the page.

    :param result: The result of an evaluation.
    :param records: Its records; one may have `snippets`, texts by document id, shown with the worst decisions.
    :param intervals: From `intervals.intervals`.
    :param calibration: What calibration found on questions held back, all keys optional: `held_out` (numbers, texts or
        `{"value", "low", "high"}` by name), `reliability` (see `probabilities.reliability_curve`), `cost_curve` (see
        `risk.cost_curve`; without it, the curve of the records is shown), `calls_saved` (see `risk.saved_at`) and
        `cascade` (see `cascades.cascade_figures`).
    :param comparison: From `intervals.paired`.
    :param compared_on: What the comparison is about; see `table.shared`.
    :returns: HTML.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=number, span=span)
    source = files(__package__).joinpath("report.html.j2").read_text(encoding="utf-8")
    known, bounds = dict(values(result)), intervals or {}
    page = environment.from_string(source).render(
        result=result,
        headline=[(label_of(name, result), known[name], bounds.get(name)) for name in _HEADLINE if name in known],
        which_lists=which_lists(result),
        rare=rare_verdicts(result["verdict"]["confusion"]),
        failed=[sum(record["error"] is not None for record in given) for given in (records, judged(records))],
        confusion=_confusion(result["verdict"]["confusion"]),
        unscored=_unscored(records),
        probabilities=_probabilities(probability_measures(records)),
        scores=_scores(records),
        cascade=_cascade(records, calibration or {}),
        bars={key: _bars(names, known, bounds) for key, names in _BARS.items()},
        answering=filter_measures(records, least=2),
        gap=_gap(records),
        calibration=_calibration(calibration or {}),
        measures=[
            (label_of(name, result), value, bounds.get(name), *_change(name, comparison or {}))
            for name, value in known.items()
        ],
        compared=comparison is not None,
        compared_on=compared_on,
        worst=[_decision(record) for record in worst(records)],
    )
    return as_signs(page)


def worst(records: Sequence[Record], most: int = _WORST) -> list[Record]:
    """
    Choose the worst decisions: furthest from the truth first, and of these the ones that were surest.

    :param records: One for each question.
    :param most: Most to choose.
    :returns: Wrong ones; failed questions come last.
    """

    def badness(record: Record) -> tuple[int, float]:
        verdict = told(record)
        if verdict not in JUDGED:
            return 0, 0.0
        return abs(JUDGED.index(verdict) - JUDGED.index(record["label"])), certainty(record)

    return sorted((one for one in judged(records) if told(one) != one["label"]), key=badness, reverse=True)[:most]


def _unscored(records: Sequence[Record]) -> str | None:
    """Say why there is no verdict to score; None where there is."""
    if judged(records):
        return None
    if any(record["rule"] == MODE_OFF for record in records):
        return "this pipeline judges nothing"
    return "no question counts, for want of a label or because the data marks it as not strict"


def _confusion(confusion: Mapping[str, Mapping[str, int]] | None) -> list[dict[str, Any]] | None:
    """Give each row its sum, and each cell its share of the row."""
    if confusion is None:
        return None
    rows = []
    for truth, row in confusion.items():
        total = sum(row.values())
        cells = [(name, count, count / total if total else 0.0) for name, count in row.items()]
        rows.append({"truth": truth, "n": total, "cells": cells})
    return rows


def _probabilities(measured: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if measured is None else {**measured, "picture": drawing.reliability(measured["curve"])}


def _scores(records: Sequence[Record]) -> dict[str, Any] | None:
    """Show the scores by true label."""
    scored = [record for record in judged(records) if record["score"] is not None]
    groups = {name: [record["score"] for record in scored if record["label"] == name] for name in JUDGED}
    picture = drawing.histograms(groups, "Scores by true label")
    return {"picture": picture, "rows": _spread(groups)} if scored else None


def _spread(groups: Mapping[str, Sequence[float]]) -> list[tuple[str, int, float | None, float | None, float | None]]:
    """Give number, lowest, median and highest score of each group."""
    return [
        (name, len(scores), *((min(scores), median(scores), max(scores)) if scores else (None, None, None)))
        for name, scores in groups.items()
    ]


def _cascade(records: Sequence[Record], calibration: Mapping[str, Any]) -> dict[str, Any] | None:
    """Show the calibration's cost curve, or that of the records with an LLM that is always right."""
    curve = calibration.get("cost_curve")
    held_out = bool(curve)
    if not curve:
        scored = judged(records)
        # Where a model was asked, or a rule spoke, nobody knows how sure of these the cheap judge was.
        if any(record["documents"] and record["probabilities"] is None for record in scored):
            return None
        sure = [record for record in scored if record["probabilities"] is not None]
        if not sure:
            return None
        truth, verdicts = [record["label"] for record in sure], [told(record) for record in sure]
        curve = cost_curve([certainty(record) for record in sure], truth, verdicts)
    near = (min(curve, key=lambda point: abs(point["share_sent"] - i / _ROWS_OF_CURVE)) for i in range(11))
    rows = {point["share_sent"]: point for point in near}  # several may lie nearest to the same point
    # A calibration's curve is thinned out for its file: what is saved was read from the whole one.
    saved = calibration.get("calls_saved") if held_out else None
    saved = saved_at(curve) if saved is None else saved
    shown = {"picture": drawing.cost(curve), "rows": list(rows.values()), "saved": saving(saved), "held_out": held_out}
    return {**shown, "shipped": "; ".join(in_words(calibration["cascade"])) if "cascade" in calibration else None}


def _bars(
    names: Sequence[str], known: Mapping[str, float], bounds: Mapping[str, Interval | None]
) -> dict[str, Any] | None:
    rows = [(LABELS[name].rpartition(": ")[2], known[name], bounds.get(name)) for name in names if name in known]
    title = LABELS[names[0]].partition(": ")[0]
    return {"picture": drawing.bars(rows, title), "rows": rows} if rows else None


def _gap(records: Sequence[Record]) -> dict[str, Any] | None:
    """Show the scores of lists with and without their evidence."""
    seen = [record["gap"] for record in records if record["gap"] is not None and record["gap"]["score"] is not None]
    groups = {name: [gap["score"] for gap in seen if gap["status"] == name] for name in ("gap", "covered")}
    if not any(groups.values()):
        return None
    if (reason := two_scales(records)) is not None:
        return {"picture": None, "reason": reason}
    picture = drawing.histograms(groups, "Scores with the evidence removed, and with it")
    return {"picture": picture, "rows": _spread(groups), "at_ten": gap_recall_at(records)}


def _calibration(calibration: Mapping[str, Any]) -> dict[str, Any] | None:
    """Write the figures of a calibration file as text."""
    if not calibration.get("held_out") and not calibration.get("reliability"):
        return None
    rows = []
    for name, value in (calibration.get("held_out") or {}).items():
        entry = value if isinstance(value, Mapping) else {"value": value}
        bounds = span(entry) if {"low", "high"} <= set(entry) else ""
        rows.append((str(name).replace("_", " "), _written(entry.get("value", "")), bounds))
    curve = calibration.get("reliability")
    picture: Markup | None = drawing.reliability(curve) if curve else None
    return {"rows": rows, "picture": picture, "curve": curve or []}


def _written(value: Any) -> str:
    return number(value) if isinstance(value, float) or value is None else str(value)


def _change(name: str, comparison: Comparison) -> tuple[Mapping[str, float] | None, str]:
    change = comparison.get(name)
    return (None, "") if change is None else (change, judgement(name, change))


def _decision(record: Record) -> dict[str, Any]:
    snippets = record.get("snippets") or {}
    documents = [
        {**document, "grade": _GRADES[document["label"]], "text": snippets.get(document["id"], "")}
        for document in record["documents"]
    ]
    return {**record, "told": told(record), "documents": documents}
