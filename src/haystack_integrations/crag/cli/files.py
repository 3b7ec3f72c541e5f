"""What the commands that evaluate and calibrate share: the extra they need, and the files they write."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from haystack_integrations.crag.cli.output import complain
from haystack_integrations.crag.errors import ConfigurationError

if TYPE_CHECKING:
    from haystack_integrations.crag.evaluation.cases import Dataset

_SHOWN: Final = 3


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


def check_targets(*files: Path | None) -> None:
    """
    Refuse a result that could not be written, before anything is judged.

    :param files: Where results go; None for one that is not wanted.
    :raises ConfigurationError: With the first that cannot be written.
    """
    for file in files:
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            msg = f"cannot write {str(file)!r}; choose a file in a folder that exists"
            raise ConfigurationError(msg)


def write(file: Path, text: str) -> None:
    """
    Write a result.

    :param file: Where to.
    :param text: The result.
    :raises ConfigurationError: When it cannot be written.
    """
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        msg = f"cannot write {str(file)!r} ({error.strerror}); choose a path that can be written"
        raise ConfigurationError(msg) from None


def tell_doubts(dataset: "Dataset") -> None:
    """
    Warn of what may be a mistake in the data.

    :param dataset: The data.
    """
    for doubt in dataset.doubts:
        complain(doubt, "warning")


def tell_repeated(dataset: "Dataset") -> None:
    """
    Warn of questions that stand more than once in a split.

    :param dataset: The data.
    """
    from haystack_integrations.crag.evaluation.groups import repeated

    if not (found := repeated(dataset)):
        return
    different = sum(len({(frozenset(case.gold), frozenset(case.partial)) for case in cases}) > 1 for cases in found)
    stand = "1 question stands" if len(found) == 1 else f"{len(found)} questions stand"
    others = f", {different} of them with other labels each time" * bool(different)
    names = "; ".join(" and ".join(repr(case.id) for case in cases[:_SHOWN]) for cases in found[:_SHOWN])
    complain(
        f"{stand} more than once in the split {dataset.split!r}{others} "
        f"({names}{'; …' * (len(found) > _SHOWN)}); each counts as often as it stands there: remove what is there by "
        "mistake",
        "warning",
    )
