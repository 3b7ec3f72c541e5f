"""Lists as a pipeline retrieves them, for a calibration on one's own retrieval and for labelling."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from haystack.components.generators.chat import MockChatGenerator

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.evaluation.cases import Dataset, RankedList
from haystack_integrations.crag.evaluation.live import fill
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.stores import open_store

DEPTH = 10


class Retrieval:
    """
    A pipeline's own retrieval over the corpus of a data set, in memory.

    :param dataset: The data set.
    :param pipeline: A shipped pipeline, or the path of a YAML file.
    """

    def __init__(self, dataset: Dataset, pipeline: str) -> None:
        """Index the corpus and load the pipeline; nothing in it asks a model."""
        self._dataset = dataset
        store = open_store("in_memory", index=f"crag-lists-{uuid4().hex}")
        fill(store, dataset, StaticDocumentEmbedder())
        # In mode `observe` the pipeline passes on what it retrieved: grader and generator only have to be there.
        self._pipeline: Any = load(
            pipeline, store=store, grader=HeuristicGrader(weights="evidence"), generator=MockChatGenerator("-")
        )
        self.retrievers: set[str] = set()

    def ranked(self) -> Iterator[tuple[str, RankedList]]:
        """
        Ask every question.

        :returns: The id of each question, and what was retrieved for it.
        """
        for case in self._dataset.cases:
            documents = self._pipeline.run(query=case.question, mode="observe", top_k=DEPTH)["documents"][:DEPTH]
            for document in documents:
                found = crag_meta(document).get("retrievers")
                self.retrievers |= set(found) if isinstance(found, dict) else set()
            yield case.id, RankedList(tuple(document.id for document in documents))
