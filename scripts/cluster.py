"""Three Elasticsearch nodes on loopback, each of which a test or a benchmark can kill, pause and start again.

The nodes are the minimal distribution that `services.py` starts where no Docker engine runs: a process of its own
for each, with its own folder, so that losing one is a signal and not a change of any setting.
"""

import json
import os
import shutil
import signal
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import create_server
from subprocess import DEVNULL, Popen
from tempfile import mkdtemp
from typing import Any

from kinds import elasticsearch_command, run_command, unpacked_elasticsearch

NODES = 3
_HEAP = "384m"
_USER = "crag-services"
_SECONDS = 180.0


@dataclass
class Node:
    """One server; its data outlives a kill, and `start` takes it up."""

    name: str
    home: Path
    port: int
    transport: int
    settings: tuple[str, ...]
    process: "Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Return the address of its REST interface."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it; it joins the cluster by itself."""
        command = elasticsearch_command(self.home, self.port, self.transport, *self.settings, heap=_HEAP)
        user: dict[str, Any] = {"user": _USER, "group": _USER, "extra_groups": []} if os.geteuid() == 0 else {}
        with (self.home.parent / "server.log").open("ab") as log:
            self.process = Popen(
                command, stdin=DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.home, **user
            )

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it without a word to the others, and wait until it is gone."""
        if self.process is not None:
            self.signal(number)
            self.process.wait(30)
            self.process = None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal: SIGSTOP holds the server with its connections open, SIGCONT lets it go on."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def ask(self, path: str, method: str = "GET", body: Any = None, seconds: float = 10.0) -> Any:
        """Return the server's answer to a request, or None when there is none or it is an error."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        with suppress(OSError, HTTPException, ValueError):
            try:
                payload = None if body is None else json.dumps(body)
                connection.request(method, path, payload, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                return json.loads(text) if answer.status < 400 else None
            finally:
                connection.close()
        return None


@dataclass
class Cluster(AbstractContextManager["Cluster"]):
    """The nodes; `with` or stop() ends them and removes their data."""

    nodes: list[Node]
    directory: Path

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def urls(self) -> list[str]:
        """Return the addresses of all nodes, as a client of the cluster wants them."""
        return [node.url for node in self.nodes]

    def heal(self) -> None:
        """Start and let go on whatever a test left dead or held; return when all nodes are one cluster again."""
        for node in self.nodes:
            node.signal(signal.SIGCONT)
            if node.process is None or node.process.poll() is not None:
                node.start()
        self.wait(len(self.nodes))

    def wait(self, nodes: int, status: str = "yellow", seconds: float = _SECONDS) -> None:
        """Return when so many nodes are one cluster; with the status `green` every copy is in its place."""
        wanted = f"/_cluster/health?wait_for_nodes={nodes}&wait_for_status={status}&timeout=1s"
        deadline = time.monotonic() + seconds
        while not all(node.ask(wanted) for node in self.nodes if node.process is not None):
            ended = [node for node in self.nodes if node.process is not None and node.process.poll() is not None]
            if ended or time.monotonic() > deadline:
                log = (ended or self.nodes)[0].home.parent / "server.log"
                last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                message = f"{nodes} nodes are not one {status} cluster after {seconds:.0f} s; the end of {log}:\n{last}"
                raise RuntimeError(message)
            time.sleep(0.3)

    def stop(self) -> None:
        """End the nodes and remove their data."""
        for node in self.nodes:
            node.signal(signal.SIGCONT)
            node.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def start_cluster(count: int = NODES) -> Cluster:
    """Start so many nodes as one cluster; takes about half a minute on two cores for three."""
    with ExitStack() as undo, ExitStack() as held:
        folder = Path(mkdtemp(prefix="crag-cluster-"))
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        servers = [held.enter_context(create_server(("127.0.0.1", 0))) for _ in range(2 * count)]
        ports = [server.getsockname()[1] for server in servers]
        names = [f"node-{number}" for number in range(1, count + 1)]
        common = (
            "discovery.type=multi-node",
            f"discovery.seed_hosts={','.join(f'127.0.0.1:{port}' for port in ports[count:])}",
            f"cluster.initial_master_nodes={','.join(names)}",
        )
        first = unpacked_elasticsearch(folder / names[0])
        for name in names[1:]:  # links: the same files, without copying 100 MB for each node
            shutil.copytree(folder / names[0], folder / name, copy_function=os.link)
        nodes = [
            Node(name, folder / name / first.name, http, transport, (f"node.name={name}", *common))
            for name, http, transport in zip(names, ports[:count], ports[count:], strict=True)
        ]
        if os.geteuid() == 0:  # the server refuses to run as root
            ours = f"(id {_USER} || useradd --system --user-group {_USER}) && chown -R {_USER}: '{folder}'"
            run_command("sh", "-c", ours)
        cluster = undo.enter_context(Cluster(nodes, folder))
        held.close()  # held until now: the ports differ, and nobody else took them
        for node in nodes:
            node.start()
        cluster.wait(count)
        undo.pop_all()
    return cluster
