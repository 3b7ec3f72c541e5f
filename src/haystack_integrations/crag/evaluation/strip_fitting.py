"""
Fit the sentence model of StripRefiner on labelled lists, with figures on questions that it has not seen.

Two stages: each strip by itself, and each again in its company, by what the first stage says of strips that it has not
seen. A strip is a positive where it overlaps a labelled sentence. Only questions with labelled sentences count, so a
probability says how likely a strip belongs to the evidence of a question that has some.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.regressions import fit_head, one_thread, splits
from haystack_integrations.crag.evaluation.strip_lists import Kept, Measured, StripList, count_kept, measured
from haystack_integrations.crag.judging.heads import Head, Values
from haystack_integrations.crag.refining.company import COMPANY, company
from haystack_integrations.crag.refining.model import StripModel, enough
from haystack_integrations.crag.refining.signals import SIGNALS

LEAST_QUESTIONS: Final = 20
"""With fewer questions that have labelled sentences nothing is fitted."""

LEAST_SOURCES: Final = 3
"""One to judge, and two for the first stage to be fitted on one and say of the other what the second is fitted on."""

# Inverse strength of the regularisation; three times less costs nothing, ten times less a hundredth of F1.
_C: Final = 0.1
_LINES: Final = np.round(np.arange(0.02, 0.98, 0.02), 2)
_SMOOTHED: Final = 5
_SHARES: Final = (0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.98, 0.99)


def fit_strips(lists: Sequence[StripList], notes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """
    Fit the sentence model.

    :param lists: Lists of questions with labelled sentences.
    :param notes: What the file shall tell besides.
    :returns: The part `strips` of a calibration file: coefficients, threshold, `held_out` measures at a threshold that
        was chosen without them, and `shares`: what keeping each share of the evidence expected keeps.
    :raises ConfigurationError: When there are too few questions, or no labelled sentence was retrieved.
    """
    with one_thread():
        return fit_measured([measured(each) for each in lists], notes)


def fit_measured(lists: Sequence[Measured], notes: Mapping[str, Any] | None = None, c: float = _C) -> dict[str, Any]:
    """
    Fit the sentence model on lists that are measured already; see `fit_strips`.

    :param lists: Measured lists.
    :param notes: What the file shall tell besides.
    :param c: Inverse strength of the regularisation.
    :returns: As `fit_strips`.
    :raises ConfigurationError: As `fit_strips`.
    """
    if len(lists) < LEAST_QUESTIONS or not any(each.evidence.any() for each in lists):
        found = sum(bool(each.evidence.any()) for each in lists)
        msg = (
            f"a sentence model needs at least {LEAST_QUESTIONS} questions with gold_sentences, some of them retrieved, "
            f"but got {len(lists)} and {found} of them with a labelled sentence in its list; label more sentences"
        )
        raise ConfigurationError(msg)
    sources = len({each.group for each in lists})
    if sources < LEAST_SOURCES:
        msg = (
            f"the questions with gold_sentences are about {sources} source{'s' if sources > 1 else ''}, but at least "
            f"{LEAST_SOURCES} are needed to hold some out; label sentences of others, too"
        )
        raise ConfigurationError(msg)
    alone, among = _held_out(lists, c)
    threshold = best_threshold(lists, alone)
    kept, shares = _at_unseen_thresholds(lists, alone), []
    for share in _SHARES:
        chosen = sum((count_kept(each, _chosen(each, p, share)) for each, p in zip(lists, among, strict=True)), Kept())
        shares.append({"share": share, **{n: chosen.measures()[n] for n in ("recall_of_found", "words_kept")}})
    held = {"questions": len(lists), **kept.measures()}
    told = {**(notes or {}), "held_out": held, "shares": shares}
    return StripModel(_first(lists, c), _second(lists, alone, c), threshold, told).to_dict()


def kept_above(lists: Sequence[Measured], said: Sequence[Values], threshold: float) -> Kept:
    """
    Count what a threshold keeps; where no strip passes, the best one is kept.

    :param lists: Measured lists.
    :param said: The probabilities of their strips.
    :param threshold: The threshold.
    :returns: What is kept.
    """
    total = Kept()
    for each, probabilities in zip(lists, said, strict=True):
        is_kept = probabilities > threshold
        if len(is_kept) and not is_kept.any():
            is_kept[probabilities.argmax()] = True
        total += count_kept(each, is_kept)
    return total


def best_threshold(lists: Sequence[Measured], said: Sequence[Values]) -> float:
    """
    Find the threshold with the best micro-F1, smoothed: a single peak is chance.

    :param lists: Measured lists.
    :param said: Probabilities that were told without knowing their labels.
    :returns: The threshold.
    """
    scores = np.array([kept_above(lists, said, float(line)).measures()["f1"] for line in _LINES])
    padded = np.pad(scores, _SMOOTHED // 2, mode="edge")
    return float(_LINES[int(np.convolve(padded, np.ones(_SMOOTHED) / _SMOOTHED, "valid").argmax())])


def _first(lists: Sequence[Measured], c: float) -> Head:
    """Fit the stage that judges each strip alone."""
    table, labels = np.concatenate([each.table for each in lists]), np.concatenate([each.evidence for each in lists])
    return fit_head(SIGNALS, table, labels, c)


def _second(lists: Sequence[Measured], alone: Sequence[Values], c: float) -> Head:
    """Fit the stage that judges strips in company, on what first stages say that have not seen a list's group."""
    table = np.concatenate([company(said, each.documents) for each, said in zip(lists, alone, strict=True)])
    return fit_head(COMPANY, table, np.concatenate([each.evidence for each in lists]), c)


def _held_out_alone(lists: Sequence[Measured], c: float) -> list[Values]:
    """Let first stages that have not seen a list's group judge it."""
    said: dict[int, Values] = {}
    for train, test in splits(np.array([each.group for each in lists])):
        head = _first([lists[k] for k in train], c)
        said.update({int(k): head.of_rows(lists[k].table) for k in test})
    return [said[k] for k in range(len(lists))]


def _held_out(lists: Sequence[Measured], c: float) -> tuple[list[Values], list[Values]]:
    """Let models that have not seen a list's group judge it: each strip alone, and in its company."""
    alone: dict[int, Values] = {}
    among: dict[int, Values] = {}
    for train, test in splits(np.array([each.group for each in lists])):
        own = [lists[k] for k in train]
        head, second = _first(own, c), _second(own, _held_out_alone(own, c), c)
        for k in map(int, test):
            alone[k] = head.of_rows(lists[k].table)
            among[k] = second.of_rows(company(alone[k], lists[k].documents))
    return [alone[k] for k in range(len(lists))], [among[k] for k in range(len(lists))]


def _at_unseen_thresholds(lists: Sequence[Measured], said: Sequence[Values]) -> Kept:
    """Count what is kept when each fold's threshold comes from the other folds."""
    total = Kept()
    for train, test in splits(np.array([each.group for each in lists])):
        threshold = best_threshold([lists[k] for k in train], [said[k] for k in train])
        total += kept_above([lists[k] for k in test], [said[k] for k in test], threshold)
    return total


def _chosen(each: Measured, probabilities: Values, share: float) -> NDArray[np.bool_]:
    numbers = enough(dict(enumerate(probabilities.tolist())), each.strips, share)
    return np.isin(np.arange(len(probabilities)), numbers)
