"""Documents from files: for a converter that reads another form of a file, and for those that read it themselves."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack import Document, logging
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.metadata import source_name

Sources = Sequence[str | Path | ByteStream]

logger = logging.getLogger(__name__)


def rewritten(source: str | Path | ByteStream, change: Callable[[bytes], bytes]) -> str | Path | ByteStream:
    """
    Change the bytes of a source.

    :param source: A file, or what was read of it.
    :param change: Gives the new bytes for the old ones.
    :returns: The changed bytes with the source's metadata, in an object of the same class, which may be one that shows
        nothing of its content; the source itself if it cannot be read, for its converter to complain of, or changed,
        which is logged: the converter may read it all the same, and only part of what it says.
    """
    from haystack.components.converters.utils import get_bytestream_from_source  # loads converters

    try:
        stream = get_bytestream_from_source(source)
    except Exception:  # whatever a path or file that cannot be read leads to
        return source
    try:
        return replace(stream, data=change(stream.data))
    except Exception as error:  # whatever a damaged file leads its reader to
        kind = type(error).__name__
        text = "{source} is read without its headings, notes and the like: {kind}"
        logger.warning(text, source=_named(source), kind=kind)
        return source


def converted(
    sources: Sources, meta: dict[str, Any] | list[dict[str, Any]] | None, told: Callable[[bytes], str]
) -> list[Document]:
    """
    Make documents as Haystack's converters do.

    :param sources: Files, or what was read of them.
    :param meta: Metadata for all documents, or for each.
    :param told: Gives the text for the bytes of a file.
    :returns: One for each source, with the name of its file alone; none for one that cannot be read, which is logged
        by the kind of its failure, since an error's text may quote the file.
    """
    from haystack.components.converters.utils import get_bytestream_from_source, normalize_metadata

    documents = []
    for source, own in zip(sources, normalize_metadata(meta, len(sources)), strict=True):
        try:
            stream = get_bytestream_from_source(source)
            known = {**stream.meta, **own}
            if isinstance(path := stream.meta.get("file_path"), str):
                known["file_path"] = Path(path).name
            documents.append(Document(content=told(stream.data), meta=known))
        except Exception as error:  # whatever a damaged file leads its reader to
            kind = type(error).__name__
            logger.warning("Could not read {source}, skipping it: {kind}", source=_named(source), kind=kind)
    return documents


def _named(source: str | Path | ByteStream) -> str:
    """Name a source for the log: a stream that is written out shows the first bytes of its content."""
    if not isinstance(source, ByteStream):
        return str(source)
    return source_name(Document(meta=source.meta)) or "a stream"
