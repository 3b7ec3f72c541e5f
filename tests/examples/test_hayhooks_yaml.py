"""Deployed by YAML only: Hayhooks in a process of its own, its own command, requests."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import environment
from examples.conftest import EXAMPLES, Folder
from scripted_model import ScriptedModel

pytest.importorskip("hayhooks", reason='needs pip install -e ".[serve]"')
curl = pytest.mark.skipif(shutil.which("curl") is None, reason="the example's requests are made by curl")

_RUN = "from hayhooks.cli import *; from hayhooks.cli.base import hayhooks_cli; hayhooks_cli()"
_LISTENING = re.compile(r"running on .*?http://127\.0\.0\.1:(\d+)")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[str]:
    """`hayhooks run` on a free port, without a pipeline."""
    log = tmp_path / "hayhooks.log"
    settings = environment(HAYHOOKS_HOST="127.0.0.1", HAYHOOKS_PORT="0")
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-c", _RUN, "run"], stdout=file, stderr=file, env=settings)
    try:
        end = time.monotonic() + 300
        while (found := _LISTENING.search(log.read_text())) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield found[1]
    finally:
        process.terminate()
        process.wait(30)


@curl
def test_two_exported_files_are_deployed_and_answer(port: str, tmp_path: Path, scripted_model: ScriptedModel) -> None:
    """One indexes, one retrieves; they share the store, no model is asked; a second time they answer likewise."""
    copied = Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))
    folder = Folder(copied / "hayhooks_yaml", scripted_model)
    printed = folder.shell("./deploy.sh", HAYHOOKS_HOST="127.0.0.1", HAYHOOKS_PORT=port).stdout
    indexed, answered = (json.loads(line) for line in printed.splitlines() if line.startswith("{"))
    assert indexed["result"]["writer"]["documents_written"] == 3
    record = answered["result"]["record"]
    assert record["crag"]["verdict"] == "correct"
    assert [document["meta"]["file_path"] for document in record["documents"]] == ["refunds.md"]
    assert scripted_model.calls == 0
    again = folder.shell("./deploy.sh", HAYHOOKS_HOST="127.0.0.1", HAYHOOKS_PORT=port).stdout
    (record,) = [json.loads(line)["result"]["record"] for line in again.splitlines() if '"record"' in line]
    assert [document["meta"]["file_path"] for document in record["documents"]] == ["refunds.md"]
