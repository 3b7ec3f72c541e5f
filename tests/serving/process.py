"""`crag serve` in a process of its own."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cli_runner import SCRIPT, environment

_LISTENING = re.compile(r"running on http://(?:127\.0\.0\.1|\[::\]):(\d+)")


class Process:
    """A running command: its address, and what it wrote."""

    def __init__(self, process: "subprocess.Popen[bytes]", file: Path) -> None:
        self.process, self.file = process, file

    @property
    def log(self) -> str:
        return self.file.read_text()

    def url(self) -> str:
        end = time.monotonic() + 300
        while (found := _LISTENING.search(self.log)) is None:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.05)
        return f"http://127.0.0.1:{found[1]}"


@contextmanager
def read_by_hand(*options: str, **settings: str) -> Iterator["subprocess.Popen[str]"]:
    """Start `crag serve` on a free port; its log is read by nobody but the test."""
    started = [*SCRIPT, "serve", "--port", "0", *options]
    pipe, names = subprocess.PIPE, environment(**settings)
    with subprocess.Popen(started, stderr=pipe, text=True, env=names, start_new_session=True) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def address(lines: Iterable[str]) -> str:
    """Read a log up to the line that says where the server listens."""
    return next(f"http://127.0.0.1:{found[1]}" for line in lines if (found := _LISTENING.search(line)))


@contextmanager
def command(folder: Path, *options: str, **settings: str) -> Iterator[Process]:
    """Start `crag serve` on a free port; end it whatever happens."""
    file = folder / "serve.log"
    with file.open("wb") as log:
        started = [*SCRIPT, "serve", "--port", "0", *options]
        # A session of its own: workers end with it, also when a test fails.
        process = subprocess.Popen(started, stderr=log, stdout=log, env=environment(**settings), start_new_session=True)
    try:
        yield Process(process, file)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)
