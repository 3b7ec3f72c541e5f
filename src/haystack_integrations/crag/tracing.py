"""
Tracing for an app of your own, in one line.

```python
from haystack_integrations.crag.tracing import enable_tracing
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

trace.set_tracer_provider(TracerProvider())  # yours, with an exporter
enable_tracing()
assert enable_tracing() is None  # a second time changes nothing
```
"""

from haystack.tracing.tracer import Tracer, is_tracing_enabled, tracer
from haystack.tracing.tracer import enable_tracing as enable

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.observing.evaluations import enable_evaluation_events
from haystack_integrations.crag.observing.redaction import RedactingTracer

_INSTALL = 'pip install "crag-haystack[trace]"'


def enable_tracing(*, evaluation_events: bool = False) -> None:
    """
    Send Haystack's spans, and ours below them, to the OpenTelemetry provider that is configured, without content.

    Where Haystack is traced already (Hayhooks has set it up, or a connector), that tracer stays and is wrapped. Content
    (questions, documents, replies, texts of exceptions) leaves only with Haystack's own switch,
    `HAYSTACK_CONTENT_TRACING_ENABLED=true`. Call it after the provider is set, or after the `warm_up` of a pipeline
    with a connector that traces, which would put its tracer in the place of this one; calling it again changes nothing.

    :param evaluation_events: Also send a log event `gen_ai.evaluation.result` for each judged document, at most 50 of a
        grading, to the OpenTelemetry logger provider that is configured.
    :raises ConfigurationError: When no OpenTelemetry provider is configured, or `opentelemetry-haystack` is missing.
    """
    traced: Tracer = tracer.actual_tracer if is_tracing_enabled() else _by_opentelemetry()
    if not isinstance(traced, RedactingTracer):
        enable(RedactingTracer(traced))
    _guard_other_spans()
    if evaluation_events:
        enable_evaluation_events()


def _by_opentelemetry() -> Tracer:
    try:
        from opentelemetry import trace

        from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
    except ImportError as error:
        msg = f"tracing needs opentelemetry-haystack, but {error.name!r} is missing; run {_INSTALL}"
        raise ConfigurationError(msg) from None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        msg = (
            "tracing needs an OpenTelemetry provider, but none is configured; call "
            "opentelemetry.trace.set_tracer_provider(...) first, with an exporter to your collector; where a connector "
            "such as Langfuse's traces, warm up its pipeline first"
        )
        raise ConfigurationError(msg)
    made: Tracer = OpenTelemetryTracer(trace.get_tracer("crag"))
    return made


def _guard_other_spans() -> None:
    """Keep texts of exceptions off the spans that clients, such as Elasticsearch's, open by themselves below ours."""
    try:
        from haystack_integrations.crag.observing.other_spans import guard
    except ImportError:  # spans go somewhere else than to OpenTelemetry's SDK
        return
    guard()
