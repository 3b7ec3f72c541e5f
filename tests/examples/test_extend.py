"""What the page on extending says beside its examples, which `test_docs.py` runs."""

import sys
from pathlib import Path

import pytest
import yaml

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import export, load

PARTS = """
from typing import Any

from haystack import Document, component

@component
class OwnGrader:
    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, documents: list[Document], state: object = None) -> dict:
        return {"documents": documents, "report": {"set_score": 0.0}}
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline with a class of one's own in it, by name."""
    (tmp_path / "own_parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)
    shipped = "haystack_integrations.crag.components.heuristic_grader.HeuristicGrader"
    path = tmp_path / "mine.yml"
    spec = yaml.safe_load(export("corrective_retrieval", index="own_parts"))
    assert spec["components"]["grader"]["type"] == shipped
    spec["components"]["grader"] = {"type": "own_parts.OwnGrader", "init_parameters": {}}
    path.write_text(yaml.safe_dump(spec))
    return path


def test_a_class_of_ones_own_stands_in_a_yaml_when_its_module_is_trusted(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Haystack's own setting."""
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", "own_parts")
    assert load(mine).run(query="Who?")["documents"] == []


def test_without_that_it_is_refused(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of the setting or the module in the message."""
    monkeypatch.delenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", raising=False)
    with pytest.raises(ConfigurationError, match="own_parts"):
        load(mine)
