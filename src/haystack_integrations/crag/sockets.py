"""What a component takes and gives. Haystack notes it in a form that is not public, so it is read here only."""

from collections.abc import Mapping
from typing import Any, Literal


def sockets_of(part: object, door: Literal["input", "output"]) -> Mapping[str, Any] | None:
    """
    Name the sockets of a component.

    :param part: Any object.
    :param door: Which of them.
    :returns: Haystack's sockets by name; None of what has no such sockets, and perhaps is no component.
    """
    sockets: Mapping[str, Any] | None = getattr(getattr(part, f"__haystack_{door}__", None), "_sockets_dict", None)
    return sockets
