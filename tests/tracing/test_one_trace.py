"""One question is one trace, whatever threads and tasks ran, and no span is without its parent (promise P11)."""

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from haystack import Document, component
from makers import fill, grading_by, run_by_door, scripted
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from reading import orphans, traces
from waiting import eventually_async

from haystack_integrations.crag.caching import MemoryGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.pipelines import load

RUNS = 80
MUST: tuple[str, ...] = ("haystack.pipeline.run", "crag.grade", "crag.grade.call", "crag.route", "crag.record")


@component
class Search:
    """A web search that blocks, so that it runs in threads."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Give one page."""
        return {"documents": [Document(content="Canary birds sing in trees.", meta={"url": "https://example.org/x"})]}


class Sleepy:
    """A chat generator that takes its time, by either door."""

    def __init__(self, score: Callable[[str], float]) -> None:
        self._model = grading_by(score)

    def run(self, messages: list[Any]) -> Any:
        """Answer at once."""
        return self._model.run(messages)

    async def run_async(self, messages: list[Any]) -> Any:
        """Answer after a moment, so that runs overlap."""
        await asyncio.sleep(random.uniform(0, 0.02))
        return self._model.run(messages)


@pytest.fixture
def rag(in_memory_store: Any) -> Any:
    """All that makes threads: windows, a cache, a web search that blocks, refinement beside it."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}. " * 20) for n in range(30)])
    grader = BatchRelevanceGrader(
        Sleepy(lambda text: 0.9 if "trees" in text else 0.5),  # type: ignore[arg-type]
        max_prompt_tokens=700,
        cache=MemoryGradeCache(),
    )
    return load(
        "paper_rag",
        store=in_memory_store,
        grader=grader,
        generator=scripted("In cages [1]."),
        web=WebFallback(Search()),
    )


def check(spans: InMemorySpanExporter, runs: int, must: tuple[str, ...] = MUST) -> None:
    """One trace for each run, with all of it, and one root in each."""
    finished = spans.get_finished_spans()
    found = traces(finished)
    assert len(found) == runs
    assert orphans(finished) == []
    for members in found.values():
        assert [span.name for span in members if span.parent is None] == ["haystack.pipeline.run"]
        assert set(must) <= {span.name for span in members}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_run_with_windows_web_and_refinement_is_one_trace(
    spans: InMemorySpanExporter, rag: Any, asynchronous: bool
) -> None:
    """By either door."""
    run_by_door(rag, asynchronous=asynchronous, query="Where?", budget={"llm_calls": 40})
    check(spans, 1, (*MUST, "crag.web", "crag.guard", "crag.refine", "crag.join"))


async def test_runs_side_by_side_on_one_loop_are_a_trace_each(spans: InMemorySpanExporter, rag: Any) -> None:
    """Many of them; those who share a grading with others, too."""
    await asyncio.gather(*(rag.run_async(query=f"Where {number % 50}?") for number in range(RUNS)))
    check(spans, RUNS, ("haystack.pipeline.run", "crag.grade", "crag.route", "crag.record"))


def test_runs_in_threads_are_a_trace_each(spans: InMemorySpanExporter, rag: Any) -> None:
    """From a pool, whose threads have no trace of their own."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(lambda number: rag.run(query=f"Where {number}?"), range(40)))
    check(spans, 40)


def test_a_run_inside_an_apps_span_belongs_to_its_trace(spans: InMemorySpanExporter, rag: Any) -> None:
    """As below a web framework's request."""
    with trace.get_tracer("app").start_as_current_span("request"):
        rag.run(query="Where?")
    assert len(traces(spans.get_finished_spans())) == 1
    assert orphans(spans.get_finished_spans()) == []


async def test_a_cancelled_run_leaves_no_span_open(spans: InMemorySpanExporter, rag: Any) -> None:
    """Its spans end with it, and nothing of the next run belongs to it."""
    task = asyncio.create_task(rag.run_async(query="Where?"))
    assert await eventually_async(spans.get_finished_spans)  # it is under way
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await rag.run_async(query="Where else?")
    await asyncio.sleep(0.1)
    finished = spans.get_finished_spans()
    assert len(traces(finished)) == 2
    assert orphans(finished) == []
