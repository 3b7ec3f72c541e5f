"""What the commands that evaluate and calibrate share: the extra they need, and the files they write."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

from haystack_integrations.crag.cli.options import PIPELINE
from haystack_integrations.crag.cli.output import complain
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.whole_file import cannot_write, is_replaceable, write_or_refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack_integrations.crag.evaluation.cases import Dataset, Record

_SHOWN: Final = 3

CALIBRATION: Final = b'"format": "crag-calibration"'
REPORT: Final = b": evaluation of corrective RAG</title>"
RESULT: Final = b'"verdict": {\n    "accuracy"'
"""How a file says in its first lines that it is a calibration, a page or a result: one that may be replaced."""

_FIRST: Final = 2000  # bytes
_TRIAL: Final = 200_000  # about a calibration


def require_extra() -> None:
    """
    Refuse to begin without the libraries of the extra `eval`.

    :raises ConfigurationError: With the command that installs them.
    """
    try:
        import sklearn  # noqa: F401
    except ImportError:
        msg = 'evaluation needs scikit-learn, which is not installed; run `pip install "crag-haystack[eval]"`'
        raise ConfigurationError(msg) from None


def check_targets(*targets: tuple[Path | None, bytes]) -> None:
    """
    Refuse, before anything is judged, a result that could not be written or would take the place of something else.

    :param targets: Where results go, None for one that is not wanted, and what stands in the first lines of its kind.
    :raises ConfigurationError: With the first that cannot be written.
    """
    files = [file for file, _ in targets if file is not None]
    if len({file.absolute() for file in files}) < len(files):
        msg = f"got {str(files[0])!r} for two results; choose a file for each"
        raise ConfigurationError(msg)
    for file, mark in targets:
        if file is None:
            continue
        if file.is_dir() or not file.parent.is_dir():
            msg = f"cannot write {str(file)!r}; choose a file in a folder that exists"
            raise ConfigurationError(msg)
        if _holds_another(file, mark):
            msg = f"{str(file)!r} exists and is no earlier result of this kind; choose another file, or remove it first"
            raise ConfigurationError(msg)
        _try_to_write(file)


def _try_to_write(file: Path) -> None:
    """Find a disk that is full, or a folder that may not be written, before minutes of work and not after them."""
    if not is_replaceable(file):
        return
    try:
        with TemporaryFile(dir=file.resolve().parent) as trial:
            trial.write(bytes(_TRIAL))
    except OSError as error:
        raise cannot_write(file, error) from None


def _holds_another(file: Path, mark: bytes) -> bool:
    """Tell whether a file has a content of another kind: labels and calibrations are not made a second time."""
    try:
        if not file.is_file():
            return False
        with file.open("rb") as opened:
            first = opened.read(_FIRST).replace(b"\r\n", b"\n")  # a version control may have changed it
    except OSError:
        return False  # told when it is written
    return bool(first.strip()) and mark not in first


def write(file: Path, text: str) -> None:
    """
    Write a result: on a full disk the earlier one stays, and no half of the new one.

    :param file: Where to.
    :param text: The result.
    :raises ConfigurationError: When it cannot be written.
    """
    write_or_refuse(file, text.encode("utf-8"))  # the same on Windows, which would end each line in its own way


def with_texts(records: "Sequence[Record]", dataset: "Dataset") -> "list[Record]":
    """
    Give records the texts of their documents, for the decisions that a report shows in full.

    :param records: Of an evaluation or a calibration.
    :param dataset: The data.
    :returns: The records with `snippets`.
    """
    known = dataset.passages
    return [
        {**record, "snippets": {name: known[name].text for name in names if name in known}}
        for record in records
        for names in [[document["id"] for document in record["documents"]]]
    ]


def no_lists(dataset: "Dataset") -> ConfigurationError:
    """
    Say that lists are wanted and the data has none.

    :param dataset: The data.
    :returns: The error to raise.
    """
    return ConfigurationError(f"the split {dataset.split!r} has no lists; use --lists live to retrieve with a pipeline")


def tell_doubts(dataset: "Dataset") -> None:
    """
    Warn of what may be a mistake in the data.

    :param dataset: The data.
    """
    for doubt in dataset.doubts:
        complain(doubt, "warning")


def tell_of_labels(dataset: "Dataset") -> None:
    """
    Warn of labels that a model made, as who reads "wrong" thinks of the truth, and of questions that stand twice.

    :param dataset: The data.
    """
    from haystack_integrations.crag.evaluation.groups import repeated
    from haystack_integrations.crag.evaluation.origins import is_labelled_by_model

    if is_labelled_by_model(dataset.folder / dataset.split):
        complain(
            f"a chat model made the labels of {dataset.split!r} (`crag label`): but for those that you corrected, the "
            "figures and limits are about its labels. Where it takes what is only on topic for an answer, more answers "
            "are wrong than they say; check some of its labels",
            "warning",
        )
    if not (found := repeated(dataset)):
        return
    different = sum(len({(frozenset(case.gold), frozenset(case.partial)) for case in cases}) > 1 for cases in found)
    stand = "1 question stands" if len(found) == 1 else f"{len(found)} questions stand"
    others = f", {different} of them with other labels each time" if different else ""
    names = "; ".join(" and ".join(repr(case.id) for case in cases[:_SHOWN]) for cases in found[:_SHOWN])
    more = "; …" if len(found) > _SHOWN else ""
    complain(
        f"{stand} more than once in the split {dataset.split!r}{others} "
        f"({names}{more}); each counts as often as it stands there: remove what is there by mistake",
        "warning",
    )


def tell_of_pipeline(pipeline: str) -> None:
    """
    Warn that a pipeline was named for nothing, where lists are taken that are there.

    :param pipeline: What was named.
    """
    if pipeline != PIPELINE:
        way = "`crag collect --pipeline` or --lists live makes others"
        complain(f"--pipeline {pipeline} has no effect on the lists in the data; {way}", "warning")
