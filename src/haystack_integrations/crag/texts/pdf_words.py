"""Words of a PDF as they are searched for: apart where gaps alone part them, and in letters as people type them."""

import re
import unicodedata
from typing import Final

from pypdf import PageObject
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, StreamObject

_SHAPES: Final = re.compile(r"[\ufb13-\ufdff\ufe70-\ufefc]+")
_MAP: Final = NameObject("/ToUnicode")
_SPACE: Final = b"\n1 beginbfchar\n<FFFF> <0020>\nendbfchar\n"


def tell_spaces(page: PageObject) -> None:
    """
    Let the fonts of a page say what a space is, so that its reader knows how wide a gap between two words is.

    TeX sets no spaces. For a font without one, pypdf takes the width of whatever sign has the code of a space, which
    may be twice as wide as any gap: the words of whole manuals became one. A sign that no text has is named the
    space, below all others: a font that has one goes on with its own.

    :param page: The page; its fonts are changed in memory.
    """
    fonts = _part(_part(page, "/Resources"), "/Font")
    for name in fonts:
        font = _part(fonts, name)
        told = font[_MAP] if _MAP in font else None
        if isinstance(told, StreamObject) and not (data := told.get_data()).endswith(_SPACE):
            font[_MAP] = with_space = DecodedStreamObject()
            with_space.set_data(data + _SPACE)


def as_typed(text: str) -> str:
    """
    Write letters as they are typed: Arabic and Hebrew ones have other codes by their place in a word, as printed.

    :param text: The text of a page.
    :returns: The same with each as its plain letters.
    """
    return _SHAPES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _part(of: DictionaryObject, name: str) -> DictionaryObject:
    part = of[name] if name in of else None
    return part if isinstance(part, DictionaryObject) else DictionaryObject()
