"""A server whose Jaeger, Redis or scraper goes away while it serves: questions are answered as before."""

import re
import signal
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from cli_runner import QUESTION, two_documents
from scripted_model import NAME, ScriptedModel, judging
from services import Service
from serving.conftest import BEARER, KEY
from serving.process import command
from wire import wire_to


def ask(client: httpx.Client, question: str) -> dict[str, Any]:
    """The result of one question."""
    response = client.post("/corrective_rag/run", json={"question": question})
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["result"]
    assert result["answer"] == "The answer is in [1]."
    assert result["evidence"][0]["source"] == "penguins.md"
    return result


def traces(jaeger: Service, service: str) -> int:
    """How many questions of a service Jaeger has; the documents read at the start are a trace, too."""
    query = {"service": service, "operation": "POST /corrective_rag/run", "limit": 100}
    return len(httpx.get(f"{jaeger.urls['JAEGER_URL']}/api/traces", params=query, timeout=30).json()["data"])


def test_jaeger_and_redis_may_go_while_questions_are_asked(
    tmp_path: Path, jaeger: Service, redis_url: str, scripted_model: ScriptedModel
) -> None:
    """Answers stay what they were, the record says that the cache failed, and the server still ends when told to."""
    scripted_model.reply = judging(lambda text: float("penguins" in text))
    service = f"crag-{uuid4().hex}"
    with wire_to(jaeger.urls["JAEGER_OTLP_URL"]) as to_jaeger, wire_to(redis_url) as to_redis:
        settings = {
            "CRAG_LLM_BASE_URL": scripted_model.url,
            "CRAG_LLM_MODEL": NAME,
            "CRAG_SERVE_API_KEYS": KEY,
            "CRAG_REDIS_URL": to_redis.url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": to_jaeger.url,
            "OTEL_SERVICE_NAME": service,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_rag")
        with command(tmp_path, *options, **settings) as running:
            with httpx.Client(base_url=running.url(), headers=BEARER, timeout=60) as client:
                question = f"{QUESTION} ({service})"  # not in the cache from another run
                end = time.monotonic() + 300
                statuses = [""]
                while statuses[-1] != "cached":  # a busy machine may miss a grade within the 50 ms that the cache has
                    assert time.monotonic() < end, running.log
                    statuses.append(ask(client, question)["evidence"][0]["status"])
                asked = len(statuses) - 1
                while traces(jaeger, service) < asked:
                    assert time.monotonic() < end, running.log
                    time.sleep(0.2)
                graded = scripted_model.gradings
                to_jaeger.cut()
                to_redis.cut()
                errors = [ask(client, question)["crag"]["trail"][0]["grading"]["cache_error"] for _ in range(5)]
                assert None not in errors
                assert scripted_model.gradings == graded + 5
                assert client.get("/health/ready").status_code == 200
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(120) in (0, -signal.SIGTERM)
        assert traces(jaeger, service) == asked
        assert QUESTION not in running.log


def test_a_collector_that_is_not_there_is_told_once_and_without_its_address(tmp_path: Path) -> None:
    """Else traces that nobody gets would be noticed on the day on which they are needed."""
    settings = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:CANARY@127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    with command(tmp_path, *options, **settings) as running, httpx.Client(base_url=running.url(), timeout=60) as client:
        end = time.monotonic() + 300
        while running.log.count("could not be sent") < 1:
            assert time.monotonic() < end, running.log
            assert client.post("/corrective_retrieval/run", json={"question": QUESTION}).status_code == 200
            time.sleep(0.2)
        time.sleep(2)
    told = re.findall(
        r"could not be sent(?: \(ConnectionError\))?: check OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS", running.log
    )
    assert len(told) == 1
    assert "CANARY" not in running.log


def test_a_collector_that_takes_and_never_answers_does_not_hold_the_end(tmp_path: Path) -> None:
    options = ("--docs", str(two_documents(tmp_path)), "--pipelines", "corrective_retrieval")
    with socket.create_server(("127.0.0.1", 0)) as hole:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{hole.getsockname()[1]}"}
        with command(tmp_path, *options, **settings) as running:
            url = f"{running.url()}/corrective_retrieval/run"
            assert httpx.post(url, json={"question": QUESTION}, timeout=60).is_success
            started = time.monotonic()
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(120) in (0, -signal.SIGTERM)
    assert time.monotonic() - started < 20  # five seconds of it are agreed


def test_a_scraper_that_leaves_in_the_middle_disturbs_nobody(serve: Any, configured_model: ScriptedModel) -> None:
    """Prometheus is killed while it reads the page; the next one reads all of it."""
    configured_model.reply = judging(lambda text: float("Emma" in text))
    running = serve(pipelines="corrective_rag", metrics_open=True)
    at = urlsplit(running.url)
    for _ in range(5):
        with socket.create_connection((at.hostname, at.port)) as scraper:
            scraper.sendall(b"GET /metrics HTTP/1.1\r\nHost: crag\r\n\r\n")
    with running.client() as client:
        assert client.post("/corrective_rag/run", json={"question": "Who wrote Emma?"}).status_code == 200
        assert "crag_decisions_total" in client.get("/metrics").text
