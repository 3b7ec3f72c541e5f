"""
Which threshold keeps wrong `generate` decisions rare, and what a cascade saves.

The risk is a share *among the decisions to generate*: of the questions that are answered as they are, how many rest on
evidence that does not answer. Conformal risk control (Angelopoulos et al. 2022, arXiv 2208.02814) needs a loss that
only grows when the threshold falls. The share of all questions ("wrong and generated") does; the share among the
generated does not, so its lowest threshold below the limit would promise too much. What is done instead stands in
`control_wrong_generate`.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, t

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.intervals import LEVEL, macro_f1
from haystack_integrations.crag.evaluation.measures import TOLD, Floats
from haystack_integrations.crag.vocabulary import JUDGED

_EPSILON: Final = 1e-12


@dataclass(frozen=True)
class RiskThreshold:
    """
    What calibration found for a largest share of wrong `generate` decisions.

    :param threshold: Generate from this score on; None when no threshold keeps the limit.
    :param generated: The share of the calibration questions at or above it; 0 without a threshold.
    :param reachable: The smallest limit for which these questions have a threshold.
    """

    threshold: float | None
    generated: float
    reachable: float

    @property
    def least(self) -> float | None:
        """Generate from this probability on: 0 where all questions keep the limit, also for one below all of them."""
        return 0.0 if self.generated == 1.0 else self.threshold


def control_wrong_generate(scores: ArrayLike, answers: ArrayLike, most: float) -> RiskThreshold:
    """
    Choose the lowest threshold with which at most a share of the `generate` decisions rests on no answering evidence.

    From a threshold on, W of G calibration questions are wrong, of n in all: the lowest one with
    (W + 1) / (n + 1) <= most * G / n is taken. The added one is the new question, taken for wrong.

    What is guaranteed: a share *on average*. Over calibration sets, and new questions exchangeable with them, the
    expected ratio of wrong generated new questions to generated questions is at most `most`; a calibration set without
    threshold generates nothing and counts as 0. Why, though the share is not monotone: as the threshold rises from the
    lowest score, V / (W + 1), with V the wrong ones still above it among m new questions, is a supermartingale that
    starts at no more than m / (n + 1) on average; the rule stops it at a time that looks at calibration questions
    only, and there W + 1 <= most * G * (n + 1) / n. It is the argument of conformal selection (Jin and Candes 2023,
    arXiv 2210.01408). The theorem counts the generated among the calibration questions; that the share among the new
    ones keeps the limit too is what the simulation in the tests shows.

    What is not: that this one calibration set keeps it, nor that those with a threshold do on average. Where all have
    one, about every second is a little above the limit; where one in five has, as the scores hardly separate, these
    may let twice as many wrong ones through. `realised` on questions held back, with its interval, tells.

    :param scores: Of each calibration question: how sure one is that its evidence answers.
    :param answers: Whether it does.
    :param most: The largest share, between 0 and 1.
    :returns: The threshold, and what it does on the calibration questions; or that there is none.
    :raises ConfigurationError: For unusable scores or an unusable share.
    """
    values, right = _pairs(scores, answers)
    if not 0 < most < 1:
        msg = f"the largest share of wrong answers must be between 0 and 1, but got {most}; give for example 0.1"
        raise ConfigurationError(msg)
    order = np.argsort(-values, kind="stable")
    last_of_ties = np.flatnonzero(np.diff(values[order], append=-np.inf))
    wrong, generated = np.cumsum(~right[order])[last_of_ties], last_of_ties + 1
    bounds = (wrong + 1) / (len(values) + 1) * len(values) / generated
    kept, reachable = np.flatnonzero(bounds <= most + _EPSILON), float(bounds.min())
    if not len(kept):
        return RiskThreshold(None, 0.0, reachable)
    lowest = kept[-1]
    share = float(generated[lowest] / len(values))
    return RiskThreshold(float(values[order][last_of_ties[lowest]]), share, reachable)


def realised(
    scores: ArrayLike,
    answers: ArrayLike,
    threshold: float | None,
    groups: Sequence[Hashable] | None = None,
) -> dict[str, float | int | None]:
    """
    Count what a threshold did on questions that it was not chosen on.

    :param scores: Of each question.
    :param answers: Whether its evidence answers.
    :param threshold: Generate from this score on; None generates nothing.
    :param groups: The source of each question: questions of one go wrong together, so many of few sources tell less.
        None: each is alone, and the interval the exact one (Clopper-Pearson).
    :returns: `n`, `generated` and `wrong` as numbers; `share` of wrong ones among the generated with `low` and `high`,
        None when nothing was generated.
    :raises ConfigurationError: For unusable scores.
    """
    values, right = _pairs(scores, answers)
    is_generated = values >= (np.inf if threshold is None else threshold)
    chosen = right[is_generated]
    generated, wrong = len(chosen), int((~chosen).sum())
    counts = {"n": len(values), "generated": generated, "wrong": wrong}
    if not generated:
        return {**counts, "share": None, "low": None, "high": None}
    sources = range(len(values)) if groups is None else groups
    low, high = _bounds(~chosen, [source for source, own in zip(sources, is_generated, strict=True) if own])
    return {**counts, "share": wrong / generated, "low": low, "high": high}


def _bounds(wrong: NDArray[np.bool_], sources: Sequence[Hashable]) -> tuple[float, float]:
    """
    Give the interval of a share: Clopper and Pearson's, on as many questions as these of so few sources are worth.

    How many that is tells the spread between sources (Korn and Graubard 1998, Survey Methodology 24). Where all or none
    are wrong there is no such spread, and each source counts as one question.
    """
    numbers: dict[Hashable, int] = {}
    each = np.array([numbers.setdefault(source, len(numbers)) for source in sources])
    count, of, share, tail = len(wrong), len(numbers), float(wrong.mean()), (1 - LEVEL) / 2
    if of == 1 < count:
        return 0.0, 1.0
    worth = float(of)
    if of < count and 0 < share < 1:
        off = np.bincount(each, weights=wrong - share)
        effect = of / (of - 1) * float(off @ off) / count / (share * (1 - share))
        fewer = t.ppf(tail, count - 1) / t.ppf(tail, of - 1)
        worth = min(count, count / max(1.0, effect) * float(fewer) ** 2)
    low = beta.ppf(tail, share * worth, (1 - share) * worth + 1) if share > 0 else 0.0
    high = beta.ppf(1 - tail, share * worth + 1, (1 - share) * worth) if share < 1 else 1.0
    return float(low), float(high)


def cost_curve(confidence: ArrayLike, truth: Sequence[str], told: Sequence[str]) -> list[dict[str, float | None]]:
    """
    Say how good a cascade is that sends the questions it is least sure of to an LLM that is always right.

    Questions of equal confidence are sent together, as a threshold would.

    :param confidence: Of each question: how sure the model is of its own verdict.
    :param truth: The true verdicts.
    :param told: The model's verdicts, any of the three or `ungraded`.
    :returns: From nothing to everything sent: `share_sent`, `macro_f1`, and the `threshold`: what is less sure is sent
        (None: everything).
    :raises ConfigurationError: When the numbers of values differ, or there are none.
    """
    sure = np.asarray(confidence, dtype=float)
    if not len(sure) == len(truth) == len(told) or not len(sure):
        msg = (
            "confidence, truth and told must be of the same questions, at least one, but got "
            f"{len(sure)}, {len(truth)} and {len(told)} values"
        )
        raise ConfigurationError(msg)
    order = np.argsort(sure, kind="stable")
    before, after = _cells(truth, told), _cells(truth, truth)
    changes = np.cumsum((after - before)[order], axis=0)
    confusions = before.sum(axis=0) + np.concatenate([np.zeros((1, before.shape[1])), changes])
    quality = macro_f1(confusions.reshape(-1, len(JUDGED), len(TOLD)))
    sent = np.concatenate([[0], np.flatnonzero(np.diff(sure[order], append=np.inf)) + 1])
    return [
        {
            "share_sent": float(count / len(sure)),
            "macro_f1": float(quality[count]),
            "threshold": float(sure[order[count]]) if count < len(sure) else None,
        }
        for count in sent
    ]


def saved_at(curve: Sequence[Mapping[str, Any]], loss: float = 0.02) -> float:
    """
    Read from a cost curve how many LLM calls can be saved.

    :param curve: From `cost_curve`.
    :param loss: The macro-F1 that may be lost against sending everything.
    :returns: The largest share of questions that need not be sent.
    """
    least = curve[-1]["macro_f1"] - loss - _EPSILON
    return 1.0 - min(float(point["share_sent"]) for point in curve if point["macro_f1"] >= least)


def saving(saved: float) -> str:
    """
    Say what a cascade saves, in the same words wherever it is said.

    :param saved: From `saved_at`, for two points.
    :returns: The sentence.
    """
    return f"A cascade whose LLM is always right saves {saved:.0%} of its calls at 2 points of macro-F1 lost"


def _pairs(scores: ArrayLike, answers: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    values, right = np.asarray(scores, dtype=float), np.asarray(answers, dtype=bool)
    if values.shape != right.shape or values.ndim != 1 or not len(values):
        msg = f"each question needs one score and one answer, but got {values.size} scores and {right.size} answers"
        raise ConfigurationError(msg)
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        msg = f"every score must be a finite number, but got {bad} that are not; leave questions without a score out"
        raise ConfigurationError(msg)
    return values, right


def _cells(truth: Sequence[str], told: Sequence[str]) -> Floats:
    """Mark each question's cell of the confusion."""
    rows = np.array([JUDGED.index(name) for name in truth])
    columns = np.array([TOLD.index(name) for name in told])
    cells: Floats = np.eye(len(JUDGED) * len(TOLD))[rows * len(TOLD) + columns]
    return cells
