"""Settings from the environment or a `.env` file, read when a component is built and checked at once."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final, TypeVar

from dotenv import dotenv_values, find_dotenv

from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.interrupts import let_end

STORE_SETTING: Final = "CRAG_STORE"
STORE_URL_SETTING: Final = "ELASTICSEARCH_URL"
INDEX_SETTING: Final = "CRAG_INDEX"
REDIS_SETTING: Final = "CRAG_REDIS_URL"
CALIBRATION_SETTING: Final = "CRAG_CALIBRATION"
_LONGEST_WAIT: Final = 1_000_000_000
_PIPE_SECONDS: Final = 30

T = TypeVar("T", int, float)


def configured(name: str) -> str | None:
    """
    Read a setting from the environment, else from a `.env` file above the working directory.

    :param name: Name of the environment variable.
    :returns: The value without surrounding white space, or None when it is not set or empty.
    :raises ConfigurationError: For a `.env` file that cannot be read.
    """
    value = os.environ.get(name)
    if value is None:
        value = _filed().get(name)
    return (value or "").strip() or None


def path_of(given: str | Path) -> Path:
    """
    Find what a setting names; a shell leaves the `~` of `--calibration=~/mine.json` as it is.

    :param given: A path, from the working directory or from a user's folder (`~/`, `~name/`).
    :returns: The path; as it stands where nobody is called so.
    """
    return Path(os.path.expanduser(given))


def named() -> set[str]:
    """
    Name all that is set, in the environment or in a `.env` file above the working directory.

    :returns: Names of variables.
    :raises ConfigurationError: For a `.env` file that cannot be read.
    """
    return {*os.environ, *_filed()}


def _filed() -> dict[str, str | None]:
    """Read the `.env` file above the working directory: Windows' editors and shells write other encodings, too."""
    try:
        path = find_dotenv(usecwd=True)
    except OSError:  # the working directory was removed, as an update does below a program that goes on
        return {}
    read = partial(dotenv_values, path, encoding="utf-8-sig")
    try:
        # A pipe, as a password manager makes one, is written when it is read: by who may have to be asked, or nobody.
        return {} if not path else read() if Path(path).is_file() else call_within(_PIPE_SECONDS, read)
    except TimeoutError as error:
        let_end(error)
        msg = (
            f"the settings in {path!r} did not come in {_PIPE_SECONDS} seconds: it is a pipe, and nobody writes into "
            "it; unlock or start what does, or remove it"
        )
        raise ConfigurationError(msg) from None
    except (OSError, UnicodeDecodeError) as error:
        kind = type(error).__name__
        msg = f"the settings in {path!r} cannot be read ({kind}); save the file as UTF-8 text, or remove it"
        raise ConfigurationError(msg) from None


def number(
    name: str,
    given: T | None,
    default: T,
    parse: Callable[[str], T],
    low: float,
    high: float,
    setting: str | None = None,
) -> T:
    """
    Find a number: as given, else from the environment, else from `.env`, else the default.

    :param name: Name of the parameter.
    :param given: The value passed in code or YAML; None means none was.
    :param default: What holds when nobody says anything.
    :param parse: `int` or `float`.
    :param low: Smallest accepted value.
    :param high: Largest accepted value.
    :param setting: Name of the environment variable that holds where nothing is given, if there is one.
    :returns: The number.
    :raises ConfigurationError: For a value that is no number of that kind or out of range; the message names it.
    """
    wanted = f"{'a whole number' if parse is int else 'a number'} from {low:g} to {high:g}"
    raw: object = given
    where, way_out = name, f"correct it, or leave it out ({default})"
    if given is None:
        text = configured(setting) if setting else None
        if text is None:
            return default
        raw, where, way_out = text, f"the setting {setting}", f"correct or unset it (default {default})"
    try:
        value = parse(raw) if isinstance(raw, str) else raw
    except ValueError:
        value = None
    usable = isinstance(value, int | float if parse is float else int) and not isinstance(value, bool)
    if not usable or not low <= value <= high:  # type: ignore[operator]
        msg = f"{where} must be {wanted}, but got {raw!r}; {way_out}"
        raise ConfigurationError(msg)
    return parse(value)  # type: ignore[arg-type]


def check_positive(values: Mapping[str, Any]) -> None:
    """
    Refuse limits that are no positive finite numbers: None, not infinity, is no limit where there may be none.

    :param values: Limits by name.
    :raises ConfigurationError: Naming the first that is unusable.
    """
    for name, value in values.items():
        if not is_number(value) or not 0 < value < inf:
            msg = f"{name} must be a finite number > 0, but got {value!r}"
            raise ConfigurationError(msg)
        if name.endswith("_s"):
            check_wait(name, value)


def check_not_negative(**limits: float | None) -> None:
    """
    Refuse limits that are no numbers from 0 up.

    :param limits: Limits by name; None is no limit.
    :raises ConfigurationError: Naming the first that is unusable.
    """
    for name, value in limits.items():
        if value is not None and not (is_number(value) and value >= 0):
            msg = f"{name} must be a number from 0 up, but got {value!r}"
            raise ConfigurationError(msg)


def check_wait(name: str, seconds: float) -> None:
    """
    Refuse a time that no thread and no socket can wait for, such as `sys.maxsize`: each call would fail for it.

    :param name: What the time is called.
    :param seconds: The time.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    if seconds > _LONGEST_WAIT:
        msg = f"{name} must be at most {_LONGEST_WAIT:,} seconds, but got {seconds!r}"
        raise ConfigurationError(msg)


def check_whole(name: str, value: Any, most: int | None = None) -> None:
    """
    Refuse what is no whole number above 0.

    :param name: What the number is called.
    :param value: What was given.
    :param most: The largest accepted value, or None.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or value > (most or value):
        wanted = "> 0" if most is None else f"from 1 to {most}"
        msg = f"{name} must be a whole number {wanted}, but got {value!r}"
        raise ConfigurationError(msg)


def check_text(name: str, value: Any) -> str:
    """
    Refuse a text without a word in it, as of a setting that was left empty.

    :param name: What the text is called.
    :param value: What was given.
    :returns: The text as it is.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    if not isinstance(value, str) or not value.strip():
        msg = f"{name} must be a text with words in it, but got {value!r}; write one, or leave it out"
        raise ConfigurationError(msg)
    return value


def check_one_of(name: str, value: Any, known: Collection[Any]) -> None:
    """
    Refuse what is none of some values.

    :param name: What is set.
    :param value: What was given.
    :param known: The accepted values.
    :raises ConfigurationError: With what was got and what is accepted.
    """
    if value not in [*known]:  # compared one by one, since a list from a YAML has no place in a mapping
        msg = f"{name} must be one of {list(known)}, but got {value!r}"
        raise ConfigurationError(msg)
