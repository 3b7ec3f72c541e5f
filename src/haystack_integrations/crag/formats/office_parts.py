"""What an office file says of its parts, as its readers take it: they give up the whole file for a lost picture."""

import posixpath
import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

from lxml import etree

_ROOT: Final = "_rels/.rels"
_TYPES: Final = "[Content_Types].xml"
_NAMES: Final = "{http://schemas.openxmlformats.org/package/2006/content-types}"
# Names of the strict form of the standard, and those of the usual one.
_STRICT: Final = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_USUAL: Final = rb"http://schemas.openxmlformats.org/\1/2006/"
_UNKNOWN: Final = "application/octet-stream"
_MAIN: Final = "application/vnd.openxmlformats-officedocument.{}.main+xml"
# By what the types of templates, slide shows and files with macros have in them: their text is as in all others.
_KINDS: Final = {
    "wordprocessingml.": _MAIN.format("wordprocessingml.document"),
    "ms-word.": _MAIN.format("wordprocessingml.document"),
    "presentationml.": _MAIN.format("presentationml.presentation"),
    "ms-powerpoint.": _MAIN.format("presentationml.presentation"),
}


def completed(data: bytes) -> bytes:
    """
    Take out of an office file what leads to a part that is not in it, and write names and types that its reader knows.

    :param data: A DOCX, XLSX or PPTX file.
    :returns: The file; the same if nothing is to be done.
    :raises Exception: Whatever a damaged file leads its reader to.
    """
    with ZipFile(BytesIO(data)) as file:
        names = {name.lower(): name for name in file.namelist()}
        changed = dict[str, bytes | None]()
        if _STRICT.search(file.read(_ROOT) if _ROOT in names.values() else b""):
            parts = [name for name in names.values() if name.endswith((".xml", ".rels"))]
            changed = {name: _STRICT.sub(_USUAL, file.read(name)) for name in parts}
        for name in names.values():
            if name == _TYPES or name.endswith(".rels"):
                told = changed.get(name) or file.read(name)
                mended = _typed(told, names) if name == _TYPES else _linked(told, name, names)
                changed[name] = mended or changed.get(name)
        if not any(changed.values()):
            return data
        with ZipFile(saved := BytesIO(), "w", ZIP_DEFLATED) as other:
            for name in names.values():
                other.writestr(name, changed.get(name) or file.read(name))
    return saved.getvalue()


def _linked(data: bytes, name: str, names: Mapping[str, str]) -> bytes | None:
    """Take out relationships to what is not there; None if all is."""
    root, is_changed = part_of(data), False
    folder = posixpath.dirname(posixpath.dirname(name))
    for one in [one for one in root.iterchildren("{*}Relationship") if one.get("TargetMode") != "External"]:
        target = posixpath.normpath(posixpath.join("/", folder, one.get("Target", "")))[1:]
        found = names.get(target.lower())
        if found == target:
            continue
        is_changed = True
        if found is None:
            root.remove(one)
        else:  # in other letters, which are the same to Office
            one.set("Target", f"/{found}")
    return etree.tostring(root) if is_changed else None


def _typed(data: bytes, names: Mapping[str, str]) -> bytes | None:
    """Give a type to parts that have none or their reader does not know; None if all are well."""
    root, is_changed = part_of(data), False
    for one in root.findall(f"{_NAMES}Override"):
        part = one.get("PartName", "")
        found = names.get(part.lower().removeprefix("/"))
        if found is None:
            root.remove(one)
        else:
            one.set("PartName", f"/{found}")
        told = one.get("ContentType", "")
        if told.endswith(".main+xml"):
            one.set("ContentType", next((main for kind, main in _KINDS.items() if kind in told), told))
        is_changed = is_changed or part != f"/{found}" or told != one.get("ContentType")
    known = {one.get("Extension", "").lower() for one in root.findall(f"{_NAMES}Default")}
    own = {one.get("PartName", "").lower().removeprefix("/") for one in root.findall(f"{_NAMES}Override")}
    suffixes = {posixpath.splitext(name)[1][1:] for name in names if name not in own}
    for suffix in sorted(suffixes - known - {""}):
        etree.SubElement(root, f"{_NAMES}Default", Extension=suffix, ContentType=_UNKNOWN)
        is_changed = True
    return etree.tostring(root) if is_changed else None


def part_of(data: bytes) -> Any:
    """
    Read a part of a file, without what it names elsewhere.

    :param data: The part.
    :returns: Its root.
    :raises Exception: lxml's, for a damaged part.
    """
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False))
