"""Gaps, lists without the documents that answer, told by a threshold on their scores: where these are of one scale."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.vocabulary import MODE_OFF

COVERED: Final = "covered"
DECIDED: Final = "decided"
"""What a list's `score` is: a calibration's number for just this, or the score that the router decided by."""

_EPSILON: Final = 1e-9


def two_scales(records: Sequence[Record]) -> str | None:
    """
    Say why the scores of lists make no order.

    :param records: One for each question.
    :returns: The reason, with how many lists were scored how; None where all of them are of one scale.
    """
    gaps = [record["gap"] for record in records if record["gap"] is not None and record["gap"]["score"] is not None]
    counts = Counter(gap.get("by", DECIDED) for gap in gaps)
    if len(counts) < 2:  # noqa: PLR2004
        return None
    return (
        f"{counts[COVERED]} lists were scored by the calibration and {counts[DECIDED]} by the model that was asked: "
        "two scales make no order, so only the verdicts tell"
    )


def gap_recall_at(records: Sequence[Record], false_alarms: float = 0.1) -> dict[str, float] | None:
    """
    Find how many gaps a threshold on the lists' scores notices that alarms on few covered ones of these lists.

    The verdict stands in for a missing score: a list called correct never alarms, any other always does. A cascade
    scores some lists by a calibration's number and others by what its model said: these make no one order, so there is
    no threshold on them.

    :param records: One for each question.
    :param false_alarms: The largest share of covered lists that may alarm.
    :returns: The threshold below which a list alarms, the recall and the false alarms there; None without both kinds,
        for scores of two scales, and for a pipeline that judges nothing.
    """
    if two_scales(records) is not None:
        return None
    scores: dict[str, list[float]] = {"gap": [], "covered": []}
    for gap in (one["gap"] for one in records if one["gap"] is not None and one["rule"] != MODE_OFF):
        missing = math.inf if gap["verdict"] == "correct" else -math.inf
        scores.setdefault(gap["status"], []).append(missing if gap["score"] is None else gap["score"])
    if not scores["gap"] or not scores["covered"]:
        return None
    covered = np.sort(scores["covered"])
    allowed = math.floor(false_alarms * len(covered) + _EPSILON)
    threshold = float(covered[allowed]) if allowed < len(covered) else math.inf
    shares = {name: float(np.mean(np.asarray(scores[name]) < threshold)) for name in scores if scores[name]}
    return {"threshold": threshold, "recall": shares["gap"], "false_alarms": shares["covered"]}
