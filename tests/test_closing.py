"""Nested parts are closed by whichever door they have."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.caching import MemoryGradeCache
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.components.web_fallback import WebFallback


class Model:
    """A chat generator that knows no event loops."""

    def __init__(self) -> None:
        """Be open."""
        self.closed = 0

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Say nothing."""
        return {"replies": []}

    def close(self) -> None:
        """Count it."""
        self.closed += 1


class Source(Model):
    """A web search or a ranker that knows no event loops."""

    def run(self, query: str, documents: list[Document] | None = None) -> dict[str, Any]:  # type: ignore[override]
        """Find nothing."""
        return {"documents": []}


NESTED: dict[str, tuple[type[Model], Callable[[Any], Any]]] = {
    "answer": (Model, AnswerGenerator),
    "grader": (Model, lambda part: BatchRelevanceGrader(part, cache=MemoryGradeCache())),
    "expander": (Model, lambda part: QueryExpander(mode="llm", chat_generator=part)),
    "follow-up": (Model, FollowUpRewriter),
    "strips by model": (Model, lambda part: StripRefiner(scorer="llm", chat_generator=part)),
    "strips by ranker": (Source, lambda part: StripRefiner(scorer="ranker", ranker=part)),
    "ranker": (Source, RankerGrader),
    "web": (Source, WebFallback),
    "webs": (Source, lambda part: WebFallback([part])),
}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("name", NESTED)
def test_a_nested_part_that_knows_only_close_is_closed_by_both_doors(name: str, asynchronous: bool) -> None:
    """As a pipeline does with its own components: connections of a part do not outlive it."""
    made, around = NESTED[name]
    part, pipeline = made(), Pipeline()
    pipeline.add_component("it", around(part))
    if asynchronous:
        asyncio.run(pipeline.close_async())
    else:
        pipeline.close()
    assert part.closed == 1
