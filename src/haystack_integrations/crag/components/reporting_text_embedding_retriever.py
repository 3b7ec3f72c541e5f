"""Dense retrieval on Elasticsearch as one component: the question's vector, and a search that says what it missed."""

from asyncio import to_thread
from typing import Any, cast

from haystack import Document, component
from haystack.components.retrievers import TextEmbeddingRetriever

from haystack_integrations.crag.components.elasticsearch_retrievers import Filters, State
from haystack_integrations.crag.inputs import checked


@component
@checked
class ReportingTextEmbeddingRetriever(TextEmbeddingRetriever):
    """
    Embeds a question and searches by the vector: `TextEmbeddingRetriever` with the report of `ReportingBM25Retriever`.

    One component and not two: Haystack copies what goes from one to the next number by number, so that a vector of
    1,536 costs some 20 ms on the way.

    ```python
    from haystack_integrations.crag.components import StaticTextEmbedder
    from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingEmbeddingRetriever
    from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

    store = ElasticsearchDocumentStore(hosts="http://127.0.0.1:9", max_retries=0)
    by_vector = ReportingEmbeddingRetriever(document_store=store)
    retriever = ReportingTextEmbeddingRetriever(retriever=by_vector, text_embedder=StaticTextEmbedder())
    result = retriever.run(query="Who wrote Emma?")
    assert result == {"documents": [], "report": {"status": "failed", "kind": "connection"}}
    ```
    """

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None) -> dict[str, Any]:
        """Search; see `ReportingBM25Retriever.run`."""
        self.warm_up()
        vector = self.text_embedder.run(text=query)["embedding"]
        search: Any = self.retriever.run
        found: dict[str, Any] = search(query_embedding=vector, filters=filters, top_k=top_k, state=state)
        return found

    @component.output_types(documents=list[Document], report=dict[str, Any])
    async def run_async(
        self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search on the event loop; see `run`."""
        await self.warm_up_async()
        embedder, retriever = cast("Any", self.text_embedder), cast("Any", self.retriever)
        is_async = hasattr(embedder, "run_async")
        embedded = await (embedder.run_async(text=query) if is_async else to_thread(embedder.run, text=query))
        vector = embedded["embedding"]
        found: dict[str, Any] = await retriever.run_async(
            query_embedding=vector, filters=filters, top_k=top_k, state=state
        )
        return found
