"""XlsxToMarkdown: sheets are read as they are shown."""

from datetime import date, datetime, time, timedelta
from io import BytesIO
from time import process_time
from zipfile import ZipFile

import pytest
from haystack.dataclasses import ByteStream
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.cell_range import CellRange

from haystack_integrations.crag.components import XlsxToMarkdown
from haystack_integrations.crag.formats import xlsx_cells


def told(book: Workbook) -> str:
    """Convert a workbook."""
    book.save(data := BytesIO())
    (document,) = XlsxToMarkdown().run([ByteStream(data.getvalue(), meta={"source": "x.xlsx"})])["documents"]
    assert document.meta == {"source": "x.xlsx"}
    return document.content or ""


def test_each_sheet_is_below_its_name_but_for_hidden_and_empty_ones() -> None:
    """What a reader does not see is no evidence."""
    book = Workbook()
    visible = ("Prices 2025", "New", "Prices 2026")
    for name, state in zip((*visible, "Lists", "Codes"), (*["visible"] * 3, "hidden", "veryHidden"), strict=True):
        sheet = book.create_sheet(name)
        sheet.sheet_state = state
        if name != "New":
            sheet.append(["Plan", "Price"])
            sheet.append(["Basic", name])
    tables = (f"## {name}\n\n| Plan | Price |\n| --- | --- |\n| Basic | {name} |" for name in visible if name != "New")
    assert told(book) == "\n\n".join(tables)


def test_values_are_told_as_a_reader_sees_them() -> None:
    """Whole numbers, shares, dates without a time, results of formulas that were saved with them."""
    book = Workbook()
    values = [
        9.0,
        29.99,
        0.15,
        date(2025, 1, 3),
        datetime.fromisoformat("2025-01-03 14:30"),
        datetime.fromisoformat("2025-01-03 00:00:09"),
        time(14, 0),
        True,
        0.1 + 0.2,
        "007",
    ]
    book.active.append([f"c{place}" for place, _ in enumerate(values)])
    book.active.append(values)
    book.active["C2"].number_format = "0.0%"
    *_, row = told(book).split("\n")
    assert row == "| 9 | 29.99 | 15% | 2025-01-03 | 2025-01-03 14:30 | 2025-01-03 00:00:09 | 14:00 | True | 0.3 | 007 |"


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (2.5, "0.0%", "250%"),
        (2.5, '0.0"%"', "2.5%"),
        (2.5, r"0.0\%", "2.5%"),
        (-0.25, "0%;[Red](0%)", "-25%"),
        (2.5, "0.0_%", "2.5"),
        (True, "0%", "True"),
    ],
)
def test_a_percentage_is_read_as_it_is_shown(value: float, form: str, shown: str) -> None:
    """The sign of a format makes hundredths of a number; in quotes it is only shown, and 2.5% became 250%."""
    book = Workbook()
    book.active.append(["Share", "Name"])
    book.active.append([value, "x"])
    book.active["A2"].number_format = form
    assert told(book).split("\n")[-1] == f"| {shown} | x |"


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (1234.5, "#,##0.00 [$€-407]", "1234.5 €"),
        (-1234.5, '"$"#,##0.00', "-$1234.5"),
        (-5, r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-', "-5 €"),
        (0, r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-', "0 €"),
        (-7.5, "_($* #,##0.00_);_($* (#,##0.00);_(@_)", "-$7.5"),
        (30, "[$-409]#,##0", "30"),
        (1234.5, r'#\ ##0.00\ "zł"', "1234.5 zł"),
        (3, r"0\ \k\g", "3 kg"),
        (2, '"Level "0', "Level 2"),
        (1_500_000, '0.0,,"M"', "1.5M"),
        (1.0, "0" + 900 * ",", "1e-27"),
        (1.0, "0" + 50_000 * "[", "1" + 999 * "["),
        (1234, "00000", "01234"),
        (1, '"yes";;"no"', "yes"),
        (0, '"yes";;"no"', "no"),
        (1, '[=1]0" day";0" days"', "1 day"),
        (2, '[=1]0" day";0" days"', "2 days"),
        (5, '[>=5]"many";[<5]"few"', "many"),
        (4, '[>=5]"many";[<5]"few"', "few"),
        (3, '[<=3]0" of three";0" or more"', "3 of three"),
        (4, '[<>3]0" kg";"three"', "4 kg"),
        (5, '[>5]0" large";[<0.5]0" tiny";0" small"', "5 small"),
        (3, '[>5]0" large";[>4]0" big"', "3 big"),
        (-3, '0" up";0" down";"even"', "-3 down"),
        (0, "0;-0;;@", ""),
        (5, ";;;", ""),
        (0.25, "# ?/?", "0.25"),
        (123456, "0.00E+00", "123456"),
        (4_111_111_111_111_111, "0", "4111111111111111"),
        (-1.234567890123e20, "General", "-123456789012300000000"),
        (6.022e23, "0.00E+00", "6.022e+23"),
        (0.00005, "0.00000", "0.00005"),
        (0.0000125, "0.000000 [$kg]", "0.0000125 kg"),
        (6.626e-34, "0.00E+00", "6.626e-34"),
        (time(8, 5), "h:mm", "08:05"),
        (time(8, 5, 9), "h:mm:ss", "08:05:09"),
        (timedelta(hours=30, minutes=15), "[h]:mm", "30:15:00"),
        (timedelta(minutes=4, seconds=30), "[mm]:ss", "0:04:30"),
        (-timedelta(hours=1, minutes=15), "[h]:mm", "-1:15:00"),
    ],
)
def test_a_number_has_the_unit_that_its_format_shows(value: object, form: str, shown: str) -> None:
    """It stands in the format alone: a price had no currency, an article no leading zeros, and 30 hours were a day."""
    book = Workbook()
    book.active.append(["Value", "Name"])
    book.active.append(["", "y"])
    book.active.append([value, "x"])
    book.active.append(["z", "y"])
    book.active["A3"].number_format = form
    assert told(book).split("\n")[-2] == f"| {shown} | x |"


def test_raised_numbers_in_a_cell_are_no_part_of_the_number_before() -> None:
    """10 with a raised 6 was 106; the end of "1st" stays as it is."""
    book, look = Workbook(), InlineFont(vertAlign="superscript")
    parts = ["H", TextBlock(InlineFont(vertAlign="subscript"), "2"), "O: 10", TextBlock(look, "6"), " on the 1"]
    book.active.append(["Count", CellRichText(*parts, TextBlock(look, "st"))])
    book.active.append(["a", "b"])
    assert told(book).split("\n")[2] == "| Count | H2O: 10^6 on the 1st |"


def test_the_end_of_a_line_in_a_cell_is_no_part_of_the_word_before() -> None:
    """Excel writes that of Windows so: nobody searches for `weeks_x000D_`."""
    book = Workbook()
    book.active.append(["Two weeks_x000D_\nat most", CellRichText("Of ", TextBlock(InlineFont(b=True), "all_x000d_"))])
    book.active.append(["code_x00e9_", 1])
    assert told(book).split("\n")[2:] == ["| Two weeks at most | Of all |", "| --- | --- |", "| code_x00e9_ | 1 |"]


def test_a_cell_that_is_struck_through_is_marked_as_of_pages() -> None:
    """A plan that is no longer sold was one like the others."""
    book = Workbook()
    for row in (["Plan", "Price"], ["Old", 9], ["New", 10]):
        book.active.append(row)
    for place in ("A2", "B2", "C2"):
        book.active[place].font = Font(strike=True)
    assert told(book).split("\n")[-2:] == ["| ~~Old~~ | ~~9~~ |", "| New | 10 |"]


def test_a_cell_merged_over_rows_is_in_each_of_them_and_one_over_columns_once() -> None:
    """Without it, the second row would say nothing of its region."""
    book = Workbook()
    for row in (["Price list", None, None], [], ["Region", "Plan", "Price"], ["North", "Basic", 9], [None, "Team", 29]):
        book.active.append(row)
    book.active.merge_cells("A1:C1")
    book.active.merge_cells("A4:A5")
    assert told(book).split("\n") == [
        *("## Sheet", "", "Price list", "", "| Region | Plan | Price |", "| --- | --- | --- |"),
        *("| North | Basic | 9 |", "| North | Team | 29 |"),
    ]


def test_a_sheet_of_many_merged_cells_is_read_in_time() -> None:
    """For each, the last row was sought among all cells: 6,000, one in each row, took forty seconds."""
    book = Workbook()
    for number in range(4_000):
        book.active.append(["Room", number, "free"])
    book.active.merged_cells.ranges = {CellRange(f"C{row}:D{row}") for row in range(1, 4_001)}
    started = process_time()
    assert told(book).count("free") == 4_000
    assert process_time() - started < 10


def test_a_cell_merged_over_columns_is_in_each_that_has_others_of_its_own() -> None:
    """A name over two columns is part of both names, and a shift over two days is of both."""
    book = Workbook()
    for row in (
        ["Plan", "Price", None, "Note", None],
        [None, "net", "gross", None, None],
        ["Basic", 9, None, "best", None],
        ["Team", 29, 34, "big", None],
    ):
        book.active.append(row)
    for area in ("A1:A2", "B1:C1", "D1:E2", "B3:C3", "D3:E3", "D4:E4"):
        book.active.merge_cells(area)
    assert told(book) == (
        "## Sheet\n\n| Plan | Price net | Price gross | Note |\n| --- | --- | --- | --- |\n"
        "| Basic | 9 | 9 | best |\n| Team | 29 | 34 | big |"
    )


def test_rows_that_a_filter_hides_are_read() -> None:
    """A filter is a way to look at a sheet, and its rows are there."""
    book = Workbook()
    for row in (["Plan", "Price"], ["Basic", 9], ["Team", 29]):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = True
    assert "| Basic | 9 |" in told(book)


def test_a_file_whose_drawing_is_missing_is_read_without_it() -> None:
    """As some programs export it, with a wrong size of the sheet: its cells are there, formulas as their results."""
    book, whole, broken = Workbook(), BytesIO(), BytesIO()
    for row in (["Plan", "Price"], ["Basic", 9], ["Double", "=2*B2"]):
        book.active.append(row)
    chart = BarChart()
    chart.add_data(Reference(book.active, range_string="Sheet!$B$1:$B$2"))
    book.active.add_chart(chart, "D1")
    book.save(whole)
    with ZipFile(whole) as known, ZipFile(broken, "w") as archive:
        for entry in known.infolist():
            if not entry.filename.startswith(("xl/drawings/drawing", "xl/charts/")):
                data = known.read(entry).replace(b'<dimension ref="A1:B3"', b'<dimension ref="A1"')
                archive.writestr(entry.filename, data.replace(b"<v></v>", b"<v>18</v>"))
    (document,) = XlsxToMarkdown().run([ByteStream(broken.getvalue())])["documents"]
    assert (document.content or "").endswith("| Plan | Price |\n| --- | --- |\n| Basic | 9 |\n| Double | 18 |")


@pytest.mark.parametrize(
    ("part", "sound", "odd"),
    [
        ("xl/styles.xml", b"<fill>", b"<fill/><fill>"),
        ("xl/styles.xml", b'<cellStyle name="Normal"', b"<cellStyle"),
        ("xl/worksheets/sheet1.xml", b'operator="greaterThan"', b'operator="Between"'),
        ("xl/workbook.xml", b'tabRatio="600"', b'tabRatio="wide"'),
    ],
)
def test_a_file_with_a_look_that_its_reader_does_not_know_is_read(part: str, sound: bytes, odd: bytes) -> None:
    """Excel shows it without; nothing of it was read. Percent, dates, merged cells and lines through text stay."""
    book, whole, changed = Workbook(), BytesIO(), BytesIO()
    sheet = book.active
    for row in (["Plan", "Off", "Until", "Price"], ["Basic", 0.2, date(2026, 5, 1), 9], [None, 0.3, None, 8]):
        sheet.append(row)
    sheet["B2"].number_format = sheet["B3"].number_format = "0%"
    sheet["D3"].font = Font(strike=True)
    sheet.merge_cells("A2:A3")
    sheet.conditional_formatting.add("D2:D3", CellIsRule("greaterThan", ["8"], fill=PatternFill(bgColor="FF0000")))
    book.save(whole)
    with ZipFile(whole) as known, ZipFile(changed, "w") as archive:
        for name in known.namelist():
            data = known.read(name)
            assert name != part or sound in data
            archive.writestr(name, data.replace(sound, odd) if name == part else data)
    (document,) = XlsxToMarkdown().run([ByteStream(changed.getvalue())])["documents"]
    assert (document.content or "").split("\n")[-2:] == [
        "| Basic | 20% | 2026-05-01 | 9 |",
        "| Basic | 30% |  | ~~8~~ |",
    ]


def test_a_file_that_cannot_be_read_or_would_be_told_without_end_gives_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One text may stand in any number of cells; as with Haystack's converters, it is logged, and without the text."""
    book = Workbook()
    for _ in range(100):
        book.active.append(["Emma is a novel."])
    book.save(data := BytesIO())
    monkeypatch.setattr(xlsx_cells, "_MOST_CHARACTERS", 1000)
    damaged = ByteStream(b"PK\x03\x04\xff")
    assert XlsxToMarkdown().run([ByteStream(data.getvalue()), damaged])["documents"] == []
    assert len(caplog.records) == 2
    assert "Emma" not in caplog.text


@pytest.mark.parametrize(
    ("saved", "is_asked", "shown"),
    [("0", True, ""), ("1510.4", True, "1510.4 €"), ("0", False, "0 €"), ("0", None, "0 €")],
)
def test_a_formula_that_its_writer_did_not_calculate_is_no_zero(saved: str, is_asked: bool | None, shown: str) -> None:
    """XlsxWriter saves a zero with each, and asks spreadsheet programs to calculate: a total of 1510.40 was "0 EUR"."""
    book = Workbook()
    for row in (
        ["Item", "Cost"],
        ["Rent", 1200],
        ["Power", 310.4],
        ["Free", 0],
        ["Total", "=SUM(B2:B4)"],
        ["Parts", "=3"],
    ):
        book.active.append(row)
    book.active["B5"].number_format = "0.00 [$€-407]"
    book.calculation.fullCalcOnLoad = is_asked
    book.save(file := BytesIO())
    with ZipFile(file) as old, ZipFile(changed := BytesIO(), "w") as new:
        for name in old.namelist():
            data = old.read(name).replace(b"<v></v>", b"<v>%s</v>" % saved.encode(), 1)
            new.writestr(name, data.replace(b"<v></v>", b"<v>3</v>"))
    (document,) = XlsxToMarkdown().run([ByteStream(changed.getvalue())])["documents"]
    *_, free, total, parts = (document.content or "").split("\n")
    assert (free, total, parts) == ("| Free | 0 |", f"| Total | {shown} |", "| Parts | 3 |")
