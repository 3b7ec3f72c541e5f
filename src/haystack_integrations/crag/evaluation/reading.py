"""Read a data folder, check all of it, and say in one error what is wrong and where."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from haystack_integrations.crag.errors import ConfigurationError, SourceError
from haystack_integrations.crag.evaluation.agreement import (
    first_of,
    needs_all,
    stopped_at_answers,
    unexplained,
    unlike_copies,
)
from haystack_integrations.crag.evaluation.cases import ANSWERS, ON_TOPIC, STATUSES, Case, Dataset, Passage, RankedList
from haystack_integrations.crag.evaluation.raw_files import plain_text, refuse_packed
from haystack_integrations.crag.evaluation.rows import CORPUS, Row, rows

QUERIES, QRELS, LISTS, GAPS = SPLIT_FILES = (
    "queries.jsonl",
    "qrels.tsv",
    "bm25_top10.jsonl",
    "gap_bm25_top10.jsonl",
)
"""What is read of a split's folder; only the first must be there."""

STATISTICS: Final = "store_statistics.json"
"""Beside a corpus that is a part of a store: the word statistics of all of that store. `crag collect` writes both."""

LEAST_QUESTIONS: Final = 10
"""With fewer, one question more or less moves every measure by a tenth."""

# Bytes of a file's name, on the usual file systems.
_LONGEST_NAME: Final = 255
_STATUS: Final = 'write "gap" where all documents that answer are removed, "covered" where none of them is'
_CORRECT: Final = "correct one of the two"


def read_dataset(folder: str | Path, split: str, *, labelled: bool = True, least: int = LEAST_QUESTIONS) -> Dataset:
    """
    Read a data folder.

    `corpus.jsonl` holds `{"id", "text"}`, and may hold `title` and `sentences`; `SPLIT/queries.jsonl` holds `{"id",
    "question", "gold"}`, and may hold `partial`, `answers`, `gold_sentences` and `strict`; in place of `gold` and
    `partial` there may be `SPLIT/qrels.tsv`. The lists `bm25_top10.jsonl` and `gap_bm25_top10.jsonl` are optional.

    :param folder: The folder of the set.
    :param split: The folder of the split in it.
    :param labelled: Whether every question must have its labels.
    :param least: How many questions there must be.
    :returns: The data, checked.
    :raises SourceError: With the file, the line, and what to do.
    """
    folder, split = Path(folder), str(Path(split))  # `dev/`, as a shell completes it, is the split `dev`
    place = folder / split
    try:
        _check_folders(folder, place)
        passages = passages_of(folder / CORPUS)
        cases, doubts = _cases(place, passages, labelled=labelled)
        if len(cases) < least:
            few = "1 question" if len(cases) == 1 else f"{len(cases)} questions"
            msg = f"{place / QUERIES}: got {few}, wanted at least {least}; label more before measuring"
            raise SourceError(msg)
        lists = _lists(place / LISTS, cases, passages, {})
        gaps = _lists(place / GAPS, cases, passages, lists)
    except OSError as error:
        msg = f"the data in {str(folder)!r} cannot be read ({error}); make the files readable"
        raise SourceError(msg) from None
    whole = tuple(replace(case, fixed=lists.get(case.id), gap=gaps.get(case.id)) for case in cases.values())
    known = folder / STATISTICS
    data = Dataset(
        folder,
        split,
        passages,
        whole,
        needs_all(whole),
        statistics=known if known.is_file() else None,
    )
    if not labelled:
        return data
    told = [unexplained(place / LISTS, whole, needs_all=data.needs_all), _unanswered(whole)]
    told += [unlike_copies(whole, passages), stopped_at_answers(place / LISTS, whole)]
    if doubts:
        told.append(f"{len(doubts)} in doubt of the labels ({first_of(doubts)}); correct what is there by mistake")
    return replace(data, doubts=tuple(doubt for doubt in told if doubt is not None))


def split_folder(folder: Path, name: str) -> Path:
    """
    Name the folder of a split that is to be written.

    :param folder: The folder of the set.
    :param name: The name of the split.
    :returns: The folder; it need not be there.
    :raises ConfigurationError: For what is no name of a folder in that of the set.
    """
    if name in ("", "..") or Path(name).name != name or len(os.fsencode(name)) > _LONGEST_NAME:
        msg = f"got {name!r}, wanted the name of a split, a folder in {str(folder)!r}"
        raise ConfigurationError(msg)
    return folder / name


def _unanswered(cases: tuple[Case, ...]) -> str | None:
    """Doubt that there is no answer at all: others' files often mark it by 1, which is on topic only here."""
    if any(case.gold or ANSWERS in case.listed.values() for case in cases):
        return None
    marked = sum(bool(case.partial) for case in cases)
    return (
        f"no document answers any of the {len(cases)} questions, and {marked} have one that is on topic only (the "
        "grade 1, or partial), so none can be correct; what answers has the grade 2, or stands in gold"
    )


def _check_folders(folder: Path, place: Path) -> None:
    msg = ""
    if not folder.is_dir():
        msg = f"no folder at {str(folder)!r}; pass the folder of a data set, with {CORPUS} in it"
    elif not (place / QUERIES).is_file():
        found = sorted(path.parent.name for path in folder.glob(f"*/{QUERIES}"))
        way_out = f"choose --split from {found}" if found else 'write one {"id", "question", "gold"} a line into it'
        msg = f"no questions at {str(place / QUERIES)!r}; {way_out}"
    elif not (folder / CORPUS).is_file():
        msg = f'no corpus at {str(folder / CORPUS)!r}; write one {{"id", "title", "text"}} a line into it'
    refuse_packed(folder / CORPUS, *(place / name for name in SPLIT_FILES))
    if msg:
        raise SourceError(msg)


def passages_of(path: Path) -> dict[str, Passage]:
    """
    Read a corpus.

    :param path: Its file.
    :returns: The documents by id.
    :raises SourceError: With the line that is none.
    """
    found: dict[str, Passage] = {}
    for row in rows(path):
        name = row.name(found)
        sentences = None if row.values.get("sentences") is None else row.names("sentences")
        found[name] = Passage(name, str(row.values.get("title") or ""), row.text("text"), sentences)
    return found


def _cases(place: Path, passages: Mapping[str, Passage], *, labelled: bool) -> tuple[dict[str, Case], list[str]]:
    """Read the questions, and what is in doubt of their labels."""
    found: dict[str, Case] = {}
    doubts: list[str] = []
    qrels, lines = _qrels(place / QRELS, passages) if (place / QRELS).is_file() else ({}, {})
    for row in rows(place / QUERIES):
        name = row.name(found)
        if "gold" in row.values or not (labelled or qrels):
            if labelled and row.values["gold"] is None:
                row.refuse("null as gold", "the ids of the documents that answer", "write [] where none does")
            gold, partial = (row.known(key, passages) for key in ("gold", "partial"))
            for both in sorted(set(gold).intersection(partial)):
                row.refuse(f"{both!r} as gold and as partial", "each document in one of them", "remove one of the two")
            own = {**dict.fromkeys(partial, ON_TOPIC), **dict.fromkeys(gold, ANSWERS)}
            _check_qrels(row, own, qrels.get(name, {}))
        elif qrels:
            grades = qrels.get(name, {})
            gold, partial = (tuple(one for one, grade in grades.items() if grade == at) for at in (ANSWERS, ON_TOPIC))
        else:
            row.refuse("no gold", "the ids of the documents that answer, [] for none", f"write them, or fill {QRELS}")
        found[name] = Case(
            name,
            row.text("question"),
            row.names("answers"),
            gold,
            partial,
            row.sentences(passages),
            strict=row.strict(),
        )
        doubts += row.doubts
    for question, number in lines.items() if found else ():  # without questions, none of its lines is what is wrong
        Row(place / QRELS, number, {}).check(question, found, f"a question of {QUERIES}")
    return found, doubts


def _check_qrels(row: Row, grades: Mapping[str, int], qrels: Mapping[str, int]) -> None:
    """Doubt a question whose own grades and judgements differ: of the two, only its own count."""
    for document, judged in qrels.items():
        own = grades.get(document, 0)
        if own != judged:
            row.doubt(
                f"{document!r} has the grade {own} (gold is 2, partial 1), but {judged} in {QRELS}, which is not used"
            )


def _qrels(path: Path, passages: Mapping[str, Passage]) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Read grades by question and document, and the first line of each question."""
    found: dict[str, dict[str, int]] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(plain_text(path).splitlines(), 1):
        match line.split("\t"):
            case [question, document, ("0" | "1" | "2") as grade]:
                row = Row(path, number, {})
                row.check(document, passages)
                lines.setdefault(question, number)
                known = found.setdefault(question, {}).setdefault(document, int(grade))
                if known != int(grade):
                    got = f"the grade {grade} after {known} for {document!r}"
                    row.refuse(got, "one grade", "remove one of the two")
            case [*_, "grade"] if number == 1:
                continue
            case _ if line.strip():
                wanted = "query_id, doc_id and a grade of 0, 1 or 2, with tabs between them"
                Row(path, number, {}).refuse("another line", wanted, "correct or remove it")
    return found, lines


def _lists(
    path: Path, cases: Mapping[str, Case], passages: Mapping[str, Passage], others: Mapping[str, RankedList]
) -> dict[str, RankedList]:
    found: dict[str, RankedList] = {}
    if not path.is_file():
        return found
    for row in rows(path):
        name = row.name(found)
        row.check(name, cases, f"a question of {QUERIES}")
        found[name] = row.ranked(passages)
        if path.name == GAPS and found[name].status is None:
            row.refuse("no status", f"one of {list(STATUSES)}", _STATUS)
        _check_grades(row, found[name], cases[name], others.get(name))
    missing = [name for name in cases if name not in found]
    if missing:
        msg = (
            f"{path}: got no list for {len(missing)} questions, the first is {missing[0]!r}; add them or drop the file"
        )
        raise SourceError(msg)
    return found


def _check_grades(row: Row, ranked: RankedList, case: Case, other: RankedList | None) -> None:
    """Refuse a grade that contradicts another one of the same document for the same question."""
    own = f"{QUERIES} or {QRELS}"
    labels = {**dict.fromkeys(case.partial, (ON_TOPIC, own)), **dict.fromkeys(case.gold, (ANSWERS, own))}
    if other is not None and other.grades:
        listed = zip(other.retrieved, other.grades, strict=True)
        labels = {**{document: (grade, LISTS) for document, grade in listed}, **labels}
    for document, grade in zip(ranked.retrieved, ranked.grades or (), strict=False):
        known, file = labels.get(document, (grade, ""))
        if known != grade:
            row.refuse(f"the grade {grade} of {document!r}, which has {known} in {file}", "one grade", _CORRECT)
