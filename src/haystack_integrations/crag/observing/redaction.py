"""
Keeping content out of traces: a tracer around any other that lets through what has no text of a user.

Haystack exports the question as an ordinary tag (`haystack.pipeline.input_data`), whatever its content switch says, and
tracers write the text of exceptions, which can hold a question, a reply or a password. With the switch off, neither
leaves; of an exception its class does. With the switch on, everything passes.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from typing import Any, Final
from weakref import WeakSet

from haystack.tracing.tracer import NullSpan, Span, Tracer, tracer

from haystack_integrations.crag.errors import causes
from haystack_integrations.crag.observing.retrieval_tags import (
    COMPONENT,
    content_of,
    input_tags,
    is_retriever,
    output_tags,
)
from haystack_integrations.crag.observing.telemetry import set_tags

WITHHELD: Final = "text withheld"
"""Stands in the place of an exception's text."""

_CONTENT: Final = frozenset(
    {
        "haystack.pipeline.input_data",
        "haystack.pipeline.output_data",
        "haystack.component.input",
        "haystack.component.output",
        "hayhooks.error.message",
        "hayhooks.error.stack",
        "hayhooks.payload.values",
        "exception.message",
        "exception.stacktrace",
    }
)
"""Tags with text of a user, or of an exception, that somebody sets without asking the content switch."""

_STATIC: Final = frozenset(
    {
        "haystack.component.input_spec",
        "haystack.component.output_spec",
        "haystack.component.input_types",
        "haystack.component.fully_qualified_type",
    }
)
"""What stands in the YAML and is the same in every run: more text than all the rest of a trace."""

_PLUMBING: Final = "BranchJoiner"
"""Passes a value on; its spans would be a fifth of a trace, and tell nothing without content."""

_MOST_CAUSES: Final = 10
_MARK: Final = "crag_withheld"

ours: "WeakSet[Any]" = WeakSet()
"""The spans of the tracing library that are open below a redacting tracer."""


class RedactingTracer(Tracer):
    """
    Hands spans on without content, and tells numbers about what retrievers found.

    :param traced: The tracer that makes the spans.
    """

    def __init__(self, traced: Tracer) -> None:
        """Wrap a tracer."""
        self.traced = traced

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """
        Open a span.

        :param operation_name: Its name.
        :param tags: Its first tags.
        :param parent_span: The span above it, for tracers that want to be told.
        :returns: The span.
        """
        if (tags or {}).get(COMPONENT) == _PLUMBING and not tracer.is_content_tracing_enabled:
            yield NullSpan()
            return
        parent = parent_span or _innermost()  # a pipeline inside a component is begun without one
        above = parent.span if isinstance(parent, RedactingSpan) else parent
        retrieves, failure = is_retriever(tags or {}), None
        with suppress(_Withheld), self.traced.trace(operation_name, tags=_allowed(tags), parent_span=above) as span:
            with suppress(TypeError):  # of a library whose spans cannot be referred to weakly
                ours.add(span.raw_span())
            try:
                with _open(RedactingSpan(span, retrieves=retrieves)) as opened:
                    yield opened
            except Exception as error:
                set_tags(span, {"error.type": error_type(error)})
                _mark(error)
                if tracer.is_content_tracing_enabled:
                    raise
                failure = error
                raise stand_in(error) from None
            except BaseException as end:
                # A run whose client left: tracers do not see it, and the span would look whole.
                set_tags(span, {"error.type": error_type(end)})
                raise
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # its traceback holds this frame

    def current_span(self) -> Span | None:
        """Give the span that is open now, or None. Some tracers keep one for all threads and tasks, as Opik's does."""
        span, ours_now = self.traced.current_span(), _innermost()
        if ours_now is not None:
            # One that is not sampled is none to its tracer: a log line that named it would send to a trace of nobody.
            return RedactingSpan(ours_now.span, logged=span or NullSpan())
        return None if span is None else RedactingSpan(span)


class RedactingSpan(Span):
    """
    A span that drops content.

    :param span: Where the rest goes.
    :param retrieves: Whether it is a retriever's run, so that what it got and gave is told in numbers.
    :param logged: The span that log lines name, where an app has opened one of its own inside this one.
    """

    def __init__(self, span: Span, *, retrieves: bool = False, logged: Span | None = None) -> None:
        """Wrap a span."""
        self.span, self.is_open, self._retrieves, self._logged = span, True, retrieves, logged or span

    def set_tag(self, key: str, value: Any) -> None:
        """
        Set a tag, unless it is content that may not leave.

        :param key: Its name.
        :param value: Its value.
        """
        if key not in _CONTENT or tracer.is_content_tracing_enabled:
            self.span.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """
        Set a tag with content where content is traced; of a retriever's input and output, tell numbers anyway.

        :param key: Its name.
        :param value: Its value.
        """
        if tracer.is_content_tracing_enabled:
            self.span.set_content_tag(key, value)
        if self._retrieves and isinstance(value, Mapping):
            set_tags(self.span, (output_tags if key.endswith(".output") else input_tags)(value))
            if tracer.is_content_tracing_enabled:
                set_tags(self.span, content_of(value))

    def raw_span(self) -> Any:
        """Give the span of the tracing library itself; what is set there is not redacted."""
        return self.span.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """Give the ids by which log lines name this span."""
        return self._logged.get_correlation_data_for_logs()


_current: Final[ContextVar[RedactingSpan | None]] = ContextVar("crag_span", default=None)


def _innermost() -> RedactingSpan | None:
    """Give the span of this thread or task; one that ended is none, though a generator that was left may keep it."""
    span = _current.get()
    return span if span is not None and span.is_open else None


@contextmanager
def _open(span: RedactingSpan) -> Iterator[RedactingSpan]:
    token = _current.set(span)
    try:
        yield span
    finally:
        span.is_open = False
        with suppress(ValueError):  # a generator that another task closes
            _current.reset(token)


class _Withheld(Exception):  # noqa: N818 - a part that another class name is given to
    """Goes through the inner tracer in the place of an exception."""


def stand_in(error: BaseException) -> Exception:
    """
    Make an exception that a tracer may write down in the place of another.

    :param error: The exception.
    :returns: One whose class has the same name, and whose text says nothing.
    """
    kind = type(error)
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made: Exception = type(kind.__name__, (_Withheld,), named)(WITHHELD)
    return made


def error_type(error: BaseException) -> str:
    """
    Name what failed: Haystack wraps what a component raises, so it is the first cause.

    :param error: Any exception.
    :returns: The name of its class.
    """
    *_, first = islice(causes(error), _MOST_CAUSES)
    return type(first).__qualname__


def went_through_ours(error: BaseException) -> bool:
    """
    Tell whether an exception left a span of ours, so that its text may be a user's.

    :param error: Any exception.
    :returns: The answer.
    """
    return getattr(error, _MARK, False) is True


def _mark(error: BaseException) -> None:
    for link in causes(error):  # an app may unwrap what Haystack wraps, and raise that
        with suppress(AttributeError):
            setattr(link, _MARK, True)


def _allowed(tags: dict[str, Any] | None) -> dict[str, Any]:
    left_out = _STATIC if tracer.is_content_tracing_enabled else _STATIC | _CONTENT
    return {name: value for name, value in (tags or {}).items() if name not in left_out}
