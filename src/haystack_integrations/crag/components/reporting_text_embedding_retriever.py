"""Dense retrieval as one component: the question's vector, and a search that says what it missed."""

import time
from asyncio import to_thread
from typing import Any, Final

from haystack import Document, component
from haystack.components.retrievers import TextEmbeddingRetriever

from haystack_integrations.crag.copying import Copied
from haystack_integrations.crag.deadlines import run_within, run_within_async
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import refuse_void
from haystack_integrations.crag.homes import runs_here
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.searches import (
    TIMEOUT_S,
    Filters,
    Limit,
    State,
    failed,
    limit_of,
    search_within,
    search_within_async,
    tells_of_itself,
    told,
    wanted,
)
from haystack_integrations.crag.settings import check_positive, check_whole
from haystack_integrations.crag.sockets import named, sockets_of

_BY_VECTOR: Final = ["query_embedding", "filters", "top_k"]


@component
@checked
class ReportingTextEmbeddingRetriever(Copied, TextEmbeddingRetriever):
    """
    Embeds a question and searches by the vector: `TextEmbeddingRetriever` that says when it failed or took too long.

    Documents stay in the order in which they were found. Haystack's sorts them by score, which turns the list upside
    down where scores are distances, as Chroma's are. `load` puts this one before a retriever by vectors that it is
    given.

    One component and not two: Haystack copies what goes from one to the next number by number, so that a vector of
    1,536 costs some 20 ms on the way.

    ```python
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.components import StaticTextEmbedder
    from haystack_integrations.crag.components.reporting_text_embedding_retriever import ReportingTextEmbeddingRetriever

    by_vector = InMemoryEmbeddingRetriever(InMemoryDocumentStore())
    retriever = ReportingTextEmbeddingRetriever(retriever=by_vector, text_embedder=StaticTextEmbedder())
    assert retriever.run(query="Who wrote Emma?") == {"documents": [], "report": {"status": "ok"}}
    ```
    """

    def __init__(self, *, retriever: Any, text_embedder: Any, timeout_s: float | None = None) -> None:
        """
        Choose retriever and embedder.

        :param retriever: A component with the inputs `query_embedding`, `filters`, `top_k` and the output `documents`.
            One that takes a `state` and gives a `report`, as `ReportingEmbeddingRetriever`, tells of itself.
        :param text_embedder: A component with the input `text` and the output `embedding`.
        :param timeout_s: The longest wait for vector and search, in seconds; less when the run has less left. None: the
            retriever's own `timeout_s`, or else 20; one that tells of itself has all of that for its search.
        :raises ConfigurationError: For something else than such components, or an unusable number.
        """
        for name, part, inputs, way_out in (
            ("retriever", retriever, _BY_VECTOR, "one that is asked by text goes into ReportingRetriever"),
            ("text_embedder", text_embedder, ["text"], "beside an embedder of documents take that of texts"),
        ):
            if lacks := [one for one in inputs if one not in (sockets_of(part, "input") or ())]:
                msg = f"{name} must be a component with the inputs {inputs}, but got {named(part)}, which lacks {lacks}"
                msg += f"; {way_out}"
                raise ConfigurationError(msg)
        if timeout_s is not None:
            check_positive({"timeout_s": timeout_s})
        TextEmbeddingRetriever.__init__(self, retriever=retriever, text_embedder=text_embedder)
        self.timeout_s = timeout_s

    def to_dict(self) -> dict[str, Any]:
        """Write the component down."""
        data: dict[str, Any] = TextEmbeddingRetriever.to_dict(self)
        data["init_parameters"]["timeout_s"] = self.timeout_s
        return data

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None) -> dict[str, Any]:
        """
        Search. An embedder that fails is a failed search, named by the kind of failure; so is one that hangs.

        :param query: The question.
        :param filters: Haystack filters of this run; None leaves them to the retriever.
        :param top_k: Most documents of this run; likewise.
        :param state: What the run knows: its deadline holds here, too.
        :returns: As `ReportingRetriever.run`, with the same errors.
        """
        self.warm_up()
        retriever, limit, began = self._begun(filters, top_k, state)
        try:
            vector = run_within(self.text_embedder, limit.seconds, {"text": query})["embedding"]
        except Exception as error:
            return told(failed(error, limit), wanted(retriever, top_k)).result()
        asked: dict[str, Any] = {"query_embedding": vector, "filters": filters, "top_k": top_k}
        if tells_of_itself(retriever):
            asked["state"] = state
            if self.timeout_s is None:  # its own holds
                return dict(retriever.run(**asked))
            try:
                return dict(run_within(retriever, limit.rest(began).seconds, asked))
            except TimeoutError as error:
                return told(failed(error, limit), wanted(retriever, top_k)).result()
        return told(search_within(retriever, asked, limit.rest(began)), wanted(retriever, top_k)).result()

    @component.output_types(documents=list[Document], report=dict[str, Any])
    async def run_async(
        self, query: str, filters: Filters = None, top_k: int | None = None, state: State = None
    ) -> dict[str, Any]:
        """Search on the event loop; see `run`."""
        await self.warm_up_async()
        retriever, limit, began = self._begun(filters, top_k, state)
        try:
            vector = (await run_within_async(self.text_embedder, limit.seconds, {"text": query}))["embedding"]
        except Exception as error:
            return told(failed(error, limit), wanted(retriever, top_k)).result()
        asked: dict[str, Any] = {"query_embedding": vector, "filters": filters, "top_k": top_k}
        if tells_of_itself(retriever):
            asked["state"] = state
            if self.timeout_s is None:
                if await runs_here(retriever):
                    return dict(await retriever.run_async(**asked))
                return dict(await to_thread(retriever.run, **asked))
            try:
                return dict(await run_within_async(retriever, limit.rest(began).seconds, asked))
            except TimeoutError as error:
                return told(failed(error, limit), wanted(retriever, top_k)).result()
        searched = await search_within_async(retriever, asked, limit.rest(began))
        return told(searched, wanted(retriever, top_k)).result()

    def _begun(self, filters: Filters, top_k: int | None, state: State) -> tuple[Any, Limit, float]:
        """Give the retriever, how long it all may take, and since when."""
        refuse_void(filters)
        if top_k is not None:
            check_whole("top_k", top_k)
        own = getattr(self.retriever, "timeout_s", TIMEOUT_S)
        limit = limit_of(state, own if self.timeout_s is None else self.timeout_s)
        return self.retriever, limit, time.monotonic()
