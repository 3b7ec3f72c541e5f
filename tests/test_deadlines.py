"""Waiting no longer than agreed: for blocking calls, from threads and from event loops."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from haystack.components.generators.chat import MockChatGenerator
from waiting import eventually_async

from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.caching import RedisGradeCache
from haystack_integrations.crag.components import (
    AnswerGenerator,
    BatchRelevanceGrader,
    SearXNGWebSearch,
    WebFallback,
)
from haystack_integrations.crag.deadlines import (
    EndOfThread,
    GivenUpError,
    NoTimeLeftError,
    call_or_end,
    call_within,
    call_within_async,
    in_caller,
    run_within,
    run_within_async,
    time_left,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.observing.telemetry import trace


def test_a_result_and_an_error_come_back_as_they_are() -> None:
    """Nothing is wrapped."""
    assert call_within(1.0, lambda: 7) == 7
    with pytest.raises(KeyError, match="gone"):
        call_within(1.0, lambda: {}["gone"])


def test_what_ends_a_process_comes_back_from_a_call_as_well() -> None:
    """Left in the thread, it would leave whoever waits with nothing until his time is up."""
    with pytest.raises(SystemExit):
        call_within(5.0, sys.exit)


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_a_call_without_time_is_not_begun(seconds: float) -> None:
    """A model's call would be paid for, and nobody would read its reply; that it was not made is told apart."""
    begun: list[str] = []

    class Blocking:
        def run(self) -> dict[str, Any]:
            begun.append("run")
            return {}

    class OfTheLoop(Blocking):
        async def run_async(self) -> dict[str, Any]:
            begun.append("run_async")
            return {}

    for part in (Blocking(), OfTheLoop()):
        with pytest.raises(NoTimeLeftError, match="no time is left"):
            run_within(part, seconds, {})
        with pytest.raises(NoTimeLeftError, match="no time is left"):
            await run_within_async(part, seconds, {})
    assert begun == []
    assert await run_within_async(Blocking(), 5.0, {}) == {}
    assert begun == ["run"]


async def test_what_runs_within_another_call_has_no_more_time_than_that() -> None:
    """A client that went by its own limit would wait for what nobody reads, such as a server's Retry-After."""

    class Asking:
        def run(self) -> dict[str, Any]:
            return {"left": time_left()}

    class Around:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def run(self) -> Any:
            return run_within(Asking(), self.seconds, {})

    for inner in (2.0, 60.0):
        assert 0 < run_within(Around(inner), 5.0, {})["left"] <= min(inner, 5.0)
        assert 0 < (await run_within_async(Around(inner), 5.0, {}))["left"] <= min(inner, 5.0)
    assert time_left() == inf


def test_a_call_may_have_something_done_by_who_waits_for_it() -> None:
    """In his thread, with the result or the error given back; where nobody waits, it is done at once."""

    def work() -> list[Any]:
        with pytest.raises(KeyError, match="gone"):
            in_caller(lambda: {}["gone"])
        return [
            in_caller(threading.get_ident),
            threading.get_ident(),
            call_within(5, lambda: in_caller(threading.get_ident)),
        ]

    here = threading.get_ident()
    caller, worker, nested = call_within(5, work)
    assert (caller, nested, in_caller(threading.get_ident)) == (here, worker, here)
    assert worker != here


def test_a_call_that_was_given_up_has_nothing_done_any_more() -> None:
    """It ends instead."""
    over, ended = threading.Event(), threading.Event()

    def work() -> None:
        over.wait(60)
        with pytest.raises(EndOfThread):
            in_caller(ended.clear)
        ended.set()

    with pytest.raises(TimeoutError):
        call_within(0.1, work)
    over.set()
    assert ended.wait(10)


def test_a_call_that_hangs_is_given_up() -> None:
    """At the deadline, not when the call ends."""
    over = threading.Event()
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        call_within(0.1, lambda: over.wait(60))
    assert time.monotonic() - start < 10
    over.set()


async def test_an_event_loop_is_not_held() -> None:
    """The loop goes on meanwhile, and the wait ends at the deadline."""
    over = threading.Event()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    with pytest.raises(TimeoutError):
        await call_within_async(1.0, lambda: over.wait(60))
    ticking.cancel()
    over.set()
    assert ticks > 5
    assert await call_within_async(1.0, lambda: 7) == 7


async def test_a_cancelled_wait_leaves_the_call_alone() -> None:
    """The thread sets its result into a future that nobody waits for: no error, no thread left."""
    before, over = set(threading.enumerate()), threading.Event()
    task = asyncio.create_task(call_within_async(60.0, lambda: over.wait(60)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    over.set()
    assert await eventually_async(
        lambda: all(thread.name != "crag-call" for thread in set(threading.enumerate()) - before)
    )


def test_a_call_keeps_the_callers_trace(exporter: Any) -> None:
    """Its spans stand below the caller's."""

    def inner() -> None:
        with trace("inner"):
            pass

    with trace("outer"):
        call_within(1.0, inner)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert spans["inner"].parent.span_id == spans["outer"].context.span_id


@pytest.mark.parametrize(
    "made",
    [
        lambda seconds: Budget(seconds=seconds),
        lambda seconds: AnswerGenerator(MockChatGenerator("x"), timeout_s=seconds),
        lambda seconds: BatchRelevanceGrader(MockChatGenerator("x"), deadline_s=seconds),
        lambda seconds: WebFallback(SearXNGWebSearch(url="http://127.0.0.1:9"), timeout_s=seconds),
        lambda seconds: RedisGradeCache(timeout_s=seconds),
    ],
    ids=["budget", "answer", "grader", "web", "redis"],
)
def test_a_time_that_no_thread_can_wait_for_is_refused_at_once(made: Callable[[float], object]) -> None:
    """As `sys.maxsize`, where no limit is wanted: every call would fail for it, one after the other."""
    made(1_000_000_000)
    with pytest.raises(ConfigurationError, match="at most 1,000,000,000 seconds"):
        made(sys.maxsize)


def test_the_longest_time_that_is_accepted_can_be_waited_for() -> None:
    assert call_within(1_000_000_000, lambda: time.sleep(0.05) or "done") == "done"


def test_what_computes_without_end_is_ended() -> None:
    """Its thread, too; what it catches as an error of its own does not keep it."""
    ended = threading.Event()

    def endless() -> None:
        try:
            while True:
                try:
                    sum(range(1000))
                except Exception:  # as readers of files do
                    continue
        finally:
            ended.set()

    with pytest.raises(GivenUpError):
        call_or_end(1.0, endless, lambda: False)
    assert ended.wait(30)


def test_a_call_that_is_in_time_gives_its_result_or_its_error() -> None:
    """Also an error that is one of time."""
    assert call_or_end(5.0, lambda: 7, lambda: False) == 7
    with pytest.raises(KeyError, match="gone"):
        call_or_end(5.0, lambda: {}["gone"], lambda: False)

    def late() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        call_or_end(5.0, late, lambda: False)
