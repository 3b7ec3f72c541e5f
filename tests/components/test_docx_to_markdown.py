"""DocxToMarkdown: headings are marked, all else is as Haystack's converter gives it."""

import logging
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
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
    """It was in no passage at all; a word deleted from it stays out."""
    file = docx.Document()
    paragraph = file.add_paragraph("Notice is two weeks.")
    paragraph._p.append(parse_xml(f"<w:r {W}><w:{kind}Reference w:id='2'/></w:r>"))
    paragraph.add_run(" In writing.")
    gone = f"<w:del {BY}><w:r><w:delText>all</w:delText></w:r></w:del>"
    said = f"<w:p><w:r><w:t>Three for</w:t></w:r></w:p><w:p>{gone}<w:r><w:t>managers.</w:t></w:r></w:p>"
    notes = f"<w:{kind}s {W}><w:{kind} w:id='2'>{said}</w:{kind}></w:{kind}s>".encode()
    part = Part(PackURI(f"/word/{kind}s.xml"), getattr(CT, f"WML_{kind}s".upper()), notes, file.part.package)
    file.part.relate_to(part, getattr(RT, f"{kind}s".upper()))
    (document,) = DocxToMarkdown().run([saved(file)])["documents"]
    assert document.content == "Notice is two weeks. [Three for managers.] In writing."


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
