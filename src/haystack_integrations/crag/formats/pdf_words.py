"""Words of a PDF as they are searched for: apart where gaps alone part them, and in letters as people type them."""

import re
import unicodedata
from typing import Any, Final

from pypdf import PdfReader
from pypdf.generic import (
    ArrayObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    StreamObject,
)

# An accent as TeX prints it, and as it is joined. No accents are: backticks around code, an apostrophe before an "s",
# and the tilde of somebody's folder on a server.
_ACCENTS: Final = {
    "`": "\u0300",
    "\u00b4": "\u0301",
    "\u02c6": "\u0302",
    "\u02dc": "\u0303",
    "\u00af": "\u0304",
    "\u02d8": "\u0306",
    "\u02d9": "\u0307",
    "\u00a8": "\u0308",
    "\u02da": "\u030a",
    "\u02dd": "\u030b",
    "\u02c7": "\u030c",
    "\u00b8": "\u0327",
}
_BEFORE: Final = re.compile(
    r"(`(?=[aeiouAEIOU\u0131])(?![^`\n]*`(?![aeiouAEIOU\u0131]))|\u00b4(?!s\b)|(?<!/)\u02dc"
    r"|[\u02c6\u00af\u02d8\u02d9\u00a8\u02da\u02dd\u02c7\u00b8])([^\W\d_])"
)
_BELOW: Final = re.compile(r"([cCsS])(\u00b8)(?: (?=[^\W\d_A-Z]))?")
_DOTLESS: Final = str.maketrans("\u0131\u0237", "ij")
_MAP: Final = NameObject("/ToUnicode")
_UNIT: Final = 0.001
_CODE: Final = 32  # of a space
_USUAL: Final = 250  # thousandths of the size of the font
_SPACE: Final = b"\n1 beginbfchar\n<FFFF> <0020>\nendbfchar\n"


def tell_spaces(reader: PdfReader) -> None:
    """
    Let the fonts of a file say what a space is, so that its reader knows how wide a gap between two words is.

    TeX sets no spaces. For a font without one, pypdf takes the width of whatever sign has the code of a space, which
    may be twice as wide as any gap: the words of whole manuals became one. A sign that no text has is named the
    space, below all others: a font that has one goes on with its own.

    :param reader: The file; its fonts are changed in memory.
    """
    left, seen = [part for page in reader.pages for part in _parts(page, "/Resources")], dict[int, DictionaryObject]()
    while left:
        resources = left.pop()
        if id(resources) in seen:
            continue
        seen[id(resources)] = resources
        for fonts in _parts(resources, "/Font"):
            for font in _parts(fonts, *fonts):
                _scale(font)
                told = font[_MAP] if _MAP in font else None
                if isinstance(told, StreamObject) and not (data := told.get_data()).endswith(_SPACE):
                    font[_MAP] = with_space = DecodedStreamObject()
                    with_space.set_data(data + _SPACE)
                elif told is None:
                    _narrow(font)
        # A page that was stamped or put into another file is drawn as a form with fonts of its own.
        left += [
            part
            for forms in _parts(resources, "/XObject")
            for form in _parts(forms, *forms)
            for part in _parts(form, "/Resources")
        ]


def _scale(font: DictionaryObject) -> None:
    """Give the widths of letters that are drawn (Type 3) in thousandths, as of all other fonts: pypdf reads them so."""
    matrix, widths = (font[name] if name in font else None for name in ("/FontMatrix", "/Widths"))
    if not isinstance(matrix, ArrayObject) or not isinstance(widths, ArrayObject) or not matrix:
        return
    if all(isinstance(number, int | float) for number in (matrix[0], *widths)) and abs(matrix[0]) != _UNIT:
        font[NameObject("/Widths")] = ArrayObject([FloatObject(width * abs(matrix[0]) / _UNIT) for width in widths])
        font[NameObject("/FontMatrix")] = ArrayObject([FloatObject(_UNIT), *matrix[1:]])


def _narrow(font: DictionaryObject) -> None:
    """Give a font that lists its signs, and no space among them, a space of usual width: it has another sign's."""
    widths, first = (font[name] if name in font else None for name in ("/Widths", "/FirstChar"))
    lists = [str(one["/CharSet"]) for one in _parts(font, "/FontDescriptor") if "/CharSet" in one]
    if not isinstance(widths, ArrayObject) or not isinstance(first, int) or "/space/" in f"{''.join(lists)}/":
        return
    if lists and 0 <= _CODE - first < len(widths):
        font[NameObject("/Widths")] = narrowed = ArrayObject(widths)
        narrowed[_CODE - first] = NumberObject(_USUAL)


def with_accents(text: str) -> str:
    """
    Put accents on their letters: TeX's older fonts have none with one, and print it over the letter that follows.

    :param text: The text of a file that TeX made.
    :returns: The same with `ü` for `¨u`.
    """
    text = _BELOW.sub(lambda found: _accented(found[1], found[2]), text)
    return _BEFORE.sub(lambda found: _accented(found[2], found[1]), text)


def is_of_tex(reader: PdfReader) -> bool:
    """
    Tell whether TeX made a file.

    :param reader: The file.
    :returns: Whether it says so.
    """
    try:
        told: Any = reader.metadata or {}
        return any(
            name in str(told.get(key)) for key in ("/Creator", "/Producer") for name in ("TeX", "dvips", "dvipdf")
        )
    except Exception:  # whatever a damaged file leads its reader to: its text is read nevertheless
        return False


def _accented(letter: str, accent: str) -> str:
    one = unicodedata.normalize("NFC", letter.translate(_DOTLESS) + _ACCENTS[accent])
    return one if len(one) == 1 else f"{accent}{letter}"


def _parts(of: DictionaryObject, *names: str) -> list[DictionaryObject]:
    found = [of[name] for name in names if name in of]
    return [part for part in found if isinstance(part, DictionaryObject)]
