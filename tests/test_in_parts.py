"""A store that lists so many documents at once is listed in parts: each document once, or a refusal."""

from collections import Counter

import pytest
from haystack import Document
from makers import PartStore

from haystack_integrations.crag.in_parts import each_document, with_slots


@pytest.mark.parametrize("listed", [2, 3, 10, 199, 200, 201])
def test_each_document_is_listed_once_however_few_a_store_lists_at_once(listed: int) -> None:
    """With few, many a part holds as many as are listed or more, and is halved until none is hidden."""
    store = PartStore(listed)
    written = with_slots(Document(id=f"{listed}-{number}", content=f"Text {number}.") for number in range(200))
    store.write_documents(written)
    found = Counter(document.id for document in each_document(store, "nothing was done"))
    assert found == Counter(document.id for document in written)


def test_an_id_that_is_no_unicode_has_a_number_too() -> None:
    """As the name of a file in another encoding is read by Python."""
    assert "source_slot" in with_slots([Document(id="caf\udce9", content="Text.")])[0].meta


def test_a_store_that_lists_all_is_listed_once() -> None:
    store = PartStore(listed=10)
    store.write_documents([Document(id=str(number), content="Text.") for number in range(10)])
    assert len([*each_document(store, "nothing was done")]) == 10
    assert store.listings == 1
