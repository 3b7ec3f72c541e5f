"""
Outputs that a pipeline hands on as they are.

Haystack copies what a component is given, and on the event loop also what it gives, leaf by leaf (10 to 20 microseconds
each), even where nobody reads the copy: of a record with two hundred leaves and its decisions, a sixth of a request's
processor time; of the hundred signals of each of ten documents, half. Sealed, it is one leaf that copies as itself.
"""

from typing import Any


class Sealed:
    """
    A value that copies as itself. Whoever asks for it takes `content` out, and hands nothing sealed to a user.

    :param content: Plain JSON.
    """

    __slots__ = ("content",)

    def __init__(self, content: dict[str, Any]) -> None:
        """Seal a value."""
        self.content = content

    def __deepcopy__(self, memo: dict[int, Any]) -> "Sealed":
        """Return itself: between the component and who asked, nobody reads it."""
        return self

    def __repr__(self) -> str:
        """Show the content, as a tracer that prints outputs does."""
        return repr(self.content)

    def to_dict(self) -> dict[str, Any]:
        """Give the content; traces of content ask for it, and the snapshots of pipelines."""
        return self.content

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Sealed":
        """
        Seal again what a snapshot of a pipeline holds, as one that failed leaves behind.

        :param data: What `to_dict` gave.
        :returns: It, sealed.
        """
        return cls(data)


def given(content: dict[str, Any], *, sealed: bool) -> Any:
    """
    Seal a value where that was asked for.

    :param content: The value.
    :param sealed: Whether it was.
    :returns: The value, or it sealed.
    """
    return Sealed(content) if sealed else content


def opened(value: Any) -> Any:
    """
    Open a value.

    :param value: Anything.
    :returns: What is sealed in it, as a whole or in a part of a mapping; anything else as it is.
    """
    if isinstance(value, dict):
        return {name: opened(entry) for name, entry in value.items()}
    return value.content if isinstance(value, Sealed) else value
