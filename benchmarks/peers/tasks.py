"""
The questions of the comparison: fixed ranked lists, labels, and what counts as an answer; the same for every system.

    python benchmarks/peers/tasks.py /path/to/datasets [--sets covidqa scifact] [--questions 20]

prints what would be asked. Of each set's `dev` split the first questions are taken in the order of a hash of their
ids: those that count in verdicts (`strict`) and, where they have answering documents, an answer stands in one of them.

- A list has up to 100 documents: the set's own fixed ten, then BM25 over the corpus (`corpus.py`).
- An answer is an accepted answer of the question (not "yes" and "no"). SciFact and CLAPNQ have none: there any labelled
  sentence counts, whole. A question without an answering document (about half of CLAPNQ, a third of SciFact) has no
  answer at all: to say so is right.
- Labels are the set's: 2 answers, 1 on topic, 0 neither. COVID-QA says 1 of every other chunk of the same article.
- Three kinds of list and corpus. `fixed`; `gap`: no answering document is left, in the list of the set's gap split
  where that has such a gap, else in the fixed list; `nothing`: none on topic either. A search in the corpus leaves out
  the same documents, in `gap` and `nothing` also all that the set removes for its gaps.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import RANKED, Corpus

from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage, RankedList, label
from haystack_integrations.crag.evaluation.reading import QUERIES, read_dataset
from haystack_integrations.crag.evaluation.rows import CORPUS
from haystack_integrations.crag.evaluation.strips import holds, normal, sought

SETS = ("covidqa", "scifact", "hotpotqa", "clapnq")
SPLIT = "dev"
KINDS = ("fixed", "gap", "nothing")
LONGEST_LIST = 100
_FEWEST_WORDS = 4  # of a sentence that counts as an answer


@dataclass(frozen=True)
class Task:
    """
    A question as every system gets it.

    :param id: Name of the set and id of the question, joined by a colon.
    :param dataset: Name of the set.
    :param question: The question.
    :param answers: What counts as an answer; empty where the corpus has none.
    :param labels: 1 or 2 by document id; any other document has 0.
    :param sentences: The labelled sentences.
    :param lists: A ranked list for each of `KINDS`.
    :param case: The question as the data has it.
    :param needs_all: Whether a list is correct with all answering documents only (two-hop questions).
    """

    id: str
    dataset: str
    question: str
    answers: tuple[str, ...]
    labels: Mapping[str, int]
    sentences: tuple[str, ...]
    lists: Mapping[str, tuple[str, ...]]
    case: Case
    needs_all: bool

    @property
    def answerable(self) -> bool:
        """Tell whether a document of the whole corpus answers."""
        return bool(self.answers)

    def label(self, document: str) -> int:
        """
        Look up a document's label.

        :param document: Its id.
        :returns: 2, 1 or 0.
        """
        return self.labels.get(document, 0)

    def suffices(self, k: int, kind: str = "fixed") -> bool:
        """
        Tell whether the evidence suffices: a document with label 2 is among the first k.

        :param k: How many documents count.
        :param kind: One of `KINDS`.
        :returns: Whether one is.
        """
        return any(self.label(name) == 2 for name in self.lists[kind][:k])

    def truth(self, k: int, kind: str = "fixed") -> str:
        """
        Tell the true three-way verdict of the first k, by the rule of the set.

        :param k: How many documents count.
        :param kind: One of `KINDS`.
        :returns: `correct`, `ambiguous` or `incorrect`; for two-hop questions: all, some or none of the answering
            documents.
        """
        ranked = RankedList(self.lists[kind], tuple(map(self.label, self.lists[kind])))
        return str(label(self.case, ranked, k, needs_all=self.needs_all))

    def found_in(self, texts: Sequence[str]) -> str | None:
        """
        Look for an answer.

        :param texts: Texts as `normal` gives them.
        :returns: The first answer that stands in one of them, as it is written, or None.
        """
        return next((answer for answer in self.answers if holds(texts, [normal(answer)])), None)


def read(
    folder: str | Path, sets: Sequence[str] = SETS, questions: int = 20
) -> tuple[dict[str, Task], dict[str, Corpus]]:
    """
    Read the questions of some sets.

    :param folder: The folder that holds the sets' folders.
    :param sets: Their names.
    :param questions: How many of each.
    :returns: Tasks by id, in the order in which they are asked, and the corpora by name of the set.
    """
    tasks: dict[str, Task] = {}
    corpora: dict[str, Corpus] = {}
    for name in sets:
        data = read_dataset(Path(folder) / name, SPLIT, least=1)
        removed = Path(folder) / name / SPLIT / "gap_removed_docs.txt"
        gone = removed.read_text("utf-8").split() if removed.is_file() else ()
        corpora[name] = Corpus(name, data.passages, gone)
        rows = {part: _rows(Path(folder) / name / file) for part, file in _FILES.items()}
        for case in in_order(data)[:questions]:
            task = _task(case, data, corpora[name], _labels(case, rows))
            tasks[task.id] = task
    return tasks, corpora


def in_order(data: Dataset) -> list[Case]:
    """
    Give the questions that may be asked.

    :param data: A set.
    :returns: Its questions in the order in which they are asked.
    """
    return sorted((case for case in data.cases if _is_usable(case, data)), key=lambda case: _hash(case.id))


_FILES = {"corpus": CORPUS, "queries": f"{SPLIT}/{QUERIES}"}


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _rows(path: Path) -> dict[str, dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, filter(str.strip, lines))}


def _is_usable(case: Case, data: Dataset) -> bool:
    texts = [normal(data.passages[name].text) for name in case.gold]
    found = not case.gold or holds(texts, [normal(answer) for answer in _answers(case, data)])
    return case.strict and case.fixed is not None and found


def _answers(case: Case, data: Dataset) -> tuple[str, ...]:
    """Give what counts as an answer: accepted answers, or where a question has none of its own labelled sentences."""
    if case.answers:
        wanted = set(sought(case))
        return tuple(answer for answer in case.answers if normal(answer) in wanted)
    return tuple(one for one in _sentences(case, data.passages) if len(one.split()) >= _FEWEST_WORDS)


def _sentences(case: Case, passages: Mapping[str, Passage]) -> Iterator[str]:
    for name, number in sorted(case.gold_sentences):
        sentences = passages[name].sentences
        if sentences is not None and sentences[number].strip():
            yield sentences[number].strip()


def _labels(case: Case, rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, int]:
    """Label the documents of a question; of COVID-QA the other chunks of its article too, which no file lists."""
    article = rows["queries"][case.id].get("document")
    labels = {name: 1 for name, row in rows["corpus"].items() if article and row.get("document") == article}
    labels |= dict.fromkeys(case.partial, 1)
    if case.fixed is not None and case.fixed.grades is not None:
        labels |= dict(zip(case.fixed.retrieved, case.fixed.grades, strict=True))
    return {name: grade for name, grade in (labels | dict.fromkeys(case.gold, 2)).items() if grade}


def _task(case: Case, data: Dataset, corpus: Corpus, labels: Mapping[str, int]) -> Task:
    fixed = case.fixed.retrieved if case.fixed else ()
    has_gap = case.gap is not None and case.gap.status == "gap"
    begins = {"fixed": fixed, "gap": case.gap.retrieved if has_gap and case.gap else fixed, "nothing": fixed}
    lists = {}
    for kind in KINDS:
        without = missing(labels, corpus, kind)
        first = [name for name in begins[kind] if name not in without]
        more = [name for name in corpus.search(case.question, RANKED, without) if name not in first]
        lists[kind] = tuple([*first, *more][:LONGEST_LIST])
    return Task(
        id=f"{data.name}:{case.id}",
        dataset=data.name,
        question=case.question,
        answers=_answers(case, data) if case.gold else (),
        labels=labels,
        sentences=tuple(_sentences(case, data.passages)),
        lists=lists,
        case=case,
        needs_all=data.needs_all,
    )


def missing(labels: Mapping[str, int], corpus: Corpus, kind: str) -> frozenset[str]:
    """
    Name the documents that a corpus of some kind does not have.

    :param labels: The labels of the question.
    :param corpus: The corpus.
    :param kind: One of `KINDS`.
    :returns: Ids.
    """
    if kind == "fixed":
        return frozenset()
    least = 2 if kind == "gap" else 1
    return corpus.removed | {name for name, grade in labels.items() if grade >= least}


def main() -> None:
    """Print counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--questions", type=int, default=20)
    given = parser.parse_args()
    tasks, corpora = read(given.folder, given.sets, given.questions)
    for name in given.sets:
        own = [task for task in tasks.values() if task.dataset == name]
        print(f"{name}: {len(own)} questions, {sum(task.answerable for task in own)} answerable; ", end="")
        print(f"{len(corpora[name].passages)} documents, {len(corpora[name].removed)} removed for gaps")
        for kind in KINDS:
            sizes = sorted(len(task.lists[kind]) for task in own)
            verdicts = dict(Counter(task.truth(10, kind) for task in own))
            enough = {k: sum(task.suffices(k, kind) for task in own) for k in (3, 5, 10, 20, 50)}
            print(f"  {kind}: lists of {sizes[0]}-{sizes[-1]}, top 10 {verdicts}, answering document in top k {enough}")


if __name__ == "__main__":
    main()
