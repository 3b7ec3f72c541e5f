"""Searching the web through a chain of providers: who is asked, when, how long, and what became of it."""

import asyncio
import random
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, Final

from cachetools import TTLCache
from haystack import Document

from haystack_integrations.crag.breaker import Breaker, Ticket
from haystack_integrations.crag.deadlines import begun
from haystack_integrations.crag.expansion.query_text import folded
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.vocabulary import WebStatus
from haystack_integrations.crag.web.outcome import Answer, Outcome, Prepare, Search, status_of
from haystack_integrations.crag.web.providers import Failure, Provider, failure_of

_Start = Callable[[Provider, Ticket, float], Any]
"""Begins to ask a provider, until a time, and gives what can be waited for: a thread's future, or a task."""

_BACKOFF_S: Final = 0.1
_GRACE_S: Final = 0.25
_CLOCKS_S: Final = 0.01  # how much earlier than asked a wait may end
_MOST_QUERIES: Final = 1_000


class WebSearchChain:
    """
    Asks providers in order until one gives something to use.

    A provider is asked once, and `max_retries` times more unless it told us off or this is the probe after a cool-down.
    Without a hedge, the ones still to come keep their share of the time, so one that hangs does not use up all of it.
    Breakers and cool-downs live as long as the chain: they are shared by all runs, and know of no run.

    With a hedge, the one that comes too late is left behind: a blocking call ends by its own limit and tells its
    breaker how it went; a task is cancelled, which says nothing about the provider.

    A query is not searched again within `query_cooldown_s`. What it found is given again instead, so a loop that comes
    back to the same words goes on with the same documents; where it found nothing, so it does again. Two searches of
    the same query at the same moment are two searches.

    :param components: Haystack web searches, the preferred one first.
    :param timeout_s: The longest search, in seconds.
    :param max_retries: How often a provider is asked again.
    :param hedge_after_s: After so many seconds without an answer the next provider is asked too; None: only after
        a failure.
    :param query_cooldown_s: For how long a query is not searched again, in seconds; 0 always searches.
    :param next_on_empty: Whether an answer without anything to use leads to the next provider, as a failure does.
    :param clock: Gives the time of cool-downs in seconds; monotonic.
    """

    def __init__(
        self,
        components: Sequence[Any],
        *,
        timeout_s: float = 8.0,
        max_retries: int = 1,
        hedge_after_s: float | None = None,
        query_cooldown_s: float = 60.0,
        next_on_empty: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Give each provider a name and a breaker; see the class."""
        names = [type(component).__name__ for component in components]
        unique = [name if names.count(name) == 1 else f"{name}-{at + 1}" for at, name in enumerate(names)]
        self.providers = [Provider(c, name, Breaker(clock)) for c, name in zip(components, unique, strict=True)]
        for provider in self.providers:
            metrics.watch(provider.name, provider.breaker)
        self._timeout_s, self._max_retries, self._hedge_after_s = timeout_s, max_retries, hedge_after_s
        self._next_on_empty = next_on_empty
        self._found: TTLCache[str, Outcome] = TTLCache(_MOST_QUERIES, max(0.0, query_cooldown_s), clock)
        self._lock = Lock()

    def search(self, query: str, prepare: Prepare, seconds: float | None = None) -> Outcome:
        """
        Search the web.

        :param query: What to send.
        :param prepare: Makes usable documents of results.
        :param seconds: What the run has left, in seconds; None: no limit but `timeout_s`.
        :returns: What came of it; a provider's failure is a part of it, never raised.
        """
        known, run = self._begin(query, prepare, seconds)
        if known is not None:
            return known
        course = self._course(run, lambda provider, ticket, end: begun(partial(self._ask, run, provider, ticket, end)))
        with suppress(StopIteration):
            running, pause = next(course)
            while True:
                # Threads that are given up end with their own limit, and tell their breaker how it went.
                running, pause = course.send(wait(running, max(0.0, pause), FIRST_COMPLETED).done)
        return self._conclude(run)

    async def search_async(self, query: str, prepare: Prepare, seconds: float | None = None) -> Outcome:
        """
        Search without blocking the event loop; what is still under way at the end is cancelled. See `search`.

        :param query: What to send.
        :param prepare: Makes usable documents of results.
        :param seconds: What the run has left, in seconds.
        :returns: As `search`.
        """
        known, run = self._begin(query, prepare, seconds)
        if known is not None:
            return known
        tasks: list[asyncio.Task[Answer]] = []

        def start(provider: Provider, ticket: Ticket, end: float) -> asyncio.Task[Answer]:
            tasks.append(asyncio.create_task(self._ask_async(run, provider, ticket, end)))
            return tasks[-1]

        course = self._course(run, start)
        try:
            with suppress(StopIteration):
                running, pause = next(course)
                while True:
                    done, _ = await asyncio.wait(running, timeout=max(0.0, pause), return_when=FIRST_COMPLETED)
                    running, pause = course.send(done)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return self._conclude(run)

    def _begin(self, query: str, prepare: Prepare, seconds: float | None) -> tuple[Outcome | None, Search]:
        limit = self._timeout_s if seconds is None else min(seconds, self._timeout_s)
        run = Search(query, prepare, time.monotonic() + limit, hurried=limit < self._timeout_s)
        with self._lock:
            known = self._found.get(folded(query))
        if known is None:
            return None, run
        # A copy: what a run does to its documents is not seen by the next.
        status: WebStatus = "cooldown" if known.status == "failed" else known.status
        return replace(deepcopy(known), status=status, again=True), run

    def _conclude(self, run: Search) -> Outcome:
        answered = [answer for answer in run.tried if answer.failure is None]
        used = next((answer for answer in answered if answer.documents), answered[0] if answered else None)
        outcome = Outcome(status_of(run.tried), used, tuple(run.tried))
        # That one run was out of time is no reason to answer the next one from memory.
        cut = outcome.status != "ok" and any(answer.failure == "deadline" for answer in run.tried)
        if any(answer.calls for answer in run.tried) and not cut:
            with self._lock:
                self._found[folded(run.query)] = deepcopy(outcome)
        return outcome

    def _course(self, run: Search, start: _Start) -> Generator[tuple[set[Any], float], set[Any], None]:
        """Lead a search, be it by threads or tasks: yields what to wait for and how long, is sent what has ended."""
        rest, running, due = list(self.providers), dict[Any, str](), False
        while True:
            while rest and run.left() > 0 and (due or not running):
                provider, due = rest.pop(0), False
                started = self._started(run, provider, len(rest), start)
                if started is None:
                    due = bool(running)
                else:
                    running[started] = provider.name
            if not running:
                return
            # Each ends by its own limit; the grace, which begins when this one has seen the end, lets it say so itself.
            over = run.left() <= 0
            pause = _GRACE_S if over else run.left()
            hedged = rest and not over and self._hedge_after_s is not None
            done = yield set(running), min(pause, self._hedge_after_s or 0.0) if hedged else pause
            due = not done
            for ended in done:
                name = running.pop(ended)
                # A provider that cancels itself has failed; when the run is cancelled, nobody gets here.
                run.tried.append(Answer(name, failure="cancelled", calls=1) if ended.cancelled() else ended.result())
                if run.tried[-1].failure is None and not self._next_on_empty:
                    rest.clear()
            found = any(answer.documents for answer in run.tried)
            if found or over:
                given_up = "abandoned" if found else "deadline" if run.hurried else "timeout"
                run.tried.extend(Answer(name, failure=given_up, calls=1) for name in running.values())
                return

    def _started(self, run: Search, provider: Provider, others: int, start: _Start) -> Any:
        """Begin to ask a provider, or say why not and give None."""
        ticket = provider.breaker.admit()
        if ticket is None:
            run.tried.append(Answer(provider.name, failure=provider.breaker.reason()))
            return None
        # Who waits for the others' turn gets a share of the time; who is hedged may use all of it.
        share = 1 if self._hedge_after_s is not None else others + 1
        try:
            return start(provider, ticket, time.monotonic() + run.left() / share)
        except Exception as error:  # no thread to be had
            ticket.released()
            run.tried.append(Answer(provider.name, failure=type(error).__name__))
            return None

    def _ask(self, run: Search, provider: Provider, ticket: Ticket, end: float) -> Answer:
        with ticket:
            calls = 0
            while True:
                calls += 1
                try:
                    results = provider.search(run.query, end - time.monotonic())
                except Exception as error:
                    pause = self._pause(run, failure_of(error), ticket, calls, end)
                    if isinstance(pause, str):
                        return Answer.failed(provider.name, pause, calls)
                    time.sleep(pause)
                else:
                    return _answered(run, provider, ticket, results, calls)

    async def _ask_async(self, run: Search, provider: Provider, ticket: Ticket, end: float) -> Answer:
        with ticket:
            calls = 0
            while True:
                calls += 1
                try:
                    results = await provider.search_async(run.query, end - time.monotonic())
                except Exception as error:
                    pause = self._pause(run, failure_of(error), ticket, calls, end)
                    if isinstance(pause, str):
                        return Answer.failed(provider.name, pause, calls)
                    await asyncio.sleep(pause)
                else:
                    return _answered(run, provider, ticket, results, calls)

    def _pause(self, run: Search, failure: Failure, ticket: Ticket, calls: int, end: float) -> float | str:
        """Tell how long to wait before asking again; or the kind of failure when that is the end of it."""
        pause = _BACKOFF_S * 2.0 ** (calls - 1) * random.uniform(0.5, 1.5)  # noqa: S311 - spreads requests, no secret
        if failure.retryable and not ticket.probe and calls <= self._max_retries and time.monotonic() + pause < end:
            return pause
        # A provider that gives up earlier than that met a limit of its own.
        if run.hurried and failure.kind == "timeout" and time.monotonic() >= end - _CLOCKS_S:
            return "deadline"
        if failure.of_provider:
            ticket.failed(failure.retry_after_s)
        return failure.kind


def _answered(run: Search, provider: Provider, ticket: Ticket, results: Sequence[Document], calls: int) -> Answer:
    ticket.succeeded()
    try:
        documents, dropped = run.prepare(results, provider.name)
    except Exception as error:  # whatever is in them, results from outside do not end a run
        return Answer(provider.name, results=len(results), failure=type(error).__name__, calls=calls)
    return Answer(provider.name, tuple(documents), len(results), dropped, calls=calls)
