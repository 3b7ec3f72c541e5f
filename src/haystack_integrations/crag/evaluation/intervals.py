"""
How sure the numbers of an evaluation are: percentile bootstrap over questions, alone or between two evaluations.

What is redrawn is questions, or groups of them (all questions of one article): questions of one group go wrong
together, so drawing them one by one would claim more than is known. Where a measure saw no failure at all, a bootstrap
sees none either: an interval from 1 to 1 on ten questions says that the data is small, not that the measure is certain.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.evaluation.matching import matched
from haystack_integrations.crag.evaluation.measures import (
    RATIOS,
    TOLD,
    Floats,
    before_corrections,
    judged,
    tally,
    told,
)
from haystack_integrations.crag.vocabulary import JUDGED

Groups = Mapping[str, Hashable]

MEASURES: Final = ("verdict.accuracy", "verdict.macro_f1", "first.accuracy", "first.macro_f1", *RATIOS)
"""The measures that have an interval: keys of the result, joined by a point."""

ENOUGH_OF_A_VERDICT: Final = 8
"""Questions of a true verdict from which on the interval of macro-F1 may be relied on."""

_CELLS: Final = len(JUDGED) * len(TOLD)
LEVEL: Final = 0.95
"""How sure an interval is: of the bootstrap the share of the draws inside it."""


def intervals(
    records: Sequence[Record],
    *,
    groups: Groups | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> dict[str, dict[str, float] | None]:
    """
    Give the interval of every measure of the result.

    :param records: One for each question.
    :param groups: A group by question id; questions of one group are drawn together. One that is not named is alone.
    :param draws: How often the questions are redrawn.
    :param seed: Seed of the draws.
    :returns: `{"low", "high"}` by measure; None where the measure does not apply.
    """
    sums = _sums(records)
    redrawn, point = _values(_times(records, groups, draws, seed) @ sums), _values(sums.sum(axis=0))
    known = [name for name in MEASURES if not np.isnan(point[name]) and _applies(name, records)]
    return {name: _bounds(redrawn[name]) if name in known else None for name in MEASURES}


def rare_verdicts(confusion: Mapping[str, Mapping[str, int]] | None) -> str | None:
    """
    Say which verdicts are right for so few questions that the interval of macro-F1 promises too much, and which for
    none: told of one question, such a verdict takes a third of macro-F1.

    A handful of questions, redrawn, is too much alike. Simulated, with 2 or 3 questions of a verdict among 80 or 200
    the interval held the macro-F1 of all such questions in 77 to 88 of 100 cases, with 8 to 15 in 93 to 95.

    :param confusion: From `verdict_measures`.
    :returns: The sentences; None where each verdict that is true or told has enough of them.
    """
    numbers = {name: sum(row.values()) for name, row in (confusion or {}).items()}
    rare = [f"{number} {name}" for name, number in numbers.items() if 0 < number < ENOUGH_OF_A_VERDICT]
    said = [
        f"no question is {name}, and {told} were told so: it counts in macro-F1 as a verdict that is never right"
        for name, number in numbers.items()
        if not number and (told := sum(row.get(name, 0) for row in (confusion or {}).values()))
    ]
    if rare:
        said.append(
            f"few questions of a verdict ({', '.join(rare)}): it counts in macro-F1 as much as the others, and the "
            f"interval is too narrow with fewer than {ENOUGH_OF_A_VERDICT}"
        )
    return "; ".join(said) or None


def paired(
    records: Sequence[Record],
    base: Sequence[Record],
    *,
    groups: Groups | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> dict[str, dict[str, float] | None]:
    """
    Compare two evaluations of the same questions: both are redrawn alike, so what is hard for both cancels out.

    :param records: The evaluation.
    :param base: The one to compare with; matched by question id.
    :param groups: A group by question id; questions of one group are drawn together.
    :param draws: How often the questions are redrawn.
    :param seed: Seed of the draws.
    :returns: By measure `{"value", "base", "difference", "low", "high"}`; None where it does not apply to both.
    :raises ConfigurationError: When the two are not of the same questions.
    """
    times = _times(records, groups, draws, seed)
    sums, other = _sums(records), _sums(matched(records, base))
    point, reference = _values(sums.sum(axis=0)), _values(other.sum(axis=0))
    redrawn, against = _values(times @ sums), _values(times @ other)
    compared: dict[str, dict[str, float] | None] = {}
    for name in MEASURES:
        difference = float(point[name] - reference[name])
        numbers = {"value": float(point[name]), "base": float(reference[name]), "difference": difference}
        known = not np.isnan(difference) and _applies(name, [*records, *base])
        bounds = _bounds(redrawn[name] - against[name]) if known else None
        compared[name] = None if bounds is None else {**numbers, **bounds}
    return compared


def _applies(name: str, records: Sequence[Record]) -> bool:
    """Tell whether a measure is of another list than the verdict: of fixed lists there is no other."""
    return not name.startswith("first.") or any(record.get("first") for record in records)


def _sums(records: Sequence[Record]) -> Floats:
    """Give what each question adds to each sum: the cells of both confusions, then the names of `tally`."""
    table = np.zeros((len(records), _BEFORE + len(_NAMES)))
    for row, record in zip(table, records, strict=True):
        for name, count in tally(record).items():
            row[_POSITION[name]] = count
        for start, one in ((0, record), (_CELLS, before_corrections(record))):
            if judged([one]):
                row[start + JUDGED.index(one["label"]) * len(TOLD) + TOLD.index(told(one))] = 1
    return table


_NAMES: Final = tuple(dict.fromkeys(name for sides in RATIOS.values() for side in sides for name in side))
_BEFORE: Final = 2 * _CELLS  # the verdict on the last list of a run, and that on its first
_POSITION: Final = {name: _BEFORE + i for i, name in enumerate(_NAMES)}


def _values(sums: Floats) -> dict[str, Floats]:
    """Give each measure for sums of shape (..., sums); nan where it does not apply."""
    found = {}
    for which, start in (("verdict", 0), ("first", _CELLS)):
        confusion = sums[..., start : start + _CELLS].reshape(*sums.shape[:-1], len(JUDGED), len(TOLD))
        hits = np.trace(confusion, axis1=-2, axis2=-1)
        found[f"{which}.accuracy"] = divide(hits, confusion.sum(axis=(-2, -1)))
        found[f"{which}.macro_f1"] = macro_f1(confusion)
    for name, (above, below) in RATIOS.items():
        parts = [sums[..., [_POSITION[one] for one in side]].sum(axis=-1) for side in (above, below)]
        found[name] = divide(parts[0], parts[1])
    return found


def macro_f1(confusion: Floats) -> Floats:
    """
    Give the macro-F1 of many confusions at once, over the classes that are true or told of some question.

    :param confusion: Of shape (..., truth, told); the columns of the truth's classes come first.
    :returns: Of shape (...); nan for a confusion without questions.
    """
    truth = confusion.sum(axis=-1)
    columns = confusion.sum(axis=-2)[..., : truth.shape[-1]]
    hits = np.diagonal(confusion, axis1=-2, axis2=-1)
    present = truth + columns > 0
    each = np.where(present, divide(2 * hits, truth + columns), 0)
    return divide(each.sum(axis=-1), present.astype(float).sum(axis=-1))


def divide(above: Floats, below: Floats) -> Floats:
    """
    Divide where there is something to divide by.

    :param above: Above the line.
    :param below: Below the line.
    :returns: The ratios; nan where the lower number is 0.
    """
    ratios: Floats = np.divide(above, below, out=np.full(np.shape(below), np.nan), where=np.asarray(below) > 0)
    return ratios


def sources_of(records: Sequence[Record], groups: Groups | None) -> list[tuple[str, Hashable]]:
    """
    Name the source of each question.

    :param records: One for each question.
    :param groups: A group by question id; one that is not named is a source of its own.
    :returns: Equal for questions of one group.
    """
    named = groups or {}
    return [("group", named[one["id"]]) if one["id"] in named else ("id", one["id"]) for one in records]


def _times(records: Sequence[Record], groups: Groups | None, draws: int, seed: int) -> Floats:
    """Say how often each draw holds each question: as often as its group was drawn."""
    keys = sources_of(records, groups)
    # By name, so that the order of the questions, which says nothing, changes no interval.
    position = {key: i for i, key in enumerate(sorted(set(keys), key=repr))}
    count = len(position)
    if not count or (count == 1 and len(keys) > 1):  # of one source every draw is the same, which is no certainty
        return np.zeros((draws, len(keys)))
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=draws)
    return drawn[:, [position[key] for key in keys]].astype(float)


def _bounds(values: Any) -> dict[str, float] | None:
    """Cut off both ends; draws to which the measure does not apply say nothing."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"low": float(low), "high": float(high)}
