"""
Load by vegeta: requests at a constant rate whatever the server does, every reply checked for the case it was about.

vegeta is built once with Go, into the folder of downloads that the services of the tests share.
"""

import base64
import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from subprocess import PIPE, Popen, run
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from load_servers import Server, ask
from model_server import CASE, case, topic

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from kinds import cache_dir, run_command

VEGETA = "v12.12.0"
IN_FLIGHT = 32  # of a saturated server; `crag serve` runs 64 at once by default
_MODULE = "github.com/tsenart/vegeta/v12"
_TIMEOUT = "120s"
_NUMBERS = itertools.count(1)  # a case is asked about once


def vegeta() -> str:
    """Return the load generator's path."""
    program = cache_dir() / f"vegeta-{VEGETA}" / "vegeta"
    if not program.is_file():
        with TemporaryDirectory() as work:
            # `go install` asks for the list of all versions, which not every module proxy has; a build does not.
            Path(work, "go.mod").write_text(f"module load\n\nrequire {_MODULE} {VEGETA}\n")
            run_command("go", "build", "-C", work, "-mod=mod", "-o", str(program), _MODULE)
    return str(program)


@dataclass
class Load:
    """What came of a load; times in seconds."""

    name: str
    rate: float
    seconds: float
    sent: int = 0
    lost: int = 0  # no reply
    mixed: int = 0  # holds what belongs to another case
    unanswered: int = 0  # 200, but not the model's answer
    statuses: dict[int, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)  # of replies with status 200
    own: list[float] = field(default_factory=list)  # the same, without what the model says it took
    late: list[float] = field(default_factory=list)  # how far behind the rate each request was sent
    ends: list[float] = field(default_factory=list)  # since the first request
    cpu: float = 0.0
    rss: tuple[float, float] = (0.0, 0.0)

    @property
    def answered(self) -> int:
        """Count the replies with status 200."""
        return self.statuses.get(200, 0)

    @property
    def achieved(self) -> float:
        """Return replies by the second; the first could not come before the shortest latency."""
        return self.answered / max(0.001, max(self.ends) - min(self.latencies)) if self.latencies else 0.0

    @property
    def cpu_each(self) -> float:
        """Return the milliseconds of processor that a reply took."""
        return 1000 * self.cpu / max(1, self.answered)

    @property
    def throughput(self) -> float:
        """Return replies by the second while the load lasted, without the first second."""
        return sum(1 < end <= self.seconds for end in self.ends) / (self.seconds - 1)

    def add(self, result: Mapping[str, Any], body: bytes, model_seconds: float | None, at: float) -> None:
        """Count one reply."""
        number, status, latency = int(_case_of(result["url"])), result["code"], result["latency"] / 1e9
        self.sent += 1
        self.lost += status == 0
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.mixed += is_mixed(body, number, status)
        if self.rate:
            self.late.append(at - result["seq"] / self.rate)
        if status == 200:
            self.unanswered += f"answer to {case(number)}".encode() not in body
            self.latencies.append(latency)
            self.ends.append(at + latency)
            self.own.append(latency - (model_seconds or 0.0))


def is_mixed(body: bytes, number: int, status: int) -> bool:
    """Tell whether a reply holds another case, or a document with the grade that another one got."""
    others = {int(found) for found in CASE.findall(body.decode(errors="replace"))} - {number}
    if others or status != 200:
        return bool(others)
    evidence = orjson.loads(body)["result"]["evidence"]
    graded = (one for one in evidence if one.get("status") == "graded")
    return any((one["score"] > 0.5) != (topic(number) in one["content"]) for one in graded)


def attack(server: Server, path: str, model: Server, rate: float, seconds: float, name: str = "") -> Load:
    """
    Ask a server about new cases.

    :param rate: Requests a second; 0 keeps IN_FLIGHT of them running, which tells the server's throughput.
    """
    load = Load(name or server.name, rate, seconds)
    ask(model.url)  # what earlier loads left is forgotten
    with TemporaryDirectory() as work:
        targets, results = Path(work, "targets"), Path(work, "results")
        _write_targets(targets, server.url + path, int((rate or 200) * seconds) + 100)
        pace = [f"-rate={round(60 * rate)}/1m", *([] if rate else [f"-max-workers={IN_FLIGHT}"])]
        command = [vegeta(), "attack", "-format=json", "-lazy", f"-targets={targets}", f"-output={results}", *pace]
        rss, cpu = server.rss(), server.cpu()
        run([*command, f"-workers={IN_FLIGHT}", f"-duration={seconds}s", f"-timeout={_TIMEOUT}"], check=True)
        load.cpu, load.rss = server.cpu() - cpu, (rss, server.rss())
        times = ask(model.url)
        first = 0.0
        for result in _results(results):
            at = datetime.fromisoformat(result["timestamp"]).timestamp()
            first = first or at  # the first of them is the first that ended: corrected below
            body = base64.b64decode(result["body"] or "")
            load.add(result, body, times.get(_case_of(result["url"]).lstrip("0")), at - first)
    early = min(load.late, default=0.0)
    load.late = [late - early for late in load.late]
    return load


def _write_targets(path: Path, url: str, count: int) -> None:
    """Write requests; the address repeats the case, so that each reply tells what it was about."""
    header = {"Content-Type": ["application/json"]}
    with path.open("wb") as lines:
        for number in itertools.islice(_NUMBERS, count):
            question = {"question": f"What is said of {topic(number)} in {case(number)}?"}
            body = base64.b64encode(orjson.dumps(question)).decode()
            target = {"method": "POST", "url": f"{url}?about={case(number)}", "header": header, "body": body}
            lines.write(orjson.dumps(target) + b"\n")


def _results(path: Path) -> Iterator[dict[str, Any]]:
    with Popen([vegeta(), "encode", "--to=json", str(path)], stdout=PIPE) as encoder:
        assert encoder.stdout is not None
        yield from map(orjson.loads, encoder.stdout)


def _case_of(url: str) -> str:
    found = CASE.search(url)
    assert found, url
    return found[1]
