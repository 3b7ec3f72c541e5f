"""Which document of a list speaks of which other one: it has that one's title in its text."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from haystack_integrations.crag.judging.reading import Reading

_NAMED: Final = 32


def links_of(readings: Sequence[Reading]) -> list[set[int]]:
    """
    Tell which documents of a list speak of which; a title that many have is looked for once.

    :param readings: The documents.
    :returns: For each document, the places of the others whose text speaks of its title.
    """
    names = {reading.name for reading in readings}
    holding: dict[str, set[int]] = {term: set() for term in chain.from_iterable(name[:_NAMED] for name in names)}
    for k, other in enumerate(readings):
        for term in holding.keys() & other.places.terms():
            holding[term].add(k)
    speaking = {name: {k for k in _having(name, holding) if speaks_of(readings[k], name)} for name in names}
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
