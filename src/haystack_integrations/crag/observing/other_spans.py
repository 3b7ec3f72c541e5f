"""
Spans that other libraries open by OpenTelemetry itself: Elasticsearch's client below ours, a web framework above.

They do not pass Haystack's tracer, and write an exception down with its text, which can hold a query or a filter. An
app's own spans, and their errors, stay as they are. Import this only where the OpenTelemetry SDK is there.
"""

from typing import Any, Final

from haystack.tracing.tracer import tracer
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor
from opentelemetry.trace import Status, StatusCode

from haystack_integrations.crag.errors import told
from haystack_integrations.crag.observing.redaction import WITHHELD, ours, stand_in, went_through_ours

# Marks, and no set of what has them: Logfire's provider cannot be in one, and what it hands out wraps the SDK's span.
_BELOW: Final = "crag_below"
_GUARDED: Final = "crag_guarded"


class ErrorGuard(SpanProcessor):
    """Keeps the texts of exceptions off spans below ours, and of those that came through ours off all others."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """
        Exchange what a span writes exceptions down with, before it can.

        :param span: The span that begins.
        :param parent_context: Where it begins.
        """
        parent = trace.get_current_span(parent_context)
        below = parent in ours or getattr(parent, _BELOW, False) is True
        if below:
            setattr(span, _BELOW, True)
        # The SDK has no hook before a span is final, so its two public methods are exchanged for this one span.
        words = _Words(span, below=below)
        span.record_exception = words.record_exception  # type: ignore[method-assign]
        span.set_status = words.set_status  # type: ignore[method-assign, unused-ignore]


def guard() -> None:
    """Guard the spans of the provider that is configured, once; nothing where it is not OpenTelemetry's SDK."""
    provider: Any = trace.get_tracer_provider()
    if hasattr(provider, "add_span_processor") and not hasattr(provider, _GUARDED):
        provider.add_span_processor(ErrorGuard())
        setattr(provider, _GUARDED, True)


class _Words:
    """What one span may say of exceptions."""

    def __init__(self, span: Span, *, below: bool) -> None:
        self._record, self._tell, self._withhold = span.record_exception, span.set_status, below
        self._said: tuple[Status | StatusCode, str | None] | None = None

    def record_exception(self, exception: BaseException, *arguments: Any, **options: Any) -> None:
        """Write an exception down, or only its class."""
        # What is written down is the whole traceback, however far behind an error of the app one of ours stands.
        self._withhold = self._withhold or any(map(went_through_ours, told(exception)))
        self._record(stand_in(exception) if self._withheld() else exception, *arguments, **options)
        if self._said is not None and self._withheld():
            self.set_status(*self._said)  # Logfire tells how the span ended before it writes the exception down

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        """Tell how the span ended; the SDK does so after it has written the exception down, with its text again."""
        if not self._withheld():
            self._said = (status, description)
            self._tell(status, description)
            return
        code = status.status_code if isinstance(status, Status) else status
        said = status.description if isinstance(status, Status) else description
        kind, colon, _ = (said or "").partition(": ")  # the SDK writes «ConnectionError: …»
        named = f"{kind}: {WITHHELD}" if colon and kind.isidentifier() else WITHHELD
        self._tell(Status(code, named if said else None))

    def _withheld(self) -> bool:
        return self._withhold and not tracer.is_content_tracing_enabled
