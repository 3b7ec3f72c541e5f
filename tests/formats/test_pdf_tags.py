"""Headings and tables that a PDF tells by its tags are read as such: word processors and browsers write tags."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from files import pdf
from haystack.dataclasses import ByteStream
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject, TextStringObject

from haystack_integrations.crag.components import PdfToMarkdown
from haystack_integrations.crag.formats.pdf_pieces import Piece, pieces_of, without_repeated_feet
from haystack_integrations.crag.formats.pdf_tables import Tables
from haystack_integrations.crag.formats.pdf_tags import Cell, Tags, tags_of, words_of

TEXT = b"""/H1 <</MCID 0>> BDC BT /F1 12 Tf 72 700 Td (Travel) Tj ET EMC
/P <</MCID 1>> BDC BT /F1 12 Tf 72 680 Td (By train.) Tj ET EMC
/H2 <</MCID 2>> BDC BT /F1 12 Tf 72 660 Td (1.1) Tj ET EMC
/Span <</MCID 3>> BDC BT /F1 12 Tf 100 660 Td (Costs) Tj ET EMC
/Artifact BMC BT /F1 12 Tf 72 20 Td (Page 1) Tj ET EMC"""


def part(kind: str, *kids: Any) -> DictionaryObject:
    """Give a part of a structure: parts, or numbers of pieces of the page's content."""
    inner = ArrayObject([NumberObject(kid) if isinstance(kid, int) else kid for kid in kids])
    return DictionaryObject({NameObject("/S"): NameObject(kind), NameObject("/K"): inner})


def reference(mark: int) -> DictionaryObject:
    """Give a number of a piece as browsers write it."""
    return DictionaryObject({NameObject("/Type"): NameObject("/MCR"), NameObject("/MCID"): NumberObject(mark)})


def tagged(*parts: DictionaryObject, roles: dict[str, str] | None = None, content: bytes = TEXT) -> bytes:
    """Give a PDF of one page with that structure."""
    writer = PdfWriter(clone_from=BytesIO(pdf()))
    shown = DecodedStreamObject()
    shown.set_data(content)
    page = writer.pages[0]
    page[NameObject("/Contents")] = shown
    for one in parts:
        one[NameObject("/Pg")] = page.indirect_reference
    root = part("/Document", *map(writer._add_object, parts))
    known = {NameObject(name): NameObject(role) for name, role in (roles or {}).items()}
    root[NameObject("/RoleMap")] = writer._add_object(DictionaryObject(known))
    writer.root_object[NameObject("/StructTreeRoot")] = root
    writer.write(data := BytesIO())
    return data.getvalue()


def painted(*lines: tuple[int, str]) -> bytes:
    """Give content that paints lines, each with its mark, in this order; where they stand follows from their marks."""
    line = "/P <</MCID %d>> BDC BT /F1 12 Tf 72 %d Td (%s) Tj ET EMC"
    return "\n".join(line % (mark, 700 - 20 * mark, words) for mark, words in lines).encode()


def headings_of(data: bytes) -> list[tuple[int, str]]:
    """Read those of its only page."""
    reader = PdfReader(BytesIO(data))
    (marked,) = tags_of(reader).headings.values() or ({},)
    return words_of(pieces_of(reader.pages[0]), marked)


@pytest.mark.parametrize(
    ("parts", "headings"),
    [
        ([part("/H1", 0), part("/P", 1), part("/H2", 2, part("/Span", 3))], [(1, "Travel"), (2, "1.1 Costs")]),
        ([part("/Sect", part("/Heading#201", 0), part("/P", 1)), part("/P", 2, 3)], [(1, "Travel")]),
        ([part("/P", 0, 1, 2, 3)], []),
        ([part("/H", reference(0)), part("/P", reference(1)), part("/H6", 3)], [(1, "Travel"), (6, "Costs")]),
        ([part("/H1", 9)], []),
    ],
)
def test_what_is_tagged_as_a_heading_is_one(
    parts: list[DictionaryObject], headings: list[tuple[int, str]] | None
) -> None:
    """Of several pieces, or by another name that the file says is a heading's; what no one tagged so is none."""
    assert headings_of(tagged(*parts, roles={"/Heading#201": "/H1"})) == headings


def test_the_headings_are_marked_in_the_text() -> None:
    """As those of an outline."""
    data = tagged(part("/H1", 0), part("/P", 1), part("/H2", 2, part("/Span", 3)))
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    assert document.content == "\n\n# Travel\nBy train.\n\n## 1.1 Costs\nPage 1"


def test_the_foot_of_a_page_is_read_once() -> None:
    """It stood within a sentence on each page, and with the hour at which a browser printed it."""

    def page(words: str, foot: str) -> bytes:
        kind = "/Artifact <</Type /Pagination>> BDC BT /F1 12 Tf 72 20 Td"
        content = f"/P <</MCID 0>> BDC BT /F1 12 Tf 72 700 Td ({words}) Tj ET EMC {kind} ({foot}) Tj ET EMC"
        return tagged(part("/P", 0), content=content.encode())

    seen, told = set[str](), list[str]()
    for words, foot in (("All parcels", "Fees 1/3"), ("are sent at once.", "Fees 2/3"), ("Four euro.", "Rates 3/3")):
        pieces = pieces_of(PdfReader(BytesIO(page(words, foot))).pages[0])
        told.append("".join(piece.text for piece in without_repeated_feet(pieces, seen)).strip())
    assert told == ["All parcels\nFees 1/3", "are sent at once.", "Four euro.\nRates 3/3"]
    (document,) = PdfToMarkdown().run([ByteStream(page("Fees 1/3", "Fees 1/3"))])["documents"]
    assert document.content == "Fees 1/3\nFees 1/3"


def test_a_heading_is_where_its_tag_is_and_not_in_the_contents_above() -> None:
    """A page that a browser prints begins with them: what stood below the first heading was told as the last one's."""
    lines = ("Rates", "Fees", "Rates", "Four euro.", "Fees", "Nine euro.")
    kinds = (part("/P", 0, 1), part("/H2", 2), part("/P", 3), part("/H2", 4))
    data = tagged(*kinds, content=painted(*enumerate(lines)))
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    assert document.content == "Rates\nFees\n\n## Rates\nFour euro.\n\n## Fees\nNine euro."


@pytest.mark.parametrize("outline", [[], ["Rates", "Fees"]])
def test_a_heading_that_is_painted_last_stands_before_what_it_is_of(outline: list[str]) -> None:
    """So browsers paint headings that have a place of their own: a page's text stood below the last one before it."""
    content = painted((1, "Four euro."), (3, "Nine euro."), (4, "Ask us."), (0, "Rates"), (2, "Fees"))
    data = tagged(part("/H2", 0), part("/P", 1), part("/H2", 2), part("/P", 3, 4), content=content)
    writer = PdfWriter(clone_from=BytesIO(data))
    for words in outline:
        writer.add_outline_item(title=words, page_number=0)
    writer.write(file := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(file.getvalue())])["documents"]
    lines = [line.removeprefix("#") for line in (document.content or "").split("\n") if line]
    marks = "# " if not outline else " "  # in an outline, both are of the first level
    assert lines == [f"{marks}Rates", "Four euro.", f"{marks}Fees", "Nine euro.", "Ask us."]


def test_a_box_that_is_painted_first_moves_no_heading() -> None:
    """Its tag is behind all headings, and what they are of stands where it did."""
    content = painted((4, "An advertisement."), (0, "Rates"), (1, "Four euro."), (2, "Fees"), (3, "Nine euro."))
    data = tagged(part("/H2", 0), part("/P", 1), part("/H2", 2), part("/P", 3, 4), content=content)
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    lines = [line for line in (document.content or "").split("\n") if line]
    assert [line for line in lines if line != "An advertisement."] == [
        "## Rates",
        "Four euro.",
        "## Fees",
        "Nine euro.",
    ]


@pytest.mark.parametrize("root", [NumberObject(3), DictionaryObject({NameObject("/K"): NumberObject(0)})])
def test_tags_that_say_nothing_cost_no_text(root: Any) -> None:
    """Damaged files have such."""
    writer = PdfWriter(clone_from=BytesIO(pdf("Two weeks.")))
    writer.root_object[NameObject("/StructTreeRoot")] = root
    writer.write(data := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert document.content == "Two weeks."


@pytest.mark.parametrize("hold", [lambda inner: part("/Div", inner, inner), lambda inner: ArrayObject([inner, inner])])
def test_parts_that_hold_one_another_are_read_once(hold: Callable[[Any], Any]) -> None:
    """Each has two places in the next one: read for each, thirty of them would take years."""
    writer = PdfWriter(clone_from=BytesIO(tagged(part("/H1", 0))))
    root = writer.root_object["/StructTreeRoot"]
    inner = root["/K"]
    for _ in range(30):
        inner = writer._add_object(hold(inner))
    root[NameObject("/K")] = inner
    writer.write(data := BytesIO())
    assert headings_of(data.getvalue()) == [(1, "Travel")]


ROWS = b"""/P <</MCID 0>> BDC BT /F1 12 Tf 72 700 Td (Table 1. Prices) Tj ET EMC
/TH <</MCID 1>> BDC BT /F1 12 Tf 72 680 Td (Plan) Tj ET EMC
/TH <</MCID 2>> BDC BT /F1 12 Tf 200 680 Td (Price) Tj ET EMC
/TD <</MCID 3>> BDC BT /F1 12 Tf 72 660 Td (Basic) Tj 0 -14 Td (plan) Tj ET EMC
/TD <</MCID 4>> BDC BT /F1 12 Tf 200 660 Td (9 | 8) Tj ET EMC
/TD <</MCID 5>> BDC BT /F1 12 Tf 200 640 Td (7) Tj ET EMC
/P <</MCID 6>> BDC BT /F1 12 Tf 72 600 Td (All are net.) Tj ET EMC"""


def row(*cells: Any, **spans: int) -> DictionaryObject:
    """Give a row of cells; the first of them spans as many rows or columns as are told."""
    made = [part("/TD", cell) if isinstance(cell, int) else cell for cell in cells]
    told = {NameObject(f"/{name}"): NumberObject(number) for name, number in spans.items()}
    if made:
        look, own = DictionaryObject({NameObject("/O"): NameObject("/Layout")}), DictionaryObject(told)
        made[0][NameObject("/A")] = own if "ColSpan" in spans else ArrayObject([look, own])
    return part("/TR", *made)


def read(*rows: DictionaryObject) -> str:
    """Give the text of a page with a table of those rows."""
    data = tagged(part("/P", 0), part("/Table", *rows), part("/P", 6), content=ROWS)
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    return document.content or ""


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([row(1, 2), row(3, 4)], ["| Plan | Price |", "| --- | --- |", "| Basic plan | 9 \\| 8 |"]),
        (
            [row(1, 2), row(3, 4, RowSpan=2), row(5)],
            ["| Plan | Price |", "| --- | --- |", "| Basic plan | 9 \\| 8 |", "| Basic plan | 7 |"],
        ),
        ([row(0, ColSpan=2), row(1, 2), row(3, 4)], ["| Plan | Price |", "| --- | --- |", "| Basic plan | 9 \\| 8 |"]),
        (
            [row(1, 2, ColSpan=2), row(3, 4, 5)],
            ["| Plan | Plan | Price |", "| --- | --- | --- |", "| Basic plan | 9 \\| 8 | 7 |"],
        ),
        (
            [part("/Caption"), row(part("/TH", 1), 2), row(3, part("/TD", part("/Table", row(4), row(5))))],
            ["| Plan | Price |", "| --- | --- |", "| Basic plan | 9 \\| 8 7 |"],  # of a table in a cell, its text
        ),
        (
            [part("/THead", row(1, 2)), part("/TBody", row(part("/TD", part("/Div", 3)), 4))],
            ["| Plan | Price |", "| --- | --- |", "| Basic plan | 9 \\| 8 |"],
        ),
    ],
)
def test_rows_that_are_tagged_are_told_as_a_table_below_its_caption(
    rows: list[DictionaryObject], lines: list[str]
) -> None:
    """A value says little without the name of its column, and cells are lines like all others on a page."""
    text = read(*rows)
    begin, end = text.index("Table 1. Prices\n\n"), text.index("All are net.")
    assert [line for line in text[begin:end].splitlines() if line.startswith("|")] == lines


@pytest.mark.parametrize(
    ("place", "line", "end"),
    [
        ([72, 100, 200, 120], "| Basic plan | 9 \\| 8 |", "All are net.\nSeen"),
        ([300, 655, 400, 670], "9 | 8 Seen", "All are net."),  # in the table, which may be a form
    ],
)
def test_what_is_typed_on_a_page_costs_no_table_that_it_does_not_stand_in(
    place: list[int], line: str, end: str
) -> None:
    """For a stamp at its foot the tables of a page were lines like all others."""
    data = tagged(part("/P", 0), part("/Table", row(1, 2), row(3, 4)), part("/P", 6), content=ROWS)
    writer = PdfWriter(clone_from=BytesIO(data))
    words = {"/Subtype": NameObject("/FreeText"), "/Contents": TextStringObject("Seen")}
    note = DictionaryObject({NameObject(key): value for key, value in words.items()})
    note[NameObject("/Rect")] = ArrayObject(map(NumberObject, place))
    writer.pages[0][NameObject("/Annots")] = ArrayObject([writer._add_object(note)])
    writer.write(stamped := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(stamped.getvalue())])["documents"]
    assert line in (document.content or "").splitlines()
    assert (document.content or "").endswith(end)


def test_two_tables_of_a_page_are_told_as_two() -> None:
    """With what stands between them there."""
    words = ("Plan", "Price", "Basic", "9", "From May:", "Plan", "Price", "Basic", "10")
    tables = (part("/Table", row(0, 1), row(2, 3)), part("/P", 4), part("/Table", row(5, 6), row(7, 8)))
    data = tagged(*tables, content=painted(*enumerate(words)))
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    head = ["| Plan | Price |", "| --- | --- |"]
    lines = [line for line in (document.content or "").splitlines() if line]
    assert lines == [*head, "| Basic | 9 |", "From May:", *head, "| Basic | 10 |"]


@pytest.mark.parametrize(
    "rows",
    [
        [row(1, 2), row(3), row(4)],
        [row(1, 2, 3, 4)],
        [row(1, ColSpan=2), row(3, 4)],
        [row(1), row(2), row(3), row(4)],
        [row(1, 2), row(part("/TD", part("/H2", 3)), 4)],
        [row(1, 2, ColSpan=1_000_000_000), row(3, 4)],
        [row(1, 2), row(3, 4, RowSpan=1_000_000_000), row(5, 6, 6)],
        [part("/TD", 1), part("/TD", 2)],
        [row(), row()],
    ],
)
def test_what_is_tagged_as_a_table_and_is_none_stays_as_it_is_printed(rows: list[DictionaryObject]) -> None:
    """Rows of several widths would put a value below another column's name; a layout has headings, or one column."""
    text = read(*rows)
    assert "---" not in text
    assert text.replace("## ", "").split() == "Table 1. Prices Plan Price Basic plan 9 | 8 7 All are net.".split()


def test_the_names_of_columns_stand_above_each_page_of_a_table() -> None:
    """Below a page's number nothing tells that the table goes on."""
    tags, names = Tags(tables={1: [[(1, 1)] * 2] * 3}), {0: Cell(1, 0, 0), 1: Cell(1, 0, 1), 2: Cell(1, 1, 0)}
    tables = Tables(tags)
    first = tables.written([Piece("Plan", 0, 0, 0), Piece("Price", 0, 0, 1), Piece("Basic", 0, 0, 2)], names)
    assert first == "\n\n| Plan | Price |\n| --- | --- |\n| Basic |  |\n\n"
    second = tables.written([Piece("Team", 0, 0, 2)], {2: Cell(1, 2, 0)})
    assert second == "\n\n| Plan | Price |\n| --- | --- |\n| Team |  |\n\n"


def test_a_year_over_its_quarters_names_each_column_with_them() -> None:
    """On the next page, too: of the second row of names nothing stood there."""
    tables = Tables(Tags(tables={1: [[(2, 1), (1, 2)], [(1, 1)] * 2, [(1, 1)] * 3, [(1, 1)] * 3]}))
    cells = dict(enumerate(Cell(1, *at) for at in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 2))))
    pieces = [Piece(text, 0, 0, mark) for mark, text in enumerate("Region 2024 Q1 Q2 North 5 9".split())]
    head = ["| Region | 2024 Q1 | 2024 Q2 |", "| --- | --- | --- |"]
    first = tables.written(pieces, cells)
    assert first.strip().splitlines() == [*head, "| North | 5 | 9 |"]
    assert tables.written([Piece("7", 0, 0, 7)], cells).strip().splitlines() == [*head, "|  |  | 7 |"]


def test_a_row_that_goes_on_with_the_next_page_tells_what_it_is_of_on_both() -> None:
    """Word processors break a row where the page ends, in the midst of a cell."""
    tables = Tables(Tags(tables={1: [[(1, 1)] * 2] * 2}))
    cells = {0: Cell(1, 0, 0), 1: Cell(1, 0, 1), 2: Cell(1, 1, 0), 3: Cell(1, 1, 1)}
    pieces = [Piece(text, 0, 0, mark) for mark, text in enumerate(("Plan", "Price", "Basic", "9 a month,"))]
    assert "| Basic | 9 a month, |" in tables.written(pieces, cells)
    second = tables.written([Piece("or 99 a year", 0, 0, 3)], cells)
    assert second.strip().splitlines()[2:] == ["| Basic | or 99 a year |"]


@pytest.mark.parametrize(("plan", "again"), [("Basic", "Basic"), ("basic " * 40 + "plan", "")])
def test_a_cell_over_rows_of_two_pages_is_in_each_of_them_if_it_is_short(plan: str, again: str) -> None:
    """Above the second page nothing said which plan the price is of; a paragraph is not told again for each row."""
    tables = Tables(Tags(tables={1: [[(1, 1)] * 2, [(3, 1), (1, 1)], [(1, 1)], [(1, 1)]]}))
    cells = {0: Cell(1, 0, 0), 1: Cell(1, 0, 1), 2: Cell(1, 1, 0), 3: Cell(1, 1, 1), 4: Cell(1, 2, 0), 5: Cell(1, 3, 0)}
    words = ["Plan", "Price", plan, "9 a month", "99 a year", "free for schools"]
    pieces = [Piece(text, 0, 0, mark) for mark, text in enumerate(words)]
    assert tables.written(pieces[:5], cells).endswith(f"\n| {plan} | 9 a month |\n| {again} | 99 a year |\n\n")
    assert tables.written(pieces[5:], cells).endswith(f"\n| {again} | free for schools |\n\n")


def test_a_table_that_places_long_texts_beside_each_other_stays_as_it_is_printed() -> None:
    """On the next page, too; a row longer than a passage would be cut."""
    tables = Tables(Tags(tables={1: [[(1, 1)] * 2] * 3}))
    cells = {0: Cell(1, 0, 0), 1: Cell(1, 0, 1), 2: Cell(1, 1, 0), 3: Cell(1, 1, 1), 4: Cell(1, 2, 0)}
    pieces = [Piece(text, 0, 0, mark) for mark, text in enumerate(("One ", "two ", "word " * 160, "three ", "four"))]
    assert tables.written(pieces[:4], cells) == f"One two {'word ' * 160}three "
    assert tables.written(pieces[4:], cells) == "four"


def test_names_of_columns_that_are_too_long_to_stand_above_each_page_stand_there_once() -> None:
    """As a row, or each passage would be full of them."""
    tables, long = Tables(Tags(tables={1: [[(1, 1)] * 2] * 3})), "name " * 50
    cells = {0: Cell(1, 0, 0), 1: Cell(1, 0, 1), 2: Cell(1, 1, 0), 3: Cell(1, 1, 1), 4: Cell(1, 2, 0)}
    pieces = [Piece(text, 0, 0, mark) for mark, text in enumerate((f"{long}1", f"{long}2", "Basic", "9", "Team"))]
    head = ["|  |  |", "| --- | --- |"]
    first, second = (tables.written(part, cells).strip().splitlines() for part in (pieces[:4], pieces[4:]))
    assert first == [*head, f"| {long}1 | {long}2 |", "| Basic | 9 |"]
    assert second == [*head, "| Team |  |"]


def test_cells_of_a_row_that_say_the_same_are_each_told_and_one_over_the_whole_row_once() -> None:
    """Nothing said that the hall is closed on the second day as well."""
    tables = Tables(Tags(tables={1: [[(1, 1)] * 2, [(1, 2)], [(1, 1)] * 2]}))
    cells = {0: Cell(1, 0, 0), 1: Cell(1, 0, 1), 2: Cell(1, 1, 0), 3: Cell(1, 2, 0), 4: Cell(1, 2, 1)}
    words = ["Monday", "Tuesday", "Winter", "closed", "closed"]
    text = tables.written([Piece(one, 0, 0, mark) for mark, one in enumerate(words)], cells)
    assert text.strip().splitlines()[2:] == ["| Winter |  |", "| closed | closed |"]
