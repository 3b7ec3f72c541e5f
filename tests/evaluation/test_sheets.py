"""Labels by hand: the sheet that is written, and what is read of the one that people filled."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from openpyxl import Workbook, load_workbook

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage, RankedList
from haystack_integrations.crag.evaluation.sheets import read_sheet, write_sheet

PASSAGES = {
    "a": Passage("a", "Refunds", "A refund is paid within 30 days."),
    "b": Passage("b", "=1+1", "=HYPERLINK(1) costs\x07 20 euros.\r\nShipping is free."),
    "c": Passage("c", "", "word " * 10_000),
}
LISTS = {"q1": ("When is a refund paid?", ("a", "b")), "q2": ("=What does a lamp cost?", ("b", "c", "a"))}


@pytest.fixture
def dataset() -> Dataset:
    """Two questions with lists."""
    cases = tuple(Case(name, text, fixed=RankedList(found)) for name, (text, found) in LISTS.items())
    return Dataset(Path("data"), "asked", PASSAGES, cases)


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """The sheet of these lists, as it was written."""
    path = tmp_path / "sheet.xlsx"
    write_sheet(path, [(text, found, ()) for text, found in LISTS.values()], PASSAGES)
    return path


def fill(path: Path, grades: dict[int, Any], **columns: dict[int, Any]) -> Path:
    """Write into lines of a sheet as a spreadsheet does: grades, and whatever else somebody changes."""
    book = load_workbook(path)
    page = book.active
    names = [cell.value for cell in page[1]]
    for name, values in {"grade": grades, **columns}.items():
        for number, value in values.items():
            page.cell(number, names.index(name) + 1).value = value
    book.save(path)
    return path


def test_a_line_shows_question_rank_title_and_text_and_nothing_in_it_is_a_formula(sheet: Path) -> None:
    """Documents are other people's: a text that begins with = is a text, and a control character a space."""
    page = load_workbook(sheet).active
    header, *lines = [[cell.value for cell in row] for row in page.iter_rows()]
    assert header == ["grade", "question", "rank", "title", "text", "row"]
    assert [(line[0], line[2]) for line in lines] == [(None, 1), (None, 2), (None, 1), (None, 2), (None, 3)]
    assert lines[1][3] == "=1+1"
    assert lines[1][4].startswith("=HYPERLINK(1) costs  20 euros.")
    assert {cell.data_type for row in page.iter_rows() for cell in row if cell.value is not None} == {"s", "n"}


def test_a_sheet_can_be_read_as_it_opens(sheet: Path) -> None:
    """Texts are wrapped, lines as high as a text or as a row can be, and every second question is shaded."""
    page = load_workbook(sheet).active
    heights = [page.row_dimensions[number].height for number in range(2, 7)]
    assert heights == [15, 30, 30, 405, 15]  # the second text has two lines, the third hundreds
    assert {cell.alignment.wrap_text for row in page.iter_rows(min_row=2) for cell in row} == {True}
    shaded = [page.cell(number, 5).fill.fill_type for number in range(2, 7)]
    assert shaded == [None, None, "solid", "solid", "solid"]
    assert page.column_dimensions["E"].width > page.column_dimensions["A"].width
    (allowed,) = page.data_validations.dataValidation
    assert (str(allowed.sqref), allowed.formula1, allowed.showInputMessage) == ("A2:A6", '"0,1,2"', True)


def test_grades_are_read_as_spreadsheets_save_them_and_in_any_order_of_lines(sheet: Path, dataset: Dataset) -> None:
    """A number, a number with a point, a text; sorted by somebody."""
    fill(sheet, {2: 2, 3: 0.0, 4: "1", 5: " 0 ", 6: 2})
    book = load_workbook(sheet)
    page = book.active
    header, *lines = [[cell.value for cell in row] for row in page.iter_rows()]
    for number, line in enumerate([header, *reversed(lines)], 1):
        for column, value in enumerate(line, 1):
            page.cell(number, column).value = value
            page.cell(number, column).data_type = "s" if isinstance(value, str) else "n"
    book.save(sheet)
    one, other = read_sheet(sheet, dataset)
    assert (one["retrieved"], one["grades"], one["error"]) == (["a", "b"], [2, 0], None)
    assert (other["retrieved"], other["grades"]) == (["b", "c", "a"], [1, 0, 2])
    assert one["cost"] == {"llm_calls": 0, "tokens_in": 0, "tokens_out": 0}


def test_what_nobody_graded_is_no_label(sheet: Path, dataset: Dataset) -> None:
    """A list counts as far as it was looked at; a question without any grade is left out."""
    one, other = read_sheet(fill(sheet, {4: 0, 5: 1}), dataset)
    assert (one["grades"], one["error"]) == (None, "no grade")
    assert (other["retrieved"], other["grades"]) == (["b", "c"], [0, 1])


def test_what_people_leave_beside_the_grades_is_in_nobodys_way(sheet: Path, dataset: Dataset) -> None:
    """A space in place of a grade, a note below the lines, cells merged in one line, a space behind a key."""
    book = load_workbook(fill(sheet, {2: " ", 4: 0}, title={8: "Ask Kim about lamps."}, row={2: "r2 "}))
    book.active.merge_cells("H2:J2")
    book.save(sheet)
    one, other = read_sheet(sheet, dataset)
    assert (one["error"], other["grades"]) == ("no grade", [0])


def test_a_whole_number_that_was_saved_with_a_point_is_a_grade(sheet: Path, dataset: Dataset, tmp_path: Path) -> None:
    """Apache POI and what is built on it write 2.0 for 2."""
    path = tmp_path / "poi.xlsx"
    with ZipFile(fill(sheet, {2: 2, 3: 0})) as book, ZipFile(path, "w") as saved:
        for name in book.namelist():
            saved.writestr(name, book.read(name).replace(b"</v>", b".0</v>"))
    assert read_sheet(path, dataset)[0]["grades"] == [2, 0]


def test_a_sheet_saved_as_strict_open_xml_is_read(sheet: Path, dataset: Dataset, tmp_path: Path) -> None:
    """Excel offers it below its usual kind, with the same suffix."""
    path, names = tmp_path / "strict.xlsx", re.compile(rb"http://schemas\.openxmlformats\.org/(?!package)(\w+)/2006/")
    with ZipFile(fill(sheet, {2: 2})) as book, ZipFile(path, "w") as saved:
        for name in book.namelist():
            saved.writestr(name, names.sub(rb"http://purl.oclc.org/ooxml/\1/", book.read(name)))
    assert read_sheet(path, dataset)[0]["grades"] == [2]


def test_a_question_for_which_nothing_was_found_needs_no_grade(tmp_path: Path) -> None:
    """It has no line, and its list is empty: its verdict is known."""
    path = tmp_path / "sheet.xlsx"
    write_sheet(path, [("Who?", (), ())], {})
    (record,) = read_sheet(path, Dataset(tmp_path, "asked", {}, (Case("q1", "Who?", fixed=RankedList(())),)))
    assert (record["retrieved"], record["grades"], record["error"]) == ([], [], None)


@pytest.mark.parametrize(
    ("grades", "columns", "message"),
    [
        ({2: 3}, {}, r"row 2: got the grade '3', wanted 0, 1 or 2; 2: answers"),
        ({2: True}, {}, "row 2: got the grade 'True'"),
        ({2: 0.5}, {}, "row 2: got the grade '0.5'"),
        ({2: "yes"}, {}, "row 2: got the grade 'yes'"),
        ({3: 1}, {}, "row 2: got no grade, and one below it for the same question"),
        (
            {2: 1},
            {"question": {2: "Who won?"}},
            "row 2: got another question or text than 'q1' and 'a'; pass the sheet",
        ),
        ({2: 1}, {"text": {3: "Another text."}}, "row 3: got another question or text than 'q1' and 'b'"),
        ({2: 1}, {"row": {3: None}}, "got no row on 'b' for 'q1', which its list has"),
        ({2: 1}, {"row": {7: "r7"}, "question": {7: "Who?"}}, "row 7: got 'r7', which no list of 'asked' has"),
        ({2: "=1+1"}, {}, "row 2: got a formula without its result as a grade; write the number"),
        ({2: 1, 7: 2}, {}, "row 7: got a grade, and nothing in the column row, which tells on what"),
        ({2: 1, 7: 2}, {"row": {7: "r2"}}, "row 7: got 'r2' again, with another grade"),
        ({1: "Grade"}, {}, r"got no row with the names of columns, wanted \['grade'"),
        ({}, {"title": {1: "grade", 2: 2}}, "got two columns 'grade', wanted one"),
    ],
)
def test_a_sheet_that_cannot_be_trusted_is_refused_with_its_line(
    sheet: Path, dataset: Dataset, grades: dict[int, Any], columns: dict[str, Any], message: str
) -> None:
    """Else a document would get a grade that nobody gave it."""
    with pytest.raises(SourceError, match=message):
        read_sheet(fill(sheet, grades, **columns), dataset)


def test_a_sheet_of_these_documents_in_another_order_is_refused(tmp_path: Path) -> None:
    """Passages of one table begin alike: with their title and the names of all of its columns."""
    path, head = tmp_path / "sheet.xlsx", "| a name of a column " * 20
    passages = {name: Passage(name, "lamps", f"{head}|\n| {name} |") for name in ("a", "b")}
    write_sheet(path, [("Which lamp?", ("b", "a"), (2, 0))], passages)
    case = Case("q1", "Which lamp?", fixed=RankedList(("a", "b")))
    with pytest.raises(SourceError, match="row 2: got another question or text than 'q1' and 'a'"):
        read_sheet(path, Dataset(tmp_path, "asked", passages, (case,)))


def test_merged_cells_are_refused(sheet: Path, dataset: Dataset) -> None:
    """Only the first of them has a value: a grade for three lines would be one for the first alone."""
    book = load_workbook(fill(sheet, {4: 0}))
    book.active.merge_cells("A4:A6")
    book.save(sheet)
    with pytest.raises(SourceError, match="got the merged cells A4:A6, wanted a value in each line; unmerge them"):
        read_sheet(sheet, dataset)


def test_the_sheet_is_found_behind_another_and_a_copy_of_it_is_refused(sheet: Path, dataset: Dataset) -> None:
    """Which of two has the grades that count, nobody said."""
    book = load_workbook(fill(sheet, {2: 2}))
    book.create_sheet("notes", 0)["A1"] = "grade"
    book.save(sheet)
    assert read_sheet(sheet, dataset)[0]["grades"] == [2]
    book.copy_worksheet(book["labels"])
    book.save(sheet)
    with pytest.raises(SourceError, match="got 2 worksheets with grades, wanted one; remove the others"):
        read_sheet(sheet, dataset)


def test_a_line_that_was_pasted_twice_and_a_text_that_became_a_formula_change_nothing(
    sheet: Path, dataset: Dataset
) -> None:
    """pandas writes each text that begins with = as a formula."""
    book = load_workbook(fill(sheet, {2: 2, 3: 1}))
    page = book.active
    page.append([cell.value for cell in page[3]])
    page["E3"].value = str(page["E3"].value)
    assert page["E3"].data_type == "f"
    book.save(sheet)
    assert read_sheet(sheet, dataset)[0]["grades"] == [2, 1]


def test_texts_are_known_again_as_programs_save_them(sheet: Path, dataset: Dataset) -> None:
    """
    Some lose tabs, some write characters by their numbers, as Excel reads them back.

    A Windows' line end is one of those: it is written as any other one.
    """
    assert "\r" not in load_workbook(sheet)["labels"]["E3"].value
    texts = dict.fromkeys((2, 6), "A refund is paid within_x000D_\n30days of_x0020_it.")
    passages = {**PASSAGES, "a": Passage("a", "", "A refund\tis paid within\r\n30\tdays of_x0020_it.")}
    changed = Dataset(dataset.folder, dataset.split, passages, dataset.cases)
    assert read_sheet(fill(sheet, {2: 2}, text=texts), changed)[0]["grades"] == [2]


def test_any_text_makes_a_sheet_that_spreadsheets_open(tmp_path: Path) -> None:
    """Characters that XML does not have are spaces, and a cell takes 32,767 characters, of which an emoji is two."""
    path = tmp_path / "sheet.xlsx"
    passage = Passage("a", "\ufffe\uffff\ud800 title", "a" + "\U0001f600" * 40_000)
    write_sheet(path, [("Who?", ("a",), (2,))], {"a": passage})
    page: Any = load_workbook(path).active
    assert page["D2"].value == "    title"
    assert len(page["E2"].value.encode("utf-16-le")) == 2 * 31_999  # half of one is none
    data = Dataset(tmp_path, "asked", {"a": passage}, (Case("q1", "Who?", fixed=RankedList(("a",))),))
    assert read_sheet(path, data)[0]["grades"] == [2]


def test_another_file_than_a_sheet_is_named(tmp_path: Path, dataset: Dataset) -> None:
    """With the way out."""
    (tmp_path / "labels.csv").write_text("grade;question\n")
    whole = BytesIO()
    Workbook().save(whole)
    with ZipFile(whole) as book, ZipFile(tmp_path / "half.xlsx", "w") as half:
        for name in set(book.namelist()) - {"xl/styles.xml"}:
            half.writestr(name, book.read(name).replace(b"<sheetData", b'<sheetData><row r="1"><c r="A1" s="7"/>'))
    other = "wanted an XLSX file; save the sheet as that"
    for name, message in (("labels.csv", other), ("half.xlsx", other), ("none.xlsx", "No such file")):
        with pytest.raises(SourceError, match=message):
            read_sheet(tmp_path / name, dataset)
