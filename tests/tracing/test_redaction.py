"""What a trace never holds by default, whoever makes the spans; and what the switch lets through."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.joiners import BranchJoiner
from haystack.tracing.tracer import Span, Tracer, enable_tracing, tracer
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from reading import everything, in_new_process, named

from haystack_integrations.crag.observing.redaction import RedactingTracer
from haystack_integrations.crag.tracing import enable_tracing as enable_ours

SECRET = "canary-7f3a"


@component
class AnyRetriever:
    """Retrieves through a client that traces itself, as Elasticsearch's does, and fails when it is told to."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """Find one document."""
        with trace.get_tracer("client").start_as_current_span("search"):
            if query.startswith("fail"):
                msg = f"cannot parse {query}"
                raise ValueError(msg)
        return {"documents": [Document(content=SECRET, score=0.5)]}


@pytest.fixture
def pipeline() -> Pipeline:
    """One retriever."""
    made = Pipeline()
    made.add_component("anything", AnyRetriever())
    return made


def ask(pipeline: Pipeline, query: str) -> None:
    """Run; what it raises keeps its text and its cause."""
    try:
        pipeline.run({"anything": {"query": query, "top_k": 4}})
    except Exception as error:
        assert SECRET in str(error)
        assert SECRET in str(error.__cause__)
        assert isinstance(error.__cause__, ValueError)
        raise


async def test_a_run_whose_client_left_does_not_look_like_one_that_ended(spans: InMemorySpanExporter) -> None:
    """Every span that was open says what ended it; those before it are as they are."""
    begun = asyncio.Event()

    @component
    class Hanging:
        """Never ends."""

        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            raise AssertionError

        @component.output_types(documents=list[Document])
        async def run_async(self, query: str) -> dict[str, Any]:
            begun.set()
            await asyncio.sleep(60)
            raise AssertionError

    made = Pipeline()
    made.add_component("first", AnyRetriever())
    made.add_component("hanging", Hanging())
    running = asyncio.create_task(made.run_async({"first": {"query": "x"}, "hanging": {"query": SECRET}}))
    await asyncio.wait_for(begun.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (run,) = named(spans, "haystack.pipeline.run")
    ended = {part["haystack.component.name"]: part.get("error.type") for part in named(spans, "haystack.component.run")}
    assert run["error.type"] == ended["hanging"] == "CancelledError"
    assert ended.get("first") is None


def test_a_question_is_no_attribute(spans: InMemorySpanExporter, pipeline: Pipeline) -> None:
    """Haystack sets `haystack.pipeline.input_data` whatever its content switch says; here it is gone."""
    ask(pipeline, SECRET)
    assert SECRET not in everything(spans.get_finished_spans())
    (run,) = named(spans, "haystack.pipeline.run")
    assert run["haystack.pipeline.execution_mode"] == "sync"
    (retrieval,) = named(spans, "haystack.component.run")
    assert (retrieval["gen_ai.request.top_k"], retrieval["crag.documents.out"]) == (4, 1)


def test_an_exception_is_its_class_on_every_span_it_goes_through(
    spans: InMemorySpanExporter, pipeline: Pipeline
) -> None:
    """The client's span below ours, ours, and the app's above; the caller gets it as it was raised."""
    with pytest.raises(Exception, match=SECRET), trace.get_tracer("app").start_as_current_span("request"):
        ask(pipeline, f"fail {SECRET}")
    finished = spans.get_finished_spans()
    assert SECRET not in everything(finished)
    said = {span.name: (span.status.status_code, span.status.description) for span in finished}
    assert said == {
        "search": (StatusCode.ERROR, "ValueError: text withheld"),
        "haystack.component.run": (StatusCode.ERROR, "PipelineRuntimeError: text withheld"),
        "haystack.pipeline.run": (StatusCode.ERROR, "PipelineRuntimeError: text withheld"),
        "request": (StatusCode.ERROR, "PipelineRuntimeError: text withheld"),
    }
    kinds = {span.name: (span.events[0].attributes or {})["exception.type"] for span in finished}
    assert kinds["search"] == "ValueError"
    assert kinds["request"] == "haystack.core.errors.PipelineRuntimeError"
    assert named(spans, "haystack.component.run")[0]["error.type"] == "ValueError"


def raises_another_while_handling(pipeline: Pipeline) -> None:
    """Without `from`: Python keeps what was being handled, and a traceback prints it."""
    try:
        ask(pipeline, f"fail {SECRET}")
    except Exception:
        raise RuntimeError("search failed")  # noqa: B904


def handles_far_behind(pipeline: Pipeline) -> None:
    """Eleven errors of the app, each raised from the one before."""
    try:
        raises_another_while_handling(pipeline)
    except RuntimeError as error:
        chain: Exception = error
    for number in range(11):
        try:
            raise LookupError(number) from chain
        except LookupError as error:
            chain = error
    raise chain


def raises_what_was_wrapped(pipeline: Pipeline) -> None:
    """Haystack's wrapper is taken off."""
    try:
        ask(pipeline, f"fail {SECRET}")
    except Exception as error:
        raise KeyError("search") from error.__cause__


def asks_in_a_task_group(pipeline: Pipeline) -> None:
    """What its tasks raise comes out as the members of a group, here of a group in a group."""

    async def one() -> None:
        await pipeline.run_async({"anything": {"query": f"fail {SECRET}"}})

    async def inner() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(one())

    async def outer() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(inner())

    asyncio.run(outer())


@pytest.mark.parametrize(
    ("fails", "name"),
    [
        (raises_another_while_handling, "RuntimeError"),
        (handles_far_behind, "LookupError"),
        (raises_what_was_wrapped, "KeyError"),
        (asks_in_a_task_group, "ExceptionGroup"),
    ],
)
def test_an_error_of_the_app_is_its_class_where_its_traceback_would_tell_one_of_ours(
    spans: InMemorySpanExporter, pipeline: Pipeline, fails: Callable[[Pipeline], None], name: str
) -> None:
    """OpenTelemetry writes down all that a traceback prints, not the chain of causes alone."""
    with pytest.raises(Exception) as raised, trace.get_tracer("app").start_as_current_span("request"):
        fails(pipeline)
    assert type(raised.value).__name__ == name
    finished = spans.get_finished_spans()
    assert SECRET not in everything(finished)
    (request,) = (span for span in finished if span.name == "request")
    assert request.status.description == f"{name}: text withheld"


def test_an_error_of_the_app_whose_traceback_tells_none_of_ours_keeps_its_text(
    spans: InMemorySpanExporter, pipeline: Pipeline
) -> None:
    """Raised `from None`, it says what the app wrote, and nothing else is printed."""
    with pytest.raises(RuntimeError), trace.get_tracer("app").start_as_current_span("request"):
        try:
            ask(pipeline, f"fail {SECRET}")
        except Exception:
            raise RuntimeError("search failed") from None
    seen = everything(spans.get_finished_spans())
    assert "search failed" in seen
    assert "cannot parse" not in seen


def test_an_apps_own_errors_keep_their_text(spans: InMemorySpanExporter) -> None:
    """Turning tracing on takes nothing from what is not ours."""
    with pytest.raises(ValueError, match="mine"), trace.get_tracer("app").start_as_current_span("own"):
        raise ValueError("mine")
    assert "mine" in everything(spans.get_finished_spans())


@pytest.mark.usefixtures("content")
def test_the_switch_shows_all_of_it(spans: InMemorySpanExporter, pipeline: Pipeline) -> None:
    """Inputs, outputs, texts of exceptions."""
    ask(pipeline, SECRET)
    with pytest.raises(Exception, match=SECRET):
        ask(pipeline, f"fail {SECRET}")
    finished = spans.get_finished_spans()
    assert SECRET in named(spans, "haystack.pipeline.run")[0]["haystack.pipeline.input_data"]
    failed = [str(span.status.description) for span in finished if not span.status.is_ok]
    assert failed
    assert all(SECRET in said for said in failed)


def joined() -> Pipeline:
    """A retriever behind a joiner, as our pipelines have them."""
    made = Pipeline()
    made.add_component("joiner", BranchJoiner(str))
    made.add_component("anything", AnyRetriever())
    made.connect("joiner.value", "anything.query")
    return made


def test_what_the_yaml_says_is_not_said_in_every_trace(spans: InMemorySpanExporter) -> None:
    """No types of sockets, no runs of what only passes a value on."""
    joined().run({"joiner": {"value": SECRET}})
    (retrieval,) = named(spans, "haystack.component.run")
    assert {key for key in retrieval if key.startswith("haystack.")} == {
        "haystack.component.name",
        "haystack.component.type",
        "haystack.component.visits",
    }


@pytest.mark.usefixtures("content")
def test_what_passes_a_value_on_is_shown_with_content(spans: InMemorySpanExporter) -> None:
    """Then it tells something: the value."""
    joined().run({"joiner": {"value": SECRET}})
    assert {run["haystack.component.name"] for run in named(spans, "haystack.component.run")} == {"joiner", "anything"}


class Notebook(Tracer):
    """A tracer of another kind, which writes down what it is given, as Hayhooks' buffer does."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.above: list[Span | None] = []

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """Write down name, tags and errors."""
        self.lines.append(f"{operation_name} {tags}")
        self.above.append(parent_span)
        try:
            yield Page(self)
        except Exception as error:
            self.lines.append(f"{type(error).__name__}: {error}")
            raise

    def current_span(self) -> Span | None:
        """Tell of no span."""
        return None


class Page(Span):
    """A span of the notebook."""

    def __init__(self, book: Notebook) -> None:
        self.book = book

    def set_tag(self, key: str, value: Any) -> None:
        """Write it down."""
        self.book.lines.append(f"{key}={value}")


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    """Haystack traced by another tracer, redacted."""
    book, before = Notebook(), tracer.actual_tracer
    enable_tracing(RedactingTracer(book))
    yield book
    enable_tracing(before)


def test_any_tracer_can_be_wrapped(notebook: Notebook, pipeline: Pipeline) -> None:
    """It sees names, numbers and classes of errors, and spans of its own as parents."""
    with pytest.raises(Exception, match=SECRET):
        ask(pipeline, f"fail {SECRET}")
    text = "\n".join(notebook.lines)
    assert SECRET not in text
    assert "PipelineRuntimeError: text withheld" in text
    assert "error.type=ValueError" in text
    outermost, *others = notebook.above
    assert outermost is None
    assert others
    assert all(isinstance(above, Page) for above in others)  # by which tracers such as Langfuse's build the tree


def test_tags_that_others_set_later_are_looked_at_too(notebook: Notebook) -> None:
    """Hayhooks writes an error's message and stack on its own spans, through Haystack's tracer."""
    with tracer.trace("hayhooks.pipeline.run", tags={"hayhooks.transport": "rest"}) as span:
        span.set_tag("hayhooks.error.message", SECRET)
        span.set_tag("hayhooks.error.stack", SECRET)
        span.set_tag("hayhooks.error.type", "ValueError")
        span.set_content_tag("anything", SECRET)
    text = "\n".join(notebook.lines)
    assert SECRET not in text
    assert "hayhooks.error.type=ValueError" in text


def test_a_tracer_that_is_there_already_is_wrapped_once(notebook: Notebook) -> None:
    """Hayhooks sets its own up first; a second call changes nothing."""
    enable_tracing(notebook)
    enable_ours()
    wrapped = tracer.actual_tracer
    assert isinstance(wrapped, RedactingTracer)
    assert wrapped.traced is notebook
    enable_ours()
    assert tracer.actual_tracer is wrapped


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("", "such as Langfuse's traces, warm up its pipeline first"),
        ("haystack_integrations.tracing", "crag-haystack[trace]"),
    ],
    ids=["no provider", "no package"],
)
def test_what_is_missing_is_said_with_the_way_out(missing: str, said: str) -> None:
    """Tracing into nothing would look like tracing."""
    code = f"""
import sys
if {missing!r}:
    sys.modules[{missing!r} + ".opentelemetry"] = None
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.tracing import enable_tracing
try:
    enable_tracing()
except ConfigurationError as error:
    print(error)
"""
    assert said in in_new_process(code)
