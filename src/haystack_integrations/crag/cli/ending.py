"""A command that a time limit or a scheduler ends: what it keeps in temporary folders goes with it."""

import signal
from collections.abc import Callable
from functools import wraps
from threading import current_thread, main_thread
from typing import NoReturn, ParamSpec, TypeVar

from haystack_integrations.crag.cli.errors import interrupted
from haystack_integrations.crag.cli.output import complain

P = ParamSpec("P")
T = TypeVar("T")


class _Terminated(BaseException):
    """What SIGTERM raises: nothing that goes on after a failure goes on after it."""


def tidied(name: str, command: Callable[P, T]) -> Callable[P, T]:
    """
    Let SIGTERM leave a command as Ctrl-C does, then end the process, as if nobody had caught it.

    Python ends at once otherwise, and words of the corpus stay in a temporary folder for as long as the machine runs.

    :param name: What the command is called.
    :param command: The command; where it is run in another thread, or somebody heeds the signal already, as it is.
    :returns: The same command.
    """

    @wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> T:
        if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return command(*args, **options)
        signal.signal(signal.SIGTERM, _end)
        try:
            return command(*args, **options)
        except _Terminated:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            complain(interrupted(name))
            signal.raise_signal(signal.SIGTERM)
            raise  # not reached
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    return run


def _end(*_: object) -> NoReturn:
    raise _Terminated
