"""Whether probabilities hold: what was said against what was, in bins of equally many questions."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import brier_score_loss

from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.evaluation.measures import judged

_DRAWS: Final = 200


def reliability_curve(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> list[dict[str, float]]:
    """
    Compare probabilities with what happened, in bins of equally many questions.

    Questions of equal probability share their mean outcome, so the bins do not depend on the order of the questions.

    :param probabilities: Of each question, in [0, 1].
    :param outcomes: Whether it happened.
    :param bins: Most bins.
    :returns: For each bin the mean `probability`, the share `observed` and the number `n`.
    """
    values, happened = np.asarray(probabilities, dtype=float), np.asarray(outcomes, dtype=float)
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    shared = (np.bincount(group, weights=happened) / sizes)[group] if len(values) else happened
    parts = np.array_split(np.argsort(values, kind="stable"), bins)
    return [
        {"probability": float(values[part].mean()), "observed": float(shared[part].mean()), "n": len(part)}
        for part in parts
        if len(part)
    ]


def adaptive_ece(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> float | None:
    """
    Measure by how much probabilities are off: the expected calibration error over bins of equally many questions.

    :param probabilities: Of each question, in [0, 1].
    :param outcomes: Whether it happened.
    :param bins: Most bins.
    :returns: The mean distance between probability and observed share; None without questions.
    """
    curve = reliability_curve(probabilities, outcomes, bins)
    total = sum(point["n"] for point in curve)
    off = sum(point["n"] * abs(point["probability"] - point["observed"]) for point in curve)
    return off / total if total else None


def ece_by_chance(probabilities: ArrayLike) -> float | None:
    """
    Say how far off probabilities seem that hold exactly: a bin of few questions misses its share by chance.

    :param probabilities: Of each question, in [0, 1].
    :returns: The mean of `adaptive_ece` over outcomes drawn by these very probabilities; None without questions.
    """
    values, chance = np.asarray(probabilities, dtype=float), np.random.default_rng(0)
    if not len(values):
        return None
    drawn = chance.random((_DRAWS, len(values))) < values
    return float(np.mean([adaptive_ece(values, happened) for happened in drawn]))


def probability_measures(records: Sequence[Record]) -> dict[str, Any] | None:
    """
    Measure how good the probabilities of `correct` are.

    :param records: One for each question.
    :returns: Adaptive `ece` and what it is `by_chance` on so many questions, `brier` score, reliability `curve` and
        `n`; None when there are no probabilities.
    """
    scored = [record for record in judged(records) if record["probabilities"] is not None and record["error"] is None]
    if not scored:
        return None
    values = [record["probabilities"]["correct"] for record in scored]
    outcomes = [record["label"] == "correct" for record in scored]
    brier = float(brier_score_loss(outcomes, values, pos_label=True))
    errors = {"ece": adaptive_ece(values, outcomes), "by_chance": ece_by_chance(values)}
    return {**errors, "brier": brier, "curve": reliability_curve(values, outcomes), "n": len(scored)}
