"""Lists as a pipeline retrieves them, for a calibration on one's own retrieval and for labelling."""

from typing import Any

from haystack.components.generators.chat import MockChatGenerator

from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.evaluation.cases import Dataset, RankedList
from haystack_integrations.crag.evaluation.live import as_indexed, check_whole, fill
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.pipelines.checks import check_questions, wants_a_model
from haystack_integrations.crag.pipelines.forms import inputs_of, settings_of
from haystack_integrations.crag.pipelines.loader import load, read
from haystack_integrations.crag.pipelines.opening import memory_store
from haystack_integrations.crag.pipelines.roles import roles_of


class Retrieval:
    """
    A pipeline's own retrieval; nothing in it asks a model, or the web.

    :param store: The store that is searched.
    :param pipeline: A shipped pipeline, or the path of a YAML file.
    :param depth: The length of the lists; None for the pipeline's own.
    """

    def __init__(self, store: Any, pipeline: str, depth: int | None = None) -> None:
        """
        Load the pipeline on a store.

        :raises ConfigurationError: When it is no pipeline for questions, or judges whatever it is told.
        """
        self._depth, spec = depth, read(pipeline)
        check_questions(pipeline, spec)
        inputs = inputs_of(spec)
        routers = [part for part in spec["components"].values() if str(part["type"]).endswith(".CragRouter")]
        if "mode" not in inputs and any(settings_of(part).get("mode") != "off" for part in routers):
            msg = (
                f"the pipeline {pipeline!r} takes no mode, so its lists are to be had only as judged; add "
                "`mode: [guard.mode]` to its optional_inputs, or put the lists into the data"
            )
            raise ConfigurationError(msg)
        # In mode `off` nothing is judged: grader and generator only have to be there, where the pipeline has them.
        grader, parts = roles_of(spec).grader, dict[str, Any]()
        if "generator" in spec["components"] or wants_a_model(spec):
            parts["generator"] = MockChatGenerator("-")
        if grader:
            parts[grader] = HeuristicGrader(weights="evidence")
        self._pipeline: Any = load(pipeline, store=store, **parts)
        # What a run asks of the retrievers, their joiner cuts to a length of its own.
        for _, part in self._pipeline.pipeline.walk():
            if depth is not None and isinstance(part, EvidenceJoiner):
                part.top_k = max(part.top_k, depth)
        wanted = {"mode": "off", "top_k": depth, "web": False}
        self._options = {name: value for name, value in wanted.items() if name in inputs and value is not None}

    @classmethod
    def over(cls, dataset: Dataset, pipeline: str, depth: int | None = None) -> "Retrieval":
        """
        Index the corpus of a data set in memory, and load a pipeline on it.

        :param dataset: The data set.
        :param pipeline: See `Retrieval`.
        :param depth: See `Retrieval`.
        :returns: The retrieval.
        :raises ConfigurationError: See `Retrieval`; also for a corpus that is a part of a store.
        """
        check_whole(dataset)
        store = memory_store()
        fill(store, as_indexed(dataset))
        return cls(store, pipeline, depth)

    def of(self, question: str) -> RankedList:
        """
        Ask a question.

        :param question: The question.
        :returns: What was retrieved for it, in rank order.
        :raises StoreError: When a search failed, or reached a part of the store only: the list would be another one.
        """
        result = self._pipeline.run(query=question, **self._options)
        if lost := [each for each in result["crag"]["coverage"]["reasons"] if each.startswith("retrieval_")]:
            msg = f"the store was not searched in whole ({', '.join(lost)}); ask `crag doctor` why, and run it again"
            raise StoreError(msg)
        metas = [crag_meta(document).get("retrievers") for document in result["documents"]]
        retrievers = sorted({name for found in metas if isinstance(found, dict) for name in found})
        # The decision tells what was retrieved; a refiner may have emptied some of the documents since.
        kept = [entry["id"] for entry in result["crag"]["trail"][0]["kept"]]
        return RankedList(tuple(kept[: self._depth]), retrievers=tuple(retrievers))
