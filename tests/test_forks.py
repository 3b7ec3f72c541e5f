"""A pipeline that was asked before its process forked, as by Gunicorn's `preload` or a pool of processes."""

import asyncio
import json
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from haystack import Document, component
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import FallbackChatGenerator, OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from keeping_alive import KeepingAlive, serving
from makers import fill

from haystack_integrations.crag.caching import Flights
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.corpus_statistics import StatisticsSource, collect, write_statistics
from haystack_integrations.crag.corpus_statistics import file as file_of_statistics
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.store_profiles import open_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")


class _Telling(KeepingAlive):
    """Answers by which connection it was asked."""

    def words(self) -> str:
        return str(self.client_address[1])

    def number(self) -> float:
        return float(self.client_address[1])


@pytest.fixture
def url() -> Iterator[str]:
    """Such a server."""
    with serving(_Telling) as url:
        yield url


def in_child(function: Callable[[], Any]) -> Any:
    """What a function gives in a process that is forked now."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # beside threads, as those of the server above
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(function()).encode())
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("around", [lambda one: one, lambda one: FallbackChatGenerator([one])], ids=["", "fallback"])
def test_a_child_asks_a_model_by_a_connection_of_its_own(url: str, around: Any, asynchronous: bool) -> None:
    """Of one that two processes read, one got the other's answer: somebody else's, to another question."""
    model = OpenAIChatGenerator(Secret.from_token("k"), "m", api_base_url=url, max_retries=0)
    generator, messages = AnswerGenerator(around(model)), [ChatMessage.from_user("q")]

    def asked() -> Any:
        door = asyncio.run(generator.run_async(messages)) if asynchronous else generator.run(messages)
        return door["replies"][0].text

    before = generator.run(messages)["replies"][0].text
    child = in_child(asked)
    assert (child.isdigit(), child == before, generator.run(messages)["replies"][0].text == before) == (
        True,
        False,
        True,
    )
    generator.close()


def test_a_child_embeds_a_question_by_a_connection_of_its_own(url: str) -> None:
    """As it asks a model."""
    embedder = OpenAITextEmbedder(Secret.from_token("k"), "m", api_base_url=url, max_retries=0)
    store = memory_store()
    fill(store, [Document(content="Penguins live on the coast.")])
    rag = load("corrective_retrieval", store=store, dense={"text_embedder": embedder})
    rag.run(query="Where do penguins live?")
    before = embedder.run("q")["embedding"][0]
    assert in_child(lambda: embedder.client is None)
    assert embedder.run("q")["embedding"][0] == before
    rag.close()


def test_a_child_does_not_wait_for_what_its_parent_is_grading() -> None:
    """It would wait until the deadline, each time that it is asked this."""
    flights = Flights()
    flights.claim(["a"])
    assert in_child(lambda: flights.claim(["a"])[0]) == ["a"]
    assert flights.claim(["a"])[0] == []


def test_a_child_does_not_wait_for_what_its_parent_is_counting(tmp_path: Path) -> None:
    """It would for ever: the thread that counts a store, or reads a file of statistics, is not in it."""
    counting, counted, store, file = Event(), Event(), memory_store(), tmp_path / "corpus.json"

    class Title(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __ne__(self, other: object) -> bool:  # as each is when it is read
            counting.set()
            counted.wait(10)
            return str.__ne__(self, other)

    fill(store, [Document(content="Penguins live on the coast.", meta={"title": Title("Birds")})])
    write_statistics(collect(["Penguins", "Seals"]), file)
    sources = [StatisticsSource(store=store), StatisticsSource(file=file)]

    def known() -> list[int]:
        counted.set()
        signal.alarm(10)
        return [source.resolve("penguins").documents for source in sources]

    counter = Thread(target=sources[0].warm_up)
    counter.start()
    assert counting.wait(10)
    with file_of_statistics._lock:
        told = in_child(known)
    counted.set()
    counter.join()
    assert told == [1, 2]
    assert sources[0].resolve("birds").frequency(["bird"]) == {"bird": 1}


def test_a_child_keeps_a_client_that_holds_the_documents() -> None:
    """As that of Qdrant's `:memory:` does: a new one would be empty, and every question without an answer."""

    class Retriever(InMemoryBM25Retriever):
        def __init__(self, store: Any) -> None:
            InMemoryBM25Retriever.__init__(self, store)
            self.client = store

        def close(self) -> None:
            """Have doors as a client's owner has."""

        async def close_async(self) -> None:
            """Have doors as a client's owner has."""

    store = memory_store()
    fill(store, [Document(content="Penguins live on the coast.")])
    retriever = component(Retriever)(store)
    rag = load("corrective_retrieval", store=store, bm25=retriever)
    asyncio.run(rag.run_async(query="Where do penguins live?"))
    assert in_child(lambda: retriever.client is store)


def test_a_child_searches_an_index_by_connections_of_its_own(elasticsearch_url: str, elasticsearch_index: str) -> None:
    """As it asks a model."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    fill(store, [Document(content="Penguins live on the coast.")])
    rag = load("corrective_retrieval", store=store)

    def searched() -> Any:
        was_open = store._client is not None
        record = rag.run(query="Where do penguins live?")["crag"]
        return [was_open, record["coverage"]["reasons"], len(record["kept"])]

    searched()
    assert in_child(searched) == [False, [], 1]
    assert searched() == [True, [], 1]
    rag.close()
