"""A served question is one trace, named in its answer; no span holds what was asked, found, said or sent as a key."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.instrumentation._semconv import _OpenTelemetrySemanticConventionStability
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from reading import in_new_process
from scripted_model import ScriptedModel, judging
from serving.conftest import KEY, QUESTION
from serving.failing import CANARY, BrokenStore, asked

from haystack_integrations.crag.metrics_export import configure_metrics


def ended(spans: InMemorySpanExporter) -> Sequence[ReadableSpan]:
    """The spans, when the first of all has ended, which it does just after the client has its answer."""
    end = time.monotonic() + 60
    while not any(span.parent is None for span in spans.get_finished_spans()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return spans.get_finished_spans()


def shown(spans: InMemorySpanExporter) -> str:
    """All that the spans hold."""
    parts = [(one.name, one.attributes, one.status.description, one.events) for one in spans.get_finished_spans()]
    return str([(*part[:3], [(event.name, event.attributes) for event in part[3]]) for part in parts])


def test_a_question_is_one_trace_and_its_answer_names_it(spans: InMemorySpanExporter, serve: Any) -> None:
    """From the server's span to the decision; a failure names its trace, too."""
    with serve().client() as client:
        spans.clear()
        answer = client.post("/corrective_retrieval/run", json={"question": QUESTION})
        named = answer.json()["result"]["trace_id"]
        found = ended(spans)
        failure = client.post("/corrective_retrieval/run", json={"question": " "})
        refused = client.post("/corrective_retrieval/run", json={"question": ""})
    assert {format(span.context.trace_id, "032x") for span in found} == {named}
    assert answer.headers["X-Trace-Id"] == named
    ids = {span.context.span_id for span in found}
    assert [span.name for span in found if span.parent is None] == ["POST /corrective_retrieval/run"]
    assert all(span.parent.span_id in ids for span in found if span.parent is not None)
    assert len(failure.json()["trace_id"]) == 32
    assert len(refused.json()["trace_id"]) == 32


def test_a_streamed_answer_is_one_trace(
    spans: InMemorySpanExporter, serve: Any, configured_model: ScriptedModel
) -> None:
    configured_model.reply = judging(lambda text: float(text.startswith("Emma")), answer=CANARY)
    chat = {
        "model": "corrective_rag",
        "messages": [{"role": "user", "content": f"{QUESTION} {CANARY}"}],
        "stream": True,
    }
    with serve(pipelines="corrective_rag").client() as client:
        spans.clear()
        assert CANARY in client.post("/v1/chat/completions", json=chat).text
    found = ended(spans)
    assert len({span.context.trace_id for span in found}) == 1
    assert {"crag.grade", "crag.answer"} <= {span.name for span in found}
    assert CANARY not in shown(spans)


def test_a_follow_up_is_one_trace_too(spans: InMemorySpanExporter, serve: Any, configured_model: ScriptedModel) -> None:
    """Writing it out stands beside the run, below the request; no text of it leaves."""
    configured_model.reply = lambda _: (f"Who wrote the novel Emma, {CANARY}?", "stop")
    said = [("user", QUESTION), ("assistant", CANARY), ("user", f"And then, {CANARY}?")]
    chat = {"model": "baseline_rag", "messages": [{"role": role, "content": text} for role, text in said]}
    with serve(pipelines="baseline_rag").client() as client:
        spans.clear()
        answer = client.post("/v1/chat/completions", json=chat)
    found = ended(spans)
    assert {format(span.context.trace_id, "032x") for span in found} == {answer.json()["trace_id"]}
    (rewriting,) = [span for span in found if span.name == "crag.follow_up"]
    assert rewriting.attributes["crag.follow_up.source"] == "model"
    assert rewriting.attributes["crag.follow_up.calls"] == 1
    assert CANARY not in shown(spans)


def test_no_span_of_a_failure_holds_content(spans: InMemorySpanExporter, serve: Any) -> None:
    with serve(uploads=True, store=BrokenStore(index="test_broken_store")).client() as client:
        list(asked(client, f"{QUESTION} {CANARY}"))
    assert spans.get_finished_spans()
    told = [(one.name, dict(one.attributes or {})) for one in spans.get_finished_spans()]
    assert [(name, key) for name, tags in told for key, value in tags.items() if CANARY in str(value)] == []
    assert CANARY not in shown(spans)
    assert KEY not in shown(spans)


@pytest.mark.parametrize("names", ["", "http"], ids=["older names", "newer names"])
def test_a_request_without_a_key_leaves_nothing_that_it_wrote(
    spans: InMemorySpanExporter, serve: Any, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    """
    Its headers are in no span, and no label: each new one would be a series more for good.

    Nor by the newer names of attributes, which OpenTelemetry writes where its setting says so.
    """
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", names)
    monkeypatch.setattr(_OpenTelemetrySemanticConventionStability, "_initialized", False)  # read once in a process
    known = dict(_OpenTelemetrySemanticConventionStability._OTEL_SEMCONV_STABILITY_SIGNAL_MAPPING)
    monkeypatch.setattr(_OpenTelemetrySemanticConventionStability, "_OTEL_SEMCONV_STABILITY_SIGNAL_MAPPING", known)

    def requests_counted() -> list[str]:  # others in this process may have made such series
        return sorted(line for line in configure_metrics().page()[0].decode().splitlines() if "http_server" in line)

    with serve().client(headers={}) as client:
        spans.clear()
        before = requests_counted()
        assert client.get(f"/{CANARY}?{CANARY}", headers={"Host": CANARY, "User-Agent": CANARY}).status_code == 401
    written = {name for span in ended(spans) for name in span.attributes or {}}
    assert ({"url.path", "url.query", "user_agent.original"} if names else {"http.target"}) <= written
    assert CANARY not in shown(spans)
    assert CANARY not in configure_metrics().page()[0].decode()
    assert set(requests_counted()) <= set(before)


_UNDER_AN_AGENT = """
import os
from opentelemetry import metrics, trace
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
memory = InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(memory))
metrics.set_meter_provider(MeterProvider())
FastAPIInstrumentor().instrument()
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.crag.serving.app import create_app
from haystack_integrations.crag.serving.settings import read_settings
from fastapi.testclient import TestClient
os.environ["OTEL_TRACES_EXPORTER"] = "console"  # which nothing but the agent can send by
app = create_app(read_settings(pipelines="corrective_retrieval", allow_anonymous=True), store=InMemoryDocumentStore())
with TestClient(app, "http://127.0.0.1") as client:
    client.get("/health/ready")
    answer = client.post("/corrective_retrieval/run?key=canary-5e1c", json={"question": "Who wrote Emma?"})
    page = client.get("/metrics").text
found = memory.get_finished_spans()
print(answer.status_code, sum(line.startswith("crag_decisions_total") for line in page.splitlines()))
print(*{format(span.context.trace_id, "032x") for span in found} ^ {answer.headers["X-Trace-Id"]})
print(*[span.name for span in found if span.parent is None], sum("http send" in span.name for span in found))
print(any(span.name == "crag.route" for span in found))
print(any("canary-5e1c" in span.to_json() for span in found))
"""


def test_a_server_that_opentelemetry_instrument_starts_serves_and_tells_what_it_tells_without() -> None:
    """
    Providers are set, and FastAPI is instrumented, before it begins: one trace a question, no address, the page.

    Wherever the agent sends it: with no address of a collector the traces were of requests alone, without a decision.
    """
    counted, others, told, decided, written = in_new_process(_UNDER_AN_AGENT).split("\n")
    assert counted == "200 1"
    assert others == ""
    assert told == "POST /corrective_retrieval/run 0"
    assert decided == "True"
    assert written == "False"
