"""List all documents of a store, also of one that lists so many at once, as OpenSearch and Milvus list 10,000."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.pipelines.contents import PROVENANCE, SLOT

_SLOTS: Final = 1 << 16

Told = dict[str, Mapping[str, Any]]
"""What documents tell of their sources, by id: their texts and vectors need not be kept."""


def with_slots(documents: Iterable[Document]) -> list[Document]:
    """
    Give documents a number by which a store can list a part of them: filters compare numbers, and no strings.

    :param documents: The documents.
    :returns: The same with the number, which depends on their ids only.
    """
    return [replace(one, meta={**one.meta, SLOT: _slot(one.id)}) for one in documents]


def list_all(store: Any) -> Told:
    """
    List a store that nobody else empties meanwhile.

    :param store: Any document store.
    :returns: What each of its documents tells.
    :raises StoreError: When the store does not list all of them, even in parts.
    """
    count = store.count_documents()
    listed = store.filter_documents()
    found, most = _told(listed), len(listed)
    if most < min(count, store.count_documents()):  # counted twice: others may be deleting
        del listed  # it may hold the vectors
        _list_parts(store, found, count, most)
    return found


def _list_parts(store: Any, found: Told, count: int, most: int) -> None:
    refusal: Exception | None = None
    try:
        if most:
            _add_parts(store, found, count, most)
    except Exception as error:  # what a store raises that cannot filter by a number is its own
        refusal = error
    if len(found) < (there := min(count, store.count_documents())):
        msg = (
            f"the store lists {most} documents at once, as OpenSearch and Milvus list 10,000, and in parts "
            f"{len(found)} of its {there}, so that old versions of others would stay; nothing was indexed: index into "
            f"an empty one, where all get the number {SLOT!r} that parts are listed by, or use Elasticsearch"
        )
        raise StoreError(msg) from refusal


def _add_parts(store: Any, found: Told, count: int, most: int) -> None:
    step = max(1, _SLOTS * most // (2 * count))
    waiting = [(low, min(low + step, _SLOTS)) for low in range(0, _SLOTS, step)]
    while waiting:
        low, end = waiting.pop()
        part = store.filter_documents({"operator": "AND", "conditions": [_compared(">=", low), _compared("<", end)]})
        found.update(_told(part))
        if len(part) >= most and (middle := (low + end) // 2) > low:  # there may be more of them
            waiting += [(low, middle), (middle, end)]
    # Those of others have no such number.
    found.update(_told(store.filter_documents({"operator": "NOT", "conditions": [_compared(">=", 0)]})))


def _compared(operator: str, number: int) -> dict[str, Any]:
    return {"field": f"meta.{SLOT}", "operator": operator, "value": number}


def _told(documents: Iterable[Document]) -> Told:
    return {one.id: {name: one.meta[name] for name in PROVENANCE if name in one.meta} for one in documents}


def _slot(id_: str) -> int:
    return int.from_bytes(blake2b(id_.encode(), digest_size=2).digest())
