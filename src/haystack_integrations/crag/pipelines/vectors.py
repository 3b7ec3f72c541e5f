"""The vectors of a store and of a question: written by one model, or no search by vectors can answer."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from haystack import Document, Pipeline, logging

from haystack_integrations.crag.elasticsearch.requests import TEXT
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.homes import links
from haystack_integrations.crag.pipelines.contents import Failure
from haystack_integrations.crag.pipelines.index_fields import VECTOR, Ask, Fields, check_numbers, fields_of, vectors_of
from haystack_integrations.crag.store_profiles import elasticsearch_client, has_index, profile_of, server_of

BY_WORDS_ONLY: Final = (
    "they are found by words only; `_reindex` copies no vectors, but `_clone` and a snapshot do, and `crag index` into "
    "another index makes them"
)

_LENGTHS: Final = {
    "FAISSDocumentStore": "embedding_dim",
    "PgvectorDocumentStore": "embedding_dimension",
    "QdrantDocumentStore": "embedding_dim",
}
"""By the class of a store without a profile: its setting, 768 by default, that holds from its first document on."""

logger = logging.getLogger(__name__)


def stored_size(store: Any, ask: Ask = fields_of) -> int | None:
    """
    Tell how long the vectors of a store are.

    :param store: Any document store.
    :param ask: Reads the fields of the store's index, where it has one.
    :returns: How many numbers a document's embedding has; None for a store without any, or of an unknown kind.
    :raises StoreError: When the store's server cannot be reached.
    """
    if has_index(store):
        return size_of(ask(store))
    if profile_of(store) is None:
        return getattr(store, _LENGTHS.get(type(store).__name__, ""), None)
    documents = list(store.storage.values())  # somebody may be writing into the store
    return next((len(one.embedding) for one in documents if one.embedding is not None), None)


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
    if embedders and has_index(store):
        check_numbers(ask(store))
        for doubt in doubts_of(store):
            _warn(doubt)
    for name, embedder in embedders.items():
        if stored not in (None, embedder.dimension):
            msg = (
                f"the documents of this store have vectors of {stored} numbers, but {name!r} would ask with "
                f"{embedder.dimension} ({type(embedder).__name__}); name the text embedder of the model that wrote "
                f'them: in a YAML of your own, by {name}={{"text_embedder": ...}} of `load`, or in the `settings` of a '
                "CorrectiveRetriever; or index the documents anew with `crag index`"
            )
            raise ConfigurationError(msg)


def without_vectors(store: Any) -> tuple[int, int]:
    """
    Count the documents of an index that no search by vectors finds.

    `_reindex` makes such ones: it copies `_source`, in which our indices keep no vector.

    :param store: An ElasticsearchDocumentStore.
    :returns: How many documents with a text have no vector, and if there are any, how many have a text; else 0.
    :raises StoreError: When the server cannot be reached.
    """
    index, texts = server_of(store).index, {"exists": {"field": TEXT}}
    without = {"bool": {"filter": [texts], "must_not": [{"exists": {"field": VECTOR}}]}}
    with elasticsearch_client(store) as client:
        lacking = client.count(index=index, query=without)["count"]
        return lacking, client.count(index=index, query=texts)["count"] if lacking else 0


def doubts_of(store: Any) -> list[Failure]:
    """
    Say what a search by vectors will not find; an index that cannot be counted now is told by its searches.

    :param store: Any document store.
    :returns: At most one doubt, of the whole index.
    """
    with suppress(StoreError):
        lacking, found = without_vectors(store) if has_index(store) else (0, 0)
        if lacking:
            why = f"{lacking} of {found} documents have no vector in the field {VECTOR!r}; {BY_WORDS_ONLY}"
            return [Failure(f"index {server_of(store).index!r}", why)]
    return []


@lru_cache(maxsize=64)
def _warn(doubt: Failure) -> None:
    """Say it once: a server loads ten pipelines on one index."""
    logger.warning("{source}: {reason}", source=doubt.source, reason=doubt.reason)


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
        for part in links(pipeline.get_component(name)):
            embedder = getattr(part, "text_embedder", None)
            if isinstance(getattr(type(embedder), "dimension", None), property):
                yield name, embedder
