"""A workbook without all that its cells do not need: its reader gives up a file for a colour that it does not know."""

import re
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

from lxml import etree

from haystack_integrations.crag.formats.office_parts import completed

# By part: what of it is kept. Of looks only those that tell something: percent, a date, a line through the text.
_KEPT: Final = {
    re.compile(r"xl/workbook\.xml"): ("workbookPr", "sheets", "calcPr"),
    re.compile(r"xl/styles\.xml"): ("numFmts", "fonts", "cellXfs"),
    re.compile(r"xl/worksheets/[^/]+\.xml"): ("sheetData", "mergeCells"),
}
_LINKS: Final = "xl/worksheets/_rels/"  # drawings, comments, tables, pivots


def bare(data: bytes) -> bytes:
    """
    Leave out of a workbook all but its cells, what is merged, and the form of numbers.

    :param data: An XLSX file.
    :returns: The file without the rest.
    :raises Exception: Whatever a damaged file leads its reader to.
    """
    with ZipFile(BytesIO(completed(data))) as file, ZipFile(saved := BytesIO(), "w", ZIP_DEFLATED) as other:
        for name in file.namelist():
            kept = next((tags for part, tags in _KEPT.items() if part.fullmatch(name)), None)
            if not name.startswith(_LINKS):
                other.writestr(name, file.read(name) if kept is None else _stripped(file.read(name), kept))
    return saved.getvalue()


def _stripped(data: bytes, kept: tuple[str, ...]) -> bytes:
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, huge_tree=True))
    for part in list(root):
        if not isinstance(part.tag, str) or etree.QName(part).localname not in kept:
            root.remove(part)
    written: bytes = etree.tostring(root)
    return written
