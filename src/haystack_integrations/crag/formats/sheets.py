"""Sheets as Markdown: tables with the names of their columns, or, where a row holds prose, a section for each row."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise, takewhile, zip_longest
from typing import Final

from haystack_integrations.crag.formats.escaping import escaped
from haystack_integrations.crag.texts.table_heads import as_one_row, can_stand_above

_LONGEST_ROW: Final = 100  # words; two of them fill a passage
_LONGEST_NAME: Final = 30  # words of a column's name, as a survey has whole questions for names
_LONGEST_HEADING: Final = 200
_EXACT: Final = 2**53  # below, each whole number has a float of its own
_LARGE: Final = 1e21  # from here on spreadsheets write powers of ten, whatever the format
_SMALL: Final = 1e-9  # a format shows so many decimals; below, powers of ten are shorter
_NUMBER: Final = re.compile(r"\d")
_FIGURE: Final = re.compile(r"[\W_]*\d")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")  # as often the name of a column as a figure in it
_MANY: Final = 3  # rows
_NO_NAME: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?|\d{1,2}([./])\d{1,2}\1(?:\d\d|\d{4})|[^\s@]+@[^\s@]+\.\w+|https?://\S+|.*[?\uff1f]"
)


def markdown_of(rows: Iterable[Sequence[str]]) -> str:
    """
    Write the rows of a sheet as Markdown.

    A row with one filled cell, at the beginning or below an empty row, is what stands above a table. The row after it
    has the names of the table's columns, unless it goes on with the table before: an empty row may only part groups. If
    some row is long, or the names are, each row becomes a section below its cell of the column that tells rows apart
    best, since a row longer than a passage would be cut.

    :param rows: The cells' texts, row by row.
    :returns: The Markdown; empty if no cell has text.
    """
    parts, table, last, is_captioned = list[str](), list[list[str]](), list[list[str]](), False
    for block in _blocks(rows):
        captions, body = _parted(block, is_first=not last)
        if captions:
            parts += [*table_of(table), *captions]
            table, is_captioned = [], True
        if not body:
            continue
        if last and _goes_on(body, last, is_captioned=is_captioned):
            table = table or last[:1]
            table += body
        else:
            parts += table_of(table)
            table = _with_one_head(body)
        last, is_captioned = table, False
    return "\n\n".join([*parts, *table_of(table)])


def _blocks(rows: Iterable[Sequence[str]]) -> Iterator[list[list[str]]]:
    """Give the rows between empty ones."""
    block = list[list[str]]()
    for row in rows:
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            block.append(cells)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _parted(block: list[list[str]], *, is_first: bool) -> tuple[list[str], list[list[str]]]:
    """Part what stands above a table from it, but for the name of the only column of figures of the first one."""
    above = list(takewhile(lambda row: sum(map(bool, row)) == 1, block))
    body = block[len(above) :]
    if is_first and above and _is_named(body, above[-1]):
        body = [above.pop(), *body]
    return [escaped("".join(row)) for row in above], body


def _is_named(body: Sequence[Sequence[str]], alone: Sequence[str]) -> bool:
    """Tell whether a cell alone names the second of two columns: it stands over figures, beside the names of rows."""
    used = sorted({column for row in body for column, cell in enumerate(row) if cell})
    if len(used) != 2 or not any(alone[used[1] : used[1] + 1]):  # noqa: PLR2004
        return False
    told = [cell for row in body for cell in row[used[1] : used[1] + 1] if cell]
    return _has_figures(told[:1]) and all(map(_FIGURE.match, told))


def _goes_on(body: Sequence[Sequence[str]], last: Sequence[Sequence[str]], *, is_captioned: bool) -> bool:
    """Tell whether rows below an empty one are of the table before, or begin one: then the first has names."""
    (names, *before), (first, *others) = last, body
    filled = {column for column, cell in enumerate(first) if cell}
    named = {column for column, name in enumerate(names) if name}
    if any(first[column] == names[column] for column in filled & named):
        return False
    is_like = filled == named and len(others) == 1  # a first price may be "free"
    if not is_like and not _has_figures(first) and any(_is_counted(others, column) for column in filled):
        return False
    may_be = others or len(filled) > len(named)  # names alone, with their rows below another empty one
    is_wider = any(may_be and all("".join(row[column:][:1]) for row in others) for column in filled - named)
    if is_wider and not _has_figures(first):  # a column that the table before does not have
        return False
    if not is_captioned:
        return True
    figures = [column for column in filled if _has_figures([first[column]])]
    counted = figures and all(not before or _is_counted(before, column) for column in figures)
    return bool(counted) and filled <= named and not _has_figures(names)


def _has_figures(cells: Iterable[str]) -> bool:
    return any(_NUMBER.search(cell) and not _YEAR.fullmatch(cell) for cell in cells)


def _is_counted(rows: Iterable[Sequence[str]], column: int) -> bool:
    """Tell whether a column has numbers, and nothing else."""
    told = [row[column] for row in rows if row[column:] and row[column]]
    return bool(told) and all(map(_NUMBER.search, told))


def told(value: object, digits: int = 15) -> str:
    """
    Write a value of a cell as a reader sees it.

    :param value: The value.
    :param digits: How many digits of a number count.
    :returns: The text: a date alone at midnight, no seconds if there are none, hours of a duration, no decimals of a
        whole number, and all of its digits: by `4.1e+15` nobody finds an order, and by `5e-05` no tolerance.
    """
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds" if value.second else "minutes").removesuffix(" 00:00")
    if isinstance(value, time):
        return value.isoformat("seconds" if value.second else "minutes")
    if isinstance(value, timedelta):
        seconds = round(abs(value.total_seconds()))
        return f"{'-' if value < timedelta() else ''}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < _EXACT:
        return f"{value:.0f}"
    text = f"{value:.{digits}g}"
    return f"{Decimal(text):f}" if _SMALL <= abs(value) < _LARGE else text


def table_of(table: Sequence[Sequence[str]]) -> list[str]:
    """
    Write a table whose first row has the names of its columns.

    :param table: The rows.
    :returns: As many parts as are to stand apart; columns without a text are left out.
    """
    columns = [column for column in zip_longest(*table, fillvalue="") if any(column)]
    rows = list(zip(*columns, strict=True))
    if not rows:
        return []
    names, *others = rows
    if max(map(_words, names)) > _LONGEST_NAME or _is_nameless(columns):  # the first row is one like the others
        names, others = ("",) * len(names), rows
    is_long = not any(names) or any(sum(map(_words, row)) > _LONGEST_ROW for row in others)
    if others and (is_long or not can_stand_above(names)):
        key = max(range(len(names)), key=lambda column: len({row[column] for row in others if _names(row[column])}))
        return [part for row in others for part in _section(names, row, key)]
    return ["\n".join(map(_line, [names, ["---"] * len(names), *others]))]


def _with_one_head(rows: list[list[str]]) -> list[list[str]]:
    """Write names that stand in two rows into one, as in `Price net`: only the first stands above other passages."""
    if len(rows) <= 2:  # noqa: PLR2004
        return rows
    width = max(map(len, rows))
    first, second = ([*row, *[""] * (width - len(row))] for row in rows[:2])
    columns = [column for column in range(width) if any("".join(row[column : column + 1]) for row in rows)]
    pairs = list(pairwise(columns))
    for before, column in pairs:  # a name stands over the empty cells beside it
        first[column] = first[column] or first[before]
    parted = [(before, column) for before, column in pairs if first[column] and first[column] == first[before]]
    if not parted or not all(second[column] and second[column] != second[before] for before, column in parted):
        return rows
    start = columns[0]
    if _has_figures(second):  # but years
        is_below = first[start] == second[start] != ""
    elif first[start]:
        is_below = second[start] in ("", first[start])
    else:  # a row of days and shifts looks like one of names, too
        is_below = any(_is_counted(rows[2:], column) for _, column in parted)
    return [as_one_row([first, second]), *rows[2:]] if is_below else rows


def _is_nameless(columns: Iterable[Sequence[str]]) -> bool:
    """Tell whether the first cell of some column is one like all others, which names never are: a date, an address."""
    return any(all(map(_NO_NAME.fullmatch, column)) for column in columns if len(column) >= _MANY)


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
