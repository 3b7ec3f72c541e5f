"""Shared by the tests of indexing."""

from pathlib import Path

import pytest
from files import jsonl, long_text, record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files and three records."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "long.md").write_text(long_text("Emma"))
    (docs / "short.txt").write_text("Persuasion is another novel.")
    jsonl(docs / "c.jsonl", *(record(number) for number in range(3)))
    return docs
