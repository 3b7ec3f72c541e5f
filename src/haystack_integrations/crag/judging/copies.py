"""
Which documents of a list count: none that repeats another one (the same page twice, an older version, a chunk cut
elsewhere), and of lists that nobody has labelled none beside the only one that speaks of the question.
"""

from collections.abc import Sequence
from itertools import islice
from math import ceil
from typing import Final

from haystack_integrations.crag.judging.asking import Asked
from haystack_integrations.crag.judging.company import Measured, measure, measure_each
from haystack_integrations.crag.judging.evidence import examine, weight_of
from haystack_integrations.crag.judging.places import Places
from haystack_integrations.crag.judging.reading import Reading

# Words of the shorter text that the other one has, and the least share that they are of the words of both. Pages that
# differ in a word, a line at the top or the last sentence are found; of two chunks that overlap by half, neither is.
_HELD: Final = 0.9
_SHARED: Final = 0.5
_MORE: Final = 4  # words that are looked for first, beside twice those that a copy may lack

# Of two chunks, the share of the shorter that is the end of one and the beginning of the other, and of its words that
# both have at least, which is quickly told.
_RUNS_ON: Final = 0.25
_IN_BOTH: Final = 0.2

# What the question's words in a document must weigh, as a share of all of them, for it to speak of the question.
_SPEAKS: Final = 0.1

_MOST_MEASURED: Final = 2_000  # documents, again, for the copies of a list: those of fifty have room many times over


def originals(readings: Sequence[Reading], found: Sequence[frozenset[str]], *, overlaps: bool = False) -> list[int]:
    """
    Tell which documents of a list say nothing that another one does not say.

    A copy of the best document takes away what makes that one stand out, and agrees with it: both say nothing of
    whether it answers, so each text is to count once.

    :param readings: The documents.
    :param found: The question's terms in each. One that another lacks makes it no copy of that one: a page of this year
        differs from that of last year in one word.
    :param overlaps: Whether the next chunk of a text that begins with the end of another one repeats that one, too.
    :returns: For each document the place of the one that it repeats; its own where it repeats none.
    """
    texts = [_Text(reading.places) for reading in readings]

    def is_repeated(one: int, other: int) -> bool:
        return found[one] <= found[other] and _is_repeated(texts[one], texts[other], overlaps=overlaps)

    kept, repeated = list[int](), list(range(len(readings)))
    for number in sorted(repeated, key=lambda place: (-len(found[place]), place)):
        repeated[number] = next((k for k in kept if is_repeated(number, k)), number)
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
    return _measured(asked, readings, originals(readings, [examine(asked, reading).found for reading in readings]))


def measure_apart(asked: Asked, readings: Sequence[Reading]) -> Measured:
    """
    Measure as `measure_once`, but of chunks that overlap the best one only, and the only document that speaks of the
    question as if it had been retrieved alone.

    Of two chunks that say the same none stands out; beside whatever else a small store holds, any document does, as
    only an answer does among pages on its subject. Who has labelled such lists has told the calibration; the shipped
    model has hardly met any.

    :param asked: The question.
    :param readings: Its documents, at least one, in rank order.
    :returns: The signals of each document; and of the list of those that count.
    """
    found = [examine(asked, reading).found for reading in readings]
    repeated = originals(readings, found, overlaps=True)
    whole = _measured(asked, readings, repeated)
    speaking = [place for place in whole.distinct if weight_of(asked, found[place]) > _SPEAKS * asked.total]
    if len(speaking) != 1 or len(whole.distinct) == 1:
        return whole
    places = [number for number, place in enumerate(repeated) if place == speaking[0]]
    alone = _measured(asked, [readings[n] for n in places], [places.index(speaking[0])] * len(places))
    own = dict(zip(places, alone.documents, strict=True))
    return Measured([own.get(n, row) for n, row in enumerate(whole.documents)], alone.together, speaking)


def _measured(asked: Asked, readings: Sequence[Reading], repeated: Sequence[int]) -> Measured:
    """Measure a list; `repeated` tells what each document repeats, as `originals` does."""
    distinct = sorted(set(repeated))
    whole = measure(asked, [readings[place] for place in distinct])
    rows = dict(zip(distinct, whole.documents, strict=True))
    for _ in range(max(1, _MOST_MEASURED // len(distinct))):
        if not (left := [place for place in range(len(readings)) if place not in rows]):
            break
        # One copy of each at a time, among the others of the list.
        copies = {repeated[place]: place for place in reversed(left)}
        swapped = measure_each(asked, [readings[copies.get(place, place)] for place in distinct])
        rows |= {copies[place]: row for place, row in zip(distinct, swapped, strict=True) if place in copies}
    # Hundreds of copies say what their original says: each measured anew took minutes.
    return Measured([rows.get(n, rows[place]) for n, place in enumerate(repeated)], whole.together, distinct)


class _Text:
    """
    What tells soon that two texts are not alike: each of a long list is compared with each.

    :param places: Where its terms stand.
    """

    __slots__ = ("fewest", "places", "second", "some", "words")

    def __init__(self, places: Places) -> None:
        self.places, self.words = places, frozenset(places.terms())
        self.second = next(iter(places.in_order()[1:2]), None)
        lacking = len(self.words) - ceil(_HELD * len(self.words))  # at most, in a copy
        self.some = frozenset(islice(self.words, 2 * lacking + _MORE))
        self.fewest = len(self.some) - lacking  # of those in a copy


def _is_repeated(one: _Text, other: _Text, *, overlaps: bool) -> bool:
    short, long = (one, other) if len(one.words) <= len(other.words) else (other, one)
    may_run_on = overlaps and (one.second in other.words or other.second in one.words)
    if not may_run_on and len(short.some & long.words) < short.fewest:
        return False
    least, shared = len(short.words), len(short.words & long.words)
    if _is_same(shared, least, len(long.words)):
        return True
    if not may_run_on or shared < _IN_BOTH * least:
        return False
    return _runs_on(one.places, other.places) or _runs_on(other.places, one.places)


def _is_same(shared: int, least: int, most: int) -> bool:
    """Tell whether two texts are one, from how many words they share and have each."""
    return 0 < least and shared >= _HELD * least and shared >= _SHARED * (least + most - shared)


def _runs_on(end: Places, beginning: Places) -> bool:
    """Tell whether one text ends with the beginning of another; a word that a border cut does not matter."""
    last, first = end.in_order(), beginning.in_order()
    least = max(1, ceil(_RUNS_ON * min(len(last), len(first))))
    borders = range(max(0, len(last) - len(first)), len(last) - least)
    starts = end.get(first[1], ()) if borders and len(first) > 1 else ()
    return any(n in borders and last[n:-1] == first[1 : len(last) - n] for n in starts)
