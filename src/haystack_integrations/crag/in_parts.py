"""List all documents of a store, also of one that lists so many at once, as OpenSearch and Milvus list 10,000."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.errors import StoreError

SLOT: Final = "source_slot"
"""The metadata field with a number by which a store can list a part of its documents."""

_SLOTS: Final = 1 << 16


def with_slots(documents: Iterable[Document]) -> list[Document]:
    """
    Give documents a number by which a store can list a part of them: filters compare numbers, and no strings.

    :param documents: The documents.
    :returns: The same with the number, which depends on their ids only.
    """
    return [replace(one, meta={**one.meta, SLOT: _slot(one.id)}) for one in documents]


def each_document(store: Any, undone: str) -> Iterator[Document]:
    """
    List a store.

    :param store: Any document store that nobody else empties meanwhile.
    :param undone: What is not done where not all are listed, for the message.
    :returns: Each of its documents once.
    :raises StoreError: In the end, when the store does not list all of them, even in parts.
    """
    count = store.count_documents()
    listed = store.filter_documents()
    most, seen = len(listed), {one.id for one in listed}
    yield from listed
    del listed  # it may hold the vectors
    if most >= min(count, store.count_documents()):  # counted twice: others may be deleting
        return
    refusal: Exception | None = None
    try:
        for part in _parts(store, count, most):
            yield from (one for one in part if one.id not in seen)
            seen.update(one.id for one in part)
    except Exception as error:  # what a store raises that cannot filter by a number is its own
        refusal = error
    if len(seen) < (there := min(count, store.count_documents())):
        msg = (
            f"the store lists {most} documents at once, as OpenSearch and Milvus list 10,000, and in parts {len(seen)} "
            f"of its {there}; {undone}: index into an empty one, where all get the number {SLOT!r} that parts are "
            "listed by, or use Elasticsearch"
        )
        raise StoreError(msg) from refusal


def _parts(store: Any, count: int, most: int) -> Iterator[list[Document]]:
    step = max(1, _SLOTS * most // (2 * count))
    waiting = [(low, min(low + step, _SLOTS)) for low in range(0, _SLOTS, step)] if most else []
    for _ in range(4 * len(waiting)):  # many more than are needed: a store that heeds no filter lists as many each time
        if not waiting:
            break
        low, end = waiting.pop()
        part = store.filter_documents({"operator": "AND", "conditions": [_compared(">=", low), _compared("<", end)]})
        if len(part) >= most and (middle := (low + end) // 2) > low:  # there may be more of them
            waiting += [(low, middle), (middle, end)]
        yield part
    # Those of others have no such number.
    yield store.filter_documents({"operator": "NOT", "conditions": [_compared(">=", 0)]})


def _compared(operator: str, number: int) -> dict[str, Any]:
    return {"field": f"meta.{SLOT}", "operator": operator, "value": number}


def _slot(id_: str) -> int:
    return int.from_bytes(blake2b(id_.encode(errors="surrogatepass"), digest_size=2).digest())
