"""Copies: settings are copied, whatever holds connections, locks or memories is shared."""

from copy import deepcopy
from inspect import signature
from threading import Lock
from typing import Any, Final, Self, TypeVar
from weakref import ref

Made = TypeVar("Made")

# Where Haystack notes on a component which pipeline it is in, and what its sockets are connected to.
_PIPELINE: Final = "__haystack_added_to_pipeline__"
_SOCKETS: Final = ("__haystack_input__", "__haystack_output__")

_claiming: Final = Lock()


def plain_copy(value: Any) -> Any:
    """
    Copy what YAML can hold, into all depths.

    :param value: Settings. A component, a store or a cache among them is the caller's own, and stays the same object.
    :returns: The copy.
    """
    if isinstance(value, dict):
        return {name: plain_copy(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):  # a named tuple is made by its fields
        return type(value)(plain_copy(entry) for entry in value)
    return value


class Copied:
    """
    A component whose deep copy is made anew, with the same store, model and cache.

    Haystack copies no component. Who does it himself cannot copy a lock, a client or a template. The copy is in no
    pipeline, unless it is that which is copied. Pickled, it is its settings, with what pickle makes of the parts.
    """

    _holder: "ref[Any] | None" = None  # who has it in a pipeline, or is about to

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Make another one with the same settings."""
        made = made_of(type(self), {name: plain_copy(value) for name, value in settings_of(self).items()})
        memo[id(self)] = made
        if id(getattr(self, _PIPELINE)) in memo:
            for name in (_PIPELINE, *_SOCKETS):
                setattr(made, name, deepcopy(getattr(self, name), memo))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Write down for pickle what it is made of, and where it stands in a pipeline."""
        placed = {name: getattr(self, name) for name in (_PIPELINE, *_SOCKETS)}
        return made_of, (type(self), settings_of(self)), placed


def in_none(part: Any, owner: Any) -> Any:
    """
    Give a part that can be put into a pipeline: Haystack lets a component be in one only.

    :param part: A component, or None.
    :param owner: Who puts it there; what it failed to, it may try again.
    :returns: The part; of one of ours that another has, or that is in a pipeline already, a copy, with the same store,
        model and cache.
    """
    if not isinstance(part, Copied):
        return part
    with _claiming:
        holder = None if part._holder is None else part._holder()
        if getattr(part, _PIPELINE) is None and (holder is None or holder is owner):
            part._holder = ref(owner)
            return part
    return deepcopy(part)


def settings_of(part: Any) -> dict[str, Any]:
    """
    Give what an object was made with.

    :param part: One that keeps each parameter of its constructor under its name.
    :returns: The settings by name.
    """
    names = [name for name in signature(type(part).__init__).parameters if name != "self"]
    return {name: getattr(part, name) for name in names}


def made_of(kind: type[Made], settings: dict[str, Any]) -> Made:
    """
    Make an object anew; pickle calls no constructor by names itself.

    :param kind: Its class.
    :param settings: As `settings_of` gives them.
    :returns: The object.
    """
    return kind(**settings)
