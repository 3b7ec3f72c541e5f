"""Waiting no longer than agreed, also where a client has no timeout that covers the whole of a call."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as WaitingTimeoutError
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from ctypes import c_ulong, py_object, pythonapi
from functools import partial
from math import inf
from queue import Empty, Queue
from threading import Thread, get_ident
from time import monotonic
from typing import Any, Final, TypeVar

from haystack_integrations.crag.closing import released
from haystack_integrations.crag.homes import runs_here
from haystack_integrations.crag.interrupts import as_failure, only_waiting

T = TypeVar("T")

_STEP: Final = 1.0
_TRIES: Final = 5


class NoTimeLeftError(TimeoutError):
    """A call that was not begun, since it could not end in time."""


def call_within(seconds: float, function: Callable[[], T]) -> T:
    """
    Call a blocking function and wait for it at most so long.

    A client's own timeout counts from byte to byte, so a server that sends one byte a second holds a call for ever.
    The call runs in a daemon thread that keeps the caller's trace. One that is given up ends with its client's
    timeout; it holds neither the run nor the exit of the process.

    ```python
    from haystack_integrations.crag.deadlines import call_within

    assert call_within(1.0, lambda: 2 + 2) == 4
    ```

    :param seconds: The longest wait, in seconds.
    :param function: What to call.
    :returns: What the function returns.
    :raises NoTimeLeftError: When no time is left to begin with.
    :raises TimeoutError: When it has not returned in time. What the function raises is raised as it is, and so is what
        a signal's handler raises meanwhile, such as a task queue's time limit (`interrupts`).
    """
    _check_left(seconds)
    ends, errands = monotonic() + seconds, _Errands()
    future = begun(partial(errands.of, function))
    future.add_done_callback(lambda _: errands.waiting.put(None))
    try:
        while errand := errands.next(ends):
            errand()
        return future.result()
    except Empty:
        raise TimeoutError from None
    finally:
        errands.over = True


def in_caller(function: Callable[[], T]) -> T:
    """
    Call a function in the thread that waits in `call_within`, since a user's own function may work in no other.

    A page of Streamlit and a connection of SQLite know the thread that made them.

    :param function: What to call; it raises no TimeoutError.
    :returns: What it returns. Where nobody waits so, it is called here.
    :raises EndOfThread: When nobody waits any longer. What the function raises is raised here; what is no Exception,
        as an interrupt, only where it was called.
    """
    errands = _asked.get()
    return function() if errands is None or errands.worker != get_ident() else errands.done(function)


class _Errands:
    """What the thread of a call has its caller do."""

    def __init__(self) -> None:
        self.waiting: Queue[Callable[[], None] | None] = Queue()  # one of locks, as gevent exchanges them
        self.worker, self.over = 0, False

    def next(self, ends: float) -> Callable[[], None] | None:
        """Wait for an errand; None is the end of the call."""
        with only_waiting():
            return self.waiting.get(timeout=max(0.0, ends - monotonic()))

    def of(self, function: Callable[[], T]) -> T:
        """Call a function that may have errands."""
        self.worker = get_ident()
        _asked.set(self)
        return function()

    def done(self, function: Callable[[], T]) -> T:
        future: Future[T] = Future()

        def errand() -> None:
            try:
                future.set_result(function())
            except Exception as error:
                future.set_exception(error)

        self.waiting.put(errand)
        while not self.over:
            with suppress(WaitingTimeoutError):
                return future.result(_STEP)
        raise EndOfThread


_asked: Final[ContextVar[_Errands | None]] = ContextVar("crag_errands", default=None)


async def call_within_async(seconds: float, function: Callable[[], T]) -> T:
    """
    Call a blocking function from an event loop without holding the loop, or its end, longer than so.

    :param seconds: The longest wait, in seconds.
    :param function: What to call.
    :returns: What the function returns.
    :raises TimeoutError: When it has not returned in time. What the function raises is raised as it is.
    """
    _check_left(seconds)
    return await asyncio.wait_for(asyncio.wrap_future(begun(function)), seconds)


def run_within(part: Any, seconds: float, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Run a component and wait for it at most so long.

    :param part: Anything with a `run`.
    :param seconds: The longest wait, in seconds.
    :param arguments: Arguments of `run`.
    :returns: What it gives.
    :raises TimeoutError: When it has not ended in time. What it raises is raised as it is.
    """
    with _waiting(seconds):
        sent: Mapping[str, Any] = call_within(seconds, partial(released, part.run, arguments))
    return sent


async def run_within_async(part: Any, seconds: float, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Run a component without blocking the event loop; one without `run_async` is run in a thread. See `run_within`.

    :param part: Anything with a `run`, and perhaps a `run_async`.
    :param seconds: The longest wait, in seconds.
    :param arguments: Arguments of `run`.
    :returns: As `run_within`.
    :raises TimeoutError: As `run_within`.
    """
    _check_left(seconds)
    sent: Mapping[str, Any]
    with _waiting(seconds), as_failure():
        if await runs_here(part):
            sent = await asyncio.wait_for(part.run_async(**arguments), seconds)
        else:
            sent = await call_within_async(seconds, partial(released, part.run, arguments))
    return sent


_ends: Final[ContextVar[float]] = ContextVar("crag_ends", default=inf)


def time_left() -> float:
    """Tell for how many seconds anybody will still wait in `run_within` for what runs here; `inf` without it."""
    return _ends.get() - monotonic()


@contextmanager
def _waiting(seconds: float) -> Iterator[None]:
    before = _ends.set(min(_ends.get(), monotonic() + seconds))  # who waits for who waits here may wait less
    try:
        yield
    finally:
        _ends.reset(before)


def _check_left(seconds: float) -> None:
    """Begin nothing that cannot end in time: a call to a model would be paid for, and nobody would read its reply."""
    if seconds <= 0:
        msg = "no time is left for the call"
        raise NoTimeLeftError(msg)


def begun(function: Callable[[], T]) -> "Future[T]":
    """
    Begin a blocking call in a daemon thread that keeps the caller's trace.

    :param function: What to call.
    :returns: Its result or error, once it is there; waiting for it can be given up, the call itself cannot.
    """
    future: Future[T] = Future()
    # Running: whoever waits may give up, but cannot cancel what the thread will set.
    future.set_running_or_notify_cancel()
    context = copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(as_failure()(function)))
        except BaseException as error:  # handed to the caller, whatever it is
            future.set_exception(error)

    Thread(target=work, daemon=True, name="crag-call").start()
    return future


class GivenUpError(TimeoutError):
    """A call that took too long, and was ended."""


class EndOfThread(BaseException):
    """Ends a thread that nobody waits for: nothing that merely goes on after an error catches it."""


def call_or_end(seconds: float, function: Callable[[], T], is_free: Callable[[], bool]) -> T:
    """
    Call a function that only computes, and end it where it takes too long: left behind, it would hold a core.

    It ends between two steps of Python; what is in the midst of a library ends there when that returns.

    :param seconds: How long it may take; a process that is stopped meanwhile is not counted.
    :param function: What to call.
    :param is_free: Tells whether it has come to where it may take its time.
    :returns: What the function returns.
    :raises GivenUpError: When it was ended. What the function raises is raised as it is.
    """
    numbers: list[int] = []

    def work() -> T:
        numbers.append(get_ident())
        return function()

    future, steps = begun(work), 0
    while steps * _STEP < seconds or is_free():
        # Not by `result`: what a signal's handler raises meanwhile may be a TimeoutError, too.
        if wait([future], timeout=_STEP).done:
            return future.result()
        steps += 1
    for _ in range(_TRIES):
        pythonapi.PyThreadState_SetAsyncExc(c_ulong(numbers[0]), py_object(EndOfThread))
        with suppress(WaitingTimeoutError, EndOfThread):
            future.result(timeout=_STEP)
        if future.done():
            break
    raise GivenUpError
