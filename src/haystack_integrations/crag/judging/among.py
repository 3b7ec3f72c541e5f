"""One document among those of its list: signals that depend on what they say of the question together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.evidence import Evidence, Features, weight_of
from haystack_integrations.crag.judging.phrases import share_of, weight_of_pairs
from haystack_integrations.crag.judging.reading import Reading


@dataclass(frozen=True, slots=True)
class Among:
    """
    What the documents of a list say of its question together.

    :param names: The question's names.
    :param others: Its other terms.
    :param damped: Weights of its terms that differ little, for lists of a corpus that nothing is known of.
    :param pairs: What its pairs weigh by them.
    """

    names: frozenset[str]
    others: Sequence[str]
    damped: Mapping[str, float]
    pairs: float


def beside(asked: Asked, evidence: Evidence, among: Among, reading: Reading, rank: int) -> Features:
    """
    Measure one document of a list.

    :param asked: The question.
    :param evidence: What the document shares with it.
    :param among: What the documents of the list say of it together.
    :param reading: The document.
    :param rank: Its place in the list, from 0.
    :returns: All signals that do not compare it with others.
    """
    return {
        "rank": 1 / (1 + rank),
        **evidence.wording,
        "bm25_damped": sum(among.damped[term] * count for term, count in evidence.often.items()) / 8,
        "pairs_damped": share_of(weight_of_pairs(evidence.met, among.damped), among.pairs, among.damped, doubt=True),
        "covered_damped": fsum(map(among.damped.__getitem__, evidence.found)) / (sum(among.damped.values()) or 1.0),
        "run": evidence.run,
        **_names(asked, among, reading, evidence.found),
        **evidence.cues,
    }


def _names(asked: Asked, among: Among, reading: Reading, found: frozenset[str]) -> Features:
    names, weight, other_weight = among.names, weight_of(asked, among.names), weight_of(asked, among.others)
    return {
        "names_covered": weight_of(asked, found & names) / weight if weight else 1.0,
        "names_all": float(found >= names),
        "names_in_title": weight_of(asked, reading.title_terms & names) / weight if weight else 0.0,
        "names": float(len(names)),
        "others_covered": weight_of(asked, found.intersection(among.others)) / other_weight if other_weight else 1.0,
        "numbers_missing": float(sum(term.isdigit() and term not in found for term in asked.terms)),
    }
