"""Watch: a server has its time, and what this process is late with itself is not counted."""

import asyncio
import threading
import time
from concurrent.futures import Future

import pytest

from haystack_integrations.crag.caching.watch import Watch
from haystack_integrations.crag.deadlines import begun


async def asleep(ended: asyncio.Event) -> None:
    """Bring nothing, and say when that has ended."""
    try:
        await asyncio.sleep(60)
    finally:
        ended.set()


def test_a_reply_that_does_not_come_is_given_up_when_the_time_is_over() -> None:
    started = time.perf_counter()
    watch = Watch(0.1)
    with pytest.raises(TimeoutError):
        watch.result(Future())
    assert 0.1 <= time.perf_counter() - started < 10  # the reply never comes, and this process may be late at each look
    assert watch.left <= 0
    assert watch.spent >= 0.1


async def test_on_an_event_loop_what_is_given_up_is_cancelled_and_has_ended() -> None:
    ended, started = asyncio.Event(), time.perf_counter()
    with pytest.raises(TimeoutError):
        await Watch(0.1).result_async(asleep(ended))
    assert 0.1 <= time.perf_counter() - started < 10
    assert ended.is_set()


async def test_the_callers_own_cancellation_ends_what_was_asked_too() -> None:
    ended = asyncio.Event()
    waiting = asyncio.ensure_future(Watch(60).result_async(asleep(ended)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()


async def test_a_loop_that_is_held_for_longer_than_the_whole_time_gets_the_reply_all_the_same() -> None:
    """Three times over: the loop is busy whenever the reply needs a turn of it."""

    async def asked() -> str:
        for _ in range(3):
            asyncio.get_running_loop().call_soon(time.sleep, 0.1)
            await asyncio.sleep(0.001)
        return "a reply"

    watch = Watch(0.05)
    assert await watch.result_async(asked()) == "a reply"
    assert watch.spent < 0.05


def test_what_the_reply_holds_instead_is_raised_as_it_is() -> None:
    def fail() -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        Watch(1).result(begun(fail))


async def test_on_an_event_loop_too() -> None:
    async def fail() -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await Watch(1).result_async(fail())


def test_a_reply_within_the_time_is_not_waited_for_longer_than_it_takes() -> None:
    reply: Future[str] = Future()
    threading.Timer(0.02, reply.set_result, args=("a reply",)).start()
    started = time.perf_counter()
    assert Watch(500).result(reply) == "a reply"  # it looks every ten seconds
    assert time.perf_counter() - started < 5


async def test_a_server_that_hangs_beside_a_late_loop_is_given_up_by_the_clock() -> None:
    """A hundred late looks of 0.1 s would be ten seconds; forty times what was agreed is under one."""

    async def hold() -> None:
        while True:
            await asyncio.sleep(0)
            time.sleep(0.1)

    holding = asyncio.ensure_future(hold())
    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        await Watch(0.02).result_async(asyncio.sleep(60))
    holding.cancel()
    assert time.perf_counter() - started < 5
