"""Whether a server's name has an address: asked in a thread of its own, and never twice at the same time."""

import socket
from concurrent.futures import Future
from typing import Any

from haystack_integrations.crag.deadlines import begun


class Name:
    """
    The name of a server that has failed, looked up before the server is tried again.

    Who gives up a connection does not end its lookup: that goes on until the last name server was waited for, often
    half a minute. An event loop has few threads for lookups, and tries in a row would hold all of them: no other
    server could be connected to.

    :ivar host: The name; None where there is none, or not yet.
    """

    def __init__(self) -> None:
        """Have nothing to find out."""
        self.host: str | None = None
        self._asked: Future[Any] | None = None

    def ask(self) -> None:
        """Begin to look the name up, unless that still goes on."""
        host = self.host
        if host and self._asked is None:
            self._asked = begun(lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))

    def is_known(self) -> bool:
        """
        Tell whether the server may be tried.

        :returns: True when its name has been found, or was never asked for; False while it is looked up.
        :raises OSError: When it was not found; the next call of `ask` asks again.
        """
        asked = self._asked
        if asked is None:
            return True
        if asked.done():
            self._asked = None
            asked.result()
        return asked.done()
