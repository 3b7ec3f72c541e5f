"""Copies: settings are copied, whatever holds connections, locks or memories is shared."""

from inspect import signature
from typing import Any, Self


def plain_copy(value: Any) -> Any:
    """
    Copy what YAML can hold, into all depths.

    :param value: Settings. A component, a store or a cache among them is the caller's own, and stays the same object.
    :returns: The copy.
    """
    if isinstance(value, dict):
        return {name: plain_copy(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain_copy(entry) for entry in value)
    return value


class Copied:
    """
    A component whose deep copy is made anew, in no pipeline, with the same store, model and cache.

    Haystack copies no component. Who does it himself cannot copy a lock, a client or a template.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Make another one with the same settings."""
        names = [name for name in signature(type(self).__init__).parameters if name != "self"]
        return type(self)(**{name: plain_copy(getattr(self, name)) for name in names})
