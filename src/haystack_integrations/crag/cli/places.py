"""What a question is asked of, by what the command line says: files, read into memory, or an index."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_integrations.crag.errors import ConfigurationError, SourceError, StoreError

if TYPE_CHECKING:
    from haystack_integrations.crag.pipelines.opening import Place


def choose_place(docs: Sequence[Path], place: tuple[str | None, str | None, str | None]) -> "Place | None":
    """
    Choose between files and an index.

    :param docs: Files and folders.
    :param place: Kind, address and index of a store, as far as they were given.
    :returns: The index; None for files.
    :raises ConfigurationError: For both of them, or none.
    """
    from haystack_integrations.crag.pipelines.opening import ELASTICSEARCH, find_place

    # Files that are named say more than a store in the environment.
    found = find_place(*place) if not docs or any(place) else None
    is_kept = found is not None and found.kind == ELASTICSEARCH
    if bool(docs) == is_kept:
        got = "both files and a store" if docs else "neither files nor a store"
        msg = f"got {got}, wanted one of them; pass only --docs PATH, or --store elasticsearch --url URL --index NAME"
        raise ConfigurationError(msg)
    return found if is_kept else None


def open_place(found: "Place | None") -> Any:
    """
    Open what was chosen.

    :param found: Of `choose_place`.
    :returns: The store; one in memory for files, which `read_documents` fills.
    :raises StoreError: When the index cannot be reached, or has nothing to answer from.
    """
    from haystack_integrations.crag.pipelines.opening import elasticsearch_store, memory_store

    if found is None:
        return memory_store()
    store = elasticsearch_store(found)
    _require_index(store)
    return store


def _require_index(store: Any) -> None:
    """Refuse to ask an index that is not there or empty; unlike loading a pipeline, this makes none."""
    from haystack_integrations.crag.store_profiles import display_url, elasticsearch_client, server_of

    place = server_of(store)
    index, url = place.index, display_url(place.hosts)
    with elasticsearch_client(store) as client:
        exists = bool(client.indices.exists(index=index))
        found = client.count(index=index)["count"] if exists else 0
    if not found:
        state = "is empty" if exists else "does not exist"
        msg = (
            f"the index {index!r} at {url} {state}, so there is nothing to answer from; "
            f"fill it with `crag index PATH --store elasticsearch --url {url} --index {index}`"
        )
        raise StoreError(msg)


def read_documents(paths: Sequence[Path], store: Any, tell: Callable[..., None]) -> dict[str, list[dict[str, str]]]:
    """
    Read files into an in-memory store, through the same pipeline as `crag index`.

    :param paths: Files and directories.
    :param store: The store.
    :param tell: Called with what could not be read; then with what is of no use, and `warning`.
    :returns: `failures`, what could not be read, and `doubts`, what is of no use, each `{"source", "reason"}`.
    :raises SourceError: When nothing could be read at all.
    """
    from haystack_integrations.crag.cli.tables import kinds_of
    from haystack_integrations.crag.pipelines.contents import RECORDS
    from haystack_integrations.crag.pipelines.indexing import index
    from haystack_integrations.crag.pipelines.kinds import MIME_TYPES
    from haystack_integrations.crag.pipelines.listing import shown_whole
    from haystack_integrations.crag.pipelines.sources import shared_folder

    report = index(paths, store, base=(base := shared_folder(paths))).to_dict()
    found = {"failures": report["failures"], "doubts": [*map(asdict, shown_whole(base)), *report["doubts"]]}
    tell(found["failures"])
    tell(found["doubts"], "warning")
    if report["skipped"]:
        tell([{"source": kinds_of(report), "reason": "not read; convert those of another kind first"}], "note")
    if not store.count_documents():
        kinds, places = ", ".join((*MIME_TYPES, RECORDS)), ", ".join(map(str, paths))
        msg = f"got no readable document in {places}, wanted {kinds} with text in it; pass other --docs"
        raise SourceError(msg)
    return found
