"""What stands in a sheet that people filled: its lines by their keys, refused where a grade would be lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from openpyxl import load_workbook

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.formats.office_parts import completed

SAME: Final = "pass the sheet that was written with these lists"
"""What to do about a sheet of other lists."""

_READ: Final = ("grade", "question", "text", "row")


@dataclass(frozen=True)
class Line:
    """
    A line of a sheet.

    :param number: Its number in the sheet, from 1.
    :param grade: Its grade, of whatever kind; of a formula the result.
    :param written: What stands there as the grade, which may be a formula.
    :param question: The question.
    :param text: The document's text.
    """

    number: int
    grade: Any
    written: str
    question: str
    text: str

    @property
    def told(self) -> str:
        """Its grade as a text: a whole number without a point."""
        value = "" if self.grade is None else self.grade
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()

    @property
    def is_empty(self) -> bool:
        """Whether nobody gave a grade."""
        return not self.told


def read_lines(path: Path) -> dict[str, Line]:
    """
    Read the lines of a sheet.

    :param path: The sheet, an XLSX file.
    :returns: The lines by what stands in their column `row`.
    :raises SourceError: When it is no such sheet, or a grade that somebody gave would be lost.
    """
    found: dict[str, Line] = {}
    for line, key in _page(path).lines:
        got = ""
        if line.is_empty and line.written.strip():
            got = "a formula without its result as a grade; write the number"
        elif not key and not line.is_empty:
            got = "a grade, and nothing in the column row, which tells on what; write that, or remove the grade"
        elif key in found and found[key].told != line.told:
            got = f"{key!r} again, with another grade; remove one of the two lines"
        if got:
            msg = f"{path}, row {line.number}: got {got}"
            raise SourceError(msg)
        if key:
            found[key] = line
    return found


@dataclass(frozen=True)
class _Page:
    """A worksheet: the names of its columns, its merged cells of several lines, and the lines with their keys."""

    names: Sequence[str]
    merged: Sequence[str]
    lines: Sequence[tuple[Line, str]]


def _page(path: Path) -> _Page:
    """Find the worksheet with the grades, wherever it stands among others."""
    pages = [page for page in _pages(path) if page.names]
    if not pages:
        msg = f"{path}: got no row with the names of columns, wanted {list(_READ)} among them; {SAME}"
        raise SourceError(msg)
    (page, *others), got = pages, ""
    if others:
        got = f"{len(pages)} worksheets with grades, wanted one; remove the others"
    elif twice := [name for name in _READ if page.names.count(name) > 1]:
        got = f"two columns {twice[0]!r}, wanted one; rename or remove the other"
    elif page.merged:
        got = f"the merged cells {page.merged[0]}, wanted a value in each line; unmerge them, and fill each"
    if got:
        msg = f"{path}: got {got}"
        raise SourceError(msg)
    return page


def _pages(path: Path) -> list[_Page]:
    try:
        data = path.read_bytes()
    except OSError as error:
        msg = f"no sheet can be read from {str(path)!r} ({error.strerror}); pass the file that you filled"
        raise SourceError(msg) from None
    try:
        data = completed(data)
        # Formulas as such, too: a text that begins with = is one when some programs have saved it.
        results, sources = (load_workbook(BytesIO(data), data_only=only).worksheets for only in (True, False))
    except Exception:  # whatever a damaged file leads its reader to
        msg = f"got {str(path)!r}, wanted an XLSX file; save the sheet as that"
        raise SourceError(msg) from None
    return [_read(*pair) for pair in zip(results, sources, strict=True)]


def _read(result: Any, source: Any) -> _Page:
    names: list[str] = []
    lines: list[tuple[Line, str]] = []
    rows = zip(result.iter_rows(values_only=True), source.iter_rows(values_only=True), strict=True)
    for number, (values, written) in enumerate(rows, 1):
        texts = ["" if value is None else str(value) for value in written]
        if names:
            grade, question, text, key = map(names.index, _READ)
            line = Line(number, values[grade], texts[grade], texts[question], texts[text])
            lines.append((line, texts[key].strip()))
        elif set(_READ) <= set(texts):
            names = texts
    return _Page(names, [str(one) for one in source.merged_cells.ranges if one.min_row < one.max_row], lines)
