"""What the company of a strip says: how its probability stands among those of its neighbours, document and run."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.refining.wording import Values

COMPANY: Final = (
    *("own", "before", "behind", "beside"),
    *("best", "runner_up", "third", "others_best"),
    *("document_best", "document_any", "rank", "document_rank"),
    *("share", "expected"),
)
"""What is told of a strip, in the order of `company`'s columns."""

# Log-odds go no farther: what is surer than that is sure.
_SUREST: Final = 1e-4
_TINY: Final = 1e-3


def company(probabilities: Values, documents: Sequence[int]) -> Values:
    """
    Tell of each strip what the probabilities of the others say: of two alike the surer one, of a likely one's neighbour
    that it is likelier, of a run whether anything stands out.

    :param probabilities: How probable each strip is by itself, in reading order.
    :param documents: The number of the document of each strip; those of one document are neighbours.
    :returns: Shape (strips, `COMPANY`).
    """
    if not len(probabilities):
        return np.empty((0, len(COMPANY)))
    numbers, odds = np.array(documents), _log_odds(probabilities)
    lowest = _log_odds(np.zeros(1))[0]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    ends = np.append(starts[1:], len(odds)) - 1
    groups = np.repeat(np.arange(len(starts)), ends - starts + 1)
    before, behind = np.roll(odds, 1), np.roll(odds, -1)
    before[starts], behind[ends] = lowest, lowest
    best_of = np.maximum.reduceat(odds, starts)
    any_of = _log_odds(1 - np.multiply.reduceat(1 - probabilities, starts))
    first, second, third = np.sort(np.append(odds, [lowest, lowest]))[:-4:-1]
    leading, rest = np.sort(np.append(best_of, lowest))[:-3:-1]
    every = np.ones(len(odds))
    columns = {
        "own": odds,
        "before": before,
        "behind": behind,
        "beside": np.maximum(before, behind),
        "best": every * first,
        "runner_up": np.where(odds == first, second, first),
        "third": every * third,
        "others_best": np.where(best_of == leading, rest, leading)[groups],
        "document_best": best_of[groups],
        "document_any": any_of[groups],
        "rank": 1 / (1 + _above(odds)),
        "document_rank": 1 / (1 + np.concatenate([_above(own) for own in np.split(odds, starts[1:])])),
        "share": probabilities / max(float(probabilities.sum()), _TINY),
        "expected": every * np.log(probabilities.sum() + _TINY),
    }
    return np.column_stack([columns[name] for name in COMPANY])


def _above(odds: Values) -> NDArray[np.intp]:
    """Count for each how many are greater; a table of each against each would take gigabytes of long documents."""
    return len(odds) - np.searchsorted(np.sort(odds), odds, side="right")


def _log_odds(probabilities: Values) -> Values:
    return np.asarray(np.log((probabilities + _SUREST) / (1 - probabilities + _SUREST)))
