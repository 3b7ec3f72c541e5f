"""Write a file whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from haystack_integrations.crag.errors import ConfigurationError


def write_whole(path: Path, data: bytes) -> None:
    """
    Put a file in the place of the one that is there: readers see the old one or the new one.

    :param path: The file.
    :param data: What shall be in it.
    :raises OSError: When it cannot be written; the old one stays, and nothing beside it.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def cannot_write(path: Path, error: OSError) -> ConfigurationError:
    """
    Say that a file cannot be written.

    :param path: The file.
    :param error: What the system said.
    :returns: The error to raise.
    """
    return ConfigurationError(f"cannot write {str(path)!r} ({error.strerror}); choose a path that can be written")
