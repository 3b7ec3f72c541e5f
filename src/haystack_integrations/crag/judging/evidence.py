"""One document against a question: signals that are cheap and honest, most of them whatever its neighbours are."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, log1p

from haystack_integrations.crag.judging.asking import ASKS, Asked
from haystack_integrations.crag.judging.keeping import kept
from haystack_integrations.crag.judging.phrases import doubt_of, longest_run, pairs_met, share_of, weight_of_pairs
from haystack_integrations.crag.judging.reading import Reading
from haystack_integrations.crag.texts.wording import densest

Features = dict[str, float]

_NEAR, _NEAR_NAMES, _MOST_NAMES, _TINY = 20, 15, 5, 1e-9
# BM25's usual constants, and a usual length: the score only orders documents of one list.
_K1, _B, _USUAL = 1.2, 0.75, 100


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    What one document shares with a question, whatever stands beside it.

    :param wording: Signals of its words, title and meaning.
    :param cues: Signals of what an answer would look like.
    :param found: The question's terms in its title or text.
    :param often: How much it speaks of each of them: BM25's count, which many occurrences raise less and less.
    :param met: The question's pairs that it has.
    :param run: Share of the question's words that stand in a row in it, at most.
    """

    wording: Features
    cues: Features
    found: frozenset[str]
    often: Mapping[str, float]
    met: Sequence[tuple[str, str]]
    run: float


@dataclass(frozen=True, slots=True)
class _Hits:
    """
    Where a document has the question's terms.

    :param body: Positions of each term in the text.
    :param title: Terms in the title.
    :param both: Either.
    :param places: Position and term of each occurrence, in order.
    :param by_sentence: The terms of each sentence, and those of the headings and the head of a table above it.
    """

    body: dict[str, list[int]]
    title: frozenset[str]
    both: frozenset[str]
    places: list[tuple[int, str]]
    by_sentence: list[set[str]]


@kept
def examine(asked: Asked, reading: Reading) -> Evidence:
    """
    Measure one document; kept, since a question is judged again with other documents beside it.

    :param asked: The question.
    :param reading: The document.
    :returns: Its signals, most of them in [0, 1].
    """
    hits = _hits(asked, reading)
    best, middle = _window(asked, hits, _NEAR)
    met, often = pairs_met(asked, hits.title, hits.body), _often(asked, reading, hits)
    found, total = weight_of_pairs(met, asked.weights), weight_of_pairs(asked.pairs, asked.weights)
    wording = {
        **_coverage(asked, reading, hits, often),
        **_title(asked, reading, hits),
        **_sentences(asked, reading, hits),
        "window_10": _window(asked, hits, 10)[0],
        "window_20": best,
        "pairs": share_of(found, total),
        "pairs_doubted": share_of(found, total, doubt_of(asked.weights)),
    }
    cues = {**_cues(asked, reading, middle), **ASKS[asked.kind]}
    return Evidence(wording, cues, hits.both, often, met, longest_run(asked, hits.places))


def _hits(asked: Asked, reading: Reading) -> _Hits:
    body = {term: reading.places[term] for term in asked.terms if term in reading.places}
    title = reading.title_terms.intersection(asked.terms)
    places = sorted([(place, term) for term, places in body.items() for place in places])
    by_sentence: list[set[str]] = [set() for _ in reading.starts]
    for place, term in places:
        by_sentence[bisect_right(reading.starts, place) - 1].add(term)
    for number, above in reading.above.items():
        by_sentence[number].update(*(by_sentence[place] for place in above))
    return _Hits(body, title, title.union(body), places, by_sentence)


def weight_of(asked: Asked, terms: Iterable[str]) -> float:
    """
    Weigh terms of a question.

    :param asked: The question.
    :param terms: Its terms.
    :returns: What they weigh together.
    """
    # Exact, so that no digit depends on the order of a set, which is another one in every process.
    return fsum(map(asked.weights.__getitem__, terms))


def _often(asked: Asked, reading: Reading, hits: _Hits) -> dict[str, float]:
    usual = _K1 * (1 - _B + _B * reading.length / _USUAL)
    found = [term for term in asked.terms if term in hits.both]
    times = [len(hits.body.get(term, ())) + (term in hits.title) for term in found]
    return {term: count * (_K1 + 1) / (count + usual) for term, count in zip(found, times, strict=True)}


def _coverage(asked: Asked, reading: Reading, hits: _Hits, often: Mapping[str, float]) -> Features:
    """Share of the question's words, weighted, and what is missing."""
    total, missing = asked.total, [asked.weights[term] for term in asked.terms if term not in hits.both]
    bm25 = sum(asked.weights[term] * count for term, count in often.items())
    return {
        "covered": weight_of(asked, hits.both) / total,
        "covered_text": weight_of(asked, hits.body) / total,
        "covered_share": len(hits.both) / max(1, len(asked.terms)),
        "missing_most": max(missing, default=0.0),
        "missing_sum": sum(missing),
        "missing_terms": float(len(missing)),
        "bm25": bm25 / total / (_K1 + 1),
        "bm25_sum": bm25 / 4,
        "hits": log1p(len(hits.places)) / 5,
        "density": len(hits.places) / max(1, reading.length),
        "length": log1p(reading.length) / 6,
        "sentences": log1p(len(reading.starts)) / 4,
        "question_length": len(asked.terms) / 15,
    }


def _title(asked: Asked, reading: Reading, hits: _Hits) -> Features:
    """Whether the document is about what the question names, and what else the question wants."""
    is_named = bool(reading.name) and all(map(asked.weights.__contains__, reading.name))
    rest = [term for term in asked.terms if term not in reading.title_terms]
    rest_weight = weight_of(asked, rest)
    return {
        "title_covered": weight_of(asked, hits.title) / asked.total,
        "title_named": float(is_named),
        "title_named_weight": weight_of(asked, set(reading.name)) / asked.total if is_named else 0.0,
        "title_named_exactly": float(is_named and " ".join(reading.name) in " ".join(asked.sequence)),
        "title_share": len(hits.title) / max(1, len(reading.title_terms)),
        "title_extra": float(len(reading.title_terms) - len(hits.title)),
        "title_none": float(not reading.title_terms),
        "rest_covered": weight_of(asked, (term for term in rest if term in hits.body)) / rest_weight
        if rest_weight
        else 1.0,
        "rest_terms": float(len(rest)),
    }


def _sentences(asked: Asked, reading: Reading, hits: _Hits) -> Features:
    """The best sentence: by words, with the title, by meaning."""
    total, by_title = asked.total, weight_of(asked, hits.title)
    alone = [weight_of(asked, found) if found else 0.0 for found in hits.by_sentence]  # most sentences have none
    rests = (found - hits.title for found in hits.by_sentence)
    beyond = [weight_of(asked, found) if found else 0.0 for found in rests] if hits.title else alone
    both = [one | other for one, other in pairwise(hits.by_sentence) if one and other]  # else it is one of those alone
    best = alone.index(max(alone)) if alone else 0
    likeness = reading.sentence_vectors @ asked.vector
    alike: list[float] = likeness.tolist()
    rest = total - by_title
    mixed = [(by_title + words) / total / 2 + like / 2 for words, like in zip(beyond, alike, strict=True)]
    return {
        "sentence": alone[best] / total if alone else 0.0,
        "sentence_under_title": (by_title + max(beyond, default=0.0)) / total,
        "sentence_rest": max(beyond, default=0.0) / rest if rest > _TINY else 1.0,
        "sentences_two": max([*(weight_of(asked, found) for found in both), *alone], default=0.0) / total,
        "sentence_first": alone[0] / total if alone else 0.0,
        "sentence_place": best / max(1, len(alone)),
        "sentence_mixed": max(mixed, default=0.0),
        "like_document": float(reading.vector @ asked.vector),
        "like_title": float(reading.title_vector @ asked.vector),
        "like_most": max(alike, default=0.0),
        "like_mean": float(likeness.sum() / len(alike)) if alike else 0.0,
        "like_best_worded": alike[best] if alike else 0.0,
    }


def _window(asked: Asked, hits: _Hits, size: int) -> tuple[float, float]:
    """Find the place that covers most within so many terms: the share, and the middle's position."""
    best, middle = densest(hits.places, asked.weights, size)
    return min(1.0, best / asked.total), middle


def _cues(asked: Asked, reading: Reading, middle: float) -> Features:
    """What an answer of this kind would look like, near the place that covers most of the question."""
    number = float(_near(reading.numbers, middle, _NEAR) > 0)
    year = float(_near(reading.years, middle, _NEAR) > 0)
    name = min(_MOST_NAMES, _near(reading.names, middle, _NEAR_NAMES)) / _MOST_NAMES
    return {
        "cue_number": float(bool(reading.numbers)),
        "cue_year": float(bool(reading.years)),
        "cue_number_near": number,
        "cue_year_near": year,
        "cue_names_near": name,
        "cue": {"when": year, "how_many": number, "who": name, "where": name}.get(asked.kind, 0.5),
    }


def _near(places: Sequence[int], middle: float, most: int) -> int:
    """Count places, which are in order, that are no farther away than so many terms."""
    return bisect_right(places, middle + most) - bisect_left(places, middle - most)
