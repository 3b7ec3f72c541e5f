"""A document among the others of its list, before it is compared with each: which terms are names, and weigh what."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum, log

from haystack_integrations.crag.judging.asking import Asked, names_in
from haystack_integrations.crag.judging.evidence import Evidence, Features, weight_of
from haystack_integrations.crag.judging.phrases import doubt_of, share_of, weight_of_pairs
from haystack_integrations.crag.judging.reading import Reading
from haystack_integrations.crag.texts.text import is_ideograph


@dataclass(frozen=True, slots=True)
class Among:
    """
    What the documents of a list say of its question together.

    :param names: The question's names.
    :param others: Its other terms.
    :param weights: What the names weigh, and the others.
    :param numbers: Those of its terms that are numbers.
    :param damped: Weights of its terms that differ little, for lists of a corpus that nothing is known of.
    :param total: Their sum.
    :param pairs: What its pairs weigh by them.
    :param doubt: What a pair weighs by them on average.
    """

    names: frozenset[str]
    others: frozenset[str]
    weights: tuple[float, float]
    numbers: Sequence[str]
    damped: Mapping[str, float]
    total: float
    pairs: float
    doubt: float


def among(asked: Asked, readings: Sequence[Reading], found: Sequence[frozenset[str]]) -> Among:
    """
    Read what is the same for all documents of a list.

    :param asked: The question.
    :param readings: The documents.
    :param found: The question's terms in each.
    :returns: What they say together.
    """
    names, damped = names_in(asked, readings), _damped(asked, found)
    others = frozenset(asked.terms) - names
    return Among(
        names=names,
        others=others,
        weights=(weight_of(asked, names), weight_of(asked, others)),
        numbers=[term for term in asked.terms if term.isdigit()],
        damped=damped,
        total=sum(damped.values()) or 1.0,
        pairs=weight_of_pairs(asked.pairs, damped),
        doubt=doubt_of(damped),
    )


def beside(asked: Asked, evidence: Evidence, told: Among, reading: Reading, rank: int) -> Features:
    """
    Give all signals of a document that do not compare it with others.

    :param asked: The question.
    :param evidence: What the document shares with it.
    :param told: What all documents of the list say.
    :param reading: The document.
    :param rank: Its place, from 0.
    :returns: Signals by name.
    """
    return {
        "rank": 1 / (1 + rank),
        **evidence.wording,
        "bm25_damped": sum(told.damped[term] * count for term, count in evidence.often.items()) / 8,
        "pairs_damped": share_of(weight_of_pairs(evidence.met, told.damped), told.pairs, told.doubt),
        "covered_damped": fsum(map(told.damped.__getitem__, evidence.found)) / told.total,
        "run": evidence.run,
        **_names(asked, told, reading, evidence.found),
        **evidence.cues,
    }


def _names(asked: Asked, told: Among, reading: Reading, found: frozenset[str]) -> Features:
    names, others, (weight, other_weight) = told.names, told.others, told.weights
    return {
        "names_covered": weight_of(asked, found & names) / weight if weight else 1.0,
        "names_all": float(found >= names),
        "names_in_title": weight_of(asked, reading.title_terms & names) / weight if weight else 0.0,
        "names": float(len(names)),
        "others_covered": weight_of(asked, found & others) / other_weight if other_weight else 1.0,
        "numbers_missing": float(sum(term not in found for term in told.numbers)),
    }


def _damped(asked: Asked, found: Sequence[frozenset[str]]) -> dict[str, float]:
    """
    Weigh the question's terms by how few of these documents have them.

    They were retrieved for the question, so what all of them have is no common word: weights differ by a factor of
    two, not ten. It says less than a corpus does, and the same in every corpus. An ideograph is half a word.
    """
    held, size = Counter(chain.from_iterable(found)), len(found)
    return {term: log(2 + size / (held[term] + 1)) / (1 + is_ideograph(term)) for term in asked.terms}
