"""
How a text is worded against a question: which of its content words occur, and which of its phrases.

A single word is often met by accident, two neighbours of the question that are neighbours again seldom are. Each text
is read once for all of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import fsum, log
from typing import Final

from haystack_integrations.crag.texts.languages.function_words import naming
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.text import terms, words

WINDOW_TERMS: Final = 20
"""Content words in one window: about 40 words, a long sentence or two short ones."""

_TINY: Final = 1e-9
_MOST_KEPT: Final = 64
"""Questions that are kept: statistics, grader and refiner ask for the same one, and for each of its lists."""


@dataclass(frozen=True)
class Question:
    """
    A question as its content words.

    :param terms: The distinct terms, in order.
    :param pairs: Neighbouring terms, each pair in alphabetical order.
    :param read: How a text becomes terms of the same kind.
    """

    terms: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    read: Callable[[str], list[str]]


@dataclass(frozen=True)
class Reading:
    """
    What one text shares with a question.

    :param found: The question's terms in title or text.
    :param pairs: The question's neighbouring terms that are neighbours here, too.
    :param hits: Position and term of each occurrence in the text itself.
    :param length: Terms in the text itself.
    :param is_named: Whether the question names the title, all of it; None without a title.
    """

    found: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    hits: tuple[tuple[int, str], ...]
    length: int
    is_named: bool | None


def ask(query: str) -> Question:
    """
    Read a question; one of stop words only ("Who was it?") is taken word by word.

    :param query: The question.
    :returns: Its terms, without the function words of its language; none for a question without any word.
    """
    query = bare_question(query)
    read = terms if terms(query) else words
    sequence = asked_terms(query)
    return Question(tuple(dict.fromkeys(sequence)), frozenset(_pairs(sequence)), read)


@lru_cache(_MOST_KEPT)
def asked_terms(query: str) -> tuple[str, ...]:
    """
    Reduce a question to what it names.

    :param query: The question.
    :returns: Its terms in order, without courtesies and the function words of its language; all words of one that has
        no others.
    """
    written = words(bare_question(query))
    return tuple([term for word in naming(written) for term in terms(word)] or written)


def read(question: Question, text: str, title: str = "") -> Reading:
    """
    Read a text once for all lexical signals.

    :param question: The question.
    :param text: The text.
    :param title: What is known to be the subject of the text; a phrase does not reach from the title into the text.
    :returns: What they share.
    """
    wanted = set(question.terms)
    heading, body = question.read(title) if title else [], question.read(text)
    hits = tuple([(place, term) for place, term in enumerate(body) if term in wanted])
    pairs = {pair(one, two) for (i, one), (j, two) in pairwise(hits) if j == i + 1}
    pairs.update(_pairs(heading))
    found = frozenset([term for _, term in hits]).union(wanted.intersection(heading))
    return Reading(found, question.pairs & pairs, hits, len(body), wanted.issuperset(heading) if heading else None)


def term_weights(question: Question, found: Sequence[Iterable[str]]) -> dict[str, float]:
    """
    Weigh the question's terms by how few of the given texts have them: inverse document frequency, much smoothed.

    The texts were retrieved for the question, so what all of them have is no common word: weights differ by a factor
    of two, not ten.

    :param question: The question.
    :param found: The question's terms in each text.
    :returns: A weight for each term.
    """
    frequency = Counter(term for each in found for term in each)
    return {term: log(2 + len(found) / (frequency[term] + 1)) for term in question.terms}


def coverage(found: Iterable[str], weights: Mapping[str, float]) -> float:
    """
    Tell which share of a question a text covers.

    :param found: The question's terms in the text.
    :param weights: Weight of each of the question's terms.
    :returns: In [0, 1]; 0 for a question without terms.
    """
    # Exact sums: those of floats in the order of a set would differ from one process to the next.
    return fsum(weights[term] for term in found) / total if (total := fsum(weights.values())) else 0.0


def phrase(reading: Reading, question: Question, weights: Mapping[str, float]) -> float:
    """
    Tell which share of the question's neighbouring terms are neighbours in a text, in either order.

    One more pair of average weight counts as not found, so that few words prove less than many: at most 0.5 for a
    question of two terms, and 0 for a question of one.

    :param reading: The text.
    :param question: The question.
    :param weights: Weight of each of the question's terms.
    :returns: In [0, 1).
    """
    if not question.pairs:
        return 0.0
    missing = 2 * sum(weights.values()) / len(weights)
    total = sum(weights[one] + weights[two] for one, two in question.pairs)
    return sum(weights[one] + weights[two] for one, two in reading.pairs) / (total + missing)


def best_window(reading: Reading, weights: Mapping[str, float]) -> tuple[float, float]:
    """
    Find the place of a text that covers most of the question.

    :param reading: The text.
    :param weights: Weight of each of the question's terms.
    :returns: The coverage of the best window, and where its middle is, as a share of the text.
    """
    best, middle = densest(reading.hits, weights, WINDOW_TERMS)
    return (min(1.0, best / sum(weights.values())), middle / reading.length) if best else (0.0, 0.0)


def densest(hits: Sequence[tuple[int, str]], weights: Mapping[str, float], size: int) -> tuple[float, float]:
    """
    Find the place where terms of the most weight stand together, each counted once.

    :param hits: Positions with their terms, in order.
    :param weights: Weights by term.
    :param size: How many positions belong to one place.
    :returns: The weight, and the middle of the first such place; 0 and 0 where there is none.
    """
    best, middle, first, covered = 0.0, 0.0, 0, 0.0
    inside: defaultdict[str, int] = defaultdict(int)
    for place, term in hits:
        covered += 0.0 if inside[term] else weights[term]
        inside[term] += 1
        while hits[first][0] <= place - size:
            left = hits[first][1]
            inside[left] -= 1
            covered -= 0.0 if inside[left] else weights[left]
            first += 1
        if covered > best + _TINY:
            best, middle = covered, (hits[first][0] + place) / 2
    return best, middle


def pair(one: str, two: str) -> tuple[str, str]:
    """
    Name two neighbouring terms, in whichever order they stand.

    :param one: The one.
    :param two: The other.
    :returns: Both, in alphabetical order.
    """
    return (one, two) if one < two else (two, one)


def _pairs(sequence: Sequence[str]) -> set[tuple[str, str]]:
    return {pair(one, two) for one, two in pairwise(sequence) if one != two}
