"""What a failure tells: a code and the trace. No question, document, key, address or exception's text, anywhere."""

import ast
import gzip
import io
import re
import shutil
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hayhooks import log as hayhooks_log
from haystack import Document, logging
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.errors import FilterError
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedModel, judging
from serving.conftest import KEY, QUESTION, served
from serving.failing import CANARY, BrokenStore, asked
from starlette.types import Message, Receive, Scope, Send

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.serving import failures, logs, problems
from haystack_integrations.crag.serving.app import create_app
from haystack_integrations.crag.serving.envelope import Envelope
from haystack_integrations.crag.serving.health import reachable
from haystack_integrations.crag.serving.settings import read_settings
from haystack_integrations.crag.store_profiles import open_store


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What a server logs, as `crag serve` configures it."""
    text = io.StringIO()
    logs.configure_logs(text)
    yield text
    hayhooks_log.remove()


def test_no_failure_tells_what_was_in_it(log: io.StringIO) -> None:
    """A canary in question, options, key, file and the store's address: in no body and no line of the log."""
    settings = read_settings(api_keys=KEY, uploads=True)
    store = BrokenStore(index="test_broken_store")
    with served(create_app(settings, store=store), settings) as running, running.client() as client:
        responses = list(asked(client, f"{QUESTION} {CANARY}"))
        assert client.get("/health/ready").status_code == 503
    for response in responses:
        assert CANARY not in response.text, response.request.url.path
        assert CANARY not in str(response.headers)
        body = response.json()
        if "jsonrpc" not in body:
            assert response.status_code >= 400, response.request.url
            assert set(body) <= {"error", "trace_id", "detail"}, body
            assert ("detail" in body) <= (response.status_code in (404, 413, 415, 422))
    lines = log.getvalue()
    assert CANARY not in lines
    assert KEY not in lines
    assert "RuntimeError" in lines  # what an operator needs is there
    assert "POST /corrective_retrieval/run 500" in lines


async def test_a_store_that_refuses_is_logged_with_the_status(log: io.StringIO, httpserver: HTTPServer) -> None:
    """One that is not ready, too busy or behind a proxy has one kind of error in its client."""
    httpserver.expect_request(re.compile("/")).respond_with_data("Bad Gateway", 502)
    store = open_store("elasticsearch", httpserver.url_for("/").rstrip("/"))
    assert not await reachable(store)
    await store.close_async()
    assert "The store does not answer: ApiError 502" in log.getvalue()


def test_no_text_of_others_steers_who_reads_the_log(log: io.StringIO) -> None:
    """A search engine's words on why it failed, or the name of a file: a title, colours, a second line."""
    said = "engine\x1b]0;title\x07 \x1b[31mred\x1b[0m \u202eback\n2026-11-25 INFO not ours"
    logging.getLogger("haystack_integrations.crag.web.searxng").warning("engines failed: {why}", why=said)
    (line,) = log.getvalue().splitlines()
    assert line.endswith("engines failed: engine\u241b]0;title\u2407 red \ufffdback 2026-11-25 INFO not ours ")


def test_no_part_of_a_password_in_an_address_is_logged(log: io.StringIO) -> None:
    address = "https://elastic:hush@mum@search.example:9200/a"
    logging.getLogger("haystack_integrations.crag.any").warning("no answer from {place}, x@y", place=address)
    assert "no answer from https://search.example:9200/a, x@y" in log.getvalue()
    assert "mum" not in log.getvalue()


def test_a_broken_store_is_a_failure_of_ours(log: io.StringIO) -> None:
    settings = read_settings(api_keys=KEY)
    with served(create_app(settings, store=BrokenStore(index="test_broken_store")), settings) as running:
        with running.client() as client:
            response = client.post("/corrective_retrieval/run", json={"question": QUESTION})
    assert (response.status_code, response.json()) == (500, {"error": "internal_error", "trace_id": None})


class MisconfiguredStore(InMemoryDocumentStore):
    """A store of which a search finds out that something was set wrongly."""

    error: type[Exception] = ConfigurationError

    def bm25_retrieval(self, *args: Any, **kwargs: Any) -> list[Document]:
        raise self.error(CANARY)


class FilteringStore(MisconfiguredStore):
    """A store that understands no filters."""

    error = FilterError


@pytest.mark.parametrize("kind", [MisconfiguredStore, FilteringStore])
def test_what_the_operator_set_wrongly_is_not_blamed_on_the_client(
    kind: type[MisconfiguredStore], log: io.StringIO
) -> None:
    """A 422 would have the client look for a fault in a question that has none; the log says where to look."""
    settings = read_settings(api_keys=KEY)
    with served(create_app(settings, store=kind(index="test_misconfigured")), settings) as running:
        with running.client() as client:
            response = client.post("/corrective_retrieval/run", json={"question": QUESTION})
    assert (response.status_code, response.json()) == (500, {"error": "misconfigured", "trace_id": None})
    assert "; bm25)" in log.getvalue()
    assert CANARY not in log.getvalue()


def test_a_calibration_that_is_damaged_while_the_server_runs_is_named_by_the_log(
    tmp_path: Path, log: io.StringIO
) -> None:
    """It is read again when it changes, before any component runs: the log said `no component`."""
    calibration = tmp_path / "mine.json"
    shutil.copy(str(files("haystack_integrations.crag") / "models" / "calibration" / "default.json"), calibration)
    settings = read_settings(api_keys=KEY, calibration=str(calibration))
    with served(create_app(settings), settings) as running, running.client() as client:
        calibration.write_text("{")
        response = client.post("/corrective_retrieval/run", json={"question": QUESTION})
    assert (response.status_code, response.json()["error"]) == (500, "misconfigured")
    assert "(ConfigurationError; calibration_file)" in log.getvalue()


def test_vectors_that_another_model_wrote_into_the_index_are_the_operators_to_mend(
    elasticsearch_url: str, elasticsearch_index: str
) -> None:
    """A 503 would have the client come back for ever: no later request goes better."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    settings = read_settings(api_keys=KEY)
    with served(create_app(settings, store=store), settings) as running:
        store.write_documents([Document(content=QUESTION, embedding=[0.6, 0.8, 0.0])], refresh=True)
        with running.client() as client:
            response = client.post("/corrective_retrieval/run", json={"question": QUESTION})
    assert (response.status_code, response.json()) == (500, {"error": "misconfigured", "trace_id": None})


def test_filters_that_a_client_sent_stay_its_own(log: io.StringIO) -> None:
    settings = read_settings(api_keys=KEY)
    body = {"question": QUESTION, "filters": {"field": "meta.year", "operator": "==", "value": 1815}}
    with served(create_app(settings, store=FilteringStore(index="test_misconfigured")), settings) as running:
        with running.client() as client:
            response = client.post("/corrective_retrieval/run", json=body)
    assert (response.status_code, response.json()["error"]) == (422, "invalid_filters")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (TypeError, (422, "invalid_filters")),
        (ValueError, (422, "invalid_filters")),
        (KeyError, (500, "internal_error")),
    ],
)
def test_filters_are_blamed_only_for_what_a_comparison_can_raise(
    error: type[Exception], told: tuple[int, str], log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client mends its filters for ever where the store is what fails."""
    monkeypatch.setattr(FilteringStore, "error", error)
    settings = read_settings(api_keys=KEY)
    body = {"question": QUESTION, "filters": {"field": "meta.year", "operator": "==", "value": 1815}}
    with served(create_app(settings, store=FilteringStore(index="test_misconfigured")), settings) as running:
        with running.client() as client:
            response = client.post("/corrective_retrieval/run", json=body)
    assert (response.status_code, response.json()["error"]) == told


def test_a_closed_index_is_a_store_that_does_not_answer(elasticsearch_url: str, elasticsearch_index: str) -> None:
    """Elasticsearch says 400, as it does to filters that make no sense; a later try may do better."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    settings = read_settings(api_keys=KEY)
    body = {"question": QUESTION, "filters": {"field": "meta.year", "operator": "==", "value": 1815}}
    with served(create_app(settings, store=store), settings) as running, running.client() as client:
        embedding = [1.0] + [0.0] * 255
        store.write_documents([Document(content=QUESTION, meta={"year": 1815}, embedding=embedding)], refresh=True)
        assert client.post("/corrective_retrieval/run", json=body).status_code == 200
        store.client.indices.close(index=elasticsearch_index)
        found = [client.post("/corrective_retrieval/run", json=one) for one in (body, {"question": QUESTION})]
    assert [one.status_code for one in found] == [503, 503]
    assert {one.json()["error"] for one in found} == {"store_unavailable"}


def _codes() -> set[str]:
    """Every code that stands in the server's source."""
    known = {*problems._CODES.values(), *failures._PACKAGES.values(), *(code for *_, code in failures._KINDS)}
    for file in Path(failures.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("ServeError", "problem"):
                known |= {word for given in node.args[1:2] for word in _words(given)}
    return known


def _words(given: ast.expr) -> set[str]:
    return {given.value} if isinstance(given, ast.Constant) and isinstance(given.value, str) else set()


def test_every_code_of_the_server_stands_in_its_docs() -> None:
    """A client that meets a code can look it up, and no code is promised that is not given."""
    page = (Path(__file__).parents[2] / "docs" / "server-errors.md").read_text("utf-8")
    table = page.partition("| code | status | meaning |")[2].partition("\n\n")[0]
    told = {word for line in table.splitlines() for word in line.split("|")[1:2] for word in word.split("`")[1::2]}
    assert told == _codes() | {"internal_error"}


def test_what_runs_well_is_not_logged_in_content(answering: Any, model: ScriptedModel, log: io.StringIO) -> None:
    """Hayhooks' own log line would hold the parameters of each request."""
    model.reply = judging(lambda _: 1.0, answer=CANARY)
    with answering.client() as client:
        client.post("/corrective_rag/run", json={"question": f"{QUESTION} {CANARY}"})
        client.post(
            "/v1/chat/completions",
            json={"model": "corrective_rag", "messages": [{"role": "user", "content": CANARY}], "stream": True},
        )
    assert CANARY not in log.getvalue()
    assert "POST /corrective_rag/run 200" in log.getvalue()


def logged(log: io.StringIO, line: str) -> None:
    """Wait for a line: an answer is read before the server has told of it."""
    end = time.monotonic() + 60
    while not re.search(line, log.getvalue()):
        assert time.monotonic() < end, log.getvalue()
        time.sleep(0.02)


def test_the_log_names_the_route_and_the_trace(
    log: io.StringIO, spans: InMemorySpanExporter, answering: Any, model: ScriptedModel
) -> None:
    with answering.client() as client:
        client.post("/mcp", json={})
        named = client.post("/corrective_retrieval/run", json={"question": QUESTION}).headers["X-Trace-Id"]
    logged(log, rf"corrective_retrieval/run 200 .*{named}")
    lines = log.getvalue().splitlines()
    assert any(re.search(r"POST /mcp 4\d\d \d+ ms trace_id=\w+$", line) for line in lines)
    told = [line for line in lines if f"trace_id={named}" in line]
    assert any(re.search(r"POST /corrective_retrieval/run 200 \d+ ms trace_id", line) for line in told)
    assert any("decision: verdict" in line for line in told)
    del spans, model


@pytest.mark.parametrize("way", ["not traced", "not sampled"])
def test_a_request_without_a_trace_has_a_name_that_is_no_trace(
    way: str, log: io.StringIO, answering: Any, model: ScriptedModel, request: pytest.FixtureRequest
) -> None:
    """The same on all its lines and in a header; a trace that does not exist would be looked for in vain."""
    unsampled = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-00"}
    if way == "not sampled":
        request.getfixturevalue("spans")
    with answering.client() as client:
        done = client.post("/corrective_retrieval/run", json={"question": QUESTION}, headers=unsampled)
        refused = client.post("/corrective_retrieval/run", json={"question": " "}, headers=unsampled)
    for response, line in ((done, "POST /corrective_retrieval/run 200"), (refused, "A run failed: invalid_question")):
        name = response.headers["X-Request-Id"]
        logged(log, rf"{line}.* request_id={name}\n")
        assert "X-Trace-Id" not in response.headers
    assert (done.json()["result"]["trace_id"], refused.json()["trace_id"]) == (None, None)
    assert re.search(rf"decision: verdict.* request_id={done.headers['X-Request-Id']}\n", log.getvalue())
    assert "trace_id" not in log.getvalue()
    del model


def test_a_stream_that_its_client_left_is_told_so_in_the_log(
    log: io.StringIO, answering: Any, model: ScriptedModel
) -> None:
    model.reply, model.pause = judging(lambda _: 1.0, answer="word " * 2000), 0.02
    chat = {"model": "corrective_rag", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    with answering.client() as client, client.stream("POST", "/v1/chat/completions", json=chat) as response:
        next(response.iter_bytes())
    logged(log, "POST /v1/chat/completions 200 .* ms, cancelled")


async def test_an_answer_that_was_cut_off_is_told_so_in_the_log(log: io.StringIO) -> None:
    """A stream that its client left has the status 200, and was not answered."""

    async def begun(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"The ", "more_body": True})

    async def taken(_: Message) -> None:
        """Take a part of the answer."""

    receive: Any = None  # nothing is read
    await Envelope(begun)({"type": "http", "method": "POST", "path": "/x"}, receive, taken)
    assert re.search(r"POST - 200 \d+ ms, cancelled", log.getvalue())


@pytest.mark.parametrize("path", ["/corrective_rag/run", "/v1/chat/completions"])
@pytest.mark.parametrize(
    "content",
    ['{"question": "Wie groß?"}'.encode("latin-1"), gzip.compress(b'{"question": "?"}', mtime=0), b'{"question": ?}'],
)
def test_a_body_that_is_no_json_in_utf_8_is_told_so(answering: Any, path: str, content: bytes) -> None:
    """Of one from a shell of Windows, or compressed, a client saw that something is wrong with its request."""
    with answering.client() as client:
        response = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    wanted = {"field": None, "rule": "json", "accepted": ["JSON in UTF-8, not compressed"]}
    assert response.json()["detail"] == [wanted]


@pytest.mark.parametrize("path", ["/corrective_rag/run", "/v1/chat/completions", "/mcp"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data", ""])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 30_000, b"\xff\xfe", b'{"question": "\\ud800"}', b"null", b"NaN"]
)
def test_a_body_that_is_no_question_is_refused(answering: Any, path: str, kind: str, content: bytes) -> None:
    headers = {"Content-Type": kind, "Accept": "application/json, text/event-stream"}
    with answering.client() as client:
        response = client.post(path, content=content, headers=headers)
    assert response.status_code in (400, 406, 415, 422), response.text
    assert {"error", "trace_id"} <= set(response.json())


@pytest.mark.parametrize("path", ["/corrective_rag/run", "/v1/chat/completions", "/mcp"])
def test_what_is_no_json_is_told_by_one_code_at_every_door(answering: Any, path: str) -> None:
    with answering.client() as client:
        response = client.post(path, content=b"x", headers={"Content-Type": "application/json"})
    error = response.json()["error"]
    code = {"/v1/chat/completions": "code", "/mcp": "message"}.get(path)
    assert (response.status_code, error[code] if code else error) == (400, "bad_request")


def test_the_page_names_the_code_of_what_is_no_json() -> None:
    """And calls no other code by it."""
    page = (Path(__file__).parents[2] / "docs" / "server-errors.md").read_text("utf-8")
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| `") and "no JSON" in line]
    assert [(codes.strip().split(",")[0], statuses.strip()[:3]) for codes, statuses, _ in rows] == [
        ("`bad_request`", "400")
    ]


@pytest.mark.parametrize(
    ("headers", "content", "told"),
    [
        ({}, b'{"question": "Who?"}', {"field": None, "rule": "content_type", "accepted": ["application/json"]}),
        ({"Content-Type": "application/json"}, b"[]", {"field": None, "rule": "model_attributes_type"}),
    ],
)
def test_a_body_without_its_kind_is_told_from_one_of_another_shape(
    answering: Any, headers: dict[str, str], content: bytes, told: dict[str, Any]
) -> None:
    with answering.client() as client:
        response = client.post("/corrective_retrieval/run", content=content, headers=headers)
    assert (response.status_code, response.json()["error"]) == (422, "invalid_request")
    assert response.json()["detail"] == [told]


def test_a_pipeline_that_is_not_served_is_refused_with_those_that_are(serve: Any) -> None:
    """By REST and chat; who has no key is told nothing."""
    chat = {"model": "corrective_rag", "messages": [{"role": "user", "content": QUESTION}]}
    running = serve()
    with running.client() as client:
        for path, sent in (("/corrective_rag/run", {"question": QUESTION}), ("/v1/chat/completions", chat)):
            response = client.post(path, json=sent)
            error = response.json()["error"]
            assert (response.status_code, error if path == "/corrective_rag/run" else error["code"]) == (
                404,
                "not_found",
            )
            assert response.json()["detail"] == [
                {"field": "pipeline", "rule": "unknown", "accepted": ["corrective_retrieval"]}
            ]
        refused = client.post("/corrective_rag/run", json={}, headers={"Authorization": "Bearer wrong"})
    assert (refused.status_code, refused.json()) == (401, {"error": "unauthorized", "trace_id": None})


def test_filters_that_are_nested_without_end_are_refused(answering: Any) -> None:
    filters: dict[str, Any] = {}
    for _ in range(400):
        filters = {"conditions": [filters]}
    with answering.client() as client:
        response = client.post("/corrective_rag/run", json={"question": QUESTION, "filters": filters})
    assert response.status_code == 422
    assert response.json()["detail"] == [{"field": "filters", "rule": "too_deep", "max_levels": 20}]


@pytest.mark.parametrize(
    "filters",
    [
        {"field": "meta.year", "operator": "in", "value": list(range(1000))},
        {"operator": "OR", "conditions": [{"field": "meta.year", "operator": "==", "value": n} for n in range(300)]},
    ],
)
def test_filters_that_hold_more_than_anyone_writes_are_refused(answering: Any, filters: dict[str, Any]) -> None:
    """Haystack copies each value at each step, on the event loop: others would wait for that."""
    with answering.client() as client:
        response = client.post("/corrective_rag/run", json={"question": QUESTION, "filters": filters})
        assert response.status_code == 422
        assert response.json()["detail"] == [{"field": "filters", "rule": "too_many", "max_entries": 1000}]
        many = {"field": "meta.year", "operator": "in", "value": [*range(1500, 2490)]}
        assert client.post("/corrective_rag/run", json={"question": QUESTION, "filters": many}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/no-such-route", 404, "not_found"),
        ("GET", "/corrective_rag/run", 405, "method_not_allowed"),
        ("POST", "/corrective_rag/run/", 404, "not_found"),
        ("POST", "/undeploy/corrective_rag", 404, "not_found"),
        ("POST", "/deploy_files", 404, "not_found"),
        ("GET", "/draw/corrective_rag", 404, "not_found"),
    ],
)
def test_a_request_that_fits_no_route_is_told_so(
    answering: Any, method: str, path: str, status: int, code: str
) -> None:
    with answering.client() as client:
        response = client.request(method, path)
    assert (response.status_code, response.json()["error"]) == (status, code)


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/embeddings", "/v1/responses", "/chat/completions", "/sse"])
def test_a_path_of_other_servers_is_refused_with_those_of_this_one(answering: Any, path: str) -> None:
    """LlamaIndex asks `/v1/completions`, others `/v1/responses`, unless told not to: they show `error.message` only."""
    with answering.client() as client:
        told = client.post(path, json={"model": "corrective_rag", "input": "x"}).json()
    accepted = ["/PIPELINE/run", "/v1/chat/completions", "/v1/models", "/mcp", "/indexing/run"]
    assert told["detail"] == [{"field": "path", "rule": "unknown", "accepted": accepted}]
    assert path == "/sse" or "/v1/chat/completions" in told["error"]["message"]
