"""Headings that a PDF tells by its tags are headings: word processors write tags, and no outline unless asked."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from files import pdf
from haystack.dataclasses import ByteStream
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject

from haystack_integrations.crag.components import PdfToMarkdown
from haystack_integrations.crag.formats.pdf_pieces import pieces_of
from haystack_integrations.crag.formats.pdf_tags import marked_headings, words_of

TEXT = b"""/H1 <</MCID 0>> BDC BT /F1 12 Tf 72 700 Td (Travel) Tj ET EMC
/P <</MCID 1>> BDC BT /F1 12 Tf 72 680 Td (By train.) Tj ET EMC
/H2 <</MCID 2>> BDC BT /F1 12 Tf 72 660 Td (1.1) Tj ET EMC
/Span <</MCID 3>> BDC BT /F1 12 Tf 100 660 Td (Costs) Tj ET EMC
/Artifact BMC BT /F1 12 Tf 72 20 Td (Page 1) Tj ET EMC"""


def part(kind: str, *kids: Any) -> DictionaryObject:
    """Give a part of a structure: parts, or numbers of pieces of the page's content."""
    inner = ArrayObject([NumberObject(kid) if isinstance(kid, int) else kid for kid in kids])
    return DictionaryObject({NameObject("/S"): NameObject(kind), NameObject("/K"): inner})


def tagged(*parts: DictionaryObject, roles: dict[str, str] | None = None) -> bytes:
    """Give a PDF of one page with that structure."""
    writer = PdfWriter(clone_from=BytesIO(pdf()))
    content = DecodedStreamObject()
    content.set_data(TEXT)
    page = writer.pages[0]
    page[NameObject("/Contents")] = content
    for one in parts:
        one[NameObject("/Pg")] = page.indirect_reference
    root = part("/Document", *map(writer._add_object, parts))
    root[NameObject("/RoleMap")] = DictionaryObject(
        {NameObject(name): NameObject(role) for name, role in (roles or {}).items()}
    )
    writer.root_object[NameObject("/StructTreeRoot")] = root
    writer.write(data := BytesIO())
    return data.getvalue()


def headings_of(data: bytes) -> list[tuple[int, str]]:
    """Read those of its only page."""
    reader = PdfReader(BytesIO(data))
    (marked,) = marked_headings(reader).values() or ({},)
    return words_of(pieces_of(reader.pages[0])[1], marked)


@pytest.mark.parametrize(
    ("parts", "headings"),
    [
        ([part("/H1", 0), part("/P", 1), part("/H2", 2, part("/Span", 3))], [(1, "Travel"), (2, "1.1 Costs")]),
        ([part("/Sect", part("/Heading#201", 0), part("/P", 1)), part("/P", 2, 3)], [(1, "Travel")]),
        ([part("/P", 0, 1, 2, 3)], []),
        ([part("/H1", 9)], []),
    ],
)
def test_what_is_tagged_as_a_heading_is_one(
    parts: list[DictionaryObject], headings: list[tuple[int, str]] | None
) -> None:
    """Of several pieces, or by another name that the file says is a heading's; what no one tagged so is none."""
    assert headings_of(tagged(*parts, roles={"/Heading#201": "/H1"})) == headings


def test_the_headings_are_marked_in_the_text() -> None:
    """As those of an outline."""
    data = tagged(part("/H1", 0), part("/P", 1), part("/H2", 2, part("/Span", 3)))
    (document,) = PdfToMarkdown().run([ByteStream(data)])["documents"]
    assert document.content == "\n\n# Travel\nBy train.\n\n## 1.1 Costs\nPage 1"


@pytest.mark.parametrize("root", [NumberObject(3), DictionaryObject({NameObject("/K"): NumberObject(0)})])
def test_tags_that_say_nothing_cost_no_text(root: Any) -> None:
    """Damaged files have such."""
    writer = PdfWriter(clone_from=BytesIO(pdf("Two weeks.")))
    writer.root_object[NameObject("/StructTreeRoot")] = root
    writer.write(data := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert document.content == "Two weeks."


@pytest.mark.parametrize("hold", [lambda inner: part("/Div", inner, inner), lambda inner: ArrayObject([inner, inner])])
def test_parts_that_hold_one_another_are_read_once(hold: Callable[[Any], Any]) -> None:
    """Each has two places in the next one: read for each, thirty of them would take years."""
    writer = PdfWriter(clone_from=BytesIO(tagged(part("/H1", 0))))
    root = writer.root_object["/StructTreeRoot"]
    inner = root["/K"]
    for _ in range(30):
        inner = writer._add_object(hold(inner))
    root[NameObject("/K")] = inner
    writer.write(data := BytesIO())
    assert headings_of(data.getvalue()) == [(1, "Travel")]
