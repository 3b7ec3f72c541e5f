"""Served on a real Elasticsearch and with a real Redis."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, TraceIdRatioBased
from scripted_model import ScriptedModel, judging
from serving.conftest import KEY, QUESTION, served

from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.serving.app import create_app
from haystack_integrations.crag.serving.settings import read_settings
from haystack_integrations.crag.store_profiles import open_store


@pytest.fixture
def indexed(elasticsearch_url: str, elasticsearch_index: str, tmp_path: Any) -> dict[str, str]:
    """An index with two files; gives the settings for it."""
    (tmp_path / "emma.md").write_text("# Emma\n\nEmma is a novel by Jane Austen, published in 1815.\n")
    (tmp_path / "gardens.md").write_text("# Gardens\n\nGardens need water in summer.\n")
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    index([tmp_path / "emma.md", tmp_path / "gardens.md"], store, base=tmp_path)
    return {"store": "elasticsearch", "url": elasticsearch_url, "index": elasticsearch_index, "api_keys": KEY}


def test_the_index_is_there_before_the_first_question(
    elasticsearch_url: str, elasticsearch_index: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With our mapping, and a word that it is empty; twenty first questions at once find it so."""
    settings = read_settings(
        store="elasticsearch", url=elasticsearch_url, index=elasticsearch_index, pipelines="corrective_retrieval"
    )
    app = create_app(settings)
    assert "Nothing is indexed" in caplog.text
    with Elasticsearch(elasticsearch_url) as client:
        mapping = client.indices.get_mapping(index=elasticsearch_index)[elasticsearch_index]["mappings"]
    assert mapping["properties"]["embedding"]["type"] == "dense_vector"
    with served(app, settings) as running, running.client() as client, ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(client.post, "/corrective_retrieval/run", json={"question": QUESTION}) for _ in range(20)]
        assert {future.result().status_code for future in asked} == {200}
        assert client.get("/health/ready").status_code == 200


@pytest.mark.parametrize("sampler", [None, ALWAYS_ON, TraceIdRatioBased(0.999)], ids=["unset", "always_on", "ratio"])
def test_whether_the_store_answers_is_asked_without_a_trace(
    sampler: Any, indexed: dict[str, str], provider: Any, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Elasticsearch's client opens spans by itself: a trace for each probe would bury those of questions.

    Also with the samplers that look at no parent, as OTEL_TRACES_SAMPLER=always_on names one.
    """
    monkeypatch.setattr(provider, "sampler", sampler or provider.sampler)
    settings = read_settings(**indexed, pipelines="corrective_retrieval")
    with served(create_app(settings), settings) as running, running.client() as client:
        spans.clear()
        assert client.get("/health/ready").status_code == 200
        time.sleep(2.1)
        assert client.get("/health/ready").status_code == 200
        assert [span.name for span in spans.get_finished_spans()] == []
        client.post("/corrective_retrieval/run", json={"question": QUESTION})
        assert "search" in {span.name for span in spans.get_finished_spans()}


def test_bad_filters_are_the_clients_fault_on_a_server_too(indexed: dict[str, str]) -> None:
    settings = read_settings(**indexed, pipelines="corrective_retrieval")
    with served(create_app(settings), settings) as running, running.client() as client:
        for filters in (
            {"field": "meta.year", "operator": "CANARY", "value": 1},
            {"field": "meta.source", "operator": ">", "value": "CANARY"},
            {"CANARY": {"CANARY": 1}},
        ):
            response = client.post("/corrective_retrieval/run", json={"question": QUESTION, "filters": filters})
            assert (response.status_code, response.json()["error"]) == (422, "invalid_filters"), filters
            assert "CANARY" not in response.text


def test_a_store_that_is_gone_is_unavailable(indexed: dict[str, str], elasticsearch_url: str) -> None:
    """503 by its code, and not ready; nothing of its address."""
    settings = read_settings(**indexed, pipelines="corrective_retrieval")
    with served(create_app(settings), settings) as running, running.client() as client:
        assert client.get("/health/ready").status_code == 200
        with Elasticsearch(elasticsearch_url) as server:
            server.indices.delete(index=indexed["index"])
        response = client.post("/corrective_retrieval/run", json={"question": QUESTION})
        assert (response.status_code, response.json()) == (503, {"error": "store_unavailable", "trace_id": None})
        time.sleep(2.1)
        assert client.get("/health/ready").status_code == 503


def test_an_upload_makes_no_index_in_the_place_of_one_that_is_gone(
    indexed: dict[str, str], elasticsearch_url: str
) -> None:
    """As while an alias is being moved: questions would be answered from the upload alone, and the alias be taken."""
    settings = read_settings(**indexed, pipelines="corrective_retrieval", uploads=True)
    file = {"files": ("rocks.md", b"Bishop Rock has a lighthouse.")}
    with served(create_app(settings), settings) as running, running.client() as client:
        assert client.post("/indexing/run", files=file).json()["result"]["added"] == 1
        with Elasticsearch(elasticsearch_url) as server:
            server.indices.delete(index=indexed["index"])
            refused = client.post("/indexing/run", files=file)
            assert (refused.status_code, refused.json()["error"]) == (503, "store_unavailable")
            assert not server.indices.exists(index=indexed["index"])


def test_grades_are_shared_by_redis(redis_url: str, configured_model: ScriptedModel, indexed: dict[str, str]) -> None:
    """A second server asks the model for the answer only."""
    configured_model.reply = judging(lambda text: float("Emma" in text))
    question = f"{QUESTION} ({time.time_ns()})"  # not in the cache from another run
    settings = read_settings(**indexed, pipelines="corrective_rag", redis_url=redis_url)
    for gradings in (1, 1):
        with served(create_app(settings), settings) as running, running.client() as client:
            result = client.post("/corrective_rag/run", json={"question": question}).json()["result"]
        assert result["evidence"][0]["source"] == "emma.md"
        assert configured_model.gradings == gradings
    assert result["evidence"][0]["status"] == "cached"
