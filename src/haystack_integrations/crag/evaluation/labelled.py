"""Labelled lists: questions, what was retrieved for them, and what people say of it; read and measured once."""

from collections.abc import Sequence
from dataclasses import dataclass

from haystack_integrations.crag.judging.asking import Asked, Frequencies, ask, with_forms
from haystack_integrations.crag.judging.company import Measured, measure
from haystack_integrations.crag.judging.joining import Kind, questions_in
from haystack_integrations.crag.judging.meaning import meant_by
from haystack_integrations.crag.judging.reading import Reader, Reading


@dataclass(frozen=True)
class LabelledList:
    """
    A question, what was retrieved for it, and what people say of it.

    :param id: The question's name.
    :param question: The question.
    :param texts: Title and content of each document, in rank order.
    :param grades: For each of them 2 (answers), 1 (on topic) or 0.
    :param verdict: The right verdict on the list, by which a calibration is judged; None where nobody can say, or where
        another list of the question is judged.
    :param group: Questions of one group are never split.
    :param is_cut: Whether what answers was taken out: it then teaches only how a gap looks.
    :param needed: How many documents that answer make it correct: one, or all of a two-hop question's.
    :param lesson: The right verdict on a list that is fitted on and not judged: the same question's, of another length.
    :param names: The id of each document; empty numbers them.
    """

    id: str
    question: str
    texts: tuple[tuple[str, str], ...]
    grades: tuple[int, ...]
    verdict: str | None
    group: int
    is_cut: bool = False
    needed: int = 1
    lesson: str | None = None
    names: tuple[str, ...] = ()

    @property
    def taught(self) -> str | None:
        """The verdict that is fitted on; None of a list that teaches documents only."""
        return self.lesson if self.verdict is None else self.verdict


@dataclass(frozen=True)
class Prepared:
    """
    A labelled list, read and measured: what every fold needs and no label changes.

    :param source: The list, as it was labelled.
    :param asked: The question as it is meant, read.
    :param readings: Its documents.
    :param measured: Their signals as the list was retrieved, copies and all: what is fitted on.
    :param texts: Title and content of its documents, in the forms in which the question has its words.
    :param question: The question as it is meant.
    :param kind: What that holds.
    :param parts: What is judged of it, each in words and read; see `joining.questions_in`.
    """

    source: LabelledList
    asked: Asked
    readings: Sequence[Reading]
    measured: Measured
    texts: Sequence[tuple[str, str]]
    question: str
    kind: Kind
    parts: Sequence[tuple[str, Asked]]


def prepare(lists: Sequence[LabelledList], reader: Reader, frequencies: Frequencies) -> list[Prepared]:
    """
    Read and measure lists.

    :param lists: Labelled lists, each of at least one document.
    :param reader: What reads texts.
    :param frequencies: Document frequencies of the corpus.
    :returns: The same lists, measured.
    """
    return [_prepared(each, reader, frequencies) for each in lists]


def _prepared(each: LabelledList, reader: Reader, frequencies: Frequencies) -> Prepared:
    meant = meant_by(each.question, each.texts, reader, lambda _, *those: with_forms(frequencies, *those))
    kind, questions = questions_in(meant.question, meant.texts)
    read = {one: ask(one, meant.frequencies, reader.encoder) for one in (meant.question, *questions)}
    asked, parts = read[meant.question], [(one, read[one]) for one in questions]
    measured = measure(asked, meant.readings)
    return Prepared(each, asked, meant.readings, measured, meant.texts, meant.question, kind, parts)
