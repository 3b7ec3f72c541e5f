"""What the tests of the deployment share: the files, the programs that read them, and a page of our metrics."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import kinds
from service_fixtures import program, unavailable

ROOT = Path(kinds.HERE).parent
DEPLOY = ROOT / "deploy"
DEV = 'pip install -e ".[dev]"'


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Return what a program prints; a failure shows it."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def dev_program(name: str) -> str:
    """Return the path of a program that a package of the extra `dev` brings."""
    return program(name, DEV)


def dev_module(name: str) -> Any:
    """Return a module that a package of the extra `dev` brings; without it the test ends with the command."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        unavailable(f"{missing}; `{DEV}` installs it")


@cache
def composed(*more: Path, **settings: str) -> dict[str, Any]:
    """The file as Compose resolves it, with further files laid over it."""
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    files = [part for file in (ROOT / "docker-compose.yml", *more) for part in ("--file", file)]
    command = (dev_program("docker-compose"), "--project-directory", ROOT, *files, "config", "--format", "json")
    services: dict[str, Any] = json.loads(run(*command, environment={**bare, **settings}))["services"]
    return services


def query(url: str, expression: str) -> list[dict[str, Any]]:
    """Return what a Prometheus answers to an expression."""
    reply = httpx.get(f"{url}/api/v1/query?query={quote(expression, safe='')}", timeout=10).json()
    assert reply["status"] == "success", f"{expression}\n{reply.get('error')}"
    found: list[dict[str, Any]] = reply["data"]["result"]
    return found


@contextmanager
def scraped(url: str, address: str) -> Iterator[str]:
    """
    Have the Prometheus of the tests scrape a page on loopback, from its first answer until the end of the block.

    :param url: The Prometheus, of the fixture `prometheus_url`.
    :param address: `127.0.0.1:PORT`; the path is /metrics.
    :returns: The label matcher of this target alone, `instance="..."`.
    """
    if str(kinds.scrape_targets()) not in httpx.get(f"{url}/api/v1/status/config").text:
        unavailable(f"the Prometheus at {url} is not the one of the tests; unset PROMETHEUS_URL")
    matcher = f'instance="{address}"'
    targets = kinds.scrape_targets() / f"{uuid4().hex}.json"
    try:
        targets.write_text(json.dumps([{"targets": [address]}]))
        deadline = time.monotonic() + 120
        while not any(up["value"][1] == "1" for up in query(url, f"up{{{matcher}}}")):
            assert time.monotonic() < deadline, f"Prometheus did not scrape {address} in 120 s"
            time.sleep(0.2)
        yield matcher
    finally:
        targets.unlink(missing_ok=True)


@contextmanager
def metrics_page() -> Iterator[str]:
    """Serve the product's own page of metrics, from a process that counts nothing else; return its address."""
    dev_module("opentelemetry.exporter.prometheus")
    command = [sys.executable, str(ROOT / "tests" / "metrics_page.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()
