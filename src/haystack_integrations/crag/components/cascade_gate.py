"""CascadeGate: a cheap scorer decides what it is sure of, and only what it is not goes to the language model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from haystack import Document, component

from haystack_integrations.crag.deciding.reports import plain
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, annotate, grade_of, question_id, set_score_of, without_grade
from haystack_integrations.crag.grading.batch import NAME as MODEL
from haystack_integrations.crag.inputs import checked, is_number
from haystack_integrations.crag.light import light
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.sockets import tell_of_dead_end
from haystack_integrations.crag.state import CragState, known_grades


@component
@light
@checked
class CascadeGate:
    """
    Stands between a cheap scorer (HeuristicGrader, RankerGrader, a small model) and BatchRelevanceGrader.

    A scorer that gives a verdict with probabilities is taken at its word when that verdict's reaches `sure`. Otherwise
    the documents that it is sure of, with a score up to `low` or from `high` on, keep their grade, and those between
    go to the model, in one batch; where there is none between, the scorer's word stands. The cheap grade is no more
    than an `opinion` then: what the model cannot judge is `failed`, and never passes for judged. A document that it has
    graded in this run is not sent again, and a verdict that does not know what the model said does not count.

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.cascade_gate import CascadeGate
    from haystack_integrations.crag.grades import Grade, question_id, with_grade

    question = "Who wrote Emma?"
    scores = {"Emma is a novel by Jane Austen.": 0.6, "Rain is likely.": 0.01}
    documents = [
        with_grade(Document(content=text), Grade(score, "graded", "example", question_id(question)))
        for text, score in scores.items()
    ]
    result = CascadeGate().run(query=question, documents=documents)
    assert result["report"]["cascade"]["asked"] == 1
    sure = {"verdict": {"verdict": "correct", "probabilities": {"correct": 0.9, "ambiguous": 0.1, "incorrect": 0.0}}}
    assert "decided" in CascadeGate().run(query=question, documents=documents, report=sure)
    ```
    """

    def __init__(self, *, sure: float = 0.85, low: float = 0.01, high: float = 0.9) -> None:
        """
        Set how sure is sure.

        :param sure: Probability in [0, 1] from which the scorer's verdict on the whole retrieval stands.
        :param low: Score in [0, 1] up to which a document certainly does not answer.
        :param high: Score in [0, 1] from which it certainly does.
        :raises ConfigurationError: For a number outside [0, 1], or `low` above `high`.
        """
        for name, value in (("sure", sure), ("low", low), ("high", high)):
            if not is_number(value) or not 0.0 <= value <= 1.0:
                msg = f"{name} must be a number between 0 and 1, but got {value!r}"
                raise ConfigurationError(msg)
        if low > high:
            msg = f"low must not be above high, but got low={low} and high={high}"
            raise ConfigurationError(msg)
        self.sure, self.low, self.high = sure, low, high

    @component.output_types(decided=list[Document], undecided=list[Document], report=dict[str, Any], state=CragState)
    def run(
        self,
        query: str,
        documents: list[Document],
        report: dict[str, Any] | None = None,
        state: CragState | None = None,
    ) -> dict[str, Any]:
        """
        Decide whether the model is asked.

        :param query: The original question.
        :param documents: Documents graded by the scorer, in rank order.
        :param report: The scorer's report; its `verdict` is read, `{"verdict", "probabilities"}`.
        :param state: What the run knows; in mode `off` nothing is asked.
        :returns: A dictionary with the following keys, only the branch taken among the first two:
            - `decided`: All documents with their grades, for the router.
            - `undecided`: All documents, the unsure ones without a grade, for the model.
            - `report`: The scorer's report for the router's `scored`, with `cascade`: how many documents the model is
              `asked` about, the scorer's `verdict`, its `certainty`, and whether the scorer is `calibrated`. A verdict
              that does not stand is not in it.
            - `state`: With `undecided`, what the run knows, with the scorer's grades that stand and without those that
              the model is to give anew. Connect it to the model's grader, or that judges all documents.
        """
        said = dict(report or {})
        with trace("crag.cascade") as span:
            question, (verdict, certainty) = question_id(query), _told(said.get("verdict"))
            grades = [grade_of(document, question) for document in documents]
            # The model has read documents of this pass in an earlier one: a verdict by wording knows less than that.
            by_model = any(map(_is_of_model, grades))
            stands = certainty is not None and certainty >= self.sure and not by_model
            is_off = state is not None and state.mode == "off"
            # By their places, since two documents may have the same id.
            unsure = {at for at, grade in enumerate(grades) if not (stands or is_off) and self._is_unsure(grade)}
            cascade = {"asked": len(unsure), "verdict": verdict, "certainty": certainty}
            # Whether that certainty was learned on the user's own questions, where the scorer says so.
            cascade |= {"calibrated": said.get("calibrated")}
            set_tags(span, {"openinference.span.kind": "CHAIN", "crag.documents.in": len(documents)})
            set_tags(span, {f"crag.cascade.{name}": value for name, value in cascade.items()})
        if unsure or by_model:
            said = {**_without(said, {"verdict", "set_score"}), **({} if unsure else set_score_of(grades))}
        said["cascade"] = cascade
        tell_of_dead_end(self, *(("undecided", "decided") if unsure else ("decided", "undecided")))
        if not unsure:
            return {"decided": documents, "report": said}
        asked = [_to_be_judged(one, grades[at]) if at in unsure else one for at, one in enumerate(documents)]
        # A grade that the state has spares the model the question; one of a document alone may be of another run.
        known = CragState.start(query) if state is None else state
        known = replace(known, grades=_without(known.grades, {documents[at].id for at in unsure}))
        known = replace(known, grades=known_grades(asked, question, known))
        return {"undecided": asked, "report": said, "state": known}

    def _is_unsure(self, grade: Grade | None) -> bool:
        """Tell whether the model is to judge; what it has judged in this run, it is not asked about again."""
        if grade is None or grade.status == "failed":
            return True
        return self.low < grade.score < self.high and not _is_of_model(grade)


def _is_of_model(grade: Grade | None) -> bool:
    """Tell a grade of an earlier pass that is not the scorer's: beside a model's, be it any, stands the opinion."""
    return bool(grade and grade.status == "cached" and (grade.grader == MODEL or grade.opinion is not None))


def _to_be_judged(document: Document, grade: Grade | None) -> Document:
    """Make an opinion of a cheap grade, for `CragRouter(second_opinion=...)`."""
    bare = without_grade(document)
    return bare if grade is None or grade.status == "failed" else annotate(bare, opinion=grade.score)


def _told(said: Any) -> tuple[str | None, float | None]:
    """Read a scorer's verdict, which may be a word alone, and how sure the scorer is of it."""
    verdict, likely = (said.get("verdict"), said.get("probabilities")) if isinstance(said, Mapping) else (said, None)
    if not isinstance(verdict, str):
        return None, None
    # Of the verdict told, which need not be the likeliest: a calibration may ask more of `correct`.
    certainty = plain(likely.get(verdict)) if isinstance(likely, Mapping) else None
    return verdict, certainty if is_number(certainty) else None


def _without(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
