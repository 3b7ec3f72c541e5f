"""
A calibration for each set, as `crag calibrate` makes one of a user's own questions: of those that are not asked here.

Kept apart are the first `APART` questions of a set in the order of the comparison (more where a run asks more), however
few a part asks: so all parts measure the same calibration. Kept apart too is every question that shares a source with
one of them (`evaluation/groups.py`: a labelled document, its title, the same wording; directly or through others). The
rest of the split is what is calibrated on: the set's own lists, the shipped defaults, no limit. Beside the calibration
lie the word statistics of the set's corpus, as `crag index --statistics` writes them: a user's store would tell them.
Where `crag calibrate` refuses the questions, there is no calibration, and the set is judged by the shipped default, as
the refusal says.

Files lie in the cache folder, made once for each data, choice of questions and state of this package.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

from environments import SystemFailed, cache_dir
from tasks import SPLIT, in_order

import haystack_integrations.crag as package
from haystack_integrations.crag.corpus_statistics import write_statistics
from haystack_integrations.crag.errors import CalibrationError
from haystack_integrations.crag.evaluation.calibrating import calibrate, write
from haystack_integrations.crag.evaluation.cases import Dataset
from haystack_integrations.crag.evaluation.groups import group_numbers
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.training import counted

APART: Final = 100
_REFUSED: Final = "refused.txt"


def calibrated(folder: Path, sets: Sequence[str], questions: int) -> tuple[list[Path], dict[str, Any]]:
    """
    Calibrate on each set, or find what was calibrated before.

    :param folder: The folder that holds the sets' folders.
    :param sets: Their names.
    :param questions: How many of each are asked.
    :returns: A folder for each, of the set's name, with `calibration.json` and `statistics.json`; and by name of the
        set what is told of its calibration.
    :raises SystemFailed: When none of the sets can be calibrated on, with the reason for each.
    """
    found, told = [], {}
    for name in sets:
        data = read_dataset(folder / name, SPLIT, least=1)
        rest = not_asked(data, questions)
        place = cache_dir() / "calibrations" / _digest(rest) / data.name
        if not (place / "made").is_file():
            print(f"calibrating on {len(rest.cases)} questions of {name} that are not asked", flush=True)
            _make(rest, place)
        found.append(place)
        told[name] = {"apart": len(data.cases) - len(rest.cases), "questions": len(rest.cases), **_said(place)}
    if refused := [f"not calibrated on {name}: {one['refused']}" for name, one in told.items() if "refused" in one]:
        print("; ".join(refused), flush=True)
    if len(refused) == len(told):
        raise SystemFailed("; ".join(refused))
    return found, told


def not_asked(data: Dataset, questions: int) -> Dataset:
    """
    Leave the questions that may be calibrated on.

    :param data: The set.
    :param questions: How many of it are asked.
    :returns: The set without those that are kept apart.
    """
    groups = group_numbers(data)
    apart = {groups[case.id] for case in in_order(data)[: max(APART, questions)]}
    return replace(data, cases=tuple(case for case in data.cases if groups[case.id] not in apart))


def _make(rest: Dataset, place: Path) -> None:
    rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    lists = {case.id: case.fixed for case in rest.cases if case.fixed is not None}
    try:
        write(calibrate(rest, lists), place / "calibration.json")
    except CalibrationError as error:
        (place / _REFUSED).write_text(str(error), "utf-8")
    write_statistics(counted(rest), place / "statistics.json")
    (place / "made").touch()


def _said(place: Path) -> dict[str, Any]:
    """Tell of a calibration what a reader has to know."""
    if (place / _REFUSED).is_file():
        return {"refused": (place / _REFUSED).read_text("utf-8")}
    content = json.loads((place / "calibration.json").read_text("utf-8"))
    held_out = content["held_out"]
    bounds = held_out["intervals"]["verdict.macro_f1"]
    told = {"value": held_out["verdict"]["macro_f1"], **bounds}
    return {
        "labels": content["trained_on"]["labels"],
        "held_out_f1": {name: round(told[name], 4) for name in ("value", "low", "high")},
    }


def _digest(rest: Dataset) -> str:
    """Name what a calibration follows from: the questions, the data, and all that this package is."""
    found = hashlib.sha256(json.dumps([case.id for case in rest.cases]).encode())
    for folder in (rest.folder, Path(package.__path__[0])):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                found.update(path.read_bytes())
    return found.hexdigest()[:12]
