"""Documents that repeat another one of their list: the same page twice, an older version, a chunk cut elsewhere."""

from collections.abc import Sequence
from typing import Final

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.company import Measured, measure
from haystack_integrations.crag.judging.evidence import examine
from haystack_integrations.crag.judging.reading import Reading

# Words of the shorter text that the other one has, and the least share that they are of the words of both. Pages that
# differ in a word, a line at the top or the last sentence are found; of two chunks that overlap by half, neither is.
_HELD: Final = 0.9
_SHARED: Final = 0.5


def originals(readings: Sequence[Reading], found: Sequence[frozenset[str]]) -> list[int]:
    """
    Tell which documents of a list say nothing that another one does not say.

    A copy of the best document takes away what makes that one stand out, and agrees with it: both say nothing of
    whether it answers, so each text is to count once.

    :param readings: The documents.
    :param found: The question's terms in each. One that another lacks makes it no copy of that one: a page of this year
        differs from that of last year in one word.
    :returns: For each document the place of the one that it repeats; its own where it repeats none.
    """
    words = [frozenset(reading.places) for reading in readings]
    kept, repeated = list[int](), list(range(len(readings)))
    for number in sorted(repeated, key=lambda place: (-len(found[place]), place)):
        same = (k for k in kept if found[number] <= found[k] and _is_same(words[number], words[k]))
        repeated[number] = next(same, number)
        if repeated[number] == number:
            kept.append(number)
    return repeated


def measure_once(asked: Asked, readings: Sequence[Reading]) -> Measured:
    """
    Measure a retrieval in which each text counts once.

    A calibration is fitted on lists as they were retrieved: of those of the public sets few hold a copy.

    :param asked: The question.
    :param readings: Its documents, at least one, in rank order.
    :returns: The signals of each document, a copy in the place of what it repeats; and of the list without copies.
    """
    repeated = originals(readings, [examine(asked, reading).found for reading in readings])
    distinct = sorted(set(repeated))
    whole = measure(asked, [readings[place] for place in distinct])
    rows = dict(zip(distinct, whole.documents, strict=True))
    while left := [place for place in range(len(readings)) if place not in rows]:
        # One copy of each at a time, among the others of the list.
        copies = {repeated[place]: place for place in reversed(left)}
        swapped = measure(asked, [readings[copies.get(place, place)] for place in distinct]).documents
        rows |= {copies[place]: row for place, row in zip(distinct, swapped, strict=True) if place in copies}
    return Measured([row for _, row in sorted(rows.items())], whole.together, distinct)


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    least, most = sorted((len(one), len(other)))
    if not least or least < _SHARED * most:
        return False
    shared = len(one & other)
    return shared >= _HELD * least and shared >= _SHARED * (least + most - shared)
