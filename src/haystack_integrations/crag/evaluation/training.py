"""From a data set to labelled lists: what a calibration is fitted on, checked for what would spoil it."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, Final

import orjson

from haystack_integrations.crag.corpus_statistics import CorpusStatistics, TermCounter, collect, read_statistics
from haystack_integrations.crag.errors import CalibrationError
from haystack_integrations.crag.evaluation.cases import ANSWERS, TOP_K, Case, Dataset, RankedList
from haystack_integrations.crag.evaluation.groups import FEWEST, group_numbers, wording
from haystack_integrations.crag.evaluation.labelled import LabelledList
from haystack_integrations.crag.evaluation.origins import is_labelled_by_model, labelled_from
from haystack_integrations.crag.evaluation.reading import QRELS, QUERIES
from haystack_integrations.crag.evaluation.rows import CORPUS
from haystack_integrations.crag.vocabulary import JUDGED

FEWEST_OF_A_KIND: Final = 8
RECOMMENDED: Final = 80
"""Questions that each of two verdicts must have, and with how many of all it does well."""

_SHOWN: Final = 3


def corpus_statistics(dataset: Dataset) -> CorpusStatistics:
    """
    Count the corpus of a data set.

    :param dataset: The data set.
    :returns: Its document frequencies, as an index of it would give them; of a corpus that is a part of a store, those
        of that store.
    """
    if dataset.statistics is not None:
        return read_statistics(dataset.statistics)
    return counted(dataset).statistics("store")


def counted(dataset: Dataset) -> TermCounter:
    """
    Count the terms of a data set's corpus.

    :param dataset: The data set.
    :returns: The counter.
    """
    return collect(f"{passage.title}\n{passage.text}" for passage in dataset.passages.values())


def labelled_lists(
    dataset: Dataset, ranked: Mapping[str, RankedList], *, judges_whole: bool = False
) -> list[LabelledList]:
    """
    Pair questions with lists and labels.

    A verdict on five documents is another thing than one on ten: what is fitted on one length only is less sure of the
    other. So both are fitted on; which of them is judged is said.

    :param dataset: The data set.
    :param ranked: The list of each question, by id.
    :param judges_whole: Whether whole lists are judged, as a pipeline hands them on, or their first five documents.
    :returns: By their wording, for each question the list that is judged, with its verdict; the other one, if there are
        more than five documents; and of both what is left without the documents that answer, as if the store did not
        have them.
    """
    groups, lists = group_numbers(dataset), []
    for case in dataset.ordered:
        if (found := ranked.get(case.id)) is None or not found.retrieved:
            continue
        for place, length in enumerate(_lengths(found.retrieved, judges_whole=judges_whole)):
            verdict = dataset.truth(case, found, length) if case.strict else None
            each = _labelled(dataset, case, found, length, verdict, groups[case.id])
            lists.append(replace(each, verdict=None, lesson=verdict) if place else each)
        rest = {name: grade for name, grade in zip(found.retrieved, case.grades(found), strict=True) if grade < ANSWERS}
        if case.strict and 0 < len(rest) < len(found.retrieved):
            left = replace(found, retrieved=tuple(rest), grades=tuple(rest.values()))
            for length in _lengths(rest):
                cut = _labelled(dataset, case, left, length, None, groups[case.id])
                lists.append(replace(cut, is_cut=True))
    return lists


def _lengths(listed: Collection[str], *, judges_whole: bool = False) -> list[int]:
    """Give the length of the beginning and of the whole, the one that is judged first; one where they are the same."""
    return sorted({min(TOP_K, len(listed)), len(listed)}, reverse=judges_whole)


def gap_lists(dataset: Dataset) -> list[LabelledList]:
    """
    Take the lists from which the evidence was removed.

    :param dataset: The data set.
    :returns: The first five documents of each, with the list's status in the place of a verdict.
    """
    groups, lists = group_numbers(dataset), []
    for case in dataset.ordered:
        if case.gap is not None and case.gap.retrieved and case.gap.status is not None:
            lists.append(_labelled(dataset, case, case.gap, TOP_K, case.gap.status, groups[case.id]))
    return lists


def _labelled(
    dataset: Dataset, case: Case, ranked: RankedList, first: int, verdict: str | None, group: int
) -> LabelledList:
    passages = [dataset.passages[name] for name in ranked.retrieved[:first]]
    texts = tuple((passage.title, passage.text) for passage in passages)
    # At least one: no document at all, of a question that none answers, would make every list correct.
    needed = max(1, len(set(case.gold))) if dataset.needs_all else 1
    grades = tuple(case.grades(ranked)[:first])
    names = tuple(ranked.retrieved[:first])
    return LabelledList(case.id, case.question, texts, grades, verdict, group, needed=needed, names=names)


def check_enough(lists: Sequence[LabelledList]) -> None:
    """
    Refuse what is too little to fit anything on.

    :param lists: Labelled lists.
    :raises CalibrationError: Saying how many questions are missing, and of which verdict.
    """
    counts = Counter(each.verdict for each in lists if each.verdict is not None)
    total = sum(counts.values())
    if total < FEWEST:
        msg = (
            f"a calibration needs {FEWEST} labelled questions and does well from {RECOMMENDED} on, but got {total}; "
            f"label {FEWEST - total} more, by hand or with `crag label`"
        )
        raise CalibrationError(msg)
    told = ", ".join(f"{counts[name]} {name}" for name in JUDGED)
    can_be_correct = counts["correct"] >= FEWEST_OF_A_KIND
    if not can_be_correct or sum(count >= FEWEST_OF_A_KIND for count in counts.values()) < 2:  # noqa: PLR2004
        answered = "the retrieved documents answer (labelled as gold, or with the grade 2: 1 is on topic only)"
        which = "the documents do not answer, as your users ask them" if can_be_correct else answered
        msg = (
            f"a calibration needs {FEWEST_OF_A_KIND} questions of each of two verdicts at least, one of them correct, "
            f"but got {told}; add questions that {which}"
        )
        raise CalibrationError(msg)
    sources = len({each.group for each in lists if each.verdict is not None})
    if sources < FEWEST_OF_A_KIND:
        msg = (
            f"a calibration needs questions about {FEWEST_OF_A_KIND} different sources at least, but these {total} are "
            f"about {sources}; add questions about other documents"
        )
        raise CalibrationError(msg)


def check_leaks(dataset: Dataset) -> None:
    """
    Refuse questions that stand in another split of the same folder, too: figures there would be no held-out figures.

    :param dataset: The data set, with the split that is fitted on.
    :raises CalibrationError: With some of the questions, and the way out.
    """
    for other in sorted(dataset.folder.iterdir()):
        if other.name == dataset.split or not (other / QUERIES).is_file() or _is_corrected(other, dataset):
            continue
        if shared := shared_with(dataset, other):
            msg = (
                f"{len(shared)} questions of split {dataset.split!r} stand in {other.name!r}, too, about the same "
                f"documents: {shared[:_SHOWN]}; what is fitted here would be judged there on what it has seen. "
                f"{_way_out(dataset, other)}"
            )
            raise CalibrationError(msg)


def shared_with(dataset: Dataset, other: Path) -> list[str]:
    """
    Find the questions that stand in another split, too.

    The same wording about other documents is another question ("What is the conclusion of this report?").

    :param dataset: The data set, with its split.
    :param other: Folder of the other split.
    :returns: Their ids here, in order.
    """
    own: dict[str, list[Case]] = {}
    for case in dataset.cases:
        own.setdefault(wording(case.question), []).append(case)
    same = [(case, gold, labelled) for asked, gold, labelled in _keys(other) for case in own.get(asked, ())]
    return sorted(
        {
            case.id
            for case, gold, labelled in same
            if not gold.isdisjoint(case.gold) or labelled == {*case.gold, *case.partial}
        }
    )


def _is_corrected(other: Path, dataset: Dataset) -> bool:
    """Tell whether people corrected what a model had labelled in another split: nobody measures on that any more."""
    return labelled_from(dataset.folder / dataset.split) == other.name and is_labelled_by_model(other)


def _way_out(dataset: Dataset, other: Path) -> str:
    """Say what to do; two labellings of the same questions, such as one by `crag label`, are not to be thinned out."""
    folder = dataset.folder
    if len({labelled_from(split) or split.name for split in (folder / dataset.split, other)}) > 1:
        return "Remove them from one of the two"
    away = folder.resolve().with_name(f"{dataset.name}-{other.name}")
    new, old = quote(str(away)), quote(str(other))
    beside = [folder / CORPUS, *([] if dataset.statistics is None else [dataset.statistics])]
    shared = " ".join(quote(str(path)) for path in beside)
    return (
        f"These are the same questions, labelled once more by `crag label`: to calibrate on {dataset.split!r}, put "
        f"{other.name!r} into a folder of its own (mkdir {new}; cp {shared} {new}; mv {old} {new}), and take no figure "
        f"on it for a held-out one"
    )


def _keys(split: Path) -> Iterable[tuple[str, set[str], set[str]]]:
    """
    Read the questions of another split, the documents that answer them, and all that are labelled for them.

    Any other line is that split's problem.
    """
    qrels: dict[str, dict[str, str]] = {}
    for entry in (split / QRELS).read_text("utf-8-sig", "replace").splitlines() if (split / QRELS).is_file() else ():
        name, id_, grade = (*entry.split("\t"), "", "")[:3]
        qrels.setdefault(name, {})[id_] = grade.strip()
    for line in (split / QUERIES).read_bytes().splitlines():
        try:
            row: dict[str, Any] = orjson.loads(line.removeprefix(BOM_UTF8))
            graded = qrels.get(row["id"], {})
            if "gold" not in row and not graded:  # not labelled: nothing is judged there
                continue
            gold = {*(row.get("gold") or ()), *(id_ for id_, grade in graded.items() if grade == "2")}
            labelled = {*gold, *(row.get("partial") or ()), *(id_ for id_, grade in graded.items() if grade == "1")}
            yield wording(row["question"]), gold, labelled
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
