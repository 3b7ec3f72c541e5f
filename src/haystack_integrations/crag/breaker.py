"""Leaving a provider alone after it failed: cool-down and circuit breaker in one, for threads and event loops."""

import time
from collections import deque
from collections.abc import Callable
from threading import Lock
from types import TracebackType
from typing import Final, Literal

Refusal = Literal["cooldown", "open"]
"""Why a call is refused: shortly after a failure, or because too many of the last calls failed."""

BreakerState = Literal["closed", "cooldown", "open", "half_open"]
"""`closed` lets all calls through; `half_open` lets one, which decides."""

_WINDOW: Final = 20  # calls that are remembered
_SHARE: Final = 0.5  # of failures among them, at which it opens
_WAIT_S: Final = 30.0


class Ticket:
    """
    The permission for one call; its first verdict counts. As a context manager, it gives itself back without one.

    :param breaker: Who gave it.
    :param failures: How many failures the breaker had acted on when it was given.
    :param probe: Whether this is the one call that decides.
    """

    def __init__(self, breaker: "Breaker", failures: int, *, probe: bool) -> None:
        """Belong to a breaker; see the class."""
        self.failures, self.probe, self._breaker, self._open = failures, probe, breaker, True

    def succeeded(self) -> None:
        """Tell that the provider answered, be it with nothing."""
        self._end(lambda: self._breaker._succeeded(self))

    def failed(self, retry_after_s: float | None = None) -> None:
        """
        Tell that the provider failed.

        :param retry_after_s: How long it asked to be left alone, in seconds, if it did.
        """
        self._end(lambda: self._breaker._failed(self, retry_after_s or 0.0))

    def released(self) -> None:
        """Give the permission back: the call was cancelled or never made, and says nothing of the provider."""
        self._end(lambda: self._breaker._released(self))

    def _end(self, verdict: Callable[[], None]) -> None:
        with self._breaker._lock:
            if self._open:
                self._open = False
                verdict()

    def __enter__(self) -> "Ticket":
        """Use the permission."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give it back if nobody said how the call went."""
        self.released()


class Breaker:
    """
    Admits calls to one provider, or refuses them at once; its lock is never held during a call.

    After a failure the provider is left alone for `max(Retry-After, cooldown_s * 2^k)`, at most `max_cooldown_s`; k
    counts failures in a row. When at least `minimum` of the last 20 calls are known and half of them failed, it is open
    for 30 seconds besides. Either way the next call after that is a single probe: until it is decided, all others are
    refused. Calls that were under way when another one failed say nothing of what came after it: their failures count
    among the last ones and for Retry-After, but neither raise nor reset k.

    :param clock: Gives the time in seconds; monotonic.
    :param minimum: Fewest calls it opens on.
    :param cooldown_s: The first cool-down, in seconds.
    :param max_cooldown_s: The longest cool-down, in seconds; a longer Retry-After is cut to it.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        minimum: int = 5,
        cooldown_s: float = 30.0,
        max_cooldown_s: float = 900.0,
    ) -> None:
        """Start closed; see the class."""
        self._clock, self._minimum = clock, minimum
        self._cooldown_s, self._max_cooldown_s = cooldown_s, max_cooldown_s
        self._calls: deque[bool] = deque(maxlen=_WINDOW)
        self._lock = Lock()
        self._until: float | None = None  # None: all calls pass
        self._tripped, self._probing, self._row, self._failures = False, False, 0, 0

    def admit(self) -> Ticket | None:
        """Give the permission for one call, or None: refused, see `reason`."""
        with self._lock:
            if self._until is None:
                return Ticket(self, self._failures, probe=False)
            if self._probing or self._clock() < self._until:
                return None
            self._probing = True
            return Ticket(self, self._failures, probe=True)

    def reason(self) -> Refusal:
        """Tell why calls are refused, when they are."""
        return "open" if self._tripped else "cooldown"

    @property
    def state(self) -> BreakerState:
        """What the next call meets."""
        with self._lock:
            if self._until is None:
                return "closed"
            return self.reason() if self._clock() < self._until else "half_open"

    def _succeeded(self, ticket: Ticket) -> None:
        self._calls.append(True)
        if ticket.failures == self._failures:
            self._row = 0
        if ticket.probe:
            if self._tripped:
                self._calls.clear()
            self._until, self._tripped, self._probing = None, False, False

    def _failed(self, ticket: Ticket, retry_after_s: float) -> None:
        self._calls.append(False)
        pause = retry_after_s
        if ticket.failures == self._failures:
            pause = max(pause, self._cooldown_s * 2.0 ** min(self._row, 30))
            self._failures, self._row = self._failures + 1, self._row + 1
        pause = min(pause, self._max_cooldown_s)
        failed = self._calls.count(False)
        if len(self._calls) >= self._minimum and failed >= _SHARE * len(self._calls):
            pause, self._tripped = max(pause, _WAIT_S), True
        if pause > 0:
            self._until = max(self._until or 0.0, self._clock() + pause)
        self._released(ticket)

    def _released(self, ticket: Ticket) -> None:
        if ticket.probe:
            self._probing = False
