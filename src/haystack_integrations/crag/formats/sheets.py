"""Sheets as Markdown: tables with the names of their columns, or, where a row holds prose, a section for each row."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Final

from haystack_integrations.crag.texts.headings import escaped

_LONGEST_ROW: Final = 100  # words; two of them fill a passage
_LONGEST_NAME: Final = 30  # words of a column's name, as a survey has whole questions for names
_LONGEST_HEAD: Final = 400  # characters of column names that can stand above every passage
_LONGEST_HEADING: Final = 200


def markdown_of(rows: Iterable[Sequence[str]]) -> str:
    """
    Write the rows of a sheet as Markdown.

    A row with one filled cell, at the beginning or below an empty row, is what stands above a table. The row after it
    has the names of the table's columns. If some row is long, or the names are, each row becomes a section below its
    cell of the column that tells rows apart best, since a row longer than a passage would be cut.

    :param rows: The cells' texts, row by row.
    :returns: The Markdown; empty if no cell has text.
    """
    parts, table, is_apart = list[str](), list[list[str]](), True
    for row in rows:
        cells = [" ".join(cell.split()) for cell in row]
        filled = [cell for cell in cells if cell]
        if filled and not (is_apart and len(filled) == 1):
            table.append(cells)
            is_apart = False
            continue
        if filled:
            parts += [*_parts(table), escaped(filled[0])]
            table = []
        is_apart = True
    return "\n\n".join([*parts, *_parts(table)])


def told(value: object, digits: int = 15) -> str:
    """
    Write a value of a cell as a reader sees it.

    :param value: The value.
    :param digits: How many digits of a number count.
    :returns: The text: nothing for None, a date alone at midnight, hours of a duration, no decimals of a whole number.
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes").removesuffix(" 00:00")
    if isinstance(value, timedelta):
        seconds = round(abs(value.total_seconds()))
        return f"{'-' if value < timedelta() else ''}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.{digits}g}" if is_number else str(value)


def _parts(table: Sequence[Sequence[str]]) -> list[str]:
    """Tell a table in as many parts as are to stand apart; columns without a text are left out."""
    columns = [column for column in zip_longest(*table, fillvalue="") if any(column)]
    rows = list(zip(*columns, strict=True))
    if not rows:
        return []
    names, *others = rows
    if max(map(_words, names)) > _LONGEST_NAME:  # the first row is one like the others
        names, others = ("",) * len(names), rows
    is_long = not any(names) or any(sum(map(_words, row)) > _LONGEST_ROW for row in others)
    if others and (is_long or sum(map(len, names)) > _LONGEST_HEAD):
        key = max(range(len(names)), key=lambda column: len({row[column] for row in others if _names(row[column])}))
        return [part for row in others for part in _section(names, row, key)]
    return ["\n".join(map(_line, [names, ["---"] * len(names), *others]))]


def _words(cell: str) -> int:
    return len(cell.split())


def _names(cell: str) -> bool:
    """Tell whether a cell can be the name of its row: a number seldom is what is asked for."""
    return len(cell) <= _LONGEST_HEADING and any(map(str.isalpha, cell))


def _section(names: Sequence[str], row: Sequence[str], key: int) -> list[str]:
    """Tell a row: the cell of its name as heading, the others each behind the name of its column."""
    is_named = _names(row[key])
    cells = [
        escaped(": ".join(filter(None, (name, cell))))
        for column, (name, cell) in enumerate(zip(names, row, strict=True))
        if cell and not (is_named and column == key)
    ]
    return [f"### {row[key]}", *cells] if is_named else cells


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
