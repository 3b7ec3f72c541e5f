"""What metadata says of a document, also where a table had no value."""

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from haystack import Document
from makers import fill

from haystack_integrations.crag.components import EvidencePromptBuilder
from haystack_integrations.crag.grading.plan import make_items
from haystack_integrations.crag.metadata import source_name, title_of
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.serving.answers import evidence_of


class _Unknown:
    """As pandas' NA is: it compares to itself as neither true nor false."""

    def __ne__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        msg = "boolean value of NA is ambiguous"
        raise TypeError(msg)

    __hash__ = None  # type: ignore[assignment]


NONE = [
    None,
    "",
    float("nan"),
    np.float32("nan"),
    np.datetime64("NaT", "ns"),
    Decimal("nan"),
    Decimal("sNaN"),
    np.array([1, 2]),
    _Unknown(),
]


@pytest.mark.parametrize("nothing", NONE, ids=lambda value: type(value).__name__)
def test_where_a_table_has_no_value_a_document_has_no_title_and_no_source(nothing: object) -> None:
    document = Document(id="7", content="Refunds.", meta={"title": nothing, "source": nothing, "url": nothing})
    assert (title_of(document), source_name(document)) == ("", None)
    assert source_name(Document(content="Refunds.", meta={"source": nothing, "file_path": "a.md"})) == "a.md"


def test_a_source_in_a_record_can_be_written_as_utf_8(in_memory_store: Any) -> None:
    """A name that was cut within an emoji left a record that neither orjson nor a file could take."""
    fill(in_memory_store, [Document(content="A refund takes 30 days.", meta={"source": "Refunds \ud83d"})])
    record = load("corrective_retrieval", store=in_memory_store).run(query="How long does a refund take?")["crag"]
    assert record["kept"][0]["source"] == "Refunds \ufffd"
    assert json.dumps(record, ensure_ascii=False).encode()


def test_nobody_reads_nan() -> None:
    """Neither a model nor a user: the document is named by its id."""
    nan = float("nan")
    document = Document(id="7", content="Refunds take 30 days.", meta={"title": nan, "source": nan, "url": nan})
    prompt = EvidencePromptBuilder().run(question="How long?", documents=[document])["prompt"]
    assert 'source="7"' in prompt[-1].text and "nan" not in prompt[-1].text
    assert make_items({0: document}, 1000, 1000)[0].title == ""
    told = evidence_of([document])[0]
    assert (told["source"], told["title"], told["url"], told["label"]) == ("7", None, None, "7")


def test_a_title_that_is_a_number_is_one() -> None:
    assert title_of(Document(content="A novel.", meta={"title": 1984})) == "1984"
    assert title_of(Document(content="A novel.", meta={"name": "Emma"}), "name") == "Emma"
    assert title_of(Document(content="A novel.", meta={"title": "Emma"}), None) == ""
