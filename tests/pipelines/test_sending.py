"""What is sent to an index is what Haystack's store would send."""

from typing import Any

import pytest
from haystack import Document
from haystack.dataclasses import ByteStream, SparseEmbedding

from haystack_integrations.crag.pipelines.sending import flattened
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

FIELD = "tokens"


@pytest.mark.parametrize("field", [FIELD, None])
@pytest.mark.parametrize(
    "document",
    [
        Document(content="Emma", meta={"year": 1815, "by": ["Jane Austen"]}, score=0.5),
        Document(content="Emma", sparse_embedding=SparseEmbedding([3, 11], [0.5, 0.25])),
        Document(content="Emma", sparse_embedding=SparseEmbedding([], [])),
        Document(blob=ByteStream(b"Emma", meta={"kind": "novel"}, mime_type="text/plain")),
        Document(content="Emma", meta={"content_type": "text", "name": None}),
    ],
)
def test_a_document_is_sent_as_the_store_sends_it(document: Document, field: str | None) -> None:
    """But for fields without a value, which a mapping of one's own may refuse."""
    store = ElasticsearchDocumentStore(hosts="http://127.0.0.1:9", sparse_vector_field=field)
    wanted: dict[str, Any] = document.to_dict()
    store._handle_sparse_embedding(wanted, document.id)
    sent = flattened(document, field)
    left_out = ("embedding", "blob", "score")
    assert sent == {name: value for name, value in wanted.items() if value is not None or name not in left_out}
