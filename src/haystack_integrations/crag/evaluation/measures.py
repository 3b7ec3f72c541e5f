"""
The numbers of an evaluation, made from its records; what does not apply is None, never 0.

All but the verdict's are ratios of sums over questions (micro averages): a question with ten labelled documents counts
ten times in `filter`, one without labelled sentences not at all in `strips`. That is also what makes intervals cheap:
a redrawn set of questions only needs new sums (`intervals`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.vocabulary import COSTS, JUDGED, MODE_OFF

Floats = NDArray[np.float64]

UNGRADED: Final = "ungraded"  # what a question without a verdict counts as: always wrong
TOLD: Final = (*JUDGED, UNGRADED)

RATIOS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "filter.precision": (("filter.hits",), ("filter.kept",)),
    "filter.recall": (("filter.hits",), ("filter.gold",)),
    "filter.f1": (("filter.hits", "filter.hits"), ("filter.kept", "filter.gold")),
    "strips.precision": (("strips.hits",), ("strips.kept",)),
    "strips.recall": (("strips.hits",), ("strips.gold",)),
    "strips.f1": (("strips.hits", "strips.hits"), ("strips.kept", "strips.gold")),
    "strips.words_kept": (("strips.words_kept",), ("strips.words_in",)),
    "answer_support.before": (("support.before",), ("support.n",)),
    "answer_support.after": (("support.after",), ("support.n",)),
    "answer_support.accidental": (("accidental.found",), ("accidental.n",)),
    "gaps.recall": (("gap.noticed",), ("gap.n",)),
    "gaps.false_alarms": (("covered.refused",), ("covered.n",)),
    **{f"cost.{name}": ((f"cost.{name}",), (f"cost.{name}.n",)) for name in COSTS},
}
"""Each measure as sums over questions (see `tally`): those above, and those below the line."""


def summarise(
    records: Sequence[Record], *, dataset: str, split: str, pipeline: str | None, grader: str | None, lists: str
) -> dict[str, Any]:
    """
    Make the result of an evaluation: the JSON of `crag eval`.

    `verdict` leaves out questions without a label and those marked `strict: false`; its macro-F1 is over the classes
    that are true or told of some question. `filter` asks which of each list's first documents (`of_first`: how many
    at most; of live lists all) were kept, against label 1 or 2. `gaps.recall` is the share of gap lists called anything
    but correct, `gaps.false_alarms` that of covered lists. `cost` holds means per question. Of live lists, all are
    about the last list of a run; `first` is the verdict on its first one.

    :param records: One for each question.
    :param dataset: Name of the data.
    :param split: Name of the split.
    :param pipeline: Name of the pipeline, or None.
    :param grader: Name of the grader, or None.
    :param lists: `fixed` or `live`.
    :returns: The result.
    """
    sums: dict[str, float] = {}
    for record in records:
        for name, count in tally(record).items():
            sums[name] = sums.get(name, 0) + count
    groups: dict[str, dict[str, float | None]] = {}
    for measure, (above, below) in RATIOS.items():
        group, _, name = measure.partition(".")
        groups.setdefault(group, {})[name] = _ratio(sums, above, below)
    groups["filter"]["of_first"] = max((len(record["documents"]) for record in records), default=0) or None
    names = {"dataset": dataset, "split": split, "pipeline": pipeline, "grader": grader, "lists": lists}
    verdict, first = verdict_measures(records), _first_measures(records)
    return {**names, "n": len(records), "verdict": verdict, **groups, "first": first}


def tally(record: Record, least: int = 1) -> dict[str, float]:
    """
    Count what one question adds to the sums; what it has no labels for is left out.

    :param record: The question.
    :param least: The label from which a document should be kept: 1 on topic, 2 answers.
    :returns: Counts by the names in `RATIOS`.
    """
    counts: dict[str, float] = {}
    labelled = [one for one in record["documents"] if one["label"] is not None]
    if labelled:
        gold = [one["label"] >= least for one in labelled]
        kept = [bool(one["kept"]) for one in labelled]
        hits = sum(wanted and taken for wanted, taken in zip(gold, kept, strict=True))
        counts |= {"filter.hits": hits, "filter.kept": sum(kept), "filter.gold": sum(gold)}
    if record["strips"] is not None:
        counts |= {f"strips.{name}": count for name, count in record["strips"].items()}
    if record["support"] is not None:
        counts |= {"support.n": 1, **{f"support.{when}": bool(found) for when, found in record["support"].items()}}
    counts |= {} if record["rule"] == MODE_OFF else _gap_counts(record["gap"])
    for name in COSTS:
        if record["cost"] is not None and record["cost"][name] is not None:
            counts |= {f"cost.{name}": record["cost"][name], f"cost.{name}.n": 1}
    return counts


def _gap_counts(gap: Record | None) -> dict[str, float]:
    """Count a list with evidence removed; `partial` and `no_gold` are neither gap nor covered."""
    if gap is None or gap["status"] not in ("gap", "covered"):
        return {}
    refused = gap["verdict"] != "correct"
    if gap["status"] == "covered":
        return {"covered.n": 1, "covered.refused": refused}
    counts: dict[str, float] = {"gap.n": 1, "gap.noticed": refused}
    return counts if gap["accidental"] is None else counts | {"accidental.n": 1, "accidental.found": gap["accidental"]}


def _ratio(sums: Mapping[str, float], above: Sequence[str], below: Sequence[str]) -> float | None:
    total = sum(sums.get(name, 0) for name in below)
    return sum(sums.get(name, 0) for name in above) / total if total else None


def filter_measures(records: Sequence[Record], least: int = 1) -> dict[str, float | None]:
    """
    Compare the kept documents with the labelled ones.

    :param records: One for each question.
    :param least: The label from which a document should be kept: 1 on topic, 2 answers.
    :returns: Precision, recall and F1 over all documents.
    """
    counted = [tally(record, least) for record in records]
    sums = {name: sum(one.get(name, 0) for one in counted) for name in ("filter.hits", "filter.kept", "filter.gold")}
    return {name: _ratio(sums, *RATIOS[f"filter.{name}"]) for name in ("precision", "recall", "f1")}


def judged(records: Sequence[Record]) -> list[Record]:
    """
    Choose the questions that the verdict is scored on.

    :param records: One for each question.
    :returns: Those with a label, but for the ones marked `strict: false`, and those of a pipeline that judges nothing.
    """
    return [one for one in records if one["label"] is not None and one["strict"] and one["rule"] != MODE_OFF]


def told(record: Record) -> str:
    """
    Say what the verdict of a question counts as.

    :param record: The question.
    :returns: A class, or `ungraded` when there was an error or no verdict.
    """
    verdict = record["verdict"]
    return verdict if record["error"] is None and verdict in JUDGED else UNGRADED


def certainty(record: Record) -> float:
    """
    Say how sure a judge is of the verdict it told, by which a cascade decides whether to ask a model.

    :param record: A question.
    :returns: The probability of that verdict, which need not be the likeliest one; 0 where there is none.
    """
    return float((record["probabilities"] or {}).get(told(record), 0.0))


def verdict_measures(records: Sequence[Record]) -> dict[str, Any]:
    """
    Score the three-way verdict.

    :param records: One for each question.
    :returns: Accuracy, macro-F1 over the classes that are true or told of some question, and the confusion: truth →
        told → number; null without labels, and for what judges nothing.
    """
    scored = judged(records)
    if not scored:
        return {"accuracy": None, "macro_f1": None, "confusion": None}
    truth, verdicts = [record["label"] for record in scored], [told(record) for record in scored]
    present = [name for name in JUDGED if name in truth or name in verdicts]
    counts = confusion_matrix(truth, verdicts, labels=TOLD)
    columns = TOLD if UNGRADED in verdicts else JUDGED
    table = {row: dict(zip(columns, map(int, line), strict=False)) for row, line in zip(JUDGED, counts, strict=False)}
    return {
        "accuracy": float(accuracy_score(truth, verdicts)),
        "macro_f1": float(f1_score(truth, verdicts, labels=present, average="macro", zero_division=0)),
        "confusion": table,
    }


def before_corrections(record: Record) -> Record:
    """
    Take a question for what its run looked like before corrections.

    :param record: The question.
    :returns: It with verdict and label of its first list; a fixed list is the first and only one.
    """
    return {**record, **(record.get("first") or {})}


def _first_measures(records: Sequence[Record]) -> dict[str, Any] | None:
    """Score the verdict on the first list of each run, whose truth no correction has changed; None for fixed lists."""
    if not (live := [record for record in records if record.get("first")]):
        return None
    changed = sum(record["first"]["label"] != record["label"] for record in live)
    return {**verdict_measures([before_corrections(record) for record in live]), "truth_changed": changed}


def whole_result(
    result: Mapping[str, Any],
    gap: Mapping[str, float | None] | None,
    *,
    intervals: Mapping[str, Mapping[str, float] | None],
    comparison: Mapping[str, Mapping[str, float] | None] | None,
    compared_on: str | None,
) -> dict[str, Any]:
    """
    Put together what a program reads; a key without a value is null, and never left out.

    :param result: From `measures.summarise`.
    :param gap: From `gaps.gap_recall_at`.
    :param intervals: From `intervals.intervals`.
    :param comparison: From `intervals.paired`; None where nothing is compared.
    :param compared_on: On how many questions; see `table.shared`.
    :returns: Plain JSON. A threshold that no number can be (grading failed for the lists at it) is null.
    """
    if gap is not None and not math.isfinite(gap["threshold"] or 0.0):
        gap = {**gap, "threshold": None}
    against = None if comparison is None else {"about": compared_on, "measures": comparison}
    return {**result, "gaps_at_10_percent": gap, "intervals": intervals, "comparison": against}
