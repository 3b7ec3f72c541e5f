"""Worker processes: one that dies is started anew at once, one that keeps dying after ever longer pauses."""

import asyncio
import os
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from multiprocessing import active_children, parent_process
from threading import Event, Thread
from typing import Any, Final

from haystack import logging
from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from haystack_integrations.crag.parents import when_parent_ends

logger = logging.getLogger(__name__)

_LONGEST_PAUSE: Final = 30.0
_GRACE: Final = 10.0  # seconds for a worker to end in, behind those that its running requests have
_HUNG: Final = 60.0  # seconds without a turn after which an event loop does not come back: as for a process
_STEP: Final = 1.0
_FORGIVEN: Final = 120.0  # seconds without a death after which the next one is the first


class Workers(Multiprocess):
    """
    uvicorn's worker processes, with pauses between starts, and an end at any time.

    uvicorn starts a dead worker anew twice a second, for ever. Where each dies at its start, since the store is away or
    memory does not suffice, that takes the cores from the workers that still serve, and the store's first free moments.
    It waits without end for a worker that does not end: one that hangs would hold the command, and the port.
    It also looks at signals only between two things that it does: while SIGHUP exchanges one worker after the other, a
    SIGTERM would be heeded minutes later, when whoever sent it has long killed everything.
    """

    _deaths, _last, _resumes = 0, float("-inf"), float("-inf")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what uvicorn gives."""
        super().__init__(*args, **kwargs)
        # uvicorn catches SIGQUIT and does nothing: at Ctrl-\ workers ended, and others were started in their place.
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGQUIT", signal.SIGTERM)):
            signal.signal(number, self._end)

    def _end(self, *_: Any) -> None:
        """Let all workers end at the same time, one that is being started as well; nothing is logged in a signal."""
        self.should_exit.set()
        for process in active_children():
            process.terminate()

    def join_all(self) -> None:
        """Wait for the workers; one that is not gone once running requests had their time is killed."""
        limit = self.config.timeout_graceful_shutdown
        ends = float("inf") if limit is None else time.monotonic() + limit + _GRACE
        while active_children() and time.monotonic() < ends:
            time.sleep(0.1)
        for process in active_children():
            logger.error("A worker did not end, and is killed: process {pid}", pid=process.pid)
            process.kill()
        super().join_all()

    def keep_subprocess_alive(self) -> None:
        """Start dead workers anew, then look no more for 1, 2, 4 ... 30 seconds; signals are heeded meanwhile."""
        if time.monotonic() < self._resumes:
            return
        for process in self.processes:
            process.child_conn.close()  # the worker has its own, which ends the wait for its reply when it dies
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        if before == {process.pid for process in self.processes}:
            return
        now = time.monotonic()
        self._deaths = self._deaths + 1 if now < self._last + _FORGIVEN else 1
        pause = min(_LONGEST_PAUSE, 2.0 ** (self._deaths - 1))
        self._last, self._resumes = now, now + pause
        if self._deaths > 1:
            words = "Workers died {n} times within a short time; the next one that dies is started anew after {s} s."
            logger.error(words, n=self._deaths, s=pause)


def hold_many_connections() -> None:
    """Let this process, and workers that it starts, open as many files as it may; many systems begin with 1,024."""
    if sys.platform == "win32":  # which has none of this
        return
    with suppress(OSError, ValueError):  # macOS does not take all limits
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def end_with_parent() -> None:
    """
    Let this worker end, once its running requests have, when whoever started it was killed.

    Else it would serve on and hold the port: no new start, and no stop that anybody knows, would reach it.
    """
    when_parent_ends(partial(os.kill, os.getpid(), signal.SIGTERM))


def end_with_loop() -> None:
    """
    Kill this worker when its event loop, which is the running one, does nothing for a minute.

    uvicorn asks a thread of the worker whether it lives: one whose loop waits for a lock, or for a library, says yes.
    Nobody whose request came to it would ever get an answer; killed, it is started anew.
    """
    if parent_process() is None:  # this process is no worker, and nobody would start it anew
        return
    Thread(target=_watch, args=(asyncio.get_running_loop(),), daemon=True, name="crag-loop").start()


def _watch(loop: asyncio.AbstractEventLoop) -> None:
    """Look in small steps: of a process that was stopped, and goes on, the loop gets its time as well."""
    while True:
        turned = Event()
        try:
            loop.call_soon_threadsafe(turned.set)
        except RuntimeError:  # it has ended
            return
        if not any(turned.wait(_STEP) for _ in range(round(_HUNG / _STEP))):
            words = "The event loop of a worker hangs, and the worker is killed: process {pid}"
            telling = Thread(target=partial(logger.error, words, pid=os.getpid()), daemon=True)
            telling.start()
            telling.join(_STEP)  # what it hangs at may be the log
            os._exit(1)
        time.sleep(_STEP)


def run_workers(config: Config) -> None:
    """
    Serve by several processes until a signal ends them.

    :param config: What uvicorn is told; its app is named, not given.
    """
    Workers(config, sockets=[config.bind_socket()]).run()
