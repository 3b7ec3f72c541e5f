"""Statistics of Elasticsearch: one small request for a question with a term not known yet, and none while it fails."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final

from cachetools import TTLCache
from haystack import logging

from haystack_integrations.crag.breaker import Breaker
from haystack_integrations.crag.corpus_statistics.counting import CorpusStatistics
from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.homes import anew_in_children
from haystack_integrations.crag.interrupts import let_end
from haystack_integrations.crag.store_profiles import server_of
from haystack_integrations.crag.texts.text import terms

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

logger = logging.getLogger(__name__)

_TIMEOUT_S: Final = 0.3
_KEPT_S: Final = 600.0
_MOST_KEPT: Final = 20_000
# More than a question has; a long text is no reason to keep the server busy.
_MOST_ASKED: Final = 64
# An index that grew or shrank by a larger share is another one: what was counted before is forgotten.
_ALIKE: Final = 0.1
# A term and the words of the question that became it; and the key of the number of all documents.
_Asked = tuple[str, ...]
_ALL: Final[_Asked] = ("",)
# Regular endings: with these forms the logarithm of a frequency is off by 0.15 on average, with the word alone by 0.58.
_ENDINGS: Final = ("", "s", "e", "es", "ed", "ing")
_ENDINGS_OF_Y: Final = ("y", "ies", "ied")


class ServerStatistics:
    """
    Asks the index of an ElasticsearchDocumentStore, for threads that ask at once.

    The server counts by its own analyser, which need not know our stems: it is asked by the question's words and their
    regular forms. Only the content is counted; our index keeps titles for display. The store's own client is left
    alone: its first use makes the index, and waits longer than statistics are worth.

    :param store: An ElasticsearchDocumentStore.
    """

    _timer: ClassVar[Callable[[], float]] = time.monotonic

    def __init__(self, store: Any) -> None:
        """Make no connection yet."""
        self._store = store
        self._lock = Lock()
        self._client: Elasticsearch | None = None
        self._told = False
        self._documents = 0  # in the index when the first of what is kept was counted
        self._kept: TTLCache[_Asked, int] = TTLCache(_MOST_KEPT, _KEPT_S, timer=type(self)._timer)
        self._breaker = Breaker(type(self)._timer, cooldown_s=5.0, max_cooldown_s=300.0)

    def known(self, words: Mapping[str, Sequence[str]]) -> CorpusStatistics | None:
        """
        Give what is known of terms.

        :param words: The words of the question by the term that they become.
        :returns: The statistics; None when the server does not answer in 0.3 seconds or has no documents.
        """
        asked = {term: (term, *those) for term, those in words.items()}
        known = self._cached([_ALL, *asked.values()])
        # Where one is missing, or the number of documents, all are counted: in an index that grows, a common word that
        # was counted earlier would pass for a rare one.
        counts = known if len(known) > len(asked) else self._ask(list(asked.values()))
        if counts is None:
            return None
        frequencies = {term: counts[one] for term, one in asked.items()}
        return CorpusStatistics(counts[_ALL], frequencies, "store") if counts[_ALL] else None

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # what still goes wrong now is of no use to anybody
                client.close()

    def _cached(self, wanted: Iterable[_Asked]) -> dict[_Asked, int]:
        found: dict[_Asked, int] = {}
        with self._lock:
            for one in wanted:
                with suppress(KeyError):  # one that expires between two looks at the clock is none either
                    found[one] = self._kept[one]
        return found

    def _ask(self, wanted: list[_Asked]) -> dict[_Asked, int] | None:
        if len(wanted) > _MOST_ASKED:
            return None
        ticket = self._breaker.admit()
        if ticket is None:
            return None
        with ticket:
            try:
                # A deadline of our own: the client's counts from byte to byte.
                counts = call_within(_TIMEOUT_S, lambda: _counted(*self._connected(), wanted))
            except Exception as error:  # whatever a server or a client does: the frequencies are just not known
                let_end(error)
                ticket.failed()
                self._tell(error)
                return None
            ticket.succeeded()
        with self._lock:
            self._told = False
            if abs(counts[_ALL] - self._documents) > _ALIKE * self._documents:
                self._kept.clear()
                self._documents = counts[_ALL]
            if counts[_ALL]:  # an index that is being filled is soon another one
                self._kept.update(counts)
        return counts

    def _tell(self, error: Exception) -> None:
        """Log an outage once; by its kind, for a message may hold an address with a password."""
        with self._lock:
            told, self._told = self._told, True
        if not told:
            kind = f"{type(error).__name__} {getattr(error, 'status_code', '')}".rstrip()
            text = "Elasticsearch gives no document frequencies ({kind}); those of the file or the retrieved are used."
            logger.warning(text, kind=kind)

    def _connected(self) -> "tuple[Elasticsearch, str]":
        from elasticsearch import Elasticsearch

        server = server_of(self._store)
        with self._lock:
            if self._client is None:
                anew_in_children(self)
                # One retry, for the connection that someone on the way has closed while it was idle.
                client = Elasticsearch(server.hosts, api_key=server.api_key, **server.options)
                self._client = client.options(request_timeout=_TIMEOUT_S, max_retries=1, retry_on_timeout=False)
            return self._client, server.index


def _counted(client: "Elasticsearch", index: str, wanted: list[_Asked]) -> dict[_Asked, int]:
    """Count documents: exact over all shards and without deleted ones, unlike what term vectors tell."""
    answer = client.search(
        index=index,
        size=0,
        track_total_hits=True,
        allow_partial_search_results=False,
        # Each question has filters of its own: kept answers would only push out those of others.
        request_cache=False,
        filter_path="hits.total.value,aggregations.terms.buckets.doc_count",
        aggs={"terms": {"filters": {"filters": [_any_of(_forms(*one)) for one in wanted]}}} if wanted else None,
    )
    buckets = answer["aggregations"]["terms"]["buckets"] if wanted else []
    counts = {one: int(bucket["doc_count"]) for one, bucket in zip(wanted, buckets, strict=True)}
    return {_ALL: int(answer["hits"]["total"]["value"]), **counts}


def _any_of(words: Iterable[str]) -> dict[str, Any]:
    """Match documents with any of the words: one that the analyser drops is in all, one that it cuts must be whole."""
    matches = [{"match": {"content": {"query": w, "operator": "and", "zero_terms_query": "all"}}} for w in words]
    return {"bool": {"should": matches}}


def _forms(term: str, *words: str) -> Iterable[str]:
    """Give words and those of their regular forms that become the same term."""
    likely = [term + ending for ending in _ENDINGS]
    if term.endswith("i"):  # what the stemmer makes of "city"
        likely += [term[:-1] + ending for ending in _ENDINGS_OF_Y]
    return dict.fromkeys((*words, *(word for word in likely if terms(word) == [term])))
