"""Any store's retriever by vectors, asked by text, in the order in which it finds."""

from asyncio import to_thread
from typing import Any

from haystack import Document, component
from haystack.components.retrievers import TextEmbeddingRetriever

from haystack_integrations.crag.homes import runs_here
from haystack_integrations.crag.inputs import checked


@component
@checked
class OrderKeepingTextEmbeddingRetriever(TextEmbeddingRetriever):
    """
    Embeds a question and searches by the vector: Haystack's `TextEmbeddingRetriever` without its sorting by score.

    Some stores give distances as scores, as Chroma does: there the best document has the least, and sorted by score
    the list is upside down. `load` puts this one before a retriever by vectors that it is given.

    ```python
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.components import StaticTextEmbedder
    from haystack_integrations.crag.components.order_keeping_text_embedding_retriever import (
        OrderKeepingTextEmbeddingRetriever,
    )

    by_vector = InMemoryEmbeddingRetriever(InMemoryDocumentStore())
    retriever = OrderKeepingTextEmbeddingRetriever(retriever=by_vector, text_embedder=StaticTextEmbedder())
    assert retriever.run(query="Who wrote Emma?")["documents"] == []
    ```
    """

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        """
        Search.

        :param query: The question.
        :param filters: Haystack's filters.
        :param top_k: Most documents; None leaves it to the retriever.
        :returns: A dictionary with the following keys:
            - `documents`: What the retriever found, as it found it.
        """
        self.warm_up()
        vector = self.text_embedder.run(text=query)["embedding"]
        found = self.retriever.run(query_embedding=vector, filters=filters, top_k=top_k)
        return {"documents": found["documents"]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        """
        Search on the event loop, where embedder and retriever can, else in a thread; see `run`.

        :param query: As `run`.
        :param filters: As `run`.
        :param top_k: As `run`.
        :returns: As `run`.
        """
        await self.warm_up_async()
        vector = (await _run_async(self.text_embedder, text=query))["embedding"]
        found = await _run_async(self.retriever, query_embedding=vector, filters=filters, top_k=top_k)
        return {"documents": found["documents"]}


async def _run_async(part: Any, **inputs: Any) -> Any:
    if await runs_here(part):
        return await part.run_async(**inputs)
    return await to_thread(part.run, **inputs)
