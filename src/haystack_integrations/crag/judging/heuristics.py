"""How HeuristicGrader judges: by a calibration, or by weights. The component gives it sockets."""

from collections.abc import Sequence
from typing import Any

from haystack import Document
from haystack.tracing.tracer import Span

from haystack_integrations.crag.corpus_statistics import StatisticsSource
from haystack_integrations.crag.encoding.encoders import load_encoder, model_name
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.judging.calibration import Calibration, load_calibration
from haystack_integrations.crag.judging.grading import Graded, check_encoder, check_retrievers, grade, retrievers_of
from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.judging.signals import measure
from haystack_integrations.crag.judging.weighting import Weights, document_score, reason, set_score
from haystack_integrations.crag.observing.evaluations import tell_grading
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.texts.text import PHRASES, UNSPACED


def _is_unspaced(text: str) -> bool:
    """Tell text of which half the letters are of a script without spaces, such as Chinese: its words are not parted."""
    letters = sum(map(str.isalpha, text))
    return letters > 0 and 2 * (len(UNSPACED.findall(text)) + len(PHRASES.findall(text))) >= letters


class Heuristics:
    """
    A way to judge; see `HeuristicGrader` for the settings.

    :param weights: Weights, or None to judge by a calibration.
    :param calibration: A calibration file, or None for the model in this package.
    :param statistics: Where document frequencies come from.
    :param model: Folder of an embedding model, or None.
    :param title_field: Metadata field with a document's title, or None.
    :param min_tokens: Estimated tokens from which on a document is long enough.
    """

    def __init__(
        self,
        weights: Weights | None,
        calibration: str | None,
        statistics: StatisticsSource,
        model: str | None,
        title_field: str | None,
        min_tokens: int,
    ) -> None:
        """Keep the settings; nothing is read yet."""
        self._weights, self._calibration, self._statistics = weights, calibration, statistics
        self._model, self._title_field, self._min_tokens = model, title_field, min_tokens

    @property
    def name(self) -> str:
        """Tell who speaks, for a grade: the grader and what it judges by."""
        if self._weights is None:
            return f"HeuristicGrader:{'default' if self._calibration is None else 'calibrated'}"
        return f"HeuristicGrader:{self._weights if isinstance(self._weights, str) else 'custom'}"

    def warm_up(self) -> None:
        """
        Read the embedding model and the calibration, once per process.

        :raises ConfigurationError: When one cannot be used, or they do not belong together.
        """
        load_encoder(self._model)
        if self._weights is None:
            self._checked()

    def _checked(self) -> Calibration:
        calibration = load_calibration(self._calibration)
        check_encoder(calibration, model_name(self._model))
        return calibration

    def grade(self, query: str, documents: Sequence[Document], state: CragState | None) -> Graded:
        """
        Grade documents.

        :param query: The question.
        :param documents: At least one document, in rank order.
        :param state: What the run knows: documents of earlier passes that stay are judged together with these.
        :returns: Scores, reasons and signals.
        :raises ConfigurationError: When a file cannot be used, or the first list is of other retrievers than its own.
        """
        graded = self._graded(query, documents, state)
        if not graded.report.get("calibrated") and _is_unspaced(query):
            # Often wrong (docs/limits.md), so it counts as degraded, in the record and wherever that is watched.
            graded.report["reasons"] = ["unspaced_question"]
        return graded

    def _graded(self, query: str, documents: Sequence[Document], state: CragState | None) -> Graded:
        if self._weights is not None:
            return self._weighed(self._weights, query, documents)
        ids = {document.id for document in documents}
        beside = [] if state is None else [document for document in state.kept if document.id not in ids]
        calibration, reader = self._checked(), shared_reader(self._model)
        if calibration.retrievers and (state is None or state.iteration == 0):
            # What a correction brings, from the web or by another search, is judged by whatever calibration there is.
            check_retrievers(retrievers_of(documents), calibration)
        return grade(query, documents, beside, calibration, reader, self._statistics.resolve, self._title_field)

    def _weighed(self, weights: Weights, query: str, documents: Sequence[Document]) -> Graded:
        encoder = load_encoder(self._model)
        each, of_set = measure(query, documents, encoder, title_field=self._title_field, min_tokens=self._min_tokens)
        scores = [round(document_score(weights, values), 4) for values in each]
        reasons = [reason(weights, values) for values in each]
        by_id = {document.id: values for document, values in zip(documents, each, strict=True)}
        signals = {"set": of_set, "documents": by_id}
        return Graded(scores, reasons, signals, {"signals": signals})

    def report(self, graded: Graded, scores: list[float]) -> dict[str, Any]:
        """
        Say what the router must know.

        :param graded: What became of the documents.
        :param scores: The scores that hold, some of them given in earlier passes.
        :returns: The report, with a `set_score`.
        """
        if self._weights is None:
            return graded.report
        of_all = round(set_score(self._weights, graded.signals["set"], scores), 4)
        return {"set_score": of_all, **graded.report}

    def tell(self, span: Span, documents: Sequence[Document], scores: Sequence[float], graded: Graded) -> None:
        """
        Put a grading into attributes of its span, and into events where they are asked for.

        :param span: The span of the grading.
        :param documents: The documents, with their grades.
        :param scores: The scores that hold, some of them given in earlier passes.
        :param graded: What became of the documents in this one.
        """
        of_set = graded.signals["set"]
        cached = sum(crag_meta(document).get("status") == "cached" for document in documents)
        verdict = (graded.report.get("verdict") or {}).get("probabilities") or {}
        tags = {
            "crag.documents.graded": len(documents) - cached,
            "crag.documents.cached": cached,
            "crag.documents.failed": 0,  # a judgement without a model is always one
            **{f"crag.probability.{name}": value for name, value in verdict.items()},
            "crag.grader.calibrated": of_set.get("calibrated"),
            "crag.grader.statistics": of_set.get("statistics"),
        }
        tell_grading(span, documents, zip((document.id for document in documents), scores, strict=True), tags)
