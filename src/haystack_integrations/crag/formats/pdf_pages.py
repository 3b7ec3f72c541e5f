"""The pages of a PDF as Markdown, with all that is read of them."""

import logging
from collections.abc import Mapping, Sequence
from io import BytesIO

from pypdf import PageObject, PdfReader

from haystack_integrations.crag.formats.pdf_fields import Field, fields_of, with_fields
from haystack_integrations.crag.formats.pdf_headings import outline_of, with_headings
from haystack_integrations.crag.formats.pdf_lines import without_line_numbers
from haystack_integrations.crag.formats.pdf_order import with_headings_in_place
from haystack_integrations.crag.formats.pdf_pieces import Piece, pieces_of, without_repeated_feet
from haystack_integrations.crag.formats.pdf_tables import Tables
from haystack_integrations.crag.formats.pdf_tags import Cell, tags_of, with_signs, words_of
from haystack_integrations.crag.formats.pdf_words import is_of_tex, tell_spaces, with_accents
from haystack_integrations.crag.formats.plain_letters import as_typed
from haystack_integrations.crag.texts.steering import whole

logger = logging.getLogger(__name__)


def pdf_as_markdown(data: bytes) -> str:
    """
    Read a PDF.

    :param data: The file. For one that is damaged, whatever pypdf raises is raised; but a damaged page is empty.
    :returns: Its text with a form feed between two pages, `#` before headings, and tables as rows.
    """
    reader = PdfReader(BytesIO(data))
    tell_spaces(reader)
    outline, tags, of_tex = outline_of(reader), tags_of(reader), is_of_tex(reader)
    tables = Tables(tags)
    texts, tagged, feet = list[str](), dict[int, list[tuple[int, str]]](), set[str]()

    def read(number: int, page: PageObject) -> str:
        of_page = page.indirect_reference.idnum if page.indirect_reference else -1
        headings, cells, fields = tags.headings.get(of_page), tags.cells.get(of_page), fields_of(page)
        if not (fields or cells or headings or of_page in tags.order):
            return page.extract_text()
        pieces = without_repeated_feet(pieces_of(page), feet)
        pieces = with_headings_in_place(pieces, tags.order.get(of_page, {}), headings or {})
        pieces = with_signs(pieces, headings or {})
        tagged[number] = words_of(pieces, headings or {})
        return tables.written(*_filled(pieces, fields, cells or {}))

    for number, page in enumerate(reader.pages):
        try:
            text = read(number, page)
        except Exception:  # whatever a damaged page leads its reader to
            text = _plain(number, page)
        texts.append(without_line_numbers(text) if of_tex else text)
    text = as_typed(whole("\f".join(texts)).replace("\0", ""))  # half a code of fonts that have two bytes for each
    return with_headings(with_accents(text) if of_tex else text, outline or tagged)


def _filled(
    pieces: Sequence[Piece], fields: Sequence[Field], cells: Mapping[int, Cell]
) -> tuple[list[Piece], Mapping[int, Cell]]:
    """Put values into a text, and tell its cells but for tables that are forms: nothing says in which cell one is."""
    filled = with_fields(pieces, fields)
    forms = {cells[piece.mark].table for piece in set(filled).difference(pieces) if piece.mark in cells}
    return filled, {mark: cell for mark, cell in cells.items() if cell.table not in forms}


def _plain(number: int, page: PageObject) -> str:
    """Read a page without its tags and fields; one that cannot be read costs no other."""
    try:
        return page.extract_text()
    except Exception as error:  # as above
        logger.warning("Page %d is damaged, and left out: %s", number + 1, type(error).__name__)
        return ""
