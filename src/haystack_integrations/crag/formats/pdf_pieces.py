"""The text of a PDF's page in pieces: where each begins, and as what it is marked."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from pypdf import PageObject
from pypdf.generic import DictionaryObject

_OF_PAGE: Final = -2
_NUMBER: Final = re.compile(r"\d+")


class Piece(NamedTuple):
    """
    A piece of a page's text, in order, where it begins, in points, and the number of its mark.

    -1 is no mark, -2 that of a head or foot of the page.
    """

    text: str
    x: float
    y: float
    mark: int = -1


def pieces_of(page: PageObject) -> list[Piece]:
    """
    Read a page.

    :param page: The page.
    :returns: Its text; in one piece without a place where what pypdf tells of its pieces is not that text.
    """
    pieces, within = list[Piece](), [-1]

    def enter(operator: bytes, operands: Any, *_: Any) -> None:
        if operator in {b"BDC", b"BMC"}:
            told = operands[1] if len(operands) > 1 else None
            if not isinstance(told, DictionaryObject):
                within.append(within[-1])
            else:
                within.append(_OF_PAGE if told.get("/Type") == "/Pagination" else told.get("/MCID", -1))
        elif operator == b"EMC" and len(within) > 1:
            within.pop()

    def hear(text: str, outer: list[float], inner: list[float], *_: Any) -> None:
        x = inner[4] * outer[0] + inner[5] * outer[2] + outer[4]
        y = inner[4] * outer[1] + inner[5] * outer[3] + outer[5]
        pieces.append(Piece(text, x, y, within[-1]))

    text = page.extract_text(visitor_operand_before=enter, visitor_text=hear)
    return pieces if text_of(pieces) == text else unplaced(text)


def text_of(pieces: Sequence[Piece]) -> str:
    """
    Join pieces.

    :param pieces: The pieces of a page.
    :returns: Its text.
    """
    return "".join(piece.text for piece in pieces)


def unplaced(text: str) -> list[Piece]:
    """
    Make a piece of a text of which nobody knows where it stands.

    :param text: The text of a page.
    :returns: The piece alone.
    """
    return [Piece(text, 0.0, float("inf"))]


def without_repeated_feet(pieces: Sequence[Piece], seen: set[str]) -> list[Piece]:
    """
    Leave out heads and feet that pages before have, too, but for numbers: they stand within a sentence.

    :param pieces: The text of a page.
    :param seen: Those of the pages before, to which those of this one are added.
    :returns: The rest of the text.
    """
    left = list[Piece]()
    for is_foot, group in groupby(pieces, lambda piece: piece.mark == _OF_PAGE):
        own = list(group)
        words = _NUMBER.sub("0", "".join("".join(piece.text for piece in own).split())) if is_foot else ""
        if not words or words not in seen:
            left += own
        else:
            left.append(Piece("\n", own[0].x, own[0].y))
        seen.add(words)
    return left
