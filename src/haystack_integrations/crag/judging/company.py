"""Documents among each other: each beside the others and relative to them, and the list as a whole."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.among import Among, among, beside
from haystack_integrations.crag.judging.asking import ASKS, Asked
from haystack_integrations.crag.judging.evidence import Features, examine, weight_of
from haystack_integrations.crag.judging.links import covered_jointly
from haystack_integrations.crag.judging.reading import Reading

COMPARED: Final = (
    "covered",
    "sentence",
    "sentence_under_title",
    "pairs",
    "names_covered",
    "bm25",
    "like_document",
    "like_most",
    "window_20",
    "title_share",
    "sentence_mixed",
    "title_covered",
    "rest_covered",
    "missing_most",
)
"""Signals that also count relative to the list: distance to the best other, standing in the spread, rank."""

_SPREAD = 0.05
# What the second of a list usually has of the best one's value. A document alone leads by the rest: by its whole value,
# a single bad one would stand out as only the best do (macro-F1 of single documents .55 -> .35 on popqa, .52 -> .30 on
# covidqa; benchmarks/short_lists.py).
_NEXT = 0.75
_MANY = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """
    A retrieval, measured.

    :param documents: The signals of each document, same order; equal names for all.
    :param together: The signals of the list.
    :param distinct: Places of the documents that the verdict on the list is read from.
    """

    documents: list[Features]
    together: Features
    distinct: Sequence[int]


def measure(asked: Asked, readings: Sequence[Reading]) -> Measured:
    """
    Measure a retrieval.

    :param asked: The question.
    :param readings: Its documents, at least one, in rank order.
    :returns: The signals of each document, and of the list.
    """
    told, found, alike, features = _measured(asked, readings)
    together = _together(asked, readings, found, features, told, alike)
    return Measured(features, together, range(len(readings)))


def measure_each(asked: Asked, readings: Sequence[Reading]) -> list[Features]:
    """
    Measure the documents of a retrieval.

    :param asked: The question.
    :param readings: Its documents, at least one, in rank order.
    :returns: The signals of each, as `measure` gives them.
    """
    return _measured(asked, readings)[-1]


def _measured(
    asked: Asked, readings: Sequence[Reading]
) -> tuple[Among, list[frozenset[str]], NDArray[np.float32], list[Features]]:
    """Give what documents say together, the question's terms in each, how alike they are, and their signals."""
    seen = [examine(asked, reading) for reading in readings]
    found = [evidence.found for evidence in seen]
    told = among(asked, readings, found)
    alone = [
        beside(asked, evidence, told, reading, rank)
        for rank, (evidence, reading) in enumerate(zip(seen, readings, strict=True))
    ]
    vectors = np.stack([reading.vector for reading in readings])
    alike = vectors @ vectors.T
    others = _agreement(alike), _siblings(readings, alone), covered_jointly(asked, readings, alone, found)
    rows = zip(alone, _relative(alone), *others, strict=True)
    features = [{**own, **compared, **agreed, **same, **joint} for own, compared, agreed, same, joint in rows]
    return told, found, alike, features


def _relative(features: Sequence[Features]) -> list[Features]:
    """Compare each document with the others of the list."""
    values = np.array(list(map(_compared, features)))
    size = len(values)
    most, off = values.max(axis=0), values - values.sum(axis=0) / size
    spread = np.sqrt((off * off).sum(axis=0) / size) + _SPREAD
    second = np.sort(values, axis=0)[-2] if size > 1 else _NEXT * values[0]
    gap = np.where(values < most, values - most, values - second)
    standing = off / spread
    above = (values[None, :, :] > values[:, None, :]).sum(axis=1) / max(1, size - 1)
    return [
        dict(zip(_RELATIVE_NAMES, row, strict=True)) for row in np.concatenate([gap, standing, above], axis=1).tolist()
    ]


_compared: Final = itemgetter(*COMPARED)
_RELATIVE_NAMES: Final = tuple(f"{name}_{kind}" for kind in ("gap", "standing", "above") for name in COMPARED)


def _agreement(alike: NDArray[np.float32]) -> list[Features]:
    """How like the others each is."""
    size = len(alike)
    if size == 1:
        return [{"agreement": 0.0, "agreement_most": 0.0}]
    others = alike[~np.eye(size, dtype=bool)].reshape(size, size - 1)
    rows = zip(others.mean(axis=1).tolist(), others.max(axis=1).tolist(), strict=True)
    return [{"agreement": mean, "agreement_most": most} for mean, most in rows]


def _siblings(readings: Sequence[Reading], features: Sequence[Features]) -> list[Features]:
    """Other documents of the same title, mostly parts of the same source."""
    titles: defaultdict[str, list[int]] = defaultdict(list)
    for n, reading in enumerate(readings):
        titles[reading.title].append(n)
    others = [[k for k in titles[reading.title] if k != n and reading.title] for n, reading in enumerate(readings)]
    return [
        {
            "siblings": len(same) / _MANY,
            "siblings_covered": max((features[k]["covered"] for k in same), default=0.0),
            "siblings_sentence": max((features[k]["sentence"] for k in same), default=0.0),
        }
        for same in others
    ]


def _together(
    asked: Asked,
    readings: Sequence[Reading],
    found: Sequence[frozenset[str]],
    features: Sequence[Features],
    told: Among,
    alike: NDArray[np.float32],
) -> Features:
    """The list as a whole."""

    def share(terms: frozenset[str]) -> float:
        return weight_of(asked, terms) / asked.total

    def most(name: str) -> float:
        return max([each[name] for each in features])

    def count(name: str) -> float:
        return sum([each[name] for each in features])

    titles = Counter(reading.title for reading in readings)
    in_titles = frozenset[str]().union(*(reading.title_terms for reading in readings)).intersection(asked.terms)
    bm25 = sorted((each["bm25"] for each in features), reverse=True)
    size, names, weight = len(readings), told.names, told.weights[0]
    return {
        "union": share(frozenset[str]().union(*found)),
        "titles_covered": share(in_titles),
        "titles_names": weight_of(asked, names & in_titles) / weight if weight else 1.0,
        "titles": float(len(titles)) / size,
        "same_title_most": max(titles.values()) / size,
        "agreement": float(alike.sum() - np.trace(alike)) / max(1, size * (size - 1)),
        "bm25_first": bm25[0],
        "bm25_gap": bm25[0] - (bm25[1] if size > 1 else 0.0),
        "bm25_range": bm25[0] - bm25[-1],
        "question_length": len(asked.terms) / 15,
        "specific": asked.specific,
        "titles_named": min(2.0, count("title_named")) / 2,
        "untitled": count("title_none") / size,
        "names": float(len(names)),
        **{f"{name}_most": most(name) for name in _MOST},
        **{f"{name}_count": count(name) for name in _COUNTED},
        **ASKS[asked.kind],
    }


_MOST: Final = ("joint", "linked_joint", "covered", "sentence_under_title", "like_document", "bm25_sum")
_COUNTED: Final = ("title_named", "title_named_exactly", "names_all", "spoken_of")
