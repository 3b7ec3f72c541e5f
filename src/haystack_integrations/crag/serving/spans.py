"""Tracing of a server: set up as the environment says, one trace for a request, and no address as a client wrote it."""

from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from hayhooks.server.tracing import configure_tracing
from hayhooks.settings import settings as hayhooks_settings
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

from haystack_integrations.crag.tracing import enable_tracing

# By the older and the newer names: which ones are written is a setting of OpenTelemetry.
_ADDRESSES: Final = ("http.url", "http.target", "url.full", "url.path", "url.query")
_UNKNOWN: Final = "-"


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
    FastAPIInstrumentor.instrument_app(
        app, exclude_spans=["send", "receive"], server_request_hook=_without_address(app)
    )


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
