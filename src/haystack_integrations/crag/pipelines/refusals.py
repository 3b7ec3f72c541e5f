"""What Elasticsearch refuses: one document for what is in it, or all of them for what is wrong with the index."""

from collections.abc import Mapping
from typing import Any, Final

from haystack_integrations.crag.elasticsearch.reaching import TAKE_MORE
from haystack_integrations.crag.errors import StoreError

TOO_LARGE: Final = 413
LARGE: Final = f"status {TOO_LARGE}"
"""What `refusal` gives for a document of a request that is longer than the server, or a proxy before it, takes."""

# Only these are about the document: with any other status the next one fares no better.
_OF_A_DOCUMENT: Final = frozenset({400, TOO_LARGE})
_NOT_FOUND: Final = 404
_BUSY: Final = 429
_BLOCKED: Final = "cluster_block_exception"  # 503: the cluster has no master
_BLOCKING: Final = (403, _BUSY)
_NO_NEW_FIELDS: Final = "strict_dynamic_mapping_exception"
_NO_ROUTING: Final = "routing_missing_exception"


def refusal(item: Mapping[str, Any], index: str) -> str | None:
    """
    Read what became of one document of a bulk request.

    :param item: What the server says of it: `status`, and the type of its error.
    :param index: The index's name, for the message.
    :returns: Why the server did not take it; None where it did, or had nothing to delete.
    :raises StoreError: When the index takes nothing from anybody.
    """
    status, error = item["status"], item.get("error")
    if status == _NOT_FOUND and error is None:
        return None
    kind = str(error["type"] if isinstance(error, dict) else f"status {status}")
    if status not in _OF_A_DOCUMENT:
        raise StoreError(stopped(index, kind, status))
    return kind


def stopped(index: str, kind: str, status: int = 0) -> str:
    """
    Say that an index takes nothing, and what to do.

    :param index: Its name.
    :param kind: The type of the server's error.
    :param status: The server's status.
    :returns: The message.
    """
    way = "look at the server's health"
    if kind == _BLOCKED and status in _BLOCKING:
        way = "free disk space on the server, which blocks writing when short of it, or lift the index's own block"
    elif status == _BUSY:
        way = "give the server time"
    return f"Elasticsearch refuses writes to the index {index!r} ({kind}); {way}, then run again to resume"


def way_out(kind: str) -> str:
    """
    Say what to do about a document that was refused.

    :param kind: What `refusal` gave.
    :returns: The end of a message.
    """
    if kind == _NO_NEW_FIELDS:
        return "its mapping takes no field but its own: use another index"
    if kind == _NO_ROUTING:
        return "its mapping wants a routing with each document: use another index"
    if kind == LARGE:
        return TAKE_MORE
    return "give metadata fields plain names and one type in all sources, and an index at most 1,000 of them"
