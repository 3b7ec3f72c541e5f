"""Which document of a list speaks of which other one, having its title in its text, and what two cover together."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.evidence import Features, weight_of
from haystack_integrations.crag.judging.reading import Reading

_NAMED: Final = 32


def covered_jointly(
    asked: Asked, readings: Sequence[Reading], features: Sequence[Features], found: Sequence[frozenset[str]]
) -> list[Features]:
    """
    Measure what each document covers together with another one: questions of two hops need two.

    :param asked: The question.
    :param readings: The documents.
    :param features: What was measured of each.
    :param found: The question's terms in each.
    :returns: Further signals of each.
    """
    links, size = links_of(readings), range(len(readings))
    known: dict[frozenset[str], float] = {}

    def share(terms: frozenset[str]) -> float:
        if terms not in known:  # most documents of a list have the same of the question's terms
            known[terms] = weight_of(asked, terms) / asked.total
        return known[terms]

    spoken, often, rows = turned(links), Counter(found), []
    # Documents with the same of the question's terms cover the same together; two of them, what each does.
    best = {
        terms: max((share(terms | other) for other, times in often.items() if other != terms or times > 1), default=0.0)
        for terms in often
    }
    for n, own in enumerate(features):
        by, to = links[n], spoken[n]
        joint = best[found[n]] if len(size) > 1 else own["covered"]
        rows.append(
            {
                "joint": joint,
                "joint_gain": joint - own["covered"],
                "beyond_first": share(found[n] - found[0 if n else 1]) if len(size) > 1 else 0.0,
                "spoken_of": float(bool(by)),
                "speaks_of": float(bool(to)),
                "spoken_of_covered": max((features[k]["covered"] for k in by), default=0.0),
                "speaks_of_covered": max((features[k]["covered"] for k in to), default=0.0),
                "spoken_of_named": max((features[k]["title_named"] for k in by), default=0.0),
                "linked_joint": max((share(found[n] | found[k]) for k in by | to), default=0.0),
            }
        )
    return rows


def links_of(readings: Sequence[Reading]) -> list[set[int]]:
    """
    Tell which documents of a list speak of which; a title that many have is looked for once.

    :param readings: The documents.
    :returns: For each document, the places of the others whose text speaks of its title.
    """
    named: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for n, reading in enumerate(readings):
        named[reading.name].append(n)
    holding: dict[str, set[int]] = {term: set() for term in chain.from_iterable(name[:_NAMED] for name in named)}
    for k, other in enumerate(readings):
        for term in holding.keys() & other.places.terms():
            holding[term].add(k)
    speaking = dict[tuple[str, ...], set[int]]()
    for name, own in named.items():
        # That a text speaks of its own title, as most do, is not asked.
        asked = _having(name, holding).difference(own if len(own) == 1 else ())
        speaking[name] = {k for k in asked if speaks_of(readings[k], name)}
    return [speaking[reading.name] - {n} for n, reading in enumerate(readings)]


def turned(links: Sequence[set[int]]) -> list[set[int]]:
    """
    Read links the other way round.

    :param links: As `links_of` gives them.
    :returns: For each document, the places of the others of whose title its text speaks.
    """
    others = [set[int]() for _ in links]
    for n, speaking in enumerate(links):
        for k in speaking:
            others[k].add(n)
    return others


def _having(name: Sequence[str], holding: Mapping[str, set[int]]) -> set[int]:
    """Tell which texts have all terms of a name: few of a long list, so that not each is asked for each name."""
    return set[int].intersection(*map(holding.__getitem__, name[:_NAMED])) if name else set()


def speaks_of(reading: Reading, name: Sequence[str]) -> bool:
    """
    Tell whether a text has a name, its terms in a row.

    :param reading: The text.
    :param name: The terms of a title.
    :returns: Whether it has; of an empty name not.
    """
    name = name[:_NAMED]  # of a title of thousands of words, in texts that repeat one of them, all would take minutes
    if not name or any(term not in reading.places for term in name):
        return False
    begins = set(reading.places[name[0]])
    for k, term in enumerate(name[1:], 1):
        begins.intersection_update([place - k for place in reading.places[term]])
        if not begins:
            return False
    return True
