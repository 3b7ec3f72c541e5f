"""What the metadata of a document says of it: its title, and where it was taken from."""

from collections.abc import Mapping
from operator import ne
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.texts.steering import whole

_LONGEST_NAME: Final = 2_048  # as long as an address; it stands in prompts, answers and records


def told(meta: Mapping[str, Any], field: str | None) -> Any:
    """
    Read a field. A table leaves NaN, or pandas' NaT and NA, where it has no value: to Python they are true, and "nan".

    :param meta: Metadata of a document.
    :param field: Its name, or None.
    :returns: The value; None where there is none.
    """
    value = meta.get(field) if field else None
    try:
        return None if ne(value, value) else value
    except (TypeError, ValueError, ArithmeticError):
        # NA is neither true nor false, as an array is, which names nothing either; a decimal's sNaN is not compared.
        return None


def title_of(document: Document, field: str | None = "title") -> str:
    """
    Read the title of a document.

    :param document: Any document.
    :param field: Metadata field with the title, or None.
    :returns: The title as it stands there; empty without one.
    """
    return str(told(document.meta, field) or "")


def source_name(document: Document) -> str | None:
    """
    Name the file, record or page that a document was taken from.

    :param document: Any document.
    :returns: Its source, address or file, the first 2,048 characters; None when its metadata has none of them. An
        object is no name: in logs of the Elastic Common Schema `source` and `url` are one. It stands in records, which
        are written as UTF-8: half a character is a sign.
    """
    names = (told(document.meta, key) for key in ("source", "url", "file_path"))
    found = (str(name) for name in names if name and not isinstance(name, Mapping | list))
    return next((whole(name[:_LONGEST_NAME]) for name in found), None)
