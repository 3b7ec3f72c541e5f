"""Labelled questions and the lists that were retrieved for them, as the evaluation knows them; `reading` reads them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.texts.steering import whole
from haystack_integrations.crag.vocabulary import SPENT, Judged

Label = Judged

Record = dict[str, Any]
"""What became of a question, as an evaluation writes it down; `measures` says what it holds."""
Progress = Callable[[int, int | None, str], None]
"""Called with the number of things done, how many there are if known, and the name of the last one."""

ANSWERS: Final = 2
ON_TOPIC: Final = 1
"""The grade of a document that answers, and of one that is on topic; 0 is neither."""

TOP_K: Final = 5
"""A verdict is about the first documents of a list, unless another number is asked for; so are strips."""

STATUSES: Final = ("gap", "covered", "partial", "no_gold")
"""What was removed for a question: all documents that answer, none, some; or there never was one. Two are scored."""


@dataclass(frozen=True, slots=True)
class Passage:
    """
    A document of the corpus.

    :param id: Its id.
    :param title: Its title, empty without one.
    :param text: Its text.
    :param sentences: Its sentences, to which `gold_sentences` count; None: as this package cuts them.
    """

    id: str
    title: str
    text: str
    sentences: tuple[str, ...] | None = None

    def document(self) -> Document:
        """
        Make a document of it.

        :returns: The document as a pipeline is given it, in whichever way it is retrieved.
        """
        return Document(id=self.id, content=self.text, meta={"title": self.title})


@dataclass(frozen=True, slots=True)
class RankedList:
    """
    What was retrieved for a question.

    :param retrieved: Ids in rank order.
    :param grades: The grade of each, where the file has them.
    :param labels: The label of the first k, by k, where the file has it.
    :param status: Of a list from which evidence was removed: one of `STATUSES`.
    :param line: The line of its file; 0 for one that is not from a file.
    :param retrievers: The names of those that found it, where they are known.
    """

    retrieved: tuple[str, ...]
    grades: tuple[int, ...] | None = None
    labels: Mapping[int, Label] | None = None
    status: str | None = None
    line: int = field(default=0, compare=False)
    retrievers: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """
    A labelled question.

    :param id: Its id.
    :param question: The question.
    :param answers: Accepted answers.
    :param gold: Ids of documents that answer it (grade 2).
    :param partial: Ids of documents on its topic that do not suffice (grade 1).
    :param gold_sentences: Sentences that answer it, each document id and number from 0.
    :param strict: Whether it counts in the scores of verdicts.
    :param fixed: The list that comes with the data.
    :param gap: The list after evidence was removed from the corpus.
    :param listed: Grades by id that stand in the lists of the data only, and hold in any other list, too.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    gold_sentences: frozenset[tuple[str, int]] = frozenset()
    strict: bool = True
    fixed: RankedList | None = None
    gap: RankedList | None = None
    listed: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the grades of the lists: others may take the lists' place."""
        lists = [ranked for ranked in (self.gap, self.fixed) if ranked is not None and ranked.grades]
        new = {
            id_: grade for ranked in lists for id_, grade in zip(ranked.retrieved, ranked.grades or (), strict=False)
        }
        object.__setattr__(self, "listed", {**self.listed, **new})

    def grade(self, document: str) -> int:
        """
        Look up a document's grade.

        :param document: Its id.
        :returns: 2: it answers; 1: on topic; 0: neither, or not labelled.
        """
        return ANSWERS if document in self.gold else self.listed.get(document, ON_TOPIC * (document in self.partial))

    def grades(self, ranked: RankedList) -> tuple[int, ...]:
        """
        Grade a list.

        :param ranked: A list for this question.
        :returns: One grade per document: the file's own, else by the labels of the question.
        """
        return ranked.grades or tuple(self.grade(document) for document in ranked.retrieved)


@dataclass(frozen=True)
class Dataset:
    """
    A corpus and one split of its labelled questions.

    :param folder: Where it was read.
    :param split: Name of the split.
    :param passages: The corpus by id.
    :param cases: The questions, in the file's order.
    :param needs_all: Whether a list is correct with all gold documents only (two-hop questions), not with any of them.
    :param doubts: What may be a mistake in the data and is not refused, a sentence for each kind.
    :param statistics: File of the document frequencies of the store that the corpus is a part of; None for a whole one.
    """

    folder: Path
    split: str
    passages: Mapping[str, Passage]
    cases: tuple[Case, ...]
    needs_all: bool = False
    doubts: tuple[str, ...] = ()
    statistics: Path | None = None

    @property
    def name(self) -> str:
        """Name of the data set: that of its folder."""
        # With one of another encoding than UTF-8 no result could be written, and hours of judging would end at that.
        return whole(self.folder.resolve().name)

    @property
    def ordered(self) -> list[Case]:
        """The questions by their wording: what is fitted on them must not depend on where they stand in a file."""
        return sorted(self.cases, key=lambda case: (case.question, case.id))

    def depth(self, usual: int) -> int:
        """
        Count the documents of a list that are judged, or labelled.

        :param usual: How many in most data.
        :returns: As many, but of what a pipeline's own search found all, as it judges them.
        """
        lists = (case.fixed for case in self.cases)
        return usual if self.statistics is None else max((len(one.retrieved) for one in lists if one), default=usual)

    def truth(self, case: Case, ranked: RankedList, top_k: int) -> Label:
        """
        Tell the true verdict of the beginning of a list.

        :param case: The question.
        :param ranked: A list for it.
        :param top_k: How many documents count.
        :returns: The file's own label, else what follows from the grades.
        """
        return (ranked.labels or {}).get(top_k) or label(case, ranked, top_k, needs_all=self.needs_all)


def label(case: Case, ranked: RankedList, top_k: int, *, needs_all: bool) -> Label:
    """
    Label the beginning of a list by its grades.

    :param case: The question.
    :param ranked: A list for it.
    :param top_k: How many documents count.
    :param needs_all: All, some or none of the gold documents decide, in place of the best grade.
    :returns: The true verdict.
    """
    if needs_all:
        missing = set(case.gold).difference(ranked.retrieved[:top_k])
        return "incorrect" if len(missing) == len(set(case.gold)) else "ambiguous" if missing else "correct"
    return label_of_grades(case.grades(ranked)[:top_k])


def label_of_grades(grades: Iterable[int], needed: int = 1) -> Label:
    """
    Label a list by the grades of its documents alone.

    :param grades: 2 (answers), 1 (on topic) or 0.
    :param needed: How many that answer make it correct.
    :returns: The true verdict.
    """
    found = list(grades)
    if sum(grade >= ANSWERS for grade in found) >= needed:
        return "correct"
    return "ambiguous" if any(grade >= ON_TOPIC for grade in found) else "incorrect"


# What is read of a record, and of its parts: of which kind each must be.
_TEXT, _NUMBER, _MAPPING = (str, NoneType), (float, int, NoneType), (dict, NoneType)
_OF_BOTH: Final = {"id": (str,), "error": _TEXT, "cost": (dict,)}
_LABELLED: Final = {"retrieved": (list,), "grades": (list, NoneType)}
_JUDGED: Final = {
    **{"question": (str,), "strict": (bool,), "score": _NUMBER, "documents": (list,)},
    **dict.fromkeys(("label", "verdict", "rule", "action"), _TEXT),
    **dict.fromkeys(("probabilities", "strips", "support", "gap"), _MAPPING),
}
_COST: Final = dict.fromkeys(SPENT, _NUMBER)
_DOCUMENT: Final = {"id": (str,), "title": (str,), "label": (int, NoneType), "score": _NUMBER, "kept": (bool,)}
_GAP: Final = {"status": _TEXT, "verdict": _TEXT, "score": _NUMBER}


def is_record(values: Mapping[str, Any]) -> bool:
    """
    Tell whether a line that was read is a record, as an evaluation or a labelling writes it.

    :param values: The line's values.
    :returns: Whether it has all that is read of one, each of its kind.
    """
    parts = [(values, _OF_BOTH | (_LABELLED if "grades" in values else _JUDGED)), (values.get("cost"), _COST)]
    parts += [(one, _DOCUMENT) for one in values.get("documents") or ()] if _has(*parts[0]) else []
    parts += [(values["gap"], _GAP)] if values.get("gap") is not None else []
    return all(_has(*part) for part in parts) and all(isinstance(one, _NUMBER) for one in values["cost"].values())


def _has(part: object, kinds: Mapping[str, tuple[type, ...]]) -> bool:
    return isinstance(part, dict) and all(name in part and isinstance(part[name], kind) for name, kind in kinds.items())
