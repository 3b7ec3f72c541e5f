"""Settings from the environment or a `.env` file, read when a component is built and checked at once."""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dotenv import dotenv_values, find_dotenv

from haystack_integrations.crag.errors import ConfigurationError

T = TypeVar("T", int, float)


def number(name: str, given: T | None, default: T, parse: Callable[[str], T], low: float, high: float) -> T:
    """
    Find a number: as given, else from the environment, else from `.env`, else the default.

    :param name: Name of the environment variable.
    :param given: The value passed in code or YAML; None means none was.
    :param default: What holds when nobody says anything.
    :param parse: `int` or `float`.
    :param low: Smallest accepted value.
    :param high: Largest accepted value.
    :returns: The number.
    :raises ConfigurationError: For a value that is no number of that kind or out of range; the message names it.
    """
    wanted = f"{'a whole number' if parse is int else 'a number'} from {low:g} to {high:g}"
    raw: object = given
    where = "the value passed for"
    if given is None:
        text = os.environ.get(name)
        if text is None:
            text = dotenv_values(find_dotenv(usecwd=True)).get(name)
        if text is None or not text.strip():
            return default
        raw, where = text.strip(), "the setting"
    try:
        value = parse(raw) if isinstance(raw, str) else raw
    except ValueError:
        value = None
    usable = isinstance(value, int | float if parse is float else int) and not isinstance(value, bool)
    if not usable or not low <= value <= high:  # type: ignore[operator]
        msg = f"{where} {name} must be {wanted}, but got {raw!r}; correct or unset it (default {default})"
        raise ConfigurationError(msg)
    return parse(value)  # type: ignore[arg-type]


def check_positive(values: Mapping[str, Any]) -> None:
    """
    Refuse limits that are no positive numbers.

    :param values: Limits by name.
    :raises ConfigurationError: Naming the first that is unusable.
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            msg = f"{name} must be a number > 0, but got {value!r}"
            raise ConfigurationError(msg)
