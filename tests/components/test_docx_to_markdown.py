"""DocxToMarkdown: headings are marked, all else is as Haystack's converter gives it."""

import logging
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
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
