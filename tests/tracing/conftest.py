"""Spans and figures as an app gets them: through the public doors, with the real OpenTelemetry SDK behind."""

import pytest
from reading import Figures

from haystack_integrations.crag.metrics_export import configure_metrics


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    """Haystack's content switch, on."""
    from haystack.tracing.tracer import tracer

    monkeypatch.setattr(tracer, "is_content_tracing_enabled", True)


@pytest.fixture
def figures() -> Figures:
    """What a test adds to the figures on the Prometheus page."""
    return Figures(configure_metrics())
