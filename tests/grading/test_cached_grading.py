"""Grades that are kept: asked for once, shared by all who ask at the same time, and never a reason to fail."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from haystack import Document
from haystack.components.generators.chat import FallbackChatGenerator
from haystack.dataclasses import ChatMessage
from makers import asked
from waiting import eventually_async

from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.caching import Found, GradeCache, MemoryGradeCache, RedisGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.grades import annotate
from haystack_integrations.crag.state import CragState

QUESTION = "Who wrote Emma?"
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


class Hiding:
    """A chat generator of which nothing tells the model."""

    def __init__(self, model: Any) -> None:
        """Hide it."""
        self._inner = model

    def run(self, messages: list[Any]) -> dict[str, Any]:
        """Answer as the hidden one."""
        reply: dict[str, Any] = self._inner.run(messages)
        return reply

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        """Answer as the hidden one."""
        reply: dict[str, Any] = await self._inner.run_async(messages)
        return reply


class Model:
    """A chat generator that counts its calls, takes its time, and fails while it is told to."""

    def __init__(self, delay: float = 0.0, finish: str = "stop", mark: float = 0.8) -> None:
        """Work, at first."""
        self.mark = mark
        self.delay, self.finish, self.broken, self.calls, self.shown = delay, finish, False, 0, 0
        self._lock = threading.Lock()

    def _reply(self, messages: list[Any]) -> dict[str, Any]:
        if self.broken:
            msg = "down"
            raise ConnectionError(msg)
        text = json.dumps(dict.fromkeys(asked(messages), self.mark))
        return {"replies": [ChatMessage.from_assistant(text, meta={"finish_reason": self.finish})]}

    def run(self, messages: list[Any]) -> dict[str, Any]:
        """Answer."""
        with self._lock:
            self.calls += 1
            self.shown += len(asked(messages))
        time.sleep(self.delay)
        return self._reply(messages)

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        """Answer."""
        self.calls += 1
        self.shown += len(asked(messages))
        await asyncio.sleep(self.delay)
        return self._reply(messages)


class Garbling(Model):
    """A model whose first reply is of no use."""

    def _reply(self, messages: list[Any]) -> dict[str, Any]:
        if self.calls == 1:
            return {"replies": [ChatMessage.from_assistant("I cannot say.", meta={"finish_reason": "stop"})]}
        return super()._reply(messages)


class TakingAll(Model):
    """A model that takes what Haystack's fallback hands on."""

    def run(self, messages: list[Any], **_: Any) -> dict[str, Any]:
        """Answer."""
        return super().run(messages)

    async def run_async(self, messages: list[Any], **_: Any) -> dict[str, Any]:
        """Answer."""
        return await super().run_async(messages)


def docs(count: int = 5, first: int = 0) -> list[Document]:
    """Documents."""
    return [Document(content=f"passage number {number}") for number in range(first, first + count)]


def grade(grader: BatchRelevanceGrader, *, asynchronous: bool, documents: Any = None, **inputs: Any) -> dict[str, Any]:
    """Grade by one of the doors."""
    inputs = {"query": QUESTION, "documents": docs() if documents is None else documents, **inputs}

    async def run() -> dict[str, Any]:
        try:
            started = time.perf_counter()
            result = dict(await grader.run_async(**inputs))
            return {**result, "seconds": time.perf_counter() - started}
        finally:
            await grader.close_async()

    if asynchronous:
        return asyncio.run(run())
    started = time.perf_counter()
    result = grader.run(**inputs)
    return {**result, "seconds": time.perf_counter() - started}


@pytest.fixture(params=["memory", "redis"])
def cache(request: pytest.FixtureRequest) -> Iterator[GradeCache]:
    """Each kind of cache; Redis is a real one."""
    if request.param == "memory":
        yield MemoryGradeCache()
        return
    # A busy machine may take its time; what is about time sets its own limit.
    made = RedisGradeCache(request.getfixturevalue("redis_url"), prefix=f"test-{uuid4().hex}:", ttl_s=60, timeout_s=2.0)
    yield made
    made.close()


@BOTH
def test_a_question_that_was_graded_before_costs_no_call(cache: GradeCache, asynchronous: bool) -> None:
    """The scores are the same, marked `cached`, by another grader too; new documents alone are asked about."""
    model = Model()
    first = grade(BatchRelevanceGrader(model, cache=cache), asynchronous=asynchronous)
    again = grade(BatchRelevanceGrader(model, cache=cache), asynchronous=asynchronous)
    assert model.calls == 1
    assert again["scores"] == first["scores"] == [0.8] * 5
    assert again["status"] == "ok"
    assert {document.meta["crag"]["status"] for document in again["documents"]} == {"cached"}
    assert again["report"]["cache_hits"] == 5
    assert again["report"]["llm_calls"] == 0
    more = grade(BatchRelevanceGrader(model, cache=cache), asynchronous=asynchronous, documents=docs(7))
    assert (model.calls, model.shown) == (2, 7)
    assert more["scores"] == [0.8] * 7


@pytest.mark.parametrize(
    "change",
    [{"rubric": "Judge harshly."}, {"scale": 10.0}, {"reasons": True}],
)
def test_another_prompt_is_another_question_to_the_model(change: dict[str, Any]) -> None:
    """Nothing has to be invalidated."""
    cache, model = MemoryGradeCache(), Model(mark=1)
    grade(BatchRelevanceGrader(model, cache=cache), asynchronous=False)
    grade(BatchRelevanceGrader(model, cache=cache, **change), asynchronous=False)
    assert model.calls == 2


@BOTH
def test_a_setting_that_is_changed_in_place_is_another_model(asynchronous: bool) -> None:
    """Its grades would be taken for those of the old setting, also by other processes."""
    model = Model()
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    grade(grader, asynchronous=asynchronous)
    model.mark = 0.3
    assert grade(grader, asynchronous=asynchronous)["scores"] == [0.3] * 5


def test_what_was_graded_without_a_canary_counts_for_nobody_who_asks_with_one() -> None:
    """Who switches it on distrusts the grades that a document may have talked the model into."""
    cache, model = MemoryGradeCache(), Model(mark=0.4)
    grade(BatchRelevanceGrader(model, cache=cache), asynchronous=False)
    for hits in (0, 5):
        result = grade(BatchRelevanceGrader(model, cache=cache, canary=True), asynchronous=False)
        assert result["report"]["cache_hits"] == hits


@pytest.mark.parametrize(
    "inputs", [{"query": "Who wrote Persuasion?"}, {"documents": docs(1)}], ids=["question", "alone"]
)
def test_another_question_or_a_document_alone_is_graded_anew(inputs: dict[str, Any]) -> None:
    """A score may depend on the neighbours in the prompt."""
    cache, model = MemoryGradeCache(), Model()
    grade(BatchRelevanceGrader(model, cache=cache), asynchronous=False)
    grade(BatchRelevanceGrader(model, cache=cache), asynchronous=False, **inputs)
    assert model.calls == 2


@BOTH
def test_a_line_of_a_title_is_no_line_of_a_text(asynchronous: bool) -> None:
    """Two documents whose title and text are the same only when joined are two questions to the model."""
    cache, model = MemoryGradeCache(), Model()
    pair = [Document(content="A\nB", meta={"title": "T"}), Document(content="B", meta={"title": "T\nA"})]
    for document in pair:
        grade(BatchRelevanceGrader(model, cache=cache), asynchronous=asynchronous, documents=[document])
    assert model.calls == 2


@BOTH
def test_what_is_not_clean_is_not_kept(asynchronous: bool) -> None:
    """Neither the salvage of a cut reply, nor a failure, nor a repaired reply."""
    for model in (Model(finish="length"), Model()):
        cache = MemoryGradeCache()
        model.broken = model.finish == "stop"
        grade(BatchRelevanceGrader(model, cache=cache), asynchronous=asynchronous)
        model.broken, model.finish, calls = False, "stop", model.calls
        result = grade(BatchRelevanceGrader(model, cache=cache), asynchronous=asynchronous)
        assert model.calls == calls + 1
        assert result["scores"] == [0.8] * 5


@BOTH
def test_a_model_that_tells_no_settings_shares_its_grades_with_no_other(
    asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Two that hide different models would share a key; the same object is known again, and the log says so."""
    cache, models = MemoryGradeCache(), [Model(), Model()]
    first, second = map(Hiding, models)
    hits = [
        grade(BatchRelevanceGrader(one, cache=cache), asynchronous=asynchronous)["report"]["cache_hits"]
        for one in (first, first, second)
    ]
    assert hits == [0, 5, 0]
    assert [model.calls for model in models] == [1, 1]
    assert "of use to this process only: got a Hiding, of which nothing tells the settings" in caplog.text


@BOTH
def test_models_within_a_model_are_told_apart_by_their_settings(asynchronous: bool) -> None:
    """Haystack's fallback holds a list of them: the same ones hit, other ones do not."""
    cache, replies = MemoryGradeCache(), []
    for delay in (0.0, 0.0, 0.001):
        nested = FallbackChatGenerator([TakingAll(delay)])
        grader = BatchRelevanceGrader(nested, cache=cache)
        replies.append(grade(grader, asynchronous=asynchronous)["report"]["cache_hits"])
    assert replies == [0, 5, 0]


@pytest.mark.parametrize(("web", "calls"), [(False, 2), (True, 1)])
def test_grades_of_web_documents_are_kept_only_when_asked(web: bool, calls: int) -> None:
    """A page changes; a cache does not know."""
    cache, model = MemoryGradeCache(web=web), Model()
    documents = [annotate(document, origin="web") for document in docs(2)]
    for _ in range(2):
        result = grade(BatchRelevanceGrader(model, cache=cache), asynchronous=False, documents=documents)
        assert result["scores"] == [0.8, 0.8]
    assert model.calls == calls


def test_the_same_text_twice_is_asked_about_once() -> None:
    """Under two ids, as when two sources hold the same page."""
    model = Model()
    twins = [Document(id="a", content="the same text"), Document(id="b", content="the same text"), *docs(1)]
    result = grade(BatchRelevanceGrader(model, cache=MemoryGradeCache()), asynchronous=False, documents=twins)
    assert model.shown == 2
    assert result["scores"] == [0.8, 0.8, 0.8]


async def test_fifty_tasks_that_ask_the_same_make_one_call() -> None:
    """The first asks, the others wait for it and share the result."""
    model = Model(delay=0.2)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    results = await asyncio.gather(*(grader.run_async(query=QUESTION, documents=docs()) for _ in range(50)))
    assert model.calls == 1
    assert all(result["scores"] == [0.8] * 5 for result in results)


def test_fifty_threads_that_ask_the_same_make_one_call(cache: GradeCache) -> None:
    """Also with Redis, as long as they share a process."""
    model = Model(delay=0.2)
    grader = BatchRelevanceGrader(model, cache=cache)
    with ThreadPoolExecutor(max_workers=50) as pool:
        results = list(pool.map(lambda _: grader.run(query=QUESTION, documents=docs()), range(50)))
    assert model.calls == 1
    assert all(result["scores"] == [0.8] * 5 for result in results)


async def test_those_who_wait_share_a_failure_too() -> None:
    """A model that is down is not asked fifty times, and nobody's documents are lost."""
    model = Model(delay=0.1)
    model.broken = True
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    results = await asyncio.gather(*(grader.run_async(query=QUESTION, documents=docs()) for _ in range(50)))
    assert model.calls == 1
    assert all(result["status"] == "failed" for result in results)
    assert all(result["report"]["reasons"] == ["grader_failed:ConnectionError"] for result in results)


async def test_overlapping_batches_share_what_they_have_in_common() -> None:
    """Each claims what is free, and neither waits for ever."""
    model = Model(delay=0.1)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    batches = [docs(10, first) for first in (0, 5, 10, 15)]
    results = await asyncio.gather(*(grader.run_async(query=QUESTION, documents=batch) for batch in batches))
    assert all(result["scores"] == [0.8] * 10 for result in results)
    assert model.shown == 25


class Slow(Model):
    """A model that takes longer than anyone waits for the passage with the number 7."""

    async def run_async(self, messages: list[Any]) -> dict[str, Any]:
        """Answer."""
        found = await super().run_async(messages)
        await asyncio.sleep(60 if "number 7" in messages[-1].text else 0.2)
        return found


async def test_a_grade_that_another_run_has_got_counts_where_the_time_for_the_own_ones_is_over() -> None:
    """It was there long before, and costs no further wait."""
    model = Slow()
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache(), deadline_s=2.0)
    other = asyncio.create_task(grader.run_async(query=QUESTION, documents=docs(2)))
    assert await eventually_async(lambda: model.calls)
    result = await grader.run_async(query=QUESTION, documents=[*docs(1, first=7), *docs(1)])
    assert result["scores"] == [0.5, 0.8]
    assert (await other)["status"] == "ok"


async def test_when_the_one_who_asked_is_cancelled_another_takes_over() -> None:
    """Those who wait get grades, not the cancellation."""
    model = Model(delay=1.5)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    first = asyncio.create_task(grader.run_async(query=QUESTION, documents=docs()))
    assert await eventually_async(lambda: model.calls)
    others = [asyncio.create_task(grader.run_async(query=QUESTION, documents=docs())) for _ in range(5)]
    await asyncio.sleep(0.05)
    first.cancel()
    results = await asyncio.gather(*others)
    assert all(result["scores"] == [0.8] * 5 for result in results)
    assert model.calls == 2


async def test_a_run_without_budget_does_not_fail_those_who_have_one() -> None:
    """A limit says something of one run, not of the model."""
    model = Model(delay=0.1)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache(), max_prompt_tokens=500)
    documents = [Document(content=f"passage number {number} " + "word " * 140) for number in range(6)]
    poor = CragState.start(QUESTION, budget=Budget(llm_calls=1))
    runs = [grader.run_async(query=QUESTION, documents=documents, state=state) for state in (poor, None)]
    short, whole = await asyncio.gather(*runs)
    assert short["status"] in ("partial", "ok")
    assert whole["status"] == "ok"
    assert whole["scores"] == [0.8] * 6


async def test_a_useless_reply_fails_only_the_run_whose_budget_leaves_no_second_try() -> None:
    """Those who waited for it have calls left, and ask for themselves."""
    model = Garbling(delay=0.1)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    poor = CragState.start(QUESTION, budget=Budget(llm_calls=1))
    runs = [grader.run_async(query=QUESTION, documents=docs(), state=state) for state in (poor, None, None)]
    short, *whole = await asyncio.gather(*runs)
    assert short["status"] == "failed"
    assert [result["status"] for result in whole] == ["ok", "ok"]
    assert model.calls == 2


async def test_useless_replies_to_the_last_try_are_shared_by_all_who_waited() -> None:
    """Where it was the model that failed, and no budget, fifty runs ask no more often than one."""
    model = Model(delay=0.05, finish="stop", mark=7)
    grader = BatchRelevanceGrader(model, cache=MemoryGradeCache())
    results = await asyncio.gather(*(grader.run_async(query=QUESTION, documents=docs()) for _ in range(50)))
    assert {result["status"] for result in results} == {"failed"}
    assert model.calls == 4


@pytest.fixture(params=["dead", "silent", "dripping"])
def sick_redis(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that is not there, one that never answers, one that sends a byte now and then."""
    over = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    held: list[socket.socket] = []

    def drip(peer: socket.socket) -> None:
        while not over.wait(0.02):
            try:
                peer.sendall(b"$")
            except OSError:
                return

    def accept() -> None:
        while not over.is_set():
            try:
                peer, _ = server.accept()
            except OSError:
                return
            held.append(peer)
            if request.param == "dripping":
                threading.Thread(target=drip, args=(peer,), daemon=True).start()

    if request.param == "dead":
        server.close()
    else:
        threading.Thread(target=accept, daemon=True).start()
    yield f"redis://127.0.0.1:{port}/0"
    over.set()
    with suppress(OSError):  # it is closed already where it is dead
        server.shutdown(socket.SHUT_RDWR)
    server.close()
    for peer in held:
        peer.close()


@BOTH
def test_a_sick_redis_costs_its_time_once_and_changes_no_answer(sick_redis: str, asynchronous: bool) -> None:
    """Reading and writing together; the next grading does not even ask it. Of half a second, 50 ms by default."""
    model = Model()
    grade(BatchRelevanceGrader(model), asynchronous=asynchronous)
    healthy = grade(BatchRelevanceGrader(model), asynchronous=asynchronous)
    first, second = [], []
    for _ in range(3):  # the best counts: other work on this machine is no delay of ours
        grader = BatchRelevanceGrader(model, cache=RedisGradeCache(sick_redis, timeout_s=0.5, cooldown_s=60))
        result = grade(grader, asynchronous=asynchronous)
        first.append(result["seconds"] - healthy["seconds"])
        assert result["scores"] == healthy["scores"]
        assert result["status"] == "ok"
        assert result["report"]["cache_error"]
        again = grade(grader, asynchronous=asynchronous)
        second.append(again["seconds"] - healthy["seconds"])
        assert again["scores"] == healthy["scores"]
        grader.close()
    assert min(first) < 0.5 + 0.4  # were both waited for, it would be more than a second
    assert min(second) < 0.4
    assert model.calls == 8


class LateToLook(MemoryGradeCache):
    """A cache that is quick, in a process that is late to look for its reply."""

    timeout_s = 0.05

    def read(self, keys: Sequence[str], *, seconds: float) -> Found:
        """Tell how long the cache itself took."""
        found = super().read(keys, seconds=seconds)
        time.sleep(0.1)
        return replace(found, seconds=0.001)

    def write(self, scores: Mapping[str, float], *, seconds: float) -> None:
        """Keep nothing without time for it."""
        if seconds > 0:
            super().write(scores, seconds=seconds)


@BOTH
def test_a_process_that_was_late_to_read_a_cache_still_keeps_what_it_grades(asynchronous: bool) -> None:
    model = Model()
    grader = BatchRelevanceGrader(model, cache=LateToLook())
    grade(grader, asynchronous=asynchronous)
    assert grade(grader, asynchronous=asynchronous)["report"]["cache_hits"] == 5
    assert model.calls == 1


@BOTH
def test_a_redis_that_keeps_nothing_new_is_read_from_and_its_refusal_is_on_record(
    redis_url: str, asynchronous: bool
) -> None:
    """Such as one that is full, a read-only copy, or a user without the right to write."""
    import redis

    prefix, model = f"test-{uuid4().hex}:", Model()
    settings: dict[str, Any] = {"prefix": prefix, "timeout_s": 2.0}
    filling = BatchRelevanceGrader(model, cache=RedisGradeCache(redis_url, **settings))
    grade(filling, asynchronous=asynchronous)
    with redis.Redis.from_url(redis_url) as server:
        server.acl_setuser(prefix, enabled=True, nopass=True, keys=["*"], categories=["+@read", "+@connection"])
        url = redis_url.replace("//", f"//{quote(prefix, safe='')}@")
        grader = BatchRelevanceGrader(model, cache=RedisGradeCache(url, cooldown_s=30, **settings))
        for number in range(3):
            new = grade(grader, asynchronous=asynchronous, documents=docs(2, first=10 + number))
            assert new["report"]["cache_error"] == ("NoPermissionError" if number == 0 else "cooldown")
            known = grade(grader, asynchronous=asynchronous)
            assert (known["report"]["cache_hits"], known["report"]["cache_error"]) == (5, None)
        server.acl_deluser(prefix)
    for each in (filling, grader):
        each.close()


@BOTH
def test_a_poisoned_redis_changes_no_answer(redis_url: str, asynchronous: bool) -> None:
    """Entries that this package could not have written are misses."""
    import redis

    prefix, model = f"test-{uuid4().hex}:", Model()
    grader = BatchRelevanceGrader(model, cache=RedisGradeCache(redis_url, prefix=prefix, timeout_s=2.0))
    grade(grader, asynchronous=asynchronous)
    with redis.Redis.from_url(redis_url) as server:
        names = server.keys(f"{prefix}*")
        assert len(names) == 5
        for name, value in zip(names, (b"1.0", b'{"v":1,"s":7}', b"\x80\x04.", b'{"v":1}', b"[" * 40), strict=True):
            server.set(name, value)
    result = grade(grader, asynchronous=asynchronous)
    assert result["scores"] == [0.8] * 5
    assert model.calls == 2
    grader.close()


class SlowToRead(MemoryGradeCache):
    """A cache that takes a part of its time to read, and notes what it was given."""

    timeout_s = 5.0

    def __init__(self) -> None:
        super().__init__()
        self.given: list[float] = []

    def read(self, keys: Sequence[str], *, seconds: float) -> Found:
        self.given.append(seconds)
        return replace(super().read(keys, seconds=seconds), seconds=2.0)

    def write(self, scores: Mapping[str, float], *, seconds: float) -> str | None:
        self.given.append(seconds)
        return super().write(scores, seconds=seconds)


def test_what_a_cache_took_to_read_is_left_less_to_write() -> None:
    """All its traffic of one grading has one limit; the next grading has its own."""
    cache = SlowToRead()
    for number in range(2):
        grade(BatchRelevanceGrader(Model(), cache=cache), asynchronous=False, documents=docs(2, first=10 * number))
    assert cache.given == [5.0, 3.0] * 2


def test_who_asks_for_reasons_and_keeps_grades_is_told_that_reasons_are_not_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A cache holds numbers and no text, which others could read there; the status of such a grade is `cached`."""
    BatchRelevanceGrader(Model(), reasons=True)
    BatchRelevanceGrader(Model(), cache=MemoryGradeCache())
    assert caplog.text == ""
    BatchRelevanceGrader(Model(), reasons=True, cache=MemoryGradeCache())
    assert "A grade from the cache has no reason" in caplog.text
