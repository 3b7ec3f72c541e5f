"""What an evaluation is made of: records of one that was made of something else are not gone on with."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import orjson

from haystack_integrations.crag import __version__
from haystack_integrations.crag.components.rule_prefilter import MAX_ITEMS_SETTING, VECTOR_SCORE_SETTING
from haystack_integrations.crag.deciding.policy import ITERATIONS_SETTING
from haystack_integrations.crag.evaluation.cases import Dataset
from haystack_integrations.crag.evaluation.parts import reads_statistics
from haystack_integrations.crag.evaluation.reading import LISTS, SPLIT_FILES
from haystack_integrations.crag.evaluation.rows import CORPUS, rows
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.pipelines.loader import read, source
from haystack_integrations.crag.settings import configured, path_of

PACKAGE: Final = Path(__file__).parents[1]
_CODE: Final = (".py", ".yml", ".json")
_READ: Final = (".json", ".json.gz", ".yml", ".yaml", ".jsonl", ".txt")
_SETTINGS: Final = (MAX_ITEMS_SETTING, VECTOR_SCORE_SETTING, ITERATIONS_SETTING)
"""What components read from the environment where the pipeline does not say."""


def fingerprint(dataset: Dataset, setup: Setup) -> dict[str, Any]:
    """
    Tell two evaluations apart by what they are made of.

    :param dataset: The data.
    :param setup: What is evaluated.
    :returns: Names and hashes by what they are of; the number of questions is not among them.
    """
    calibration = None if setup.calibration is None else _digest([path_of(setup.calibration).read_bytes()])
    return {
        "data": _digest(_data(dataset, setup)),
        "split": dataset.split,
        "pipeline": _digest([source(setup.pipeline).encode(), *map(Path.read_bytes, _files(read(setup.pipeline)))]),
        "grader": setup.grader,
        "calibration": calibration,
        "encoder": None if setup.encoder is None else _folder(path_of(setup.encoder)),
        "lists": setup.lists,
        "top_k": setup.top_k,
        "model": None if setup.model is None else _digest([repr(setup.model.identity()).encode()]),
        "settings in the environment": {name: value for name in _SETTINGS if (value := configured(name))} or None,
        "code of crag-haystack": f"{__version__} {_folder(PACKAGE, _CODE)}",
    }


def _data(dataset: Dataset, setup: Setup) -> Iterator[bytes]:
    """
    Give what is read of the data.

    What `crag collect` wrote grows with each split, and labels that a chat model was paid for would have to be begun
    anew: of it only the documents in the lists, which are all that is judged, and statistics where a grader reads them.
    """
    place, is_part = dataset.folder / dataset.split, dataset.statistics is not None
    files = [*([] if is_part else [dataset.folder / CORPUS]), *(place / name for name in SPLIT_FILES)]
    files += [dataset.statistics] if dataset.statistics is not None and reads_statistics(setup) else []
    for file in files:
        yield file.name.encode()
        yield file.read_bytes() if file.is_file() else b""
    if is_part and (place / LISTS).is_file():
        listed = {name for row in rows(place / LISTS) for name in row.values["retrieved"]}
        yield orjson.dumps([dataset.passages[name] for name in sorted(listed)])


def _folder(folder: Path, kinds: Sequence[str] = ()) -> str:
    """Tell code and models by what is in their files: that of a clone changes between two versions, too."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and (not kinds or path.suffix in kinds))
    return _digest(part for path in files for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes()))


def _files(settings: Any) -> Iterator[Path]:
    """Find the files that a pipeline's settings name, such as a calibration: judged with others it is another one."""
    if isinstance(settings, dict | list):
        for inner in settings.values() if isinstance(settings, dict) else settings:
            yield from _files(inner)
    elif isinstance(settings, str) and settings.endswith(_READ) and path_of(settings).is_file():
        yield path_of(settings)


def _digest(parts: Any) -> str:
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()
