"""Who may run a request now: many at once, and one client cannot keep the others out."""

import time
from collections import Counter
from typing import Final

_ASKS_SECONDS: Final = 60.0
_SHARED: Final = 8


class Places:
    """
    Places for requests that run at once.

    The last eighth is for clients that hold less than an equal share of all places. So whoever comes finds one soon,
    and each that one over its share gives back is for the others. Shares are of those who asked within the last minute,
    also in vain, or hold one: a client that is alone has all.

    :param most: Requests that run at once.
    """

    def __init__(self, most: int) -> None:
        """Begin with all places free."""
        self._most = most
        self._held = Counter[str]()
        self._asked: dict[str, float] = {}

    def take(self, client: str) -> bool:
        """
        Take a place.

        :param client: Who asks.
        :returns: Whether there is one for this client.
        """
        now = time.monotonic()
        self._asked[client] = now
        recent = now - _ASKS_SECONDS
        self._asked = {one: at for one, at in self._asked.items() if at >= recent or self._held[one]}
        free = self._most - self._held.total()
        over = self._held[client] >= self._most / len(self._asked)
        if free <= 0 or (over and free <= max(1, self._most // _SHARED)):
            return False
        self._held[client] += 1
        return True

    def leave(self, client: str) -> None:
        """
        Give a place back.

        :param client: Who took it.
        """
        self._held[client] -= 1
        if not self._held[client]:  # clients come and go for as long as the server runs
            del self._held[client]
