"""What the sheets of an XLSX file show: values as a reader sees them, and merged cells in each of their rows."""

import re
import warnings
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.formats.formulas import raised
from haystack_integrations.crag.formats.number_formats import shown
from haystack_integrations.crag.formats.office_parts import completed
from haystack_integrations.crag.formats.sheets import markdown_of, told
from haystack_integrations.crag.formats.xlsx_bare import bare
from haystack_integrations.crag.formats.xlsx_formulas import has_zeros_of_nothing

if TYPE_CHECKING:
    from openpyxl.cell import Cell, MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

_UNSEEN: Final = re.compile(r"_x00(?:0[0-9A-Fa-f]|1[0-9A-Fa-f]|7[Ff])_")  # how Excel writes a line's end of Windows
_MOST_CHARACTERS: Final = 50_000_000  # a text that a file holds once may be in any number of cells


def xlsx_as_markdown(data: bytes) -> str:
    """
    Write a workbook as Markdown.

    :param data: The file.
    :returns: The sheets that are not hidden, each below its name, with rows that a filter hides.
    :raises ValueError: When a sheet would be too long; openpyxl's errors are of many kinds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what openpyxl will not write again
        visible = (sheet for sheet in _sheets(data) if sheet.sheet_state == "visible")
        parts = [(sheet.title, markdown_of(_rows(sheet))) for sheet in visible]
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in parts if text)


def _sheets(data: bytes) -> "Sequence[Worksheet]":
    """Open a file; one whose drawings, looks or the like its reader does not take without them."""
    try:
        return _opened(completed(data))
    except Exception:  # whatever a damaged file leads its reader to
        return _opened(bare(data))


def _opened(data: bytes) -> "Sequence[Worksheet]":
    from openpyxl import load_workbook  # a fifth of a second that no question needs

    book = load_workbook(BytesIO(data), data_only=True, keep_links=False, rich_text=True)
    if has_zeros_of_nothing(data):
        _leave_out_zeros(book.worksheets, load_workbook(BytesIO(data), keep_links=False).worksheets)
    return book.worksheets


def _leave_out_zeros(shown: "Sequence[Worksheet]", written: "Sequence[Worksheet]") -> None:
    """
    Empty the formulas that are zero, of a file that asks for results when it is opened.

    Programs that write formulas and do not calculate them (XlsxWriter) save a zero with each, which nobody ever sees.
    """
    for sheet, other in zip(shown, written, strict=True):
        for number, row in enumerate(other.iter_rows(), 1):
            for column, cell in enumerate(row, 1):
                result = sheet.cell(number, column) if cell.data_type == "f" else None
                if result is not None and result.value == 0 and not isinstance(result.value, bool):
                    result.value = None


def _rows(sheet: "Worksheet") -> Iterator[list[str]]:
    merged, length = _merged(sheet), 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [merged.get((number, column), cell) for column, cell in enumerate(row, 1)]
        first = next((cell for cell in cells if cell.value is not None), None)  # a title, or what the row is of: once
        pairs = zip([None, *cells], cells, strict=False)
        texts = ["" if cell is first is before else _text(cell) for before, cell in pairs]
        length += sum(map(len, texts))
        if length > _MOST_CHARACTERS:
            msg = f"got a sheet of more than {_MOST_CHARACTERS} characters"
            raise ValueError(msg)
        yield texts


def _merged(sheet: "Worksheet") -> "dict[tuple[int, int], Cell | MergedCell]":
    """Give for merged cells the one that is shown there; columns where nothing else stands are parts of another."""
    found: dict[tuple[int, int], Cell | MergedCell] = {}
    areas, last = list(sheet.merged_cells.ranges), sheet.max_row  # which is sought among all cells each time
    used = {cell.column for row in sheet.iter_rows() for cell in row if cell.value is not None} if areas else set()
    for area in areas:
        rows = range(area.min_row, min(area.max_row, last) + 1)
        first = sheet.cell(area.min_row, area.min_col)
        columns = used.intersection(range(area.min_col, area.max_col + 1)) | {area.min_col}
        found.update(dict.fromkeys(product(rows, columns), first))
    return found


def _text(cell: "Cell | MergedCell") -> str:
    value: Any = cell.value
    if value is None:
        return ""
    if isinstance(value, list):  # text in several looks, among them a raised 6 in 10^6
        text = "".join(raised(str(one)) if _is_raised(one) else str(one) for one in value)
    else:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        text = shown(value, cell.number_format) if is_number and cell.number_format else told(value)
    text = _UNSEEN.sub(" ", text)
    return f"~~{text}~~" if text and cell.has_style and cell.font.strike else text  # as of pages: no longer so


def _is_raised(part: Any) -> bool:
    return getattr(getattr(part, "font", None), "vertAlign", None) == "superscript"
