"""
Promise P4: whatever a model does, a run ends within its limits, with evidence or with a reason.

Whole pipelines over HTTP through Haystack's own client: a grader that finds nothing relevant, an endpoint that hangs,
one that sends a byte now and then.
"""

import asyncio
import socketserver
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from makers import fill, grade_by_door
from scripted_model import NAME, ScriptedModel, judging

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.pipelines import load
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

QUESTION = "Where do penguins live?"
TEXTS = [f"Penguins of colony {name} live on the coast." for name in ("one", "two", "three", "four")]
TEXTS += ["Bakers get up early.", "The ferry leaves at noon.", "Brass spoons are polished with chalk."]
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
DEADLINE = 4.0
BUSY = 3.5
"""What a busy machine may add; a run whose steps had a deadline each would take longer still."""


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """A store where the question's words find four documents, and nothing else finds the others."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    return in_memory_store


@pytest.fixture
def dripping() -> Iterator[str]:
    """An endpoint that sends the head of a response, and then a space every 50 ms: no client timeout ever fires."""
    over = threading.Event()

    class Drip(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Elastic-Product: Elasticsearch\r\n"
            self.request.sendall(f"{head}Content-Length: 9999\r\n\r\n".encode())
            try:
                while not over.wait(0.05):
                    self.request.sendall(b" ")
            except OSError:
                pass

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Drip) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        over.set()
        server.shutdown()


def model(url: str) -> OpenAIChatGenerator:
    """A client that would wait for a minute by itself."""
    key = Secret.from_token("k")
    return OpenAIChatGenerator(api_key=key, model=NAME, api_base_url=url, timeout=60, max_retries=2)


def ask(name: str, store: Any, url: str, *, asynchronous: bool, **inputs: Any) -> tuple[dict[str, Any], float]:
    """Ask a pipeline; gives its result and the seconds it took."""
    rag: Any = load(name, store=store, generator=model(url))
    rag.warm_up()
    started = time.monotonic()

    async def run() -> Any:
        try:
            return await rag.run_async(query=QUESTION, **inputs)
        finally:
            nonlocal started
            started = time.monotonic() - started
            await rag.close_async()

    if asynchronous:
        return asyncio.run(run()), started
    try:
        return rag.run(query=QUESTION, **inputs), time.monotonic() - started
    finally:
        rag.close()


@BOTH
@pytest.mark.parametrize("name", ["agent_rag", "corrective_rag"])
def test_a_grader_that_finds_nothing_relevant_ends_at_the_limits(
    name: str, asynchronous: bool, store: Any, scripted_model: ScriptedModel
) -> None:
    """No exception, no endless loop: passes and calls are counted, and the record says what ended the run."""
    scripted_model.reply = judging(lambda _: 0.0)
    result, _ = ask(name, store, scripted_model.url, asynchronous=asynchronous)
    record = result["crag"]
    assert record["iterations"] <= 3
    assert scripted_model.gradings <= 3
    assert record["limit"] in ("max_iterations", "nothing_new")
    assert record["action"] in ("generate", "abstain")
    assert result["answers"]


@BOTH
@pytest.mark.parametrize(
    ("budget", "limit"),
    [({"iterations": 1}, "max_iterations"), ({"llm_calls": 1}, "llm_calls"), ({"tokens": 500}, "tokens")],
)
def test_every_limit_of_the_budget_ends_a_run_and_is_named(
    budget: dict[str, Any], limit: str, asynchronous: bool, store: Any, scripted_model: ScriptedModel
) -> None:
    """Asked for per run; the answer itself is not counted."""
    scripted_model.reply = judging(lambda text: 0.0)
    result, _ = ask("agent_rag", store, scripted_model.url, asynchronous=asynchronous, budget=budget)
    assert scripted_model.gradings == 1
    assert result["crag"]["limit"] == limit
    assert f"limit:{limit}" in result["crag"]["coverage"]["reasons"]
    # The trail said "pass 1 of 3", and beside it that no more passes are allowed.
    most = {decision["max_iterations"] for decision in result["crag"]["trail"]}
    assert most == {budget.get("iterations", 3)}


@BOTH
@pytest.mark.parametrize("name", ["agent_rag", "corrective_rag"])
def test_an_endpoint_that_hangs_holds_a_run_no_longer_than_its_deadline(
    name: str, asynchronous: bool, store: Any, scripted_model: ScriptedModel
) -> None:
    """Grading and answer together; the evidence is there, and the record says that time was up."""
    scripted_model.delay = 60
    result, seconds = ask(name, store, scripted_model.url, asynchronous=asynchronous, budget={"seconds": DEADLINE})
    assert seconds < DEADLINE + BUSY
    assert result["documents"]
    assert result["crag"]["verdict"] == "ungraded"
    assert result["crag"]["coverage"]["deadline_hit"]
    assert "could not be written" in result["answers"][0].data


@BOTH
def test_an_endpoint_that_drips_is_given_up_as_well(asynchronous: bool, store: Any, dripping: str) -> None:
    """A client's read timeout counts from byte to byte and never fires here."""
    result, seconds = ask("agent_rag", store, dripping, asynchronous=asynchronous, budget={"seconds": DEADLINE})
    assert seconds < DEADLINE + BUSY
    assert result["crag"]["coverage"]["deadline_hit"]
    assert result["documents"]


@BOTH
def test_a_grader_alone_keeps_its_own_deadline(asynchronous: bool, dripping: str) -> None:
    """Also with several windows at once."""
    grader = BatchRelevanceGrader(model(dripping), deadline_s=0.5, max_prompt_tokens=500)
    documents = [Document(content=f"passage {number} " * 60) for number in range(12)]
    started = time.monotonic()

    result = grade_by_door(grader, QUESTION, documents, asynchronous=asynchronous)
    assert time.monotonic() - started < 10
    assert result["status"] == "failed"
    assert len(result["documents"]) == 12


def test_an_elasticsearch_that_drips_is_given_up_before_the_first_question(dripping: str) -> None:
    """Its client's timeout counts from byte to byte as well, and what comes before the first search has no budget."""
    store = ElasticsearchDocumentStore(hosts=dripping.removesuffix("/v1"), index="i", request_timeout=0.2)
    started = time.monotonic()
    with pytest.raises(StoreError, match="ConnectionTimeout"):
        load("corrective_retrieval", store=store)
    assert time.monotonic() - started < 20
