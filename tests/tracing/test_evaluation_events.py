"""Log events of judged documents, as a collector receives them by OTLP: opt-in, without content, below their span."""

import gzip
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import opentelemetry._logs
import pytest
from haystack import Document, component
from makers import grade_by_door, grading_by
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.observing import evaluations
from haystack_integrations.crag.tracing import enable_tracing

QUESTION = "Where do canary birds sing?"
_received: list[Any] = []


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
            for scope in resource.scope_logs:
                _received.extend(scope.log_records)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def logger_provider() -> Iterator[LoggerProvider]:
    """The logger provider of an app, which sends to a collector; a process has one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Taking) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider = LoggerProvider()
        exporter = OTLPLogExporter(f"http://127.0.0.1:{server.server_address[1]}/v1/logs")
        provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        yield provider
        provider.shutdown()
        server.shutdown()


@pytest.fixture
def collector(
    logger_provider: LoggerProvider, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Any]]:
    """What a collector has received since the test began, from an app that asked for events."""
    monkeypatch.setattr(opentelemetry._logs, "get_logger_provider", lambda: logger_provider)
    monkeypatch.setattr(opentelemetry._logs, "get_logger", logger_provider.get_logger)
    enable_tracing(evaluation_events=True)
    _received.clear()
    yield _received
    evaluations._loggers.clear()


def docs(count: int) -> list[Document]:
    """Documents with ids of a user's own."""
    return [
        Document(id=f"canary/{n}.pdf", content=f"Canary birds sing in cage {n}", meta={"n": n}) for n in range(count)
    ]


def read(event: Any) -> dict[str, Any]:
    """An event's attributes."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in event.attributes}


@component
class Even:
    """A ranker that finds all documents equally good."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Score."""
        return {"documents": [replace(document, score=0.5) for document in documents]}


GRADERS: dict[str, Any] = {
    "model": lambda: BatchRelevanceGrader(grading_by(lambda _: 0.9)),
    "heuristic": HeuristicGrader,
    "ranker": lambda: RankerGrader(Even(), scale="unit"),
}


@pytest.mark.parametrize(
    ("name", "asynchronous"),
    [("model", False), ("model", True), ("ranker", False), ("ranker", True), ("heuristic", False)],
)
def test_each_judged_document_is_an_event_below_its_gradings_span(
    collector: list[Any], spans: InMemorySpanExporter, name: str, asynchronous: bool
) -> None:
    """With its score, and nothing of a text or of an id that carries meaning."""
    grader: Any = GRADERS[name]()
    result = grade_by_door(grader, QUESTION, docs(2), asynchronous=asynchronous)
    told = [read(event) for event in collector]
    assert [event.event_name for event in collector] == ["gen_ai.evaluation.result"] * 2
    assert [one["gen_ai.evaluation.score.value"] for one in told] == pytest.approx(result["scores"])
    assert {one["gen_ai.evaluation.name"] for one in told} == {"relevance"}
    (span,) = [span for span in spans.get_finished_spans() if span.name == "crag.grade"]
    assert span.context is not None
    assert {(int.from_bytes(one.trace_id), int.from_bytes(one.span_id)) for one in collector} == {
        (span.context.trace_id, span.context.span_id)
    }
    assert "canary" not in str(collector).lower()


def test_a_failed_grade_is_an_event_without_a_score(collector: list[Any]) -> None:
    """Its kind says why."""
    grader = BatchRelevanceGrader(grading_by(lambda _: 7.0))
    grader.run(query=QUESTION, documents=docs(1))
    (told,) = map(read, collector)
    assert told["error.type"] == "invalid"
    assert told["crag.grade.status"] == "failed"
    assert "gen_ai.evaluation.score.value" not in told


def test_of_many_documents_fifty_are_told(collector: list[Any]) -> None:
    """As on the span."""
    HeuristicGrader().run(query=QUESTION, documents=docs(60))
    assert len(collector) == 50


def test_why_is_told_with_haystacks_content_switch_only(collector: list[Any], content: None) -> None:
    """A reason may quote the document."""
    HeuristicGrader().run(query=QUESTION, documents=docs(1))
    (told,) = map(read, collector)
    assert told["gen_ai.evaluation.explanation"]
    assert told["crag.document.id"] == "canary/0.pdf"


def test_no_event_is_sent_unless_asked_for(collector: list[Any]) -> None:
    """Whatever logger provider there is."""
    evaluations._loggers.clear()
    enable_tracing()
    HeuristicGrader().run(query=QUESTION, documents=docs(1))
    assert collector == []


def test_a_provider_that_fails_costs_no_grade(collector: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who watches must not hurt."""

    class Failing:
        def emit(self, **_: Any) -> None:
            raise OSError

    monkeypatch.setattr(evaluations, "_loggers", [Failing()])
    assert HeuristicGrader().run(query=QUESTION, documents=docs(1))["status"] == "ok"
    assert collector == []


def test_events_need_a_logger_provider(spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else they would go nowhere, and nobody would know."""
    monkeypatch.setattr(opentelemetry._logs, "get_logger_provider", opentelemetry._logs.NoOpLoggerProvider)
    with pytest.raises(ConfigurationError, match="set_logger_provider"):
        enable_tracing(evaluation_events=True)
