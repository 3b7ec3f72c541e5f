"""Spans and figures as an app gets them: through the public doors, with the real OpenTelemetry SDK behind."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from reading import Figures

from haystack_integrations.crag.metrics_export import configure_metrics


@pytest.fixture(scope="session")
def provider() -> Any:
    """The process's tracer provider: OpenTelemetry takes one for good, so another test may have set it."""
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(TracerProvider())
    return trace.get_tracer_provider()


@pytest.fixture(scope="session")
def memory(provider: Any) -> InMemorySpanExporter:
    """Where the spans of the process go in these tests."""
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def spans(memory: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    """Tracing as `enable_tracing()` sets it up."""
    from haystack.tracing.tracer import disable_tracing

    from haystack_integrations.crag.tracing import enable_tracing

    enable_tracing()
    memory.clear()
    yield memory
    disable_tracing()


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    """Haystack's content switch, on."""
    from haystack.tracing.tracer import tracer

    monkeypatch.setattr(tracer, "is_content_tracing_enabled", True)


@pytest.fixture
def figures() -> Figures:
    """What a test adds to the figures on the Prometheus page."""
    return Figures(configure_metrics())
