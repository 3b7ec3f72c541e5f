"""One search on Elasticsearch that says how much of the index it reached: all of it, a part, or none."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from haystack import Document

from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.elasticsearch.requests import TEXT
from haystack_integrations.crag.elasticsearch.want import count_request, explanation, is_by_words, is_unexplained
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.homes import anew_in_children, at_home
from haystack_integrations.crag.interrupts import ends_run, unless_it_ends
from haystack_integrations.crag.searches import Found, Limit, not_searched
from haystack_integrations.crag.texts.steering import whole

if TYPE_CHECKING:
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

# The server's own troubles, which pass; any other status is a mistake in the request, the index or the rights.
_TROUBLES: Final = frozenset({429, 500, 502, 503, 504})
# The server gives what it has found by then, so that a slow shard costs a part of the answer and not all of it.
_SERVER_SHARE: Final = 0.8
# No server has a copy of this shard: to ask again brings the same. Any other failure of a shard is of one server, such
# as one that went away between finding the documents and fetching them, and the next search asks another copy.
_NO_COPY: Final = "no_shard_available_action_exception"

_SHOWN: Final = 80
_KINDS: Final[dict[str, Any]] = {
    "id": str | int,
    "content": str,
    "meta": dict,
    "blob": dict,
    "sparse_embedding": dict,
}
"""What fields with names of Haystack's may hold, besides nothing."""


def search(store: "ElasticsearchDocumentStore", body: Mapping[str, Any], limit: Limit) -> Found:
    """
    Search, and once more when a server went away meanwhile: the copies of its shards answer then.

    :param store: The store whose index is searched, through its own client.
    :param body: The request.
    :param limit: How long it may take.
    :returns: What was found, for the retriever to tell (`told`); trouble on the way is in the report, not raised.
    :raises elasticsearch.ApiError: For a request that the server refuses, such as one to an index that is not there.
    """

    def once(limit: Limit) -> Found:
        try:
            request = _request(store, body, limit)
            return _read(store, call_within(limit.seconds, lambda: store.client.search(**request)))
        except Exception as error:
            return _failed(error, limit)

    anew_in_children(store)
    began = time.monotonic()
    found = once(limit)
    if found.passing:
        found = _whole(found, once(limit.rest(began)))
    if is_unexplained(found.documents, found.report):
        with unless_it_ends():  # then it stays unexplained
            client, left = store.client, limit.rest(began).seconds
            counted = call_within(left, lambda: client.count(**count_request(store._index, body)))["count"]
            fields = dict[str, Any]()
            if counted and is_by_words(body):  # what it may not be asked for must not take away what is known
                left = limit.rest(began).seconds
                fields = call_within(left, lambda: client.field_caps(index=store._index, fields=TEXT)).body
            found = replace(found, report={**found.report, **explanation(counted, fields, body)})
    return found


async def search_async(store: "ElasticsearchDocumentStore", body: Mapping[str, Any], limit: Limit) -> Found:
    """
    Search on the event loop; see `search`.

    :param store: The store whose index is searched, through its own client.
    :param body: The request.
    :param limit: How long it may take.
    :returns: As `search`.
    :raises elasticsearch.ApiError: As `search`.
    """

    if not await at_home(store):
        return await asyncio.to_thread(search, store, body, limit)
    anew_in_children(store)

    async def ask(limit: Limit) -> Any:
        await store._ensure_initialized_async()
        return await store.async_client.search(**_request(store, body, limit))

    async def once(limit: Limit) -> Found:
        try:
            return _read(store, await asyncio.wait_for(ask(limit), limit.seconds))
        except Exception as error:
            return _failed(error, limit)

    began = time.monotonic()
    found = await once(limit)
    if found.passing:
        found = _whole(found, await once(limit.rest(began)))
    if is_unexplained(found.documents, found.report):
        with unless_it_ends():
            client, left = store.async_client, limit.rest(began).seconds
            counted = (await asyncio.wait_for(client.count(**count_request(store._index, body)), left))["count"]
            fields = dict[str, Any]()
            if counted and is_by_words(body):
                left = limit.rest(began).seconds
                fields = (await asyncio.wait_for(client.field_caps(index=store._index, fields=TEXT), left)).body
            found = replace(found, report={**found.report, **explanation(counted, fields, body)})
    return found


def _whole(first: Found, second: Found) -> Found:
    """Take the second search when it reached everything; a part of an index that was found is not given up for less."""
    return second if second.report["status"] == "ok" else first


def _request(store: "ElasticsearchDocumentStore", body: Mapping[str, Any], limit: Limit) -> dict[str, Any]:
    if limit.seconds <= 0:
        raise TimeoutError
    # Said with each request, since a cluster's own default may be an error instead of what is left.
    least = max(1, int(1000 * _SERVER_SHARE * limit.seconds))
    return {"index": store._index, "allow_partial_search_results": True, "timeout": f"{least}ms", **body}


def _read(store: "ElasticsearchDocumentStore", answer: Any) -> Found:
    documents = [_document(store, hit) for hit in answer["hits"]["hits"]]
    shards = {name: int(answer["_shards"][name]) for name in ("total", "failed")}
    kind = "shards" if shards["failed"] else "timed_out" if answer["timed_out"] else None
    if kind is None:
        return Found(documents, {"status": "ok", "shards": shards})
    passing = any(failure["reason"]["type"] != _NO_COPY for failure in answer["_shards"].get("failures", ()))
    return Found(documents, {"status": "incomplete", "kind": kind, "shards": shards}, passing)


def _document(store: "ElasticsearchDocumentStore", hit: Mapping[str, Any]) -> Document:
    """Read a hit; one whose fields have the names of Haystack's and hold something else is refused."""
    # Clients in JavaScript or Java that cut a text within an emoji write a half of it, in which no answer can be sent.
    source = {name: whole(value) if isinstance(value, str) else value for name, value in hit.get("_source", {}).items()}
    wrong = [name for name, kinds in _KINDS.items() if not isinstance(source.get(name), kinds | None)]
    if "_source" in hit and not wrong:
        with suppress(TypeError, ValueError, KeyError):
            return store._deserialize_document({**hit, "_source": source})
    got = ", ".join(f"{name!r} as {type(source[name]).__name__}" for name in wrong) or "what is no document of Haystack"
    msg = (
        f"got {got} in the document {str(hit.get('_id'))[:_SHOWN]!r} of the index {store._index!r}, wanted fields as "
        "Haystack writes them: a text as 'content', objects as 'meta' and 'blob'; write it anew, or rename its fields"
    )
    raise StoreError(msg)


def _failed(error: Exception, limit: Limit) -> Found:
    kind = _kind(error, limit)
    if kind is None:
        raise error
    return not_searched(kind)


def _kind(error: Exception, limit: Limit) -> str | None:
    """Name the trouble in one word; None for a mistake that a caller has to put right, and for what ends the run."""
    import elasticsearch

    if ends_run(error):
        return None
    if isinstance(error, TimeoutError):
        return limit.name
    if isinstance(error, elasticsearch.ConnectionTimeout):
        return "timeout"
    if isinstance(error, elasticsearch.TransportError):
        return "connection"
    if isinstance(error, elasticsearch.ApiError) and error.status_code in _TROUBLES:
        return f"http_{error.status_code}"
    return None
