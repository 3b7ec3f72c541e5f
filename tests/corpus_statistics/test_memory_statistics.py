"""Statistics of an in-memory store: counted once, kept up to date, safe with many threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from haystack import Document
from haystack.document_stores.types import DuplicatePolicy
from makers import PartStore

from haystack_integrations.crag.corpus_statistics import CorpusStatistics, count_store, memory
from haystack_integrations.crag.corpus_statistics.memory import MemoryStatistics
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.in_parts import with_slots


def novel(key: int, text: str = "It is a novel.") -> Document:
    return Document(id=str(key), content=text, meta={"title": f"Title{key}"})


def statistics(store: Any, clock: Callable[[], float] = lambda: 0.0) -> MemoryStatistics:
    """Statistics with a clock of the test's."""

    class Clocked(MemoryStatistics):
        _timer = staticmethod(clock)

    return Clocked(store, "title")


def frequency(known: CorpusStatistics | None, term: str) -> tuple[int, int]:
    assert known is not None
    return known.frequency([term])[term], known.documents


def test_titles_and_contents_are_counted(in_memory_store: Any) -> None:
    """Documents without text are none."""
    in_memory_store.write_documents([novel(1), novel(2), Document(id="3", meta={"title": "novel"})])
    known = statistics(in_memory_store).known(["novel", "title1", "penguin"])
    assert known is not None
    assert (known.documents, known.origin) == (2, "store")
    assert dict(known.frequencies) == {"novel": 2, "title1": 1, "penguin": 0}


def test_what_is_written_or_deleted_is_seen_at_once(in_memory_store: Any) -> None:
    """The number of documents tells."""
    counted = statistics(in_memory_store)
    assert frequency(counted.known(["novel"]), "novel") == (0, 0)
    in_memory_store.write_documents([novel(1), novel(2)])
    assert frequency(counted.known(["novel"]), "novel") == (2, 2)
    in_memory_store.delete_documents(["1"])
    assert frequency(counted.known(["novel"]), "novel") == (1, 1)


def test_a_document_written_over_another_is_seen_soon(in_memory_store: Any) -> None:
    """The number of documents does not tell, so one looks every 5 seconds."""
    now = [0.0]
    counted = statistics(in_memory_store, lambda: now[0])
    in_memory_store.write_documents([novel(1), novel(2)])
    assert frequency(counted.known(["novel"]), "novel") == (2, 2)
    in_memory_store.write_documents([novel(1, "Rain is likely.")], policy=DuplicatePolicy.OVERWRITE)
    now[0] = 5.0
    assert frequency(counted.known(["novel"]), "novel") == (1, 2)


def test_a_title_that_the_store_changes_in_place_is_seen_soon(in_memory_store: Any) -> None:
    """As its `update_by_filter` does; what was counted of the old title is taken back, and nothing stays of it."""
    now = [0.0]
    counted = statistics(in_memory_store, lambda: now[0])
    in_memory_store.write_documents([novel(1), novel(2)])
    assert frequency(counted.known(["title1"]), "title1") == (1, 2)
    in_memory_store.update_by_filter({"field": "meta.title", "operator": "==", "value": "Title1"}, {"title": "Penguin"})
    now[0] = 5.0
    known = counted.known(["title1", "penguin"])
    assert known is not None
    assert known.frequency(["title1", "penguin"]) == {"title1": 0, "penguin": 1}
    in_memory_store.delete_documents(["1"])
    assert dict(counted.known(["title1", "penguin", "novel"]).frequencies) == {"title1": 0, "penguin": 0, "novel": 1}


def test_a_store_that_is_too_large_is_not_counted(in_memory_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question would wait for it."""
    monkeypatch.setattr(memory, "MOST_DOCUMENTS", 2)
    in_memory_store.write_documents([novel(number) for number in range(3)])
    assert statistics(in_memory_store).known(["novel"]) is None


def test_many_threads_may_ask_while_others_write(in_memory_store: Any) -> None:
    """What comes out at the end is exact."""
    counted = statistics(in_memory_store)

    def write(key: int) -> None:
        in_memory_store.write_documents([novel(key)])
        known = counted.known(["novel"])
        assert known is not None
        assert known.frequency(["novel"])["novel"] == known.documents

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(200)))
    assert frequency(counted.known(["novel"]), "novel") == (200, 200)


def test_all_documents_of_a_store_are_counted_for_a_file(in_memory_store: Any) -> None:
    """As for a question."""
    in_memory_store.write_documents([novel(1), novel(2), Document(id="3", meta={"title": "novel"})])
    counter = count_store(in_memory_store)
    assert (counter.documents, dict(counter.frequencies)) == (2, {"novel": 2, "title1": 1, "title2": 1})


def test_all_documents_are_counted_of_a_store_that_lists_so_many_at_once():
    """OpenSearch and Milvus list 10,000, and the statistics were those of these, without a word."""
    store = PartStore(listed=100)
    store.write_documents(with_slots(Document(content=f"novel number{number}") for number in range(350)))
    counter = count_store(store)
    assert (counter.documents, counter.frequencies["novel"]) == (350, 350)


def test_a_store_that_does_not_list_all_of_its_documents_is_not_counted():
    """As one that another program filled."""
    store = PartStore(listed=100)
    store.write_documents([Document(content=f"novel number{number}") for number in range(350)])
    with pytest.raises(StoreError, match="of its 350; nothing was counted"):
        count_store(store)
