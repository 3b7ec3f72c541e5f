"""What an index gives back, as Haystack's documents."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from haystack import Document

from haystack_integrations.crag.errors import StoreError

if TYPE_CHECKING:
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

_SHOWN: Final = 80
_KINDS: Final[dict[str, Any]] = {
    "id": str | int,
    "content": str,
    "meta": dict,
    "blob": dict,
    "sparse_embedding": dict,
}
"""What fields with names of Haystack's may hold, besides nothing."""


def documents_of(store: "ElasticsearchDocumentStore", hits: Sequence[Mapping[str, Any]]) -> list[Document]:
    """
    Read the hits of a search.

    :param store: The store.
    :param hits: As the server gave them.
    :returns: A document for each.
    :raises StoreError: For one whose fields have the names of Haystack's and hold something else.
    """
    return [_read(store, hit) for hit in hits]


def _read(store: "ElasticsearchDocumentStore", hit: Mapping[str, Any]) -> Document:
    source = hit.get("_source", {})
    wrong = [name for name, kinds in _KINDS.items() if not isinstance(source.get(name), kinds | None)]
    if "_source" in hit and not wrong:
        with suppress(TypeError, ValueError, KeyError):
            return store._deserialize_document(dict(hit))
    got = ", ".join(f"{name!r} as {type(source[name]).__name__}" for name in wrong) or "what is no document of Haystack"
    msg = (
        f"got {got} in the document {str(hit.get('_id'))[:_SHOWN]!r} of the index {store._index!r}, wanted fields as "
        "Haystack writes them: a text as 'content', objects as 'meta' and 'blob'; write it anew, or rename its fields"
    )
    raise StoreError(msg)
