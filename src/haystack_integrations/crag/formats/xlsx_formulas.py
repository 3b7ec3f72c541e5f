"""Formulas of an XLSX file whose results were not saved: programs write them that do not calculate."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Final
from zipfile import ZipFile

_ASKS: Final = re.compile(rb"<(?:\w+:)?calcPr\s[^<>]*\bfullCalcOnLoad=[\"'](?:1|true)[\"']")
_CELL: Final = re.compile(
    rb"<(?:\w+:)?c(?P<look>\s[^<>]*)?>\s*<(?:\w+:)?f(?:\s[^<>]*?)?(?:/>|>[^<]*</(?:\w+:)?f>)"
    rb"(?:\s*<(?:\w+:)?v>(?P<result>[^<]*)<)?"
)
_ZERO: Final = (b"0", b"0.0")


def has_zeros_of_nothing(data: bytes) -> bool:
    """
    Tell whether formulas that are zero may not have been calculated: XlsxWriter saves a zero with each of them.

    :param data: The file.
    :returns: Whether it asks for results when it is opened, and has a formula that is zero.
    """
    return _asks(data) and any(found["result"] in _ZERO for found in _formulas(data))


def without_result(data: bytes) -> int:
    """
    Count formulas of which the file has no result.

    :param data: The file.
    :returns: How many there are; an empty text is a result.
    """
    nothing = (None, b"", *(_ZERO if _asks(data) else ()))
    return sum(found["result"] in nothing and b'"str"' not in (found["look"] or b"") for found in _formulas(data))


def _asks(data: bytes) -> bool:
    """openpyxl would say so of each file that does not deny it."""
    with ZipFile(BytesIO(data)) as file:
        return "xl/workbook.xml" in file.namelist() and _ASKS.search(file.read("xl/workbook.xml")) is not None


def _formulas(data: bytes) -> Iterator[re.Match[bytes]]:
    with ZipFile(BytesIO(data)) as file:
        for name in file.namelist():
            if name.startswith("xl/worksheets/"):
                yield from _CELL.finditer(file.read(name))
