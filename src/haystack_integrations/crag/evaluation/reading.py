"""Read a data folder, check all of it, and say in one error what is wrong and where."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn

import orjson

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.evaluation.cases import STATUSES, Case, Dataset, Passage, RankedList, needs_all
from haystack_integrations.crag.vocabulary import JUDGED

CORPUS: Final = "corpus.jsonl"
QUERIES, QRELS, LISTS, GAPS, REMOVED = SPLIT_FILES = (
    "queries.jsonl",
    "qrels.tsv",
    "bm25_top10.jsonl",
    "gap_bm25_top10.jsonl",
    "gap_removed_docs.txt",
)
"""What is read of a split's folder; only the first must be there."""

LEAST_QUESTIONS: Final = 10
"""With fewer, one question more or less moves every measure by a tenth."""

_GRADES: Final = (0, 1, 2)


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
    folder = Path(folder)
    place = folder / split
    _check_folders(folder, place)
    try:
        passages = _passages(folder / CORPUS)
        cases = _cases(place, passages, labelled=labelled)
        if len(cases) < least:
            few = f"{len(cases)} question{'s' * (len(cases) != 1)}"
            msg = f"{place / QUERIES}: got {few}, wanted at least {least}; label more before measuring"
            raise SourceError(msg)
        lists, gaps = (_lists(place / name, cases, passages) for name in (LISTS, GAPS))
        removed = (place / REMOVED).read_text("utf-8").split() if (place / REMOVED).is_file() else []
    except (OSError, UnicodeDecodeError) as error:
        msg = f"the data in {str(folder)!r} cannot be read ({error}); make the files readable, as UTF-8 text"
        raise SourceError(msg) from None
    whole = tuple(replace(case, fixed=lists.get(case.id), gap=gaps.get(case.id)) for case in cases.values())
    return Dataset(folder, split, passages, whole, frozenset(removed), needs_all(whole))


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
    if msg:
        raise SourceError(msg)


def _passages(path: Path) -> dict[str, Passage]:
    found: dict[str, Passage] = {}
    for row in _rows(path):
        name = row.name(found)
        sentences = None if row.values.get("sentences") is None else row.names("sentences")
        found[name] = Passage(name, str(row.values.get("title") or ""), row.text("text"), sentences)
    return found


def _cases(place: Path, passages: Mapping[str, Passage], *, labelled: bool) -> dict[str, Case]:
    found: dict[str, Case] = {}
    qrels, lines = _qrels(place / QRELS, passages) if (place / QRELS).is_file() else (None, {})
    for row in _rows(place / QUERIES):
        name = row.name(found)
        if "gold" in row.values or not labelled:
            if labelled and row.values["gold"] is None:
                row.refuse("null as gold", "the ids of the documents that answer", "write [] where none does")
            gold, partial = (row.known(key, passages) for key in ("gold", "partial"))
            for both in sorted(set(gold).intersection(partial)):
                row.refuse(f"{both!r} as gold and as partial", "each document in one of them", "remove one of the two")
        elif qrels == {}:
            row.refuse("no gold", f"it, or a judgement in {QRELS}, which holds none", "write one of them")
        elif qrels is not None:
            grades = qrels.get(name, {})
            gold, partial = (tuple(document for document, grade in grades.items() if grade == at) for at in (2, 1))
        else:
            row.refuse("no gold", "the ids of the documents that answer, [] for none", f"write them, or add {QRELS}")
        found[name] = Case(
            name,
            row.text("question"),
            row.names("answers"),
            gold,
            partial,
            row.sentences(passages),
            strict=row.values.get("strict") is not False,
        )
    for question, number in lines.items():
        _Row(place / QRELS, number, {}).check(question, found, f"a question of {QUERIES}")
    return found


def _qrels(path: Path, passages: Mapping[str, Passage]) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Read grades by question and document, and the first line of each question."""
    found: dict[str, dict[str, int]] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        match line.split("\t"):
            case [question, document, ("0" | "1" | "2") as grade]:
                row = _Row(path, number, {})
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
                _Row(path, number, {}).refuse("another line", wanted, "correct or remove it")
    return found, lines


def _lists(path: Path, cases: Mapping[str, Case], passages: Mapping[str, Passage]) -> dict[str, RankedList]:
    found: dict[str, RankedList] = {}
    if not path.is_file():
        return found
    for row in _rows(path):
        name = row.name(found)
        row.check(name, cases, f"a question of {QUERIES}")
        found[name] = row.ranked(passages)
    missing = [name for name in cases if name not in found]
    if missing:
        msg = (
            f"{path}: got no list for {len(missing)} questions, the first is {missing[0]!r}; add them or drop the file"
        )
        raise SourceError(msg)
    return found


@dataclass(frozen=True)
class _Row:
    """One line of a file, which names its place when something is wrong with it."""

    path: Path
    number: int
    values: dict[str, Any]

    def refuse(self, got: str, wanted: str, way_out: str) -> NoReturn:
        msg = f"{self.path}:{self.number}: got {got}, wanted {wanted}; {way_out}"
        raise SourceError(msg)

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            self.refuse(f"no {key}" if value is None else f"another kind of {key}", "a text", "write it in quotes")
        if not value.strip():
            self.refuse(f"an empty {key}", "a text", "write it, or remove the line")
        return value

    def name(self, taken: Mapping[str, Any]) -> str:
        value = self.text("id")
        if value in taken:
            self.refuse(f"the id {value!r} a second time", "each id once", "remove or rename one of the two")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.refuse(f"another kind of {key}", "a list of texts", 'write it as ["one", "two"], [] for none')
        return tuple(value)

    def known(self, key: str, passages: Mapping[str, Passage]) -> tuple[str, ...]:
        names = self.names(key)
        for name in names:
            self.check(name, passages)
        return names

    def check(self, name: object, known: Mapping[str, Any], what: str = f"a document of {CORPUS}") -> None:
        if not isinstance(name, str) or name not in known:
            self.refuse(f"the unknown id {name!r}", f"that of {what}", "correct it, or add what it names")

    def sentences(self, passages: Mapping[str, Passage]) -> frozenset[tuple[str, int]]:
        found: set[tuple[str, int]] = set()
        entries = self.values.get("gold_sentences") or ()
        for entry in entries if isinstance(entries, list | tuple) else (entries,):
            match entry:
                case [name, int(number)] if number >= 0:
                    self.check(name, passages)
                    sentences = passages[name].sentences
                    if sentences is not None and number >= len(sentences):
                        self.refuse(f"sentence {number} of {name!r}", f"one below {len(sentences)}", "correct it")
                    found.add((name, number))
                case _:
                    self.refuse("other gold_sentences", 'pairs such as ["doc-1", 0]', "correct or remove them")
        return frozenset(found)

    def ranked(self, passages: Mapping[str, Passage]) -> RankedList:
        retrieved, grades = self.known("retrieved", passages), self.values.get("grades")
        if len(set(retrieved)) != len(retrieved):
            self.refuse("a document twice in a list", "each id once", "remove one of the two")
        if grades is not None and (len(_listed(grades)) != len(retrieved) or any(g not in _GRADES for g in grades)):
            self.refuse("other grades", "0, 1 or 2 for each retrieved document", "correct them, or leave them out")
        labels = {k: self.values[f"label_top{k}"] for k in (5, 10) if f"label_top{k}" in self.values}
        for told in labels.values():
            if told not in JUDGED:
                self.refuse(f"the label {told!r}", f"one of {list(JUDGED)}", "correct it, or leave it out")
        status = self.values.get("status")
        if status is not None and status not in STATUSES:
            self.refuse(f"the status {status!r}", f"one of {list(STATUSES)}", "correct it")
        return RankedList(retrieved, None if grades is None else tuple(grades), labels or None, status)


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _rows(path: Path) -> Iterator[_Row]:
    """Read a JSON Lines file; empty lines count, but say nothing."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                values = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except orjson.JSONDecodeError:
                values = None
            if not isinstance(values, dict):
                _Row(path, number, {}).refuse("another line", "one JSON object", "correct or remove it")
            yield _Row(path, number, values)
