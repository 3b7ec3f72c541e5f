"""What the strips of a run share with a question, word by word: read once, as tables that all signals come from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.judging.asking import kind_of
from haystack_integrations.crag.judging.reading import BRACKETS
from haystack_integrations.crag.judging.surface import is_year
from haystack_integrations.crag.texts.languages.function_words import naming
from haystack_integrations.crag.texts.languages.stemming import STEMS
from haystack_integrations.crag.texts.text import surface_words
from haystack_integrations.crag.texts.wording import pair

Values = NDArray[np.float64]
Table = NDArray[np.bool_]
Stem = Callable[[str], str]

_MONTHS: Final = frozenset(
    "january february march april may june july august september october november december".split()
)
_NUMBERS: Final = frozenset(
    "one two three four five six seven eight nine ten eleven twelve hundred thousand million billion half twice".split()
)
# How a study says what it found; stems, so that all forms count.
_FINDINGS: Final = frozenset(
    "associ compar conclud conclus confirm decreas demonstr effect evid find found identifi increas indic observ reduc "
    "result reveal show shown signific suggest".split()
)


@dataclass(frozen=True)
class Worded:
    """
    Strips against a question: n strips of d documents, t distinct terms of the question.

    :param kind: What the question asks for.
    :param pairs: Number of neighbouring terms in the question.
    :param said: The question's words, one for each term, as they are written.
    :param own: Which terms a strip has; shape (n, t).
    :param titles: Which terms a document's title has; shape (d, t).
    :param is_named: Whether the question names a document's title, all of it; shape (d,).
    :param counts: Numbers by name, one for each strip: `words`, `content` (without stop words), `hits` (occurrences of
        terms), `phrases` (pairs that stand together), `findings`, `numbers`, `dates`.
    :param vocabulary: Content words of all strips, distinct.
    :param words: For each strip, numbers of its content words in the vocabulary.
    :param links: For each document, numbers of the strips of others that name it: the way from one hop of a question to
        the next.
    """

    kind: str
    pairs: int
    said: list[str]
    own: Table
    titles: Table
    is_named: Table
    counts: dict[str, Values]
    vocabulary: list[str]
    words: list[list[int]]
    links: list[list[int]]


def read_strips(query: str, texts: Sequence[str], documents: Sequence[int], titles: Sequence[str]) -> Worded:
    """
    Read the strips of a run.

    :param query: The question; one of stop words only is taken word by word.
    :param texts: The strips.
    :param documents: The document of each strip.
    :param titles: One title per document, empty for none.
    :returns: What they share.
    """
    stem, asked = _asked(query)
    said: dict[str, str] = {}
    for word, term in asked:
        said.setdefault(term, word)
    places = {term: place for place, term in enumerate(said)}
    reader = _Reader(places, frozenset(pair(one, two) for (_, one), (_, two) in pairwise(asked) if one != two), stem)
    own = np.zeros((len(texts), len(places)), dtype=bool)
    for number, text in enumerate(texts):
        own[number, reader.read(text)] = True
    heads = [set(_terms(title, stem)) for title in titles]
    above = np.zeros((len(titles), len(places)), dtype=bool)
    for number, head in enumerate(heads):
        above[number, [places[term] for term in head & places.keys()]] = True
    names = [f" {' '.join(_terms(BRACKETS.sub('', title), stem))} " for title in titles]
    return Worded(
        kind=kind_of(query),
        pairs=len(reader.pairs),
        said=list(said.values()),
        own=own,
        titles=above,
        is_named=np.array([bool(head) and head <= places.keys() for head in heads]),
        counts=reader.counted(),
        vocabulary=list(reader.vocabulary),
        words=reader.words,
        links=[
            [k for k, body in enumerate(reader.bodies) if name in body and titles[documents[k]] != title]
            if name.strip()
            else []
            for name, title in zip(names, titles, strict=True)
        ],
    )


class _Reader:
    """Goes through the words of each strip once."""

    def __init__(self, places: dict[str, int], pairs: frozenset[tuple[str, str]], stem: Stem) -> None:
        self.places, self.pairs, self._stem = places, pairs, stem
        self.bodies: list[str] = []
        self.words: list[list[int]] = []
        self.vocabulary: dict[str, int] = {}
        self._counts: list[dict[str, float]] = []

    def read(self, text: str) -> list[int]:
        """Take in a strip, and give the numbers of the question's terms in it."""
        written = surface_words(text)
        lowered = [word.lower() for word in written]
        terms = list(map(self._stem, lowered))
        content = [term for term in terms if term]
        hits = [(place, term) for place, term in enumerate(content) if term in self.places]
        known = self.vocabulary
        self.words.append([known.setdefault(low, len(known)) for low, term in zip(lowered, terms, strict=True) if term])
        self.bodies.append(f" {' '.join(content)} ")
        phrases = {pair(one, two) for (first, one), (second, two) in pairwise(hits) if second == first + 1}
        numbers, dates = self._numbers(lowered, terms)
        self._counts.append(
            {
                "words": len(written),
                "content": len(content),
                "hits": len(hits),
                "phrases": len(self.pairs & phrases),
                "findings": sum(term in _FINDINGS for term in content),
                "numbers": numbers,
                "dates": dates,
            }
        )
        return [self.places[term] for _, term in hits]

    def counted(self) -> dict[str, Values]:
        """Give all counts by name."""
        return {name: np.array([each[name] for each in self._counts], dtype=float) for name in self._counts[0]}

    def _numbers(self, lowered: list[str], terms: list[str]) -> tuple[int, int]:
        """Count numbers and dates that the question does not have itself."""
        numbers = dates = 0
        for word, term in zip(lowered, terms, strict=True):
            if (word[0].isdigit() or word in _NUMBERS) and term not in self.places:
                numbers += 1
                dates += is_year(word)
        return numbers, dates + (not _MONTHS.isdisjoint(lowered))


def _asked(query: str) -> tuple[Stem, list[tuple[str, str]]]:
    """Give the question's words with their terms, and how a word becomes a term."""
    written = naming(surface_words(query))
    for stem in (STEMS.__getitem__, str):
        asked = [(word, term) for word in written if (term := stem(word.lower()))]
        if asked:
            break
    return stem, asked


def _terms(text: str, stem: Stem) -> list[str]:
    return [term for word in surface_words(text) if (term := stem(word.lower()))]
