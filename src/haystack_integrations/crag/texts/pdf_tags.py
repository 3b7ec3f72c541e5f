"""The headings of a PDF as its tags tell them: word processors and browsers write tags, and seldom an outline."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pypdf import PageObject, PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

from haystack_integrations.crag.texts.pdf_headings import Outline

_MOST: Final = 500_000  # parts of a file's structure
_LEVELS: Final = {"/H": 1} | {f"/H{level}": level for level in range(1, 7)}


def tagged_headings(reader: PdfReader) -> Outline:
    """
    Read the headings.

    :param reader: A PDF file.
    :returns: Its headings; none if it has no tags, or some that cannot be read.
    """
    found: dict[int, list[tuple[int, str]]] = {}
    try:
        marked = _marked(reader)
        for number, page in enumerate(reader.pages if marked else ()):
            if page.indirect_reference and (own := marked.get(page.indirect_reference.idnum)):
                found[number] = _words(page, own)
    except Exception:  # whatever a damaged file leads its reader to: its text is read nevertheless
        return found
    return found


class _Heading(NamedTuple):
    number: int  # in the file: a heading may be of several pieces
    level: int


def _marked(reader: PdfReader) -> Mapping[int, Mapping[int, _Heading]]:
    """Give the heading of each marked piece of content that belongs to one, by the numbers of page and piece."""
    found: dict[int, dict[int, _Heading]] = defaultdict(dict)
    root = reader.root_object.get("/StructTreeRoot")
    if not isinstance(root := root and root.get_object(), DictionaryObject):
        return found
    roles: Any = root.get("/RoleMap", {})
    left: list[tuple[Any, int, _Heading | None]] = [(root, 0, None)]  # what, its page, the heading it is of
    seen: dict[int, Any] = {}
    while left and len(seen) < _MOST:
        part, page, heading = left.pop()
        part = part.get_object()
        if isinstance(part, int) and heading:
            found[page][part] = heading
        elif isinstance(part, ArrayObject):
            left += [(one, page, heading) for one in part]
        elif isinstance(part, DictionaryObject) and id(part) not in seen:
            seen[id(part)] = part
            shown = part.raw_get("/Pg") if "/Pg" in part else None
            page = shown.idnum if isinstance(shown, IndirectObject) else page
            kind = part.get("/S")
            if heading is None and (level := _LEVELS.get(str(roles.get(kind, kind)))):
                heading = _Heading(len(seen), level)
            left += [(part[key], page, heading) for key in ("/K", "/MCID") if key in part]
    return found


def _words(page: PageObject, marked: Mapping[int, _Heading]) -> list[tuple[int, str]]:
    """Give the headings of a page, in the order of its text."""
    within: list[int] = [-1]
    said: dict[_Heading, str] = {}

    def enter(operator: bytes, operands: Any, *_: Any) -> None:
        if operator in {b"BDC", b"BMC"}:
            told = operands[1] if len(operands) > 1 else None
            within.append(told.get("/MCID", -1) if isinstance(told, DictionaryObject) else within[-1])
        elif operator == b"EMC" and len(within) > 1:
            within.pop()

    def hear(text: str, *_: Any) -> None:
        if (heading := marked.get(within[-1])) is not None:
            said[heading] = said.get(heading, "") + text

    page.extract_text(visitor_operand_before=enter, visitor_text=hear)
    return [(heading.level, " ".join(text.split())) for heading, text in said.items() if text.strip()]
