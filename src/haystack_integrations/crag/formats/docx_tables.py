"""Tables of a DOCX as their reader takes them: the first row has the names of the columns, one for each."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import zip_longest
from typing import Any, Final

from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from haystack_integrations.crag.formats.docx_parts import run_of, text_of

_MOST_COLUMNS: Final = 63  # as many as Word has
_MOST_ROWS: Final = 10_000  # that begin further right: a file of nothing else wants to fill memory
_MOST_ABOVE: Final = 3  # titles, and rows of names
_MOST_COPIED: Final = 1_000_000  # elements: a thousand rows of a cell with a thousand words, each in a run of its own
_MERGES: Final = "./w:tr/w:tc/w:tcPr/*[self::w:gridSpan or self::w:vMerge]"


def table_of(rows: Sequence[Sequence[str]]) -> Any:
    """
    Make a table.

    :param rows: The texts of its cells.
    :returns: A `w:tbl` of the columns with a text.
    """
    columns = [column for column in zip_longest(*rows, fillvalue="") if any(column)]
    table, grid = OxmlElement("w:tbl"), OxmlElement("w:tblGrid")
    grid.extend(OxmlElement("w:gridCol") for _ in columns)
    table.extend([OxmlElement("w:tblPr"), grid])
    for row in zip(*columns, strict=True):
        table.append(line := OxmlElement("w:tr"))
        for text in row:
            line.append(cell := OxmlElement("w:tc"))
            cell.append(words := OxmlElement("w:p"))
            words.append(run_of(text))
    return table


def straighten(body: Any) -> None:
    """
    Write tables anew that have more above their rows than one row of names, or rows that begin further right.

    :param body: The body of a file, its changes accepted.
    """
    for row in body.xpath(".//w:tr[w:trPr/w:gridBefore]")[:_MOST_ROWS]:
        _indent(row)
    for table in body.iterchildren(qn("w:tbl")):
        _lift_title(table)
        for _ in range(_MOST_ABOVE):
            if _has_two_heads(table):
                _join_heads(table)


def shorten_merges(body: Any) -> None:
    """
    Begin a cell that is merged over rows anew in each of them, with the same text, and one that nothing is above.

    Of each row its reader goes up to the first one, in each step one call deeper: 300 rows took four seconds. Where
    there is none, as the row that began the merge was deleted, it gives up the file. In a form it goes up no more, and
    tells each cell once.

    :param body: The body of a file, as it is to be read.
    """
    copies = _Copies()
    for table in body.iterchildren(qn("w:tbl")):
        rows = list(table.iterchildren(qn("w:tr")))
        above = dict[int, Any]()
        for row in rows:
            above = _begun_anew(row, above, copies)
        for merge in table.xpath(_MERGES) if _is_form(rows) else ():
            merge.getparent().remove(merge)


def _is_form(rows: Sequence[Any]) -> bool:
    """Tell whether no row has a cell in each column: then columns only lay out what stands beside each other."""
    counts = [len(row.findall(qn("w:tc"))) for row in rows]
    return 1 < max(counts, default=0) < max(end for row in rows for _, end, _ in _cells(row))


def take_out(row: Any) -> None:
    """
    Take out a row that was deleted; a cell that is merged over it and the next ones begins there, without its text.

    :param row: The row, of any table.
    """
    begun = {start for start, _, cell in _cells(row) if _merges(cell) == "restart"}
    below = next(row.itersiblings(qn("w:tr")), None)
    for start, _, cell in () if below is None else _cells(below):
        if start in begun:
            _begin(cell)
    row.getparent().remove(row)


class _Copies:
    """Copies cells, as long as all copies in a file together are no larger than a file may be."""

    def __init__(self) -> None:
        self._left = _MOST_COPIED

    def of(self, cell: Any) -> Any:
        """Copy a cell; None where too much was copied before."""
        self._left -= sum(1 for _ in cell.iter())
        return deepcopy(cell) if self._left > 0 else None


def _begun_anew(row: Any, above: Mapping[int, Any], copies: _Copies) -> dict[int, Any]:
    """Give by column the cell whose text the row has there."""
    here = dict[int, Any]()
    for start, end, cell in list(_cells(row)):
        here[start] = cell
        if _merges(cell) == "continue":
            here[start] = first = above.get(start, cell)
            if first is cell:
                _begin(cell)
            elif first.grid_span == end - start and (again := copies.of(first)) is not None:
                row.replace(cell, again)
    return here


def _indent(row: Any) -> None:
    """Fill the columns that a row leaves out at its beginning: all of its cells stood below the wrong names."""
    told = row.xpath("string(./w:trPr/w:gridBefore/@w:val)")
    first = row.find(qn("w:tc"))
    for _ in range(min(int(told), _MOST_COLUMNS) if told.isdecimal() and first is not None else 0):
        cell = OxmlElement("w:tc")
        cell.append(OxmlElement("w:p"))
        first.addprevious(cell)
    # Left there, they counted twice: a merged cell had the text of the one beside it.
    for left_out in row.xpath("./w:trPr/w:gridBefore"):
        left_out.getparent().remove(left_out)


def _lift_title(table: Any) -> None:
    """Put a row of one cell, above rows of several, above the table: it is no column's name."""
    rows = list(table.iterchildren(qn("w:tr")))
    counts = [len(row.findall(qn("w:tc"))) for row in rows]
    first = next((place for place, count in enumerate(counts) if count > 1), 0)
    if max(counts, default=0) <= 2 and 1 in counts[first:]:  # noqa: PLR2004
        return  # a form: its parts have titles, and no row names columns
    for row in rows[: min(first, _MOST_ABOVE)]:
        if not _is_title(row):
            return
        for part in row.xpath("./w:tc/*[self::w:p or self::w:tbl]"):
            table.addprevious(part)
        table.remove(row)


def _is_title(row: Any) -> bool:
    return not row.xpath("./w:tc/w:tcPr/w:vMerge | ./w:trPr/w:gridAfter")


def _has_two_heads(table: Any) -> bool:
    """Tell whether a cell of the first row stands over several of the second, which is no row of the table itself."""
    rows = table.xpath("./w:tr[position() <= 3]")
    if not rows[2:]:
        return False
    first, second, _ = rows
    starts = [start for start, _, _ in _cells(second)]
    is_over = any(sum(start <= one < end for one in starts) > 1 for start, end, _ in _cells(first))
    goes_on = any(_merges(cell) == "continue" for _, _, cell in _cells(second))
    is_marked = all(row.xpath("./w:trPr/w:tblHeader") for row in (first, second))
    return is_over and (goes_on or is_marked)


def _join_heads(table: Any) -> None:
    """Write into each name of the second row the one above it, as in `Price net`, and take out the first."""
    first, second = table.xpath("./w:tr[position() <= 2]")
    above = list(_cells(first))
    for start, _, cell in _cells(second):
        name = next((text_of(one) for _, end, one in above if start < end), "")
        line = cell.find(qn("w:p"))
        if name and line is not None:
            line.insert(0 if line.pPr is None else 1, run_of(f"{name} "))
    table.remove(first)


def _cells(row: Any) -> Iterator[tuple[int, int, Any]]:
    """Give the cells of a row, and over which columns each of them is."""
    start = 0
    for cell in row.iterchildren(qn("w:tc")):
        said = cell.xpath("string(./w:tcPr/w:gridSpan/@w:val)")
        end = start + (max(1, min(int(said), _MOST_COLUMNS)) if said.isdecimal() else 1)
        yield start, end, cell
        start = end


def _merges(cell: Any) -> str:
    """Tell whether a cell begins one that is merged over rows or goes on with it, which needs no word."""
    found = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
    return "" if found is None else found.get(qn("w:val")) or "continue"


def _begin(cell: Any) -> None:
    """Begin a cell anew that is merged over rows; any other one stays as it is."""
    for merge in cell.xpath("./w:tcPr/w:vMerge"):
        merge.set(qn("w:val"), "restart")
