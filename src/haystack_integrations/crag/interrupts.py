"""Telling what ends a run from outside, such as a task queue's time limit, from a failure of what the run asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
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
