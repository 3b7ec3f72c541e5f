"""What the rows of a CSV file are, by whichever delimiter it has."""

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from typing import Final

from haystack_integrations.crag.formats.sheets import markdown_of

_DELIMITERS: Final = ",;\t|"
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
    try:
        delimiter = max(_DELIMITERS, key=lambda one: _equal_rows(_read(text, one)))
        return markdown_of(_read(text, delimiter))
    except csv.Error:
        return text


def _read(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(StringIO(text, newline=""), delimiter=delimiter)


def _equal_rows(rows: Iterator[list[str]]) -> int:
    """Tell how many rows, of those at the beginning, have as many cells as most have, more than one."""
    widths = Counter(map(len, islice(rows, _LOOKED_AT)))
    return max((times for width, times in widths.items() if width > 1), default=0)
