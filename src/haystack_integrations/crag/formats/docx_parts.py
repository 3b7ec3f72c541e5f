"""What is looked up in a DOCX beside its text: what a style is based on, and the parts that hold notes and lists."""

from collections.abc import Iterator
from typing import Any, Final

from docx.document import Document as DocxFile

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
