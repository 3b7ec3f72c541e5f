"""
Which words answer which kind of question: a linear model over pairs of a question's word and a document's n-gram.

`occupation` is answered by `TITLE was`, `was an`, `politician`; `born` by `YEAR in NAME`. What a text is about, its
numbers and, in runs of words, all names are masked, so that nothing but the way of telling is learned. Only words that
several questions share count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from haystack_integrations.crag.calibration_file import finite
from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.keeping import kept
from haystack_integrations.crag.judging.reading import Reading


@dataclass(frozen=True)
class Crossing:
    """
    The trained pairs.

    :param words: The questions' words that count, and how a kind of question is written: `asks:who`.
    :param weights: For each of them, the weight of each n-gram.
    :param bias: What is added.
    """

    words: frozenset[str]
    weights: Mapping[str, Mapping[str, float]]
    bias: float = 0.0

    def __hash__(self) -> int:
        """Hash what can be hashed, so that scores can be kept."""
        return hash(self.words)

    @kept
    def score(self, asked: Asked, reading: Reading) -> float:
        """
        Tell how much a document reads like an answer to such a question.

        :param asked: The question.
        :param reading: The document.
        :returns: Log-odds, about.
        """
        grams, words = visible(asked, reading), question_words(asked, self.words)
        tables = [self.weights.get(word, {}) for word in words]
        # Exact, since the order of a set is another one in every process.
        total = fsum([known[gram] for known in tables for gram in known.keys() & grams])
        return self.bias + total / sqrt(max(1, len(words) * len(grams)))

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON."""
        return {"words": sorted(self.words), "weights": self.weights, "bias": self.bias}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Crossing":
        """
        Read what `to_dict` gave.

        :param values: Plain JSON.
        :returns: The pairs.
        :raises ValueError: When the words are none, or a number is none that can be reckoned with.
        """
        words, tables = values["words"], values["weights"].items()
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
            msg = f"the words of a crossing must be a list of texts, but got {words!r}"
            raise ValueError(msg)
        weights = {
            word: {gram: finite(f"the weight of {gram!r}", w) for gram, w in own.items()} for word, own in tables
        }
        return cls(frozenset(words), weights, finite("the bias of a crossing", values["bias"]))


def question_words(asked: Asked, words: Iterable[str]) -> list[str]:
    """
    Choose what stands for a question.

    :param asked: The question.
    :param words: The words that count.
    :returns: Its words among them, and its kind.
    """
    return [*(term for term in asked.terms if term in words), f"asks:{asked.kind}"]


def visible(asked: Asked, reading: Reading) -> frozenset[str]:
    """
    Leave out of a document's n-grams the question's own words: that they match is measured elsewhere.

    :param asked: The question.
    :param reading: The document.
    :returns: N-grams.
    """
    return reading.ngrams.difference(asked.terms)
