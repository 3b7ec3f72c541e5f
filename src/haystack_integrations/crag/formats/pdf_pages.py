"""The pages of a PDF as Markdown, with all that is read of them."""

from io import BytesIO

from pypdf import PdfReader

from haystack_integrations.crag.formats.pdf_fields import fields_of, with_fields
from haystack_integrations.crag.formats.pdf_headings import outline_of, with_headings
from haystack_integrations.crag.formats.pdf_pieces import pieces_of
from haystack_integrations.crag.formats.pdf_tags import marked_headings, words_of
from haystack_integrations.crag.formats.pdf_words import as_typed, tell_spaces


def pdf_as_markdown(data: bytes) -> str:
    """
    Read a PDF.

    :param data: The file. For one that is damaged, whatever pypdf raises is raised.
    :returns: Its text with a form feed between two pages, and `#` before headings.
    """
    reader = PdfReader(BytesIO(data))
    tell_spaces(reader)
    outline = outline_of(reader)
    marked = {} if outline else marked_headings(reader)
    texts, tagged = list[str](), dict[int, list[tuple[int, str]]]()
    for number, page in enumerate(reader.pages):
        own = marked.get(page.indirect_reference.idnum) if page.indirect_reference else None
        fields = fields_of(page)
        if own or fields:
            text, pieces = pieces_of(page)
            tagged[number] = words_of(pieces, own or {})
            texts.append(with_fields(text, pieces, fields) if fields else text)
        else:
            texts.append(page.extract_text())
    return with_headings(as_typed("\f".join(texts)), outline or tagged)
