"""PdfToMarkdown: headings that the outline names are marked, and words stay apart."""

import logging
from io import BytesIO
from pathlib import Path

import pytest
from files import pdf
from haystack.components.converters import PyPDFToDocument
from haystack.dataclasses import ByteStream
from haystack.document_stores.in_memory import InMemoryDocumentStore
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

from haystack_integrations.crag.components import PdfToMarkdown
from haystack_integrations.crag.formats.pdf_headings import with_headings
from haystack_integrations.crag.pipelines.indexing import index


def book(*pages: str, outline: dict[str, int]) -> bytes:
    """Give a PDF of pages of one line each, and an outline in which each heading is one level below the one before."""
    writer, parent = PdfWriter(), None
    for page in pages:
        writer.append(PdfReader(BytesIO(pdf(page))), import_outline=False)
    for words, page in outline.items():
        parent = writer.add_outline_item(title=words, page_number=page, parent=parent)
    writer.write(data := BytesIO())
    return data.getvalue()


def typeset(content: bytes, *, letters: bytes) -> bytes:
    """Give a PDF of one page; its font tells what its letters are, and has a wide sign by the code of a space."""
    writer = PdfWriter(clone_from=BytesIO(pdf()))
    page = writer.pages[0]
    (font,) = (one.get_object() for one in page["/Resources"]["/Font"].values())
    told, shown = DecodedStreamObject(), DecodedStreamObject()
    told.set_data(b"1 beginbfrange\n<%s>\nendbfrange" % letters)
    shown.set_data(content)
    widths = ArrayObject([NumberObject(600 if code == 32 else 500) for code in range(32, 127)])
    more = {"/FirstChar": NumberObject(32), "/Widths": widths, "/ToUnicode": told}
    font.update(DictionaryObject({NameObject(name): value for name, value in more.items()}))
    page[NameObject("/Contents")] = shown
    writer.write(data := BytesIO())
    return data.getvalue()


@pytest.mark.parametrize(
    ("gap", "letters", "read"),
    [
        (b"-250", b"41> <7a> <0041", "Two weeks"),
        (b"-30", b"41> <7a> <0041", "Twoweeks"),
        (b"-250", b"20> <7a> <0020", "Twoweeks"),  # it has a space, of which this is not half
    ],
)
def test_words_stay_apart_where_the_font_has_no_space(gap: bytes, letters: bytes, read: str) -> None:
    """TeX parts words by gaps; a sign that happens to have the code of a space says nothing of how wide they are."""
    data = typeset(b"BT /F1 12 Tf 72 700 Td [(Two)%s(weeks)] TJ ET" % gap, letters=letters)
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    assert document.content == read


@pytest.mark.parametrize(
    ("gap", "signs", "read"),
    [("-222", "/T/e/k/o/s/w", "Two weeks"), ("-30", "/T/e/k/o/s/w", "Twoweeks"), ("-222", "/T/e/space/w", "Twoweeks")],
)
def test_words_stay_apart_where_the_font_lists_its_signs_and_no_space_among_them(
    gap: str, signs: str, read: str
) -> None:
    """So TeX writes where it does not say what letters are: of 120 papers 30 had lines that were one word."""
    reader = PdfReader(BytesIO(typeset(f"BT /F1 12 Tf 72 700 Td [(Two){gap}(weeks)] TJ ET".encode(), letters=b"")))
    (font,) = (one.get_object() for one in reader.pages[0]["/Resources"]["/Font"].values())
    del font["/ToUnicode"]
    font[NameObject("/FontDescriptor")] = DictionaryObject({NameObject("/CharSet"): TextStringObject(signs)})
    PdfWriter(clone_from=reader).write(data := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert document.content == read


def test_a_letter_of_which_its_font_tells_one_half_costs_no_other() -> None:
    """Word 2007 tells such of emoji and of letters that few fonts have: for one of them nothing was read."""
    letters = b"41> <42> <0041>\n<43> <43> <d83d>\n<44> <44> <de00"
    data = typeset(b"BT /F1 12 Tf 72 700 Td (ABCD) Tj 0 -20 Td (AC) Tj ET", letters=letters)
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    assert document.content == "AB\U0001f600\nA\ufffd"


def test_a_code_of_two_bytes_is_one_letter() -> None:
    """mPDF has a table of its own for them, of which the first came out as a sign: no word could be found."""
    data = typeset(b"BT /F1 12 Tf 72 700 Td (Two weeks) Tj ET", letters=b"41> <7a> <00000041")
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    assert document.content == "Two weeks"


def test_a_number_stays_whole_whose_letters_are_drawn() -> None:
    """
    Old papers have letters of a size of their own (Type 3): of 94.3 % in two fonts were `94 . 3` left.

    Also where pages share a font, and each has resources of its own.
    """
    content = b"BT /F1 12 Tf 72 700 Td (94) Tj 12 0 Td (.) Tj 6 0 Td (3) Tj 12 0 Td (kg) Tj ET"
    reader = PdfReader(BytesIO(typeset(content, letters=b"20> <7a> <0020")))
    (font,) = (one.get_object() for one in reader.pages[0]["/Resources"]["/Font"].values())
    matrix = ArrayObject(map(FloatObject, (0.01, 0, 0, -0.01, 0, 0)))
    widths = ArrayObject([NumberObject(50)] * 95)
    more = {"/Subtype": NameObject("/Type3"), "/FontMatrix": matrix, "/Widths": widths}
    font.update(DictionaryObject({NameObject(name): value for name, value in more.items()}))
    writer = PdfWriter(clone_from=reader)
    page, other = writer.pages[0], writer.add_blank_page(612, 792)
    other[NameObject("/Contents")] = page["/Contents"]
    other[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): page["/Resources"]["/Font"]})
    writer.write(data := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert document.content == "94.3 kg\f94.3 kg"


def test_words_stay_apart_in_a_page_that_was_put_into_another_file() -> None:
    """It is drawn as one picture, with fonts of its own: stamps, covers and several pages on one are made so."""
    inner = PdfReader(BytesIO(typeset(b"BT /F1 12 Tf 72 700 Td [(Two)-250(weeks)] TJ ET", letters=b"41> <7a> <0041")))
    form = DecodedStreamObject()
    form.set_data(inner.pages[0].get_contents().get_data())  # type: ignore[union-attr]
    writer = PdfWriter(clone_from=BytesIO(pdf()))
    form[NameObject("/Subtype")] = NameObject("/Form")
    form[NameObject("/Resources")] = inner.pages[0]["/Resources"].clone(writer)
    page = writer.pages[0]
    page["/Resources"][NameObject("/XObject")] = DictionaryObject({NameObject("/X"): writer._add_object(form)})
    content = DecodedStreamObject()
    content.set_data(b"/X Do")
    page[NameObject("/Contents")] = content
    writer.write(data := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert (document.content or "").strip() == "Two weeks"


def test_the_headings_of_the_outline_are_marked_by_their_level() -> None:
    """Each on its own page; what is a line elsewhere, or none, is no heading."""
    data = book("Leave", "Leave", "Notice", outline={"Leave": 1, "Notice": 2, "Pay": 2})
    (document,) = PdfToMarkdown().run([ByteStream(data)], meta={"source": "a.pdf"})["documents"]
    assert (document.content or "").split("\f") == ["Leave", "\n\n# Leave", "\n\n## Notice"]
    assert document.meta == {"source": "a.pdf"}


def test_passages_of_a_pdf_stand_below_their_headings(tmp_path: Path) -> None:
    """As those of Markdown do: the next page does not repeat them."""
    (tmp_path / "staff.pdf").write_bytes(
        book("Parental leave", "It is two weeks. " * 90, outline={"Parental leave": 0})
    )
    index(tmp_path, store := InMemoryDocumentStore())
    titles = [one.meta["title"] for one in sorted(store.filter_documents(), key=lambda one: one.meta["chunk"])]
    assert titles[-1] == "staff - Parental leave"


@pytest.mark.parametrize(
    ("page", "heading", "marked"),
    [
        ("A\n1.2 Notice of leave\nB", "Notice of leave", "A\n\n# 1.2 Notice of leave\nB"),
        ("A\nNotice of leave\nB", "1.2. Notice of leave", "A\n\n# 1.2. Notice of leave\nB"),
        ("A\nNoticeofleave\nB", "Notice of leave", "A\n\n# Notice of leave\nB"),
        ("A\nChapter 3: Notice\nof leave\nB", "Notice of leave", "A\n\n# Chapter 3: Notice of leave\n\nB"),
        ("The notice of leave\nB", "Notice of leave", "The notice of leave\nB"),
        ("A\n3\nB", "Chapter 3", "A\n3\nB"),
        ("2024\nFees\nB", "Fees", "2024\n\n# Fees\nB"),
        ("QA\nA\nB", "A", "QA\n\n# A\nB"),
        ("A\n", "...", "A\n"),
        ("# a comment\n  ## and one\n#none", "Pay", "\\# a comment\n\\  ## and one\n#none"),
    ],
)
def test_a_heading_is_a_line_of_its_words_and_a_number(page: str, heading: str, marked: str) -> None:
    """Either may have the number, a line may be too short for it, and a comment is no heading."""
    assert with_headings(page, {0: [(1, heading)]}) == marked


def test_headings_are_found_in_their_order() -> None:
    """One that has the words of another one is not found twice."""
    page = "Examples\nx\nExamples\ny"
    assert with_headings(page, {0: [(1, "Examples"), (2, "Examples")]}).count("# Examples") == 2


def test_a_file_without_an_outline_is_read_as_ever(tmp_path: Path) -> None:
    """Also by its path."""
    (tmp_path / "a.pdf").write_bytes(pdf("Two weeks."))
    own, stock = (
        made.run(sources=[tmp_path / "a.pdf"], meta=[{"x": 1}])["documents"][0]
        for made in (PdfToMarkdown(), PyPDFToDocument())
    )
    assert (own.content, own.meta) == (stock.content, stock.meta)


def test_an_outline_that_cannot_be_read_costs_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged files have such."""

    def broken(*_: object) -> int:
        raise ValueError

    monkeypatch.setattr(PdfReader, "get_destination_page_number", broken)
    (document,) = PdfToMarkdown().run([ByteStream(book("Leave", outline={"Leave": 0}))])["documents"]
    assert document.content == "Leave"


def test_what_cannot_be_read_is_left_out_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As Haystack's converters do."""
    with caplog.at_level(logging.WARNING):
        assert PdfToMarkdown().run([tmp_path / "missing.pdf", ByteStream(b"no pdf")])["documents"] == []
    assert "missing.pdf" in caplog.text


@pytest.mark.parametrize(("lines", "headings"), [(200_000, 1), (900, 100_000)])
def test_a_page_that_no_printer_makes_is_not_searched_for_each_heading(lines: int, headings: int) -> None:
    """Each line is compared with each heading: two hundred thousand of both would take hours."""
    page = "\n".join(f"line {number}" for number in range(lines))
    outline = {0: [(1, f"Title {number}") for number in range(headings)]}
    assert with_headings(page, outline) == page
