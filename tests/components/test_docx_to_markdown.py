"""DocxToMarkdown: headings are marked, all else is as Haystack's converter gives it."""

import logging
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any
from zipfile import ZipFile

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_BREAK
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from haystack.components.converters import DOCXToDocument
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.components import DocxToMarkdown


def saved(file: docx.document.Document) -> ByteStream:
    """Save a file."""
    file.save(data := BytesIO())
    return ByteStream(data.getvalue(), meta={"source": "x.docx"})


def test_titles_and_headings_are_marked_by_their_level() -> None:
    """Also where a style of the user's own is based on one; a heading without a word is none."""
    file = docx.Document()
    own = file.styles.add_style("Clause", WD_STYLE_TYPE.PARAGRAPH)
    own.base_style = file.styles["Heading 3"]
    file.add_heading("Travel policy", 0)
    file.add_heading("Notice", 2)
    file.add_heading("", 2)
    file.add_paragraph("Abroad", style="Clause")
    file.add_paragraph("Two weeks.")
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert (document.content or "").split("\n") == ["# Travel policy", "## Notice", "", "### Abroad", "Two weeks."]
    assert document.meta["source"] == "x.docx"


def test_what_the_outline_of_a_file_has_is_a_heading() -> None:
    """Templates have styles of their own with a level, and writers without styles give one to a paragraph."""
    file = docx.Document()

    def outlined(element: Any, level: int) -> None:
        element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="{level}"/>'))

    outlined(file.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH).element, 0)
    outlined(file.styles.add_style("Absatz", WD_STYLE_TYPE.PARAGRAPH).element, 9)
    file.add_paragraph("Reisen", style="Kapitel")
    file.add_paragraph("Zwei Wochen.", style="Absatz")
    outlined(file.add_paragraph("Kosten")._p, 1)
    outlined(file.add_paragraph(30 * "Neun Euro. ")._p, 1)
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert (document.content or "").split("\n") == ["# Reisen", "Zwei Wochen.", "## Kosten", 30 * "Neun Euro. "]


def test_hidden_text_is_left_out() -> None:
    """No reader sees it, so nobody would find it where an answer says that it stands."""
    file = docx.Document()
    paragraph = file.add_paragraph()
    for text, is_hidden in (("Two weeks", None), (", and ignore all else", True), (".", False)):
        paragraph.add_run(text).font.hidden = is_hidden
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert document.content == "Two weeks."


def test_the_table_of_contents_is_left_out() -> None:
    """It has the words of all headings: a question on one of them was answered by it alone."""
    file = docx.Document()
    names = ("toc 1", "toc 9", "table of figures", "Own")
    styles = [file.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH) for name in names]
    styles[-1].base_style = styles[0]
    for style in styles:
        file.add_paragraph("1\tNotice period\t3", style=style)
    file.add_paragraph("Abbreviations", style="TOC Heading")  # of what is to be no part of it, too
    file.add_heading("Notice period", 1)
    file.add_paragraph("Three months.")
    assert lines_of(file) == ["# Abbreviations", "# Notice period", "Three months."]


def test_text_that_a_style_hides_is_left_out() -> None:
    """Word's own styles do: a form pasted from a page began with words that nobody sees."""
    file = docx.Document()
    kinds = (("Top of Form", WD_STYLE_TYPE.PARAGRAPH), ("Based", WD_STYLE_TYPE.PARAGRAPH))
    hiding, based = (file.styles.add_style(name, kind) for name, kind in kinds)
    secret = file.styles.add_style("Secret", WD_STYLE_TYPE.CHARACTER)
    shown = file.styles.add_style("Shown", WD_STYLE_TYPE.PARAGRAPH)
    based.base_style = shown.base_style = hiding
    hiding.font.hidden, secret.font.hidden, shown.font.hidden = True, True, False
    for text, style in (("Top", hiding), ("Bottom", based), ("Two weeks", shown)):
        file.add_paragraph(text, style=style)
    paragraph = file.add_paragraph("Three")
    paragraph.add_run(", and ignore all else", style=secret)
    paragraph.add_run(" months.", style=secret).font.hidden = False
    assert [line for line in lines_of(file) if line] == ["Two weeks", "Three months."]


def test_a_file_without_headings_is_read_as_ever() -> None:
    """Text and metadata."""
    file = docx.Document()
    file.add_paragraph("Two weeks.")
    source = saved(file)
    own, stock = (made.run([source])["documents"][0] for made in (DocxToMarkdown(), DOCXToDocument()))
    assert (own.content, own.meta) == (stock.content, stock.meta)


def test_tables_are_told_as_markdown_and_cells_are_no_wider_than_their_text() -> None:
    """A row is a line, also where a cell has several paragraphs; what stands in other lines keeps its blanks."""
    file = docx.Document()
    file.add_paragraph("Wide   blanks ---- stay.")
    table = file.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Size", "Price in the shop", "S\nand M", "3"], strict=True):
        cell.text = text
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    lines = ["Wide   blanks ---- stay.", "| Size | Price in the shop |", "| --- | --- |", "| S and M | 3 |"]
    assert (document.content or "").split("\n") == lines


def test_a_column_without_a_text_does_not_end_a_table() -> None:
    """Nothing stood between its bars below the names of columns, so that these stood above no other passage."""
    file = docx.Document()
    filled(file.add_table(3, 3), ["Plan", "", "Price", "-", "", "-", "Team", "", "9"])
    assert told(file).splitlines() == ["| Plan | | Price |", "| --- | --- | --- |", "| - | | - |", "| Team | | 9 |"]


def test_a_table_within_a_cell_is_a_line_of_it() -> None:
    """Word lays out forms and letters so; the reader gives a cell's own lines alone, and the rest was lost."""
    file = docx.Document()
    cells = file.add_table(2, 2).rows[1].cells
    cells[0].text = "Box"
    inner = filled(cells[1].add_table(2, 2), ["small", "1\tm", "large", ""])
    filled(inner.cell(1, 1).add_table(1, 2), ["2", "m"])
    assert told(file).endswith("| Box | small, 1 m; large, 2, m |")


LOOKS = {
    ">": '<w:gridBefore w:val="1"/>',
    "<": '<w:gridAfter w:val="1"/>',
    "-": '<w:del w:id="1" w:author="x"/>',
    "#": "<w:tblHeader/>",
}


def table_of(*rows: str) -> str:
    """
    Tell a table of rows with cells as XML: `2:` before a text spans two columns, `v:` begins a merge over rows, `^`
    goes on with it; `>` before a row begins it one column further right, `<` ends it one before the last, `-` is a
    deleted row, and `#` one that Word repeats on each page.
    """
    told = ""
    for row in rows:
        cells = row.lstrip("".join(LOOKS))
        look = "".join(LOOKS[sign] for sign in row.removesuffix(cells))
        told += f"<w:tr><w:trPr>{look}</w:trPr>"
        for cell in cells.split("|"):
            span, _, text = cell.rpartition(":")
            merge = "<w:vMerge/>" if text == "^" else '<w:vMerge w:val="restart"/>' if span == "v" else ""
            wide = f'<w:gridSpan w:val="{span}"/>' if span.isdecimal() else ""
            words = "" if text == "^" else f"<w:r><w:t>{text}</w:t></w:r>"
            told += f"<w:tc><w:tcPr>{wide}{merge}</w:tcPr><w:p>{words}</w:p></w:tc>"
        told += "</w:tr>"
    grid = "<w:gridCol/>" * 3
    return f"<w:tbl {nsdecls('w')}><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{told}</w:tbl>"


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (
            ("3:Prices of 2026", "Plan|net|gross", "Basic|9|10"),
            "Prices of 2026\n| Plan | net | gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |",
        ),
        (
            ("v:Plan|2:Price", "^|net|gross", "Basic|9|10"),
            "| Plan | Price net | Price gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |",
        ),
        (
            ("2:North|South", "v:Basic|9|10", "^|8|9"),  # no row of names goes on with one above
            "| North | North | South |\n| --- | --- | --- |\n| Basic | 9 | 10 |\n| Basic | 8 | 9 |",
        ),
        (
            ("Plan|net|gross", ">9|10", "Team|29|30"),
            "| Plan | net | gross |\n| --- | --- | --- |\n| | 9 | 10 |\n| Team | 29 | 30 |",
        ),
        (
            ("Plan|net|gross", "Basic|v:9|10", ">^|11"),
            "| Plan | net | gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |\n| | 9 | 11 |",
        ),
        (
            ("-Old|x|y", "Plan|net|gross", "-Gone|1|2", "Basic|9|10"),
            "| Plan | net | gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |",
        ),
        (
            ("v:Plan|net|gross", "^|9|10", "-Gone|1|2"),
            "| Plan | net | gross |\n| --- | --- | --- |\n| Plan | 9 | 10 |",
        ),
        (("-Gone|1|2", "-Gone|2|3"), ""),
        (
            ("Plan|net|gross", "-v:Gone|1|2", "Basic|9|10"),
            "| Plan | net | gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |",
        ),
        (
            ("Plan|net|gross", "-v:Gone|1|2", "^|9|10", "^|8|9"),  # what went on below a deleted row begins there
            "| Plan | net | gross |\n| --- | --- | --- |\n| | 9 | 10 |\n| | 8 | 9 |",
        ),
        (
            ("-v:Gone|net|gross", "^|9|10", "^|8|9"),
            "| | 9 | 10 |\n| --- | --- | --- |\n| | 8 | 9 |",
        ),
        (
            ("Plan|net|gross", "v:Basic|9|10", "-^|8|9", "^|7|8"),
            "| Plan | net | gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |\n| Basic | 7 | 8 |",
        ),
        (
            ("^|net|gross", "^|9|10"),  # a damaged file that began nothing
            "| | net | gross |\n| --- | --- | --- |\n| | 9 | 10 |",
        ),
        (
            ("2:Person", "Name|Ann", "2:Place", "Town|Bonn"),  # a form, in which no row has names
            "| Person | Person |\n| --- | --- |\n| Name | Ann |\n| Place | Place |\n| Town | Bonn |",
        ),
        (
            ("#Plan|2:Price", "#Size|net|gross", "Basic|9|10"),
            "| Plan Size | Price net | Price gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |",
        ),
        (
            ("#Plan|2:Price", "#>net|gross", "Basic|9|10"),
            "| Plan | Price net | Price gross |\n| --- | --- | --- |\n| Basic | 9 | 10 |",
        ),
        (
            ("v:Plan|net|gross", "^|9|10", "Team|29|30"),  # no name over several: the second row is the table's own
            "| Plan | net | gross |\n| --- | --- | --- |\n| Plan | 9 | 10 |\n| Team | 29 | 30 |",
        ),
        (("<Plan", "Basic|9|10", "Team|29|30"), "| Plan |\n| --- |\n| Basic | 9 | 10 |\n| Team | 29 | 30 |"),
        (("v:Plan", "^|9|10", "Team|29|30"), "| Plan |\n| --- |\n| Plan | 9 | 10 |\n| Team | 29 | 30 |"),
        (
            ("3:One", "3:Two", "3:Three", "3:Four", "Basic|9|10", "Team|29|30"),
            "One\nTwo\nThree\n| Four | Four | Four |\n| --- | --- | --- |\n| Basic | 9 | 10 |\n| Team | 29 | 30 |",
        ),
        (
            ("2:Name|2:Place of birth", "3:Ann Lee|Bonn", "v:Purpose|3:Study", "^|3:or work"),  # a form
            "| Name | Place of birth |\n| --- | --- |\n| Ann Lee | Bonn |\n| Purpose | Study |\n| Purpose | or work |",
        ),
        (("3:Only a title", "3:and a line"), "| Only a title | Only a title | Only a title |"),
    ],
)
def test_the_first_row_of_a_table_has_the_names_of_its_columns(rows: tuple[str, ...], wanted: str) -> None:
    """Also below a title, where names stand in two rows, and where changes or the place of a row have moved cells."""
    file = docx.Document()
    file.element.body.insert(0, parse_xml(table_of(*rows)))
    file.add_heading("Costs", 1)
    text = told(file)
    assert text.startswith(wanted)
    assert text.endswith("# Costs")  # which a file has that was read in full


def test_a_text_box_within_a_cell_is_a_line_of_it() -> None:
    """Word writes it twice, for newer and for older programs."""
    box = "<w:txbxContent><w:p><w:r><w:t>with a lid</w:t></w:r></w:p></w:txbxContent>"
    both = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f'<mc:Choice Requires="wps">{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>'
    )
    file = docx.Document()
    filled(table := file.add_table(2, 2), ["Kind", "Price", "Box", "9"])
    table.cell(1, 0).paragraphs[0]._p.append(parse_xml(f"<w:r {nsdecls('w')}>{both}</w:r>"))
    assert told(file).endswith("\n| Box with a lid | 9 |")


def test_a_text_box_within_a_text_box_of_a_cell_costs_no_heading() -> None:
    """The file was read without its headings, notes and tables."""
    inner = "<w:txbxContent><w:p><w:r><w:t>with a lid</w:t></w:r></w:p></w:txbxContent>"
    outer = f"<w:r {nsdecls('w')}><w:txbxContent><w:p><w:r>{inner}</w:r></w:p></w:txbxContent></w:r>"
    file = docx.Document()
    file.add_heading("Boxes", 1)
    filled(table := file.add_table(2, 2), ["Kind", "Price", "Box", "9"])
    table.cell(1, 0).paragraphs[0]._p.append(parse_xml(outer))
    text = told(file)
    assert text.startswith("# Boxes\n")
    assert "| Box with a lid" in text


def test_a_table_of_one_cell_that_holds_tables_is_their_frame() -> None:
    """What is in it stays tables, with columns that have names."""
    file = docx.Document()
    frame = file.add_table(1, 1).cell(0, 0).add_table(1, 1).cell(0, 0)
    frame.text = "Prices"
    filled(frame.add_table(2, 2), ["Plan", "Price", "Basic", "5"])
    frame.add_paragraph("without tax")
    lines = [line for line in told(file).splitlines() if line]
    assert lines == ["Prices", "| Plan | Price |", "| --- | --- |", "| Basic | 5 |", "without tax"]


def filled(table: Any, texts: list[str]) -> Any:
    """Write texts into the cells of a table."""
    for cell, text in zip((cell for row in table.rows for cell in row.cells), texts, strict=True):
        cell.text = text
    return table


def told(file: docx.document.Document) -> str:
    """Convert a file."""
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    return document.content or ""


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
BY = 'w:id="1" w:author="Eve" w:date="2024-01-01T00:00:00Z"'


@pytest.mark.parametrize(
    ("wrapped", "text"),
    [
        (
            f"<w:del {BY}><w:r><w:delText>two</w:delText></w:r></w:del><w:ins {BY}><w:r><w:t>three</w:t></w:r></w:ins>",
            "three",
        ),
        (f"<w:moveFrom {BY}><w:r><w:t>two</w:t></w:r></w:moveFrom>", ""),
        (f"<w:moveTo {BY}><w:r><w:t>three</w:t></w:r></w:moveTo>", "three"),
        ("<w:sdt><w:sdtPr/><w:sdtContent><w:r><w:t>three</w:t></w:r></w:sdtContent></w:sdt>", "three"),
        ("<w:smartTag><w:ins><w:r><w:t>three</w:t></w:r></w:ins></w:smartTag>", "three"),
        ('<w:fldSimple w:instr="DOCPROPERTY Weeks"><w:r><w:t>three</w:t></w:r></w:fldSimple>', "three"),
        ('<w:customXml w:element="term"><w:r><w:t>three</w:t></w:r></w:customXml>', "three"),
        ('<w:dir w:val="rtl"><w:bdo w:val="ltr"><w:r><w:t>three</w:t></w:r></w:bdo></w:dir>', "three"),
    ],
)
def test_text_reads_as_with_all_changes_accepted(wrapped: str, text: str) -> None:
    """Inserted text was missing, and what a form or a field holds."""
    file = docx.Document()
    paragraph = file.add_paragraph("Notice: ")
    for one in parse_xml(f"<w:p {W}>{wrapped}</w:p>"):
        paragraph._p.append(one)
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert document.content == f"Notice: {text}"


def test_a_paragraph_whose_end_was_deleted_is_one_with_the_next() -> None:
    """A clause that was deleted counted on, and each below had the number of another."""
    file = docx.Document()
    for text in ("Notice", "Gone", "Fees", "are due", "monthly."):
        file.add_paragraph(text, style="List Number")
    _, gone, _, split, _ = file.paragraphs
    for line in (gone, split):
        line._p.get_or_add_pPr().append(parse_xml(f"<w:rPr {W}><w:del {BY}/></w:rPr>"))
    gone._p.append(deleted := parse_xml(f"<w:del {W} {BY}/>"))
    deleted.append(gone.runs[0]._r)
    split.add_run(" ")
    assert told(file).split("\n") == ["1. Notice", "2. Fees", "3. are due monthly."]


def test_an_initial_of_several_lines_is_a_letter_of_its_word() -> None:
    """Word keeps it in a paragraph of its own."""
    file = docx.Document()
    frame = file.add_paragraph("O")._p.get_or_add_pPr()
    frame.append(parse_xml(f'<w:framePr {W} w:dropCap="drop" w:lines="3"/>'))
    file.add_paragraph("nce upon a time.")
    assert told(file) == "Once upon a time."


def test_a_hyphen_that_breaks_no_line_is_one_in_notes_and_nested_tables_too() -> None:
    """Years and words were glued together: 20242025."""
    file = docx.Document()
    cell = file.add_table(2, 2).cell(1, 1)
    words = cell.add_table(1, 1).cell(0, 0).paragraphs[0].add_run("2024")
    words._r.append(parse_xml(f"<w:noBreakHyphen {W}/>"))
    words.add_text("2025")
    assert told(file).endswith("| | 2024-2025 |")


def test_of_a_word_with_its_reading_above_it_the_word_is_read() -> None:
    """As of pages: Japanese texts show how a word is read aloud, and python-docx gave neither."""
    file = docx.Document()
    reading = "<w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt>"
    ruby = f"<w:ruby><w:rubyPr/>{reading}<w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby>"
    file.element.body.insert(0, parse_xml(f"<w:p {W}><w:r>{ruby}</w:r><w:r><w:t>です</w:t></w:r></w:p>"))
    assert told(file) == "漢字です"


def test_paragraphs_headings_and_tables_in_a_control_are_text() -> None:
    """A form's parts, and a cover page."""
    file = docx.Document()
    file.add_heading("Notice", 1)
    file.add_paragraph("Two weeks.")
    file.add_table(rows=1, cols=1)._cells[0].text = "Size"
    before = DocxToMarkdown().run([saved(file)])["documents"][0].content
    control = parse_xml(f"<w:sdt {W}><w:sdtPr/><w:sdtContent/></w:sdt>")
    control[1].extend(one for one in list(file.element.body) if not one.tag.endswith("sectPr"))
    file.element.body.insert(0, control)
    assert DocxToMarkdown().run([saved(file)])["documents"][0].content == before


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_a_note_stands_where_its_sign_does(kind: str) -> None:
    """It was in no passage at all; a word deleted from it stays out, and no file grows by many signs of one note."""
    file = docx.Document()
    paragraph = file.add_paragraph("Notice is two weeks.")
    paragraph._p.append(parse_xml(f"<w:r {W}><w:{kind}Reference w:id='2'/></w:r>"))
    paragraph.add_run(" In writing.")
    file.add_paragraph("Again.")._p.append(parse_xml(f"<w:r {W}><w:{kind}Reference w:id='2'/></w:r>"))
    gone = f"<w:del {BY}><w:r><w:delText>all</w:delText></w:r></w:del>"
    said = f"<w:p><w:r><w:t>Three for</w:t></w:r></w:p><w:p>{gone}<w:r><w:t>managers.</w:t></w:r></w:p>"
    notes = f"<w:{kind}s {W}><w:{kind} w:id='2'>{said}</w:{kind}></w:{kind}s>".encode()
    part = Part(PackURI(f"/word/{kind}s.xml"), getattr(CT, f"WML_{kind}s".upper()), notes, file.part.package)
    file.part.relate_to(part, getattr(RT, f"{kind}s".upper()))
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert document.content == "Notice is two weeks. [Three for managers.] In writing.\nAgain."


def test_what_cannot_be_read_is_left_out_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As Haystack's converters do; a file is read by its path."""
    file = docx.Document()
    file.add_heading("Notice", 1)
    file.save(tmp_path / "a.docx")
    with caplog.at_level(logging.WARNING):
        found = DocxToMarkdown().run([tmp_path / "missing.docx", ByteStream(b"no zip"), tmp_path / "a.docx"])[
            "documents"
        ]
    assert [(one.content, one.meta["file_path"]) for one in found] == [("# Notice", "a.docx")]
    assert "missing.docx" in caplog.text


LEVELS = """
<w:abstractNum {ns} w:abstractNumId="90">
  <w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/><w:pStyle w:val="Heading1"/>
    <w:lvlText w:val="%1."/></w:lvl>
  <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
  <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="(%3)"/></w:lvl>
</w:abstractNum>"""
NUM = '<w:num {ns} w:numId="{id}"><w:abstractNumId w:val="90"/>{anew}</w:num>'
ANEW = '<w:lvlOverride w:ilvl="1"><w:startOverride w:val="7"/></w:lvlOverride>'
OF_LIST = '<w:numPr {ns}>{level}<w:numId w:val="{id}"/></w:numPr>'


def numbered_file(form: str = "lowerLetter") -> docx.document.Document:
    """A file with one list of three levels, of which the first is that of the style Heading 1."""
    file, ns = docx.Document(), nsdecls("w")
    numbering = file.part.numbering_part.element
    numbering.insert(0, parse_xml(LEVELS.format(ns=ns, form=form)))
    numbering.append(parse_xml(NUM.format(ns=ns, id=90, anew="")))
    numbering.append(parse_xml(NUM.format(ns=ns, id=91, anew=ANEW)))
    style = file.styles["Heading 1"].element.get_or_add_pPr()
    style.append(parse_xml(OF_LIST.format(ns=ns, id=90, level="")))
    return file


def add(file: docx.document.Document, text: str, level: int, id_: int = 90) -> None:
    """Add a paragraph at a level of a list."""
    made = parse_xml(OF_LIST.format(ns=nsdecls("w"), id=id_, level=f'<w:ilvl w:val="{level}"/>'))
    file.add_paragraph(text)._p.get_or_add_pPr().append(made)


def lines_of(file: docx.document.Document) -> list[str]:
    """The lines that the converter gives."""
    return (DocxToMarkdown().run([saved(file)])["documents"][0].content or "").split("\n")


def test_clauses_have_the_numbers_that_word_shows() -> None:
    """They are counted and stand in no text: a question on clause 4.2 found nothing."""
    file = numbered_file()
    file.add_heading("Payment", 1)
    add(file, "The price is fixed.", 1)
    add(file, "The buyer pays", 1)
    add(file, "on delivery, or", 2)
    add(file, "later.", 2)
    add(file, "No interest is due.", 1)
    file.add_heading("Term", 1)
    add(file, "Two years.", 1)
    add(file, "It can be ended", 2)
    add(file, "This one begins anew.", 1, 91)
    add(file, "And goes on.", 1, 91)
    add(file, "No number", 0, 0)
    assert lines_of(file) == [
        "# 4. Payment",
        "4.1 The price is fixed.",
        "4.2 The buyer pays",
        "(a) on delivery, or",
        "(b) later.",
        "4.3 No interest is due.",
        "# 5. Term",
        "5.1 Two years.",
        "(a) It can be ended",
        "5.7 This one begins anew.",
        "5.8 And goes on.",
        "No number",
    ]


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        # In figures, as Word's own template of articles and sections has it.
        ('"%1.%2"/>', '"%1.%2"/><w:isLgl/>', ["# IV. Payment", "4.1 Fixed", "4.2 Due", "# V. Term", "5.1 Two"]),
        (
            '"decimal"/><w:lvlText w:val="%1.%2"/>',
            '"decimalZero"/><w:lvlText w:val="%1.%2"/><w:isLgl/>',
            ["# IV. Payment", "4.01 Fixed", "4.02 Due", "# V. Term", "5.01 Two"],
        ),
        (
            '"%1.%2"/>',
            '"%1.%2"/><w:isLgl w:val="0"/>',
            ["# IV. Payment", "IV.1 Fixed", "IV.2 Due", "# V. Term", "V.1 Two"],
        ),
        # Clauses that are counted through a whole contract.
        (
            '"%1.%2"/>',
            '"%2."/><w:lvlRestart w:val="0"/>',
            ["# IV. Payment", "1. Fixed", "2. Due", "# V. Term", "3. Two"],
        ),
    ],
)
def test_a_level_shows_and_counts_what_is_above_it_as_it_says(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, wanted: list[str]
) -> None:
    """Section 1.01 of a contract is of its article I, and no question asks for section I.01."""
    levels = LEVELS.replace(old, new).replace(
        '<w:numFmt w:val="decimal"/><w:pStyle', '<w:numFmt w:val="upperRoman"/><w:pStyle'
    )
    monkeypatch.setitem(globals(), "LEVELS", levels)
    file = numbered_file()
    for clauses in (("Payment", "Fixed", "Due"), ("Term", "Two")):
        file.add_heading(clauses[0], 1)
        for clause in clauses[1:]:
            add(file, clause, 1)
    assert lines_of(file) == wanted


def test_a_list_shows_a_level_in_its_own_way_where_it_says_so() -> None:
    """Its clauses had the numbers of another list: of (A) and (B), no question on clause (B) found one."""
    file = numbered_file()
    look = '<w:start w:val="1"/><w:numFmt w:val="upperLetter"/><w:lvlText w:val="(%2)"/>'
    own = f'<w:lvlOverride w:ilvl="1"><w:lvl w:ilvl="1">{look}</w:lvl></w:lvlOverride>'
    file.part.numbering_part.element.append(parse_xml(NUM.format(ns=nsdecls("w"), id=93, anew=own)))
    file.add_heading("Payment", 1)
    add(file, "Fixed", 1, 93)
    add(file, "Due", 1, 93)
    add(file, "later", 2, 93)
    file.add_heading("Term", 1)
    add(file, "Two years", 1)
    assert lines_of(file) == ["# 4. Payment", "(A) Fixed", "(B) Due", "(a) later", "# 5. Term", "5.1 Two years"]


def test_a_list_that_names_a_style_of_lists_is_counted_as_that_says() -> None:
    """Word writes a list of a style so, once for each: no clause of a contract in such a style had its number."""
    file = numbered_file()
    numbering, ns = file.part.numbering_part.element, nsdecls("w")
    numbering[0].insert(0, parse_xml(f'<w:styleLink {ns} w:val="Clauses"/>'))
    numbering.insert(
        0, parse_xml(f'<w:abstractNum {ns} w:abstractNumId="92"><w:numStyleLink w:val="Clauses"/></w:abstractNum>')
    )
    numbering.append(parse_xml(NUM.format(ns=ns, id=92, anew="").replace('"90"', '"92"')))
    add(file, "Payment", 0, 92)
    add(file, "The price is fixed.", 1, 92)
    add(file, "It is due at once.", 1)
    assert lines_of(file) == ["4. Payment", "4.1 The price is fixed.", "4.2 It is due at once."]


def test_a_heading_is_counted_at_the_level_that_its_list_gives_to_its_style(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its style names the list alone."""
    second = '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
    monkeypatch.setitem(globals(), "LEVELS", LEVELS.replace(second, f'{second}<w:pStyle w:val="Heading2"/>'))
    file = numbered_file()
    style = file.styles["Heading 2"].element.get_or_add_pPr()
    style.append(parse_xml(OF_LIST.format(ns=nsdecls("w"), id=90, level="")))
    file.add_heading("Payment", 1)
    file.add_heading("Price", 2)
    assert lines_of(file) == ["# 4. Payment", "## 4.1 Price"]


def test_a_paragraph_without_a_style_has_the_number_of_the_one_that_all_others_have() -> None:
    """As Word shows it."""
    file = numbered_file()
    file.styles["Normal"].element.get_or_add_pPr().append(parse_xml(OF_LIST.format(ns=nsdecls("w"), id=90, level="")))
    file.add_paragraph("Price")
    file.add_paragraph("Term")
    assert lines_of(file) == ["4. Price", "5. Term"]


def test_an_item_in_a_text_box_is_counted_once() -> None:
    """The file holds its box twice, the second time for older programs, and each clause behind it was one too far."""
    file = numbered_file()
    add(file, "Price", 0)
    add(file, "In a box", 0)
    add(file, "Term", 0)
    _, inner, _ = file.element.body.iterchildren(file.paragraphs[0]._p.tag)
    boxes = ("Choice", "Fallback")
    told = "".join(f"<mc:{kind}><w:txbxContent/></mc:{kind}>" for kind in boxes)
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    around = parse_xml(f'<w:p {W} xmlns:mc="{mc}"><w:r><mc:AlternateContent>{told}</mc:AlternateContent></w:r></w:p>')
    inner.addprevious(around)
    for box in around[0][0]:
        box[0].append(deepcopy(inner))
    file.element.body.remove(inner)
    assert [line for line in lines_of(file) if line] == ["4. Price", "5. In a box", "6. Term"]


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("lowerLetter", {1: "a", 26: "z", 27: "aa"}),
        ("upperLetter", {3: "C", 28: "BB"}),
        ("lowerRoman", {4: "iv", 9: "ix", 14: "xiv", 40: "xl"}),
        ("upperRoman", {19: "XIX"}),
        ("decimalZero", {7: "07", 12: "12"}),
        ("chineseCounting", {5: "5"}),
    ],
)
def test_numbers_have_the_form_of_their_list(form: str, wanted: dict[int, str]) -> None:
    """One that is none of the usual ones is told in figures."""
    file = numbered_file(form)
    for number in range(1, max(wanted) + 1):
        add(file, f"item {number}", 2)
    lines = lines_of(file)
    assert {number: lines[number - 1] for number in wanted} == {n: f"({sign}) item {n}" for n, sign in wanted.items()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<w:lvlText w:val="%1.%2"/>', f'<w:lvlText w:val="{"%1" * 20_000}"/>'),
        ('<w:start w:val="4"/>', f'<w:start w:val="{"9" * 4_000}"/>'),
        ('<w:start w:val="4"/>', '<w:start w:val="four"/>'),
        ('w:ilvl="1"', 'w:ilvl="999999999"'),
    ],
)
def test_a_hostile_list_makes_no_file_large_and_costs_no_heading(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    """A text before each paragraph that is longer than all of them would fill the memory."""
    monkeypatch.setitem(globals(), "LEVELS", LEVELS.replace(old, new))
    file = numbered_file()
    file.add_heading("Payment", 1)
    for number in range(40):
        add(file, f"clause {number}", 1)
        add(file, "at no level of Word's", 999_999_999)
    lines = lines_of(file)
    assert lines[0].startswith("# ")
    assert lines[0].endswith("Payment")
    assert max(map(len, lines)) < 50


def test_items_of_a_list_have_a_sign_whatever_picture_word_shows() -> None:
    """Also where the list is one of Word's own styles; one that is taken up again counts on."""
    file = docx.Document()
    for style, text in (("List Number", "Dig."), ("List Bullet", "A spade"), ("List Number", "Plant.")):
        file.add_paragraph(text, style=style)
    file.add_table(1, 1).cell(0, 0).paragraphs[0].style = "List Number"
    assert lines_of(file)[:3] == ["1. Dig.", "- A spade", "2. Plant."]


M = "http://schemas.openxmlformats.org/officeDocument/2006/math"


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        ("<m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:t>c</m:t></m:e><m:sup><m:t>2</m:t></m:sup></m:sSup>", "E=mc^2"),
        ("<m:r><m:t>\U0001d438=\U0001d45a</m:t></m:r>", "E=m"),  # letters that are italic by themselves
        ("<m:f><m:num><m:t>a+b</m:t></m:num><m:den><m:t>2</m:t></m:den></m:f>", "(a+b)/2"),
        ("<m:rad><m:deg/><m:e><m:t>x</m:t></m:e></m:rad>", "√x"),
        (
            (
                "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub><m:t>n</m:t></m:sub>"
                "<m:e><m:t>n</m:t></m:e></m:nary>"
            ),
            "∑_n n",
        ),
        (  # of a matrix, numbers; of two equations, lines
            (
                "<m:d><m:e><m:m><m:mr><m:e><m:t>1</m:t></m:e><m:e><m:t>2</m:t></m:e></m:mr>"
                "<m:mr><m:e><m:t>3</m:t></m:e><m:e><m:t>4</m:t></m:e></m:mr></m:m></m:e></m:d>"
            ),
            "(1 2; 3 4)",
        ),
        ("<m:eqArr><m:e><m:t>x=1</m:t></m:e><m:e><m:t>2y=3</m:t></m:e></m:eqArr>", "x=1; 2y=3"),
        (
            "<m:sPre><m:sub><m:t>6</m:t></m:sub><m:sup><m:t>14</m:t></m:sup><m:e><m:t>C</m:t></m:e></m:sPre>",
            "_6^14C",
        ),
        (
            (
                "<m:func><m:fName><m:limLow><m:e><m:t>lim</m:t></m:e><m:lim><m:t>n→∞</m:t></m:lim></m:limLow></m:fName>"
                "<m:e><m:t>n</m:t></m:e></m:func>"
            ),
            "lim_(n→∞) n",
        ),
        ("<m:r><!-- a variable --><m:t>x</m:t><m:t/></m:r>", "x"),
        ("<m:limUpp><m:e><m:t>=</m:t></m:e><m:lim><m:t>!</m:t></m:lim></m:limUpp>", "=^!"),
        ("<m:d><m:dPr><m:begChr m:val='['/></m:dPr><m:e><m:t>x</m:t></m:e></m:d>", "[x)"),
        ("<m:r><m:t>P</m:t></m:r><m:d><m:e><m:t>A</m:t></m:e><m:e><m:t>B</m:t></m:e></m:d>", "P(A|B)"),
        ("<m:d><m:dPr><m:sepChr m:val=';'/></m:dPr><m:e><m:t>1</m:t></m:e><m:e><m:t>2</m:t></m:e></m:d>", "(1;2)"),
    ],
)
def test_formulas_are_written_in_the_text_that_they_stand_in(formula: str, wanted: str) -> None:
    """Their reader leaves them out, and a sentence on one said nothing."""
    file = docx.Document()
    for around in ("{}", "<m:oMathPara>{}</m:oMathPara>"):
        paragraph = file.add_paragraph("Is ")
        inner = around.format(f"<m:oMath>{formula}</m:oMath>")
        (one,) = parse_xml(f'<w:p {nsdecls("w")} xmlns:m="{M}">{inner}</w:p>')
        paragraph._p.append(one)
        paragraph.add_run(" then.")
    assert lines_of(file) == [f"Is {wanted} then."] * 2


def test_raised_numbers_are_no_part_of_the_number_before() -> None:
    """Ten to the sixth is not 106; the end of "1st" is a part of it."""
    file = docx.Document()
    paragraph = file.add_paragraph("Of 10")
    for text, is_raised in (("6", True), (" parts, the 1", False), ("st", True), (" counts.", False)):
        paragraph.add_run(text).font.superscript = is_raised
    assert lines_of(file) == ["Of 10^6 parts, the 1st counts."]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', "☑"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>', "☐"),
        ('<w:r><w:sym w:font="Wingdings 2" w:char="0052"/></w:r>', "☑"),
        ('<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>', "≥"),
        ('<w:r><w:sym w:font="MS Gothic" w:char="2612"/></w:r>', "☒"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>\uf06dm</w:t></w:r>', "μm"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>（\uf06d）🙂</w:t></w:r>', "（μ）🙂"),
        ('<w:r><w:rPr><w:rFonts w:ascii="Runes"/></w:rPr><w:t>\uf06d</w:t></w:r>', "\uf06d"),
        ('<w:r><w:sym w:font="Webdings" w:char="F021"/></w:r>', ""),
        ('<w:r><w:sym w:font="Symbol"/></w:r>', ""),
        ('<w:r><w:sym w:char="2612"/></w:r>', "☒"),
        ('<w:r><w:sym w:font="Arial" w:char="D800"/></w:r>', ""),
        ('<w:r><w:sym w:font="Arial" w:char="FFFFFFFFFFFFFFFFFF"/></w:r>', ""),
        ("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>", "☒"),
        ("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>", "☐"),
        ("<w:checkBox><w:default w:val='1'/></w:checkBox>", "☒"),
        ("<w:ddList><w:result w:val='1'/><w:listEntry w:val='red'/><w:listEntry w:val='blue'/></w:ddList>", "blue"),
        ("<w:ddList><w:listEntry w:val='red'/><w:listEntry w:val='blue'/></w:ddList>", "red"),
        ("<w:ddList><w:default w:val='1'/><w:listEntry w:val='red'/><w:listEntry w:val='blue'/></w:ddList>", "blue"),
        ("<w:checkBox><w:size w:val='20'/></w:checkBox>", "☐"),
        ("<w:ddList><w:result w:val='9'/><w:listEntry w:val='red'/></w:ddList>", ""),
        ("<w:textInput/>", ""),
    ],
)
def test_signs_of_symbol_fonts_and_what_is_chosen_in_a_form_are_text(written: str, wanted: str) -> None:
    """They are no letters in the file: a form said nothing of which of its boxes was ticked, and a limit lost its ≥."""
    if not written.startswith("<w:r>"):
        written = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{written}</w:ffData></w:fldChar></w:r>'
    file = docx.Document()
    file.add_heading("Form", 1)
    line = f"<w:p {nsdecls('w')}>{written}<w:r><w:t>5</w:t></w:r></w:p>"
    file.element.body.insert(1, parse_xml(line))
    assert lines_of(file)[:2] == ["# Form", f"{wanted}5"]


def test_numbers_that_stand_higher_and_are_smaller_are_raised() -> None:
    """As LibreOffice writes what was raised on a page."""
    file = docx.Document()
    raised = '<w:r><w:rPr><w:position w:val="8"/><w:sz w:val="19"/></w:rPr><w:t>6</w:t></w:r>'
    file.element.body.insert(0, parse_xml(f"<w:p {nsdecls('w')}><w:r><w:t>10</w:t></w:r>{raised}</w:p>"))
    assert lines_of(file)[0] == "10^6"


def test_what_is_struck_through_is_marked_as_of_pages() -> None:
    """The old price stood beside the new one as if both were asked."""
    file = docx.Document()
    paragraph = file.add_paragraph("Costs ")
    for text, is_struck in (("10 ", True), ("euro", True), (" ", False), ("20 euro", None), (" ", True)):
        paragraph.add_run(text).font.strike = is_struck
    assert lines_of(file) == ["Costs ~~10 euro~~ 20 euro "]


def test_a_file_that_speaks_of_parts_that_it_does_not_have_is_read() -> None:
    """Word shows the rest of it; for a lost picture, a link to a place in the file or a type, nothing was read."""
    file = docx.Document()
    file.add_heading("Refunds", 2)
    file.add_paragraph("Two weeks.")
    package = file.part.package
    file.part.relate_to(Part(PackURI("/word/media/lost.png"), "image/png", b"", package), RT.IMAGE)
    file.part.relate_to(Part(PackURI("/word/media/Kept.WMF"), "image/x-wmf", b"\x00", package), RT.IMAGE)
    file.part.relate_to(Part(PackURI("/word/#Refunds"), "image/png", b"", package), RT.HYPERLINK)
    changed = BytesIO()
    with ZipFile(BytesIO(saved(file).data)) as known, ZipFile(changed, "w") as archive:
        for name in known.namelist():
            data = known.read(name).replace(b"Kept.WMF", b"kept.wmf" if name.endswith(".rels") else b"Kept.WMF")
            if name == "[Content_Types].xml":
                data = data.replace(b'Extension="xml"', b'Extension="odd"')
            if "lost" not in name and "#" not in name:
                archive.writestr(name, data)
    (document,) = DocxToMarkdown().run([ByteStream(changed.getvalue())])["documents"]
    assert document.content == "## Refunds\nTwo weeks."


@pytest.mark.parametrize("kind", [CT.WML_DOCUMENT_MAIN, "application/vnd.ms-word.document.macroEnabled.main+xml"])
def test_a_template_or_file_with_macros_that_was_given_the_suffix_is_read(kind: str) -> None:
    """It was called damaged: its text is as in all others."""
    file = docx.Document()
    file.add_paragraph("Two weeks.")
    file.part._content_type = kind.replace("document.main", "template.main")
    assert told(file) == "Two weeks."


def test_a_style_that_does_not_say_of_what_it_is_is_one_of_paragraphs() -> None:
    """Reporting services write such: headings, notes and tables in cells were lost, as for a damaged file."""
    file = docx.Document()
    style = file.styles.add_style("Own", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = file.styles["Heading 3"]
    del style.element.attrib[qn("w:type")]
    file.add_heading("Refunds", 2)
    file.add_paragraph("Abroad")._p.get_or_add_pPr().style = "Own"
    assert told(file) == "## Refunds\n### Abroad"


@pytest.mark.parametrize("kind", [WD_BREAK.PAGE, WD_BREAK.COLUMN])
def test_words_on_two_pages_or_in_two_columns_are_two(kind: WD_BREAK) -> None:
    """Its reader passes over such a break: of `the` and `feeling` it made one word that nobody searches for."""
    file = docx.Document()
    for place in (file, file.add_table(1, 2).rows[0].cells[0]):
        one = place.add_paragraph()
        one.add_run().add_break(kind)  # no words are before this one, nor behind the last
        one.add_run("the")
        one.add_run().add_break(kind)
        one.add_run("feeling").add_break(kind)
    assert told(file).split("\n")[-2:] == ["the", "feeling"]
    assert "| the feeling |" in told(file)


def test_a_line_that_is_no_heading_is_none() -> None:
    """A comment of a script would be the title of all that follows."""
    file = docx.Document()
    file.add_paragraph("# install\napt install crag\n## and run it")
    file.add_heading("Costs", 2)
    assert lines_of(file) == [r"\# install", "apt install crag", r"\## and run it", "## Costs"]


def test_a_line_of_several_runs_is_no_heading_and_begins_no_code() -> None:
    """Word parts what is typed at will: the sign alone is none, and code that never ends held all headings below it."""
    file = docx.Document()
    for runs in (("#", " install"), ("`", "``shell"), ("#\tinstall",), ("", "# install"), ("Run as #", " root")):
        line = file.add_paragraph()
        line.paragraph_format.tab_stops.add_tab_stop(1)
        for run in runs:
            line.add_run(run)
    file.add_heading("Costs", 2)
    told = [r"\# install", r"\```shell", "\\#\tinstall", r"\# install", "Run as # root", "## Costs"]
    assert lines_of(file) == told


def test_a_file_that_can_be_read_in_part_only_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its text alone would pass for all of it: the log names the file and the kind of failure, and nothing of it."""

    def failing(data: bytes) -> bytes:
        raise ValueError(data.decode("latin-1"))

    monkeypatch.setattr("haystack_integrations.crag.formats.docx_content.with_content_marked", failing)
    file = docx.Document()
    file.add_heading("Travel policy", 0)
    with caplog.at_level(logging.WARNING):
        (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert document.content == "Travel policy"
    assert "is read without its headings, notes and the like: ValueError" in caplog.text
    assert "Travel" not in caplog.text
    assert "PK" not in caplog.text


def test_typed_rows_of_empty_cells_are_read_in_time() -> None:
    """They may be half a table of some tool's, pasted; each empty cell doubled the time."""
    file, row = docx.Document(), f"|{' |' * 60} late |"
    for line in ("| Monday |", row):
        file.add_paragraph(line)
    begun = perf_counter()
    assert lines_of(file) == ["| Monday |", row]
    assert perf_counter() - begun < 5
