"""Our YAML in a plain Hayhooks: from its directory at the start, and by its own command."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import hayhooks
import httpx
import pytest
from cli_runner import environment
from hayhooks.server.pipelines.registry import registry
from hayhooks.settings import settings as hayhooks_settings
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill
from serving.conftest import DOCUMENTS, QUESTION, served

from haystack_integrations.crag.pipelines import export
from haystack_integrations.crag.serving.settings import read_settings


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hayhooks' own app over a directory with an exported pipeline, on a store of this process."""
    index = f"test_{uuid4().hex}"
    fill(InMemoryDocumentStore(index=index, embedding_similarity_function="cosine"), DOCUMENTS)
    folder = tmp_path / "pipelines"
    folder.mkdir()
    (folder / "found_at_start.yml").write_text(export("corrective_retrieval", index=index))
    (tmp_path / "deployed.yml").write_text(export("heuristic_rag", index=index))
    monkeypatch.setattr(hayhooks_settings, "pipelines_dir", str(folder))
    monkeypatch.setattr(hayhooks_settings, "tracing_include_haystack_spans", False)
    with served(hayhooks.create_app(), read_settings()) as running:
        yield running
    registry.clear()


def test_a_pipeline_in_hayhooks_directory_answers(plain: Any) -> None:
    """The names of its inputs are those of the YAML; Hayhooks gives the outputs of components as they are."""
    response = httpx.post(f"{plain.url}/found_at_start/run", json={"query": QUESTION}, timeout=30)
    assert response.status_code == 200
    record = response.json()["result"]["record"]
    assert record["crag"]["verdict"] in ("correct", "ambiguous")
    assert record["documents"][0]["meta"]["source"] == "emma.md"


def test_hayhooks_own_command_deploys_it(plain: Any, tmp_path: Path) -> None:
    command = "from hayhooks.cli import *; from hayhooks.cli.base import hayhooks_cli; hayhooks_cli()"
    arguments = ["pipeline", "deploy-yaml", "-n", "deployed", "--no-save-file", str(tmp_path / "deployed.yml")]
    address = {"HAYHOOKS_HOST": "127.0.0.1", "HAYHOOKS_PORT": str(plain.port)}
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        capture_output=True,
        text=True,
        env=environment(**address),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    response = httpx.post(f"{plain.url}/deployed/run", json={"query": QUESTION}, timeout=30)
    assert response.json()["result"]["record"]["documents"][0]["meta"]["source"] == "emma.md"
