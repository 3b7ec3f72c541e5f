"""
Words of a question as an index spells them: for a slip of the keyboard a search finds nothing.

One wrong letter in a question cost a search by words the page that answers it once in ten times (benchmarks/slips.py).
Elasticsearch knows near words; it is asked only about such as neither English nor what was found has.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.elasticsearch.requests import TEXT, words_request
from haystack_integrations.crag.elasticsearch.search import search, search_async
from haystack_integrations.crag.encoding.encoders import FEWEST_LETTERS, may_be_slip
from haystack_integrations.crag.homes import at_home
from haystack_integrations.crag.interrupts import unless_it_ends
from haystack_integrations.crag.searches import Filters, Found, Limit
from haystack_integrations.crag.texts.text import words

if TYPE_CHECKING:
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

_MOST_WORDS: Final = 8
_PATIENCE_S: Final = 0.5  # more, a guess is not worth; it takes some milliseconds
_ONE_EDIT: Final = {"field": TEXT, "suggest_mode": "missing", "size": 1, "max_edits": 1, "prefix_length": 1}


def search_words(store: "ElasticsearchDocumentStore", query: str, filters: Filters, top_k: int, limit: Limit) -> Found:
    """
    Search by words, and once more with those that the index has in the place of misspelt ones.

    :param store: The store whose index is searched.
    :param query: The question.
    :param filters: Haystack filters, or None.
    :param top_k: Most documents.
    :param limit: How long it may take.
    :returns: What was found. The report has `respelt`, how many words were read otherwise, if that found anything else.
    :raises elasticsearch.ApiError: As `search`.
    """
    began = time.monotonic()
    found = search(store, words_request(query, "0", filters, top_k), limit)
    if not (unknown := _unknown(query, found)):
        return found
    with unless_it_ends():  # then it stays as it is
        request = _request(store, unknown)
        answer = call_within(_patience(limit.rest(began)), lambda: store.client.search(**request))
        if meant := _meant(answer):
            again = search(store, words_request(_with(query, meant), "0", filters, top_k), limit.rest(began))
            return _better(found, again, meant)
    return found


async def search_words_async(
    store: "ElasticsearchDocumentStore", query: str, filters: Filters, top_k: int, limit: Limit
) -> Found:
    """Search on the event loop; see `search_words`."""
    if not await at_home(store):
        return await asyncio.to_thread(search_words, store, query, filters, top_k, limit)
    began = time.monotonic()
    found = await search_async(store, words_request(query, "0", filters, top_k), limit)
    if not (unknown := _unknown(query, found)):
        return found
    with unless_it_ends():
        asked = store.async_client.search(**_request(store, unknown))
        if meant := _meant(await asyncio.wait_for(asked, _patience(limit.rest(began)))):
            request = words_request(_with(query, meant), "0", filters, top_k)
            return _better(found, await search_async(store, request, limit.rest(began)), meant)
    return found


def _unknown(query: str, found: Found) -> list[str]:
    """Give words that neither English nor a document that was found has. A search that failed tells nothing."""
    if found.report["status"] != "ok":
        return []
    slips = [word for word in dict.fromkeys(words(query)) if may_be_slip(word)]
    texts = [(document.content or "").lower() for document in found.documents] if slips else []
    return [word for word in slips if not any(word in text for text in texts)][:_MOST_WORDS]


def _request(store: "ElasticsearchDocumentStore", unknown: Sequence[str]) -> dict[str, Any]:
    """
    Ask for near words, and whether the index has a word after all.

    Each shard answers for itself, and a name that another shard has is missing in most.
    """
    near = [{"text": word, "term": {**_ONE_EDIT, "min_word_length": FEWEST_LETTERS}} for word in unknown]
    return {
        "index": store._index,
        "size": 0,
        "track_total_hits": False,
        "suggest": {f"word_{number}": one for number, one in enumerate(near)},
        "aggs": {"known": {"filters": {"filters": [{"match": {TEXT: word}} for word in unknown]}}},
    }


def _patience(left: Limit) -> float:
    return min(_PATIENCE_S, left.seconds)


def _meant(answer: Any) -> list[str]:
    """Read which words the index has for those that it does not have."""
    found = list[str]()
    for number, bucket in enumerate(answer["aggregations"]["known"]["buckets"]):
        near = [one["text"] for part in answer["suggest"][f"word_{number}"] for one in part["options"]]
        found += near[:1] if not bucket["doc_count"] else []
    return found


def _with(query: str, meant: Sequence[str]) -> str:
    """Add the words; those in whose place they stand find nothing anyway."""
    return " ".join([query, *meant])


def _better(found: Found, again: Found, meant: Sequence[str]) -> Found:
    """
    Take what was found by the index's words, unless it is the same.

    An alias or filters may hide all documents that have such a word: then nothing is told of it.
    """
    texts = [(document.content or "").lower() for document in again.documents]
    seen = sum(any(word in text for text in texts) for word in meant)
    if again.report["status"] != "ok" or (not seen and _ids(again) == _ids(found)):
        return found
    respelt = max(1, seen)  # an index that keeps stems or letters without marks has words that no text has
    return replace(again, report={**again.report, "respelt": respelt})


def _ids(found: Found) -> list[str]:
    return [document.id for document in found.documents]
