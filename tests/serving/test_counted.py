"""What a server counts of itself, for operators: requests by how they ended, and whether its store answers."""

import time
from typing import Any
from unittest.mock import AsyncMock

import pytest
from reading import Figures, in_new_process
from serving.conftest import QUESTION
from serving.failing import BrokenStore

from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.serving.doubts import doubts
from haystack_integrations.crag.serving.settings import read_settings

RUN = "/corrective_retrieval/run"


@pytest.fixture
def figures() -> Figures:
    """What a test adds to the figures on the page."""
    return Figures(configure_metrics())


def counted(figures: Figures, total: int) -> dict[tuple[str, str], float]:
    """The requests by route and status, when all are counted: an answer is read before it is."""
    end = time.monotonic() + 60
    while sum((found := figures.series("crag_requests_total")).values()) < total:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return {(dict(labels)["route"], dict(labels)["status"]): value for labels, value in found.items()}


def test_requests_are_counted_by_route_and_by_how_they_ended(figures: Figures, serve: Any) -> None:
    """A server whose every request fails has no other figure; what a client wrote is no label."""
    question = {"question": QUESTION}
    with serve(store=BrokenStore(index="test_broken_store")).client() as broken, serve().client() as client:
        assert broken.post(RUN, json=question).status_code == 500
        assert client.post(RUN, json=question).status_code == 200
        assert client.post(RUN, json={"question": ""}).status_code == 422
        assert client.post(RUN, json=question, headers={"Authorization": "x"}).status_code == 401
        assert client.get("/CANARY").status_code == 404
        assert client.get("/health/live").status_code == client.get("/metrics").status_code == 200
    wanted = {(RUN, "500"): 1, (RUN, "200"): 1, (RUN, "422"): 1, ("-", "401"): 1, ("-", "404"): 1}
    assert counted(figures, 5) == wanted


def test_whether_the_store_answers_is_a_figure(figures: Figures, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of the last time that readiness was asked for: nobody sends a question to an app that is not ready."""
    # Both servers are in this process: the watch of one would write over what the other was asked.
    monkeypatch.setattr("haystack_integrations.crag.serving.health._WATCHED_SECONDS", 3_600.0)
    for store, ready in ((None, 1), (BrokenStore(index="test_broken_store"), 0)):
        with serve(store=store).client() as client:
            client.get("/health/ready")
            assert figures.value("crag_ready") == ready


def test_whether_the_store_answers_is_a_figure_that_nobody_needs_to_ask_for(
    figures: Figures, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind nginx no probe asks; of several workers it reaches one, and the others would tell of an old failure."""
    monkeypatch.setattr("haystack_integrations.crag.serving.health._WATCHED_SECONDS", 0.05)
    store = BrokenStore(index="test_broken_store")
    monkeypatch.setattr("haystack_integrations.crag.serving.health._CACHED_SECONDS", 0.0)
    serve(store=store)
    for ready in (0, 1):
        end = time.monotonic() + 30
        while figures.value("crag_ready") != ready:
            assert time.monotonic() < end
            time.sleep(0.02)
        store.count_documents_async = AsyncMock(return_value=3)


def test_several_workers_behind_one_page_of_figures_are_told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prometheus would take the figures of two processes for those of one that counts backwards."""
    settings = read_settings(store="elasticsearch", url="http://127.0.0.1:9", api_keys="a-key", workers=2)
    (told,) = doubts(settings)
    assert "/metrics gives those of one of them: set OTEL_EXPORTER_OTLP_METRICS_ENDPOINT" in told
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert doubts(settings) == []


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "crag"),
        ({"OTEL_SERVICE_NAME": "mine"}, "mine"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=mine,team=a"}, "mine"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=its", "OTEL_SERVICE_NAME": "mine"}, "mine"),
    ],
)
def test_traces_and_figures_come_from_one_service(
    settings: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever Hayhooks calls itself: the name is what one looks for in Jaeger."""
    for setting, value in {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces", **settings}.items():
        monkeypatch.setenv(setting, value)
    code = """
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.serving.spans import trace_runs
from opentelemetry import metrics, trace
trace_runs()
configure_metrics()
for resource in (trace.get_tracer_provider().resource, metrics.get_meter_provider()._sdk_config.resource):
    print(resource.attributes["service.name"])
"""
    assert in_new_process(code).splitlines() == [name, name]
