"""Waiting no longer than agreed, also where a client has no timeout that covers the whole of a call."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


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
    :raises TimeoutError: When it has not returned in time. What the function raises is raised as it is.
    """
    _check_left(seconds)
    return begun(function).result(timeout=seconds)


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
    sent: Mapping[str, Any] = call_within(seconds, partial(part.run, **arguments))
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
    if hasattr(part, "run_async"):
        sent = await asyncio.wait_for(part.run_async(**arguments), seconds)
    else:
        sent = await call_within_async(seconds, partial(part.run, **arguments))
    return sent


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
            future.set_result(context.run(function))
        except BaseException as error:  # handed to the caller, whatever it is
            future.set_exception(error)

    Thread(target=work, daemon=True, name="crag-call").start()
    return future
