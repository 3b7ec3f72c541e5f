"""What is filled into a PDF is read where it stands: a contract says nothing without the values of its form."""

from io import BytesIO
from typing import Any

import pytest
from files import pdf
from haystack.dataclasses import ByteStream
from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    NumberObject,
    StreamObject,
    TextStringObject,
)

from haystack_integrations.crag.components import PdfToMarkdown
from haystack_integrations.crag.formats.pdf_fields import fields_of, with_fields
from haystack_integrations.crag.formats.pdf_pieces import pieces_of

TEXT = b"BT /F1 12 Tf 72 700 Td (Name:) Tj 0 -50 Td (Notice:) Tj ET BT 272 650 Td (months) Tj ET"


def made(value: Any) -> Any:
    """Give a value as pypdf writes it: text that begins with a slash is a name."""
    if isinstance(value, bytes):
        (stream := StreamObject()).set_data(value)
        return stream
    if value is None:
        return NullObject()
    if isinstance(value, dict):
        return DictionaryObject({NameObject(key): made(one) for key, one in value.items()})
    if isinstance(value, list):
        return ArrayObject([made(one) for one in value])
    if isinstance(value, int):
        return NumberObject(value)
    if isinstance(value, float):
        return FloatObject(value)
    return NameObject(value) if value.startswith("/") else TextStringObject(value)


def form(*notes: dict[str, Any], text: bytes = TEXT) -> PageObject:
    """Give a page of that text, with form fields and notes upon it."""
    writer = PdfWriter(clone_from=BytesIO(pdf()))
    content = DecodedStreamObject()
    content.set_data(text)
    page = writer.pages[0]
    page[NameObject("/Contents")] = content
    fields = [made({"/Type": "/Annot", "/Subtype": "/Widget"} | note) for note in notes]
    for field in fields:
        if isinstance(value := field.get("/V"), StreamObject):  # is no part of a dictionary
            field[NameObject("/V")] = writer._add_object(value)
        if "/Parent" in field:  # never is, either
            field[NameObject("/Parent")] = writer._add_object(field["/Parent"])
    page[NameObject("/Annots")] = ArrayObject([writer._add_object(field) for field in fields])
    writer.write(data := BytesIO())
    return PdfReader(data).pages[0]


def at(left: int, bottom: int, **more: Any) -> dict[str, Any]:
    """Give a field of twenty points' height there."""
    return {"/Rect": [left, bottom, left + 100, bottom + 20], **{f"/{key}": value for key, value in more.items()}}


def text_of(page: PageObject) -> str:
    """Read it with its fields."""
    return "".join(piece.text for piece in with_fields(pieces_of(page), fields_of(page)))


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (at(120, 695, FT="/Tx", V="Erika\nMustermann"), "Name: Erika Mustermann\nNotice: months"),
        (at(120, 645, FT="/Ch", V="6", Opt=[["3", "three"], ["6", "six"]]), "Name:\nNotice: six months"),
        (at(120, 645, FT="/Ch", V=["3", "6"]), "Name:\nNotice: 3, 6 months"),
        (at(72, 670, FT="/Tx", V="Erika"), "Name: Erika\nNotice: months"),  # no words beside it, so those above
        (at(72, 620, FT="/Tx", V="six"), "Name:\nNotice: six months"),
        (at(72, 100, FT="/Tx", V="Bonn", TU="Place of work", T="t1"), "Name:\nNotice: months\nPlace of work: Bonn"),
        (at(20, 645, FT="/Btn", AS="/Yes"), "Name:\n[x] Notice: months"),
        (at(220, 645, FT="/Btn", AS="/Off"), "Name:\nNotice: [ ] months"),
        (at(220, 645, FT="/Btn", V="/Yes"), "Name:\nNotice: [x] months"),
        (at(220, 645, FT="/Btn"), "Name:\nNotice: [ ] months"),
        (at(72, 100, FT="/Btn", AS="/Yes", T="agreed"), "Name:\nNotice: months\nagreed: [x]"),
        (at(400, 645, FT="/Tx", V="6"), "Name:\nNotice: months 6"),  # behind the words that are nearest
        (at(300, 670, FT="/Tx", V="x", T="t"), "Name:\nNotice: months\nt: x"),  # too far right of those above
        (at(100, 620, FT="/Tx", V="x", T="t"), "Name:\nNotice: months\nt: x"),  # and too far left
        ({"/Rect": [220, 665, 120, 645], "/FT": "/Tx", "/V": "six"}, "Name:\nNotice: six months"),
        (at(120, 645, FT="/Sig", V={"/Type": "/Sig"}), "Name:\nNotice: months"),
        (at(120, 645, FT="/Btn", Ff=1 << 16), "Name:\nNotice: months"),
        (at(120, 645, FT="/Tx", V="open sesame", Ff=1 << 13), "Name:\nNotice: months"),
        (at(120, 645, FT="/Tx", V="hidden", F=2), "Name:\nNotice: months"),
        (at(120, 645, FT="/Tx", V="printed only", F=32), "Name:\nNotice: months"),
        (at(120, 645, Parent={"/FT": "/Tx", "/V": "six"}), "Name:\nNotice: six months"),
        (at(120, 645, V="six", Parent={"/FT": "/Tx", "/T": "notice"}), "Name:\nNotice: six months"),
        (at(120, 645, Subtype="/FreeText", Contents="six"), "Name:\nNotice: six months"),
        (at(120, 645, Subtype="/FreeText"), "Name:\nNotice: months"),
        (at(72, 100, Subtype="/FreeText", Contents="Bonn", T="its author"), "Name:\nNotice: months\nBonn"),
        (at(120, 645, Subtype="/Text", Contents="a remark"), "Name:\nNotice: months"),
        (at(120, 645, FT="/Tx", V=None, Opt=None), "Name:\nNotice: months"),
        (at(120, 645, V=None, Parent={"/FT": "/Tx", "/V": "six"}), "Name:\nNotice: six months"),
        (at(120, 645, FT="/Tx", V=b"\xfe\xff" + "s\u00efx".encode("utf-16-be")), "Name:\nNotice: s\u00efx months"),
        (at(120, 645, FT="/Tx", V=b"\xef\xbb\xbf" + "s\u00efx".encode()), "Name:\nNotice: s\u00efx months"),
        (at(120, 645, FT="/Tx", V=b"\xa06"), "Name:\nNotice: \u20ac6 months"),
        (at(120, 645, FT="/Tx", V=b"s\xefx\xad"), "Name:\nNotice: s\u00efx\u00ad months"),
    ],
)
def test_a_value_stands_by_the_words_that_say_what_it_is(field: dict[str, Any], text: str) -> None:
    """On their line, below them, or at the page's end by the name of the field; what no reader sees is left out."""
    assert text_of(form(field)).strip() == text


def test_a_value_stands_below_the_line_that_is_nearest() -> None:
    """Not below the title of the form."""
    page = form(at(72, 640, FT="/Tx", V="Erika"), text=b"BT /F1 12 Tf 72 680 Td (Form) Tj 0 -15 Td (Name) Tj ET")
    assert text_of(page).strip() == "Form\nName Erika"


def test_values_of_a_line_stand_in_its_order() -> None:
    """Whatever order the file has them in."""
    fields = [at(300, 695, FT="/Tx", V="Mustermann"), at(120, 695, FT="/Tx", V="Erika")]
    assert text_of(form(*fields)).startswith("Name: Erika Mustermann\n")


def test_a_form_is_indexed_with_its_values() -> None:
    """Also by the component."""
    page = form(at(120, 695, FT="/Tx", V="Erika"))
    writer = PdfWriter()
    writer.add_page(page)
    writer.write(data := BytesIO())
    (document,) = PdfToMarkdown().run([ByteStream(data.getvalue())])["documents"]
    assert (document.content or "").startswith("Name: Erika\n")


@pytest.mark.parametrize(
    "broken", [{"/Rect": [0, 0, 1, 1], "/F": "hidden"}, {"/Rect": ["a", 1, 1, 1], "/FT": "/Tx", "/V": "x"}]
)
def test_a_damaged_field_costs_no_text(broken: dict[str, Any]) -> None:
    """Of the page that it stands on."""
    assert "Name:" in text_of(form(broken))


def test_what_is_no_field_costs_no_other() -> None:
    """Programs that delete a note leave nothing in its place."""
    page = form(at(120, 645, FT="/Tx", V="six"))
    page[NameObject("/Annots")] = ArrayObject([NullObject(), *page["/Annots"]])
    assert text_of(page).strip() == "Name:\nNotice: six months"


def test_a_page_of_more_text_than_anyone_prints_is_not_searched_for_the_place_of_each_field() -> None:
    """Each field is compared with each piece of text."""
    text = b"BT /F1 12 Tf 72 700 Td " + b"0 -20 Td (x) Tj " * 3_000 + b"ET"
    read = text_of(form(at(120, 645, FT="/Tx", V="six", T="notice"), text=text))
    assert read.endswith("\nnotice: six")
