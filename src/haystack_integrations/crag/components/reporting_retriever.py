"""ReportingRetriever: any retriever, bounded by the run's deadline, whose failure is a report and ends no run."""

from typing import Any

from haystack import Document, component, default_to_dict
from haystack.core.serialization import component_to_dict

from haystack_integrations.crag.closing import close_all, close_all_async
from haystack_integrations.crag.copying import Copied
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.searches import (
    TIMEOUT_S,
    Filters,
    Limit,
    State,
    limit_of,
    search_within,
    search_within_async,
    told,
    wanted,
)
from haystack_integrations.crag.settings import check_positive, check_whole
from haystack_integrations.crag.sockets import sockets_of


@component
@checked
class ReportingRetriever(Copied):
    """
    Asks a retriever of any store, and says when it failed or took too long.

    Alone its error would end the run, and what the other retriever found would be lost. Here it is a report that
    CragRouter reads: what was not searched may answer, so nothing is `incorrect`. `load` puts this one around a
    retriever that it is given.

    ```python
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.components.reporting_retriever import ReportingRetriever

    retriever = ReportingRetriever(InMemoryBM25Retriever(InMemoryDocumentStore()))
    assert retriever.run(query="Who wrote Emma?") == {"documents": [], "report": {"status": "ok"}}
    ```
    """

    def __init__(self, retriever: Any, *, timeout_s: float = TIMEOUT_S) -> None:
        """
        Choose the retriever.

        :param retriever: A component with the input `query` and the output `documents`. It is run in a thread where it
            has no `run_async` for the event loop.
        :param timeout_s: The longest wait for a search, in seconds; less when the run has less left.
        :raises ConfigurationError: For something else than a retriever that is asked by text, or an unusable number.
        """
        if "query" not in (sockets_of(retriever, "input") or ()):
            msg = (
                f"retriever must be a component with the input `query`, but got {type(retriever).__name__}; one by "
                "vectors goes into ReportingTextEmbeddingRetriever(retriever=..., text_embedder=...)"
            )
            raise ConfigurationError(msg)
        check_positive({"timeout_s": timeout_s})
        self.retriever, self.timeout_s = retriever, timeout_s

    def to_dict(self) -> dict[str, Any]:
        """Write the component down."""
        retriever = component_to_dict(self.retriever, "retriever")
        data: dict[str, Any] = default_to_dict(self, retriever=retriever, timeout_s=self.timeout_s)
        return data

    def warm_up(self) -> None:
        """Make the retriever ready."""
        if hasattr(self.retriever, "warm_up"):
            self.retriever.warm_up()

    async def warm_up_async(self) -> None:
        """Make the retriever ready on this event loop."""
        if hasattr(self.retriever, "warm_up_async"):
            await self.retriever.warm_up_async()
        else:
            self.warm_up()

    def close(self) -> None:
        """Release what the retriever holds."""
        close_all([self.retriever])

    async def close_async(self) -> None:
        """Release what the retriever holds on this event loop."""
        await close_all_async([self.retriever])

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None) -> dict[str, Any]:
        """
        Search.

        :param query: The question.
        :param filters: Haystack filters of this run; None leaves them to the retriever.
        :param top_k: Most documents of this run; likewise.
        :param state: What the run knows: its deadline holds here, too.
        :returns: A dictionary with the following keys:
            - `documents`: What was found, in rank order.
            - `report`: `status`, `ok` or `failed`, and of a failure its `kind`: `timeout`, `deadline`, or the name of
              the error's class.
        :raises Exception: What the retriever raises for a mistake in its program, in settings or filters.
        """
        self.warm_up()
        found = search_within(self.retriever, *self._asking(query, filters, top_k, state))
        return told(found, wanted(self.retriever, top_k)).result()

    @component.output_types(documents=list[Document], report=dict[str, Any])
    async def run_async(
        self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search on the event loop; see `run`."""
        await self.warm_up_async()
        found = await search_within_async(self.retriever, *self._asking(query, filters, top_k, state))
        return told(found, wanted(self.retriever, top_k)).result()

    def _asking(self, query: str, filters: Filters, top_k: int | None, state: State) -> tuple[dict[str, Any], Limit]:
        if top_k is not None:
            check_whole("top_k", top_k)
        given = {"query": query, "filters": filters, "top_k": top_k}
        return {name: one for name, one in given.items() if one is not None}, limit_of(state, self.timeout_s)
