"""A task queue's time limit ends a run, as Celery's and RQ's do: an exception that a signal's handler raises."""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from scripted_model import ScriptedModel, documents_in

from haystack_integrations.crag.components import FollowUpRewriter, HeuristicGrader, StaticDocumentEmbedder
from haystack_integrations.crag.elasticsearch.search import Limit, search
from haystack_integrations.crag.errors import causes
from haystack_integrations.crag.pipelines import load
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


@KINDS
def test_a_time_limit_of_the_worker_is_no_failed_search(kind: type[Exception]) -> None:
    """Of a server that accepts a connection and says nothing: not 'nothing was found'."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        store = ElasticsearchDocumentStore(hosts=f"http://127.0.0.1:{port}", index="x")
        store._client = Elasticsearch(f"http://127.0.0.1:{port}", request_timeout=3, max_retries=0)
        with limited(kind):
            search(store, {"query": {"match_all": {}}}, Limit(3.0, "timeout"))
