"""The invented towns, read, measured and calibrated once for all tests that only look."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluation.towns import read_towns, write_towns

from haystack_integrations.crag.evaluation.calibrating import Calibrated, calibrate, prepared_of
from haystack_integrations.crag.evaluation.cases import Dataset, RankedList
from haystack_integrations.crag.evaluation.labelled import Prepared
from haystack_integrations.crag.evaluation.training import labelled_lists


@cache
def towns() -> tuple[Dataset, dict[str, RankedList]]:
    """The data with its lists."""
    with TemporaryDirectory() as folder:
        return read_towns(write_towns(Path(folder, "towns")))


@cache
def prepared_towns() -> list[Prepared]:
    """The lists, measured."""
    dataset, ranked = towns()
    return prepared_of(dataset, labelled_lists(dataset, ranked))[0]


@cache
def calibrated_towns() -> Calibrated:
    """What came of a calibration on them."""
    with TemporaryDirectory() as folder:
        return calibrate(*read_towns(write_towns(Path(folder, "towns"))), most_wrong=0.2)
