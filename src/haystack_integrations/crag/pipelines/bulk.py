"""Write many documents, and tell which are already there: the same few methods for Elasticsearch and other stores."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, Final, Protocol

from haystack import Document

from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.pipelines.contents import PROVENANCE, name_of, names_of_records
from haystack_integrations.crag.pipelines.given import check_store
from haystack_integrations.crag.pipelines.listing import Known, Listing
from haystack_integrations.crag.pipelines.ours import query_of
from haystack_integrations.crag.pipelines.refusals import stopped
from haystack_integrations.crag.pipelines.sending import Sender, actions_of
from haystack_integrations.crag.pipelines.store_bulk import StoreBulk
from haystack_integrations.crag.store_profiles import elasticsearch_client, has_index, server_of

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

# Two requests under way and one being made ready: more only wait in the server's queue, and take memory.
_THREADS: Final = 2
_WAITING: Final = 3
_PAGE: Final = 10_000
_AT_ONCE: Final = 1000


class Bulk(Protocol):
    """Writes documents into a store, and knows which sources are in it."""

    def known(self, scope: Listing) -> dict[str, list[Known]]:
        """
        Read what the store holds.

        :param scope: The paths in question.
        :returns: The versions of each source that belongs to them, by the source's name.
        :raises ConfigurationError: When several indices have the name.
        :raises StoreError: When a part of the store does not answer.
        """

    def owners(self, ids: list[str]) -> dict[str, str]:
        """
        Look up which documents are there, whoever wrote them.

        :param ids: Their ids.
        :returns: The name of the source by id for those that are there, empty for a document without a source.
        """

    def shown_as(self, names: list[str]) -> list[dict[str, Any]]:
        """
        Look up, after `known`, what is shown by these names, whoever indexed it: of another folder perhaps.

        :param names: As users and models see them, a thousand at most; that of a JSON Lines file is for its records.
        :returns: The provenance of such documents; of each source one at least, but for more than a thousand.
        """

    def write(self, documents: list[Document]) -> "Future[dict[str, str]]":
        """
        Write documents over those of the same id; waits while enough others are being written.

        :param documents: The documents.
        :returns: When done, the reason by id for those that the store refused; all others are written. Where it takes
            none, a StoreError.
        """

    def delete(self, ids: list[str]) -> None:
        """
        Delete documents; one that is not there is no error.

        :param ids: Their ids.
        :raises StoreError: When the store keeps one of them.
        """

    def finish(self, contested: Iterable[str] = ()) -> None:
        """
        Make everything visible to searches.

        :param contested: Ids of what was written that another run may have deleted.
        :raises StoreError: When a later run would not know it again.
        """


@contextmanager
def open_bulk(store: Any) -> Iterator[Bulk]:
    """
    Choose the way to write into a store.

    :param store: A document store; for Elasticsearch a connection of its own is opened, and closed afterwards.
    :returns: The writer.
    :raises ConfigurationError: For what is no store.
    :raises StoreError: When the server cannot be reached or refuses.
    """
    check_store(store)
    if not has_index(store):
        yield StoreBulk(store)
        return
    from elasticsearch.serializer import OrjsonSerializer

    # Writing again by id changes nothing, so a request without an answer may be repeated.
    options = {"request_timeout": 60, "max_retries": 3, "retry_on_timeout": True, "serializer": OrjsonSerializer()}
    with elasticsearch_client(store, **options) as client:
        bulk = ElasticsearchBulk(client, store)
        try:
            yield bulk
        finally:
            bulk.close()


class ElasticsearchBulk:
    """
    Writes into Elasticsearch: two threads, large requests, no refresh until the end; see `Bulk`.

    :param client: A connected client, as `open_bulk` makes it.
    :param store: The ElasticsearchDocumentStore whose index is written.
    """

    def __init__(self, client: "Elasticsearch", store: Any) -> None:
        """Take the index, and what the store itself would add to a write."""
        server = server_of(store)
        self.client, self.index, self._sparse_field = client, server.index, server.sparse_field
        pipeline = server.ingest_pipeline
        self._sender = Sender(client, self.index, {} if pipeline is None else {"pipeline": pipeline})
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="crag-bulk")
        self._room = BoundedSemaphore(_WAITING)
        self._was_empty = False
        self._scope: Listing | None = None
        self._last = list[str]()

    def close(self) -> None:
        """End the threads; what was not begun is dropped."""
        self._threads.shutdown(cancel_futures=True)

    def known(self, scope: Listing) -> dict[str, list[Known]]:
        """Read names, hashes and numbers only, a page of thousands per request."""
        from elasticsearch.helpers import ScanError, scan

        # What an interrupted run wrote may not be visible yet.
        self.client.indices.refresh(index=self.index)
        self._was_empty = self.client.count(index=self.index)["count"] == 0
        self._scope = scope
        body = {"query": query_of(self.client, self.index, scope), "_source": list(PROVENANCE)}
        hits = scan(self.client, body, index=self.index, size=_PAGE, allow_partial_search_results=False)
        try:
            return scope.known((hit["_id"], hit["_source"]) for hit in hits)
        except ScanError as error:
            msg = f"a part of the index {self.index!r} does not answer; check the server's shards, nothing was indexed"
            raise StoreError(msg) from error

    def owners(self, ids: list[str]) -> dict[str, str]:
        """Look up which documents are there; `known` and `finish` have made visible what was written before."""
        if self._was_empty:
            return {}
        answer = self.client.mget(index=self.index, ids=ids, source_includes=list(PROVENANCE), realtime=False)
        return {item["_id"]: name_of(item.get("_source", {})) for item in answer["docs"] if item.get("found")}

    def shown_as(self, names: list[str]) -> list[dict[str, Any]]:
        """Look at the first passage of each."""
        if self._was_empty:
            return []
        field = PROVENANCE[0]
        ways = [{"terms": {field: names}}, *({"prefix": {field: one}} for one in names_of_records(names))]
        named = {"should": ways, "minimum_should_match": 1, "filter": {"term": {"chunk": 0}}}
        asked: dict[str, Any] = {"query": {"bool": named}, "source_includes": list(PROVENANCE)}
        # An index made elsewhere may not search by names; then none is known.
        answer = self.client.options(ignore_status=400).search(index=self.index, size=_AT_ONCE, **asked)
        return [hit["_source"] for hit in answer.get("hits", {}).get("hits", [])]

    def write(self, documents: list[Document]) -> "Future[dict[str, str]]":
        """Write documents in one of the threads."""
        self._room.acquire()
        writing = self._threads.submit(self._write, documents)
        writing.add_done_callback(lambda _: self._room.release())
        return writing

    def delete(self, ids: list[str]) -> None:
        """Delete documents by id; `_delete_by_query` is a module that not every server has."""
        gone = set(ids)
        self._last = [id_ for id_ in self._last if id_ not in gone]
        kept = self._sender.send(({"delete": {"_id": id_}}, None) for id_ in ids)
        if kept:
            raise StoreError(stopped(self.index, min(kept.values())))

    def finish(self, contested: Iterable[str] = ()) -> None:
        """Make everything visible to searches, once, and look whether the next run will know it again."""
        self.client.indices.refresh(index=self.index)
        unsure = (last := set(self._last)).intersection(contested)
        ids = sorted(last - unsure | (self.owners(list(unsure)).keys() if unsure else set()))
        if self._scope is None or not ids:
            return
        # As the next run will ask: what was written may have brought fields that are no keywords.
        ours = query_of(self.client, self.index, self._scope)
        mine = {"bool": {"filter": [ours, {"ids": {"values": ids}}]}}
        # A filter may hide some documents only.
        if lost := len(ids) - self.client.count(index=self.index, query=mine)["count"]:
            msg = (
                f"what was written into {self.index!r} is not found in it by its source ({lost} of the last {len(ids)} "
                "documents), so that it would never be updated or removed; an alias with a filter, or an ingest "
                "pipeline, hides it: name the index itself"
            )
            raise StoreError(msg)

    def _write(self, documents: list[Document]) -> dict[str, str]:
        serializer = self.client.transport.serializers.get_serializer("application/json")
        refused = dict[str, str]()
        for start in range(0, len(documents), _AT_ONCE):  # those of a large file are more than memory should hold twice
            actions, bad = actions_of(documents[start : start + _AT_ONCE], serializer.dumps, self._sparse_field)
            refused |= bad | self._sender.send(actions)
        if written := [document.id for document in documents if document.id not in refused]:
            self._last = written[-_AT_ONCE:]  # few enough for one request
        return refused
