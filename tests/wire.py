"""A wire to a real server that can be cut in the middle of a test: what is open breaks, what is new is refused."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from urllib.parse import urlsplit


class Wire:
    """Bytes from one socket to another, until `cut`."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        self._target = (at.hostname or "", at.port or 0)
        self._open: list[socket.socket] = []
        self._is_cut = False
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = at._replace(netloc=f"127.0.0.1:{self._door.getsockname()[1]}").geturl()
        Thread(target=self._let_in, daemon=True).start()

    def cut(self) -> None:
        """Close everything; the port is refused from now on, or closed at once where a last call is let in."""
        self._is_cut = True
        # To close a socket that another thread waits in does not wake that thread.
        for end in (self._door, *self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _let_in(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._door.accept()
                if self._is_cut:
                    here.close()
                    return
                there = socket.create_connection(self._target)
                self._open += [here, there]
                Thread(target=_pump, args=(here, there), daemon=True).start()
                Thread(target=_pump, args=(there, here), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire_to(url: str) -> Iterator[Wire]:
    """Lay a wire to the server at `url`."""
    wire = Wire(url)
    try:
        yield wire
    finally:
        wire.cut()
