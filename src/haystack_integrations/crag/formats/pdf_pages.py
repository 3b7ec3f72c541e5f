"""The pages of a PDF as Markdown, with all that is read of them."""

from io import BytesIO

from pypdf import PdfReader

from haystack_integrations.crag.formats.pdf_fields import fields_of, with_fields
from haystack_integrations.crag.formats.pdf_headings import outline_of, with_headings
from haystack_integrations.crag.formats.pdf_lines import without_line_numbers
from haystack_integrations.crag.formats.pdf_order import with_headings_in_place
from haystack_integrations.crag.formats.pdf_pieces import pieces_of, without_repeated_feet
from haystack_integrations.crag.formats.pdf_tables import Tables
from haystack_integrations.crag.formats.pdf_tags import tags_of, with_signs, words_of
from haystack_integrations.crag.formats.pdf_words import is_of_tex, tell_spaces, with_accents
from haystack_integrations.crag.formats.plain_letters import as_typed


def pdf_as_markdown(data: bytes) -> str:
    """
    Read a PDF.

    :param data: The file. For one that is damaged, whatever pypdf raises is raised.
    :returns: Its text with a form feed between two pages, `#` before headings, and tables as rows.
    """
    reader = PdfReader(BytesIO(data))
    tell_spaces(reader)
    outline, tags, of_tex = outline_of(reader), tags_of(reader), is_of_tex(reader)
    tables = Tables(tags)
    texts, tagged, feet = list[str](), dict[int, list[tuple[int, str]]](), set[str]()
    for number, page in enumerate(reader.pages):
        of_page = page.indirect_reference.idnum if page.indirect_reference else -1
        headings, cells, fields = tags.headings.get(of_page), tags.cells.get(of_page), fields_of(page)
        if fields or cells or headings or of_page in tags.order:
            pieces = without_repeated_feet(pieces_of(page), feet)
            pieces = with_headings_in_place(pieces, tags.order.get(of_page, {}), headings or {})
            pieces = with_signs(pieces, headings or {})
            tagged[number] = words_of(pieces, headings or {})
            text = with_fields(pieces, fields) if fields else tables.written(pieces, cells or {})
        else:
            text = page.extract_text()
        texts.append(without_line_numbers(text) if of_tex else text)
    text = as_typed("\f".join(texts))
    return with_headings(with_accents(text) if of_tex else text, outline or tagged)
