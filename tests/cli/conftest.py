"""Shared by the tests of the command line."""

from pathlib import Path

import pytest
from cli_runner import two_documents
from scripted_model import ScriptedModel, judging


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with two short documents."""
    return two_documents(tmp_path)


@pytest.fixture
def model(configured_model: ScriptedModel) -> ScriptedModel:
    """A chat model that is configured, knows penguins, and answers."""
    configured_model.reply = judging(lambda text: 0.9 if "penguins" in text else 0.0, "On the coast of Antarctica [1].")
    return configured_model
