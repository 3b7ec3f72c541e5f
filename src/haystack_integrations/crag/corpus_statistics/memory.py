"""Statistics of Haystack's in-memory store: its documents counted once, and afterwards only what changed."""

import time
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, ClassVar, Final

from haystack import Document

from haystack_integrations.crag.corpus_statistics.counting import CorpusStatistics, TermCounter, document_text

MOST_DOCUMENTS: Final = 100_000
"""Beyond it counting would hold the first question for longer than anyone waits: take a file, or another store."""

_LOOK_EVERY_S: Final = 5.0


class MemoryStatistics:
    """
    Counts an in-memory store for threads that ask at once.

    A change in the number of documents is seen at once, a document written over another one within 5 seconds.

    :param store: An InMemoryDocumentStore.
    :param title_field: Metadata field with a document's title, or None.
    """

    _timer: ClassVar[Callable[[], float]] = time.monotonic

    def __init__(self, store: Any, title_field: str | None) -> None:
        """Count nothing yet."""
        self._store, self._title_field = store, title_field
        self._lock = Lock()
        self._counter = TermCounter()
        self._seen: dict[str, Document] = {}
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
        # A store never changes a document, it puts another one in its place. What was counted is kept, not copied, so
        # that it can be taken back.
        for key, document in self._seen.items():
            if documents.get(key) is not document and (text := self._text(document)) is not None:
                self._counter.remove(text)
        for key, document in documents.items():
            if self._seen.get(key) is not document and (text := self._text(document)) is not None:
                self._counter.add(text)
        self._seen = documents

    def _text(self, document: Document) -> str | None:
        return document_text(document.content, document.meta, self._title_field)
