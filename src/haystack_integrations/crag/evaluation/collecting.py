"""Questions of one's own and what a store finds for them, written as data that can be labelled."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from haystack import Document
from haystack.core.errors import PipelineRuntimeError

from haystack_integrations.crag.corpus_statistics import TermCounter, count_store, write_statistics
from haystack_integrations.crag.errors import ConfigurationError, QuestionError, SourceError, StoreError
from haystack_integrations.crag.evaluation.cases import Passage, Progress, RankedList
from haystack_integrations.crag.evaluation.questions import SENTENCES, Question
from haystack_integrations.crag.evaluation.reading import LISTS, QUERIES, STATISTICS, passages_of, split_folder
from haystack_integrations.crag.evaluation.retrieving import Retrieval
from haystack_integrations.crag.evaluation.rows import CORPUS, write_rows
from haystack_integrations.crag.evaluation.sheets import SHEET, write_sheet
from haystack_integrations.crag.metadata import title_of
from haystack_integrations.crag.whole_file import alone_in, cannot_write

_LOOKED_FOR: Final = 1_000  # documents of the corpus, in the store: one of them is enough


@dataclass(frozen=True)
class Collected:
    """
    What was found for questions.

    :param lists: What was retrieved for each question, by id.
    :param passages: The documents in these lists, by id.
    """

    lists: Mapping[str, RankedList]
    passages: Mapping[str, Passage]


def check_target(folder: Path, split: str) -> Path:
    """
    Refuse a place where something would be lost, before anything is asked.

    :param folder: Folder of the data set; it need not be there.
    :param split: Name of the split to write.
    :returns: The split's folder.
    :raises ConfigurationError: For a split that has questions, a corpus from elsewhere, no name of a folder, and a
        place that cannot be written to.
    """
    place = split_folder(folder, split)
    if (place / QUERIES).exists():
        msg = f"there are questions at {str(place / QUERIES)!r} already; choose another --split, or remove that one"
        raise ConfigurationError(msg)
    if (folder / CORPUS).exists() and not (folder / STATISTICS).is_file():
        msg = f"the corpus at {str(folder / CORPUS)!r} was not written by `crag collect`; choose another folder"
        raise ConfigurationError(msg)
    there = next(one for one in (place, *place.parents) if one.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        msg = f"nothing can be written to {str(place)!r}: {str(there)!r} is no folder that takes it; choose another one"
        raise ConfigurationError(msg)
    return place


def collect(questions: Sequence[Question], store: Any, retrieval: Retrieval, progress: Progress) -> Collected:
    """
    Ask a store.

    :param questions: The questions.
    :param store: The store.
    :param retrieval: A pipeline's retrieval from it.
    :param progress: Called after each question: number done, number of all, its id.
    :returns: What was found.
    :raises SourceError: For a question that no pipeline takes, or a label of a document that is not there; with its
        line.
    :raises StoreError: When the store cannot be searched in whole, or changes meanwhile.
    """
    lists: dict[str, RankedList] = {}
    passages: dict[str, Passage] = {}
    for number, question in enumerate(questions, 1):
        try:
            found = retrieval.of(question.text)
        except PipelineRuntimeError as error:
            if not isinstance(error.__cause__, QuestionError):
                raise
            msg = f"{question.place}: {error.__cause__}"
            raise SourceError(msg) from None
        names = found.retrieved
        passages |= _fetched(store, [name for name in {*names, *question.labelled} if name not in passages])
        if missing := [name for name in question.labelled if name not in passages or not passages[name].text.strip()]:
            got = f"a label of {missing[0]!r}, which the store does not have, or without a text"
            msg = f"{question.place}: got {got}; correct or remove it"
            raise SourceError(msg)
        if missing := sorted(set(names).difference(passages)):
            msg = f"the store found {missing[0]!r} and does not have it any more; run it again when nobody writes to it"
            raise StoreError(msg)
        # What has no text cannot be judged, nor be a document of the data.
        with_text = tuple(name for name in names if passages[name].text.strip())
        lists[question.id] = replace(found, retrieved=with_text)
        progress(number, len(questions), question.id)
    return Collected(lists, {name: one for name, one in passages.items() if one.text.strip()})


def _fetched(store: Any, names: Sequence[str]) -> dict[str, Passage]:
    """Fetch documents as they are stored: a pipeline may have shortened what it gave back."""
    if not names:
        return {}
    found: list[Document] = store.filter_documents({"field": "id", "operator": "in", "value": list(names)})
    return {one.id: Passage(one.id, title_of(one), one.content or "") for one in found}


def write_data(questions: Sequence[Question], collected: Collected, store: Any, place: Path) -> int:
    """
    Write what was collected: a corpus, word statistics of the whole store, a split, and a sheet for labels.

    :param questions: The questions.
    :param collected: What was found for them.
    :param store: The store; all of its documents are counted.
    :param place: Folder of the split; see `check_target`.
    :returns: How many documents the store has.
    :raises ConfigurationError: When the corpus is of another store, the split was written meanwhile, or a file cannot
        be written; the questions come last, so that it can be run again.
    :raises SourceError: When the corpus has another text of a document, from an earlier time.
    """
    _check_store(store, place.parent)
    counter = count_store(store)
    _make(place.parent)
    with alone_in(place.parent):
        check_target(place.parent, place.name)  # another command may have written it since
        _write(questions, collected, counter, place)
    return counter.documents


def _check_store(store: Any, folder: Path) -> None:
    """Refuse another store than that of the corpus: its word statistics would be those of all splits from then on."""
    known = passages_of(folder / CORPUS) if (folder / CORPUS).exists() else {}
    if known and not _fetched(store, [*known][:_LOOKED_FOR]):
        msg = (
            f"none of the documents in {str(folder / CORPUS)!r} is in this index: they were collected from another "
            "one, or before all of this one changed; choose another folder"
        )
        raise ConfigurationError(msg)


def _write(questions: Sequence[Question], collected: Collected, counter: TermCounter, place: Path) -> None:
    folder, shown = place.parent, [(one.text, collected.lists[one.id].retrieved, ()) for one in questions]
    known = passages_of(folder / CORPUS) if (folder / CORPUS).exists() else {}
    corpus = {**known, **{name: _unchanged(folder, known, one) for name, one in collected.passages.items()}}
    _make(place)
    write_statistics(counter, folder / STATISTICS)
    write_rows(folder / CORPUS, [{"id": one.id, "title": one.title, "text": one.text} for one in corpus.values()])
    lists = ((name, own.retrieved, own.retrievers) for name, own in collected.lists.items())
    write_rows(place / LISTS, [{"id": name, "retrieved": [*ids], "retrievers": [*by]} for name, ids, by in lists])
    write_sheet(place / SHEET, shown, corpus)
    told = [{name: value for name, value in one.values.items() if name != SENTENCES} for one in questions]
    write_rows(place / QUERIES, told)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None


def _unchanged(folder: Path, known: Mapping[str, Passage], passage: Passage) -> Passage:
    before = known.get(passage.id, passage)
    if (before.title, before.text) != (passage.title, passage.text):
        msg = (
            f"the store has another text of {passage.id!r} than {str(folder / CORPUS)!r}, where labels may be about "
            "the old one; choose another folder"
        )
        raise SourceError(msg)
    return before
