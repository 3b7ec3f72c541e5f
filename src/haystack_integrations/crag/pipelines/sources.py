"""Find what is to be indexed: the files below given paths, and the records of JSON Lines files."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any, Final

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.pipelines.contents import MAX_NAME, PROVENANCE, Failure, Source, records
from haystack_integrations.crag.pipelines.shards import Shard

MIME_TYPES: Final = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""The files that `indexing.yml` converts, by suffix."""

RECORDS: Final = ".jsonl"
SUFFIXES: Final = (*MIME_TYPES, RECORDS)  # all files that can be indexed
_MAX_FILE: Final = 100_000_000
_OTHER_KIND: Final = f"got a file of another kind, wanted one of {', '.join(SUFFIXES)}; convert it first"


@dataclass(slots=True)
class Known:
    """
    A version of a source in a store.

    :param sha256: Of the source's bytes.
    :param chunks: How many documents the version has.
    :param ids: Those that are there.
    """

    sha256: str
    chunks: int
    ids: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Tell whether all documents of the version are there."""
        return len(self.ids) == self.chunks


@dataclass(frozen=True)
class Listing:
    """
    What was found below the given paths.

    :param files: Path and name of each file, ordered by name.
    :param names: The given paths that are files.
    :param prefixes: How the names begin of all that is in given directories and JSON Lines files, in order.
    :param skipped: How many files in directories are of a kind that is not indexed.
    :param failures: What is there but cannot be listed.
    :param shard: The part of it that is to be indexed here.
    """

    files: tuple[tuple[Path, str], ...]
    names: frozenset[str]
    prefixes: tuple[str, ...]
    skipped: int
    failures: tuple[Failure, ...]
    shard: Shard = field(default_factory=Shard)

    def covers(self, name: str) -> bool:
        """
        Tell whether a source belongs to the given paths, be it still there or not.

        :param name: The source's name.
        :returns: True when it does.
        """
        # "" is the base itself: all that has a name relative to a base.
        if name in self.names or ("" in self.prefixes[:1] and not PurePosixPath(name).is_absolute()):
            return True
        return name.startswith(self.prefixes[1:] if "" in self.prefixes[:1] else self.prefixes)

    def known(self, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[Known]]:
        """
        Sort documents of a store by the sources and versions that they are of.

        :param documents: The id and the metadata of each document.
        :returns: The versions of each source that belongs to the given paths and to this shard, by the source's
            name. What something else wrote is left out: it is not ours to update or remove.
        """
        found: dict[str, list[Known]] = {}
        for id_, meta in documents:
            name, sha256, _, chunks = (meta.get(key) for key in PROVENANCE)
            if not isinstance(name, str) or not isinstance(sha256, str) or not isinstance(chunks, int):
                continue
            if not self.shard.takes(name, id_) or (name not in found and not self.covers(name)):
                continue
            versions = found.setdefault(name, [])
            version = next((one for one in versions if (one.sha256, one.chunks) == (sha256, chunks)), None)
            if version is None:
                versions.append(version := Known(sha256, chunks))
            version.ids.append(id_)
        return found

    def count(self) -> int | None:
        """
        Count the sources, for a progress bar.

        :returns: Number of files, and of lines in JSON Lines files; None when it is not known how many are of a shard.
        """
        return (
            None
            if self.shard.of > 1
            else sum(_count_lines(path) if path.suffix.lower() == RECORDS else 1 for path, _ in self.files)
        )


def find(
    paths: str | Path | Iterable[str | Path], base: str | Path | None = None, shard: Shard | None = None
) -> Listing:
    """
    List the files of paths: directories recursively, each once, without hidden files and directories.

    :param paths: Files and directories.
    :param base: Directory to which names are relative. Without it, and for what is outside of it, a name is the
        absolute path.
    :param shard: The part of them that is to be indexed here; None for all.
    :returns: What was found.
    :raises SourceError: When a path does not exist, or none was given.
    """
    given = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    missing = [str(path) for path in given if not os.path.exists(path)]
    if missing or not given:
        msg = f"no file or directory at {missing or 'any path'}; pass paths that exist, nothing was indexed"
        raise SourceError(msg)
    root = None if base is None else Path(os.path.abspath(base))
    files, names, prefixes, failures, skipped = dict[str, Path](), set[str](), set[str](), list[Failure](), 0
    visited: set[tuple[int, int]] = set()
    for path in given:
        name = _name(path, root)
        if path.is_dir():
            prefixes.add("" if name == "." else name.rstrip("/") + "/")
        else:
            names.add(name)
            prefixes |= {f"{name}#"} if path.suffix.lower() == RECORDS else set()
        for found, trouble in _walk(path, visited) if path.is_dir() else [(path, None)]:
            name = _name(found, root)
            reason = trouble or _unusable(found, name)
            if reason is None:
                files[name] = found
            elif reason is _OTHER_KIND and path.is_dir():
                skipped += 1
            else:
                failures.append(Failure(name.encode(errors="backslashreplace").decode(), reason))
    ordered = tuple((files[name], name) for name in sorted(files))
    part = shard or Shard()
    skipped = skipped if part.number == 1 else 0
    return Listing(ordered, frozenset(names), tuple(sorted(prefixes)), skipped, tuple(failures), part)


def read(listing: Listing) -> Iterator[Source | Failure]:
    """
    Read what was found and is of the listing's shard, one source at a time; a JSON Lines file line by line.

    :param listing: What `find` gave.
    :returns: An iterator of sources and failures, of failures also those of other shards. A failure never ends it.
    """
    takes = listing.shard.takes
    yield from listing.failures
    for path, name in listing.files:
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
                yield Failure(name, "got a pipe, socket or device, wanted a file; leave it out")
            elif path.suffix.lower() == RECORDS:
                with path.open("rb") as file:
                    found = records(file, name)
                    yield from (one for one in found if not _is_of_another(one, takes))
            elif not takes(name):
                continue
            elif status.st_size > _MAX_FILE:
                yield Failure(name, f"got {status.st_size} bytes, wanted at most {_MAX_FILE}; split the file")
            else:
                data = path.read_bytes()
                yield Source(name, hashlib.sha256(data).hexdigest(), data, path.suffix.lower())
        except OSError as error:
            yield Failure(name, f"cannot be read ({error.strerror}); check that it is there and that you may read it")


def _is_of_another(found: Source | Failure, takes: Callable[[str, str], bool]) -> bool:
    if isinstance(found, Failure) or found.document is None:
        return False
    return not takes(found.name, found.document.id)


def _name(path: Path, base: Path | None) -> str:
    # Not `resolve()`: behind a link, a file keeps the name under which its user knows it.
    absolute = Path(os.path.abspath(path))
    return (absolute.relative_to(base) if base and absolute.is_relative_to(base) else absolute).as_posix()


def _unusable(path: Path, name: str) -> str | None:
    if path.suffix.lower() not in SUFFIXES:
        return _OTHER_KIND
    if len(name) > MAX_NAME:
        return f"got a name of {len(name)} characters, wanted at most {MAX_NAME}; pass a base to shorten it"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "got a file name that is not UTF-8; rename the file"
    return None


def _walk(folder: Path, visited: set[tuple[int, int]]) -> Iterator[tuple[Path, str | None]]:
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            status = here.stat()
            # Reached again, by a loop of links or below another given path: nothing new.
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            with os.scandir(here) as listed:
                entries = sorted((entry for entry in listed if entry.name[0] != "."), key=attrgetter("name"))
        except OSError as error:
            yield here, f"cannot be listed ({error.strerror}); check that you may read it"
            continue
        folders = {entry.name for entry in entries if _is_folder(entry)}
        waiting += [here / entry.name for entry in reversed(entries) if entry.name in folders]
        yield from ((here / entry.name, None) for entry in entries if entry.name not in folders)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or into what may not be looked at: reported when it is read
        return False


def _count_lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0  # reported when it is read
