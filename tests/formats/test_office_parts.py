"""Office files in the strict form of their standard are read as all others."""

import re
from datetime import date
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import docx
import pytest
from haystack.dataclasses import ByteStream
from openpyxl import Workbook
from pptx import Presentation

from haystack_integrations.crag.components import DocxToMarkdown, PptxToMarkdown, XlsxToMarkdown


def word() -> Any:
    """A heading and a paragraph."""
    file = docx.Document()
    file.add_heading("Refunds", 2)
    file.add_paragraph("In two weeks")
    return file


def workbook() -> Any:
    """A table with a date."""
    file = Workbook()
    file.active.append(["Plan", "Until"])
    file.active.append(["Basic", date(2026, 5, 1)])
    return file


def presentation() -> Any:
    """A slide with its title."""
    file = Presentation()
    slide = file.slides.add_slide(file.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Refunds", "In two weeks"
    return file


@pytest.mark.parametrize(
    ("make", "converter", "text"),
    [
        (word, DocxToMarkdown, "## Refunds\nIn two weeks"),
        (workbook, XlsxToMarkdown, "## Sheet\n\n| Plan | Until |\n| --- | --- |\n| Basic | 2026-05-01 |"),
        (presentation, PptxToMarkdown, "## Refunds\n\nIn two weeks"),
    ],
)
def test_a_file_saved_as_strict_open_xml_is_read(make: Any, converter: Any, text: str) -> None:
    """Office offers it below its usual kind, with the same suffix: such files were called damaged."""
    make().save(usual := BytesIO())
    with ZipFile(usual) as known, ZipFile(strict := BytesIO(), "w") as archive:
        for name in known.namelist():
            names = re.compile(rb"http://schemas\.openxmlformats\.org/(?!package)(\w+)/2006/")
            archive.writestr(name, names.sub(rb"http://purl.oclc.org/ooxml/\1/", known.read(name)))
    (document,) = converter().run([ByteStream(strict.getvalue())])["documents"]
    assert document.content == text
