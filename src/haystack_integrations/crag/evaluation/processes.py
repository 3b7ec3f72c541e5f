"""Worker processes that an interruption from the keyboard ends without a word of theirs; none outlives its parent."""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context, resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import Any, TypeVar

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.parents import when_parent_ends

Part = TypeVar("Part")
Done = TypeVar("Done")


@contextmanager
def at_work(
    workers: int, begin: Callable[[], Callable[[Part], Done]], parts: Iterable[Part]
) -> Iterator[list[Future[Done]]]:
    """
    Let processes do the parts of some work while the block runs.

    :param workers: Number of processes.
    :param begin: Makes a fresh process ready, and gives what it does with each part.
    :param parts: The parts.
    :returns: What will be done, a future for each part; whoever leaves early, as by an interruption, ends the work.
    """
    others = set(active_children())
    # Fresh processes: a copy of this one would share its threads' locks.
    with _in_file(begin) as file:
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (file,))
        try:
            futures = []
            for part in parts:
                with _unheard():  # each starts a process as long as there are fewer than wanted
                    futures.append(pool.submit(_done, part))
            yield futures
        except BaseException as error:
            if not isinstance(error, Exception):  # nobody waits for the rest of a part, which may take a minute
                for process in set(active_children()) - others:
                    process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _in_file(begin: Callable[[], Any]) -> Iterator[Path]:
    """
    Keep in a file what fresh processes begin with, while the block runs.

    Python would write it into a pipe, of which it holds both ends: had a process died before it read all of it, as for
    lack of memory, this one would write for ever, and not even an interruption would end it.
    """
    with TemporaryDirectory(prefix="crag-") as folder:
        file = Path(folder, "given")
        try:
            file.write_bytes(pickle.dumps(begin))
        except OSError as error:
            msg = f"cannot write what processes are given into {folder!r} ({error.strerror}); set TMPDIR to another one"
            raise ConfigurationError(msg) from None
        yield file


class _Process:
    """What this process does with each part, once it is ready."""

    work: Callable[[Any], Any]


def _begin(file: Path) -> None:
    """Make a fresh process ready."""
    # Else it would wait for its next part for ever, and keep its memory: of the pipe that parts come through it holds
    # both ends. There is nobody to tell then, and nothing of it to be kept: records are written by the parent.
    when_parent_ends(partial(os._exit, 1))
    begin = pickle.loads(file.read_bytes())  # noqa: S301 - of the process that started this one
    _Process.work = begin()


def _done(part: Any) -> Any:
    return _Process.work(part)


@contextmanager
def _unheard() -> Iterator[None]:
    """
    Put an interruption off while processes are started, and keep it from them: they inherit what is blocked.

    A terminal tells all processes, and each would say so with a traceback, also while it still imports. This one would
    lose sight of a process that it has just started.
    """
    heard, handler = list[int](), signal.getsignal(signal.SIGINT)
    puts_off = callable(handler) and current_thread() is main_thread()  # no other thread is interrupted
    resource_tracker.ensure_running()  # it would unblock the interruption when the first process starts it
    try:
        if puts_off:
            signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
        with _blocked():
            yield
    finally:
        if puts_off:
            signal.signal(signal.SIGINT, handler)
    if heard:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _blocked() -> Iterator[None]:
    """Block an interruption in this thread, where the system can: others hear of it all the same."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
