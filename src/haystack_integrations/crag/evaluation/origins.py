"""Whose labels a split has, and what may take their place: `crag label` keeps records of what it wrote beside them."""

from pathlib import Path
from typing import Any

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.cases import Dataset
from haystack_integrations.crag.evaluation.journal import journal_of, read_head
from haystack_integrations.crag.evaluation.reading import QUERIES, split_folder
from haystack_integrations.crag.evaluation.rows import rows


def check_target(dataset: Dataset, output: str, *, by_model: bool = True) -> Path:
    """
    Refuse a split that holds what this does not make.

    :param dataset: The questions.
    :param output: Name of the split to write.
    :param by_model: Whether a chat model makes the labels; those that people give take no paid ones' place.
    :returns: Its folder.
    :raises ConfigurationError: When it is the questions' own split, or holds other labels or questions, or is no name
        of a folder.
    """
    place = split_folder(dataset.folder, output)
    is_own = labelled_from(place) is not None and (by_model or not is_labelled_by_model(place))
    if place.resolve() == (dataset.folder / dataset.split).resolve() or (not is_own and (place / QUERIES).exists()):
        how = "`crag label` did not write" if by_model else "no sheet labelled"
        msg = f"the split {output!r} holds questions that {how}; choose another --output"
        raise ConfigurationError(msg)
    asked, known = {case.id for case in dataset.cases}, rows(place / QUERIES) if (place / QUERIES).exists() else ()
    # Appended, as docs/labels.md says: it would be written anew without them.
    if more := [row.values.get("id") for row in known if row.values.get("id") not in asked]:
        msg = (
            f"the split {output!r} has {len(more)} questions that {dataset.split!r} lacks, such as {more[0]!r}, and "
            "would lose them; remove them there, or choose another --output"
        )
        raise ConfigurationError(msg)
    return place


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
