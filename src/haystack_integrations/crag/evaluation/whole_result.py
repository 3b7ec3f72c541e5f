"""The JSON of `crag eval`: the measures, and what a terminal shows beside them."""

import math
from collections.abc import Mapping
from typing import Any


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
