"""Traces and metrics of a served app go where, and by what, OpenTelemetry's variables say; real receivers take them."""

import gzip
import logging
import re
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from cli_runner import QUESTION, two_documents
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_messages
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_service
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_messages
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_service
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from reading import Figures
from serving.process import command

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.observing.otlp import check_authority, sends
from haystack_integrations.crag.serving.doubts import doubts
from haystack_integrations.crag.serving.logs import Undelivered
from haystack_integrations.crag.serving.settings import read_settings

ROUTE = "/corrective_retrieval/run"


class Collector:
    """What came in, by signal and way."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], set[str]] = {}

    def take(self, way: str, request: Any) -> None:
        for resource in getattr(request, "resource_metrics", None) or getattr(request, "resource_spans", ()):
            for scope in getattr(resource, "scope_metrics", None) or getattr(resource, "scope_spans", ()):
                signal_, entries = ("metrics", scope.metrics) if hasattr(scope, "metrics") else ("traces", scope.spans)
                self.names.setdefault((signal_, way), set()).update(entry.name for entry in entries)

    @contextmanager
    def by_grpc(self) -> Iterator[str]:
        """Listen by gRPC; the address."""
        server = grpc.server(ThreadPoolExecutor(2))

        class Taking(metrics_service.MetricsServiceServicer, trace_service.TraceServiceServicer):
            def Export(inner, request: Any, _: Any) -> Any:  # noqa: N802, N805 - gRPC's name
                self.take("grpc", request)
                of_metrics = isinstance(request, metrics_messages.ExportMetricsServiceRequest)
                return (
                    metrics_messages.ExportMetricsServiceResponse()
                    if of_metrics
                    else trace_messages.ExportTraceServiceResponse()
                )

        metrics_service.add_MetricsServiceServicer_to_server(Taking(), server)
        trace_service.add_TraceServiceServicer_to_server(Taking(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.stop(None)

    @contextmanager
    def by_http(self) -> Iterator[str]:
        """Listen by HTTP; the address."""
        collector = self

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                kind = (
                    metrics_messages.ExportMetricsServiceRequest
                    if self.path == "/v1/metrics"
                    else trace_messages.ExportTraceServiceRequest
                )
                collector.take("http", kind.FromString(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
            threading.Thread(target=server.serve_forever).start()
            try:
                yield f"http://127.0.0.1:{server.server_address[1]}"
            finally:
                server.shutdown()


@pytest.mark.parametrize(
    ("settings", "ways"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "HTTP"}, {("traces", "http"), ("metrics", "http")}),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "GRPC", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            {("traces", "grpc"), ("metrics", "grpc")},
        ),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "HTTP",
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "GRPC",
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc",
            },
            {("traces", "http"), ("metrics", "grpc")},
        ),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "GRPC",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_METRICS_EXPORTER": "none",
            },
            {("traces", "grpc")},
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "HTTP", "OTEL_TRACES_EXPORTER": "none"}, {("metrics", "http")}),
    ],
)
def test_each_signal_goes_by_its_own_protocol_or_not_at_all(
    settings: dict[str, str], ways: set[tuple[str, str]], tmp_path: Path
) -> None:
    """As the SDK's own start would read them: a collector may take one of the two only."""
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    collector = Collector()
    with collector.by_grpc() as over_grpc, collector.by_http() as over_http:
        addresses = {"GRPC": over_grpc, "HTTP": over_http}
        given = {name: addresses.get(value, value) for name, value in settings.items()}
        with command(tmp_path, *options, **given) as running:
            assert httpx.post(f"{running.url()}{ROUTE}", json={"question": QUESTION}).is_success
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(30) in (0, -signal.SIGTERM), running.log
    assert set(collector.names) == ways
    assert all("crag.route" in names for (kind, _), names in collector.names.items() if kind == "traces")
    assert all("crag.decisions" in names for (kind, _), names in collector.names.items() if kind == "metrics")
    assert "could not be sent" not in running.log


@pytest.mark.parametrize(
    ("exporters", "sent"), [("console, OTLP", True), ("console", False), ("none", False), (" ", True)]
)
def test_one_of_several_exporters_is_enough_to_send(
    monkeypatch: pytest.MonkeyPatch, exporters: str, sent: bool
) -> None:
    """As OpenTelemetry's variables are written: a list, in letters of any size; without a word it is OTLP."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", exporters)
    assert not sends("traces")  # nowhere
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/v1/traces")
    assert sends("traces") is sent
    assert not sends("metrics")


@pytest.mark.parametrize(("exporters", "told"), [("otlp", 1), ("jaeger", 1), ("none", 0), ("", 0)])
def test_traces_that_are_wanted_and_go_nowhere_are_told(
    exporters: str, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenTelemetry's own start sends to this machine where no address is set; here the address switches it on."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", exporters)
    assert sum("no traces are sent" in one for one in doubts(read_settings(api_keys="a-key"))) == told


@pytest.mark.parametrize("word", ["true", " TRUE "])
def test_an_sdk_that_is_switched_off_is_told_and_not_said_to_send(word: str, tmp_path: Path) -> None:
    """The log said that tracing is enabled, and the page of figures was without ours: no alert could ever fire."""
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    off = {"OTEL_SDK_DISABLED": word, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with command(tmp_path, *options, **off) as running:
        assert httpx.post(f"{running.url()}{ROUTE}", json={"question": QUESTION}).is_success
        assert "crag_" not in httpx.get(f"{running.url()}/metrics").text
    assert "OTEL_SDK_DISABLED is true, so no traces are sent, and /metrics has no figures" in running.log
    assert "tracing enabled" not in running.log


def test_workers_without_figures_are_not_told_where_to_send_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside it stood that there are no figures."""
    several = read_settings(api_keys="a-key", workers=2, store="elasticsearch", url="http://127.0.0.1:9")
    assert "2 workers has figures of its own" in "".join(doubts(several))
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    (told,) = doubts(several)
    assert told.startswith("OTEL_SDK_DISABLED is true")


@pytest.mark.parametrize(("settings", "heeds"), [({}, True), ({"OTEL_PROPAGATORS": "none"}, False)])
def test_the_trace_of_a_caller_is_gone_on_with_or_left_alone(
    settings: dict[str, str], heeds: bool, tmp_path: Path
) -> None:
    """By OpenTelemetry's own setting, for those who stand where anybody may send such headers; all are answered."""
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    trace, collector = "a" * 32, Collector()
    with collector.by_http() as address:
        with command(
            tmp_path, *options, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{address}/v1/traces", **settings
        ) as running:
            headers = {"traceparent": f"00-{trace}-{'b' * 16}-01"}
            answer = httpx.post(f"{running.url()}{ROUTE}", json={"question": QUESTION}, headers=headers)
    assert answer.status_code == 200
    assert (answer.headers["X-Trace-Id"] == trace) is heeds


@pytest.mark.parametrize(
    ("sampler", "told"), [("always-off", 1), ("traceidratio:some", 1), ("traceidratio:0.5", 0), ("always_off", 0)]
)
def test_a_sampler_that_is_misspelt_is_told(
    sampler: str, told: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenTelemetry records all traces then, and its word for it is that of a library, which goes to no log."""
    name, _, share = sampler.partition(":")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", name)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", share or "1.0")
    library = logging.getLogger("opentelemetry.sdk")
    monkeypatch.setattr(library, "handlers", [Undelivered()])
    monkeypatch.setattr(library, "propagate", False)
    TracerProvider()
    assert [record.getMessage().partition(" or ")[0] for record in caplog.records] == ["OTEL_TRACES_SAMPLER"] * told


@pytest.mark.parametrize("name", ["OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_MAX_QUEUE_SIZE"])
def test_a_number_of_the_queue_that_is_none_is_told_by_its_name(
    name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is no loss of traces: the log said that they could not be sent, with the default as the status."""
    figures = Figures(configure_metrics())
    monkeypatch.setenv(name, "CANARY")
    library = logging.getLogger("opentelemetry.sdk")
    monkeypatch.setattr(library, "handlers", [Undelivered()])
    monkeypatch.setattr(library, "propagate", False)
    BatchSpanProcessor(InMemorySpanExporter()).shutdown()
    assert f"{name} is no whole number, so its default holds: correct it." in caplog.messages
    assert "sent" not in caplog.text
    assert "CANARY" not in caplog.text
    assert figures.added("crag_telemetry_losses_total", signal="traces") == 0


def test_spans_that_a_full_queue_drops_are_told_once(tmp_path: Path) -> None:
    """Else a trace that lacks its half looks like a run that did less; the SDK counts them, where it is asked to."""
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    settings = {"OTEL_BSP_MAX_QUEUE_SIZE": "20", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10"}
    settings |= {"OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED": "true"}
    with socket.create_server(("127.0.0.1", 0)) as hole:
        address = f"http://CANARY:CANARY@127.0.0.1:{hole.getsockname()[1]}"
        with command(tmp_path, *options, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=address, **settings) as running:
            for _ in range(6):
                assert httpx.post(f"{running.url()}{ROUTE}", json={"question": QUESTION}).is_success
            page = httpx.get(f"{running.url()}/metrics").text
    assert running.log.count("Traces are dropped, since a collector takes fewer: see OTEL_BSP_MAX_QUEUE_SIZE") == 1
    assert "CANARY" not in running.log
    assert 'otel_sdk_processor_span_processed_total{error_type="queue_full"' in page
    assert re.search(r'^crag_telemetry_losses_total\{.*signal="traces"\} [1-9]', page, re.MULTILINE)


@pytest.mark.parametrize(
    ("answer", "reason", "told"),
    [
        (401, "CANARY", " (401)"),
        (grpc.StatusCode.UNAUTHENTICATED, "CANARY", " (UNAUTHENTICATED)"),
        (
            grpc.StatusCode.UNAVAILABLE,
            "CANARY: SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: CANARY",
            " (UNAVAILABLE, CERTIFICATE_VERIFY_FAILED)",
        ),
        (None, "CANARY", ""),
    ],
)
def test_a_collector_that_refuses_is_told_with_its_status(
    answer: object, reason: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing key is another matter than a collector that is down; its own words stay out of the log."""
    name, text = (
        "opentelemetry.exporter.otlp.proto.http.trace_exporter",
        "Failed to export %s batch code: %s, reason: %s",
    )
    Undelivered().handle(logging.LogRecord(name, logging.ERROR, "", 0, text, ("span", answer, reason), None))
    assert f"Traces could not be sent{told}: check OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS" in caplog.text
    assert "CANARY" not in caplog.text


def test_a_collector_that_cannot_be_reached_is_told_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    """The last word of who tried it is no more than that it was in vain; what failed stood in those before, as here."""
    name, tried = "opentelemetry.exporter.otlp.proto.http", "Transient error %s encountered while exporting %s batch"
    untrusted = ssl.SSLCertVerificationError()
    untrusted.verify_message = "self-signed certificate"
    wrapped = ConnectionError("CANARY")
    wrapped.__context__ = untrusted
    handler = Undelivered()
    for signal_, error in (("trace", wrapped), ("metric", ConnectionError("CANARY"))):
        logger = f"{name}.{signal_}_exporter"
        handler.handle(logging.LogRecord(logger, logging.WARNING, "", 0, tried, (error, "CANARY"), None))
        handler.handle(logging.LogRecord(logger, logging.ERROR, "", 0, "Failed to export %s batch", ("CANARY",), None))
    told = [record.getMessage().partition(":")[0] for record in caplog.records]
    assert told == [
        "Traces could not be sent (self-signed certificate)",
        "Metrics could not be sent (ConnectionError)",
    ]
    assert "CANARY" not in caplog.text


def test_a_collector_that_is_no_grpc_s_puts_no_line_of_a_library_into_the_log(tmp_path: Path) -> None:
    """gRPC's core wrote one in a form of its own for each try, which has no end."""
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    with Collector().by_http() as address:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": address.replace("http:", "https:")}
        with command(tmp_path, *options, OTEL_EXPORTER_OTLP_PROTOCOL="grpc", **settings) as running:
            assert httpx.post(f"{running.url()}{ROUTE}", json={"question": QUESTION}).is_success
            running.process.send_signal(signal.SIGTERM)  # what is left is tried to be sent
            running.process.wait(30)
    assert all(re.match(r"\d{4}-\d\d-\d\dT\S+ [A-Z]+ \w", line) for line in running.log.splitlines()), running.log


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_file_of_certificates_that_is_none_is_refused(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one is used; the server would look well, and nothing would ever be sent."""
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", str(file))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    check_authority("traces")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:9")
    with pytest.raises(ConfigurationError, match=r"OTEL_EXPORTER_OTLP_CERTIFICATE: got .*, wanted the PEM file"):
        check_authority("traces")


def test_a_loss_of_traces_is_told_beside_metrics_that_are_never_taken(caplog: pytest.LogCaptureFixture) -> None:
    """Jaeger refuses metrics each time: that must not be what keeps the other word from the log."""
    handler, figures = Undelivered(), Figures(configure_metrics())
    for name, text, level in (
        ("opentelemetry.exporter.otlp.proto.http.metric_exporter", "Failed to export %s batch", logging.ERROR),
        ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "Failed to export %s batch", logging.ERROR),
        ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "Transient error, retrying", logging.WARNING),
        ("opentelemetry.sdk._shared_internal", "Queue full, dropping %s.", logging.WARNING),
    ):
        for _ in range(2):
            handler.handle(logging.LogRecord(name, level, "", 0, text, ("Span",), None))
    told = [record.getMessage().partition(":")[0] for record in caplog.records]
    assert told == [
        "Metrics could not be sent",
        "Traces could not be sent",
        "Traces are dropped, since a collector takes fewer",
    ]
    # Each time, for an alert: the log says it once in ten minutes.
    assert figures.added("crag_telemetry_losses_total", signal="traces") == 4
    assert figures.added("crag_telemetry_losses_total", signal="metrics") == 2
