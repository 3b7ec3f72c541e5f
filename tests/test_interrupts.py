"""A task queue's time limit ends a run, as Celery's and RQ's do: an exception that a signal's handler raises."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedModel, documents_in
from waiting import eventually
from werkzeug import Response

from haystack_integrations.components.retrievers.elasticsearch import ElasticsearchBM25Retriever
from haystack_integrations.crag.caching import MemoryGradeCache, RedisGradeCache
from haystack_integrations.crag.components import (
    AnswerGenerator,
    BatchRelevanceGrader,
    FollowUpRewriter,
    HeuristicGrader,
    ReportingRetriever,
    StaticDocumentEmbedder,
)
from haystack_integrations.crag.corpus_statistics.server import ServerStatistics
from haystack_integrations.crag.deadlines import call_or_end
from haystack_integrations.crag.elasticsearch.reaching import client_for
from haystack_integrations.crag.elasticsearch.search import Limit, search
from haystack_integrations.crag.errors import causes
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.settings import configured
from haystack_integrations.crag.vocabulary import ANSWER_FAILED
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore


class TaskTimeUp(Exception):  # noqa: N818 - stands for SoftTimeLimitExceeded and JobTimeoutException
    """What a worker raises into a task whose time is up."""


class TaskTimeoutError(TimeoutError):
    """The same of a queue that calls it by Python's own name."""


KINDS = pytest.mark.parametrize("kind", [TaskTimeUp, TaskTimeoutError])


@contextmanager
def limited(kind: type[Exception]) -> Iterator[None]:
    """Give a task a third of a second, as a worker does, and expect that it ends by that."""

    def raised(*_: Any) -> None:
        raise kind

    before = signal.signal(signal.SIGALRM, raised)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises((kind, PipelineRuntimeError)) as ended:
            yield
        assert any(type(error) is kind for error in causes(ended.value))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def generator(model: ScriptedModel) -> OpenAIChatGenerator:
    return OpenAIChatGenerator(Secret.from_token("x"), "scripted", api_base_url=model.url, timeout=20)


def pipeline(model: ScriptedModel, **parts: Any) -> Any:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    page = Document(content="A refund is paid within 30 days of the return.")
    store.write_documents(StaticDocumentEmbedder().run([page])["documents"])
    loaded = load("corrective_rag", store=store, generator=generator(model), **parts)
    loaded.warm_up()
    return loaded


def slow_at(model: ScriptedModel, is_slow: Callable[[Any], bool]) -> None:
    """Let the model take long for some of its replies."""
    quick = model.reply

    def reply(messages: Any) -> tuple[str, str]:
        time.sleep(3.0 if is_slow(messages) else 0.0)
        return quick(messages)

    model.reply = reply


@KINDS
@pytest.mark.parametrize("step", ["grading", "answering"])
def test_a_time_limit_of_the_worker_ends_the_run(
    step: str, kind: type[Exception], scripted_model: ScriptedModel
) -> None:
    """It is no failure of the model, after which the run would go on until the worker is killed."""
    rag = pipeline(scripted_model, **({"grader": HeuristicGrader()} if step == "answering" else {}))
    slow_at(scripted_model, lambda messages: bool(documents_in(messages)) == (step == "grading"))
    with limited(kind):
        rag.run(query="When is a refund paid?")


@KINDS
def test_a_time_limit_of_the_worker_ends_the_rewriting_of_a_question(
    kind: type[Exception], scripted_model: ScriptedModel
) -> None:
    """It is not asked as it stands instead."""
    scripted_model.delay = 3.0
    said = [ChatMessage.from_user("a lamp?"), ChatMessage.from_assistant("Yes."), ChatMessage.from_user("When?")]
    rewriter = FollowUpRewriter(generator(scripted_model))
    rewriter.warm_up()
    with limited(kind):
        rewriter.run(said)


@pytest.fixture
def silent() -> Iterator[str]:
    """Where a server accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def store_at(place: str) -> ElasticsearchDocumentStore:
    store = ElasticsearchDocumentStore(hosts=f"http://{place}", index="x")
    store._client = Elasticsearch(f"http://{place}", request_timeout=3, max_retries=0)
    return store


@KINDS
def test_a_time_limit_of_the_worker_is_no_failed_search(kind: type[Exception], silent: str) -> None:
    """Not 'nothing was found'."""
    store = store_at(silent)
    with limited(kind):
        search(store, {"query": {"match_all": {}}}, Limit(3.0, "timeout"))


@KINDS
def test_a_time_limit_of_the_worker_is_no_failed_search_of_another_store(kind: type[Exception], silent: str) -> None:
    """Also where the queue's own error is a TimeoutError, as that of a search is."""
    retriever = ReportingRetriever(ElasticsearchBM25Retriever(document_store=store_at(silent)))
    with limited(kind):
        retriever.run(query="When?")


@KINDS
def test_a_time_limit_of_the_worker_is_heeded_where_it_is_asked_why_nothing_was_found(
    kind: type[Exception], httpserver: HTTPServer
) -> None:
    nothing = {"hits": {"hits": []}, "timed_out": False, "_shards": {"total": 1, "failed": 0}}
    known = {"X-Elastic-Product": "Elasticsearch"}
    httpserver.expect_request("/x/_search").respond_with_json(nothing, headers=known)
    httpserver.expect_request("/x/_count").respond_with_handler(lambda _: time.sleep(1.0) or Response("{}"))
    store = store_at(f"{httpserver.host}:{httpserver.port}")
    with limited(kind):
        search(store, {"query": {"bool": {"must": []}}}, Limit(3.0, "timeout"))


@KINDS
def test_a_time_limit_of_the_worker_is_no_missing_statistics(
    kind: type[Exception], silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haystack_integrations.crag.corpus_statistics.server._TIMEOUT_S", 3.0)
    statistics = ServerStatistics(store_at(silent))
    with limited(kind):
        statistics.known({"novel": ["novel"]})


@KINDS
def test_a_time_limit_of_the_worker_is_no_server_that_cannot_be_reached(kind: type[Exception], silent: str) -> None:
    with limited(kind), client_for(f"http://{silent}", request_timeout=1, max_retries=0) as client:
        client.info()


@KINDS
def test_a_time_limit_of_the_worker_is_heeded_while_a_file_is_read(kind: type[Exception]) -> None:
    with limited(kind):
        call_or_end(9.0, lambda: time.sleep(2.0), lambda: False)


@KINDS
def test_a_time_limit_of_the_worker_is_no_pipe_that_nobody_writes_into(
    kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a password manager's, that is read when a component is made."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo(".env")
    with limited(kind):
        configured("CRAG_LLM_MODEL")
    os.close(os.open(".env", os.O_RDWR | os.O_NONBLOCK))  # lets the thread end that still waits for it


@KINDS
def test_a_time_limit_of_the_worker_is_no_failed_cache(kind: type[Exception], silent: str) -> None:
    cache = RedisGradeCache(f"redis://{silent}/0", timeout_s=3.0)
    with limited(kind):
        cache.read(["key"], seconds=3.0)


@KINDS
def test_a_time_limit_of_the_worker_is_heeded_while_another_run_asks_the_same(
    kind: type[Exception], scripted_model: ScriptedModel
) -> None:
    grader = BatchRelevanceGrader(generator(scripted_model), cache=MemoryGradeCache())
    grader.warm_up()
    scripted_model.delay = 1.0
    asked = {"query": "When is a refund paid?", "documents": [Document(content="A refund is paid within 30 days.")]}
    with ThreadPoolExecutor(1) as other:
        first = other.submit(grader.run, **asked)
        eventually(lambda: scripted_model.requests)
        with limited(kind):
            grader.run(**asked)
        assert first.result()["status"] == "ok"


class Quitting:
    """A chat model that breaks off."""

    def __init__(self, end: type[BaseException]) -> None:
        self.end = end

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        raise self.end


class QuittingOnTheLoop(Quitting):
    """The same of an asynchronous client, as one that awaits a token that another run began to fetch, and gave up."""

    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
        shared = asyncio.get_running_loop().create_future()
        shared.cancel()
        await shared
        return {}


@pytest.mark.parametrize(
    ("model", "end"),
    [
        (Quitting, asyncio.CancelledError),
        (Quitting, StopIteration),
        (QuittingOnTheLoop, asyncio.CancelledError),
    ],
)
async def test_a_model_that_breaks_off_by_itself_ends_no_run(model: Any, end: type[BaseException]) -> None:
    """It has failed: a cancellation that nobody asked for would end the run, a StopIteration never come to its loop."""
    page, question = Document(content="A refund is paid within 30 days."), "When is a refund paid?"
    async with asyncio.timeout(5):
        for result in (
            await asyncio.to_thread(BatchRelevanceGrader(model(end)).run, query=question, documents=[page]),
            await BatchRelevanceGrader(model(end)).run_async(query=question, documents=[page]),
        ):
            assert (result["status"], [document.id for document in result["documents"]]) == ("failed", [page.id])
        replies = await AnswerGenerator(model(end)).run_async(messages=[ChatMessage.from_user(question)])
    assert ANSWER_FAILED in replies["replies"][0].meta
