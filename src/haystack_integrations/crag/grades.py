"""Grades of documents: one number in [0, 1] for one document against the original question, kept in its metadata."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Real
from typing import Any, Final, cast, get_args
from unicodedata import normalize

from haystack import Document, logging

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.vocabulary import FAILED_SCORE, META_KEY, GradeStatus

logger = logging.getLogger(__name__)

_STATUSES: Final = get_args(GradeStatus)


def _is_grade(score: object, status: object) -> bool:
    # Of Python's own floats, which nearly all are, there is no need to ask what kind of number they are.
    is_number = type(score) is float or (isinstance(score, Real) and not isinstance(score, bool))
    return is_number and 0 <= cast("float", score) <= 1 and status in _STATUSES


def question_id(question: str) -> str:
    """
    Name a question without showing it: 16 hex digits, equal for equal questions.

    :param question: The user's original question.
    :returns: The identifier that ties a grade to the question it was given for.
    """
    # A lone surrogate passes: replaced, it would make two questions one.
    return sha256(normalize("NFC", question.strip()).encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Grade:
    """
    The judgement of one document against one question.

    :param score: In [0, 1]; 0.5 where the judgement failed.
    :param status: Where the score comes from; see `GradeStatus`.
    :param grader: Who spoke, for example `BatchRelevanceGrader` or `rule:few_context`.
    :param question: `question_id` of the question it was judged against.
    :param reason: Why, in the grader's words; or the kind of failure.
    :param opinion: In [0, 1], what a cheaper grader thought before this one was asked; None without one.
    :raises ConfigurationError: For another score, status or opinion: read by nobody, it would pass for none at all.
    """

    score: float
    status: GradeStatus
    grader: str
    question: str
    reason: str | None = None
    opinion: float | None = None

    def __post_init__(self) -> None:
        """Check what anybody's grader may have written."""
        if not (_is_grade(self.score, self.status) and (self.opinion is None or _is_grade(self.opinion, self.status))):
            msg = (
                f"got the score {self.score!r}, status {self.status!r} and opinion {self.opinion!r}, wanted a number "
                f"from 0 to 1 and one of {list(_STATUSES)}, for the opinion likewise or None; divide by the scale's end"
            )
            raise ConfigurationError(msg)
        for name, value in (("score", self.score), ("opinion", self.opinion)):
            if value is not None and type(value) is not float:
                object.__setattr__(self, name, float(value))  # NumPy's own numbers are no JSON

    def to_dict(self) -> dict[str, Any]:
        """
        Give the grade as plain JSON.

        :returns: Its fields by name; `opinion` only where there is one.
        """
        return {name: value for name, value in vars(self).items() if name != "opinion" or value is not None}

    @classmethod
    def failed(cls, grader: str, question: str, reason: str) -> "Grade":
        """
        Make the grade of a document that could not be judged.

        :param grader: Who tried.
        :param question: `question_id` of the question.
        :param reason: The kind of failure, for example `timeout`.
        :returns: A grade of 0.5 with status `failed`.
        """
        return cls(FAILED_SCORE, "failed", grader, question, reason)


def crag_meta(document: Document) -> dict[str, Any]:
    """
    Read what this package knows about a document.

    :param document: Any document.
    :returns: A copy of `meta["crag"]`, empty when there is none.
    """
    value = document.meta.get(META_KEY)
    return dict(value) if isinstance(value, dict) else {}


def origin_of(document: Document) -> str:
    """
    Tell where a document comes from.

    :param document: Any document.
    :returns: `web`, or `index` also of one that nothing says it of.
    """
    return str(crag_meta(document).get("origin", "index"))


def annotate(document: Document, **values: Any) -> Document:
    """
    Write into `meta["crag"]` of a copy; the given document stays as it is.

    :param document: Any document.
    :param values: The entries to set.
    :returns: A document with the same id and content.
    """
    return replace(document, meta={**document.meta, META_KEY: {**crag_meta(document), **values}})


def with_grade(document: Document, grade: Grade) -> Document:
    """
    Attach a grade to a copy of a document.

    :param document: The document that was judged.
    :param grade: Its grade.
    :returns: A document with the grade in `meta["crag"]`; `document.score` stays the retriever's.
    """
    return annotate(document, **grade.to_dict())


def grade_of(document: Document, question: str | None = None) -> Grade | None:
    """
    Read the grade of a document.

    :param document: Any document.
    :param question: `question_id`; a grade given for another question does not count. None accepts any.
    :returns: The grade, or None when the document has none (for this question).
    """
    meta = document.meta.get(META_KEY)
    if not isinstance(meta, dict) or not _is_grade(meta.get("score"), meta.get("status")):
        return None  # metadata is anybody's: what no grader writes is no grade
    if question is not None and meta.get("question") != question:
        return None
    opinion, reason = meta.get("opinion"), meta.get("reason")
    return Grade(
        score=float(meta["score"]),
        status=meta["status"],
        grader=str(meta.get("grader", "")),
        question=str(meta.get("question", "")),
        reason=None if reason is None else str(reason),  # a date is no JSON, and records are
        opinion=None if opinion is None or not _is_grade(opinion, "graded") else float(opinion),
    )


def taken_up(documents: Iterable[Document], question: str) -> list[Document]:
    """
    Tie grades that name no question, as somebody's own grader may write them, to the question at hand; take off others.

    :param documents: Documents as a router gets them; one with a grade that is none is left ungraded, with a warning.
    :param question: `question_id` of the question.
    :returns: The documents, with copies of those whose grade is one for this question from now on, or none any more:
        on record it would pass for this question's.
    """
    taken, strange = [], []
    for document in documents:
        meta = crag_meta(document)
        grade = grade_of(document)
        tied = annotate(document, question=question) if grade and not meta.get("question") else document
        taken.append(without_grade(tied) if grade and crag_meta(tied).get("question") != question else tied)
        if grade is None and "score" in meta:
            strange.append({name: meta.get(name) for name in ("score", "status")})
    if strange:
        logger.warning(
            "{count} documents have a grade that is none, such as {grade}: a score is a number from 0 to 1, a status "
            "one of {statuses}",
            count=len(strange),
            grade=str(strange[0])[:80],
            statuses=list(_STATUSES),
        )
    return taken


def without_grade(document: Document) -> Document:
    """
    Take away a grade that a document brought along, from a store for example: nobody gave it in this run.

    :param document: A document as it was retrieved.
    :returns: It, or a copy without what `with_grade` attaches.
    """
    meta = crag_meta(document)
    rest = {name: value for name, value in meta.items() if name not in Grade.__dataclass_fields__}
    return document if len(rest) == len(meta) else replace(document, meta={**document.meta, META_KEY: rest})


def set_score_of(grades: Iterable[Grade | None]) -> dict[str, float]:
    """
    Score a set by its best document: one that answers is enough. What was not judged says nothing.

    :param grades: The grades of its documents.
    :returns: `set_score`, as a grader's report has it; empty where no document was judged.
    """
    judged = [grade.score for grade in grades if grade is not None and grade.status != "failed"]
    return {"set_score": max(judged)} if judged else {}


def is_refined(document: Document) -> bool:
    """
    Tell whether a document was left only some of its strips.

    :param document: Any document.
    :returns: Whether a refinement has changed its text.
    """
    return "strips" in crag_meta(document)


def unite(first: Iterable[Document], *others: Iterable[Document]) -> list[Document]:
    """
    Join lists of documents, each once, in the order of first appearance.

    :param first: The list whose version of a document wins.
    :param others: Further lists.
    :returns: One list: no id of an earlier list again, and of one list none again with the same text. Two texts of one
        id in one list, as two stores may give them, are two documents.
    """
    united: dict[tuple[str, str | None], Document] = {}
    for documents in (first, *others):
        earlier = {id_ for id_, _ in united}
        for document in documents:
            if document.id not in earlier:
                united.setdefault((document.id, document.content), document)
    return list(united.values())
