"""The text of a PDF's page in pieces: where each begins, and as what it is marked."""

from typing import Any, NamedTuple

from pypdf import PageObject
from pypdf.generic import DictionaryObject


class Piece(NamedTuple):
    """A piece of a page's text, in order, where it begins, in points, and the number of its mark; -1 is none."""

    text: str
    x: float
    y: float
    mark: int = -1


def pieces_of(page: PageObject) -> tuple[str, list[Piece]]:
    """
    Read a page.

    :param page: The page.
    :returns: Its text, and the same in pieces.
    """
    pieces, within = list[Piece](), [-1]

    def enter(operator: bytes, operands: Any, *_: Any) -> None:
        if operator in {b"BDC", b"BMC"}:
            told = operands[1] if len(operands) > 1 else None
            within.append(told.get("/MCID", -1) if isinstance(told, DictionaryObject) else within[-1])
        elif operator == b"EMC" and len(within) > 1:
            within.pop()

    def hear(text: str, outer: list[float], inner: list[float], *_: Any) -> None:
        x = inner[4] * outer[0] + inner[5] * outer[2] + outer[4]
        y = inner[4] * outer[1] + inner[5] * outer[3] + outer[5]
        pieces.append(Piece(text, x, y, within[-1]))

    return str(page.extract_text(visitor_operand_before=enter, visitor_text=hear)), pieces
