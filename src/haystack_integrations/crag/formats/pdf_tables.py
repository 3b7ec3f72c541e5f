"""Write the tables of a PDF as Markdown's, as its tags tell them: on its pages, cells are lines like all others."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from haystack_integrations.crag.formats.pdf_pieces import Piece
from haystack_integrations.crag.formats.pdf_tags import Cell, Tags
from haystack_integrations.crag.texts.table_heads import LONGEST_CELL, LONGEST_NAMES, as_one_row

_CAPTION: Final = re.compile(
    r"\n([^\W\d]+\.?[ \u00a0]?\d[^\n|]{0,199})(?=\n{2,}\| )"
)  # "Table 3. Prices", which is no text
_MOST_COLUMNS: Final = 50
_LONGEST_ROW: Final = 150  # words: of longer ones, a table only places texts beside each other


class Tables:
    """Follows the tables of a file page by page."""

    def __init__(self, tags: Tags) -> None:
        """
        Begin a file.

        :param tags: Its tags.
        """
        self._columns = {table: found for table, rows in tags.tables.items() if (found := _columns(rows))}
        self._heads: dict[int, list[str]] = {}
        self._said: dict[Cell, str] = {}  # on pages before: a row, or a cell over several, may go on with the next one

    def written(self, pieces: Sequence[Piece], cells: Mapping[int, Cell]) -> str:
        """
        Write the tables of the next page.

        :param pieces: The text of the page.
        :param cells: Which of them are cells, by their marks.
        :returns: The text with each table as Markdown, where it begins; it has the names of its columns on each page.
            One whose rows are not of one width, or long, stays as it is.
        """
        said: dict[int, dict[Cell, str]] = {}
        first: dict[int, int] = {}
        for number, piece in enumerate(pieces):
            if (cell := cells.get(piece.mark)) is not None and cell.table in self._columns:
                own = said.setdefault(cell.table, {})
                own[cell] = own.get(cell, "") + piece.text
                first.setdefault(cell.table, number)
        told = {table: lines for table, own in said.items() if (lines := self._lines(table, own))}
        parts = []
        for number, piece in enumerate(pieces):
            cell = cells.get(piece.mark)
            if cell is None or cell.table not in told:
                parts.append(piece.text)
            elif first[cell.table] == number:
                parts.append(f"\n\n{told[cell.table]}\n\n")
        return _CAPTION.sub(r"\n\n\1", "".join(parts))

    def _lines(self, table: int, said: Mapping[Cell, str]) -> str:
        own = {cell: " ".join(text.split()).replace("|", r"\|") for cell, text in said.items()}
        self._said |= own
        columns = self._columns[table]
        rows = {
            at: [_shown(self._said.get(Cell(table, *one), ""), one[0], at) for one in columns[at]]
            for at in sorted({cell.row for cell in own})
        }
        if any(len(" ".join(row).split()) > _LONGEST_ROW for row in rows.values()):
            del self._columns[table]
            return ""
        head = next(at for at, row in enumerate(columns) if len(set(row)) > 1)
        last = _last_of_head(columns, head)
        captions = [row[0] for at, row in rows.items() if at < head]
        others = [_once(row, columns[at]) for at, row in rows.items() if at > last]
        heads = [row for at, row in rows.items() if head <= at <= last]
        names = as_one_row(heads) if heads else self._heads.get(table, [""] * len(columns[0]))
        self._heads[table] = names
        if sum(map(len, names)) > LONGEST_NAMES:
            names, others = [""] * len(names), [*heads, *others]
        lines = (f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), *others))
        return "\n".join((*(f"{one}\n" for one in captions), *lines))


def _last_of_head(columns: Sequence[Sequence[tuple[int, int]]], head: int) -> int:
    """Tell how far the names of the columns reach: below a cell over several stand their own."""
    last, is_wide = head, len(set(columns[head])) < len(columns[head])
    while is_wide and last + 2 < len(columns) and any(row == head for row, _ in columns[last + 1]):
        last += 1
    return last


def _once(row: list[str], cells: Sequence[tuple[int, int]]) -> list[str]:
    """Write a cell that is the whole row in its first column alone."""
    return row if len(set(cells)) > 1 else [row[0], *[""] * (len(row) - 1)]


def _shown(words: str, own: int, row: int) -> str:
    """Give the words of a cell in a row that it reaches: a long one stands in its first row alone."""
    return words if own == row or len(words) <= LONGEST_CELL else ""


def _columns(rows: Sequence[Sequence[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    """
    Give, of each row, the row and number of the cell in each column.

    None if it is no table: if it has one row or column besides its captions, or its rows are of different widths.
    """
    found, spanning = list[list[tuple[int, int]]](), dict[int, tuple[int, int, int]]()
    for row, cells in enumerate(rows):
        columns, left, before = list[tuple[int, int]](), list(enumerate(cells)), spanning
        spanning = {}
        while left or len(columns) in before:
            if len(columns) in before:
                own, number, more = before[len(columns)]
                width = 1
            else:
                number, (more, width) = left.pop(0)
                own = row
            if len(columns) + width > _MOST_COLUMNS:
                return []
            for _ in range(width):
                if more > 1:
                    spanning[len(columns)] = own, number, more - 1
                columns.append((own, number))
        if found and len(columns) != len(found[0]):
            return []
        found.append(columns)
    divided = [row for row in found if len(set(row)) > 1]
    return found if len(divided) > 1 else []
