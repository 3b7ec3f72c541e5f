"""Tracing of a server: set up as the environment says, one trace for a request, and no address as a client wrote it."""

import asyncio
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from hayhooks.server.tracing import configure_tracing
from hayhooks.settings import settings as hayhooks_settings
from haystack.tracing.tracer import is_tracing_enabled
from opentelemetry import metrics, propagate, trace
from opentelemetry.context import Context, get_current
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from haystack_integrations.crag.chat_model import is_address
from haystack_integrations.crag.deadlines import call_within_async
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.observing.otlp import Signal, check_authority, endpoint, exporters, protocol, sends
from haystack_integrations.crag.observing.variables import variables_named
from haystack_integrations.crag.tracing import enable_tracing

# By the older and the newer names: which ones are written is a setting of OpenTelemetry.
_ADDRESSES: Final = ("http.url", "http.target", "url.full", "url.path")
# Nothing of these is ours.
_WRITTEN: Final = ("url.query", "http.server_name", "http.user_agent", "user_agent.original")
_WITHHELD: Final = "-"

# Probes and scrapers come every few seconds, and ask nothing that anybody would look up.
_NO_QUESTIONS: Final = ("/health/", "/metrics$")
_EXCLUDED: Final = "OTEL_PYTHON_FASTAPI_EXCLUDED_URLS"
_HEADERS: Final = [
    f"OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_{which}"
    for which in ("SERVER_REQUEST", "SERVER_RESPONSE", "SANITIZE_FIELDS")
]
_FLUSH_SECONDS: Final = 5.0
_SERVICE: Final = "crag"

_SIGNALS: Final[tuple[Signal, ...]] = ("traces", "metrics")

# A parent that nobody records. OpenTelemetry's own sampler heeds it; the others that a setting may name do not.
_UNSEEN: Final = NonRecordingSpan(SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(TraceFlags.DEFAULT)))


class _Heeding(Sampler):
    """Drops what begins below the parent that nobody records, and leaves all else to a sampler."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def should_sample(self, parent_context: Context | None, *others: Any, **named: Any) -> SamplingResult:
        if trace.get_current_span(parent_context).get_span_context().trace_id == _UNSEEN.get_span_context().trace_id:
            return SamplingResult(Decision.DROP)
        return self._sampler.should_sample(parent_context, *others, **named)

    def get_description(self) -> str:
        return self._sampler.get_description()


class _Deaf(TextMapPropagator):
    """Takes nothing from a caller, and tells nobody anything."""

    def extract(self, carrier: Any, context: Context | None = None, *_: Any, **__: Any) -> Context:
        del carrier
        return get_current() if context is None else context

    def inject(self, *_: Any, **__: Any) -> None:
        pass

    @property
    def fields(self) -> set[str]:
        return set()


@variables_named()
def trace_runs() -> None:
    """
    Let Hayhooks set tracing up by the variables of OpenTelemetry, then keep content off the spans.

    :raises ConfigurationError: For an address, protocol or variable that cannot be used: nothing would ever be sent.
    """
    _check_sending()
    _name_service()
    if propagate.extract({}) is None:
        # OpenTelemetry's own where OTEL_PROPAGATORS is `none`: no request would be answered.
        propagate.set_global_textmap(_Deaf())
    hayhooks_settings.tracing_include_haystack_spans = False  # its buffer is read by routes that are not served here
    by_agent = _has_agent()
    # Hayhooks heeds no OTEL_TRACES_EXPORTER; what an app has set up before stays.
    if by_agent or is_tracing_enabled() or sends("traces"):
        if not by_agent and not configure_tracing():
            msg = (
                "got variables of OpenTelemetry with which no trace can be sent (the line above says why), wanted such "
                "as can; correct them, or set OTEL_TRACES_EXPORTER=none"
            )
            raise ConfigurationError(msg)
        enable_tracing()
        provider: Any = trace.get_tracer_provider()
        if hasattr(provider, "sampler") and not isinstance(provider.sampler, _Heeding):
            provider.sampler = _Heeding(provider.sampler)  # of the tracers that clients get from now on


def _has_agent() -> bool:
    """Tell whether `opentelemetry-instrument`, or an agent like it, records traces, wherever it sends them."""
    named = exporters("traces")
    has_provider = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    return has_provider and named not in ([], ["none"])  # an agent sets it where nobody did


def untraced() -> AbstractContextManager[Any]:
    """Keep the spans that a client opens by itself, such as Elasticsearch's, from being traces of their own."""
    return trace.use_span(_UNSEEN)


@variables_named()
def trace_requests(app: FastAPI) -> None:
    """
    Begin a span for each request, and count none: the labels would be what a client without a key wrote.

    :param app: The app, with all its routes.
    :raises ConfigurationError: For a variable that holds no regular expressions, and should.
    """
    if getattr(app, "_is_instrumented_by_opentelemetry", False):
        # `opentelemetry-instrument` was first, and would tell addresses, probes and each part that is sent.
        FastAPIInstrumentor.uninstrument_app(app)
        app.middleware_stack = None  # that has built it, so nothing of what follows would be in it
    for name in _HEADERS:
        for pattern in os.environ.get(name, "").split(","):
            re.compile(pattern.strip())  # the first request would fail at it, and so would all others
    # Hayhooks' own call of the same, but with a hook.
    excluded = ",".join(filter(None, (*_NO_QUESTIONS, os.environ.get(_EXCLUDED))))
    FastAPIInstrumentor.instrument_app(
        app,
        exclude_spans=["send", "receive"],
        excluded_urls=excluded,
        server_request_hook=_without_address(app),
        meter_provider=NoOpMeterProvider(),
    )


async def send_rest() -> None:
    """Send what has not been sent yet: a signal ends the process before OpenTelemetry would do so by itself."""
    providers: tuple[Any, ...] = (trace.get_tracer_provider(), metrics.get_meter_provider())
    await asyncio.gather(*(_flush(provider) for provider in providers if hasattr(provider, "force_flush")))


async def _flush(provider: Any) -> None:
    """Wait no longer than agreed: the SDK does not heed its own limit, and a collector may take and never answer."""
    with suppress(TimeoutError):
        await call_within_async(_FLUSH_SECONDS, partial(provider.force_flush, int(1000 * _FLUSH_SECONDS)))


def _check_sending() -> None:
    for signal in filter(sends, _SIGNALS):
        check_authority(signal)
        name, value = endpoint(signal)
        if protocol(signal) != "grpc" and not is_address(value):  # there HOST:PORT is one as well
            msg = (
                f"{name}: got no address of a collector (it is not shown), wanted http://HOST:PORT; correct or unset it"
            )
            raise ConfigurationError(msg)


def _name_service() -> None:
    """Give traces and metrics one name where nobody did: Hayhooks calls them its own, and heeds only this variable."""
    if any(map(sends, _SIGNALS)):
        named = OTELResourceDetector().detect().attributes.get(SERVICE_NAME) or _SERVICE
        os.environ["OTEL_SERVICE_NAME"] = str(named)


def _without_address(app: FastAPI) -> Callable[[Any, dict[str, Any]], None]:
    known = {route.path for route in iter_route_contexts(app.routes)}

    def begun(span: Any, scope: dict[str, Any]) -> None:
        """Keep the path of a route; what else stands in an address is the client's, and may be a key."""
        written = getattr(span, "attributes", None) or {}
        path = scope["path"] if scope["path"] in known else _WITHHELD
        for name in (*_ADDRESSES, *_WRITTEN):
            if name in written:
                span.set_attribute(name, path if name in _ADDRESSES else _WITHHELD)

    return begun
