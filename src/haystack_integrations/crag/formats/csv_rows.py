"""What the rows of a CSV file are, by whichever delimiter it has."""

import csv
import re
from collections import Counter, deque
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from typing import Final

from haystack_integrations.crag.formats.sheets import markdown_of

# Of two that part all rows alike, the first: in `Weight, kg;Price` and `1,5;2,5` commas are of the cells.
_DELIMITERS: Final = "\t;,|"
_TOLD: Final = re.compile(rf"sep=([{_DELIMITERS}])\r?\n")  # to Excel, above the first row
_LOOKED_AT: Final = 50


def csv_as_markdown(data: bytes) -> str:
    """
    Write a CSV file as Markdown.

    :param data: The file, in UTF-8.
    :returns: The Markdown; of a file with a cell of more than 131,072 characters, as behind a quote that is never
        closed, the text as it is.
    :raises UnicodeDecodeError: When it is in another encoding.
    """
    text = data.decode("utf-8-sig")
    told = _TOLD.match(text)
    rest = text[told.end() :] if told else text
    try:
        delimiter = told[1] if told else max(_DELIMITERS, key=lambda one: _equal_rows(_read(text, one)))
        return markdown_of(_read(rest, delimiter))
    except csv.Error:
        return text


def _read(text: str, delimiter: str) -> Iterator[list[str]]:
    # Databases export a quote as `\"`; where quotes are doubled, a backslash may end a cell: `"C:\"`.
    doubled = text.replace('\\"', '""')
    is_doubled = doubled != text and not _is_strict(text, delimiter) and _is_strict(doubled, delimiter)
    return _rows(doubled if is_doubled else text, delimiter)


def _rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    # A quote is one behind a space, too: people write `Ann, "Bonn, Main Street"`.
    return csv.reader(StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=strict)


def _is_strict(text: str, delimiter: str) -> bool:
    """Tell whether each quote that is not doubled begins or ends a cell."""
    try:
        deque(_rows(text, delimiter, strict=True), maxlen=0)
    except csv.Error:
        return False
    return True


def _equal_rows(rows: Iterator[list[str]]) -> int:
    """Tell how many rows, of those at the beginning, have as many cells as most have, more than one."""
    widths = Counter(map(len, islice(rows, _LOOKED_AT)))
    return max((times for width, times in widths.items() if width > 1), default=0)
