"""Grade documents without a language model: a small calibrated model, or published weights."""

from typing import Any

from haystack import Document, component

from haystack_integrations.crag.copying import Copied
from haystack_integrations.crag.corpus_statistics import StatisticsSource
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.expansion.query_text import check_asked
from haystack_integrations.crag.grades import Grade, crag_meta, question_id, with_grade
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.judging.heuristics import Heuristics
from haystack_integrations.crag.judging.weighting import Weights, check_weights
from haystack_integrations.crag.observing.metrics import timed_grading
from haystack_integrations.crag.observing.telemetry import GRADING, set_tags, trace
from haystack_integrations.crag.sealing import given
from haystack_integrations.crag.settings import check_positive
from haystack_integrations.crag.state import CragState, given_in_run


@component
@checked
class HeuristicGrader(Copied):
    """
    Grades documents in milliseconds, without a language model; takes the place of `BatchRelevanceGrader` in any YAML.

    A document's score is its expected grade by a small linear model (0 off topic, 0.5 on topic, 1 answers); the
    retrieval as a whole gets a verdict with probabilities, which `CragRouter(aggregate="set")` follows. Without
    `calibration` the model is the one in this package: eight signals of documents, three of the list (how specific
    the question is, and titles that it names), fitted on other people's questions, and **not calibrated on your data**,
    as its report says. With a file that `crag calibrate` wrote from 80 questions of your own or more it reads some
    hundred signals, and the probabilities hold (arXiv 2401.15884 trains its evaluator, too).
    Never is a verdict `correct` where a year, version, option, name of code or id with four digits in a row, as the
    question has it, is in no document, or a shorter id (PROJ-123) in none, and another of its form (PROJ-124) in one.
    `weights` takes weightings instead: `coherence` and `rerank` as published, or `evidence`.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader

    documents = [Document(content="Prague Castle is the largest ancient castle."), Document(content="Rain is likely.")]
    result = HeuristicGrader().run(query="What is the largest ancient castle?", documents=documents)
    assert result["scores"][0] > 0.5 > 0.1 > result["scores"][1]
    assert result["report"]["calibrated"] is False
    ```
    """

    def __init__(
        self,
        *,
        weights: Weights | None = None,
        calibration: str | None = None,
        statistics: str | None = None,
        document_store: Any = None,
        model: str | None = None,
        title_field: str | None = "title",
        min_tokens: int = 100,
    ) -> None:
        """
        Choose how to judge.

        :param weights: A preset, or weights for a mean of signals (`signals.DOCUMENT_SIGNALS`). None: by a calibration.
        :param calibration: A file that `crag calibrate` wrote. None takes the model in this package.
        :param statistics: Document frequencies that `crag index --statistics FILE` wrote, for the calibrated model.
        :param document_store: The store that is searched: it is asked for document frequencies, before the file.
            Otherwise those of the retrieved documents have to do; `signals` tells which it was.
        :param model: Folder of an embedding model: model2vec, or a sentence transformer in ONNX form, which sees more
            (10 ms a new sentence). None takes the one shipped. A calibration is for one: `crag calibrate --model`.
        :param title_field: Metadata field with a document's title, read with its text. None reads the text only.
        :param min_tokens: Estimated tokens from which on a document is long enough (signal `length` of the weights).
        :raises ConfigurationError: For an unknown preset or signal, an unusable number, or weights with a calibration.
        """
        if weights is not None:
            check_weights(weights)
            if calibration is not None:
                msg = f"pass weights or a calibration, but got both {weights!r} and {calibration!r}"
                raise ConfigurationError(msg)
        check_positive({"min_tokens": min_tokens})
        self.weights, self.calibration, self.statistics, self.model = weights, calibration, statistics, model
        self.document_store, self.title_field, self.min_tokens = document_store, title_field, min_tokens
        self._statistics = StatisticsSource(file=statistics, store=document_store, title_field=title_field)
        self._heuristics = Heuristics(weights, calibration, self._statistics, model, title_field, min_tokens)

    def warm_up(self) -> None:
        """
        Read the embedding model and the calibration, once per process; count an in-memory store.

        :raises ConfigurationError: When `model`, `calibration` or `statistics` cannot be used.
        """
        self._heuristics.warm_up()
        if self.weights is None:
            self._statistics.warm_up()

    def close(self) -> None:
        """Close the connection to the store that was asked for document frequencies, if there is one."""
        self._statistics.close()

    @component.output_types(
        documents=list[Document],
        scores=list[float],
        status=str,
        set_score=float,
        signals=dict[str, Any],
        report=dict[str, Any],
    )
    def run(
        self, query: str, documents: list[Document], state: CragState | None = None, sealed: bool = False
    ) -> dict[str, Any]:
        """
        Grade documents against the original question.

        :param query: The original question, as people type it; `signals` tell how it was read.
        :param documents: Documents in rank order.
        :param state: What the run knows: a grade given in an earlier pass stays (a score here depends a little on its
            neighbours, and good evidence must not be lost to worse company); in mode `off` nothing is graded.
        :param sealed: Give `signals`, also those in `report`, as one object; see `sealing`. `load` asks for it.
        :returns: A dictionary with the following keys:
            - `documents`: The same documents in the same order, each with its grade in `meta["crag"]`.
            - `scores`: One score in [0, 1] for each document, same order; none when skipped.
            - `status`: `ok`, or `skipped` (no documents, or mode `off`: they pass unchanged).
            - `set_score`: In [0, 1]: the probability that the documents answer, or the published formula of a preset.
            - `signals`: `{"set": {name: value}, "documents": {id: {name: value}}}`.
            - `report`: `signals` and `set_score`, for the router; by a calibration also `verdict`
              (`{"verdict", "probabilities", "covered"}`; `covered`: low where the evidence is not in the store) and
              `calibrated`: whether it was fitted on your own questions.
        :raises CragError: For an empty question, or a first list of other retrievers than the calibration's.
        """
        check_asked(query)
        status = "skipped" if not documents or (state is not None and state.mode == "off") else "ok"
        with timed_grading("HeuristicGrader"), trace("crag.grade") as span:
            set_tags(span, {**GRADING, "crag.grader.status": status, "crag.documents.in": len(documents)})
            if status == "skipped":
                nothing: dict[str, Any] = {"set": {}, "documents": {}}
                # No word on the set in the report: for the router the last one still holds.
                said = {"set_score": 0.0, "signals": nothing, "report": {"signals": nothing}}
                return {"documents": documents, "scores": [], "status": status, **said}
            graded = self._heuristics.grade(query, documents, state)
            question = question_id(query)
            rows, name = zip(documents, graded.scores, graded.reasons, strict=True), self._heuristics.name
            noted = [
                with_grade(each, given_in_run(state, each, question) or Grade(score, "graded", name, question, reason))
                for each, score, reason in rows
            ]
            scores = [float(crag_meta(document)["score"]) for document in noted]
            self._heuristics.tell(span, noted, scores, graded)
        report = self._heuristics.report(graded, scores)
        report = {**report, "signals": given(report["signals"], sealed=sealed)}
        said = {"set_score": report["set_score"], "signals": given(graded.signals, sealed=sealed), "report": report}
        return {"documents": noted, "scores": scores, "status": status, **said}
