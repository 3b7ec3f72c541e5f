"""Find what is to be indexed: the files below given paths, and the records of JSON Lines files."""

import hashlib
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Final

from haystack import Document

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.pipelines.contents import (
    MAX_NAME,
    PROVENANCE,
    RECORDS,
    Empty,
    Failure,
    Source,
    name_of,
    provenance,
    records,
)
from haystack_integrations.crag.pipelines.kinds import SUFFIXES, is_text
from haystack_integrations.crag.pipelines.listing import Listing
from haystack_integrations.crag.pipelines.shards import Shard
from haystack_integrations.crag.settings import path_of

_SUFFIX: Final = re.compile(r"\.\w{1,10}")
_HIDDEN: Final = (".", "~$")  # also Office's note of who has a document open, which lies beside it for so long
_MAX_FILE: Final = 100_000_000
_NOTHING: Final = "got nothing in it"
_OTHER_KIND: Final = f"got a file of another kind, wanted one of {', '.join(SUFFIXES)}; convert it first"


def find(
    paths: str | Path | Iterable[str | Path], base: str | Path | None = None, shard: Shard | None = None
) -> Listing:
    """
    List the files of paths: directories recursively, each once, without hidden files and directories.

    :param paths: Files and directories.
    :param base: Directory to which names are relative. Without it, and for what is outside of it, a name is the
        absolute path; without it what is shown of a name begins at the folder that the given paths share.
    :param shard: The part of them that is to be indexed here; None for all.
    :returns: What was found.
    :raises SourceError: When a path does not exist, or none was given.
    """
    told = [paths] if isinstance(paths, str | Path) else [*paths]
    given = [path_of(path) for path in told]
    # "", of a variable that is unset, is no folder.
    missing = [str(path) for path, at in zip(told, given, strict=True) if not (str(path) and os.path.exists(at))]
    if missing or not given:
        msg = f"no file or directory at {missing or 'any path'}; pass paths that exist, nothing was indexed"
        raise SourceError(msg)
    root = None if base is None else Path(os.path.abspath(path_of(base)))
    files, names, prefixes, failures = dict[str, Path](), set[str](), set[str](), list[Failure]()
    skipped = Counter[str]()
    visited: set[tuple[int, int]] = set()
    for path in given:
        name = _name(path, root)
        if path.is_dir():
            prefixes.add("" if name == "." else name.rstrip("/") + "/")
            failures += [] if _holds_files(path) else [Empty(name, "got no file to index in it")]
        else:
            names.add(name)
            prefixes |= {f"{name}#"} if path.suffix.lower() == RECORDS else set()
        for found, trouble in _walk(path, visited) if path.is_dir() else [(path, None)]:
            name = _name(found, root)
            reason = trouble or _unusable(found, name)
            if reason is None:
                files[name] = found
            elif reason is _NOTHING:
                failures.append(Empty(name, reason))
            elif reason is _OTHER_KIND and path.is_dir():
                skipped[_kind(found)] += 1
            else:
                failures.append(Failure(name.encode(errors="backslashreplace").decode(), reason))
    ordered = tuple((files[name], name) for name in sorted(files))
    part = shard or Shard()
    others = dict(skipped.most_common()) if part.number == 1 else {}
    shared = shared_folder(given).rstrip("/") + "/" if root is None else ""
    return Listing(
        ordered, frozenset(names), tuple(sorted(prefixes)), others, tuple(failures), part, shared, _inside(root)
    )


def shared_folder(paths: Iterable[str | Path]) -> str:
    """
    Find the folder that sources are shown from: what a client or a model is told is no path of this machine.

    :param paths: Files and folders.
    :returns: The folder that all of them are in; of a single folder, itself.
    """
    full = [os.path.abspath(path) for path in paths]
    folder = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in full])
    return _on_disk(Path(folder))


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
                    found = records(file, name, listing.shown(name))
                    yield from (one for one in found if not _is_of_another(one, takes))
            elif not takes(name):
                continue
            elif status.st_size > _MAX_FILE:
                yield Failure(name, f"got {status.st_size} bytes, wanted at most {_MAX_FILE}; split the file")
            else:
                data = path.read_bytes()
                shown, sha256, suffix = listing.shown(name), hashlib.sha256(data).hexdigest(), path.suffix.lower()
                if is_text(suffix) and not data.strip() and name not in listing.names:
                    yield Empty(name, "the file is empty", is_file=True)
                else:
                    yield Source(name, shown, sha256, data, suffix)
        except OSError as error:
            yield Failure(name, f"cannot be read ({error.strerror}); check that it is there and that you may read it")


def by_source(sources: Sequence[Source], documents: Iterable[Document]) -> dict[str, list[Document]] | None:
    """
    Sort documents by what they were made of.

    :param sources: What they were made of.
    :param documents: The documents.
    :returns: Those of each source by its name. None where one does not say it, as those of markitdown-haystack's
        converter, and there are several: then convert one at a time.
    """
    parts: dict[str, list[Document]] = {source.name: [] for source in sources}
    for document in documents:
        if (name := name_of(document.meta)) in parts:
            parts[name].append(document)
        elif len(sources) > 1:
            return None
        else:
            only = sources[0]
            meta = {key: value for key, value in document.meta.items() if key not in PROVENANCE}
            told = provenance(only.name, only.shown, only.sha256)
            parts[only.name].append(replace(document, meta={**meta, **told}))
    return parts


def _is_of_another(found: Source | Failure, takes: Callable[..., bool]) -> bool:
    if isinstance(found, Failure):
        return False
    return not (takes(found.name) if found.document is None else takes(found.name, found.document.id))


def _name(path: Path, base: Path | None) -> str:
    # Not `resolve()`: behind a link, a file keeps the name under which its user knows it.
    absolute = Path(os.path.abspath(path))
    return _on_disk(absolute.relative_to(base) if base and absolute.is_relative_to(base) else absolute)


def _inside(folder: Path | None) -> str:
    """How the paths of all that is in a folder begin."""
    return "" if folder is None else _on_disk(folder).rstrip("/") + "/"


def _on_disk(path: Path) -> str:
    """Write a path as the disk has it: in another locale, Python reads its letters as others, or as none."""
    return os.fsencode(path.as_posix()).decode("utf-8", "surrogateescape")


def _kind(path: Path) -> str:
    """Name a kind of files by their suffix, whatever signs are in it."""
    suffix = path.suffix.lower()
    return suffix if _SUFFIX.fullmatch(suffix) else ""


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
                entries = sorted(
                    (entry for entry in listed if not entry.name.startswith(_HIDDEN)), key=attrgetter("name")
                )
        except OSError as error:
            yield here, f"cannot be listed ({error.strerror}); check that you may read it"
            continue
        if not entries:
            yield here, _NOTHING
        folders = {entry.name for entry in entries if _is_folder(entry)}
        waiting += [here / entry.name for entry in reversed(entries) if entry.name in folders]
        yield from ((here / entry.name, None) for entry in entries if entry.name not in folders)


def _holds_files(folder: Path) -> bool:
    """Tell whether something in a folder is to be indexed, or may be: also what was found by another path already."""
    reasons = (trouble or _unusable(found, found.name) for found, trouble in _walk(folder, set()))
    return any(reason is not _OTHER_KIND and reason is not _NOTHING for reason in reasons)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or into what may not be looked at: reported when it is read
        return False
