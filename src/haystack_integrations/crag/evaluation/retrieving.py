"""Lists as a pipeline retrieves them, for a calibration on one's own retrieval and for labelling."""

from collections.abc import Iterator
from typing import Any

from haystack.components.generators.chat import MockChatGenerator

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, RankedList
from haystack_integrations.crag.evaluation.live import fill
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.pipelines.checks import check_questions
from haystack_integrations.crag.pipelines.forms import inputs_of, settings_of
from haystack_integrations.crag.pipelines.loader import load, read
from haystack_integrations.crag.pipelines.opening import memory_store


class Retrieval:
    """
    A pipeline's own retrieval over the corpus of a data set, in memory.

    :param dataset: The data set.
    :param pipeline: A shipped pipeline, or the path of a YAML file.
    :param depth: The length of the lists; None for the pipeline's own.
    """

    def __init__(self, dataset: Dataset, pipeline: str, depth: int | None = None) -> None:
        """
        Index the corpus and load the pipeline; nothing in it asks a model, or the web.

        :raises ConfigurationError: When it is no pipeline for questions, or judges whatever it is told.
        """
        self._dataset, self._depth, spec = dataset, depth, read(pipeline)
        check_questions(pipeline, spec)
        inputs = inputs_of(spec)
        routers = [part for part in spec["components"].values() if str(part["type"]).endswith(".CragRouter")]
        if "mode" not in inputs and any(settings_of(part).get("mode") != "off" for part in routers):
            msg = (
                f"the pipeline {pipeline!r} takes no mode, so its lists are to be had only as judged; add "
                "`mode: [guard.mode]` to its optional_inputs, or put the lists into the data"
            )
            raise ConfigurationError(msg)
        store = memory_store()
        fill(store, dataset, StaticDocumentEmbedder())
        # In mode `off` nothing is judged: grader and generator only have to be there, where the pipeline has them.
        parts = {"grader": HeuristicGrader(weights="evidence"), "generator": MockChatGenerator("-")}
        self._pipeline: Any = load(
            pipeline, store=store, **{name: part for name, part in parts.items() if name in spec["components"]}
        )
        wanted = {"mode": "off", "top_k": depth, "web": False}
        self._options = {name: value for name, value in wanted.items() if name in inputs and value is not None}
        self.retrievers: set[str] = set()

    def ranked(self) -> Iterator[tuple[str, RankedList]]:
        """
        Ask every question.

        :returns: The id of each question, and what was retrieved for it.
        """
        for case in self._dataset.cases:
            yield case.id, self.of(case)

    def of(self, case: Case) -> RankedList:
        """
        Ask a question.

        :param case: The question.
        :returns: What was retrieved for it, in rank order.
        """
        result = self._pipeline.run(query=case.question, **self._options)
        for document in result["documents"]:
            found = crag_meta(document).get("retrievers")
            self.retrievers |= set(found) if isinstance(found, dict) else set()
        # The decision tells what was retrieved; a refiner may have emptied some of the documents since.
        kept = [entry["id"] for entry in result["crag"]["trail"][0]["kept"]]
        return RankedList(tuple(kept[: self._depth]))
