"""From a ranker's scores to grades: one ranking of one list, what it asks and what it finds. No sockets."""

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from haystack import Document, logging
from haystack.tracing.tracer import Span

from haystack_integrations.crag.copying import plain_copy
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, question_id, set_score_of, with_grade
from haystack_integrations.crag.inputs import finite
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.observing.evaluations import tell_grading
from haystack_integrations.crag.sockets import sockets_of
from haystack_integrations.crag.state import CragState, given_in_run
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.telling import first_search
from haystack_integrations.crag.texts.steering import whole
from haystack_integrations.crag.vocabulary import GraderStatus

logger = logging.getLogger(__name__)

Scale = Literal["unit", "logit"]
"""`unit`: the ranker's scores are in [0, 1]. `logit`: they are any numbers, and a logistic curve makes them grades."""

_ROUNDING: Final = 1e-6
_STEEPEST: Final = 700.0


def taken_by(ranker: Any) -> Collection[str]:
    """
    Name what a ranker takes.

    :param ranker: Any component; the `run` of one that is a whole pipeline (SuperComponent) names nothing itself.
    :returns: Its inputs.
    """
    sockets = sockets_of(ranker, "input")
    return inspect.signature(ranker.run).parameters if sockets is None else sockets


def check_reads_question(ranker: Any) -> None:
    """
    Refuse a ranker whose scores say nothing of what answers, such as one that orders by metadata.

    :param ranker: A ranker.
    :raises ConfigurationError: For one that takes no question.
    """
    if "query" not in taken_by(ranker):
        msg = (
            f"the ranker must read the question, but got a {type(ranker).__name__}, which takes no query: its order or "
            "scores say nothing of what answers; connect it behind, where it orders what was judged"
        )
        raise ConfigurationError(msg)


def room_in(ranker: Any, count: int) -> dict[str, int]:
    """
    Ask a ranker for all documents, where the number that it gives back is the usual one of its class.

    :param ranker: A ranker.
    :param count: How many documents it is given.
    :returns: A `top_k` for its run; nothing where it takes none, and where one was set in so many words. What is inside
        of a whole pipeline is its own.
    """
    usual = inspect.signature(type(ranker).__init__).parameters.get("top_k")
    is_set = usual is not None and getattr(ranker, "top_k", usual.default) != usual.default
    return {} if is_set or "top_k" not in inspect.signature(ranker.run).parameters else {"top_k": count}


def metadata_for(document: Document) -> dict[str, Any]:
    """
    Copy the metadata of a document for a ranker, which may change it, and may read the title beside the text.

    :param document: A document.
    :returns: The copy. As in the text that is beside it, a sign stands for half a character: no tokenizer and no client
        takes that, and one document's would cost all others.
    """
    return {
        name: whole(value) if isinstance(value, str) else value for name, value in plain_copy(document.meta).items()
    }


class Ranking:
    """
    The ranking of one list.

    :ivar asked: Copies of the documents that the ranker is to score, each named by its place in the list.
    """

    def __init__(self, name: str, query: str, documents: Sequence[Document], state: CragState | None) -> None:
        """Sort documents into those that have a grade for this question and those to ask about."""
        self.name, self.query, self.documents = name, first_search(bare_question(query)), documents
        self.question = question_id(query)
        self.skipped = not documents or (state is not None and state.mode == "off")
        self.grades: dict[int, Grade] = {}
        self.asked: list[Document] = []
        for place, document in () if self.skipped else enumerate(documents):
            known = given_in_run(state, document, self.question)
            if known is not None:
                self.grades[place] = known
            elif not (document.content or "").strip():
                self.grades[place] = Grade(0.0, "graded", name, self.question, "no_content")
            else:
                # Without the retriever's score: a ranker that only orders would hand it on as if it were its own. Named
                # by its place, since two documents may have one id.
                text, meta = whole(document.content or ""), metadata_for(document)
                self.asked.append(replace(document, id=str(place), content=text, score=None, meta=meta))

    def arguments(self, ranker: Any) -> dict[str, Any]:
        """
        Write the arguments of the ranker's run.

        :param ranker: The ranker.
        :returns: The documents, the question, and a `top_k` of all of them where it takes one.
        """
        most = {"top_k": len(self.asked)} if "top_k" in taken_by(ranker) else {}
        return {"documents": self.asked, "query": self.query, **most}

    def take(self, sent: Mapping[str, Any], scale: Scale, slope: float, middle: float) -> None:
        """
        Turn scores into grades.

        :param sent: What the ranker returned.
        :param scale: What its scores are.
        :param slope: How steep the curve of `logit` is.
        :param middle: The score that it turns into 0.5.
        :raises ConfigurationError: For a score outside [0, 1] that was said to be in it.
        """
        scores: dict[str, float | None] = {}
        for document in sent["documents"]:
            scores.setdefault(document.id, document.score)
        for document in self.asked:
            score = finite(scores.get(document.id))
            if score is None:
                self.fail([document], "not_ranked" if document.id not in scores else "no_score")
            else:
                grade = _unit(score) if scale == "unit" else _logistic(slope * (score - middle))
                self.grades[int(document.id)] = Grade(round(grade, 4), "graded", self.name, self.question)

    def fail(self, documents: Sequence[Document], reason: str) -> None:
        """
        Write down that documents could not be judged.

        :param documents: Documents of `asked`.
        :param reason: The kind of failure.
        """
        for document in documents:
            self.grades[int(document.id)] = Grade.failed(self.name, self.question, reason)

    def concluded(self, span: Span) -> dict[str, Any]:
        """
        Give a grader's outputs, and say in span and log what the ranking was like.

        :param span: The span of the run.
        :returns: `documents`, `scores`, `status`, `report`.
        """
        given = [self.grades.get(place) for place in range(len(self.documents))]
        failed = [grade for grade in given if grade is not None and grade.status == "failed"]
        judged = [grade.score for grade in given if grade is not None and grade.status != "failed"]
        status: GraderStatus = "skipped" if self.skipped else "ok"
        if failed:
            status = "partial" if judged else "failed"
        reasons = [f"grader_{status}:{reason}" for reason in dict.fromkeys(grade.reason for grade in failed)]
        cached = sum(grade is not None and grade.status == "cached" for grade in given)
        counts = {"in": len(given), "failed": len(failed), "cached": cached, "graded": len(judged) - cached}
        tags: dict[str, Any] = {"crag.grader.status": status, "crag.grader.failures": reasons or None}
        tags |= {f"crag.documents.{name}": count for name, count in counts.items()}
        pairs = list(zip(self.documents, given, strict=True))
        graded = [with_grade(document, grade) if grade is not None else document for document, grade in pairs]
        scores = [(d.id, grade.score) for d, grade in pairs if grade is not None and grade.status != "failed"]
        tell_grading(span, graded, scores, tags)
        metrics.grading_ended(grade.reason for grade in failed)
        if failed:
            logger.warning(
                "Ranking failed for {failed} of {total} documents, which keep the score 0.5: {reasons}",
                failed=len(failed),
                total=len(given),
                reasons=", ".join(reasons),
            )
        report = {**set_score_of(given), "reasons": reasons}
        return {
            "documents": graded,
            "scores": [g.score for g in given if g is not None],
            "status": status,
            "report": report,
        }


def _unit(score: float) -> float:
    if not -_ROUNDING <= score <= 1.0 + _ROUNDING:
        msg = f"a ranker with scale='unit' must give scores in [0, 1], but gave {score:g}; use scale='logit' with the "
        msg += "slope and the middle of its scores, or let the ranker scale them itself"
        raise ConfigurationError(msg)
    return min(1.0, max(0.0, float(score)))


def _logistic(value: float) -> float:
    # Beyond this `exp` overflows, and the curve has long reached its ends.
    return 1.0 / (1.0 + math.exp(-min(_STEEPEST, max(-_STEEPEST, value))))
