"""Filters that restrict nothing or everything, and that no pipeline takes."""

import asyncio
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from haystack import Document, component
from haystack.components.retrievers import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.errors import FilterError
from makers import fill

from haystack_integrations.crag.components import (
    ReportingRetriever,
    ReportingTextEmbeddingRetriever,
    StaticTextEmbedder,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import is_void
from haystack_integrations.crag.pipelines import CorrectiveRetriever, load
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.state import CragState

YEAR, TOPIC = ({"field": f"meta.{name}", "operator": "==", "value": 1} for name in ("year", "topic"))


@pytest.mark.parametrize(
    ("filters", "void"),
    [
        ({"operator": "OR", "conditions": []}, True),
        ({"operator": "OR", "conditions": {}}, True),
        ({"operator": "OR", "conditions": {"field": "meta.year"}}, True),
        ({"operator": "AND", "conditions": [YEAR, {"operator": "NOT", "conditions": ()}]}, True),
        ({"operator": "AND", "conditions": [YEAR]}, False),
        ({"operator": "AND", "conditions": (YEAR, TOPIC)}, False),
        ({**YEAR, "conditions": []}, False),
        ([], True),
        ((), True),
        ("", True),
        (False, True),
        ({"operator": "OR", "conditions": [YEAR, []]}, True),
        (MappingProxyType({"operator": "OR", "conditions": [YEAR, MappingProxyType({"conditions": []})]}), True),
        (MappingProxyType({}), False),
        ({}, False),
        (None, False),
    ],
)
def test_filters_with_a_list_of_nothing_are_void(filters: Any, void: bool) -> None:
    """As a whole or within."""
    assert is_void(filters) is void


@pytest.mark.parametrize("operator", ["AND", "OR", "NOT"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_list_of_nothing_that_may_be_seen_opens_no_store(
    in_memory_store: Any, operator: str, asynchronous: bool
) -> None:
    """To Haystack's store in memory, all of no conditions hold of each document."""
    fill(in_memory_store, [Document(content="A refund is paid within 30 days of the return.", meta={"year": 1})])
    nothing = {"operator": "AND", "conditions": [{"operator": operator, "conditions": []}]}
    for made in (load("corrective_retrieval", store=in_memory_store), CorrectiveRetriever(in_memory_store)):
        asked: dict[str, Any] = {"query": "When is a refund paid?"}
        assert made.run(**asked, filters=YEAR)["documents"]
        with pytest.raises(FilterError, match="empty list of conditions"):
            asyncio.run(made.run_async(**asked, filters=nothing)) if asynchronous else made.run(
                **asked, filters=nothing
            )


@component
class Telling:
    """A retriever of somebody's own that reports by itself."""

    def __init__(self, retriever: InMemoryEmbeddingRetriever) -> None:
        self.retriever = retriever

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        state: CragState | None = None,
    ) -> dict[str, Any]:
        """Search."""
        return {**self.retriever.run(query_embedding, filters, top_k), "report": {"status": "ok"}}


@pytest.mark.parametrize("operator", ["AND", "OR", "NOT"])
async def test_a_list_of_nothing_opens_no_store_to_a_retriever_in_an_apps_own_pipeline(
    in_memory_store: Any, operator: str
) -> None:
    """Where no loaded pipeline stands before it."""
    fill(in_memory_store, [Document(content="A refund is paid within 30 days of the return.", meta={"year": 1})])
    bm25 = ReportingRetriever(InMemoryBM25Retriever(in_memory_store))
    vectors = InMemoryEmbeddingRetriever(in_memory_store)
    dense = ReportingTextEmbeddingRetriever(retriever=vectors, text_embedder=StaticTextEmbedder())
    asked: dict[str, Any] = {"query": "When is a refund paid?"}
    own = ReportingTextEmbeddingRetriever(retriever=Telling(vectors), text_embedder=StaticTextEmbedder())
    for retriever in (bm25, dense, own):
        assert retriever.run(**asked, filters=YEAR)["documents"]
        with pytest.raises(FilterError, match="empty list of conditions"):
            retriever.run(**asked, filters={"operator": operator, "conditions": []})
        with pytest.raises(FilterError, match="empty list of conditions"):
            await retriever.run_async(**asked, filters={"operator": operator, "conditions": []})


@pytest.mark.parametrize("filters", [[], (), "", 0, False, [YEAR]])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_filters_that_are_no_mapping_open_no_store(in_memory_store: Any, filters: Any, asynchronous: bool) -> None:
    """As the list that somebody in no team has: Python takes it for none, and the whole store was searched."""
    fill(in_memory_store, [Document(content="A refund is paid within 30 days of the return.", meta={"year": 1})])
    asked: dict[str, Any] = {"query": "When is a refund paid?"}
    made: list[Any] = [
        load("corrective_retrieval", store=in_memory_store),
        *(CorrectiveRetriever(in_memory_store, filter_policy=policy) for policy in ("replace", "merge")),
    ]
    for retriever in made:
        assert retriever.run(**asked, filters={})["documents"]
        with pytest.raises(FilterError, match="as filters, wanted a mapping"):
            asyncio.run(retriever.run_async(**asked, filters=filters)) if asynchronous else retriever.run(
                **asked, filters=filters
            )


@pytest.mark.parametrize("policy", ["replace", "merge"])
def test_filters_of_a_retrievers_own_that_are_no_mapping_open_no_store(in_memory_store: Any, policy: str) -> None:
    """Nor do those of a run, which would take their place."""
    own: Any = []
    with pytest.raises(FilterError, match="as filters, wanted a mapping"):
        CorrectiveRetriever(in_memory_store, filters=own, filter_policy=policy).run(query="When?", filters=YEAR)


@pytest.mark.parametrize("nothing", [[], "", {"operator": "OR", "conditions": []}])
@pytest.mark.parametrize("part", ["bm25", "dense"])
def test_filters_of_nothing_among_a_retrievers_settings_open_no_store(
    in_memory_store: Any, tmp_path: Path, nothing: Any, part: str
) -> None:
    """Haystack's retrievers took them for none, and found all; set by `load`, or written into a file."""
    said = rf"the component '{part}'.*: got .*filters"
    with pytest.raises(ConfigurationError, match=said):
        load("corrective_retrieval", store=in_memory_store, **{part: {"filters": nothing}})
    spec, own = read("corrective_retrieval"), tmp_path / "own.yml"
    settings = spec["components"][part]["init_parameters"]
    settings.get("retriever", {"init_parameters": settings})["init_parameters"]["filters"] = nothing
    own.write_text(yaml.safe_dump(spec))
    for store in (in_memory_store, None):
        with pytest.raises(ConfigurationError, match=said):
            load(own, store=store)
