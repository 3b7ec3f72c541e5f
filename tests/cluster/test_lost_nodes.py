"""What a lost node does to answers: nothing where there is a copy, and an explained degradation where there is none."""

import asyncio
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from haystack import Document
from makers import run_by_door
from metasearch import Metasearch
from waiting import eventually_async

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.bulk import open_bulk
from haystack_integrations.crag.store_profiles import prepare, store_spec
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
TOWNS = [f"Town{number}" for number in range(60)]
THREADS = 3
PATIENT = {"timeout_s": 20}


def question(town: str) -> str:
    return f"Who built the lighthouse of {town}?"


def filled(nodes: Any, replicas: int) -> Any:
    """An index of three shards, one on each node, with one document for each town."""
    spec = store_spec("elasticsearch", ",".join(nodes.urls), f"crag-test-{uuid4().hex}")
    # A busy machine is not what is tested.
    store = ElasticsearchDocumentStore(**{**spec["init_parameters"], "request_timeout": PATIENT["timeout_s"]})
    prepare(store, number_of_shards=3, number_of_replicas=replicas)
    texts = [f"The lighthouse of {town} was built by Mason {town}." for town in TOWNS]
    documents = StaticDocumentEmbedder().run(documents=[Document(content=text) for text in texts])["documents"]
    with open_bulk(store) as bulk:
        assert bulk.write(documents).result() == {}
        bulk.finish()
    return store


def ask_all(rag: Any, stop: Event, answers: list[tuple[str, Any]], asked: Event) -> None:
    """Ask one question after another until told to stop; whatever comes out is kept, an exception too."""
    while not stop.is_set():
        for town in TOWNS:
            try:
                answers.append((town, rag.run(query=question(town))))
            except Exception as error:  # what a user would see
                answers.append((town, error))
            if len(answers) >= 40:
                asked.set()
            if stop.is_set():
                break


@pytest.fixture(scope="module")
def wounded(elasticsearch_cluster: Any) -> Iterator[dict[str, Any]]:
    """Two indices, and a node killed while questions are asked of the one with copies."""
    nodes = elasticsearch_cluster
    nodes.heal()
    copied, alone = filled(nodes, 1), filled(nodes, 0)
    nodes.wait(3, "green")
    rag = load("corrective_retrieval", store=copied, bm25=PATIENT, dense=PATIENT)
    before = {town: rag.run(query=question(town)) for town in TOWNS}
    stop, warm, answers = Event(), Event(), list[tuple[str, Any]]()
    with ThreadPoolExecutor(THREADS) as pool:
        threads = [pool.submit(ask_all, rag, stop, answers, warm) for _ in range(THREADS)]
        assert warm.wait(300)
        killed_at = len(answers)
        nodes.nodes[0].kill()
        deadline = time.monotonic() + 300
        while len(answers) < killed_at + 150 and time.monotonic() < deadline:
            time.sleep(0.05)
        stop.set()
        for thread in threads:
            thread.result()
    yield {"before": before, "answers": answers, "killed_at": killed_at, "alone": alone, "nodes": nodes}
    rag.close()
    for store in (copied, alone):
        store.close()


def text_of(result: Any) -> str:
    """The best evidence, or what was raised."""
    if isinstance(result, Exception):
        return repr(result)
    return str(result["documents"][0].content) if result["documents"] else f"nothing: {result['crag']['rule']}"


def test_with_a_copy_of_each_shard_no_answer_fails(wounded: dict[str, Any]) -> None:
    """Before, during and after the kill: the same evidence first, and the same verdict."""
    answers, before = wounded["answers"], wounded["before"]
    assert len(answers) >= wounded["killed_at"] + 150
    wrong = [(town, text_of(got)) for town, got in answers if text_of(got) != text_of(before[town])]
    assert wrong == []
    assert {got["crag"]["verdict"] for _, got in answers} == {"correct"}


@BOTH
def test_without_copies_what_is_left_is_used_and_the_record_says_so(
    wounded: dict[str, Any], asynchronous: bool, metasearch: Metasearch
) -> None:
    """Documents on the living nodes are found; a question about the others is never judged `incorrect`."""
    found, lost = 0, 0
    for town in TOWNS[:24]:
        rag = load("corrective_retrieval", store=wounded["alone"], bm25=PATIENT, dense=PATIENT)
        result = run_by_door(rag, asynchronous=asynchronous, query=question(town))
        record = result["crag"]
        assert record["verdict"] != "incorrect"
        assert record["coverage"]["degraded"] is True
        assert {"retrieval_incomplete:bm25", "retrieval_incomplete:dense"} <= set(record["coverage"]["reasons"])
        said = record["trail"][0]["retrieval"]["retrievers"]["bm25"]
        assert said == {"status": "incomplete", "kind": "shards", "shards": {"total": 3, "failed": 1}}
        if any(f"Mason {town}." in (document.content or "") for document in result["documents"]):
            found += 1
        else:
            lost += 1
    assert found > lost > 0


def test_without_copies_the_web_is_not_asked(wounded: dict[str, Any], metasearch: Metasearch) -> None:
    """Not even by a pipeline whose next step it would be: the document may be there, on the node that is not."""
    rag = load("heuristic_rag", store=wounded["alone"], bm25=PATIENT, dense=PATIENT)
    for town in (*TOWNS[:4], "Atlantis"):
        record = run_by_door(rag, asynchronous=False, query=question(town))["crag"]
        assert record["verdict"] != "incorrect"
        assert record["coverage"]["web"] in ("off", "skipped")
    assert metasearch.queries == []


class TestHeldServers:
    """Every server that is left stops answering, with its connections open (SIGSTOP)."""

    @pytest.fixture
    def held(self, wounded: dict[str, Any]) -> Iterator[Any]:
        rag = load("corrective_retrieval", store=wounded["alone"], bm25=PATIENT, dense=PATIENT)
        rag.run(query=question(TOWNS[0]))  # connected, and everything is loaded
        living = wounded["nodes"].nodes[1:]
        try:
            yield rag, lambda: [node.signal(signal.SIGSTOP) for node in living]
        finally:
            for node in living:
                node.signal(signal.SIGCONT)
            rag.close()

    @BOTH
    def test_a_run_ends_within_its_deadline_with_an_explained_record(self, held: Any, asynchronous: bool) -> None:
        """Both retrievers are given up; the words say that the search failed, not that nothing answers."""
        rag, hold = held
        hold()
        started = time.monotonic()
        result = run_by_door(rag, asynchronous=asynchronous, query=question(TOWNS[1]), budget={"seconds": 2})
        assert time.monotonic() - started < 10  # a retriever by itself would wait for twenty
        record = result["crag"]
        assert (record["verdict"], record["rule"], record["action"]) == ("ungraded", "retrieval_failed", "abstain")
        assert record["coverage"]["deadline_hit"] is True
        assert record["coverage"]["reasons"][:2] == ["retrieval_failed:bm25", "retrieval_failed:dense"]
        assert record["trail"][0]["retrieval"]["retrievers"]["bm25"] == {"status": "failed", "kind": "deadline"}

    async def test_a_cancelled_run_ends_at_once_and_leaves_no_task(self, held: Any) -> None:
        """The caller went away while the server kept the search."""
        rag, hold = held
        await rag.run_async(query=question(TOWNS[1]))
        hold()
        before = asyncio.all_tasks()
        running = asyncio.create_task(rag.run_async(query=question(TOWNS[2])))
        await asyncio.sleep(0.3)
        started = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert time.monotonic() - started < 5
        assert await eventually_async(lambda: asyncio.all_tasks() == before)
        await rag.close_async()
