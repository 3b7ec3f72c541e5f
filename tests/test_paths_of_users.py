"""Whatever file a setting names may stand in a user's folder: a shell leaves `--pipeline=~/mine.yml` as it is."""

from pathlib import Path

import pytest

from haystack_integrations.crag.corpus_statistics.counting import collect
from haystack_integrations.crag.corpus_statistics.file import read_statistics, write_statistics
from haystack_integrations.crag.expansion.rules import load_synonyms
from haystack_integrations.crag.pipelines.loader import read, source


def test_a_file_of_a_users_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline, synonyms and statistics; a calibration and a model are tested where they are read."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "mine.yml").write_text(source("corrective_retrieval"))
    (tmp_path / "words.yml").write_text("car: [automobile]\n")
    write_statistics(collect(["Penguins swim."]), tmp_path / "counted.json")
    assert read("~/mine.yml") == read("corrective_retrieval")
    assert load_synonyms("~/words.yml") == {"car": ("automobile",)}
    assert read_statistics("~/counted.json") == read_statistics(tmp_path / "counted.json")
