"""One document against a question: signals that are cheap, honest and do not depend on its neighbours."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log1p

import numpy as np

from haystack_integrations.crag.judging.asking import KINDS, Asked
from haystack_integrations.crag.judging.reading import Reading

Features = dict[str, float]

_NEAR, _NEAR_NAMES, _MOST_NAMES, _TINY = 20, 15, 5, 1e-9
# BM25's usual constants, and a usual length: the score only orders documents of one list.
_K1, _B, _USUAL = 1.2, 0.75, 100


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    What one document shares with a question.

    :param features: Signals by name.
    :param found: The question's terms in its title or text.
    """

    features: Features
    found: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Hits:
    """
    Where a document has the question's terms.

    :param body: Terms in the text.
    :param title: Terms in the title.
    :param both: Either.
    :param places: Position and term of each occurrence, in order.
    :param by_sentence: The terms of each sentence.
    """

    body: list[str]
    title: frozenset[str]
    both: frozenset[str]
    places: list[tuple[int, str]]
    by_sentence: list[set[str]]


def examine(asked: Asked, names: Collection[str], damped: Mapping[str, float], reading: Reading, rank: int) -> Evidence:
    """
    Measure one document.

    :param asked: The question.
    :param names: Its names.
    :param damped: Weights of its terms that differ little, for lists of a corpus that nothing is known of.
    :param reading: The document.
    :param rank: Its place in the list, from 0.
    :returns: Its signals, most of them in [0, 1].
    """
    hits = _hits(asked, reading)
    best, middle = _window(asked, hits, _NEAR)
    features = {
        "rank": 1 / (1 + rank),
        **_coverage(asked, reading, hits, damped),
        **_title(asked, reading, hits),
        **_sentences(asked, reading, hits),
        "window_10": _window(asked, hits, 10)[0],
        "window_20": best,
        **_phrases(asked, hits, reading, damped),
        **_names(asked, names, reading, hits),
        **_cues(asked, reading, middle),
        **{f"asks_{kind}": float(asked.kind == kind) for kind in KINDS},
    }
    return Evidence(features, hits.both)


def _hits(asked: Asked, reading: Reading) -> _Hits:
    body = [term for term in asked.terms if term in reading.places]
    title = reading.title_terms.intersection(asked.terms)
    places = sorted((place, term) for term in body for place in reading.places[term])
    by_sentence: list[set[str]] = [set() for _ in reading.starts]
    for place, term in places:
        by_sentence[bisect_right(reading.starts, place) - 1].add(term)
    return _Hits(body, title, title.union(body), places, by_sentence)


def _weight(asked: Asked, terms: Iterable[str]) -> float:
    # Exact, so that no digit depends on the order of a set, which is another one in every process.
    return fsum(asked.weights[term] for term in terms)


def _coverage(asked: Asked, reading: Reading, hits: _Hits, damped: Mapping[str, float]) -> Features:
    """Share of the question's words, weighted, and what is missing."""
    total, missing = asked.total, [asked.weights[term] for term in asked.terms if term not in hits.both]
    usual = _K1 * (1 - _B + _B * reading.length / _USUAL)
    bm25 = bm25_damped = 0.0
    for term in (term for term in asked.terms if term in hits.both):
        times = len(reading.places.get(term, ())) + (term in hits.title)
        often = times * (_K1 + 1) / (times + usual)
        bm25, bm25_damped = bm25 + asked.weights[term] * often, bm25_damped + damped[term] * often
    return {
        "covered": _weight(asked, hits.both) / total,
        "covered_text": _weight(asked, hits.body) / total,
        "covered_share": len(hits.both) / max(1, len(asked.terms)),
        "missing_most": max(missing, default=0.0),
        "missing_sum": sum(missing),
        "missing_terms": float(len(missing)),
        "bm25": bm25 / total / (_K1 + 1),
        "bm25_sum": bm25 / 4,
        "bm25_damped": bm25_damped / 8,
        "hits": log1p(len(hits.places)) / 5,
        "density": len(hits.places) / max(1, reading.length),
        "length": log1p(reading.length) / 6,
        "sentences": log1p(len(reading.starts)) / 4,
        "question_length": len(asked.terms) / 15,
    }


def _title(asked: Asked, reading: Reading, hits: _Hits) -> Features:
    """Whether the document is about what the question names, and what else the question wants."""
    is_named = bool(reading.name) and all(term in asked.weights for term in reading.name)
    rest = [term for term in asked.terms if term not in reading.title_terms]
    rest_weight = _weight(asked, rest)
    return {
        "title_covered": _weight(asked, hits.title) / asked.total,
        "title_named": float(is_named),
        "title_named_weight": _weight(asked, set(reading.name)) / asked.total if is_named else 0.0,
        "title_named_exactly": float(is_named and " ".join(reading.name) in " ".join(asked.sequence)),
        "title_share": len(hits.title) / max(1, len(reading.title_terms)),
        "title_extra": float(len(reading.title_terms) - len(hits.title)),
        "title_none": float(not reading.title_terms),
        "rest_covered": _weight(asked, (term for term in rest if term in reading.places)) / rest_weight
        if rest_weight
        else 1.0,
        "rest_terms": float(len(rest)),
    }


def _sentences(asked: Asked, reading: Reading, hits: _Hits) -> Features:
    """The best sentence: by words, with the title, by meaning."""
    total, by_title = asked.total, _weight(asked, hits.title)
    alone = [_weight(asked, found) for found in hits.by_sentence]
    beyond = [_weight(asked, found - hits.title) for found in hits.by_sentence]
    two = [_weight(asked, one | other) for one, other in zip(hits.by_sentence, hits.by_sentence[1:], strict=False)]
    best = max(range(len(alone)), key=alone.__getitem__, default=0)
    likeness = reading.sentence_vectors @ asked.vector
    rest = total - by_title
    mixed = (by_title + np.asarray(beyond)) / total / 2 + likeness / 2
    return {
        "sentence": alone[best] / total if alone else 0.0,
        "sentence_under_title": (by_title + max(beyond, default=0.0)) / total,
        "sentence_rest": max(beyond, default=0.0) / rest if rest > _TINY else 1.0,
        "sentences_two": max([*two, *alone], default=0.0) / total,
        "sentence_first": alone[0] / total if alone else 0.0,
        "sentence_place": best / max(1, len(alone)),
        "sentence_mixed": float(mixed.max()) if mixed.size else 0.0,
        "like_document": float(reading.vector @ asked.vector),
        "like_title": float(reading.title_vector @ asked.vector),
        "like_most": float(likeness.max()) if likeness.size else 0.0,
        "like_mean": float(likeness.mean()) if likeness.size else 0.0,
        "like_best_worded": float(likeness[best]) if likeness.size else 0.0,
    }


def _window(asked: Asked, hits: _Hits, size: int) -> tuple[float, float]:
    """Find the place that covers most within so many terms: the share, and the middle's position."""
    best, middle, first, covered = 0.0, 0.0, 0, 0.0
    inside: Counter[str] = Counter()
    for place, term in hits.places:
        covered += 0.0 if inside[term] else asked.weights[term]
        inside[term] += 1
        while hits.places[first][0] <= place - size:
            left = hits.places[first][1]
            inside[left] -= 1
            covered -= 0.0 if inside[left] else asked.weights[left]
            first += 1
        if covered > best + _TINY:
            best, middle = covered, (hits.places[first][0] + place) / 2
    return min(1.0, best / asked.total), middle


def _phrases(asked: Asked, hits: _Hits, reading: Reading, damped: Mapping[str, float]) -> Features:
    """The question's neighbouring words that stand together here, too, and its longest run."""
    met = [
        pair
        for pair in asked.pairs
        if hits.title.issuperset(pair) or _meet(reading.places.get(pair[0]), reading.places.get(pair[1]))
    ]
    pairs, longest, run = set(asked.pairs), 0, 0
    last: tuple[int, str] | None = None
    for place, term in hits.places:
        run = run + 1 if last is not None and place == last[0] + 1 and (last[1], term) in pairs else 1
        longest, last = max(longest, run), (place, term)
    return {
        "pairs": _share(met, asked.pairs, asked.weights, doubt=False),
        "pairs_doubted": _share(met, asked.pairs, asked.weights, doubt=True),
        "pairs_damped": _share(met, asked.pairs, damped, doubt=True),
        "covered_damped": fsum(damped[term] for term in hits.both) / (sum(damped.values()) or 1.0),
        "run": longest / max(1, len(asked.sequence)),
    }


def _share(
    met: Iterable[tuple[str, str]], pairs: Iterable[tuple[str, str]], weights: Mapping[str, float], *, doubt: bool
) -> float:
    """Weigh the pairs that were met; in doubt one more was not, so that few prove less than many."""
    found, total = (sum(weights[one] + weights[two] for one, two in some) for some in (met, pairs))
    missing = 2 * sum(weights.values()) / max(1, len(weights)) if doubt else 0.0
    return found / (total + missing) if total else 0.0


def _meet(one: Sequence[int] | None, two: Sequence[int] | None) -> bool:
    """Tell whether two terms are neighbours, or next but one in this order, anywhere."""
    if not one or not two:
        return False
    others = set(two)
    return any(place + 1 in others or place - 1 in others or place + 2 in others for place in one)


def _names(asked: Asked, names: Collection[str], reading: Reading, hits: _Hits) -> Features:
    other = [term for term in asked.terms if term not in names]
    weight, other_weight = _weight(asked, names), _weight(asked, other)
    return {
        "names_covered": _weight(asked, hits.both.intersection(names)) / weight if weight else 1.0,
        "names_all": float(hits.both.issuperset(names)),
        "names_in_title": _weight(asked, reading.title_terms.intersection(names)) / weight if weight else 0.0,
        "names": float(len(names)),
        "others_covered": _weight(asked, hits.both.intersection(other)) / other_weight if other_weight else 1.0,
        "numbers_missing": float(sum(term.isdigit() and term not in hits.both for term in asked.terms)),
    }


def _cues(asked: Asked, reading: Reading, middle: float) -> Features:
    """What an answer of this kind would look like, near the place that covers most of the question."""
    number = float(any(abs(place - middle) <= _NEAR for place in reading.numbers))
    year = float(any(abs(place - middle) <= _NEAR for place in reading.years))
    near = sum(abs(place - middle) <= _NEAR_NAMES for place in reading.names)
    name = min(_MOST_NAMES, near) / _MOST_NAMES
    return {
        "cue_number": float(bool(reading.numbers)),
        "cue_year": float(bool(reading.years)),
        "cue_number_near": number,
        "cue_year_near": year,
        "cue_names_near": name,
        "cue": {"when": year, "how_many": number, "who": name, "where": name}.get(asked.kind, 0.5),
    }
