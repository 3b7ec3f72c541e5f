"""Documents as other people's stores give them: no shipped pipeline stumbles, and its record stays plain JSON."""

import json
from typing import Any, Final

import numpy as np
import pytest
from haystack import Document, component
from haystack.dataclasses import ByteStream, SparseEmbedding
from makers import grading_by, scripted

from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.pipelines import load

QUESTION = "When is a refund paid?"
TEXT: Final = "A refund is paid within 30 days of the return."
ODD: Final[dict[str, dict[str, Any]]] = {
    "an id that is a number": {"id": 5},
    "a score of NumPy's": {"score": np.float32(0.3)},
    "a score that is no number": {"score": float("nan")},
    "a vector of NumPy's": {"embedding": np.ones(256, dtype=np.float32)},
    "a sparse vector": {"sparse_embedding": SparseEmbedding([1, 2], [0.5, 0.5])},
    "a picture": {"content": None, "blob": ByteStream(b"\x00\xff", mime_type="image/png")},
    "metadata in depth": {"meta": {"a": {"b": [1, {"c": 2}]}, "title": ["a", "b"], "source": {"a": 1}, "url": 7}},
    "a table": {"meta": {"rows": [{"a": 1}, {"a": 2}], "title": float("nan")}},
}


@component
class Found:
    """Finds one document."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": [self.document]}


@pytest.mark.parametrize("score", [0.9, 0.1], ids=["answers", "does not"])
@pytest.mark.parametrize("odd", list(ODD))
@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval", "cascade_rag", "signals_rag", "paper_rag"])
def test_an_odd_document_is_judged_like_any_other(name: str, odd: str, score: float) -> None:
    """Its odd field is nobody's business, unless it is the text."""
    document = Document(**{"content": TEXT, **ODD[odd]})
    models: dict[str, Any] = {"generator": scripted("Within 30 days [1].")}
    models |= {"grader": grading_by(lambda _: score)} if name in ("corrective_rag", "cascade_rag") else {}
    if name == "corrective_retrieval":
        models = {"grader": HeuristicGrader()}
    found = load(name, bm25=Found(document), dense=Found(document), **models).run(query=QUESTION)
    record = found["crag"]
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["documents_before"] == 1
    for one in found["documents"]:
        json.dumps(one.meta["crag"], allow_nan=False)


def test_an_object_in_the_place_of_a_source_is_no_name() -> None:
    """Logs of the Elastic Common Schema have addresses as `source`; evidence bore what Python prints of them."""
    document = Document(content=TEXT, meta={"source": {"ip": "192.0.2.1"}, "url": ["a"], "file_path": "refunds.md"})
    found = load("corrective_retrieval", bm25=Found(document), dense=Found(document)).run(query=QUESTION)
    assert [entry["source"] for entry in found["crag"]["kept"]] == ["refunds.md"]
