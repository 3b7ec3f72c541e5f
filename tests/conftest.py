"""Shared by all tests: no outside network, no settings of the machine, versions in the header."""

import logging
import os
import socket
from collections.abc import Iterator
from importlib.metadata import version
from ipaddress import ip_address
from typing import Any
from uuid import uuid4

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# A machine may need a proxy to install the services behind the tests; what listens on loopback is not asked through it.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ",".join(
    filter(None, (os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), "127.0.0.1,localhost,::1"))
)

import pytest
from hypothesis import settings

# How many examples property tests try is decided here and nowhere else; a deadline would time this machine's load.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("long", deadline=None, max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))

pytest_plugins = ["service_fixtures", "scripted_model", "model_faults", "metasearch", "failing_model"]

_PACKAGES = ("haystack-ai", "elasticsearch-haystack", "elasticsearch", "model2vec", "pydantic")


def pytest_report_header() -> str:
    """Name the versions that a failure depends on."""
    return ", ".join(f"{name} {version(name)}" for name in _PACKAGES)


_SETTINGS = (
    *("KB_AGENT_", "CRAG_LLM_", "CRAG_SEARXNG_", "CRAG_STORE", "CRAG_INDEX"),
    *("OPENAI_", "ELASTIC_API_KEY", "ELASTICSEARCH_CA_CERTS", "OTEL_"),
    "COLUMNS",  # the processes of `pytest -n` have it
)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No setting of the machine or of a `.env` above the repository reaches a test."""
    for name in list(os.environ):
        if name.startswith(_SETTINGS):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    """No log lines: thousands of made-up runs would write nothing else. Of a module, as Hypothesis wants it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine is a failed test, whatever client makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host != "localhost" and not ip_address(host.split("%", maxsplit=1)[0]).is_loopback:
                msg = f"a test tried to reach {host}; only loopback is allowed"
                raise AssertionError(msg)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def exporter() -> Iterator[Any]:
    """Haystack's tracing through OpenTelemetry, into memory."""
    from haystack.tracing.tracer import disable_tracing, enable_tracing
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer

    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    enable_tracing(OpenTelemetryTracer(provider.get_tracer("test")))
    yield memory
    disable_tracing()
    provider.shutdown()


@pytest.fixture(scope="session")
def provider() -> Any:
    """The process's tracer provider: OpenTelemetry takes one for good, so another test may have set it."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(TracerProvider())
    return trace.get_tracer_provider()


@pytest.fixture(scope="session")
def memory(provider: Any) -> Any:
    """Where the spans of the process go."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def spans(memory: Any) -> Iterator[Any]:
    """Tracing as `enable_tracing()` sets it up: the spans of a test."""
    from haystack.tracing.tracer import disable_tracing

    from haystack_integrations.crag.tracing import enable_tracing

    enable_tracing()
    memory.clear()
    yield memory
    disable_tracing()


@pytest.fixture
def in_memory_store() -> Iterator[Any]:
    """An empty in-memory store of its own; the class shares data by index name within the process."""
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    yield InMemoryDocumentStore(index=f"test_{uuid4().hex}", embedding_similarity_function="cosine")
