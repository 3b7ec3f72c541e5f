"""A real Jaeger: what is sent by OTLP is read back by its query API, by `crag trace` as by a person."""

import json
import re
import socketserver
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest
from cli_runner import crag, refused
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from judging_texts import calibration
from makers import fill, grading_by, scripted
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pytest_httpserver import HTTPServer
from services import Service

from haystack_integrations.crag.cli.bounded_get import MOST_SECONDS, bounded_get
from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.cli.jaeger import Span, failures
from haystack_integrations.crag.cli.output import plain
from haystack_integrations.crag.cli.views import run_view
from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.observing.redaction import RedactingTracer
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.vocabulary import ABSTENTION

QUESTION = "Where do canary birds sing?"


class Sent:
    """Traces under a service name of their own."""

    def __init__(self, jaeger: Service) -> None:
        self.url, self.service = jaeger.urls["JAEGER_URL"], f"crag-{uuid4().hex}"
        self.provider = TracerProvider(resource=Resource.create({SERVICE_NAME: self.service}))
        exporter = OTLPSpanExporter(f"{jaeger.urls['JAEGER_OTLP_URL']}/v1/traces")
        self.provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=100_000))

    def read(self, count: int) -> list[dict[str, Any]]:
        """Wait until Jaeger shows so many traces whose runs have ended."""
        self.provider.force_flush()
        address, query = f"{self.url}/api/traces", {"service": self.service, "limit": count + 100}
        deadline = time.monotonic() + 60
        while True:
            traces: list[dict[str, Any]] = httpx.get(address, params=query, timeout=60).json()["data"]
            if len(traces) >= count or time.monotonic() > deadline:
                return traces
            time.sleep(0.2)


@pytest.fixture
def sent(jaeger: Service) -> Iterator[Sent]:
    """Haystack traced into Jaeger."""
    from haystack.tracing.tracer import disable_tracing, enable_tracing

    from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer

    traced = Sent(jaeger)
    enable_tracing(RedactingTracer(OpenTelemetryTracer(traced.provider.get_tracer("crag"))))
    yield traced
    disable_tracing()
    traced.provider.shutdown()


def rag_that_answers(store: Any, answer: str) -> Any:
    """Two passes, some documents dropped."""
    fill(store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    grader = grading_by(lambda text: 0.5 if "cage 1" in text else 0.1)
    return load("agent_rag", store=store, grader=grader, generator=scripted(answer))


@pytest.fixture
def rag(in_memory_store: Any) -> Any:
    """One that answers."""
    return rag_that_answers(in_memory_store, "In cages.")


def test_many_requests_are_a_trace_each_without_orphans(sent: Sent, rag: Any) -> None:
    """As Jaeger has them: one root, every parent there, a decision in each."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(lambda number: rag.run(query=f"{QUESTION} {number}"), range(100)))
    traces = sent.read(100)
    assert len(traces) == 100
    for trace in traces:
        ids = {span["spanID"] for span in trace["spans"]}
        parents = [one["spanID"] for span in trace["spans"] for one in span["references"]]
        assert set(parents) <= ids
        assert len(trace["spans"]) - len(parents) == 1
        assert "crag.route" in {span["operationName"] for span in trace["spans"]}
        assert not any(span.get("warnings") for span in trace["spans"])
    assert "canary" not in json.dumps(traces).lower()


@pytest.mark.parametrize(
    ("answer", "remark"),
    [
        ("In cages [1].", ""),
        (ABSTENTION, "the model says that the evidence does not answer"),
        ("In cages [1], says [7].", "the answer cites [7], and no passage has that number"),
        ("In 30 cages, since 1815 [1].", "the answer has 2 numbers that neither question nor evidence has: 30, 1815"),
    ],
)
def test_crag_trace_prints_the_trail_that_a_run_prints(
    sent: Sent, in_memory_store: Any, content: None, answer: str, remark: str
) -> None:
    """Character by character, where content is traced; and what became of the answer."""
    crag_record = rag_that_answers(in_memory_store, answer).run(query=QUESTION)["crag"]
    assert remark in plain(run_view(crag_record))
    (trace,) = sent.read(1)
    result = crag("trace", trace["traceID"], "--jaeger", sent.url)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == plain(run_view(crag_record))


def test_tokens_that_are_not_known_are_read_back_as_that(sent: Sent, in_memory_store: Any, content: None) -> None:
    """No server told them: neither record, nor trace, nor terminal says 0."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(3)])
    model = MockChatGenerator("In cages [1].", meta={"usage": None})
    rag = load("agent_rag", store=in_memory_store, grader=grading_by(lambda _: 0.9), generator=model)
    crag_record = rag.run(query=QUESTION)["crag"]
    assert crag_record["tokens"] == {"in": None, "out": None}
    assert crag_record["trail"][-1]["coverage"]["tokens"] > 0
    assert "2 model calls, unknown tokens" in " ".join(plain(run_view(crag_record)).split())
    (trace,) = sent.read(1)
    result = crag("trace", trace["traceID"], "--jaeger", sent.url)
    assert result.stdout == plain(run_view(crag_record))


def test_passages_that_a_model_saw_the_beginning_of_only_are_counted_in_both_trails(
    sent: Sent, in_memory_store: Any, content: None
) -> None:
    """What answers may stand behind the cut: a document that was called irrelevant for that looks like any other."""
    long = [Document(content=f"Canary birds sing in cage {n}. " + "Seeds are fed at noon. " * 200) for n in range(3)]
    fill(in_memory_store, [*long, Document(content="Canary birds sing.")])
    rag = load(
        "agent_rag", store=in_memory_store, grader=grading_by(lambda _: 0.9), generator=scripted("In cages [1].")
    )
    crag_record = rag.run(query=QUESTION)["crag"]
    assert "the grading model saw the beginning of 3 only" in " ".join(plain(run_view(crag_record)).split())
    (trace,) = sent.read(1)
    result = crag("trace", trace["traceID"], "--jaeger", sent.url)
    assert result.stdout == plain(run_view(crag_record))


@pytest.mark.parametrize("question", ["[1, 2]", "[draft] Where do canary birds sing?"])
def test_a_question_that_begins_like_a_list_is_a_question(sent: Sent, rag: Any, content: None, question: str) -> None:
    """Lists are known by their names; what a user wrote is no JSON, whatever it looks like."""
    crag_record = rag.run(query=question)["crag"]
    (trace,) = sent.read(1)
    result = crag("trace", trace["traceID"], "--jaeger", sent.url)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == plain(run_view(crag_record))


def test_a_score_just_below_the_filter_is_read_back_as_below_it(
    sent: Sent, in_memory_store: Any, content: None
) -> None:
    """Rounded, the trail would say that 0.30 is below 0.30."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    grader = grading_by(lambda _: 0.299999)
    rag = load("agent_rag", store=in_memory_store, grader=grader, generator=scripted("x"))
    shown = plain(run_view(rag.run(query=QUESTION)["crag"]))
    assert "the best document has 0.299999, below 0.30" in shown
    (trace,) = sent.read(1)
    assert crag("trace", trace["traceID"], "--jaeger", sent.url).stdout == shown


def test_the_limit_of_a_calibration_is_read_back(
    sent: Sent, in_memory_store: Any, content: None, tmp_path: Path
) -> None:
    """It is what kept the run from an answer."""
    file = tmp_path / "own.json"
    file.write_bytes(orjson.dumps(calibration(correct_from=0.999).to_dict()))
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    rag = load("corrective_retrieval", store=in_memory_store, grader=HeuristicGrader(calibration=str(file)))
    shown = plain(run_view(rag.run(query=QUESTION)["crag"]))
    assert "answered only from what is correct by 1.00 or more" in shown
    (trace,) = sent.read(1)
    assert crag("trace", trace["traceID"], "--jaeger", sent.url).stdout == shown


def test_what_is_enough_beside_another_document_is_read_back(sent: Sent, in_memory_store: Any) -> None:
    """Else a document is kept below the filter, for no reason, and a score just below that line reads as on it."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    record = load("corrective_retrieval", store=in_memory_store).run(query=QUESTION)["crag"]
    assert record["thresholds"]["beside"] == 0.2
    (trace,) = sent.read(1)
    (run,) = json.loads(crag("trace", trace["traceID"], "--jaeger", sent.url, "--json").stdout)["runs"]
    assert [run["thresholds"], *(one["thresholds"] for one in run["trail"])] == [
        record["thresholds"],
        *(one["thresholds"] for one in record["trail"]),
    ]


def test_without_content_only_the_queries_are_missing(sent: Sent, rag: Any) -> None:
    """Everything else of the trail is numbers and names."""
    crag_record = rag.run(query=QUESTION)["crag"]
    (trace,) = sent.read(1)
    result = crag("trace", trace["traceID"], "--jaeger", sent.url)
    assert "canary" not in result.stdout.lower()
    for query in crag_record["queries"]:
        assert query
    expected = plain(run_view(crag_record))
    for decision in crag_record["trail"]:
        expected = expected.replace(f"search    {decision['query']}", "search    (the query is content, not traced)", 1)
    assert result.stdout == expected


def test_the_json_has_every_run_of_a_trace(sent: Sent, rag: Any) -> None:
    """Two questions within one request of an app are two runs of one trace."""
    with sent.provider.get_tracer("app").start_as_current_span("request"):
        records = [rag.run(query=f"{QUESTION} {number}")["crag"] for number in range(2)]
    (trace,) = sent.read(1)
    result = crag("trace", trace["traceID"], "--jaeger", sent.url, "--json")
    told = json.loads(result.stdout)
    assert told["trace_id"] == trace["traceID"]
    assert len(told["runs"]) == 2
    for run, record in zip(told["runs"], records, strict=True):
        assert {key: run[key] for key in ("verdict", "score", "llm_calls", "tokens", "milliseconds")} == {
            key: record[key] for key in ("verdict", "score", "llm_calls", "tokens", "milliseconds")
        }
        for mine, its in zip(run["trail"], record["trail"], strict=True):
            assert mine["discarded"] == [
                {key: entry[key] for key in ("id", "score", "reason")} for entry in its["discarded"]
            ]


def test_what_failed_is_named(sent: Sent, in_memory_store: Any) -> None:
    """A grading that failed, by the class of the error; the run went on."""

    def broken(_: Any) -> str:
        msg = "x"
        raise ConnectionError(msg)

    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    load("agent_rag", store=in_memory_store, grader=scripted(broken), generator=scripted("x")).run(query=QUESTION)
    (trace,) = sent.read(1)
    printed = crag("trace", trace["traceID"], "--jaeger", sent.url).stdout
    assert "ungraded" in printed
    assert "Failed    crag.grade.call: ConnectionError" in printed


def test_a_trace_without_a_decision_says_where_the_run_ended(sent: Sent, rag: Any) -> None:
    """Here at the door."""
    with pytest.raises(Exception, match="empty"):
        rag.run(query=" ")
    (trace,) = sent.read(1)
    message = refused(crag("trace", trace["traceID"], "--jaeger", sent.url), ExitCode.USAGE)
    assert "QuestionError" in message
    assert "guard" in message


@pytest.mark.parametrize(
    ("description", "told"),
    [
        ("ConnectionError: text withheld", "search: ConnectionError"),
        ("it is away", "search: error"),
        (None, "search: error"),
    ],
)
def test_a_span_of_a_client_that_failed_is_named_by_the_class_in_its_status(description: Any, told: str) -> None:
    """Elasticsearch's client writes no `error.type`."""
    tags = {"error": True, **({"otel.status_description": description} if description else {})}
    assert failures([Span("a", "", "search", 1, tags)]) == [told]


def jaeger_s(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer in the form of Jaeger's."""
    return {"data": [{"traceID": "a" * 32, "spans": spans}], "errors": None}


def a_pass(**tags: Any) -> dict[str, Any]:
    """The span of one decision, with three documents dropped."""
    told = {
        **{"crag.iteration": 1, "crag.iteration.max": 3, "crag.decision": "incorrect", "crag.action": "abstain"},
        **{"crag.mode": "enforce"},
        **{"crag.documents.kept": 1, "crag.documents.discarded": 3, "crag.retrieval.strategy": "hybrid"},
        **{"crag.discarded.ids": '["a", "b", "c"]', "crag.discarded.reasons": '["below_filter", "x", "x"]'},
        **{"crag.discarded.scores": "[0.1, 0.1, 0.1]", "crag.document.ids": '["a", "b", "c", "d"]'},
        **{"crag.scores": "[0.1, 0.1, 0.1, 0.9]", "crag.score": 0.1},
        **tags,
    }
    entries = [{"key": key, "value": value} for key, value in told.items()]
    return {"spanID": "b" * 16, "operationName": "crag.route", "startTime": 1, "references": [], "tags": entries}


def test_attributes_that_were_cut_on_the_way_are_missing_and_counted(httpserver: HTTPServer) -> None:
    """OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, or a collector, cuts a list in the middle."""
    cut = {"crag.discarded.ids": '["a", "b', "crag.discarded.reasons": '["below_fil', "crag.scores": "[0.1, 0."}
    httpserver.expect_request(re.compile("/api/traces/.*")).respond_with_json(jaeger_s([a_pass(**cut)]))
    result = crag("trace", "a" * 32, "--jaeger", httpserver.url_for(""))
    assert result.exit_code == 0, result.stderr
    assert "1 kept, 3 discarded (not_traced)" in result.stdout


@pytest.mark.parametrize("lost", ["crag.iteration", "crag.decision", "crag.action"])
def test_a_decision_that_lost_what_it_says_is_told_as_that(httpserver: HTTPServer, lost: str) -> None:
    """OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT drops the first attributes of a span: the verdict among them."""
    cut = a_pass()
    cut["tags"] = [tag for tag in cut["tags"] if tag["key"] != lost]
    httpserver.expect_request(re.compile("/api/traces/.*")).respond_with_json(jaeger_s([cut]))
    message = refused(crag("trace", "a" * 32, "--jaeger", httpserver.url_for("")), ExitCode.USAGE)
    assert "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in message


def test_a_span_that_arrived_twice_is_one(httpserver: HTTPServer) -> None:
    """What sends spans sends them again when nobody confirms them in time."""
    httpserver.expect_request(re.compile("/api/traces/.*")).respond_with_json(jaeger_s([a_pass(), a_pass()]))
    told = json.loads(crag("trace", "a" * 32, "--jaeger", httpserver.url_for(""), "--json").stdout)
    assert (told["spans"], [len(run["trail"]) for run in told["runs"]]) == (1, [1])


@pytest.mark.parametrize(
    ("status", "said"),
    [(500, "it answers 500; look at its log"), (502, "it answers 502"), (401, "http://USER:PASSWORD@HOST:PORT")],
)
def test_a_jaeger_that_cannot_say_is_not_one_that_knows_no_trace(
    status: int, said: str, httpserver: HTTPServer
) -> None:
    """Its storage is away, or it wants a login: the trace may well be there."""
    answer = {"data": None, "errors": [{"code": status, "msg": "no answer from storage"}]}
    httpserver.expect_request(re.compile("/api/traces/.*")).respond_with_json(answer, status=status)
    message = refused(crag("trace", uuid4().hex, "--jaeger", httpserver.url_for("")), ExitCode.UNREACHABLE)
    assert said in message
    assert "knows no trace" not in message


_OTHERS = ("<html>", '{"error": "no handler"}', "[]", '"errors"', '{"data": [{}], "errors": null}')


@pytest.mark.parametrize("page", _OTHERS)
def test_something_else_in_its_place_is_told_apart(httpserver: HTTPServer, page: str) -> None:
    """A page in HTML, an error of another server."""
    httpserver.expect_request(re.compile("/api/traces/.*")).respond_with_data(page)
    assert "is not Jaeger" in refused(
        crag("trace", uuid4().hex, "--jaeger", httpserver.url_for("")), ExitCode.UNREACHABLE
    )


@pytest.mark.parametrize("bad", ["nonsense", "12ab", "g" * 32, ""])
def test_what_is_no_trace_id_is_refused_before_anybody_is_asked(bad: str) -> None:
    """With what one looks like."""
    assert "32 hexadecimal digits" in refused(crag("trace", bad, "--jaeger", "http://127.0.0.1:1"), ExitCode.USAGE)


def test_an_address_of_jaeger_that_is_none_is_refused() -> None:
    """Also one that Python cannot take apart."""
    message = refused(crag("trace", "a" * 32, "--jaeger", "http://user:secret@[::1"), ExitCode.USAGE)
    assert "got 'http://[::1' as --jaeger, wanted http://HOST:PORT" in message


def test_an_unknown_trace_is_said_to_be_unknown(jaeger: Service) -> None:
    """Jaeger answers 404."""
    message = refused(crag("trace", uuid4().hex, "--jaeger", jaeger.url), ExitCode.USAGE)
    assert "knows no trace" in message


@pytest.mark.parametrize("head", ["", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"], ids=["head", "body"])
def test_a_server_that_drips_is_given_up_when_the_time_for_a_whole_answer_is_over(head: str) -> None:
    """No timeout of its client ever fires; a command gives it a minute."""
    over = threading.Event()

    class Drip(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(head.encode())
            with suppress(OSError):
                while not over.wait(0.05):
                    self.request.sendall(b" " if head else b"H")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Drip) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            bounded_get(f"http://127.0.0.1:{server.server_address[1]}/", seconds=0.5)
        assert time.monotonic() - started < 5
        over.set()
        server.shutdown()
    assert MOST_SECONDS < 100


def test_a_jaeger_that_is_not_there_is_unreachable_and_no_password_is_shown() -> None:
    """With the way out."""
    result = crag("trace", uuid4().hex, "--jaeger", "http://user:secret@127.0.0.1:1")
    message = refused(result, ExitCode.UNREACHABLE)
    assert "--jaeger" in message
    assert "secret" not in message


def test_an_address_that_is_none_is_refused() -> None:
    """Before anybody is asked."""
    assert "16686" in refused(crag("trace", uuid4().hex, "--jaeger", "jaeger"), ExitCode.USAGE)
