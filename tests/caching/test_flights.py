"""Flights: one grading for one key, whatever happens to it, in threads and on event loops."""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from haystack_integrations.crag.caching import ABANDONED, Flights, Landing

MANY = 50


async def waited(future: "Future[Landing]", seconds: float = 60.0) -> Landing:
    return await asyncio.wait_for(asyncio.wrap_future(future), seconds)


def grade_in_thread(flights: Flights, result: Landing, calls: list[int], ready: threading.Barrier) -> Landing:
    """What a caller in a thread does: grade what is its own, wait for the rest."""
    ready.wait()
    mine, others = flights.claim(["k"])
    ready.wait()  # on a busy machine a thread could otherwise come when the key has landed, and rightly claim it anew
    if not mine:
        return others["k"].result(timeout=60)
    calls.append(1)
    flights.land("k", result)
    return result


@pytest.mark.parametrize("result", [Landing(score=0.8), Landing(failure="RateLimitError")])
def test_of_50_threads_one_grades_and_all_share_score_or_failure(result: Landing) -> None:
    """A failed call is not made again by each of those who waited."""
    flights, calls, ready = Flights(), [], threading.Barrier(MANY)
    with ThreadPoolExecutor(MANY) as pool:
        landings = list(pool.map(lambda _: grade_in_thread(flights, result, calls, ready), range(MANY)))
    assert landings == [result] * MANY
    assert len(calls) == 1


@pytest.mark.parametrize("result", [Landing(score=0.8), Landing(failure="RateLimitError")])
async def test_of_50_tasks_one_grades_and_all_share_score_or_failure(result: Landing) -> None:
    """The same on an event loop."""
    flights, calls = Flights(), []

    async def grade() -> Landing:
        mine, others = flights.claim(["k"])
        if not mine:
            return await waited(others["k"])
        await asyncio.sleep(0.02)
        calls.append(1)
        flights.land("k", result)
        return result

    assert await asyncio.gather(*(grade() for _ in range(MANY))) == [result] * MANY
    assert len(calls) == 1


async def test_a_task_can_wait_for_what_a_thread_grades() -> None:
    """One cache may serve a pipeline in threads and one on an event loop."""
    flights = Flights()
    flights.claim(["k"])
    timer = threading.Timer(0.02, flights.land, ["k", Landing(score=0.3)])
    timer.start()
    assert await waited(flights.claim(["k"])[1]["k"]) == Landing(score=0.3)
    timer.join()


def test_a_claim_tells_own_keys_from_those_of_others_and_counts_a_repeated_key_once() -> None:
    """Waiting for oneself would never end."""
    flights = Flights()
    assert flights.claim(["a", "b", "a"]) == (["a", "b"], {})
    mine, others = flights.claim(["c", "b", "c"])
    assert mine == ["c"]
    assert list(others) == ["b"]


def test_a_landed_key_leaves_at_once() -> None:
    """From then on the cache holds the score; a failure may be tried again by a later run."""
    flights = Flights()
    flights.claim(["k"])
    flights.land("k", Landing(failure="timeout"))
    assert flights.claim(["k"]) == (["k"], {})


def test_landing_or_abandoning_what_is_not_in_the_air_does_nothing() -> None:
    """An owner that cleans up twice is harmless."""
    flights = Flights()
    flights.land("k", Landing(score=1.0))
    flights.abandon(["k"])
    assert flights.claim(["k"]) == (["k"], {})


def test_when_the_owner_gives_up_exactly_one_of_those_who_waited_grades() -> None:
    """A cancelled request leaves nobody waiting for ever."""
    flights, owners, cache = Flights(), [], {}
    flights.claim(["k"])

    def wait_and_claim(number: int) -> Landing:
        while True:
            mine, others = flights.claim(["k"])
            if mine:
                if "k" not in cache:  # it may have landed between the look into the cache and the claim
                    owners.append(number)
                    time.sleep(0.02)
                    cache["k"] = 0.5
                flights.land("k", Landing(score=cache["k"]))
                return Landing(score=cache["k"])
            if (landing := others["k"].result(timeout=60)) is not ABANDONED:
                return landing

    with ThreadPoolExecutor(MANY) as pool:
        runs = [pool.submit(wait_and_claim, number) for number in range(MANY)]
        time.sleep(0.05)
        assert not owners
        flights.abandon(["k"])
        assert {run.result() for run in runs} == {Landing(score=0.5)}
    assert len(owners) == 1


async def test_a_cancelled_waiter_harms_neither_the_other_waiters_nor_the_owner() -> None:
    """`asyncio.wrap_future` passes a cancellation on to the shared future, which must not take it."""
    flights = Flights()
    flights.claim(["k"])
    waiters = [asyncio.ensure_future(waited(flights.claim(["k"])[1]["k"])) for _ in range(MANY)]
    await asyncio.sleep(0)
    for waiter in waiters[::2]:
        waiter.cancel()
    await asyncio.sleep(0.01)
    flights.land("k", Landing(score=0.7))
    landings = await asyncio.gather(*waiters, return_exceptions=True)
    assert all(isinstance(landing, asyncio.CancelledError) for landing in landings[::2])
    assert landings[1::2] == [Landing(score=0.7)] * (MANY // 2)


async def test_a_waiter_that_gives_up_harms_nobody() -> None:
    """A deadline ends the wait, not the grading."""
    flights = Flights()
    flights.claim(["k"])
    future = flights.claim(["k"])[1]["k"]
    with pytest.raises(TimeoutError):
        await waited(future, 0.01)
    with pytest.raises(TimeoutError):
        future.result(timeout=0.01)
    flights.land("k", Landing(score=0.7))
    assert future.result(timeout=0) == Landing(score=0.7)


def test_waiters_whose_event_loop_has_ended_harm_nobody() -> None:
    """Landing happens later and elsewhere."""
    flights = Flights()
    flights.claim(["k"])
    future = flights.claim(["k"])[1]["k"]

    async def give_up() -> None:
        with contextlib.suppress(TimeoutError):
            await waited(future, 0.01)

    asyncio.run(give_up())
    flights.land("k", Landing(score=0.7))
    assert future.result(timeout=0) == Landing(score=0.7)
