"""What the components here take: a value of another type is refused by one clear error, before anything reads it."""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from haystack_integrations.crag.errors import ConfigurationError, CragError

C = TypeVar("C", bound=type)
_Door = Callable[..., Any]

_NAMES: Final = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", NoneType: "None"}
_DOORS: Final = ("run", "run_async")
_NO_NUMBERS: Final = (bool, np.bool_, str)  # whatever Python and NumPy make of them


def checked(kind: C) -> C:
    """
    Let a component's `run`, `run_async` and constructor refuse what is not of the types that their signatures name.

    Python reads True as 1 and a text as a list of its letters, and tells of None only by what it lacks.

    ```python
    from haystack import Document, component
    from haystack_integrations.crag.errors import ConfigurationError
    from haystack_integrations.crag.inputs import checked

    @component
    @checked
    class First:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document], top_k: int = 1):
            return {"documents": documents[:top_k]}

    try:
        First().run(documents=["Emma"])
    except ConfigurationError as error:
        assert str(error).startswith("First got a list with a str for documents, wanted a list of Document")
    ```

    :param kind: The class, below `@component`.
    :returns: The same class.
    """
    for door in _DOORS:
        if door in vars(kind):
            setattr(kind, door, _behind(_check_of(vars(kind)[door]), vars(kind)[door]))
    if "__init__" in vars(kind):
        kind.__init__ = _building(vars(kind)["__init__"])  # type: ignore[misc] # it is this class's own
    return kind


def led_by_state(kind: C) -> C:
    """
    Let a component do nothing where its pipeline connects its `state`, and none came.

    A question that a run gives to all components that take one (`pipeline.run({"query": ...})`) sets off at once what
    needs no other input: a correction, before anything was retrieved.

    :param kind: The class of a component with an input `state`, below `@checked`.
    :returns: The same class.
    """
    for door in _DOORS:
        setattr(kind, door, _behind(_is_idle, vars(kind)[door]))
    return kind


def _is_idle(part: Any, args: Sequence[Any], inputs: Mapping[str, Any]) -> bool:
    connected = part.__haystack_input__._sockets_dict["state"].senders
    return bool(connected) and not args and inputs.get("state") is None


def _behind(guard: Callable[[Any, Sequence[Any], Mapping[str, Any]], bool | None], door: _Door) -> _Door:
    """Put a look at what is given before a door: nothing is done where it says so, or raises."""
    if inspect.iscoroutinefunction(door):

        @wraps(door)
        async def run_async(self: object, *args: Any, **inputs: Any) -> Any:
            return {} if guard(self, args, inputs) else await door(self, *args, **inputs)

        return run_async

    @wraps(door)
    def run(self: object, *args: Any, **inputs: Any) -> Any:
        return {} if guard(self, args, inputs) else door(self, *args, **inputs)

    return run


def check_input(owner: str, name: str, value: object, wanted: Any) -> None:
    """
    Refuse a value that is not of a type.

    :param owner: Who got it.
    :param name: The input's name.
    :param value: The value. It stands in no message: it may be a document or a question.
    :param wanted: The type.
    :raises ConfigurationError: With what was got, what was wanted and the way out.
    """
    if not _fits(value, wanted):
        optional = " or leave it out" if NoneType in get_args(wanted) else ""
        msg = (
            f"{owner} got {_got(value)} for {name}, wanted {_told(wanted)}; pass one{optional}, "
            f"or connect an output of that type"
        )
        raise ConfigurationError(msg)


def is_number(value: object) -> TypeGuard[int | float]:
    """
    Tell whether a value is a number: a boolean is none, whatever Python says.

    :param value: Anything.
    :returns: Whether it is.
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def finite(value: object) -> float | None:
    """
    Read a score that anybody may have written, as Python's own number: NumPy's are no JSON.

    :param value: Anything.
    :returns: The number, also of a Decimal or a tensor of one; None for what is none, or none that can be compared,
        such as NaN.
    """
    if isinstance(value, _NO_NUMBERS) or not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):  # a whole number of hundreds of digits; several numbers
        return None
    return number if math.isfinite(number) else None


def levels(value: object) -> Iterator[list[Any]]:
    """
    Walk through nested mappings and lists, level by level: as deep as they are, Python's stack is not asked.

    :param value: Anything.
    :returns: All that each level holds, from what the value itself holds on; none for what holds nothing.
    """
    level = [value]
    while level := [
        inner
        for part in level
        if isinstance(part, dict | list)
        for inner in (part.values() if isinstance(part, dict) else part)
    ]:
        yield level


def _check_of(door: Callable[..., Any]) -> Callable[[object, Sequence[Any], Mapping[str, Any]], None]:
    signature, kinds = inspect.signature(door), get_type_hints(door)
    wanted = {name: kinds[name] for name in list(signature.parameters)[1:] if name in kinds}

    def check(owner: object, args: Sequence[Any], inputs: Mapping[str, Any]) -> None:
        # Whatever does not fit the signature is left to Python, which names it.
        for name, value in [*zip(wanted, args, strict=False), *inputs.items()]:
            if name in wanted:
                check_input(type(owner).__name__, name, value, wanted[name])

    return check


def _building(build: Callable[..., None]) -> Callable[..., None]:
    check, kinds = _check_of(build), get_type_hints(build)
    lists = {name for name in kinds if {get_origin(one) or one for one in get_args(kinds[name])} == {list, NoneType}}

    @wraps(build)
    def built(self: object, *given: Any, **named: Any) -> None:
        args, settings = [_pythons(value) for value in given], {name: _pythons(value) for name, value in named.items()}
        try:
            build(self, *args, **settings)
        except CragError:  # a component's own words on its settings say more, but not of a text's letters
            listed = {name: settings[name] for name in lists & settings.keys()}
            check(self, (), {name: value for name, value in listed.items() if isinstance(value, str | Mapping)})
            raise
        except Exception:
            check(self, args, settings)
            raise
        check(self, args, {name: value for name, value in settings.items() if not isinstance(value, PurePath)})

    return built


def _pythons(value: Any) -> Any:
    """Take NumPy's numbers as Python's, also within lists and mappings: no YAML can hold the others."""
    if isinstance(value, np.generic):
        return value.item()
    if not any(isinstance(inner, np.generic) for level in levels(value) for inner in level):
        return value  # the very object, whatever it holds
    if isinstance(value, list):
        return [_pythons(inner) for inner in value]
    return {name: _pythons(inner) for name, inner in value.items()}


@cache
def _taken_apart(wanted: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(wanted), get_args(wanted)


def _fits(value: object, wanted: Any) -> bool:
    origin, parts = _taken_apart(wanted)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)  # True is not the choice 1
    if origin is list:
        return isinstance(value, list | tuple) and all(_fits(entry, parts[0]) for entry in value)
    if wanted in (int, float):  # a boolean is no number, whatever Python says; numpy's numbers are some
        return isinstance(value, Integral if wanted is int else Real) and not isinstance(value, bool)
    known = wanted if origin is None else origin
    try:
        return not isinstance(known, type) or isinstance(value, known)
    except TypeError:  # a protocol that cannot be asked for
        return True


def _got(value: object) -> str:
    if isinstance(value, list | tuple) and value:
        kinds = " and a ".join(dict.fromkeys(type(entry).__name__ for entry in value))
        return f"a {type(value).__name__} with a {kinds}"
    return "None" if value is None else f"a {type(value).__name__}"


def _told(wanted: Any) -> str:
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return " or ".join(_told(part) for part in parts)
    if origin is Literal:
        return f"one of {list(parts)}"
    if origin is list:
        return f"a list of {_entries(parts)}"
    return "a mapping" if origin is dict else str(_NAMES.get(wanted, f"a {getattr(wanted, '__name__', wanted)}"))


def _entries(parts: Sequence[Any]) -> str:
    (entry,) = parts
    plural = {str: "texts", float: "numbers", int: "whole numbers", dict: "mappings"}
    choices = " or ".join(map(repr, get_args(entry))) if get_origin(entry) is Literal else ""
    return choices or str(plural.get(get_origin(entry) or entry, getattr(entry, "__name__", entry)))
