"""A calibration file: JSON with a part for each model that was fitted. Read once, until it changes."""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from errno import EISDIR
from functools import lru_cache
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.settings import path_of

FORMAT: Final = "crag-calibration"
VERSION: Final = 3

_WAY_OUT: Final = "write it again with `crag calibrate DIR --split S --output FILE`, or leave calibration out"

Model = TypeVar("Model")


def load(path: str | None, shipped: str, make: Callable[[Mapping[str, Any]], Model]) -> Model:
    """
    Read a model of a calibration file.

    :param path: The file, or None for the one in this package, which was fitted on other people's questions.
    :param shipped: The name of that one.
    :param make: Makes the model of the file's content; its ConfigurationError says what the file lacks.
    :returns: The model, the same one until the file changes.
    :raises ConfigurationError: When there is no such file, it is none of this version, or damaged.
    """
    found: Model
    if path is None:
        found = _of_package(shipped, make)
        return found
    file = path_of(path)
    try:
        now = file.stat()
        if file.is_dir():  # as an empty text, too, names the working directory
            raise IsADirectoryError(EISDIR, "it is a folder")
    except (OSError, ValueError) as error:  # the latter for a zero byte
        why = error.strerror if isinstance(error, OSError) else error
        msg = (
            f"calibration must be a file that `crag calibrate` wrote, but {path!r} cannot be read ({why}); "
            f"correct the path, or leave calibration out for the model in this package"
        )
        raise ConfigurationError(msg) from None
    found = _of_file(file, (now.st_mtime_ns, now.st_size, now.st_ino), make)
    return found


def finite(name: str, value: Any) -> float:
    """
    Read a number of a file: no text, no truth value, not infinite.

    :param name: What the number is called.
    :param value: What stands in the file.
    :returns: The number.
    :raises ValueError: For anything else.
    """
    if not is_number(value) or not isfinite(value):
        msg = f"{name} must be a finite number, but got {value!r}"
        raise ValueError(msg)
    return float(value)


@lru_cache(maxsize=4)
def _of_package(name: str, make: Callable[[Mapping[str, Any]], Any]) -> Any:
    return make(orjson.loads(files("haystack_integrations.crag").joinpath("models", "calibration", name).read_bytes()))


@lru_cache(maxsize=32)
def _of_file(file: Path, changed: tuple[int, ...], make: Callable[[Mapping[str, Any]], Any]) -> Any:  # noqa: ARG001 - part of the key: a rewritten file is read again
    try:
        return make(_checked(file))
    except ConfigurationError as error:
        why = str(error)
    except (OSError, orjson.JSONDecodeError) as error:
        why = f"is no readable JSON ({type(error).__name__})"
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        why = f"is damaged: {type(error).__name__} {error}"
    msg = f"calibration {str(file)!r} {why}; {_WAY_OUT}"
    raise ConfigurationError(msg)


def _checked(file: Path) -> dict[str, Any]:
    content = orjson.loads(file.read_bytes().removeprefix(BOM_UTF8))  # some editors leave one with a changed limit
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        msg = f'is no calibration file: it needs "format": {FORMAT!r}'
        raise ConfigurationError(msg)
    if content.get("version") != VERSION:
        msg = f"has version {content.get('version')!r}, but version {VERSION} is wanted here"
        raise ConfigurationError(msg)
    return content
