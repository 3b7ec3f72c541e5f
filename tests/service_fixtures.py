"""Fixtures for tests that need a real service; `scripts/services.py` starts what is not running yet.

A test that uses one of them, directly or through another fixture, is marked `integration`. Where the service cannot
run, such a test is skipped with the command that would start it; in CI it fails, so that nothing goes untested unseen.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

import kinds
import pytest
import services
from elasticsearch import Elasticsearch

SERVICE_FIXTURES = {"elasticsearch_url", "elasticsearch_cluster", "redis_url", "searx_url", "prometheus_url", "jaeger"}


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if SERVICE_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.integration)


def started(name: str) -> services.Service:
    """Return the service, or end the test that needs it: skipped, in CI failed."""
    try:
        return services.start(name)
    except kinds.ServiceUnavailable as missing:
        unavailable(str(missing))


def unavailable(message: str) -> NoReturn:
    """End the test that needs what is not here, service or program: skipped, in CI failed."""
    if os.environ.get("CI", "").lower() in {"", "0", "false"}:
        pytest.skip(message)
    pytest.fail(message, pytrace=False)


def program(name: str, way: str) -> str:
    """Return the path of a program, of this environment before the machine's; without it the test ends with `way`."""
    beside = Path(sys.executable).with_name(name)
    if found := str(beside) if beside.is_file() else shutil.which(name):
        return found
    unavailable(f"the program {name} is not installed; `{way}` installs it")


@contextmanager
def own_redis(folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Start a Redis of one test alone, which it may hold or set otherwise; give its address and process id."""
    found = program("redis-server", "apt-get install redis-server")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started = [found, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options]
    with subprocess.Popen(started, stdout=subprocess.DEVNULL) as running:
        try:
            end = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except ConnectionError:
                    assert time.monotonic() < end and running.poll() is None
                    time.sleep(0.02)
            yield f"redis://127.0.0.1:{port}/0", running.pid
        finally:
            running.send_signal(signal.SIGCONT)
            running.terminate()


@contextmanager
def temporary_index(url: str) -> Iterator[str]:
    """Give a fresh index name and afterwards delete every index whose name starts with it."""
    name = f"crag-test-{uuid4().hex}"
    try:
        yield name
    finally:
        with Elasticsearch(url) as client:
            for index in client.indices.get(index=f"{name}*", expand_wildcards="all"):
                client.indices.delete(index=index)  # a server refuses to delete by wildcard


@pytest.fixture(scope="session")
def elasticsearch_url() -> Iterator[str]:
    with started("elasticsearch") as service:
        yield service.url


@pytest.fixture
def elasticsearch_index(elasticsearch_url: str) -> Iterator[str]:
    with temporary_index(elasticsearch_url) as name:
        yield name


@pytest.fixture
def place(elasticsearch_url: str, elasticsearch_index: str) -> list[str]:
    """The options that name a fresh index."""
    return ["--store", "elasticsearch", "--url", elasticsearch_url, "--index", elasticsearch_index]


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with started("redis") as service:
        yield service.url


@pytest.fixture(scope="session")
def searx_url() -> Iterator[str]:
    with started("searx") as service:
        yield service.url


@pytest.fixture(scope="session")
def prometheus_url() -> Iterator[str]:
    with started("prometheus") as service:
        yield service.url


@pytest.fixture(scope="session")
def jaeger() -> Iterator[services.Service]:
    """Its pages are at `JAEGER_URL` of its `urls`, its collector at `JAEGER_OTLP_URL`."""
    with started("jaeger") as service:
        yield service
