"""Write a file whole or not at all, or a line at a time by one process alone."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import IO, Final

from haystack_integrations.crag.errors import ConfigurationError

_SHOWN: Final = 40


def write_whole(path: Path, data: bytes) -> None:
    """
    Put a file in the place of the one that is there: readers see the old one or the new one.

    :param path: The file; a link stays one, and what it leads to is written. Who may read it stays as it is.
    :param data: What shall be in it.
    :raises OSError: When it cannot be written; the old one stays, and nothing beside it.
    """
    path = path.resolve()
    # Not by the whole of a name, which may be as long as names can be; nor by the id of the process, which containers
    # on one volume may have in common.
    partial = path.with_name(f".{path.name[:_SHOWN]}.{token_hex(8)}.partial")
    made = partial.open("xb")
    try:
        with made as file:
            with suppress(OSError):  # there is none yet, or it was somebody else's
                found = path.stat()
                partial.chmod(S_IMODE(found.st_mode))
                if sys.platform != "win32":
                    os.chown(partial, found.st_uid, found.st_gid)
            file.write(data)
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def write_or_refuse(path: Path, data: bytes) -> None:
    """
    Write a file that somebody asked for: as `write_whole` where that can be, and an error says what to do.

    :param path: The file, or a device or pipe, such as /dev/stdout.
    :param data: What shall be in it.
    :raises ConfigurationError: When it cannot be written; an earlier file that is replaceable stays.
    """
    try:
        if is_replaceable(path):
            write_whole(path, data)
        else:
            path.write_bytes(data)
    except OSError as error:
        raise cannot_write(path, error) from None


def is_replaceable(path: Path) -> bool:
    """
    Tell what can be put in place whole from a device or pipe, and from a file of one's own in somebody else's folder.

    :param path: The file; it need not be there.
    :returns: Whether another file can take its place.
    """
    return not path.exists() or (path.is_file() and os.access(path.resolve().parent, os.W_OK))


def open_alone(path: Path) -> IO[bytes]:
    """
    Open a file to read it and to add to it, for one process: two would each write their lines over the other's.

    :param path: The file; made where it is not there.
    :returns: The file, at its beginning; others may write again when it is closed.
    :raises ConfigurationError: When it cannot be written, or another process writes it.
    """
    try:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b")
    except OSError as error:
        raise cannot_write(path, error) from None
    if sys.platform != "win32":
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            file.close()
            msg = f"another command is writing {str(path)!r}; wait for its end, or choose another file"
            raise ConfigurationError(msg) from None
        except OSError:  # a file system without locks
            pass
    return file


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """
    Wait until no other command writes in a folder, where the system can: two would each lose what the other adds.

    :param folder: The folder, which is there.
    :returns: Nothing; others wait until the end.
    """
    held = None
    if sys.platform != "win32":
        from fcntl import LOCK_EX, flock

        with suppress(OSError):  # a file system without locks
            held = os.open(folder, os.O_RDONLY)
            flock(held, LOCK_EX)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def cannot_write(path: Path, error: OSError) -> ConfigurationError:
    """
    Say that a file cannot be written.

    :param path: The file.
    :param error: What the system said.
    :returns: The error to raise.
    """
    return ConfigurationError(f"cannot write {str(path)!r} ({error.strerror}); choose a path that can be written")
