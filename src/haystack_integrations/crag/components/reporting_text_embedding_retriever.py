"""Dense retrieval on Elasticsearch as one component: the question's vector, and a search that says what it missed."""

from typing import Any

from haystack import Document, component, logging
from haystack.components.retrievers import TextEmbeddingRetriever

from haystack_integrations.crag.chat import kind_of
from haystack_integrations.crag.components.elasticsearch_retrievers import Filters, State
from haystack_integrations.crag.deadlines import run_within, run_within_async
from haystack_integrations.crag.elasticsearch import search as searching
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import checked

logger = logging.getLogger(__name__)


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
        """
        Search; see `ReportingBM25Retriever.run`.

        An embedder that fails is a failed search, named by the kind of failure; one that hangs is given up after the
        retriever's `timeout_s`, or earlier when the run has less left.
        """
        self.warm_up()
        retriever, limit = self._searching(state)
        try:
            vector = run_within(self.text_embedder, limit.seconds, {"text": query})["embedding"]
        except Exception as error:
            return _unasked(error, limit).result()
        found: dict[str, Any] = retriever.run(query_embedding=vector, filters=filters, top_k=top_k, state=state)
        return found

    @component.output_types(documents=list[Document], report=dict[str, Any])
    async def run_async(
        self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search on the event loop; see `run`."""
        await self.warm_up_async()
        retriever, limit = self._searching(state)
        try:
            vector = (await run_within_async(self.text_embedder, limit.seconds, {"text": query}))["embedding"]
        except Exception as error:
            return _unasked(error, limit).result()
        asked = {"query_embedding": vector, "filters": filters, "top_k": top_k, "state": state}
        found: dict[str, Any] = await retriever.run_async(**asked)
        return found

    def _searching(self, state: State) -> tuple[Any, searching.Limit]:
        """Give the retriever, whose own type Haystack does not know, and how long its vector may take."""
        retriever: Any = self.retriever
        return retriever, searching.limit_of(state, retriever.timeout_s)


def _unasked(error: Exception, limit: searching.Limit) -> searching.Found:
    """Report a search that was not asked, since the question got no vector; a caller's mistake is raised as it is."""
    if isinstance(error, ConfigurationError):
        raise error
    kind = kind_of(error)
    kind = limit.name if isinstance(error, TimeoutError) else kind
    logger.warning("search failed, since the question could not be embedded: {kind}", kind=kind)
    return searching.told(searching.Found([], {"status": "failed", "kind": kind}))
