"""Headings of a PDF before what they are of: a browser paints those last that its page gives a place of their own."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from haystack_integrations.crag.formats.pdf_pieces import Piece
from haystack_integrations.crag.formats.pdf_tags import Heading

_MOST: Final = 200  # headings of a page, each of which is compared with all of its text
_LESS: Final = 0.1  # of the letters on the wrong side of a heading may be there after it has moved


def with_headings_in_place(
    pieces: Sequence[Piece], order: Mapping[int, int], marked: Mapping[int, Heading]
) -> list[Piece]:
    """
    Move headings that stand far from where the tags have them: what is below one would be of another.

    :param pieces: The text of a page.
    :param order: The places of its marks in the order of the tags.
    :param marked: Which of its pieces are headings.
    :returns: The text; a heading that was moved is on a line of its own.
    """
    places = [order[piece.mark] for piece in pieces if piece.mark in order]
    if places == sorted(places):
        return list(pieces)
    blocks: dict[Heading, list[int]] = {}
    for number, piece in enumerate(pieces):
        if (heading := marked.get(piece.mark)) is not None:
            blocks.setdefault(heading, []).append(number)
    others = [number for number in range(len(pieces)) if pieces[number].mark not in marked]
    letters = [len(pieces[number].text.strip()) for number in others]
    moved: dict[int, list[Piece]] = {}
    gone: dict[int, list[Piece]] = {}
    for own in sorted(list(blocks.values())[:_MOST], key=lambda own: order.get(pieces[own[0]].mark, 0)):
        place = _place(pieces, others, letters, order, own)
        if place is not None:
            line = Piece("\n", 0.0, 0.0)
            moved.setdefault(place, []).extend([line, *(pieces[number] for number in own), line])
            gone |= {number: [] for number in own} | {own[0]: [line]}
    parts = ([*moved.get(number, ()), *gone.get(number, [piece])] for number, piece in enumerate(pieces))
    return [piece for part in parts for piece in part] + moved.get(len(pieces), [])


def _place(
    pieces: Sequence[Piece],
    others: Sequence[int],
    letters: Sequence[int],
    order: Mapping[int, int],
    own: Sequence[int],
) -> int | None:
    """Find the piece before which a heading has the least text on its wrong side; none if that is where it is."""
    mine = order.get(pieces[own[0]].mark)
    if mine is None:
        return None
    places = [order.get(pieces[number].mark, mine) for number in others]
    later = [0, *accumulate(size if place > mine else 0 for size, place in zip(letters, places, strict=True))]
    earlier = [0, *accumulate(size if place < mine else 0 for size, place in zip(letters, places, strict=True))]
    wrong = [before + earlier[-1] - known for before, known in zip(later, earlier, strict=True)]
    least = min(wrong)
    if least >= wrong[sum(number < own[0] for number in others)] * _LESS:
        return None
    at = len(wrong) - 1 - wrong[::-1].index(least)
    while at and not letters[at - 1]:
        at -= 1
    return others[at] if at < len(others) else len(pieces)
