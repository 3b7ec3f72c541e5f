"""Tables of a page, so that each row stands below one row with the names of its columns."""

import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

from lxml.html import HtmlElement, builder

from haystack_integrations.crag.formats.html_lists import number_of
from haystack_integrations.crag.texts.table_heads import LONGEST_CELL, as_one_row

_MOST_CELLS: Final = 10_000  # of a page
_MOST_ROWS: Final = 9_999  # that a cell spans
_MOST_HEADS: Final = 4  # rows that name the columns
_MOST_COLUMNS: Final = 100
_BOLD: Final = re.compile(r"(?i)font-weight\s*:\s*(?:bold|[6-9]00)")


def with_captions(body: HtmlElement) -> None:
    """
    Put captions before their tables: as a first row, one would pass for the names of the columns.

    :param body: The body of a page, changed in place.
    """
    for one in list(body.iter("caption")):
        table: Any = next(one.iterancestors("table"), None)
        if table is not None:
            one.tag = "p"
            table.addprevious(one)


def with_cells(body: HtmlElement) -> None:
    """
    Write a cell that spans rows into each of them: in the next ones it would be empty; one of a sign says which.

    :param body: The body of a page, changed in place.
    """
    for cell in body.iter("td", "th"):
        if not cell.text_content().strip():
            told = (part.get(name) for part in cell.iter() for name in ("alt", "title", "aria-label"))
            cell.text = next(filter(None, told), cell.text)
    left = _MOST_CELLS
    for table in body.iter("table"):
        # By column: the cell, how many more rows it spans, and whether it is short enough to be written there.
        spanning, section = dict[int, tuple[Any, int, bool]](), None
        for row in _rows_of(table):
            if row.getparent() is not section:  # beyond its section nothing spans, whatever it says
                spanning, section = _ended(spanning), row.getparent()
            cells, before, spanning, column, place = list(row.iterchildren("td", "th")), spanning, {}, 0, 0
            while cells or column in before:
                if column not in before:
                    cell, place = cells.pop(0), place + 1
                    rows, is_short = _rows(cell), len(cell.text_content()) <= LONGEST_CELL
                else:
                    cell, rows, is_short = before[column]
                    if left > 0 and is_short:
                        row.insert(place, again := deepcopy(cell))
                        # What it still spans is of its copy: Trafilatura leaves empty what a cell says that it spans.
                        again.set("rowspan", str(rows))
                        del cell.attrib["rowspan"]
                        cell, left, place = again, left - 1, place + 1
                if rows > 1:
                    spanning[column] = cell, rows - 1, is_short
                column += max(number_of(cell, "colspan"), 1)
        _ended(spanning)


def _ended(spanning: dict[int, tuple[Any, int, bool]]) -> dict[int, tuple[Any, int, bool]]:
    """Let cells span no further than they do; none goes on."""
    for cell, more, _ in spanning.values():
        cell.set("rowspan", str(_rows(cell) - more))
    return {}


def _rows(cell: Any) -> int:
    return number_of(cell, "rowspan") or _MOST_ROWS  # 0: all of its section


def with_heads(body: HtmlElement) -> None:
    """
    Give each table one row of names: where a year stands over its quarters, both name a column.

    A first row whose cells are all bold has the names, as Word and text editors write it.

    :param body: The body of a page, changed in place.
    """
    for table in list(body.iter("table")):
        rows = _rows_of(table)
        for cell in [cell for row in rows if row.getparent().tag == "thead" for cell in row.iterchildren("td")]:
            cell.tag = "th"
        if len(rows) > 1 and table.find(".//th") is None and _is_bold(rows[0]) and not _is_bold(rows[1]):
            for cell in rows[0].iterchildren("td"):
                cell.tag = "th"
                for one in list(cell.iter("b", "strong")):
                    one.drop_tag()
        heads = _heads_of(rows)
        if 1 < len(heads) <= min(_MOST_HEADS, len(rows) - 1):
            _join(table, heads)


def _heads_of(rows: Sequence[Any]) -> list[Any]:
    """Give the rows of names: below a cell over several stand theirs; a cell alone further down is of a group."""
    heads = [row for row in rows[:1] if _is_head(row)]
    for row in rows[1:]:
        if not heads or not any(number_of(cell, "colspan") > 1 for cell in heads[-1]):
            break
        if not _is_head(row) or len(row) == 1:
            break
        heads.append(row)
    return heads


def _is_head(row: Any) -> bool:
    return len(row) > 0 and all(cell.tag == "th" for cell in row)


def _join(table: Any, heads: list[Any]) -> None:
    """Make one row of all that name the columns; a cell alone above them is the caption."""
    names = [_columns(row) for row in heads]
    if not 1 < len(names[-1]) <= _MOST_COLUMNS or len({len(row) for row in names}) > 1:
        return
    if len(heads[0]) == 1:
        table.addprevious(builder.P(names.pop(0)[0]))
        heads.pop(0).drop_tree()
    joined = builder.TR(*map(builder.TH, as_one_row(names)))
    heads[0].addprevious(joined)
    for row in heads:
        row.drop_tree()


def without_tables_in_lists(body: HtmlElement) -> None:
    """
    Make a list of a table within an item, each row with the names of its columns: there it would be a run of words.

    :param body: The body of a page, changed in place.
    """
    for table in list(body.iter("table")):
        if next(table.iterancestors("li", "dd", "table"), table).tag not in ("li", "dd"):
            continue
        rows = [(row, _columns(row)) for row in _rows_of(table)]
        has_head = len(rows) > 1 and _is_head(rows[0][0]) and sum(map(len, rows[0][1])) <= LONGEST_CELL
        names = rows.pop(0)[1] if has_head else []
        items = filter(None, (_told(cells, names) for _, cells in rows))
        told = builder.UL(*map(builder.LI, items))
        told.tail = table.tail
        table.getparent().replace(table, told)


def _told(cells: Sequence[str], names: Sequence[str]) -> str:
    if not names:
        return ": ".join(filter(None, (" ".join(cells[:1]), "; ".join(filter(None, cells[1:])))))
    named = zip([*names, *[""] * len(cells)], cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _rows_of(table: Any) -> list[Any]:
    return [row for row in table.iter("tr") if next(row.iterancestors("table")) is table]


def _columns(row: Any) -> list[str]:
    """Give the text of each column of a row; a head that spans several is the name of each."""
    columns = list[str]()
    for cell in row.iterchildren("td", "th"):
        for part in cell.iter("p", "li", "pre"):
            part.text, part.tail = f" {part.text or ''}", f" {part.tail or ''}"
        text, span = " ".join(cell.text_content().split()), max(number_of(cell, "colspan"), 1)
        more = text if cell.tag == "th" else ""
        columns += [text, *[more] * (min(span, _MOST_COLUMNS) - 1)]
    return columns


def _is_bold(row: Any) -> bool:
    """Tell whether all that a row says, in two cells at least, is bold."""
    said = [(cell, text) for cell in row.iterchildren("td") if (text := cell.text_content().strip())]
    return len(said) > 1 and all(any(_has_weight(one, text) for one in cell.iter()) for cell, text in said)


def _has_weight(one: Any, text: str) -> bool:
    is_bold = one.tag in ("b", "strong") or _BOLD.search(one.get("style", "")) is not None
    return is_bold and one.text_content().strip() == text
