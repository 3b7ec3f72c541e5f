"""A question as the judgement sees it: weighted terms, kind, names."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log, log2, tanh
from typing import Final

from haystack_integrations.crag.encoding.encoders import Encoder
from haystack_integrations.crag.judging.reading import Reading, Vectors
from haystack_integrations.crag.judging.surface import normalised
from haystack_integrations.crag.texts.languages.stemming import STEMS
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.text import surface_words
from haystack_integrations.crag.texts.wording import asked_terms

KINDS: Final = ("who", "when", "where", "how_many", "how", "what", "which", "why", "yes_no", "statement")
"""Kinds of question, by what the answer must be; a claim is a `statement`."""

ASKS: Final = {kind: {f"asks_{other}": float(other == kind) for other in KINDS} for kind in KINDS}
"""The signals of each kind."""

_HOW_MANY = re.compile(r"\bhow (?:many|much|old|long|far|tall|big|large|often)\b|\b(?:what|which) (?:number|percent)")
_WHEN = re.compile(r"\b(?:what|which) (?:year|date|day|month|time)\b")
_WHERE = re.compile(r"\b(?:what|which) (?:city|country|place|state|town|location)\b")
_ASKS = re.compile(r"\b(who|whom|whose|when|where|why|which|what|how)\b")
_YES_NO = re.compile(r"\W*(?:is|are|was|were|did|do|does|can|has|have|will|won't|would|should|could)(?:n't)?\b")

# A term counts as a name where the texts write it so at least this often, and three times as often as not.
_SEEN: Final = 2
_CLEARLY: Final = 3

_BITS: Final = 8  # beyond twice as many, more of them say no more
_USUAL: Final = 0.9  # as specific as most questions are
_UNSEEN: Final = 30  # so many documents more, without the question's words: five do not tell how common a word is

_MOST_KEPT: Final = 64
"""Questions that are kept: those that are being answered."""

Frequencies = Callable[[Sequence[str]], tuple[int, Mapping[str, int]]]


class Supposed:
    """
    Frequencies in a corpus that nobody counted: how words weigh against each other, not how rare they are.

    :param frequencies: Gives them.
    """

    def __init__(self, frequencies: Frequencies) -> None:
        self._frequencies = frequencies

    def __call__(self, wanted: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """Give a number of documents, and in how many of them each term is."""
        return self._frequencies(wanted)


def with_forms(frequencies: Frequencies, readings: Sequence[Reading], language: str | None) -> Frequencies:
    """
    Count a term that stands in the corpus in other forms alone: else it weighs as much as one that nobody has.

    :param frequencies: Document frequencies of the corpus.
    :param readings: Documents, in the forms in which the question has its words (`texts.languages.inflections`).
    :param language: The language whose forms these are; None where nothing was changed.
    :returns: Frequencies that are no less than in these documents; the given ones without a language or a corpus.
    """

    def counted(wanted: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        documents, known = frequencies(wanted)
        return documents, {term: max(known.get(term, 0), sum(text.holds(term) for text in readings)) for term in wanted}

    return frequencies if language is None or isinstance(frequencies, Supposed) else counted


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """
    A question; equal to itself only.

    :param terms: The distinct terms, in order.
    :param sequence: All terms, in order.
    :param weights: Inverse document frequency of each term, as a share of the highest possible: in (0, 1].
    :param total: Their sum.
    :param specific: How little it is by chance that a document has all terms, in (-1, 1): 0 where one document of the
        corpus would have them if they stood independently of each other. With "What was the conclusion of this report?"
        every second document has all words and few answer; with rare names, to have all says much.
    :param pairs: Neighbouring terms, in order.
    :param kind: One of `KINDS`.
    :param capitals: Terms written with a capital.
    :param vector: Unit vector.
    """

    terms: tuple[str, ...]
    sequence: tuple[str, ...]
    weights: Mapping[str, float]
    total: float
    specific: float
    pairs: tuple[tuple[str, str], ...]
    kind: str
    capitals: frozenset[str]
    vector: Vectors


def kind_of(query: str) -> str:
    """
    Tell what a question asks for.

    :param query: The question.
    :returns: One of `KINDS`.
    """
    text = " ".join(normalised(query).lower().split())
    for kind, pattern in (("how_many", _HOW_MANY), ("when", _WHEN), ("where", _WHERE)):
        if pattern.search(text):
            return kind
    if found := _ASKS.search(text):
        return {"whom": "who", "whose": "who"}.get(found[1], found[1])
    return "yes_no" if _YES_NO.match(text) else "statement"


def ask(query: str, frequencies: Frequencies, encoder: Encoder) -> Asked:
    """
    Read a question.

    :param query: The question; one of stop words only is taken word by word.
    :param frequencies: Gives the number of documents and how many of them have each term.
    :param encoder: Static embeddings.
    :returns: The question as the judgement sees it.
    """
    text = bare_question(normalised(query))
    sequence = asked_terms(text)
    distinct = tuple(dict.fromkeys(sequence))
    documents, known = frequencies(distinct)
    counts = tuple(known.get(term, 0) for term in distinct)
    return _asked(text, sequence, documents, counts, encoder, is_counted=not isinstance(frequencies, Supposed))


@lru_cache(_MOST_KEPT)
def _asked(
    text: str, sequence: tuple[str, ...], documents: int, known: tuple[int, ...], encoder: Encoder, *, is_counted: bool
) -> Asked:
    """Read a question once; the same one is asked again with other documents."""
    distinct = tuple(dict.fromkeys(sequence))
    highest = log(1 + (documents + 0.5) / 0.5)
    bits = sum(log2((documents + _UNSEEN) / (min(often, documents) + 0.5)) for often in known)
    needed = log2(max(1, documents)) if len(known) > 1 else 0.0  # one word is all that can be asked of a document
    weights = {
        term: log(1 + (documents - (n := min(often, documents)) + 0.5) / (n + 0.5)) / highest
        for term, often in zip(distinct, known, strict=True)
    }
    return Asked(
        terms=distinct,
        sequence=sequence,
        weights=weights,
        total=sum(weights.values()) or 1.0,
        specific=tanh((bits - needed) / _BITS) if is_counted else _USUAL,
        pairs=tuple((one, two) for one, two in pairwise(sequence) if one != two),
        kind=kind_of(text),
        capitals=_capitals(text),
        vector=encoder.encode([text])[0],
    )


def _capitals(text: str) -> frozenset[str]:
    """Find the words that a question writes as names; the first word only where the second is one, too."""
    written, stem_of = surface_words(text), STEMS
    large = [bool(stem_of[word.lower()]) and word[0].isupper() for word in written]
    first = large[:2] == [True, True]
    return frozenset(
        stem_of[word.lower()]
        for number, (word, is_large) in enumerate(zip(written, large, strict=True))
        if is_large and (number or first)
    )


def names_in(asked: Asked, readings: Sequence[Reading]) -> frozenset[str]:
    """
    Find the question's names: terms that it, or the texts, write with a capital. Works for a question in small letters.

    :param asked: The question.
    :param readings: The texts.
    :returns: Terms of the question.
    """
    found = set(asked.capitals.intersection(asked.terms))
    for term in asked.terms:
        large = sum([reading.capitals.get(term, 0) for reading in readings])
        if large >= _SEEN and large > _CLEARLY * sum([reading.small(term) for reading in readings]):
            found.add(term)
    return frozenset(found)
