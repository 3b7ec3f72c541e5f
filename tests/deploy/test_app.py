"""The app as docker-compose.yml starts it: its commands and settings, no right to write, real services."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from socket import create_server
from typing import Any

import httpx
import kinds
import pytest
from deployment import DEPLOY, ROOT, composed, dev_module, query, scraped
from service_fixtures import temporary_index, unavailable


@dataclass(frozen=True)
class App:
    """One that answers."""

    url: str
    key: str
    health_check: list[str]


@pytest.fixture(scope="module")
def bwrap() -> str:
    """What a container would do, as far as it goes without an engine: another user, and nothing can be written."""
    try:
        if not shutil.which("bwrap"):
            kinds.apt_install("bubblewrap")
        kinds.run_command("bwrap", "--ro-bind", "/", "/", "--unshare-user", "--uid", "10001", "true")
    except kinds.ServiceUnavailable as missing:
        unavailable(f"{missing}; `apt-get install bubblewrap` brings it")
    return "bwrap"


def contained(bwrap: str, keys: Path, environment: dict[str, str], *command: str) -> list[str]:
    """A command that sees this machine read-only, /tmp empty, and one folder for keys."""
    shown = [part for path in {sys.prefix, str(ROOT)} for part in ("--ro-bind", path, path)]
    view = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *shown]
    settings = [part for name, value in environment.items() for part in ("--setenv", name, value)]
    user = ["--unshare-user", "--uid", "10001", "--gid", "10001", "--die-with-parent"]
    return [bwrap, *view, "--bind", str(keys), str(keys), *user, "--clearenv", *settings, "--chdir", "/tmp", *command]


def settings_of(service: dict[str, Any], at: dict[str, str]) -> dict[str, str]:
    """What the Dockerfile and docker-compose.yml set, with the addresses of the real services here."""
    given = {name: value for name, value in service.get("environment", {}).items() if value and "OTLP" not in name}
    return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/tmp", **given, **at}


def words(name: str, swapped: dict[str, str]) -> list[str]:
    """The command of a container; `config` writes a dollar as two."""
    service = composed()[name]
    given = [word.replace("$$", "$") for word in service["entrypoint"] + service["command"]]
    return [swapped.get(word, word) for word in given]


@pytest.fixture(scope="module")
def filled(bwrap: str, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index with one page; the other file cannot be read, which keeps nobody from being answered."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.copy(ROOT / "docs" / "web.md", folder)
    (folder / "broken.pdf").write_text("this is no PDF")
    with temporary_index(elasticsearch_url) as index:
        swapped = {"http://elasticsearch:9200": elasticsearch_url, "crag": index, "/documents": str(folder)}
        command = contained(bwrap, folder, settings_of(composed()["index"], {}), *words("index", swapped))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "broken.pdf" in done.stderr
        yield index


@pytest.fixture(scope="module")
def app(
    bwrap: str, filled: str, elasticsearch_url: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """The app started by the command of docker-compose.yml."""
    dev_module("hayhooks")
    keys = tmp_path_factory.mktemp("keys")
    with create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    swapped = {"0.0.0.0": "127.0.0.1", "1416": port, "/opt/start.sh": str(DEPLOY / "start.sh")}
    service = composed()["app"]
    at = {"ELASTICSEARCH_URL": elasticsearch_url, "CRAG_INDEX": filled, "CRAG_REDIS_URL": redis_url}
    at["CRAG_SERVE_API_KEYS_FILE"] = str(keys / "api-keys")
    command = contained(bwrap, keys, settings_of(service, at), *words("app", swapped))
    with (keys / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}/health/ready", process, keys / "log")
            check = [word.replace("1416", port) for word in service["healthcheck"]["test"][1:]]
            yield App(f"http://127.0.0.1:{port}", (keys / "api-keys").read_text().strip(), check)
        finally:
            process.terminate()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return once it answers 200."""
    deadline = time.monotonic() + 300
    while True:
        with suppress(httpx.TransportError):
            if httpx.get(url).status_code == 200:
                return
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)


def test_one_question_is_answered_with_the_key_of_the_first_start(app: App) -> None:
    """The second command of the documentation."""
    reply = httpx.post(
        f"{app.url}/corrective_retrieval/run",
        json={"question": "How long is a web provider left alone after a failure?"},
        headers={"Authorization": f"Bearer {app.key}"},
        timeout=30,
    )
    assert reply.status_code == 200, reply.text
    assert reply.json()["result"]["crag"]["verdict"] in {"correct", "ambiguous", "incorrect"}


def test_without_the_key_nothing_is_answered(app: App) -> None:
    assert httpx.post(f"{app.url}/corrective_retrieval/run", json={"question": "Who?"}).status_code == 401


def test_the_health_check_of_the_container_passes_and_notices_an_app_that_is_gone(app: App) -> None:
    check = [sys.executable, *app.health_check[1:]]
    assert subprocess.run(check, check=False).returncode == 0
    with create_server(("127.0.0.1", 0)) as free:
        gone = [word.replace(app.url.rpartition(":")[2], str(free.getsockname()[1])) for word in check]
    assert subprocess.run(gone, check=False, stderr=subprocess.DEVNULL).returncode != 0


def test_prometheus_scrapes_it_without_a_key_and_knows_its_decisions(app: App, prometheus_url: str) -> None:
    test_one_question_is_answered_with_the_key_of_the_first_start(app)
    with scraped(prometheus_url, app.url.removeprefix("http://")) as matcher:
        assert float(query(prometheus_url, f"sum(crag_decisions_total{{{matcher}}})")[0]["value"][1]) >= 1


def test_it_had_no_right_to_write(bwrap: str, tmp_path: Path) -> None:
    """What the tests above ran in is what they claim."""
    for folder in (os.getcwd(), str(ROOT), "/var"):
        command = contained(bwrap, tmp_path, {"PATH": "/usr/bin:/bin"}, "touch", f"{folder}/crag-probe")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert folder.startswith("/tmp") or "Read-only file system" in done.stderr
