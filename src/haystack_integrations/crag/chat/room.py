"""How long a prompt a model's server takes, as its refusals tell."""

import time
from math import inf
from typing import Final

# A proxy may have asked a smaller model while the usual one was down, and a server is started anew with more context.
# To ask once too much costs a call; to believe it for ever left every later question with a part of its documents.
_REMEMBERED_S: Final = 600.0


def believed_until(*, taken: bool) -> float:
    """
    Tell how long a refusal is believed: for good, or for ten minutes if the server else takes what it refused.

    :param taken: Whether it does.
    :returns: When to ask for it again, by `time.monotonic()`.
    """
    return time.monotonic() + _REMEMBERED_S if taken else inf


class Room:
    """
    What was learned of the context behind one chat generator, so that not every question finds it out anew.

    Ten minutes after the last prompt that was too long, it is found out anew.
    Sizes are tokens of whole prompts, all estimated in the same way.
    """

    def __init__(self) -> None:
        """Begin without any knowledge."""
        self._taken, self._refused, self._ends = 0, inf, inf

    @property
    def is_known(self) -> bool:
        """Whether a prompt was too long once."""
        if time.monotonic() > self._ends:
            self._taken, self._refused, self._ends = 0, inf, inf
        return self._refused < inf

    def within(self, most: float) -> float:
        """
        Tell how long the next prompt may be.

        :param most: What settings allow; `inf` for no limit.
        :returns: It, or less once a prompt was too long: the longest that was taken, at least a half of the other.
        """
        return min(most, max(self._taken, self._refused // 2)) if self.is_known else most

    def took(self, size: int) -> None:
        """
        Learn from a prompt that was taken.

        :param size: Its size.
        """
        self._taken = max(size, self._taken)

    def refused(self, size: int) -> None:
        """
        Learn from a prompt that was too long.

        :param size: Its size.
        """
        self._refused, self._ends = min(size, self._refused), believed_until(taken=True)
        if size <= self._taken:  # by a server with more context: each later prompt would be too long
            self._taken = 0
