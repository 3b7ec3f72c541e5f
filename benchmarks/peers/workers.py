"""The processes of a run: the world, and one worker for each system, asked line by line and stopped when it hangs."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from arms import QUESTION_SECONDS, REAL_SECONDS
from environments import HERE, SystemFailed, cache_dir, python_of
from systems import System

START_SECONDS: Final = 300.0
_OURS: Final = ('{"ready": ', '{"task": ')
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback, whatever the machine's proxies are


class WorkerDied(RuntimeError):  # noqa: N818 - what became of a worker, it is started again
    """A worker ended without an answer."""


class Worker:
    """
    The process of one system; it is started at once, and again after it was stopped when next asked.

    `seconds` is how long a question may take.
    """

    def __init__(self, system: System, url: str, calibrations: Sequence[Path] = (), *, is_real: bool = False) -> None:
        """
        Start it.

        :param system: Which.
        :param url: Where the world is.
        :param calibrations: For each set the folder with its calibration, for a system that is calibrated.
        :param is_real: Whether a real model answers, which takes its time.
        :raises SystemFailed: When it cannot be installed or does not become ready.
        """
        self.system = system
        self.log = cache_dir() / f"{system.name}.log"
        script = str(HERE / "adapters" / system.adapter)
        self._command = [str(python_of(system.environment)), script, "--system", system.name, "--url", url]
        self._command += ["--calibrations", *map(str, calibrations)] if calibrations else []
        self._command += ["--real"] if is_real else []
        self.seconds = REAL_SECONDS if is_real else QUESTION_SECONDS
        self._process: subprocess.Popen[str] | None = None
        self._has_answered = False
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.versions: dict[str, str] = self.start()["versions"]

    @property
    def is_cold(self) -> bool:
        """Tell whether it has not answered since it was started."""
        return not self._has_answered

    def __enter__(self) -> Self:
        """Give itself; it was started."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()

    def start(self) -> dict[str, Any]:
        """
        Start the process and wait until it is ready.

        :returns: Its first line.
        :raises SystemFailed: With the last line of its log when it ends or keeps silent.
        """
        settings = {**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false"}
        settings |= {"PYTHONUNBUFFERED": "1", "HF_HUB_OFFLINE": "1"}
        self._lines = queue.Queue()
        with self.log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                env=settings,
                start_new_session=True,  # what it starts itself ends with it
            )
        threading.Thread(target=_read, args=(self._process, self._lines), daemon=True).start()
        try:
            return self._next(START_SECONDS)
        except (WorkerDied, TimeoutError) as error:
            self.stop()
            said = self.log.read_text("utf-8", errors="replace").strip().splitlines()
            msg = f"not started: {said[-1][:300] if said else error}"
            raise SystemFailed(msg) from None

    def ask(self, task: str, question: str, k: int, seconds: float) -> dict[str, Any]:
        """
        Ask one question. Whatever ends without a reply stops the process; the next question starts it again.

        :param task: Id of the question.
        :param question: Its words.
        :param k: How many documents.
        :param seconds: How long to wait.
        :returns: The reply of the line protocol.
        :raises TimeoutError: When no reply came in time.
        :raises WorkerDied: When the process ended.
        :raises SystemFailed: When it cannot be started again.
        """
        if self._process is None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            with suppress(OSError):  # it has ended: that is what is read next
                self._process.stdin.write(json.dumps({"task": task, "question": question, "k": k}) + "\n")
                self._process.stdin.flush()
            reply = self._next(seconds)
            self._has_answered = True
            return reply
        except (TimeoutError, WorkerDied):
            self.stop()
            raise

    def stop(self) -> None:
        """End the process and what it started."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._has_answered = False
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()
        self._process = None

    def _next(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            msg = f"no reply in {seconds:g} s"
            raise TimeoutError(msg) from None
        if line is None:
            msg = f"the worker of {self.system.name} ended"
            raise WorkerDied(msg)
        reply: dict[str, Any] = json.loads(line)
        return reply


def _read(process: subprocess.Popen[str], lines: "queue.Queue[str | None]") -> None:
    """Hand on line by line what a process says, and None at its end; what a library prints is passed over."""
    assert process.stdout is not None
    with suppress(ValueError):  # closed while it was read
        for line in process.stdout:
            if line.startswith(_OURS):
                lines.put(line)
    lines.put(None)


class World:
    """
    The process of the world: the model, the retriever and the web of all systems.

    `url` is its address, `tasks` are the questions as it tells them: `{"task", "set", "question", "answerable",
    "accepted"}`.
    """

    def __init__(
        self,
        datasets: Path,
        sets: Sequence[str],
        questions: int,
        *,
        tekken: bool = False,
        model_url: str | None = None,
    ) -> None:
        """
        Start it on a free port and wait until it is ready.

        :param datasets: Folder of the data sets.
        :param sets: Their names.
        :param questions: How many of each.
        :param tekken: Count tokens by a real tokenizer.
        :param model_url: Where a real model is that takes the place of the script.
        :raises SystemFailed: When it does not start.
        """
        command = [sys.executable, str(HERE / "world.py"), str(datasets), "--port", "0"]
        command += ["--questions", str(questions), "--sets", *sets, *(["--tekken"] if tekken else [])]
        command += ["--model-url", model_url] if model_url else []
        log = cache_dir() / "world.log"
        with log.open("w", encoding="utf-8") as file:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, encoding="utf-8")
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_read, args=(self._process, lines), daemon=True).start()
        with suppress(queue.Empty):
            if said := lines.get(timeout=START_SECONDS):
                self.url: str = json.loads(said)["url"]
                self.tasks: list[dict[str, Any]] = self._call("/tasks")["tasks"]
                return
        self.stop()
        last = log.read_text("utf-8", errors="replace").strip().splitlines()
        msg = f"the world did not start: {last[-1] if last else 'it said nothing'}"
        raise SystemFailed(msg)

    def __enter__(self) -> Self:
        """Give itself; it was started."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()

    def begin(self, **how: Any) -> None:
        """
        Begin a question.

        :param how: The entries of `/control/begin`.
        """
        self._call("/control/begin", how)

    def end(self) -> dict[str, Any]:
        """
        End a question.

        :returns: The tally.
        """
        return self._call("/control/end", {})

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _call(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with _DIRECT.open(request, timeout=60) as response:
            found: dict[str, Any] = json.load(response)
        return found
