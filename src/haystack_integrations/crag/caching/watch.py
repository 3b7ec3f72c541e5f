"""Waiting for a server no longer than agreed, without blaming it for what this process is late with itself."""

import asyncio
import time
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, Final, TypeVar

from haystack_integrations.crag.interrupts import only_waiting

T = TypeVar("T")

_LOOKS: Final = 50
_ON_TIME: Final = 2  # times the length of a look: timers are never quite on time
_LATE: Final = 0.5  # what a late look counts, in lengths of a look
_MOST: Final = 40  # times the server's time: so long a run waits by the clock, however late its process is


class Watch:
    """
    Looks whether a reply is there, again and again, until the server has had its time.

    Beside threads that compute, this one or its event loop may come to look late, long after a reply, and whoever reads
    the reply is late at each of its steps. So a look that took much longer than it was to take counts half of what it
    was to take: that time was this process's own. A server has its time in at least 25 looks, in a late process in 100,
    which in a process that is on time last as long as agreed; by the clock at most 40 times as long.

    ```python
    from haystack_integrations.crag.caching.watch import Watch
    from haystack_integrations.crag.deadlines import begun

    assert Watch(1.0).result(begun(lambda: 2 + 2)) == 4
    ```

    :ivar left: How much of its time the server has left, in seconds.
    :ivar spent: How much of it the server has had.
    """

    def __init__(self, seconds: float) -> None:
        """
        Begin with the whole time.

        :param seconds: How long the server may take, in seconds.
        """
        self.left, self.spent, self._look = seconds, 0.0, seconds / _LOOKS
        self._ends = time.monotonic() + seconds * _MOST

    def result(self, reply: "Future[T]") -> T:
        """
        Wait for a reply by blocking.

        :param reply: What will hold it.
        :returns: The reply.
        :raises TimeoutError: When the server had its time. What the reply holds instead is raised as it is.
        """
        while not reply.done():
            since = self._begin()
            with only_waiting():
                wait([reply], timeout=self._look)
            self._end(since)
        return reply.result()

    async def result_async(self, asked: Coroutine[Any, Any, T]) -> T:
        """
        Wait for a reply without blocking the event loop; one that is given up is cancelled.

        :param asked: What brings it.
        :returns: The reply.
        :raises TimeoutError: As `result`.
        """
        reply = asyncio.ensure_future(asked)
        try:
            while not reply.done():
                since = self._begin()
                await asyncio.wait({reply}, timeout=self._look)
                self._end(since)
            return reply.result()
        finally:
            if not reply.done():
                reply.cancel()
                await asyncio.gather(reply, return_exceptions=True)

    def _begin(self) -> float:
        now = time.monotonic()
        if self.left <= 0 or now > self._ends:
            raise TimeoutError
        return now

    def _end(self, since: float) -> None:
        took = time.monotonic() - since
        counted = took if took <= self._look * _ON_TIME else self._look * _LATE
        self.left, self.spent = self.left - counted, self.spent + counted
