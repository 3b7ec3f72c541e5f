"""Corpus statistics as a file: compact JSON, written whole or not at all, read once and checked."""

import gzip
import os
import zlib
from pathlib import Path
from threading import Lock
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError

from haystack_integrations.crag.corpus_statistics.counting import CorpusStatistics, TermCounter
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.settings import path_of
from haystack_integrations.crag.whole_file import write_whole

FORMAT: Final = "crag-corpus-statistics"
VERSION: Final = 4
"""Goes up when the file's form changes, and when `text.terms` does: a file is of use to the terms it was made with."""

MOST_TERMS: Final = 200_000
"""Terms kept, the most frequent ones: about 3 MB, or 1 MB compressed."""

_SUFFIXES: Final = (".json", ".json.gz")
_MOST_BYTES: Final = 64_000_000
_MOST_FILES: Final = 8
_AGAIN: Final = "make it again with `crag index PATH ... --statistics FILE`"


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    documents: NonNegativeInt
    terms: dict[str, PositiveInt]
    whole: bool = False


_lock = Lock()
_read: dict[str, tuple[tuple[int, int, int], CorpusStatistics]] = {}


def check_target(path: str | Path) -> None:
    """
    Refuse a place where statistics cannot be written, before hours are spent on counting them.

    :param path: The file to be written; gzip for `.json.gz`.
    :raises ConfigurationError: For another suffix, a directory, or a folder that is not there or write-protected.
    """
    target = path_of(path)
    if not target.name.endswith(_SUFFIXES):
        msg = f"got {str(path)!r} for the statistics, wanted a name that ends with .json or .json.gz; rename it"
        raise ConfigurationError(msg)
    if target.is_dir() or not os.access(target.resolve().parent, os.W_OK):  # where a link leads
        state = "is a directory" if target.is_dir() else "is in no folder that can be written to"
        msg = f"statistics cannot be written: {str(path)!r} {state}; make the folder, or name another file"
        raise ConfigurationError(msg)


def write_statistics(counter: TermCounter, path: str | Path) -> int:
    """
    Write what was counted over a whole corpus, in place of what the file held before.

    Statistics are never added to a file: counted anew over all documents, none can be in them twice. Readers see the
    old file or the new one. Of a corpus with more than 200,000 terms, those in a single document are left out, and
    then the rarest; a grader takes a term that the file does not have to be in one document.

    :param counter: What was counted.
    :param path: The file; gzip for `.json.gz`.
    :returns: The number of terms in the file.
    :raises ConfigurationError: When it cannot be written there.
    """
    check_target(path)
    target = path_of(path)
    # With every term in it, the file says the same as the store does, and a judgement does not depend on who is asked.
    whole = counter.is_whole and len(counter.frequencies) <= MOST_TERMS
    least = 1 if whole else 2
    often = sorted((-count, term) for term, count in counter.frequencies.items() if count >= least)[:MOST_TERMS]
    body = {
        "format": FORMAT,
        "version": VERSION,
        "documents": counter.documents,
        "terms": {term: -count for count, term in often},
        "whole": whole,
    }
    data = orjson.dumps(body)
    # The same corpus makes the same bytes: no time of day in them.
    data = gzip.compress(data, mtime=0) if target.name.endswith(".gz") else data
    try:
        write_whole(target, data)
    except OSError as error:
        msg = f"statistics cannot be written to {str(path)!r} ({type(error).__name__}); check disk and rights"
        raise ConfigurationError(msg) from error
    return len(often)


def read_statistics(path: str | Path) -> CorpusStatistics:
    """
    Read statistics; a file that has not changed is read once in a process.

    :param path: The file.
    :returns: The statistics.
    :raises ConfigurationError: When it is not there, is no such file, or of another version.
    """
    key = os.path.abspath(path_of(path))
    try:
        found = os.stat(key)
    except OSError as error:
        msg = f"no statistics at {str(path)!r} ({type(error).__name__}); correct the path, or {_AGAIN}"
        raise ConfigurationError(msg) from error
    stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
    with _lock:
        known = _read.get(key)
        if known is None or known[0] != stamp:
            _read.pop(key, None)
            known = stamp, _checked(_loaded(_bytes(key), key), key)
            if len(_read) >= _MOST_FILES:
                _read.pop(next(iter(_read)))
            _read[key] = known
    return known[1]


def _bytes(path: str) -> bytes:
    """Read at most so much, also of a small file that unpacks to a large one."""
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"the statistics {path!r} cannot be read ({type(error).__name__}); check the rights, or {_AGAIN}"
        raise ConfigurationError(msg) from error
    if len(data) > _MOST_BYTES:
        msg = f"the statistics {path!r} have over {_MOST_BYTES} bytes, wanted at most {MOST_TERMS} terms; {_AGAIN}"
        raise ConfigurationError(msg)
    return data


def _loaded(data: bytes, path: str) -> dict[str, Any]:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        msg = f"the statistics {path!r} are no JSON (at byte {error.pos}); {_AGAIN}"
        raise ConfigurationError(msg) from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        msg = f"{path!r} holds no corpus statistics, wanted a JSON object with the format {FORMAT!r}; {_AGAIN}"
        raise ConfigurationError(msg)
    if body.get("version") != VERSION or isinstance(body["version"], bool):
        msg = f"the statistics {path!r} have the version {body.get('version')!r}, wanted {VERSION}; {_AGAIN}"
        raise ConfigurationError(msg)
    return body


def _checked(body: dict[str, Any], path: str) -> CorpusStatistics:
    try:
        known = _Body.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        msg = f"the statistics {path!r} have no usable {where[:80]!r} ({first['msg']}); {_AGAIN}"
        raise ConfigurationError(msg) from None
    if max(known.terms.values(), default=0) > known.documents:
        msg = f"the statistics {path!r} have a term in more than all {known.documents} documents; {_AGAIN}"
        raise ConfigurationError(msg)
    return CorpusStatistics(known.documents, known.terms, "file", unseen=0 if known.whole else 1)


def _leave_parent() -> None:
    """Let a new process read, whatever a thread of its parent was reading."""
    global _lock  # noqa: PLW0603 - that thread is not here to give it back
    _lock = Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which forks nothing
    os.register_at_fork(after_in_child=_leave_parent)
