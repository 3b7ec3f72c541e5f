"""Change what a file holds before a converter reads it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from haystack.dataclasses import ByteStream


def rewritten(source: str | Path | ByteStream, change: Callable[[bytes], bytes]) -> str | Path | ByteStream:
    """
    Change the bytes of a source.

    :param source: A file, or what was read of it.
    :param change: Gives the new bytes for the old ones.
    :returns: The changed bytes with the source's metadata, in an object of the same class, which may be one that shows
        nothing of its content; the source itself if it cannot be read or changed, for its converter to complain of.
    """
    from haystack.components.converters.utils import get_bytestream_from_source  # loads converters

    try:
        stream = get_bytestream_from_source(source)
        return replace(stream, data=change(stream.data))
    except Exception:  # whatever a damaged file leads its reader to
        return source
