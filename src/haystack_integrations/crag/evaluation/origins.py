"""Whose labels a split has: `crag label` keeps records of what it wrote beside the questions."""

from pathlib import Path
from typing import Any

from haystack_integrations.crag.evaluation.journal import journal_of, read_head
from haystack_integrations.crag.evaluation.reading import QUERIES


def labelled_from(split: Path) -> str | None:
    """
    Tell from which split `crag label` made another one.

    :param split: Folder of a split.
    :returns: The name of the split whose questions it labelled; None for what it did not write.
    """
    name = _head(split).get("split")
    return None if name is None else str(name)


def is_labelled_by_model(split: Path) -> bool:
    """
    Tell whether a chat model made the labels of a split.

    :param split: Folder of a split.
    :returns: False for what `crag label` did not write, or wrote from a sheet that people filled.
    """
    return _head(split).get("grader") is not None


def _head(split: Path) -> dict[str, Any]:
    return read_head(journal_of(split / QUERIES))
