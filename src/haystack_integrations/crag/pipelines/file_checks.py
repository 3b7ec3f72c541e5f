"""Whether a file is what its name says, and whether what was read of it is what it shows."""

from codecs import BOM_UTF32_LE
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from haystack import Document

from haystack_integrations.crag.formats.western import western
from haystack_integrations.crag.pipelines.contents import Source
from haystack_integrations.crag.pipelines.kinds import is_text
from haystack_integrations.crag.pipelines.office_files import OFFICE, WORKBOOKS, office_problem, workbook_doubt
from haystack_integrations.crag.pipelines.pdf_files import pdf_doubt, pdf_problem
from haystack_integrations.crag.texts.titles import titled
from haystack_integrations.crag.web.markup import crowded

HTML: Final = (".html", ".htm")
"""The suffixes of HTML pages."""

_MOST_ATTRIBUTES: Final = 2_000
_MOST_MARKS: Final = 1_000_000  # so many are read in half a minute, and in a gigabyte of memory
_MOST_IN_PAGE: Final = 1_000  # bytes for each that is 0: a manual shows the sign itself, and a browser leaves it out
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")  # two-byte text has a mark at its start


def in_utf8(source: Source) -> Source:
    """
    Write a text in UTF-16, which Windows calls Unicode, or in Windows' letters, in what all converters read.

    :param source: A file.
    :returns: The file in UTF-8; the file as it is, if it is no text or of other letters. A page of HTML may name its
        own, which its converter reads.
    """
    if source.data.startswith(BOM_UTF32_LE):
        return source
    with suppress(UnicodeDecodeError):
        if source.data.startswith(_UTF16):
            return replace(source, data=source.data.decode("utf-16").encode())
        source.data.decode()
        return source
    is_other = source.data.startswith(_UTF16) or source.suffix in HTML or not is_text(source.suffix)
    text = None if is_other else western(source.data)
    return source if text is None else replace(source, data=text.encode(), encoding="Windows-1252")


def doubt(source: Source, parts: Sequence[Document]) -> str | None:
    """
    Tell why few questions will find what a file shows: a PDF of pictures, a workbook without its results, odd letters.

    :param source: A file.
    :param parts: What was read of it, in order.
    :returns: What is wrong and the way out, or None.
    """
    if source.encoding:
        return f"got text that is not UTF-8, and read it as {source.encoding}; if letters are wrong, save it as UTF-8"
    with suppress(Exception):  # whatever a damaged file leads to: its text was read nevertheless
        if source.suffix in WORKBOOKS:
            return workbook_doubt(source.data)
        if source.suffix == ".pdf":
            texts = [(part.content or "").removeprefix(titled("", part.meta.get("title", ""))) for part in parts]
            return pdf_doubt(source.data, texts)
    return None


def problem(source: Source) -> str | None:
    """
    Look whether a file is what its name says, as far as its converter would fail on it or misread it.

    :param source: A file.
    :returns: What is wrong and the way out, or None.
    """
    data = source.data
    if not data.strip():
        return "the file is empty; write something into it, or remove it"
    if source.suffix == ".pdf":
        return pdf_problem(data)
    if source.suffix in OFFICE:
        return office_problem(data, source.suffix)
    if data.startswith(_UTF16):  # where it is whole, `in_utf8` has made it UTF-8
        return "got damaged text in UTF-16, wanted UTF-8; save it as UTF-8"
    if data.count(b"\0") > (len(data) // _MOST_IN_PAGE if source.suffix in HTML else 0):
        return f"got a binary file, wanted text; give it the suffix of what it is instead of {source.suffix}"
    if source.suffix in HTML:  # may name its own encoding; in any, its marks are these
        if (marks := data.count(b"<")) > _MOST_MARKS:
            return f"got HTML with {marks} marks (<), wanted at most {_MOST_MARKS}; split the file"
        if next(crowded(data.decode("latin-1"), _MOST_ATTRIBUTES), None) is not None:
            return f"got a tag with {_MOST_ATTRIBUTES} attributes or more, which takes hours to read; repair the file"
        return None
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"got a byte at position {error.start} that is not UTF-8, wanted UTF-8 text; save it as UTF-8"
    return None
