"""Telling what ends a run from outside, such as a task queue's time limit, from a failure of what the run asked for."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty
from typing import Final

_ENDS_RUN: Final = "crag_ends_run"


@contextmanager
def only_waiting() -> Iterator[None]:
    """
    Mark what is raised while this thread does nothing but wait for another: it is not the other's, and ends the run.

    A signal's handler raises it. The time limits of Celery and RQ are plain exceptions, so whoever goes on after any
    failure would go on after them, until the worker is killed.
    """
    try:
        yield
    except Empty:
        raise
    except Exception as error:
        vars(error)[_ENDS_RUN] = True
        raise


def ends_run(error: BaseException) -> bool:
    """
    Tell whether an exception is no failure of what was asked, and must pass.

    :param error: What was raised.
    :returns: Whether it came while a thread only waited.
    """
    return _ENDS_RUN in vars(error)


def let_end(error: BaseException) -> None:
    """
    Let a run end by what is to end it.

    :param error: What was raised.
    :raises BaseException: The error, if it is no failure of what was asked (`ends_run`).
    """
    if ends_run(error):
        raise error


@contextmanager
def unless_it_ends() -> Iterator[None]:
    """Go on without what fails here, since it was asked for besides; but not after what ends the run."""
    try:
        yield
    except Exception as error:
        let_end(error)


class BrokenOffError(Exception):
    """A call that broke off by a cancellation that nobody asked for, or by a StopIteration; its cause is that."""


@contextmanager
def as_failure() -> Iterator[None]:
    """
    Make a failure of what is raised like the end of something, where nothing was to end.

    A client that awaits what another run began, such as a token, is cancelled with that run: it would take this one
    along. And no event loop hands a StopIteration on: whoever awaits it waits until his time is up.
    """
    try:
        yield
    except (asyncio.CancelledError, StopIteration) as error:
        if _is_cancelled():
            raise
        raise BrokenOffError(type(error).__name__) from error


def _is_cancelled() -> bool:
    """Tell whether somebody has cancelled the task that runs here."""
    with suppress(RuntimeError):  # no event loop runs in this thread
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return False
