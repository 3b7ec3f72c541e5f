"""CorrectiveRetriever: a whole corrective retrieval in a retriever's place, by one entry of a YAML file."""

import asyncio
from typing import Any, Final

from haystack import Document, SuperComponent, component
from haystack.document_stores.types import DocumentStore

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.loader import load, names, read
from haystack_integrations.crag.settings import check_positive

_WANTED: Final = {"documents", "crag"}


@component
class CorrectiveRetriever:
    """
    Retrieves, judges, searches once more where that may help, and hands on what answers: nothing, where nothing does.

    It stands where a retriever stood: same input `query`, same output `documents`, same `document_store` and `top_k`.
    Inside runs a shipped pipeline, so what that decides is decided here, and is in the record.

    ```python
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.pipelines import CorrectiveRetriever

    store = InMemoryDocumentStore()
    store.write_documents([Document(content="A refund is paid within 14 days after the goods have arrived.")])
    retriever = CorrectiveRetriever(store)
    assert len(retriever.run(query="When is a refund paid?")["documents"]) == 1
    nothing = retriever.run(query="Who repairs bicycles?")
    assert (nothing["documents"], nothing["crag"]["action"]) == ([], "abstain")
    ```
    """

    def __init__(
        self,
        document_store: DocumentStore,
        *,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        candidates: int = 10,
        grader: Any = None,
        mode: str | None = None,
        pipeline: str = "corrective_retrieval",
        settings: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """
        Choose the store, and what runs on it. Nothing is opened before `warm_up` or the first question.

        :param document_store: An in-memory or Elasticsearch store. Documents without embeddings are found by their
            words only.
        :param top_k: Most documents handed on, best first.
        :param filters: Haystack's filters for every search; those of a run replace them.
        :param candidates: Documents to retrieve and judge, from each retriever; at least `top_k` are.
        :param grader: A grader component, or a chat generator for the pipeline's own grader; None keeps that grader,
            which asks no model.
        :param mode: `enforce`, `observe` or `off`; None leaves the pipeline's own, `enforce`.
        :param pipeline: A shipped pipeline, or a YAML file of your own, that hands on documents and writes no answer.
        :param settings: Settings that replace those of the YAML, by component: `{"router": {"max_iterations": 1}}`.
        :raises ConfigurationError: For a number below 1, or a pipeline that is not there or gives something else.
        """
        check_positive({"top_k": top_k, "candidates": candidates})
        given = read(pipeline)["outputs"]
        if not set(given) >= _WANTED or "answers" in given:
            fitting = [name for name in names() if set(read(name)["outputs"]) == _WANTED]
            msg = f"the pipeline {pipeline!r} gives {sorted(given)}; wanted {sorted(_WANTED)}, as {fitting} give"
            raise ConfigurationError(msg)
        self.document_store, self.top_k, self.filters, self.candidates = document_store, top_k, filters, candidates
        self.grader, self.mode, self.pipeline, self.settings = grader, mode, pipeline, settings
        self._loaded: SuperComponent | None = None

    def warm_up(self) -> None:
        """
        Load the pipeline on the store, once.

        :raises ConfigurationError: For a store or a setting that the pipeline does not know.
        :raises StoreError: When the store's server cannot be reached.
        """
        self._opened().warm_up()

    async def warm_up_async(self) -> None:
        """
        Load the pipeline without blocking the event loop; see `warm_up`.

        :raises ConfigurationError: As `warm_up`.
        :raises StoreError: As `warm_up`.
        """
        loaded = self._loaded if self._loaded is not None else await asyncio.to_thread(self._opened)
        await loaded.warm_up_async()

    def close(self) -> None:
        """Close what the pipeline opened."""
        if self._loaded is not None:
            self._loaded.close()

    async def close_async(self) -> None:
        """Close what the pipeline opened on the event loop."""
        if self._loaded is not None:
            await self._loaded.close_async()

    @component.output_types(documents=list[Document], crag=dict[str, Any])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        mode: str | None = None,
    ) -> dict[str, Any]:
        """
        Retrieve what answers a question.

        :param query: The question.
        :param filters: In place of the component's own.
        :param top_k: In place of the component's own.
        :param mode: In place of the component's own.
        :returns: A dictionary with the following keys:
            - `documents`: At most `top_k`, best first, each with its grade in `meta["crag"]`; empty when nothing
                answers.
            - `crag`: The record: verdict, action, corrections, cost, trail.
        :raises ConfigurationError: For a question that is empty or too long, or a `top_k` below 1.
        """
        most = self._most(top_k)
        return _first(self._opened().run(**self._inputs(query, filters, most, mode)), most)

    @component.output_types(documents=list[Document], crag=dict[str, Any])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        mode: str | None = None,
    ) -> dict[str, Any]:
        """
        Retrieve without blocking the event loop; see `run`.

        :param query: The question.
        :param filters: In place of the component's own.
        :param top_k: In place of the component's own.
        :param mode: In place of the component's own.
        :returns: As `run`.
        :raises ConfigurationError: As `run`.
        """
        await self.warm_up_async()
        most = self._most(top_k)
        return _first(await self._opened().run_async(**self._inputs(query, filters, most, mode)), most)

    def _opened(self) -> SuperComponent:
        if self._loaded is None:
            parts = {"store": self.document_store, "grader": self.grader, **(self.settings or {})}
            self._loaded = load(self.pipeline, **parts)
        return self._loaded

    def _most(self, top_k: int | None) -> int:
        most = self.top_k if top_k is None else top_k
        check_positive({"top_k": most})
        return most

    def _inputs(self, query: str, filters: dict[str, Any] | None, most: int, mode: str | None) -> dict[str, Any]:
        given = {"filters": self.filters if filters is None else filters, "mode": self.mode if mode is None else mode}
        wanted = {"query": query, "top_k": max(most, self.candidates), **given}
        return {name: value for name, value in wanted.items() if value is not None}


def _first(result: dict[str, Any], most: int) -> dict[str, Any]:
    return {"documents": result["documents"][:most], "crag": result["crag"]}
