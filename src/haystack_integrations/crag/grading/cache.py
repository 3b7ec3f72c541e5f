"""
Grades from earlier runs, and from runs that are asking the same at this moment.

Who claims a grade first asks the model for it; the others wait and share what comes, also a failure. `_plan` holds the
order of things and does nothing itself; the two doors do each step by blocking or by awaiting.
"""

import asyncio
import json
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from haystack_integrations.crag.caching import ABANDONED, Found, GradeCache, Landing, grade_key
from haystack_integrations.crag.grades import Grade
from haystack_integrations.crag.grading.batch import NAME, Grading
from haystack_integrations.crag.grading.plan import Item
from haystack_integrations.crag.interrupts import only_waiting
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.vocabulary import BUDGET_LIMITS

_OF_ITS_RUN: Final = frozenset({*BUDGET_LIMITS, "deadline"})
_OWN: Final = _OF_ITS_RUN | {"max_llm_calls"}
"""Failures that say something of one run's limits and nothing of the model: others try for themselves."""


@dataclass(frozen=True)
class _Read:
    keys: Sequence[str]


@dataclass(frozen=True)
class _Ask:
    items: Sequence[Item]


@dataclass(frozen=True)
class _Write:
    scores: Mapping[str, float]


@dataclass(frozen=True)
class _Wait:
    flights: Mapping[str, "Future[Landing]"]


_Step = _Read | _Ask | _Write | _Wait


def grade(grading: Grading, cache: GradeCache | None) -> None:
    """
    Grade what a grading has to ask about, with the help of a cache.

    :param grading: The grading; its `grades` are complete afterwards.
    :param cache: Where earlier grades are; None asks the model about everything.
    """
    if cache is None:
        grading.ask(grading.items)
        return
    patience = _Patience(cache)
    with closing(_plan(grading, cache)) as plan:
        answer: Any = None
        while (step := _next(plan, answer)) is not None:
            match step:
                case _Ask(items):
                    grading.ask(items)
                case _Read(keys):
                    with patience:
                        answer = patience.heed(cache.read(keys, seconds=patience.left))
                case _Write(scores):
                    with patience:
                        answer = cache.write(scores, seconds=patience.left)
                case _Wait(flights):
                    answer = {key: _landed(flight, grading) for key, flight in flights.items()}


async def grade_async(grading: Grading, cache: GradeCache | None) -> None:
    """
    Grade without blocking the event loop; see `grade`.

    :param grading: The grading.
    :param cache: Where earlier grades are.
    """
    if cache is None:
        await grading.ask_async(grading.items)
        return
    patience = _Patience(cache)
    with closing(_plan(grading, cache)) as plan:
        answer: Any = None
        while (step := _next(plan, answer)) is not None:
            match step:
                case _Ask(items):
                    await grading.ask_async(items)
                case _Read(keys):
                    with patience:
                        answer = patience.heed(await cache.read_async(keys, seconds=patience.left))
                case _Write(scores):
                    with patience:
                        answer = await cache.write_async(scores, seconds=patience.left)
                case _Wait(flights):
                    answer = {key: await _landed_async(flight, grading) for key, flight in flights.items()}


class _Patience:
    """What all cache traffic of one grading may still cost; a slow read leaves less for the write."""

    def __init__(self, cache: GradeCache) -> None:
        self.left = float("inf") if cache.timeout_s is None else cache.timeout_s
        self._since = 0.0
        self._told: float | None = None

    def __enter__(self) -> None:
        self._since, self._told = time.monotonic(), None

    def __exit__(self, *_: object) -> None:
        took = time.monotonic() - self._since if self._told is None else self._told
        self.left = max(0.0, self.left - took)

    def heed(self, found: Found) -> Found:
        """Count what the cache says that it took: it knows how late this process was."""
        self._told = found.seconds
        return found


def _next(plan: Generator[_Step, Any, None], answer: Any) -> _Step | None:
    try:
        return plan.send(answer)
    except StopIteration:
        return None


def _landed(flight: "Future[Landing]", grading: Grading) -> Landing:
    with only_waiting():
        landed, _ = wait([flight], timeout=grading.seconds_left())
    return flight.result() if landed else Landing(failure="deadline")


async def _landed_async(flight: "Future[Landing]", grading: Grading) -> Landing:
    if flight.done():  # its event loop would tell so later, and perhaps no time is left
        return flight.result()
    try:
        return await asyncio.wait_for(asyncio.wrap_future(flight), grading.seconds_left())
    except TimeoutError:
        return Landing(failure="deadline")


def _plan(grading: Grading, cache: GradeCache) -> Generator[_Step, Any, None]:
    """Claim, read, ask for the rest, write, then wait for what others have claimed; until all have a grade."""
    groups = _by_key(grading, cache)
    while groups:
        mine, theirs = cache.flights.claim(list(groups))
        flying = set(mine)
        try:
            if mine:
                # After claiming: whoever landed before has written before, so nothing is asked for twice.
                found: Found = yield _Read(mine)
                metrics.cache_asked(len(mine), len(found.scores), failed=found.error is not None)
                grading.tally.cache_hits += len(found.scores)
                grading.tally.cache_error = grading.tally.cache_error or found.error
                landed = {key: Landing(score) for key, score in found.scores.items()}
                for key, landing in landed.items():
                    _share(grading, groups[key], landing)
                _land(cache, landed, flying)
                yield from _asked(grading, cache, {key: groups[key] for key in mine if key in flying}, flying)
        finally:
            cache.flights.abandon(flying)
        landed = (yield _Wait(theirs)) if theirs else {}
        for key, landing in landed.items():
            if landing != ABANDONED:
                _share(grading, groups[key], landing)
        groups = {key: groups[key] for key, landing in landed.items() if landing == ABANDONED}


def _asked(
    grading: Grading, cache: GradeCache, groups: Mapping[str, Sequence[Item]], flying: set[str]
) -> Generator[_Step, Any, None]:
    """Ask about the first of each group, keep the clean grades, and tell those who wait."""
    if not groups:
        return
    yield _Ask([items[0] for items in groups.values()])
    given = {key: grading.grades[items[0].place] for key, items in groups.items()}
    keep = {
        key: grade.score
        for key, grade in given.items()
        if groups[key][0].place in grading.clean and (cache.web or groups[key][0].origin != "web")
    }
    if keep:
        error: str | None = yield _Write(keep)
        if error and grading.tally.cache_error is None:  # after a read that failed, the write tells nothing new
            grading.tally.cache_error = error
            metrics.cache_asked(len(keep), 0, failed=True)
    landed = {
        key: Landing(failure=grade.reason or "missing") if grade.status == "failed" else Landing(grade.score)
        for key, grade in given.items()
    }
    for key, landing in landed.items():
        _share(grading, groups[key][1:], landing)
    own = {key for key, items in groups.items() if _is_own(grading, items[0], landed[key])}
    _land(cache, {key: landing for key, landing in landed.items() if key not in own}, flying)


def _is_own(grading: Grading, item: Item, landing: Landing) -> bool:
    """Tell whether a failure is of one run only, such as a useless reply where its budget left no second try."""
    stopped = grading.tally.stopped.get(item.key) in _OF_ITS_RUN
    return landing.failure is not None and (stopped or landing.failure in _OWN)


def _land(cache: GradeCache, landed: Mapping[str, Landing], flying: set[str]) -> None:
    """Tell those who wait; a key that has landed may be somebody else's at once, so it is not abandoned later."""
    for key, landing in landed.items():
        flying.discard(key)
        cache.flights.land(key, landing)


def _share(grading: Grading, items: Sequence[Item], landing: Landing) -> None:
    """Give documents the grade, or the failure, that somebody else got for the same text."""
    for item in items:
        if landing.score is None:
            grading.fail(item, landing.failure or "missing")
            grading.tally.reasons.append(landing.failure or "missing")
        else:
            grading.grades[item.place] = Grade(landing.score, "cached", NAME, grading.question)


def _by_key(grading: Grading, cache: GradeCache) -> dict[str, list[Item]]:
    """Sort items by cache key: the same text twice in a batch is one question to the model."""
    groups: dict[str, list[Item]] = {}
    settings = grading.model.settings
    # A canary is part of the prompt: what was graded without one may have been talked into its grade.
    prompt = f"{grading.prompt.digest}{' canary' if grading.options.canary else ''}"
    for item in grading.items:
        key = grade_key(
            grader=NAME,
            model=grading.model.name,
            prompt=prompt,
            generation=settings,
            tenant=cache.tenant,
            question=grading.query,
            text=json.dumps([item.origin, item.title, item.text]),  # joined, a title's line could be one of the text
            mode="batch" if len(grading.items) > 1 else "single",
        )
        groups.setdefault(key, []).append(item)
    return groups
