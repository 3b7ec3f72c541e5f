"""
Promise P11: runs through one pipeline object do not mix, also when some of them are cancelled midway.

Every run asks about its own animal. The scripted model repeats what it is shown, so a word of another run in an answer,
in the evidence or in a record would show.
"""

import asyncio
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from haystack import Document
from makers import asked, fill, scripted
from waiting import eventually_async

from haystack_integrations.crag.caching import MemoryGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.grades import question_id
from haystack_integrations.crag.pipelines import load

RUNS = 200
_CANARY = re.compile(r"animal\d{3}")


class Echo:
    """A chat generator that takes its time, grades by whether a text names the question's animal, and echoes it."""

    def __init__(self) -> None:
        """Count the calls."""
        self.calls = 0

    def _reply(self, messages: list[Any]) -> dict[str, Any]:
        self.calls += 1
        text = messages[-1].text
        animal = _CANARY.findall(re.findall(r"Question: (.*)", text)[0])[0]
        documents = asked(messages)
        entries = ", ".join(f'{{"id": "{k}", "score": {0.9 if animal in t else 0.0}}}' for k, t in documents.items())
        return scripted(f'{{"evaluations": [{entries}]}}' if documents else f"About {animal} [1].").run(messages)

    def run(self, messages: list[Any]) -> dict[str, Any]:
        """Answer."""
        return self._reply(messages)

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        """Answer after a moment, so that runs overlap."""
        await asyncio.sleep(random.uniform(0.0, 0.05))
        return self._reply(messages)


@pytest.fixture
def rag(in_memory_store: Any) -> Any:
    """One pipeline for all runs; two documents for each animal."""
    texts = [f"The animal{n:03} sleeps in {place}." for n in range(RUNS) for place in ("caves", "trees")]
    fill(in_memory_store, [Document(content=text) for text in texts])
    model = Echo()
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    loaded = load("corrective_rag", store=in_memory_store, grader=grader, generator=scripted(lambda m: ""))
    answering: Any = loaded.pipeline.get_component("generator")
    answering.chat_generator = model
    return loaded


def check(number: int, result: Any, llm_calls: tuple[int, ...] = (2,)) -> None:
    """Only this run's animal is in its answer, its evidence and what its record says of itself."""
    mine = {f"animal{number:03}"}
    assert set(_CANARY.findall(result["answers"][0].data)) == mine
    assert set(_CANARY.findall(" ".join(document.content for document in result["documents"]))) == mine
    assert set(_CANARY.findall(" ".join(result["crag"]["queries"]))) == mine
    assert {document.meta["crag"]["question"] for document in result["documents"]} == {question_id(question(number))}
    assert result["crag"]["iterations"] == 1
    assert result["crag"]["llm_calls"] in llm_calls


def question(number: int) -> str:
    """The question of one run."""
    return f"Where does the animal{number:03} sleep?"


async def test_two_hundred_runs_on_one_loop_some_cancelled_keep_apart(rag: Any) -> None:
    """No foreign text, no counter that one run leaves for the next, no task or thread left behind."""
    before, threads = asyncio.all_tasks(), set(threading.enumerate())
    await rag.run_async(query=question(0))
    pool_threads = set(threading.enumerate()) - threads
    tasks = [asyncio.create_task(rag.run_async(query=question(number))) for number in range(RUNS)]
    doomed = random.Random(7).sample(range(RUNS), 40)
    model = rag.pipeline.get_component("generator").chat_generator

    async def cancel(number: int) -> None:
        calls = random.randint(2, RUNS)  # by what the runs have done, however fast they are
        while model.calls < calls:
            await asyncio.sleep(0.01)
        tasks[number].cancel()

    cancelling = [asyncio.create_task(cancel(number)) for number in doomed]
    results = await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*cancelling)
    cancelled = [number for number, result in enumerate(results) if isinstance(result, asyncio.CancelledError)]
    assert set(cancelled) <= set(doomed)
    assert len(cancelled) > 5
    for number in set(range(1, RUNS)) - set(cancelled):
        check(number, results[number])
    assert asyncio.all_tasks() - before <= {asyncio.current_task()}
    known = threads | pool_threads
    assert await eventually_async(
        lambda: all(thread.name != "crag-call" for thread in set(threading.enumerate()) - known)
    )
    # What a cancelled run had claimed in the cache is free again: nobody waits for it. One that was cancelled while it
    # answered had its grades already, and they are in the cache: then only the answer is asked for.
    for number in cancelled:
        check(number, await asyncio.wait_for(rag.run_async(query=question(number)), 60), llm_calls=(1, 2))


def test_threads_that_share_a_pipeline_keep_apart(rag: Any) -> None:
    """The blocking door, from a pool of eight."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        results = list(pool.map(lambda number: rag.run(query=question(number)), range(40)))
    for number, result in enumerate(results):
        check(number, result)
