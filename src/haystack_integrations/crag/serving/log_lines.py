"""The lines of a log, written by a thread: a reader that does not read holds nobody who logs."""

import atexit
import io
import os
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TextIO

from haystack import logging

if TYPE_CHECKING:
    from loguru import Message

logger = logging.getLogger(__name__)

_MOST: Final = 1_000
_AT_ONCE: Final = 100
_GATHERED: Final = 0.05  # seconds; to wake a thread for each of a request's five lines costs more than to write them
_PATIENCE: Final = 0.1  # seconds; the event loop may be what waits


class LogLines:
    """
    A sink of loguru. Lines that find no room are left out; how many is told once there is room again.

    :param name: Of the entry in a line's `extra` that names its request.
    """

    def __init__(self, name: str) -> None:
        """Begin to write to stderr."""
        self._name, self._file = name, _stderr()
        self._lines: SimpleQueue[tuple[str, Event | None]] = SimpleQueue()
        self._hurry, self._is_behind, self._left_out, self._told = Event(), False, 0, 0
        Thread(target=self._write, daemon=True, name="crag-log").start()
        atexit.register(self._wait_for)

    def write(self, line: "Message") -> None:
        """
        Take a line. One that is of no request is waited for, unless nobody reads: it may be the process's last.

        :param line: The line; loguru gives one after the other.
        """
        if self._lines.qsize() >= _MOST:
            self._left_out += 1
            return
        if line.record["extra"].get(self._name) or self._is_behind:
            self._lines.put((line, None))
        else:
            self._wait_for(line)

    def _wait_for(self, line: str = "") -> None:
        """Wait until a line is written, and all before it."""
        written = Event()
        self._lines.put((line, written))
        self._hurry.set()
        self._is_behind = not written.wait(_PATIENCE)

    def _write(self) -> None:
        while True:
            first = self._lines.get()
            if first[1] is None and self._lines.empty():
                self._hurry.wait(_GATHERED)
            self._hurry.clear()
            taken = [first, *(self._lines.get() for _ in range(min(self._lines.qsize(), _AT_ONCE)))]
            with suppress(OSError, ValueError):  # nobody will ever read it
                self._file.write("".join(line for line, _ in taken))
                self._file.flush()
            for _, written in taken:
                if written is not None:
                    written.set()
            self._is_behind = False
            if (count := self._left_out - self._told) and self._lines.empty():
                self._told += count
                self._is_behind = True  # this thread would wait for itself
                logger.warning("{n} lines of this log are missing above, since they were not read in time.", n=count)


def _stderr() -> TextIO:
    """Open stderr once more: at the process's end Python waits for a lock of its own, and a thread may hold that."""
    try:
        file = sys.stderr.fileno()
    except (OSError, io.UnsupportedOperation):
        return sys.stderr
    return os.fdopen(file, "w", encoding=sys.stderr.encoding, errors=sys.stderr.errors, closefd=False)
