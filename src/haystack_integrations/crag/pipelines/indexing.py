"""Index files and records: only what changed is written, what vanished is removed, and a killed run is taken up."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.pipelines.bulk import Bulk, open_bulk
from haystack_integrations.crag.pipelines.contents import Empty, Failure, Source
from haystack_integrations.crag.pipelines.conversion import Converter
from haystack_integrations.crag.pipelines.index_fields import make_ready
from haystack_integrations.crag.pipelines.index_report import IndexReport
from haystack_integrations.crag.pipelines.listing import Known, Listing, around, shown_upload, within
from haystack_integrations.crag.pipelines.namesakes import Namesakes
from haystack_integrations.crag.pipelines.refusals import way_out
from haystack_integrations.crag.pipelines.replacing import STAYS, Part, lost
from haystack_integrations.crag.pipelines.shards import Shard
from haystack_integrations.crag.pipelines.sources import find, read
from haystack_integrations.crag.pipelines.vectors import check_written, doubts_of, stored_size

Progress = Callable[[int, int | None, str], None]
"""Called with the number of sources done, how many there are if known, and the name of the last one."""

_BATCH: Final = 512  # documents that are embedded and written together
_FILES, _BYTES = 8, 16_000_000  # converted together: of more only tiny files gain, and a bad one makes all be repeated


def index(
    paths: str | Path | Iterable[str | Path],
    store: Any,
    *,
    base: str | Path | None = None,
    embedder: Any = None,
    pipeline: str | Path = "indexing",
    progress: Progress | None = None,
    shard: str | None = None,
    allow_empty: bool = False,
) -> IndexReport:
    """
    Bring a store up to date with files and directories.

    A second run writes nothing, unless another pipeline made what is there. Of a changed file all new documents are
    written before the old ones are deleted. What a killed run wrote completely is not written again. What vanished from
    the given paths is removed; what cannot be read any more keeps its old version, and so does all of a folder or JSON
    Lines file in which nothing is left. Documents that this function did not write are left alone.

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.pipelines.indexing import index

    store = InMemoryDocumentStore()
    with TemporaryDirectory() as folder:
        Path(folder, "emma.md").write_text("Emma is a novel by Jane Austen.")
        assert index(folder, store).added == 1
        assert index(folder, store).unchanged == 1
    ```

    :param paths: Files and directories: Markdown, text, `.rst`, HTML, PDF, DOCX, PPTX, XLSX, CSV; JSON Lines, whose
        records `{"id", "text", "title"}` become one document each, with that id; one of over 10,000 characters is cut.
    :param store: The document store.
    :param base: Directory to which the names of sources are relative: the same on another machine. One for an index.
        Without it `meta["source"]` is the path from the folder that the paths share, and a source is known again by
        its absolute path, in `meta["source_path"]`.
    :param embedder: Document embedder instead of the pipeline's own. What is up to date is not embedded again: for
        another embedder take another index.
    :param pipeline: Another pipeline than the shipped one: with `embedder`, `writer`, and perhaps `letters`, `titles`.
    :param progress: Called after each source.
    :param shard: Do only one part of the work, `1/2` or `2/2`, beside other processes that do the other parts of the
        same paths. What a source belongs to depends on its name, a record's on its id: never on the other processes.
    :param allow_empty: Remove also what was indexed from a folder or JSON Lines file in which nothing is left. Else it
        stays, and that is a failure: a drive that is not mounted looks the same.
    :returns: What was done.
    :raises SourceError: When a path does not exist.
    :raises ConfigurationError: For an unusable shard, what is no store, an embedder of no documents or of another
        length than the store's, an alias of several indices, or an index in which no search by words finds a text.
    :raises StoreError: When Elasticsearch fails, or a store loses or hides what it has; others' own errors are raised.
    """
    started, listing, converter = monotonic(), find(paths, base, Shard.parse(shard)), Converter(pipeline, embedder)
    make_ready(store)
    with open_bulk(store) as bulk:
        run = _Run(bulk, converter, listing, progress, store)
        for found in read(run.listing):
            if not (allow_empty and isinstance(found, Empty)):
                run.take(found)
        return replace(run.end(), seconds=round(monotonic() - started, 3))


class _Run:
    """Takes sources one by one; embeds and writes batches of them while those before are being confirmed."""

    def __init__(
        self, bulk: Bulk, converter: Converter, listing: Listing, progress: Progress | None, store: Any
    ) -> None:
        self._bulk, self._converter, self._progress = bulk, converter, progress
        self._store, self._stored = store, stored_size(store)
        self._made_by, self._total = converter.made_by, listing.count() if progress else None
        self._known = bulk.known(listing)  # what is left in it at the end has vanished
        self._count, self._failed_elsewhere = Counter[str](), set[str]()
        self._failures, self._empty = list[Failure](), dict[str, str]()  # of what is empty, why by its name
        self._replaced: dict[str, list[str]] = {}  # the ids that stay, by the name of what has lost another version
        self._others = Namesakes(bulk, listing.shown_as(self._known), self._known)
        self._shard, self.listing = listing.shard, self._others.listing
        self._taken, self._names = dict[str, str](), dict[str, str]()  # hashes of files; names of whole records by id
        self._records, self._files = list[tuple[Source, list[Known]]](), list[tuple[Source, list[Known]]]()
        self._ready: list[tuple[Part, list[Document]]] = []
        self._writing: deque[tuple[list[Part], Future[dict[str, str]]]] = deque()

    def take(self, found: Source | Failure) -> None:
        """Decide what becomes of a source."""
        if isinstance(found, Empty):
            self._empty[found.source] = found.reason
            self._count["empty"] += found.is_file
            return
        if isinstance(found, Failure):
            if self._shard.takes(found.source):
                self._fail(found.source, found.reason, within(found.source, self._known))
            else:  # reported by another process, but what it may have been is not known to be gone here either
                self._failed_elsewhere.add(found.source)
            return
        is_new, other = found.name not in self._taken, found.name  # two records of one id may be short and long
        self._taken.setdefault(found.name, found.sha256 if found.document is None else "")
        if is_new and found.document is not None:
            other = self._names.setdefault(found.document.id, found.name)
        if not is_new or other != found.name:
            self._fail(found.name, f"its id is that of {other} already; give each record an id of its own")
            return
        old = self._known.pop(found.name, [])
        current = next((one for one in old if one.complete and one.is_of(found.sha256, self._made_by)), None)
        if current is not None:
            # A run that was killed before it deleted an older version left this to do.
            if stale := [id_ for version in old if version is not current for id_ in version.ids]:
                self._replaced[found.name] = current.ids
                self._delete(stale)
            self._settle(found.name, "unchanged")
        elif found.document is not None:
            self._records.append((found, old))
            if len(self._records) == _BATCH:
                self._embed()
        else:
            self._files.append((found, old))
            if len(self._files) == _FILES or sum(len(file.data) for file, _ in self._files) > _BYTES:
                self._convert()

    def end(self) -> IndexReport:
        """Write what is left, remove what vanished, show it all to searches, and tell what was done."""
        self._embed()
        self._convert()
        self._write()
        while self._writing:
            self._confirm(*self._writing.popleft())
        self._keep()
        failed, stale = {failure.source for failure in self._failures} | self._failed_elsewhere, list[str]()
        for name, versions in self._known.items():
            # Neither what is in an unreadable directory nor what a bad line may have been is known to be gone.
            if failed.isdisjoint(around(name)):
                self._count["removed"] += 1
                # A record that moved to another file took its id along.
                stale += (id_ for version in versions for id_ in version.ids if id_ not in self._names)
        self._delete(stale)
        self._bulk.finish(id_ for ids in self._replaced.values() for id_ in ids)
        self._failures += lost(self._replaced, self._bulk.owners)
        doubts = (*self._converter.doubts, *doubts_of(self._store), *self._others.twice(self._taken))
        return IndexReport.of(self._count, self.listing.skipped, self._failures, doubts)

    def _keep(self) -> None:
        """Fail for what is empty now and was not: what was indexed from it stays, but for what has moved."""
        moved = {*self._taken.values()}.difference(self._taken.get(failure.source) for failure in self._failures)
        known = [(name, one) for name, old in self._known.items() for one in old]
        stay = {name: one.sha256 in moved for name, one in known if self._names.keys().isdisjoint(one.ids)}
        hurt = {place for name, has_moved in stay.items() if not has_moved for place in around(name)}
        kept = Counter(place for name in stay for place in self._empty.keys() & hurt & around(name))
        for place, count in kept.items():
            why = f"{self._empty[place]}, but the index has sources of it ({count}), which stay; mount or restore it"
            self._fail(place, f"{why}, or pass --allow-empty to remove them")

    def _embed(self) -> None:
        waiting, self._records = self._records, []
        new = [source.document.id for source, old in waiting if source.document is not None and not old]
        owned = self._bulk.owners(new) if new else {}
        free, there = [], {id_: name.removeprefix(self.listing.base) for id_, name in owned.items()}
        for source, old in waiting:
            name = there.get(source.document.id, source.name) if source.document is not None else source.name
            # A record that moved to another file may be overwritten; what belongs to others may not.
            if name == source.name or name in self._known:
                free.append((source, old))
            else:
                whose = shown_upload(name) or "something that was not indexed from a file"
                self._fail(source.name, f"its id is in the store, of {whose}; give it another, or use another index")
        if free:
            self._queue(free, self._converter.records([source for source, _ in free]))

    def _convert(self) -> None:
        files, self._files = self._files, []
        self._queue(files, self._converter.files([source for source, _ in files]))

    def _queue(self, sources: list[tuple[Source, list[Known]]], results: list[list[Document] | Failure]) -> None:
        for (source, old), result in zip(sources, results, strict=True):
            if isinstance(result, Failure):
                self._fail(result.source, result.reason, old)
                continue
            self._ready.append((Part.of(source, result, old, self._made_by), result))
        if sum(len(documents) for _, documents in self._ready) >= _BATCH:
            self._write()

    def _write(self) -> None:
        ready, self._ready = self._ready, []
        if ready:
            documents = [document for _, some in ready for document in some]
            check_written(documents, self._stored)
            self._writing.append(([part for part, _ in ready], self._bulk.write(documents)))
        while self._writing and self._writing[0][1].done():
            self._confirm(*self._writing.popleft())

    def _confirm(self, parts: list[Part], writing: "Future[dict[str, str]]") -> None:
        refused, stale = writing.result(), list[str]()
        for part in parts:
            bad = [id_ for id_ in part.ids if id_ in refused]
            self._count["documents_written"] += len(part.ids) - len(bad)
            if not bad:
                if gone := {id_ for version in part.old for id_ in version.ids}.difference(part.ids):
                    self._replaced[part.name] = part.ids
                    stale += gone
                self._settle(part.name, part.event)
                continue
            if any(version.complete for version in part.old):  # it stays, so half of a new version must go
                stale += set(part.ids).difference(bad)
            why = f"{refused[bad[0]][:80]} for id {bad[0][:80]!r}, {len(bad)} of {len(part.ids)} documents"
            self._fail(part.name, f"refused by the store ({why}); {way_out(refused[bad[0]])}", part.old)
        self._delete(stale)

    def _delete(self, ids: list[str]) -> None:
        if ids:
            self._bulk.delete(ids)
            self._count["documents_deleted"] += len(ids)

    def _fail(self, name: str, reason: str, old: list[Known] | None = None) -> None:
        self._failures.append(Failure(name, reason + STAYS if old else reason))
        self._settle(name)

    def _settle(self, name: str, *events: str) -> None:
        self._count.update(("sources", *events))
        if self._progress is not None:
            self._progress(self._count["sources"], self._total, name)
