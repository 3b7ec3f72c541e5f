"""What is looked up in a DOCX: what a style is based on, parts that hold notes and lists, the text of an element."""

from collections.abc import Iterator
from typing import Any, Final

from docx.document import Document as DocxFile
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

OFF: Final = ("0", "false", "off")
"""How a switch of a look or form says no; without a word it says yes."""
IS_ON: Final = "".join(f"[not(@w:val='{word}')]" for word in OFF)
"""The part of an XPath that leaves out a switch that says no."""

_SIGNS: Final = {qn("w:noBreakHyphen"): "-", **dict.fromkeys(map(qn, ("w:tab", "w:br", "w:cr", "w:ptab")), " ")}
_MOST_STEPS: Final = 10  # from a style to what it is based on


def bases(style: Any) -> Iterator[Any]:
    """
    Walk from a style to what it is based on.

    :param style: A style of a file.
    :returns: The style, the one that it is based on, and so on; at most ten, since a damaged file may lead in a circle.
    """
    for _ in range(_MOST_STEPS):
        if style is None:
            return
        yield style
        style = getattr(style, "base_style", None)


def parts_of(file: DocxFile, kind: str) -> list[Any]:
    """
    Find the parts that a file's text refers to.

    :param file: The file.
    :param kind: A type of relationships, one of docx.opc.constants.RELATIONSHIP_TYPE.
    :returns: The parts within the file; there is one of a kind, or none.
    """
    return [one.target_part for one in file.part.rels.values() if one.reltype == kind and not one.is_external]


def text_of(one: Any) -> str:
    """
    Give the text of a note or a cell.

    :param one: Its element.
    :returns: The text, on one line.
    """
    parts = (line.iter(qn("w:t"), *_SIGNS) for line in one.iter(qn("w:p")))
    lines = ("".join(_SIGNS.get(part.tag) or part.text or "" for part in line) for line in parts)
    return " ".join(" ".join(lines).split())


def run_of(words: str) -> Any:
    """
    Make an element for words within a paragraph.

    :param words: The words.
    :returns: A `w:r`.
    """
    run, text = OxmlElement("w:r"), OxmlElement("w:t")
    text.text = words
    text.set(qn("xml:space"), "preserve")
    run.append(text)
    return run
