"""What a service that dies in the middle of the work does to answers: nothing, or an explained degradation."""

import time
from collections.abc import Iterator
from pathlib import Path
from socket import create_connection, create_server
from subprocess import DEVNULL, Popen
from typing import Any

import kinds
import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from makers import fill
from scripted_model import ScriptedModel
from service_fixtures import unavailable

from haystack_integrations.crag.caching import RedisGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.store_profiles import open_store, prepare

TOWNS = [f"Town{number}" for number in range(6)]


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[tuple[Popen[bytes], str]]:
    """A server of its own, to be killed."""
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    try:
        command = kinds.KINDS["redis"].command(tmp_path, {"REDIS_URL": port})
    except kinds.ServiceUnavailable as missing:
        unavailable(str(missing))
    process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    try:
        for _ in range(1000):
            try:
                create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield process, f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    prepare(made)
    fill(made, [Document(content=f"The lighthouse of {town} was built by Mason {town}.") for town in TOWNS])
    yield made
    made.close()


def answering(store: Any, model: ScriptedModel, cache: Any = None) -> Any:
    """The recommended pipeline on real servers, and a model over HTTP."""
    chat = OpenAIChatGenerator(Secret.from_token("key"), "m", api_base_url=model.url, max_retries=0, timeout=5)
    return load("corrective_rag", store=store, grader=BatchRelevanceGrader(chat, cache=cache), generator=chat)


def asked(rag: Any, town: str) -> tuple[str, list[str], str]:
    """What a user gets: the answer, the evidence, the verdict."""
    result = rag.run(query=f"Who built the lighthouse of {town}?")
    return result["answers"][0].data, [document.content for document in result["documents"]], result["crag"]["verdict"]


def test_a_redis_that_dies_midway_changes_no_answer(
    store: Any, scripted_model: ScriptedModel, redis_server: tuple[Popen[bytes], str]
) -> None:
    """Grades that were cached are asked for again; that is all."""
    process, url = redis_server
    rag = answering(store, scripted_model, RedisGradeCache(url))
    whole = [asked(rag, town) for town in TOWNS]
    calls = scripted_model.calls
    cached = [asked(rag, town) for town in TOWNS[:3]]
    assert scripted_model.calls - calls == 3  # only the answers: the grades came from Redis
    process.kill()
    process.wait()
    assert cached + [asked(rag, town) for town in TOWNS[3:]] == whole
    rag.close()


def test_a_model_that_dies_midway_is_no_reason_to_call_documents_irrelevant(
    store: Any, scripted_model: ScriptedModel
) -> None:
    """The documents are given on as `ungraded`, the record says what failed, and nothing is raised."""
    rag = answering(store, scripted_model)
    assert asked(rag, TOWNS[0])[2] == "correct"
    scripted_model.status = 503
    result = rag.run(query=f"Who built the lighthouse of {TOWNS[1]}?")
    record = result["crag"]
    assert record["verdict"] == "ungraded"
    assert f"Mason {TOWNS[1]}." in result["documents"][0].content
    assert record["coverage"]["degraded"] is True
    assert [reason.partition(":")[0] for reason in record["coverage"]["reasons"]] == ["grader_failed", "answer_failed"]
    rag.close()
