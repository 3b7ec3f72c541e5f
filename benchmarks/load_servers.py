"""The processes of a load, each on a free port of loopback: a chat model, `crag serve`, a stock Hayhooks app."""

import json
import os
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server
from subprocess import DEVNULL, STDOUT, Popen, TimeoutExpired
from sysconfig import get_path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from load_control import write_wrappers
from model_server import TOPICS, topic

HERE = Path(__file__).resolve().parent
_WORDS = "river stone garden market winter letter engine copper island bridge candle forest silver window port".split()
_READY_SECONDS = 90
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Server:
    """A process that serves."""

    name: str
    url: str
    process: Popen[bytes]

    def rss(self) -> float:
        """Return the memory that it holds, in MiB."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * _PAGE / 2**20

    def cpu(self) -> float:
        """Return the processor seconds that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


def ask(url: str, method: str = "GET") -> Any:
    """Ask a server of ours for JSON."""
    with urlopen(Request(url, method=method), timeout=60) as reply:
        return json.loads(reply.read())


def documents(path: Path, count: int) -> Path:
    """Write documents of 120 words; the first three for each topic name it."""
    rng = random.Random(5)
    words = [f"{word}{number}" for word in _WORDS for number in range(40)]
    with path.open("w", encoding="utf-8") as lines:
        for number in range(count):
            about = [topic(number)] if number < 3 * TOPICS else []
            text = " ".join(about + rng.choices(words, k=120))
            lines.write(json.dumps({"id": str(number), "text": text}) + "\n")
    return path


@contextmanager
def serving(name: str, ready: str, command: list[str], env: Mapping[str, str], folder: Path) -> Iterator[Server]:
    """Run a server; `{port}` in its command is a free port."""
    with create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [part.replace("{port}", port) for part in command]
    with (folder / f"{name}.log").open("wb") as log:
        process = Popen(command, stdin=DEVNULL, stdout=log, stderr=STDOUT, env={**os.environ, **env}, cwd=folder)
    server = Server(name, f"http://127.0.0.1:{port}", process)
    try:
        _wait(server, server.url + ready, folder / f"{name}.log")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except TimeoutExpired:
            process.kill()


def _wait(server: Server, url: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            if server.process.poll() is not None or time.monotonic() > deadline:
                last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                message = f"{server.name} did not get ready. The end of its log:\n{last}"
                raise RuntimeError(message) from None
            time.sleep(0.2)


def model(python: str, latency: float, folder: Path) -> Any:
    """Serve the scripted model."""
    command = [python, str(HERE / "model_server.py"), "--port", "{port}", "--latency", str(latency)]
    return serving("model", "/times", command, {}, folder)


def crag(env: Mapping[str, str], folder: Path, name: str = "crag") -> Any:
    """Serve corrective_rag."""
    command = [str(Path(get_path("scripts"), "crag")), "serve", "--port", "{port}", "--pipelines", "corrective_rag"]
    return serving(name, "/health/ready", command, env, folder)


def control(env: Mapping[str, str], folder: Path) -> Any:
    """Serve the controls; without Hayhooks' buffer of traces, which corrective_rag's server has not either."""
    wrappers, hayhooks = write_wrappers(folder / "pipelines"), str(Path(get_path("scripts"), "hayhooks"))
    command = [hayhooks, "run", "--host", "127.0.0.1", "--port", "{port}", "--without-tracing"]
    command += ["--pipelines-dir", str(wrappers), "--additional-python-path", str(HERE)]
    return serving("control", "/status", command, env, folder)
