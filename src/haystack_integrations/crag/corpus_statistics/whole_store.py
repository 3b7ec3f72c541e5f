"""Count all documents of a store, for a file of statistics."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from haystack_integrations.crag.corpus_statistics.counting import TermCounter, collect, document_parts, document_text
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.in_parts import each_document
from haystack_integrations.crag.store_profiles import elasticsearch_client, has_index, server_of

_PAGE: Final = 1000
_PATIENCE_S: Final = 60


def count_store(store: Any, *, title_field: str | None = "title") -> TermCounter:
    """
    Count the documents that a store holds now, whoever wrote them: what a retriever can find.

    ```python
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.corpus_statistics import count_store

    store = InMemoryDocumentStore()
    store.write_documents([Document(content="It is a novel.", meta={"title": "Emma"})])
    assert count_store(store).frequencies == {"emma": 1, "novel": 1}
    ```

    :param store: A document store. One that is not Elasticsearch lists all its documents, if need be in parts.
    :param title_field: Metadata field with a document's title, counted with its content. None counts the content only.
    :returns: The counter.
    :raises StoreError: When the server, or a part of the index, does not answer, or a store does not list all it holds.
    """
    fields = _of_server(store, title_field) if has_index(store) else _of_store(store)
    texts = (document_text(*document_parts(content, meta, title_field)) for content, meta in fields)
    return collect(text for text in texts if text is not None)


def _of_store(store: Any) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    return ((document.content, document.meta) for document in each_document(store, "nothing was counted"))


def _of_server(store: Any, title_field: str | None) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Fetch titles and contents, a page per request: `filter_documents` ends at 10,000 and says nothing."""
    from elasticsearch.helpers import ScanError, scan

    index = server_of(store).index
    fields = ["content", *([title_field] if title_field else [])]
    body = {"query": {"exists": {"field": "content"}}, "_source": fields}
    with elasticsearch_client(store, request_timeout=_PATIENCE_S) as client:
        try:
            for hit in scan(client, body, index=index, size=_PAGE, allow_partial_search_results=False):
                yield hit["_source"].get("content"), hit["_source"]
        except ScanError as error:
            msg = f"a part of the index {index!r} does not answer; check the server's shards, nothing was counted"
            raise StoreError(msg) from error
