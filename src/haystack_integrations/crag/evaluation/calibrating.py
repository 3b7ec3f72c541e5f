"""Calibrate a judgement on labelled questions: fit, say how it does on questions it has not seen, or refuse."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from haystack_integrations.crag.encoding.encoders import load_encoder, model_name
from haystack_integrations.crag.errors import CalibrationError, ConfigurationError
from haystack_integrations.crag.evaluation.cases import Dataset, Progress, RankedList, Record
from haystack_integrations.crag.evaluation.fitting import fit
from haystack_integrations.crag.evaluation.groups import group_numbers, grouping
from haystack_integrations.crag.evaluation.holding_out import figures, held_out
from haystack_integrations.crag.evaluation.labelled import LabelledList, Prepared, prepare
from haystack_integrations.crag.evaluation.limits import UnreachableLimitError, check_limit, threshold_for
from haystack_integrations.crag.evaluation.strip_fitting import LEAST_QUESTIONS, fit_strips
from haystack_integrations.crag.evaluation.strip_lists import strip_lists
from haystack_integrations.crag.evaluation.training import (
    check_enough,
    check_leaks,
    corpus_statistics,
    gap_lists,
    labelled_lists,
)
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.reading import Reader
from haystack_integrations.crag.whole_file import write_or_refuse

_STEPS: Final = 4
_MOST_READINGS: Final = 50_000


@dataclass(frozen=True)
class Calibrated:
    """
    What came of a calibration.

    :param calibration: The judgement, fitted on all questions.
    :param strips: The sentence model, as `StripRefiner(scorer="calibrated")` reads it; None without labelled sentences.
    :param figures: What it does on held-out questions; see `holding_out.figures`.
    :param records: The held-out records.
    """

    calibration: Calibration
    strips: dict[str, Any] | None
    figures: dict[str, Any]
    records: list[Record]

    def to_dict(self) -> dict[str, Any]:
        """Give the content of the calibration file."""
        content = self.calibration.to_dict()
        return content if self.strips is None else {**content, "strips": self.strips}


def calibrate(
    dataset: Dataset,
    ranked: Mapping[str, RankedList],
    *,
    retrievers: Sequence[str] = (),
    most_wrong: float | None = None,
    model: str | None = None,
    judges_whole: bool = False,
    progress: Progress | None = None,
) -> Calibrated:
    """
    Calibrate on a data set.

    :param dataset: The labelled questions.
    :param ranked: The list of each question, by id: the one that comes with the data, or a pipeline's own.
    :param retrievers: Names of the retrievers that made the lists, where they are known.
    :param most_wrong: The largest share of wrong `generate` decisions, for which the threshold is then chosen.
    :param model: Folder of the model whose vectors tell what is alike; None for the one in this package.
    :param judges_whole: Whether figures and threshold are of whole lists, or of their first five documents.
    :param progress: Told of each step.
    :returns: The calibration with its held-out figures.
    :raises CalibrationError: When there are too few questions, too few of a verdict, questions that stand in another
        split too, or nothing in the data that separates the verdicts.
    :raises UnreachableLimitError: When no threshold keeps `most_wrong`; what was fitted without it is its `calibrated`.
    """
    tell = progress or _nobody
    check_leaks(dataset)
    dataset = with_lists(dataset, ranked)
    lists = labelled_lists(dataset, ranked, judges_whole=judges_whole)
    check_enough(lists)
    check_limit(most_wrong, [each.verdict for each in lists])
    tell(0, _STEPS, "reading")
    prepared, gaps = prepared_of(dataset, lists, model)
    tell(1, _STEPS, "judging what each fold has not seen")
    records, folds = held_out(prepared, gaps, os.cpu_count() or 1)
    apart = grouping(dataset)
    found = figures(records, folds, apart.numbers, () if most_wrong is None else (most_wrong,))
    found["folds_share_no"] = apart.shared
    check_separable(found)
    tell(2, _STEPS, "fitting on all questions")
    calibration = fit(prepared, _notes(dataset, prepared, found))
    limit, refusal = None, None
    try:
        limit = None if most_wrong is None else threshold_for(records, most_wrong)
    except UnreachableLimitError as error:  # told at the end: what takes minutes to fit is not lost for that
        refusal = error
    calibration = replace(calibration, correct_from=limit, retrievers=tuple(retrievers), encoder=model_name(model))
    calibration = Calibration.from_dict(calibration.to_dict())  # as rounded as its file, so that both say the same
    tell(3, _STEPS, "fitting the sentence model")
    strips = _strips(dataset)
    tell(4, _STEPS, "done")
    calibrated = Calibrated(calibration, strips, found, records)
    if refusal is not None:
        refusal.calibrated = calibrated
        raise refusal
    return calibrated


def with_lists(dataset: Dataset, ranked: Mapping[str, RankedList]) -> Dataset:
    """
    Put lists in the place of those of the data; what was removed from other lists then tells nothing of these.

    :param dataset: The data set.
    :param ranked: The list of each question, by id.
    :returns: The data set with these lists.
    """
    cases = []
    for case in dataset.cases:
        found = ranked.get(case.id)
        cases.append(case if found == case.fixed else replace(case, fixed=found, gap=None))
    return replace(dataset, cases=tuple(cases))


def _nobody(_done: int, _total: int | None, _note: str) -> None:
    """Tell nobody."""


def _strips(dataset: Dataset) -> dict[str, Any] | None:
    """Fit the sentence model, where sentences are labelled and some of them were retrieved."""
    numbers, dataset = group_numbers(dataset), replace(dataset, cases=tuple(dataset.ordered))
    lists = strip_lists(dataset, [numbers[case.id] for case in dataset.cases])
    if len(lists) < LEAST_QUESTIONS:
        return None
    try:
        return fit_strips(lists, {"dataset": dataset.name, "split": dataset.split, "questions": len(lists)})
    except ConfigurationError:  # none of them was retrieved, or all are of one source: nothing to learn from
        return None


def prepared_of(
    dataset: Dataset, lists: Sequence[LabelledList], model: str | None = None
) -> tuple[list[Prepared], dict[str, Prepared]]:
    """
    Read and measure the lists of a data set.

    :param dataset: The data set.
    :param lists: Its labelled lists.
    :param model: As for `calibrate`.
    :returns: The labelled lists, and by question id those from which the evidence was removed.
    """
    frequencies = corpus_statistics(dataset).counts
    reader = Reader(load_encoder(model), most=_MOST_READINGS)
    gaps = {each.source.id: each for each in prepare(gap_lists(dataset), reader, frequencies)}
    return prepare(lists, reader, frequencies), gaps


def check_separable(found: Mapping[str, Any]) -> None:
    """
    Refuse a judgement that is no better than the most frequent verdict, or than guessing.

    :param found: Held-out figures.
    :raises CalibrationError: With both figures.
    """
    bounds, confusion = found["intervals"]["verdict.macro_f1"], found["verdict"]["confusion"]
    trivial = without_looking(confusion)
    if bounds is not None and bounds["low"] <= trivial:  # three times as many more would halve the interval
        reached = found["verdict"]["macro_f1"]
        msg = (
            f"these {found['n']} questions do not separate: held out, the verdicts reach a macro-F1 of {reached:.2f} "
            f"({bounds['low']:.2f} to {bounds['high']:.2f}), and without a look at the documents one reaches "
            f"{trivial:.2f}. Check the labels, or label about {3 * found['n']} more; until then use HeuristicGrader "
            f"without a calibration"
        )
        raise CalibrationError(msg)


def without_looking(confusion: Mapping[str, Mapping[str, int]]) -> float:
    """
    Say which macro-F1 one reaches without a look at the documents.

    :param confusion: Told verdicts by true verdict.
    :returns: That of always saying the most frequent verdict, or of drawing verdicts as often as they were told,
        whichever is higher.
    """
    true = {name: sum(row.values()) for name, row in confusion.items() if any(row.values())}
    told = {name: sum(row.get(name, 0) for row in confusion.values()) for name in true}
    total, most = sum(true.values()), max(true.values())
    guessed = sum(2 * true[name] * told[name] / total / (true[name] + told[name]) for name in true)
    return max(2 * most / (most + total), guessed) / len(true)


def _notes(dataset: Dataset, lists: Sequence[Prepared], found: Mapping[str, Any]) -> dict[str, Any]:
    """Write down where the calibration comes from, and what it may claim: of lists of so many documents."""
    judged = [each.source for each in lists if each.source.verdict is not None]
    labels = dict(sorted(Counter(source.verdict for source in judged).items()))
    most = max(len(source.texts) for source in judged)
    data = {"dataset": dataset.name, "split": dataset.split}
    trained_on = {**data, "questions": len(judged), "labels": labels, "documents": most}
    return {"trained_on": trained_on, "held_out": dict(found)}


def write(calibrated: Calibrated, file: Path) -> None:
    """
    Write a calibration file, whole or not at all.

    :param calibrated: What was calibrated.
    :param file: Where to.
    :raises ConfigurationError: When it cannot be written.
    """
    write_or_refuse(file, orjson.dumps(calibrated.to_dict(), option=orjson.OPT_INDENT_2) + b"\n")
