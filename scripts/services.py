"""Start the real services that the tests need; `make test`, CI and a developer share this script.

`python scripts/services.py start elasticsearch` prints the `export` lines of what now runs; also `status` and `stop`.
A service is the first of: the one whose URL is in the environment, the one that `start` left running, Docker Compose
where an engine runs, the smallest distribution of a package manager (the last two the other way round where tests need
a process). All of it listens on loopback only.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from socket import create_connection, create_server
from subprocess import DEVNULL, Popen
from tempfile import mkdtemp
from threading import current_thread, main_thread
from typing import Any, TextIO
from urllib.parse import urlsplit

from kinds import HERE, KINDS, ServiceUnavailable, cache_dir, installing, run_command

COMPOSE = ("docker", "compose", "--file", f"{HERE.parent}/docker-compose.yml")


class Ended(RuntimeError):  # noqa: N818 - what became of a server
    """A server ended before it was ready; the message holds the end of its log."""


@dataclass
class Service(AbstractContextManager["Service"]):
    """A usable service; `with` or stop() ends it if it was started here and leaves it alone otherwise."""

    name: str
    urls: dict[str, str]  # by environment variable
    started_here: bool = False
    pid: int = 0  # 0: Docker Compose
    directory: str = ""
    process: Popen[bytes] | None = None
    users: TextIO | None = None  # a file that each process of the tests holds while it uses a container of theirs

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Return the service's own address, the first of `urls`."""
        return next(iter(self.urls.values()))

    def answers(self) -> bool:
        """Ask the service whether it is ready, past any proxy."""
        at, ready = urlsplit(self.url), KINDS[self.name].ready
        with suppress(OSError), create_connection((at.hostname, at.port), timeout=10) as server:
            server.sendall(f"GET {ready} HTTP/1.0\r\n\r\n".encode() if at.scheme == "http" else f"{ready}\r\n".encode())
            return server.recv(16).startswith((b"HTTP/1.0 200", b"HTTP/1.1 200", b"+PONG"))
        return False

    def stop(self) -> None:
        """End the service and remove its data."""
        if self.started_here and self.pid:
            self._end(signal.SIGTERM, 20)
            self._end(signal.SIGKILL, 2)
            shutil.rmtree(self.directory, ignore_errors=True)
        elif self.started_here and (self.users is None or _alone(self.users)):
            run_command(*COMPOSE, "rm", "--stop", "--force", "--volumes", KINDS[self.name].container or self.name)
        if self.users:
            self.users.close()
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


def _alone(users: TextIO) -> bool:
    """Hold the file alone, if no other process holds it."""
    try:
        flock(users, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start_container(name: str) -> Service:
    run_command("docker", "info")
    container = KINDS[name].container or name
    urls = {variable: KINDS[name].form.format(port) for variable, port in KINDS[name].ports.items()}
    with installing(), ExitStack() as undo:
        running = container in run_command(*COMPOSE, "ps", "--services", "--status", "running").split()
        users = undo.enter_context((cache_dir() / f"{name}.users").open("w"))
        if running and _alone(users):
            return Service(name, urls)
        service = undo.enter_context(Service(name, urls, started_here=True, users=users))
        flock(users, LOCK_SH)
        run_command(*COMPOSE, "up", "-d", "--wait", container)
        undo.pop_all()
    return service


def _start_process(name: str) -> Service:
    try:
        return _start_once(name)
    except Ended:  # another program may have taken its port, on a busy machine within the seconds that it needs
        return _start_once(name)


def _start_once(name: str) -> Service:
    kind = KINDS[name]
    user = "crag-services" if kind.refuses_root and os.geteuid() == 0 else None
    with ExitStack() as undo, ExitStack() as held:
        node = Path(mkdtemp(prefix=f"crag-{name}-", dir=None if user else cache_dir()))  # no user may enter root's home
        undo.callback(shutil.rmtree, node, ignore_errors=True)
        servers = {use: held.enter_context(create_server(("127.0.0.1", 0))) for use in (*kind.ports, "internal")}
        ports = {use: server.getsockname()[1] for use, server in servers.items()}
        command = kind.command(node, ports)
        if user:
            run_command("sh", "-c", f"(id {user} || useradd --system --user-group {user}) && chown -R {user}: '{node}'")
        held.close()  # held until now: the ports differ, and nobody else took them
        with (node / "server.log").open("wb") as log:
            as_user: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user else {}
            process = Popen(command, stdin=DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=node, **as_user)
        urls = {variable: kind.form.format(ports[variable]) for variable in kind.ports}
        service = undo.enter_context(Service(name, urls, True, process.pid, str(node), process))
        deadline = time.monotonic() + 300  # of a slow machine; one that ends is told at once
        while not service.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                last = "\n".join((node / "server.log").read_text(errors="replace").splitlines()[-20:])
                message = f"{name} did not get ready (exit status {process.poll()}). The end of its log:\n{last}"
                raise RuntimeError(message) if process.poll() is None else Ended(message)
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
    missing, ways = "", (_start_container, _start_process)
    for way in reversed(ways) if KINDS[name].process_first else ways:
        try:
            return way(name)
        except ServiceUnavailable as error:
            missing += f"\n- {error}"
    way_out = f"docker compose up -d --wait {KINDS[name].container or name}"
    message = f"{name} is not available: `{way_out}` would start it. Missing here:{missing}"
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
