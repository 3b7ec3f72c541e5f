"""
The documents of one data set, and BM25 over their titles and texts.

Haystack's in-memory BM25 scores every document in Python, 50 to 150 ms a search here. A system that searches again
would be measured with that in its time, so this one adds up arrays that are made once: about 1 ms.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from math import log
from typing import Any

import numpy as np

from haystack_integrations.crag.evaluation.cases import Passage
from haystack_integrations.crag.texts.text import terms

RANKED = 400
"""Documents of one search; what a gap removes is left out of them afterwards."""

_K1, _B = 1.5, 0.75


class Corpus:
    """A set of documents with a search."""

    def __init__(self, name: str, passages: Mapping[str, Passage], removed: Collection[str] = ()) -> None:
        """
        Index the documents.

        :param name: Name of the set.
        :param passages: The documents by id.
        :param removed: Ids that the set removes to make its gaps.
        """
        self.name, self.passages, self.removed = name, passages, frozenset(removed)
        self._names = list(passages)
        counts = [Counter(terms(f"{one.title}\n{one.text}")) for one in passages.values()]
        lengths = [sum(found.values()) for found in counts]
        mean = sum(lengths) / max(1, len(lengths))
        places: defaultdict[str, list[int]] = defaultdict(list)
        weights: defaultdict[str, list[float]] = defaultdict(list)
        for place, (found, length) in enumerate(zip(counts, lengths, strict=True)):
            for term, times in found.items():
                places[term].append(place)
                weights[term].append(times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * length / mean)))
        self._postings: dict[str, tuple[Any, Any]] = {
            term: (np.array(places[term]), np.array(weights[term]) * _rarity(len(places[term]), len(counts)))
            for term in places
        }

    def search(self, query: str, n: int, without: Collection[str] = ()) -> list[str]:
        """
        Search.

        :param query: The query.
        :param n: Most documents.
        :param without: Ids that are not there.
        :returns: Ids of documents that share a word with the query, best first.
        """
        scores = np.zeros(len(self._names))
        for term in terms(query):
            if term in self._postings:
                places, weights = self._postings[term]
                scores[places] += weights
        best = np.argsort(-scores, kind="stable")[:RANKED]
        return [name for place in best if scores[place] > 0 and (name := self._names[place]) not in without][:n]


def _rarity(documents: int, of: int) -> float:
    return log(1 + (of - documents + 0.5) / (documents + 0.5))
