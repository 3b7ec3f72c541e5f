"""Where a grader's document frequencies come from: the store, else a file, else what was retrieved."""

from pathlib import Path
from typing import Any

from haystack_integrations.crag.corpus_statistics.counting import CorpusStatistics
from haystack_integrations.crag.corpus_statistics.file import read_statistics
from haystack_integrations.crag.corpus_statistics.memory import MemoryStatistics
from haystack_integrations.crag.corpus_statistics.server import ServerStatistics
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.sockets import named
from haystack_integrations.crag.store_profiles import profile_of
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.text import words
from haystack_integrations.crag.texts.wording import ask


class StatisticsSource:
    """
    Gives the document frequencies of a question's terms; one object serves all threads and event loops.

    ```python
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_integrations.crag.corpus_statistics import StatisticsSource

    store = InMemoryDocumentStore()
    store.write_documents([Document(content="Emma is a novel."), Document(content="Persuasion is a novel.")])
    known = StatisticsSource(store=store).resolve("Which novels tell of Emma?")
    assert known.origin == "store"
    assert known.frequency(["novel", "emma"]) == {"novel": 2, "emma": 1}
    assert StatisticsSource().resolve("Which novels tell of Emma?") is None
    ```
    """

    def __init__(self, *, file: str | Path | None = None, store: Any = None, title_field: str | None = "title") -> None:
        """
        Keep where to look; nothing is read or asked yet.

        :param file: Statistics written by `crag index ... --statistics FILE`.
        :param store: A document store: Elasticsearch is asked, an in-memory store is counted, others tell nothing.
        :param title_field: Metadata field with a document's title, counted with its content in memory.
        :raises ConfigurationError: For what is no document store: it would tell nothing, as many a store does.
        """
        if store is not None and (isinstance(store, type) or not hasattr(store, "write_documents")):
            msg = f"document_store must be a Haystack document store, but got {named(store)}; pass the one searched"
            raise ConfigurationError(msg)
        self._file = file
        profile = None if store is None else profile_of(store)
        kind = None if profile is None else profile.name
        self._memory = MemoryStatistics(store, title_field) if kind == "in_memory" else None
        self._server = ServerStatistics(store) if kind == "elasticsearch" else None

    def warm_up(self) -> None:
        """
        Read the file and count an in-memory store; a server is not contacted.

        :raises ConfigurationError: When the file is unusable.
        """
        if self._file is not None:
            read_statistics(self._file)
        if self._memory is not None:
            self._memory.known(())

    def resolve(self, query: str) -> CorpusStatistics | None:
        """
        Find the document frequencies of a question's terms.

        :param query: The question.
        :returns: What the store tells, else what the file holds, with its `origin`; None when neither is there, cannot
            answer now, or knows no documents: then those of the retrieved documents have to do.
        :raises ConfigurationError: When the file is needed and unusable.
        """
        known = self._of_store(query)
        if known is None and self._file is not None:
            known = read_statistics(self._file)
        return known if known is not None and known.documents else None

    def close(self) -> None:
        """Close the connection to a server; the next question opens a new one."""
        if self._server is not None:
            self._server.close()

    def _of_store(self, query: str) -> CorpusStatistics | None:
        if self._memory is not None:
            return self._memory.known(ask(query).terms)
        return None if self._server is None else self._server.known(_words_by_term(query))


def _words_by_term(query: str) -> dict[str, list[str]]:
    read, found = ask(query).read, dict[str, list[str]]()
    for word in dict.fromkeys(words(bare_question(query))):
        for term in read(word):
            found.setdefault(term, []).append(word)
    return found
