"""Tracing of a server: set up as the environment says, one trace for a request, and no address as a client wrote it."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from hayhooks.server.tracing import configure_tracing
from hayhooks.settings import settings as hayhooks_settings
from opentelemetry import metrics, trace
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

from haystack_integrations.crag.tracing import enable_tracing

# By the older and the newer names: which ones are written is a setting of OpenTelemetry.
_ADDRESSES: Final = ("http.url", "http.target", "url.full", "url.path", "url.query")
_UNKNOWN: Final = "-"

# Probes and scrapers come every few seconds, and ask nothing that anybody would look up.
_NO_QUESTIONS: Final = ("/health/", "/metrics$")
_EXCLUDED: Final = "OTEL_PYTHON_FASTAPI_EXCLUDED_URLS"
_FLUSH_SECONDS: Final = 5.0


def trace_runs() -> None:
    """Let Hayhooks set tracing up by the variables of OpenTelemetry, then keep content off the spans."""
    hayhooks_settings.tracing_include_haystack_spans = False  # its buffer is read by routes that are not served here
    if configure_tracing():
        enable_tracing()


def trace_requests(app: FastAPI) -> None:
    """
    Begin a span for each request.

    :param app: The app, with all its routes.
    """
    # Hayhooks' own call of the same, but with a hook.
    excluded = ",".join(filter(None, (*_NO_QUESTIONS, os.environ.get(_EXCLUDED))))
    FastAPIInstrumentor.instrument_app(
        app,
        exclude_spans=["send", "receive"],
        excluded_urls=excluded,
        server_request_hook=_without_address(app),
    )


async def send_rest() -> None:
    """Send what has not been sent yet: a signal ends the process before OpenTelemetry would do so by itself."""
    for provider in (trace.get_tracer_provider(), metrics.get_meter_provider()):
        flush = getattr(provider, "force_flush", None)  # only the SDK's own have it
        if flush is not None:
            await asyncio.to_thread(flush, int(1000 * _FLUSH_SECONDS))


def _without_address(app: FastAPI) -> Callable[[Any, dict[str, Any]], None]:
    known = {route.path for route in iter_route_contexts(app.routes)}

    def begun(span: Any, scope: dict[str, Any]) -> None:
        """Keep the path of a route; what else stands in an address is the client's, and may be a key."""
        written = getattr(span, "attributes", None) or {}
        for name in _ADDRESSES:
            if name in written:
                path = scope["path"] if scope["path"] in known and name != "url.query" else _UNKNOWN
                span.set_attribute(name, path)

    return begun
