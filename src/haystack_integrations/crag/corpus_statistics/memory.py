"""Statistics of Haystack's in-memory store: its documents counted once, and afterwards only what changed."""

import os
import time
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, ClassVar, Final
from weakref import WeakSet

from haystack import Document

from haystack_integrations.crag.corpus_statistics.counting import (
    CorpusStatistics,
    TermCounter,
    document_parts,
    document_text,
)

MOST_DOCUMENTS: Final = 100_000
"""Beyond it counting would hold the first question for longer than anyone waits: take a file, or another store."""

_LOOK_EVERY_S: Final = 5.0

_counters: Final[WeakSet["MemoryStatistics"]] = WeakSet()


class MemoryStatistics:
    """
    Counts an in-memory store for threads that ask at once.

    A change in the number of documents is seen at once; a document written over another one, or a title that was
    changed, within 5 seconds.

    :param store: An InMemoryDocumentStore.
    :param title_field: Metadata field with a document's title, or None.
    """

    _timer: ClassVar[Callable[[], float]] = time.monotonic

    def __init__(self, store: Any, title_field: str | None) -> None:
        """Count nothing yet."""
        self._store, self._title_field = store, title_field
        self._begin()
        _counters.add(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._counter = TermCounter()
        self._seen: dict[str, tuple[Any, Any]] = {}
        self._looked = float("-inf")

    def known(self, terms: Iterable[str]) -> CorpusStatistics | None:
        """
        Give what is known of terms.

        :param terms: Terms, as `text.terms` gives them.
        :returns: The statistics; None for a store with too many documents to count.
        """
        storage: dict[str, Document] = self._store.storage
        if len(storage) > MOST_DOCUMENTS:
            return None
        with self._lock:
            now = type(self)._timer()
            if len(storage) != len(self._seen) or now >= self._looked + _LOOK_EVERY_S:
                self._looked = now
                self._bring_up_to_date(dict(storage))  # a copy: others may write meanwhile
            return self._counter.statistics("store", terms)

    def _bring_up_to_date(self, documents: dict[str, Document]) -> None:
        # Not the documents are kept: a store changes one in place (`update_by_filter`), and what was counted of it is
        # to be taken back.
        found = {key: document_parts(each.content, each.meta, self._title_field) for key, each in documents.items()}
        for key, parts in self._seen.items():
            if found.get(key) != parts and (text := document_text(*parts)) is not None:
                self._counter.remove(text)
        for key, parts in found.items():
            if self._seen.get(key) != parts and (text := document_text(*parts)) is not None:
                self._counter.add(text)
        self._seen = found


def _leave_parent() -> None:
    """Count anew in a new process what a thread of its parent was counting, which is not here and never ends."""
    for one in list(_counters):
        if one._lock.locked():
            one._begin()


if hasattr(os, "register_at_fork"):  # not on Windows, which forks nothing
    os.register_at_fork(after_in_child=_leave_parent)
