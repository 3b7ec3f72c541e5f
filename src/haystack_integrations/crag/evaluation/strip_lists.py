"""Labelled lists for the sentence model, measured once, and what a choice of their strips keeps of the labels."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.evaluation.cases import TOP_K, Dataset
from haystack_integrations.crag.evaluation.strips import Sentences, Span
from haystack_integrations.crag.judging.heads import Values
from haystack_integrations.crag.refining.signals import SIGNALS, measure
from haystack_integrations.crag.refining.strips import Strip, decompose


@dataclass(frozen=True)
class StripList:
    """
    A question with labelled sentences, and what was retrieved for it.

    :param question: The question.
    :param texts: Title and content of each document, in rank order.
    :param sentences: For each document its sentences: start, end, number of words; an empty one ends where it starts.
    :param gold: Labelled sentences of these documents: number of the document, number of the sentence.
    :param labelled: The number of all labelled sentences, also of documents that were not retrieved.
    :param group: Questions of one group are never split.
    """

    question: str
    texts: tuple[tuple[str, str], ...]
    sentences: tuple[tuple[Span, ...], ...]
    gold: frozenset[tuple[int, int]]
    labelled: int
    group: int


@dataclass(frozen=True)
class Measured:
    """
    A list, measured: what every fold needs and no label changes.

    :param group: As in its list.
    :param table: Signals; shape (strips, `SIGNALS`).
    :param evidence: Which strips overlap a labelled sentence.
    :param parts: For each sentence the strips that hold it.
    :param gold: Which sentences are labelled.
    :param words: Words of each sentence.
    :param labelled: As in its list.
    :param strips: The strips.
    """

    group: int
    table: Values
    evidence: NDArray[np.bool_]
    parts: tuple[tuple[int, ...], ...]
    gold: NDArray[np.bool_]
    words: NDArray[np.int64]
    labelled: int
    strips: tuple[Strip, ...]

    @property
    def documents(self) -> list[int]:
        """Give the number of the document of each strip."""
        return [strip.document for strip in self.strips]


@dataclass(frozen=True)
class Kept:
    """
    What is kept of lists.

    :param hits: Labelled sentences that are kept.
    :param kept: Sentences that are kept.
    :param found: Labelled sentences in the lists.
    :param labelled: Labelled sentences.
    :param words_kept: Words of sentences that are kept.
    :param words_in: Words of all sentences.
    """

    hits: int = 0
    kept: int = 0
    found: int = 0
    labelled: int = 0
    words_kept: int = 0
    words_in: int = 0

    def __add__(self, other: "Kept") -> "Kept":
        """Count together."""
        return Kept(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def measures(self) -> dict[str, float]:
        """
        Give micro measures; `recall_of_found` is that of sentences that were retrieved at all.

        :returns: `precision`, `recall`, `f1`, `recall_of_found`, `words_kept`.
        """
        values = {
            "precision": self.hits / max(1, self.kept),
            "recall": self.hits / max(1, self.labelled),
            "f1": 2 * self.hits / max(1, self.kept + self.labelled),
            "recall_of_found": self.hits / max(1, self.found),
            "words_kept": self.words_kept / max(1, self.words_in),
        }
        return {name: round(value, 4) for name, value in values.items()}


def strip_lists(dataset: Dataset, groups: Sequence[int]) -> list[StripList]:
    """
    Take the lists of a data set whose questions have labelled sentences.

    :param dataset: The data, with fixed lists.
    :param groups: The group of each of its cases.
    :returns: Their lists: of each the first documents, as a verdict is about.
    """
    places, found = Sentences(dataset.passages), []
    for case, group in zip(dataset.cases, groups, strict=True):
        names = case.fixed.retrieved[:TOP_K] if case.fixed is not None else ()
        if not case.gold_sentences or not names:
            continue
        texts = tuple((dataset.passages[name].title, dataset.passages[name].text) for name in names)
        gold = frozenset((names.index(name), number) for name, number in case.gold_sentences if name in names)
        sentences = tuple(tuple(places.of(name)) for name in names)
        found.append(StripList(case.question, texts, sentences, gold, len(case.gold_sentences), group))
    return found


def measured(labelled: StripList) -> Measured:
    """
    Measure a list, and lay its strips on its sentences.

    :param labelled: A list.
    :returns: The same, measured.
    """
    titles = [title for title, _ in labelled.texts]
    strips = decompose([content for _, content in labelled.texts], "sentence", 1, titles)  # as a refiner cuts them
    table = np.zeros((0, len(SIGNALS)))
    if strips:
        signals = measure(labelled.question, strips, titles, load_encoder())
        table = np.column_stack([signals[name] for name in SIGNALS])
    parts, gold, words = [], [], []
    evidence = np.zeros(len(strips), dtype=bool)
    for document, sentences in enumerate(labelled.sentences):
        own = [(number, strip) for number, strip in enumerate(strips) if strip.document == document]
        for number, (start, end, size) in enumerate(sentences):
            part = _overlapping(own, start, end)
            if part:
                parts.append(part)
                gold.append((document, number) in labelled.gold)
                words.append(size)
                evidence[list(part)] |= gold[-1]
    return Measured(
        group=labelled.group,
        table=table,
        evidence=evidence,
        parts=tuple(parts),
        gold=np.array(gold, dtype=bool),
        words=np.array(words, dtype=np.int64),
        labelled=labelled.labelled,
        strips=tuple(strips),
    )


def count_kept(each: Measured, is_kept: NDArray[np.bool_]) -> Kept:
    """
    Count what a choice of strips keeps; a sentence is kept when all strips that hold it are.

    :param each: A measured list.
    :param is_kept: Which of its strips are kept.
    :returns: The counts.
    """
    kept = np.array([all(is_kept[k] for k in part) for part in each.parts], dtype=bool)
    hits, found = int((kept & each.gold).sum()), int(each.gold.sum())
    return Kept(hits, int(kept.sum()), found, each.labelled, int(each.words[kept].sum()), int(each.words.sum()))


def _overlapping(strips: Sequence[tuple[int, Strip]], start: int, end: int) -> tuple[int, ...]:
    return tuple(number for number, strip in strips if strip.start < end and strip.end > start)
