"""What the benchmarks of manuals count: hit@k of BM25 in memory, and what `corrective_retrieval` decides."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.pipelines import load

_MOST = 10
"""The passages of BM25's list that are looked at."""


class Found(NamedTuple):
    """What came of each question: the place of its answer in BM25's list, the documents that hold it, the verdicts."""

    places: list[int | None]
    kept: list[list[Document]]
    correct: list[bool]
    at_last: list[bool]

    def told(self, ks: Sequence[int]) -> str:
        """Give the figures in words."""
        asked = len(self.places)
        hits = {k: sum(place is not None and place < k for place in self.places) / asked for k in ks}
        shares = ", ".join(f"hit@{k} {share:.3f}" for k, share in hits.items())
        verdicts = f"correct {sum(self.correct)} of {asked}, at last {sum(self.at_last)}"
        return f"{shares}; in the evidence {sum(map(bool, self.kept))}, {verdicts}"


def find(store: InMemoryDocumentStore, questions: Sequence[str], holds: Callable[[Document, int], bool]) -> Found:
    """
    Ask everything.

    :param store: The passages.
    :param questions: The questions.
    :param holds: Tells of a passage whether it holds the answer to the question of that number.
    :returns: What came of each.
    """
    rag, found = load("corrective_retrieval", store=store), Found([], [], [], [])
    for number, question in enumerate(questions):
        first = [holds(one, number) for one in store.bm25_retrieval(question, top_k=_MOST)]
        result = rag.run(query=question)
        found.places.append(first.index(True) if any(first) else None)
        found.kept.append([one for one in result["documents"] if holds(one, number)])
        found.correct.append(result["crag"]["trail"][0]["verdict"] == "correct")
        found.at_last.append(result["crag"]["verdict"] == "correct")
    return found
