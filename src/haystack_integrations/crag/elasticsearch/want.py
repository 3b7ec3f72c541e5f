"""Why a search found nothing: want of documents, or of vectors on them, and not of an answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from haystack_integrations.crag.elasticsearch.requests import OF_WORDS, TEXT
from haystack_integrations.crag.vocabulary import FILTERS_LEAVE_NONE, INDEX_EMPTY, NO_VECTORS

NOT_OF_WORDS: Final = "content_not_searchable"
"""Why a search by words failed on an index whose texts are kept as whole values, as a keyword's are."""


def is_unexplained(found: Sequence[Any], report: Mapping[str, Any]) -> bool:
    """
    Tell whether it is to be asked why nothing was found. A search by vectors finds something wherever there are any.

    :param found: The documents.
    :param report: What the search says of itself.
    :returns: True for a whole search without a document.
    """
    return not found and report["status"] == "ok"


def is_by_words(body: Mapping[str, Any]) -> bool:
    """
    Tell a search by words from one by a vector.

    :param body: The request.
    :returns: Whether it is one by words.
    """
    return "query" in body


def count_request(index: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """
    Ask whether there is any document with a text that passes.

    :param index: Name of the index.
    :param body: The request of the search.
    :returns: Arguments of a client's `count`.
    """
    return {"index": index, "query": _passing(body) or {"exists": {"field": TEXT}}, "terminate_after": 1}


def explanation(counted: int, fields: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, str]:
    """
    Say why nothing was found.

    :param counted: How many documents `count_request` counts.
    :param fields: What the server tells of the field `TEXT`, by type.
    :param body: The request of the search.
    :returns: `kind`, one of `NONE_TO_SEARCH`; for a field that is not of words a failure, since no question finds
        anything in it; empty where there were documents that could be found. That there is no document at all is told
        of the search by words alone.
    """
    if not is_by_words(body):
        return {"kind": NO_VECTORS} if counted else {}
    if not counted:
        return {"kind": FILTERS_LEAVE_NONE if _passing(body) else INDEX_EMPTY}
    types = fields.get("fields", {}).get(TEXT, {})
    return {} if not types or OF_WORDS & types.keys() else {"status": "failed", "kind": NOT_OF_WORDS}


def _passing(body: Mapping[str, Any]) -> Any:
    return body["query"]["bool"].get("filter") if is_by_words(body) else body["knn"].get("filter")
