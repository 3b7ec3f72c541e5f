"""The headings of a PDF as its tags tell them: word processors and browsers write tags, and seldom an outline."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

from haystack_integrations.crag.formats.pdf_pieces import Piece

_MOST: Final = 500_000  # parts of a file's structure
_LEVELS: Final = {"/H": 1} | {f"/H{level}": level for level in range(1, 7)}


class Heading(NamedTuple):
    """A heading: its number in the file, as it may be of several pieces, and its level."""

    number: int
    level: int


Marked = Mapping[int, Mapping[int, Heading]]
"""The heading of each marked piece of text that belongs to one, by the numbers of the page's object and of the mark."""


def marked_headings(reader: PdfReader) -> Marked:
    """
    Read which pieces of text are headings.

    :param reader: A PDF file.
    :returns: Its headings; none if it has no tags, or some that cannot be read.
    """
    try:
        return _marked(reader)
    except Exception:  # whatever a damaged file leads its reader to: its text is read nevertheless
        return {}


def words_of(pieces: Sequence[Piece], marked: Mapping[int, Heading]) -> list[tuple[int, str]]:
    """
    Give the headings of a page.

    :param pieces: Its text.
    :param marked: Which of its pieces are headings.
    :returns: Their levels and words, in the order of the text.
    """
    said: dict[Heading, str] = {}
    for piece in pieces:
        if (heading := marked.get(piece.mark)) is not None:
            said[heading] = said.get(heading, "") + piece.text
    return [(heading.level, " ".join(text.split())) for heading, text in said.items() if text.strip()]


def _marked(reader: PdfReader) -> Marked:
    found: dict[int, dict[int, Heading]] = defaultdict(dict)
    root = reader.root_object.get("/StructTreeRoot")
    if not isinstance(root := root and root.get_object(), DictionaryObject):
        return found
    roles: Any = root.get("/RoleMap", {})
    left: list[tuple[Any, int, Heading | None]] = [(root, 0, None)]  # what, its page, the heading it is of
    seen: dict[int, Any] = {}
    while left and len(seen) < _MOST:
        part, page, heading = left.pop()
        part = part.get_object()
        if isinstance(part, int) and heading:
            found[page][part] = heading
        if not isinstance(part, ArrayObject | DictionaryObject) or id(part) in seen:
            continue
        seen[id(part)] = part
        if isinstance(part, ArrayObject):
            left += [(one, page, heading) for one in part]
        else:
            shown = part.raw_get("/Pg") if "/Pg" in part else None
            page = shown.idnum if isinstance(shown, IndirectObject) else page
            kind = part.get("/S")
            if heading is None and (level := _LEVELS.get(str(roles.get(kind, kind)))):
                heading = Heading(len(seen), level)
            left += [(part[key], page, heading) for key in ("/K", "/MCID") if key in part]
    return found
