"""Files in a user's folder: a YAML says `~/mine.json`, where no shell writes the folder out."""

from pathlib import Path

import pytest

from haystack_integrations.crag.corpus_statistics.counting import TermCounter
from haystack_integrations.crag.corpus_statistics.file import read_statistics, write_statistics
from haystack_integrations.crag.expansion.rules import load_synonyms
from haystack_integrations.crag.pipelines.loader import source


def test_a_file_in_a_users_folder_is_found_whatever_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of calibrations and models see their own tests."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "mine.yml").write_text("car: [vehicle]\n")
    assert load_synonyms("~/mine.yml") == {"car": ("vehicle",)}
    assert source("~/mine.yml") == "car: [vehicle]\n"
    counter = TermCounter()
    counter.add("Emma is a novel.")
    write_statistics(counter, "~/mine.json")
    assert (tmp_path / "mine.json").is_file()
    assert read_statistics("~/mine.json").documents == 1
