"""Labels by hand: a sheet with a line for each question and document, whose column `grade` people fill or correct."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import count, takewhile, zip_longest
from pathlib import Path
from typing import Any, Final

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage, Record
from haystack_integrations.crag.evaluation.sheet_lines import SAME, Line, read_lines
from haystack_integrations.crag.vocabulary import SPENT
from haystack_integrations.crag.whole_file import write_or_refuse

SHEET: Final = "sheet.xlsx"

_COLUMNS: Final = {"grade": 8, "question": 40, "rank": 6, "title": 24, "text": 100, "row": 8}
"""Names and widths; `row` tells on what a line is, wherever somebody sorts it."""

_GRADES: Final = {"0": 0, "1": 1, "2": 2}
_ADVICE: Final = "2: answers the question. 1: on its topic, and does not answer it. 0: neither."
# What no XML file may have, not even escaped; openpyxl knows the control characters alone.
_ILLEGAL: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BY_NUMBER: Final = re.compile("_x([0-9a-fA-F]{4})_")
_UTF16: Final = "utf-16-le"
_MOST_BYTES: Final = 64_000  # a cell takes 32,767 characters, of which an emoji is two
_LINE, _MOST_LINES = 15, 27  # points; a row has 409 of them at most
_ALIGNED: Final = Alignment(wrap_text=True, vertical="top")
_SHADE: Final = PatternFill("solid", fgColor="F2F2F2")


def write_sheet(
    path: Path, asked: Sequence[tuple[str, Sequence[str], Sequence[int]]], passages: Mapping[str, Passage]
) -> None:
    """
    Write a sheet to be filled, or corrected; one that was there may hold people's grades, and stays beside it.

    :param path: The file, XLSX: spreadsheets change no text in it, and open it alike in every country.
    :param asked: Each question, its list, and the grades of the first documents of it, as far as there are some.
    :param passages: The documents by id.
    :raises ConfigurationError: When it cannot be written.
    """
    book = Workbook()
    sheet: Any = book.active
    sheet.title, sheet.freeze_panes = "labels", "A2"
    sheet.append(list(_COLUMNS))
    for cell, width in zip(sheet[1], _COLUMNS.values(), strict=True):
        cell.font = Font(bold=True)
        sheet.column_dimensions[cell.column_letter].width = width
    row = 1
    for number, (question, retrieved, grades) in enumerate(asked):
        for rank, (name, grade) in enumerate(zip_longest(retrieved, grades), 1):
            row += 1
            values = [grade, question, rank, passages[name].title, passages[name].text, f"r{row}"]
            for column, value in enumerate(values, 1):
                _fill(sheet.cell(row, column), value, is_shaded=number % 2 == 1)
            texts = zip(_COLUMNS.values(), values, strict=True)
            most = max(_lines_in(value, width) for width, value in texts if isinstance(value, str))
            sheet.row_dimensions[row].height = _LINE * min(most, _MOST_LINES)
    allowed = DataValidation(type="list", formula1='"0,1,2"', allow_blank=True, showInputMessage=True)
    allowed.promptTitle, allowed.prompt, allowed.error = "grade", _ADVICE, _ADVICE
    allowed.add(f"A2:A{max(2, row)}")
    sheet.add_data_validation(allowed)
    data = BytesIO()
    book.save(data)
    if path.exists():
        names = (path.with_stem(f"{path.stem}.before{number or ''}") for number in count())
        path.replace(next(name for name in names if not name.exists()))
    write_or_refuse(path, data.getvalue())


def _fill(cell: Any, value: str | int | None, *, is_shaded: bool) -> None:
    cell.alignment = _ALIGNED
    if is_shaded:
        cell.fill = _SHADE
    if isinstance(value, str):
        cell.value = _as_cell(value)
        cell.data_type = "s"  # a text that begins with = is no formula, and #N/A no error
    else:
        cell.value = value


def _lines_in(text: str, width: int) -> int:
    """Estimate how high a text is: LibreOffice makes no line of a file higher by itself."""
    return sum(1 + len(line) // width for line in text.splitlines()) or 1


def _as_cell(text: str) -> str:
    text = _ILLEGAL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    return text.encode(_UTF16)[:_MOST_BYTES].decode(_UTF16, "ignore")


def read_sheet(path: Path, dataset: Dataset) -> list[Record]:
    """
    Read the grades of a sheet that was filled.

    A question none of whose documents has a grade is not labelled. Of another the first documents count, as far as they
    have one: what nobody has looked at is no label.

    :param path: The sheet, as `write_sheet` wrote it for the lists of this data; rows may stand in any order.
    :param dataset: The questions, each with its list.
    :returns: A record for each question, as `labelling.make_labels` gives them.
    :raises SourceError: When it is no such sheet, is about other lists, or a grade is none or missing between others.
    """
    lines, records, row = read_lines(path), list[Record](), 1
    for case in dataset.cases:
        retrieved = () if case.fixed is None else case.fixed.retrieved
        own = [lines.pop(f"r{row + n}", None) for n in range(1, len(retrieved) + 1)]
        row += len(retrieved)
        for name, line in zip(retrieved, own, strict=True):
            _check(path, line, case, dataset.passages[name])
        records.append(_record(path, case, retrieved, [line for line in own if line is not None]))
    if lines:
        key, line = next(iter(lines.items()))
        msg = f"{path}, row {line.number}: got {key!r}, which no list of {dataset.split!r} has; {SAME}"
        raise SourceError(msg)
    return records


def _check(path: Path, line: Line | None, case: Case, passage: Passage) -> None:
    """Refuse a sheet of other lists: its grades would be given to documents that nobody looked at."""
    if line is None:
        keep = "and delete no line in it: an empty grade is none"
        msg = f"{path}: got no row on {passage.id!r} for {case.id!r}, which its list has; {SAME}, {keep}"
        raise SourceError(msg)
    if not (_is_same(line.question, case.question) and _is_same(line.text, passage.text)):
        msg = f"{path}, row {line.number}: got another question or text than {case.id!r} and {passage.id!r}; {SAME}"
        raise SourceError(msg)


def _is_same(shown: str, text: str) -> bool:
    return _bare(shown) == _bare(_as_cell(text))


def _bare(text: str) -> str:
    """Leave out what some programs change when they save: spaces, tabs, ends of lines, and characters by number."""
    return "".join(_BY_NUMBER.sub(lambda found: chr(int(found[1], 16)), text).split())


def _record(path: Path, case: Case, retrieved: Sequence[str], lines: Sequence[Line]) -> Record:
    graded = list(takewhile(lambda line: not line.is_empty, lines))
    if any(not line.is_empty for line in lines[len(graded) :]):
        empty = lines[len(graded)].number
        msg = f"{path}, row {empty}: got no grade, and one below it for the same question; grade this one, too"
        raise SourceError(msg)
    grades = [_grade(path, line) for line in graded]
    cost, error = dict.fromkeys(SPENT, 0), None if grades or not retrieved else "no grade"
    judged = list(retrieved[: len(grades)])
    return {"id": case.id, "retrieved": judged, "grades": None if error else grades, "cost": cost, "error": error}


def _grade(path: Path, line: Line) -> int:
    if line.told not in _GRADES:
        msg = f"{path}, row {line.number}: got the grade {line.told[:20]!r}, wanted 0, 1 or 2; {_ADVICE}"
        raise SourceError(msg)
    return _GRADES[line.told]
