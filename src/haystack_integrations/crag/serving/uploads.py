"""Files uploaded into the index, by the package's own indexing; a route only where it is switched on."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Annotated, Any, Final
from unicodedata import normalize

from fastapi import APIRouter, File, UploadFile
from pydantic import BaseModel, Field

from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.kinds import SUFFIXES
from haystack_integrations.crag.pipelines.listing import UPLOADS, shown_upload
from haystack_integrations.crag.serving.failures import ServeError, no_room, translated
from haystack_integrations.crag.serving.problems import Problem
from haystack_integrations.crag.store_profiles import elasticsearch_client, has_index, server_of

PATH: Final = "/indexing/run"

_LONGEST_NAME: Final = 200
_MOST_FILES: Final = 100
_PATH_SIGNS: Final = set("/\\:")
_DIRECTIONS: Final = dict.fromkeys((0x061C, 0x200E, 0x200F))
_JOINERS: Final = dict.fromkeys((0x200C, 0x200D))  # of which words of Persian and Indic scripts are made, and emoji


class Failure(BaseModel):
    """A source that could not be indexed, and why."""

    source: str
    reason: str


class Report(BaseModel):
    """What was done; a file that was uploaded before is replaced."""

    sources: int = Field(description="Files, and records of JSON Lines files.")
    added: int
    updated: int
    unchanged: int
    removed: int
    documents_written: int
    documents_deleted: int
    failures: list[Failure]
    doubts: list[Failure] = Field(description="Files that were indexed, perhaps not as they were meant, and why.")


class IndexResult(BaseModel):
    """The body of an answer."""

    result: Report


def uploads_router(store: Any) -> APIRouter:
    """
    Make the route.

    :param store: The document store.
    :returns: A router with `POST /indexing/run`.
    :raises ConfigurationError: There is no folder for temporary files, which an upload passes through.
    """
    try:
        gettempdir()
    except FileNotFoundError:
        msg = "uploads want a folder for temporary files, got none that can be written; set TMPDIR to one"
        raise ConfigurationError(msg) from None
    router = APIRouter(tags=["indexing"])

    @router.post(PATH, responses={413: {"model": Problem}, 415: {"model": Problem}})
    async def upload(
        files: Annotated[list[UploadFile], File(description=f"Files of the kinds {', '.join(SUFFIXES)}.")],
    ) -> IndexResult:
        """Index uploaded files; the same file again changes nothing."""
        named = _named(files)
        contents = {name: await file.read() for name, file in named.items()}
        with translated({}):
            return IndexResult(result=Report(**await _to_the_end(partial(_index, contents, store))))

    return router


async def _to_the_end(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """
    Work in a thread, and stay until it has ended, also when the client leaves: a thread cannot be stopped.

    Whoever left sooner would give up the one place of uploads, and the rest of this upload would be written over the
    next one.
    """
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise


def _named(files: Sequence[UploadFile]) -> dict[str, UploadFile]:
    """Check the names before anything is written; a name is no path."""
    if len(files) > _MOST_FILES:
        raise ServeError(422, "too_many_files", [{"field": "files", "rule": "too_long", "max_length": _MOST_FILES}])
    named = {}
    for file in files:
        # The same name to whoever reads it: a Mac may send accents apart, editors of Arabic and Hebrew set such marks.
        name = normalize("NFC", file.filename or "").translate(_DIRECTIONS)
        if not _is_plain(name) or name in named:
            raise ServeError(422, "invalid_filename", [{"field": "files", "rule": "plain_and_different_names"}])
        if Path(name).suffix.lower() not in SUFFIXES:
            raise ServeError(
                415, "unsupported_media_type", [{"field": "files", "rule": "suffix", "expected": SUFFIXES}]
            )
        named[name] = file
    return named


def _is_plain(name: str) -> bool:
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        return False
    seen = name.translate(_JOINERS)
    return (
        0 < length <= _LONGEST_NAME and not name.startswith(".") and seen.isprintable() and not set(name) & _PATH_SIGNS
    )


def _index(contents: dict[str, bytes], store: Any) -> dict[str, Any]:
    _check_index(store)
    with ExitStack() as held:
        try:
            base = held.enter_context(TemporaryDirectory(prefix="crag-upload-"))
            paths = _written(contents, Path(base, UPLOADS))
        except OSError as error:
            raise no_room(error) from None
        # The files, not the folder: what is not among them was uploaded before, and has not vanished.
        report = index(paths, store, base=base).to_dict()
    for told in (*report["failures"], *report["doubts"]):
        told |= {name: shown_upload(text) for name, text in told.items()}
    return report


def _check_index(store: Any) -> None:
    """
    Refuse to make an index: the server had one when it started.

    It would bear the name of an alias that is being moved, or of an index that is being restored, hold nothing but this
    upload, and every question be answered from that.
    """
    if not has_index(store):
        return
    name = server_of(store).index
    with elasticsearch_client(store) as client:
        if not client.indices.exists(index=name):
            msg = f"the index {name!r} is gone; restore it, or set its alias again: an upload makes none"
            raise StoreError(msg)


def _written(contents: dict[str, bytes], folder: Path) -> list[Path]:
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]
