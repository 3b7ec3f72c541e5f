"""Write a DOCX so that its reader finds its headings, and all of its text as it reads with all changes accepted."""

import re
from io import BytesIO
from typing import Any, Final

import docx
from docx.document import Document as DocxFile
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

# Word's built-in styles have these names in a file of any language.
_HEADING: Final = re.compile(r"(?i)title|heading (?P<level>[1-6])")
# Inserted or moved text, controls of a form, fields: the reader looks into none of them.
_WRAPPERS: Final = ("w:ins", "w:moveTo", "w:sdt", "w:sdtContent", "w:smartTag", "w:fldSimple", "w:customXml")
_GONE: Final = ("w:del", "w:moveFrom")
_MOST_STEPS: Final = 10  # from a style to what it is based on


def with_marks(data: bytes) -> bytes:
    """
    Put `#` before titles and headings, one for each level, and take text out of what holds it.

    :param data: A DOCX file.
    :returns: The same with marks, and with all changes accepted.
    :raises Exception: Whatever a damaged file leads its reader to.
    """
    file = docx.Document(BytesIO(data))
    _unwrap(file.element.body)
    levels = _levels(file)
    for paragraph in file.element.body.iterchildren(qn("w:p")):
        level = levels.get(paragraph.style, 0)
        if level and "".join(paragraph.itertext()).strip():
            _put_before(paragraph, "#" * level + " ")
    file.save(saved := BytesIO())
    return saved.getvalue()


def _unwrap(body: Any) -> None:
    """Accept all changes, and put what other elements hold in their place."""
    for gone in list(body.iter(*map(qn, _GONE))):
        gone.getparent().remove(gone)
    for wrapper in list(body.iter(*map(qn, _WRAPPERS))):
        for child in list(wrapper):
            wrapper.addprevious(child)
        wrapper.getparent().remove(wrapper)


def _levels(file: DocxFile) -> dict[str | None, int]:
    """Give the level of each style that is a heading, or is based on one, by its id."""
    levels: dict[str | None, int] = {}
    for style in file.styles:
        base: Any = style
        for _ in range(_MOST_STEPS):
            if found := _HEADING.fullmatch(base.name or ""):
                levels[style.style_id] = int(found["level"] or 1)
                break
            base = getattr(base, "base_style", None)
            if base is None:
                break
    return levels


def _put_before(paragraph: Any, marks: str) -> None:
    run, text = OxmlElement("w:r"), OxmlElement("w:t")
    text.text = marks
    text.set(qn("xml:space"), "preserve")
    run.append(text)
    paragraph.insert(0 if paragraph.pPr is None else 1, run)
