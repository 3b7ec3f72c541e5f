"""Tracers of other kinds than OpenTelemetry's: they hear of the span above by an argument, and keep one for all."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.tracing.tracer import Span, Tracer, disable_tracing, enable_tracing, tracer
from makers import fill, grading_by, scripted
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from reading import in_new_process

from haystack_integrations.crag.observing.redaction import RedactingTracer
from haystack_integrations.crag.observing.telemetry import trace as trace_ours
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.tracing import enable_tracing as enable_ours


@dataclass
class Noted(Span):
    """A span on paper."""

    name: str
    above: Span | None
    tags: dict[str, Any]
    later: dict[str, Any] = field(default_factory=dict)

    def set_tag(self, key: str, value: Any) -> None:
        """Note a tag."""
        self.later[key] = value


class OneForAll(Tracer):
    """As Opik's and Weave's: what is current is one list for all threads and tasks, and only the argument nests."""

    def __init__(self) -> None:
        self.spans: list[Noted] = []
        self._open: list[Noted] = []

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Note a span; one that begins without a mapping of tags is lost, as Weave's."""
        if tags is None:
            msg = "wanted a mapping"
            raise TypeError(msg)
        span = Noted(operation_name, parent_span, tags)
        self.spans.append(span)
        self._open.append(span)
        try:
            yield span
        finally:
            self._open.pop()

    def current_span(self) -> Span | None:
        """Give the span that began last, whoever's it is."""
        return self._open[-1] if self._open else None


def root(span: Any) -> Noted:
    """Go up to the first span."""
    while span.above is not None:
        span = span.above
    return span  # type: ignore[no-any-return]


@pytest.fixture
def noted() -> Iterator[OneForAll]:
    """The tracer, switched on."""
    made = OneForAll()
    enable_tracing(made)
    yield made
    disable_tracing()


@pytest.fixture
def rag(in_memory_store: Any) -> Any:
    """A corrective pipeline as a part of another."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}.") for n in range(3)])
    outer = Pipeline()
    made = load("corrective_rag", store=in_memory_store, grader=grading_by(lambda _: 0.9), generator=scripted("So."))
    outer.add_component("rag", made)
    return outer


async def test_questions_side_by_side_are_a_trace_each_with_a_tracer_that_keeps_one_span_for_all(
    noted: OneForAll, rag: Any
) -> None:
    """Pipelines inside a pipeline as well: no span hangs below another question's, none begins a trace of its own."""
    enable_ours()
    await asyncio.gather(*(rag.run_async({"rag": {"query": f"Where {number}?"}}) for number in range(6)))
    by_root: dict[int, list[str]] = {}
    for span in noted.spans:
        by_root.setdefault(id(root(span)), []).append(span.name)
    assert len(by_root) == 6
    for names in by_root.values():
        assert [names.count(name) for name in ("haystack.pipeline.run", "crag.route", "crag.record")] == [2, 1, 1]
        assert names.count("crag.grade.call") <= 1
    above = [span.above for span in noted.spans if span.name == "crag.grade.call"]
    assert {span.name for span in above if isinstance(span, Noted)} == {"crag.grade"}


def test_a_span_begins_with_the_tags_that_are_known(noted: OneForAll) -> None:
    """Never without a mapping, which Weave's tracer cannot take; nothing stands for a value that is not there."""
    with trace_ours("crag.some", crag_documents_in=3, crag_score=None):
        pass
    assert [(span.tags, span.later) for span in noted.spans] == [({"crag.documents.in": 3}, {})]


def test_a_line_of_the_log_names_the_span_that_an_app_opened_inside_ours(spans: InMemorySpanExporter) -> None:
    """The innermost, whoever's it is; and ours again behind it."""

    def named() -> int:
        current = tracer.current_span()
        assert current is not None
        return int(current.get_correlation_data_for_logs()["span_id"])

    with trace_ours("crag.some"):
        before = named()
        with trace.get_tracer("app").start_as_current_span("inside") as inside:
            assert named() == inside.get_span_context().span_id
        assert named() == before


async def test_a_span_whose_generator_another_task_closed_is_not_current_any_more(noted: OneForAll) -> None:
    """A stream that its reader left is closed by the loop, which cannot take the span out of the reader's hand."""
    enable_ours()

    async def stream() -> AsyncGenerator[int, None]:
        with trace_ours("crag.stream"):
            yield 1
            yield 2

    reading = stream()
    assert await anext(reading) == 1
    await asyncio.create_task(reading.aclose())
    with trace_ours("crag.next"):
        pass
    assert [(span.name, span.above) for span in noted.spans] == [("crag.stream", None), ("crag.next", None)]


@component
class Asks:
    """A component that asks in its own way."""

    @component.output_types(value=int)
    def run(self, value: int) -> dict[str, int]:
        """Open a span by hand."""
        with tracer.trace("by hand", tags={}):
            return {"value": value}


def test_a_span_that_a_component_opens_by_hand_belongs_to_its_run(noted: OneForAll) -> None:
    """Without an argument for the span above, which Haystack's own tracers do not need."""
    enable_ours()
    pipeline = Pipeline()
    pipeline.add_component("asks", Asks())
    pipeline.run({"asks": {"value": 1}})
    (by_hand,) = (span for span in noted.spans if span.name == "by hand")
    assert root(by_hand).name == "haystack.pipeline.run"


_WRAPPING = """
from dataclasses import dataclass

from haystack import Pipeline, component
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.tracing import enable_tracing


class Wrapped:
    # Not the SDK's span, and it tells how it ended before it writes the exception down.
    def __init__(self, span):
        self.span = span

    def __getattr__(self, name):
        return getattr(self.span, name)

    def __exit__(self, kind, error, traceback):
        if error is not None:
            self.span.set_status(trace.StatusCode.ERROR, f"{kind.__name__}: {error}")
            self.span.record_exception(error)
        self.span.end()


trace.Span.register(Wrapped)


class Tracers(trace.Tracer):
    def __init__(self, tracer):
        self.tracer = tracer

    def start_span(self, *arguments, **options):
        return Wrapped(self.tracer.start_span(*arguments, **options))

    def start_as_current_span(self, name, **options):
        return trace.use_span(self.start_span(name, **options), end_on_exit=True)


@dataclass
class Provider(trace.TracerProvider):
    provider: TracerProvider

    def get_tracer(self, *arguments, **options):
        return Tracers(self.provider.get_tracer(*arguments, **options))

    def add_span_processor(self, processor):
        self.provider.add_span_processor(processor)


memory = InMemorySpanExporter()
inner = TracerProvider()
inner.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(Provider(inner))
enable_tracing()
enable_tracing()
print(len(inner._active_span_processor._span_processors), "processors")
client = trace.get_tracer("client")


@component
class Fails:
    @component.output_types(value=int)
    def run(self, query: str):
        with client.start_as_current_span("search"), client.start_as_current_span("http"):
            raise ValueError(query)


pipeline = Pipeline()
pipeline.add_component("fails", Fails())
request = client.start_span("request")
try:
    with trace.use_span(request):
        pipeline.run({"fails": {"query": "canary-7f3a"}})
except Exception as error:
    request.__exit__(type(error), error, None)
own = client.start_span("own")
own.__exit__(OSError, OSError("of the app"), None)
for span in memory.get_finished_spans():
    print(span.name, span.status.description, span.to_json().replace(chr(10), " "))
"""


def test_a_provider_that_wraps_the_sdk_is_guarded_as_the_sdk_itself() -> None:
    """As Logfire's: it cannot be in a set, its spans wrap the SDK's, and a status comes before the exception."""
    said = in_new_process(_WRAPPING)
    assert said.startswith("2 processors")
    assert "canary-7f3a" not in said
    for name in ("http", "search", "haystack.component.run", "haystack.pipeline.run", "request"):
        assert f"\n{name} " in said
    assert "\nrequest PipelineRuntimeError: text withheld" in said
    assert "\nown OSError: of the app" in said


@pytest.mark.parametrize("is_content", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        *("haystack.pipeline.input_data", "haystack.pipeline.output_data"),
        *("haystack.component.input", "haystack.component.output"),
        *("hayhooks.error.message", "hayhooks.error.stack", "hayhooks.payload.values"),
        *("exception.message", "exception.stacktrace"),
    ],
)
def test_a_tag_that_holds_what_a_user_wrote_leaves_with_content_only(
    name: str, is_content: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sets it, at once or later; Haystack and Hayhooks ask no switch about these."""
    monkeypatch.setattr(tracer, "is_content_tracing_enabled", is_content)
    noted = OneForAll()
    with RedactingTracer(noted).trace("some", tags={name: "a word"}) as span:
        span.set_tag(name, "a word")
        span.set_tag("other", 1)
    (told,) = noted.spans
    of_user = {name: "a word"} if is_content else {}
    assert (told.tags, told.later) == (of_user, {**of_user, "other": 1})


def test_where_no_span_is_open_there_is_none() -> None:
    assert RedactingTracer(OneForAll()).current_span() is None
