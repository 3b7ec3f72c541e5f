"""Grade documents without a language model: wording, phrases and a little meaning, by published or own weights."""

from typing import Any

from haystack import Document, component

from haystack_integrations.crag.grades import Grade, question_id, with_grade
from haystack_integrations.crag.settings import check_positive
from haystack_integrations.crag.signals import measure, score_tags
from haystack_integrations.crag.state import CragState, given_in_run
from haystack_integrations.crag.static_model import load_encoder
from haystack_integrations.crag.telemetry import set_tags, trace
from haystack_integrations.crag.vocabulary import META_KEY, GraderStatus
from haystack_integrations.crag.weighting import Weights, check_weights, document_score, reason, set_score


@component
class HeuristicGrader:
    """
    Grades documents in milliseconds, without a language model; takes the place of `BatchRelevanceGrader` in any YAML.

    The preset `evidence` scores how far a document words the question: its neighbouring words together, its words at
    all, and some meaning. It is made for `CragRouter(aggregate="max")` and is **not calibrated**: a score orders
    documents and separates three verdicts better than chance on data it has not seen, and is no probability. It
    misses answers in other words, and questions of one word never get beyond ambiguous. `coherence` and `rerank` are
    the weightings of two published designs.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader

    documents = [Document(content="Prague Castle is the largest ancient castle."), Document(content="Rain is likely.")]
    result = HeuristicGrader().run(query="What is the largest ancient castle?", documents=documents)
    assert result["scores"][0] > 0.7 > 0.3 > result["scores"][1]
    ```
    """

    def __init__(
        self,
        *,
        weights: Weights = "evidence",
        model: str | None = None,
        title_field: str | None = "title",
        min_tokens: int = 100,
    ) -> None:
        """
        Choose the weights.

        :param weights: A preset, or a weight for each signal that counts (`signals.DOCUMENT_SIGNALS`); the score is
            then their weighted mean. A signal that a document has not is left out, the others count for more.
        :param model: Folder of a model2vec model. None takes the one shipped in this package.
        :param title_field: Metadata field with a document's title, read with its text. None reads the text only.
        :param min_tokens: Estimated tokens from which on a document is long enough (signal `length`).
        :raises ConfigurationError: For an unknown preset or signal, or an unusable number.
        """
        check_weights(weights)
        check_positive({"min_tokens": min_tokens})
        self.weights, self.model, self.title_field, self.min_tokens = weights, model, title_field, min_tokens

    def warm_up(self) -> None:
        """
        Read the static model, once per process.

        :raises ConfigurationError: When `model` is not the folder of a model2vec model.
        """
        load_encoder(self.model)

    @component.output_types(
        documents=list[Document],
        scores=list[float],
        status=str,
        set_score=float,
        signals=dict[str, Any],
        report=dict[str, Any],
    )
    def run(self, query: str, documents: list[Document], state: CragState | None = None) -> dict[str, Any]:
        """
        Grade documents against the original question.

        :param query: The original question.
        :param documents: Documents in rank order.
        :param state: What the run knows: a grade given in an earlier pass stays (a score here depends a little on its
            neighbours, and good evidence must not be lost to worse company); in mode `off` nothing is graded.
        :returns: A dictionary with the following keys:
            - `documents`: The same documents in the same order, each with its grade in `meta["crag"]`.
            - `scores`: One score in [0, 1] for each document, same order; none when skipped.
            - `status`: `ok`, or `skipped` (no documents, or mode `off`: they pass unchanged).
            - `set_score`: The score of the set: the best document's, or the published formula of the preset.
            - `signals`: `{"set": {name: value}, "documents": {id: {name: value}}}`.
            - `report`: `signals` and `set_score`, for the router.
        """
        skipped = not documents or (state is not None and state.mode == "off")
        with trace("crag.grade") as span:
            set_tags(span, {"openinference.span.kind": "EVALUATOR", "gen_ai.evaluation.name": "relevance"})
            set_tags(span, {"crag.grader.status": "skipped" if skipped else "ok", "crag.documents.in": len(documents)})
            if skipped:
                return _result(documents, [], "skipped", 0.0, {"set": {}, "documents": {}})
            encoder = load_encoder(self.model)
            each, of_set = measure(query, documents, encoder, title_field=self.title_field, min_tokens=self.min_tokens)
            scores = [round(document_score(self.weights, values), 4) for values in each]
            set_tags(span, score_tags(documents, scores))
        name = f"HeuristicGrader:{self.weights if isinstance(self.weights, str) else 'custom'}"
        question = question_id(query)
        graded = [
            with_grade(
                document,
                given_in_run(state, document, question)
                or Grade(score, "graded", name, question, reason(self.weights, values)),
            )
            for document, score, values in zip(documents, scores, each, strict=True)
        ]
        scores = [float(document.meta[META_KEY]["score"]) for document in graded]
        by_id = {document.id: values for document, values in zip(documents, each, strict=True)}
        of_all = round(set_score(self.weights, of_set, scores), 4)
        return _result(graded, scores, "ok", of_all, {"set": of_set, "documents": by_id})


def _result(
    documents: list[Document], scores: list[float], status: GraderStatus, of_all: float, signals: dict[str, Any]
) -> dict[str, Any]:
    said = {"set_score": of_all, "signals": signals}
    return {"documents": documents, "scores": scores, "status": status, **said, "report": said}
