"""Words of a PDF as they are searched for: apart where gaps alone part them, and in letters as people type them."""

import re
import unicodedata
from typing import Final

from pypdf import PdfReader
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, StreamObject

_SHAPES: Final = re.compile(r"[\ufb13-\ufdff\ufe70-\ufefc]+")
_MAP: Final = NameObject("/ToUnicode")
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
                told = font[_MAP] if _MAP in font else None
                if isinstance(told, StreamObject) and not (data := told.get_data()).endswith(_SPACE):
                    font[_MAP] = with_space = DecodedStreamObject()
                    with_space.set_data(data + _SPACE)
        # A page that was stamped or put into another file is drawn as a form with fonts of its own.
        left += [
            part
            for forms in _parts(resources, "/XObject")
            for form in _parts(forms, *forms)
            for part in _parts(form, "/Resources")
        ]


def as_typed(text: str) -> str:
    """
    Write letters as they are typed: Arabic and Hebrew ones have other codes by their place in a word, as printed.

    :param text: The text of a page.
    :returns: The same with each as its plain letters.
    """
    return _SHAPES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _parts(of: DictionaryObject, *names: str) -> list[DictionaryObject]:
    found = [of[name] for name in names if name in of]
    return [part for part in found if isinstance(part, DictionaryObject)]
