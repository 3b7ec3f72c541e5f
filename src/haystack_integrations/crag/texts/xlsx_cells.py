"""What the sheets of an XLSX file show: values as a reader sees them, and merged cells in each of their rows."""

from collections.abc import Iterator
from datetime import datetime, time
from io import BytesIO
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.texts.sheets import markdown_of

if TYPE_CHECKING:
    from openpyxl.cell import Cell, MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

_MOST_CHARACTERS: Final = 50_000_000  # a text that a file holds once may be in any number of cells


def xlsx_as_markdown(data: bytes) -> bytes:
    """
    Write a workbook as Markdown.

    :param data: The file.
    :returns: The sheets that are not hidden, each below its name, with rows that a filter hides; in UTF-8.
    :raises ValueError: When a sheet would be too long; openpyxl's errors are of many kinds.
    """
    from openpyxl import load_workbook  # a fifth of a second that no question needs

    sheets = load_workbook(BytesIO(data), data_only=True).worksheets
    told = ((sheet.title, markdown_of(_rows(sheet))) for sheet in sheets if sheet.sheet_state == "visible")
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in told if text).encode()


def _rows(sheet: "Worksheet") -> Iterator[list[str]]:
    merged, length = _merged(sheet), 0
    for row in sheet.iter_rows():
        texts = [_text(merged.get((cell.row, cell.column), cell)) for cell in row]
        length += sum(map(len, texts))
        if length > _MOST_CHARACTERS:
            msg = f"got a sheet of more than {_MOST_CHARACTERS} characters"
            raise ValueError(msg)
        yield texts


def _merged(sheet: "Worksheet") -> "dict[tuple[int | None, int | None], Cell | MergedCell]":
    """Give for the first column of merged rows the cell that is shown beside them; a title over columns is one."""
    found: dict[tuple[int | None, int | None], Cell | MergedCell] = {}
    for area in sheet.merged_cells.ranges:
        rows = range(area.min_row, min(area.max_row, sheet.max_row) + 1)
        first = sheet.cell(area.min_row, area.min_col)
        found.update(dict.fromkeys(product(rows, [area.min_col]), first))
    return found


def _text(cell: "Cell | MergedCell") -> str:
    value: Any = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes").removesuffix(" 00:00") if value.time() != time() else str(value.date())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    is_share = "%" in (cell.number_format or "")
    return f"{value * 100:.10g}%" if is_share else f"{value:.15g}"
