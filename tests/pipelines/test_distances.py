"""A store whose scores are distances, as Chroma's: its order stands, and its distances pass for no similarity."""

from dataclasses import replace
from typing import Any

import pytest
from haystack import Document, component, default_to_dict
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from makers import fill, run_by_door

from haystack_integrations.crag.components import EvidenceJoiner, RulePrefilter
from haystack_integrations.crag.pipelines import load

QUESTION = "When is a refund paid?"
BEST = "A refund is paid within 30 days of the return."
TEXTS = [BEST, "Parcels go out on Mondays.", "The courier is paid by the shop.", "Bread is baked daily."]
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@component
class ByDistance:
    """Searches in memory, and gives distances: the least one first."""

    def __init__(self, store: Any) -> None:
        self.store = store

    def to_dict(self) -> dict[str, Any]:
        return dict(default_to_dict(self, store=self.store.to_dict()))

    @component.output_types(documents=list[Document])
    def run(self, query_embedding: list[float], filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        found = InMemoryEmbeddingRetriever(self.store).run(query_embedding, filters, top_k)["documents"]
        return {"documents": [replace(one, score=1 - (one.score or 0.0)) for one in found]}


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """One document that answers, and others."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    return in_memory_store


@BOTH
def test_the_nearest_document_stays_first_in_a_loaded_pipeline(store: Any, asynchronous: bool) -> None:
    """Sorted by score, as Haystack's own retriever does it, the farthest would be the first."""
    rag = load("corrective_retrieval", store=store, dense=ByDistance(store))
    found = run_by_door(rag, asynchronous=asynchronous, query=QUESTION)
    dense = {one.content: one.meta["crag"]["retrievers"].get("dense") for one in found["documents"]}
    assert dense[BEST]["rank"] == 1
    assert "similarity" not in dense[BEST]


def test_documents_that_are_far_away_are_not_approved_for_their_distance() -> None:
    """A distance of 0.9 is no cosine of 0.9."""
    joiner = EvidenceJoiner({"dense": 1.0}, similarity={"dense": "cosine"})
    far = [Document(content=str(score), score=score) for score in (0.85, 0.9, 0.95)]
    documents = joiner.run(dense=far)["documents"]
    assert RulePrefilter(rules=["high_vector_score"]).run(query=QUESTION, documents=documents)["rule_name"] == ""


@pytest.mark.parametrize("scaled", [True, False])
def test_no_cosine_is_read_in_what_an_unknown_store_scales(store: Any, scaled: bool) -> None:
    """As Qdrant's retriever does where it is told to."""

    @component
    class Scaling:
        def __init__(self) -> None:
            self._scale_score = scaled

        @component.output_types(documents=list[Document])
        def run(self, query_embedding: list[float], filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            return dict(InMemoryEmbeddingRetriever(store).run(query_embedding, scale_score=scaled))

    found = load("corrective_retrieval", store=store, dense=Scaling()).run(query=QUESTION)["documents"]
    assert ("similarity" in found[0].meta["crag"]["retrievers"]["dense"]) is not scaled


@pytest.mark.parametrize("fusion", ["rrf", "score"])
def test_a_joiner_puts_the_nearest_first_and_reads_no_cosine_in_a_distance(fusion: Any) -> None:
    """By either fusion; a list of one score, or none, tells nothing of its order."""
    joiner = EvidenceJoiner({"dense": 1.0}, fusion=fusion, similarity={"dense": "cosine"})
    near, far, farther = (Document(content=str(score), score=score) for score in (0.1, 0.85, 0.9))
    found = joiner.run(dense=[near, far, farther])["documents"]
    assert [one.content for one in found] == ["0.1", "0.85", "0.9"]
    assert all("similarity" not in one.meta["crag"]["retrievers"]["dense"] for one in found)
    (alone,) = joiner.run(dense=[far])["documents"]
    assert alone.meta["crag"]["retrievers"]["dense"]["similarity"] == 0.85
