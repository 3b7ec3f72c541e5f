"""Start the real services that the tests need; `make test`, CI and a developer share this script.

`python scripts/services.py start elasticsearch` prints the `export` lines of what now runs; also `status` and `stop`.
A service is the first of: the one whose URL is in the environment, the one that `start` left running, Docker Compose
where an engine runs, the smallest distribution of a package manager. All of it listens on loopback only.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import create_server
from subprocess import DEVNULL, CalledProcessError, Popen, TimeoutExpired, run
from tempfile import TemporaryDirectory, mkdtemp
from threading import current_thread, main_thread
from typing import Any

HERE = Path(__file__).resolve().parent
COMPOSE = ("docker", "compose", "--file", f"{HERE.parent}/docker-compose.yml")
ELASTICSEARCH = "8.19.7"
JAEGER = "v1.42.0"  # the newest that `go install` builds: later releases have `replace` lines


class ServiceUnavailable(RuntimeError):  # noqa: N818 - a state of this machine, not a mistake
    """Nothing here can provide the service; the message names what is missing and the command that would start it."""


@dataclass(frozen=True)
class Kind:
    """What differs from one service to the next; another service is one more entry of KINDS."""

    ports: Mapping[str, int]  # environment variable -> port in docker-compose.yml; the first is the service's own URL
    ready: str  # this path answers 200 once the service works
    command: Callable[[Path, Mapping[str, int]], list[str]]  # (folder of this run, free ports) -> what to run
    refuses_root: bool = False


@dataclass
class Service(AbstractContextManager["Service"]):
    """A usable service; `with` or stop() ends it if it was started here and leaves it alone otherwise."""

    name: str
    urls: dict[str, str]  # by environment variable
    started_here: bool = False
    pid: int = 0  # 0: Docker Compose
    directory: str = ""
    process: Popen[bytes] | None = None

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Return the service's own address, the first of `urls`."""
        return next(iter(self.urls.values()))

    def answers(self) -> bool:
        """Ask the service whether it is ready, past any proxy."""
        server = HTTPConnection(self.url.removeprefix("http://"), timeout=10)
        with suppress(OSError, HTTPException), closing(server):
            server.request("GET", KINDS[self.name].ready)
            return server.getresponse().status == 200
        return False

    def stop(self) -> None:
        """End the service and remove its data."""
        if self.started_here and self.pid:
            self._end(signal.SIGTERM, 20)
            self._end(signal.SIGKILL, 2)
            shutil.rmtree(self.directory, ignore_errors=True)
        elif self.started_here:
            _run(*COMPOSE, "rm", "--stop", "--force", "--volumes", self.name)
        self.started_here = False

    def _end(self, number: signal.Signals, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        with suppress(ProcessLookupError):  # the whole process group is gone
            os.killpg(self.pid, number)
            while time.monotonic() < deadline:
                if self.process is not None:
                    self.process.poll()  # an ended child stays in its group until its parent asks
                os.killpg(self.pid, 0)
                time.sleep(0.05)


def cache_dir() -> Path:
    """Return the folder of what was downloaded and of the notes about what `start` left running."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "crag-haystack", "services")
    folder = Path(os.environ.get("CRAG_SERVICES_DIR") or default).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(*command: str) -> str:
    try:
        return run(command, check=True, capture_output=True, text=True, timeout=900).stdout
    except CalledProcessError as error:
        why = "\n".join((error.stdout + error.stderr).strip().splitlines()[-3:])
    except (OSError, TimeoutExpired) as error:
        why = str(error)
    message = f"`{' '.join(command)}` failed: {why}"
    raise ServiceUnavailable(message)


def _jdk17() -> Path:
    named = [Path(value, "release") for name, value in sorted(os.environ.items()) if name.startswith("JAVA_HOME")]
    for release in (*named, *sorted(Path("/usr/lib/jvm").glob("*/release"))):
        if release.is_file() and 'JAVA_VERSION="17' in release.read_text() and (release.parent / "bin/javac").is_file():
            return release.parent
    message = "no JDK 17 in JAVA_HOME or /usr/lib/jvm"
    raise ServiceUnavailable(message)


def _elasticsearch(node: Path, ports: Mapping[str, int]) -> list[str]:
    jdk, ours, home = _jdk17(), HERE / "elasticsearch", node / f"elasticsearch-{ELASTICSEARCH}"
    archive = cache_dir() / f"{home.name}.zip"
    if not archive.is_file():
        artifact = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{ELASTICSEARCH}:zip"
        with TemporaryDirectory(dir=archive.parent) as work:
            _run("mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={work}")
            Path(work, archive.name).rename(archive)
    shutil.unpack_archive(archive, node)
    plugin, scratch = home / "plugins" / "root", f"{node}/scratch"
    _run(f"{jdk}/bin/javac", "--release", "17", "-cp", f"{home}/lib/*", "-d", scratch, f"{ours}/RootPlugin.java")
    shutil.copytree(ours, plugin)
    (plugin / "elasticsearch.yml").replace(home / "config" / "elasticsearch.yml")
    _run(f"{jdk}/bin/jar", "cf", f"{plugin}/root.jar", "-C", scratch, ".")
    settings = ["ES_JAVA_OPTS=-Xms512m -Xmx512m", f"ES_JAVA_HOME={jdk}", f"ES_TMPDIR={scratch}"]
    listen = [f"-Ehttp.port={ports['ELASTICSEARCH_URL']}", f"-Etransport.port={ports['internal']}"]
    return ["env", *settings, "bash", f"{home}/bin/elasticsearch", *listen]


def _jaeger(_: Path, ports: Mapping[str, int]) -> list[str]:
    folder = cache_dir() / f"jaeger-{JAEGER}"
    if not (folder / "all-in-one").is_file():
        _run("env", f"GOBIN={folder}", "go", "install", f"github.com/jaegertracing/jaeger/cmd/all-in-one@{JAEGER}")
    unused = ["collector.http-server.", "collector.otlp.grpc.", "query.grpc-server.", "http-server.", "admin.http."]
    unused += [f"processor.{protocol}.server-" for protocol in ("jaeger-binary", "jaeger-compact", "zipkin-compact")]
    listen = dict.fromkeys(unused, 0)  # any port: left alone, these listen on all interfaces
    listen |= {"collector.grpc-server.": ports["internal"], "query.http-server.": ports["JAEGER_URL"]}
    listen["collector.otlp.http."] = ports["JAEGER_OTLP_URL"]
    arguments = [f"--{name}host-port=127.0.0.1:{port}" for name, port in listen.items()]
    return ["env", "COLLECTOR_OTLP_ENABLED=true", f"{folder}/all-in-one", *arguments]


KINDS = {
    "elasticsearch": Kind({"ELASTICSEARCH_URL": 9200}, "/_cluster/health?wait_for_status=yellow", _elasticsearch, True),
    "jaeger": Kind({"JAEGER_URL": 16686, "JAEGER_OTLP_URL": 4318}, "/api/services", _jaeger),
}


def _start_container(name: str) -> Service:
    _run("docker", "info")
    running = name in _run(*COMPOSE, "ps", "--services", "--status", "running").split()
    urls = {variable: f"http://127.0.0.1:{port}" for variable, port in KINDS[name].ports.items()}
    with ExitStack() as undo:
        service = undo.enter_context(Service(name, urls, started_here=not running))
        _run(*COMPOSE, "up", "-d", "--wait", name)
        undo.pop_all()
    return service


def _start_process(name: str) -> Service:
    kind = KINDS[name]
    user = "crag-services" if kind.refuses_root and os.geteuid() == 0 else None
    with ExitStack() as undo, ExitStack() as held:
        node = Path(mkdtemp(prefix=f"crag-{name}-", dir=None if user else cache_dir()))  # no user may enter root's home
        undo.callback(shutil.rmtree, node, ignore_errors=True)
        servers = {use: held.enter_context(create_server(("127.0.0.1", 0))) for use in (*kind.ports, "internal")}
        ports = {use: server.getsockname()[1] for use, server in servers.items()}
        command = kind.command(node, ports)
        if user:
            _run("sh", "-c", f"(id {user} || useradd --system --user-group {user}) && chown -R {user}: '{node}'")
        held.close()  # held until now: the ports differ, and nobody else took them
        with (node / "server.log").open("wb") as log:
            as_user: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user else {}
            process = Popen(command, stdin=DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=node, **as_user)
        urls = {variable: f"http://127.0.0.1:{ports[variable]}" for variable in kind.ports}
        service = undo.enter_context(Service(name, urls, True, process.pid, str(node), process))
        deadline = time.monotonic() + 90
        while not service.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                last = "\n".join((node / "server.log").read_text(errors="replace").splitlines()[-20:])
                message = f"{name} did not get ready (exit status {process.poll()}). The end of its log:\n{last}"
                raise RuntimeError(message)
            time.sleep(0.2)
        undo.pop_all()
    return service


def _left_running(name: str) -> Service | None:
    with suppress(FileNotFoundError):
        service = Service(name, **json.loads((cache_dir() / f"{name}.json").read_text()))
        return service if service.answers() else None
    return None


def start(name: str) -> Service:
    """Return the service, started when nothing provides it yet; from then on SIGTERM unwinds like Ctrl-C."""
    if urls := {variable: os.environ[variable] for variable in KINDS[name].ports if os.environ.get(variable)}:
        return Service(name, urls)
    if service := _left_running(name):
        return service
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and current_thread() is main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    missing = ""
    for way in (_start_container, _start_process):
        try:
            return way(name)
        except ServiceUnavailable as error:
            missing += f"\n- {error}"
    message = f"{name} is not available: `docker compose up -d --wait {name}` would start it. Missing here:{missing}"
    raise ServiceUnavailable(message)


def main() -> None:
    """Do what the command line says, for all services when it names none."""
    parser = argparse.ArgumentParser(description="Start the real services that the tests need.")
    parser.add_argument("action", choices=["start", "stop", "status"])
    parser.add_argument("services", nargs="*", choices=["all", *KINDS], default="all")
    chosen = parser.parse_args()
    for name in KINDS if "all" in chosen.services else chosen.services:
        left, note = _left_running(name), cache_dir() / f"{name}.json"
        if chosen.action == "start":
            service = start(name)
            if service.started_here:
                note.write_text(json.dumps({"urls": service.urls, "pid": service.pid, "directory": service.directory}))
            print(*(f"export {variable}={url}" for variable, url in service.urls.items()), sep="\n")
        elif chosen.action == "status" or left is None:
            print(f"{name}: {left.urls if left else 'not running'}")
        else:
            left.started_here = True
            left.stop()
            note.unlink()


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as failure:
        sys.exit(str(failure))
