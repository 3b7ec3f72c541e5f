"""One grading for one key: who comes later waits for the first one's result, in threads and on event loops alike."""

import os
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Final


@dataclass(frozen=True)
class Landing:
    """
    How the grading of one key ended; everybody who waited for it gets the same.

    :param score: The score, when there is one.
    :param failure: Why there is none. It is shared: nobody who waited asks the model again.
    """

    score: float | None = None
    failure: str | None = None


ABANDONED: Final = Landing()
"""Neither score nor failure: who graded it was cancelled, and one of those who waited may claim it."""


class Flights:
    """
    The keys that are being graded right now.

    Who claims a key must land or abandon it, also when cancelled or failing; land it after writing it to the cache, so
    that who comes between finds it there. Waiters wait with `future.result(timeout)` or
    `asyncio.wait_for(asyncio.wrap_future(future), timeout)`: giving up or being cancelled harms nobody else.

    ```python
    from haystack_integrations.crag.caching import Flights, Landing

    flights = Flights()
    assert flights.claim(["a", "b"]) == (["a", "b"], {})
    mine, others = flights.claim(["b", "c"])
    assert mine == ["c"]
    flights.land("b", Landing(score=0.9))
    assert others["b"].result(timeout=1).score == 0.9
    ```
    """

    def __init__(self) -> None:
        """Start with nothing in the air."""
        self._lock = Lock()
        self._flying: dict[str, Future[Landing]] = {}
        self._process = os.getpid()

    def claim(self, keys: Iterable[str]) -> tuple[list[str], dict[str, Future[Landing]]]:
        """
        Take the keys that nobody is grading.

        :param keys: Keys wanted; one given twice counts once.
        :returns: The keys that are now the caller's, in order; and for each of the rest what to wait for.
        """
        mine: list[str] = []
        others: dict[str, Future[Landing]] = {}
        with self._lock:
            if self._process != os.getpid():  # forked since: who was grading is not in this process, and lands nothing
                self._flying, self._process = {}, os.getpid()
            for key in dict.fromkeys(keys):
                if key in self._flying:
                    others[key] = self._flying[key]
                    continue
                future: Future[Landing] = Future()
                # Running: `asyncio.wrap_future` passes a waiter's cancellation on, which would end it for everybody.
                future.set_running_or_notify_cancel()
                self._flying[key] = future
                mine.append(key)
        return mine, others

    def land(self, key: str, landing: Landing) -> None:
        """
        Hand the result to everybody who waits. The key can be claimed again at once.

        :param key: A key of the caller's; one that is not in the air is passed over.
        :param landing: How it ended.
        """
        with self._lock:
            future = self._flying.pop(key, None)
        if future is not None:  # outside the lock: this runs the callbacks of who waits
            future.set_result(landing)

    def abandon(self, keys: Iterable[str]) -> None:
        """
        Give keys up without a result: who waits gets `ABANDONED`.

        :param keys: The caller's keys that did not land, and only those: a landed one may be somebody else's by now.
        """
        for key in keys:
            self.land(key, ABANDONED)
