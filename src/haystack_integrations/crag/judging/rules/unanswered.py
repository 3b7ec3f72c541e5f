"""
Documents that ask what the user asks, and say no more: an entry of a FAQ without its answer, a list of questions, a
letter without its reply. Nothing is as like a question as the same question, so all of 27 were `correct`.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.reading import Reading


def unanswered(asked: Asked, readings: Sequence[Reading]) -> NDArray[np.bool_]:
    """
    Tell which documents have most of a question in the questions that they end with.

    :param asked: The question.
    :param readings: The documents.
    :returns: For each whether one of these has more of the question's words, weighed, than any sentence before them.
    """
    return np.array([_only_asks(asked, reading) for reading in readings])


def _only_asks(asked: Asked, reading: Reading) -> bool:
    if reading.open_from >= len(reading.starts):
        return False
    found: defaultdict[int, set[str]] = defaultdict(set)
    for term in asked.terms:
        for place in reading.places[term] if term in reading.places else ():
            found[bisect_right(reading.starts, place) - 1].add(term)
    weights = {number: sum(asked.weights[term] for term in sorted(held)) for number, held in found.items()}
    told = max((weight for number, weight in weights.items() if number < reading.open_from), default=0.0)
    return max((weight for number, weight in weights.items() if number >= reading.open_from), default=0.0) > told
