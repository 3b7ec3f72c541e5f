"""The vectors of a store and of a question: written by one model, or no search by vectors can answer."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from haystack import Document, Pipeline, logging

from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.pipelines.index_fields import (
    VECTOR,
    Ask,
    Fields,
    check_numbers,
    fields_of,
    holds_documents,
    vectors_of,
)
from haystack_integrations.crag.store_profiles import profile_of

logger = logging.getLogger(__name__)


def stored_size(store: Any, ask: Ask = fields_of) -> int | None:
    """
    Tell how long the vectors of a store are.

    :param store: Any document store.
    :param ask: Reads the fields of the store's index, where it has one.
    :returns: How many numbers a document's embedding has; None for a store without any, or of an unknown kind.
    :raises StoreError: When the store's server cannot be reached.
    """
    profile = profile_of(store)
    if profile is None:
        return None
    if not profile.index:
        return next((len(one.embedding) for one in store.storage.values() if one.embedding is not None), None)
    return size_of(ask(store))


def size_of(fields: Fields) -> int | None:
    """
    Tell how long the vectors of an index are.

    :param fields: What `fields_of` gave.
    :returns: As `stored_size`.
    """
    return next((int(field["dims"]) for field in vectors_of(fields) if "dims" in field), None)


def check_asked(pipeline: Pipeline, store: Any, ask: Ask) -> None:
    """
    Refuse a pipeline whose questions get vectors of another length than its documents have.

    :param pipeline: A loaded pipeline, whose embedder may say how long its vectors are (`dimension`), as ours does.
    :param store: The store that it searches.
    :param ask: Reads the fields of the store's index, where it has one.
    :raises ConfigurationError: Naming both lengths and the way out.
    :raises StoreError: When the store's server cannot be reached.
    """
    embedders = dict(_embedders(pipeline))
    stored = stored_size(store, ask) if embedders else None
    if embedders and (profile := profile_of(store)) is not None and profile.index:
        check_numbers(ask(store))
        if stored is None:
            _tell_of_none(store)
    for name, embedder in embedders.items():
        if stored not in (None, embedder.dimension):
            msg = (
                f"the documents of this store have vectors of {stored} numbers, but {name!r} would ask with "
                f"{embedder.dimension} ({type(embedder).__name__}); name the text embedder of the model that wrote "
                f'them: in a YAML of your own, by {name}={{"text_embedder": ...}} of `load`, or in the `settings` of a '
                "CorrectiveRetriever; or index the documents anew with `crag index`"
            )
            raise ConfigurationError(msg)


def _tell_of_none(store: Any) -> None:
    """Say that a search by vectors will find nothing; an index that cannot be counted now is told by its searches."""
    with suppress(StoreError):
        if holds_documents(store):
            text = "No document of this store has a vector in the field {field}, so they are found by words only."
            logger.warning(text, field=repr(VECTOR))


def check_written(documents: Iterable[Document], stored: int | None) -> None:
    """
    Refuse to write vectors of another length than those that a store has.

    :param documents: What is to be written.
    :param stored: See `stored_size`.
    :raises ConfigurationError: Naming both lengths and the way out.
    """
    new = next((len(one.embedding) for one in documents if one.embedding is not None), None)
    if None not in (new, stored) and new != stored:
        msg = (
            f"the documents of this store have vectors of {stored} numbers, those to be written {new}; index with the "
            "embedder that wrote the others, or into another index"
        )
        raise ConfigurationError(msg)


def _embedders(pipeline: Pipeline) -> Iterator[tuple[str, Any]]:
    for name in pipeline.graph.nodes:
        embedder = getattr(pipeline.get_component(name), "text_embedder", None)
        if isinstance(getattr(type(embedder), "dimension", None), property):
            yield name, embedder
