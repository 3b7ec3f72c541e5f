"""
Exams: documents of a kind that no public dataset has, in our own words, and what people ask of them.

    python benchmarks/exams.py [NAME ...] [--half second] [--show]

A folder of `benchmarks/exams` has documents, which `crag index` would read as they are, and `questions.txt`: on each
line a question and, behind a bar, a part of the passage that answers it, or `-` where no document does; each next to
its twin. `corrective_retrieval` without a model is asked. Patterns of the package are made by looking at the first half
of the questions, every second pair of lines; the second half is asked only to see whether they hold for its kind.
"""

import argparse
import logging
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.opening import memory_store

EXAMS = Path(__file__).with_name("exams")
_FORM = "{:<14}{:<8}" + "{:>11}" * 6


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description="Ask questions of kinds that no public dataset has.")
    parser.add_argument("names", nargs="*", help="folders of benchmarks/exams; all, if none is named")
    parser.add_argument("--half", choices=["first", "second", "both"], default="both")
    parser.add_argument("--show", action="store_true", help="print what went wrong, of the first half alone")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    print(_FORM.format("exam", "half", "answered", "found", "correct", "misled", "unanswered", "correct"))
    for name in options.names or sorted(each.name for each in EXAMS.iterdir() if each.is_dir()):
        store = indexed(EXAMS / name)
        for half in ("first", "second") if options.half == "both" else (options.half,):
            found = examined(EXAMS / name, store, half, show=options.show and half == "first")
            print(_FORM.format(name, half, *found))


def indexed(exam: Path) -> InMemoryDocumentStore:
    """Index the documents of an exam."""
    with TemporaryDirectory() as folder:
        for path in exam.iterdir():
            if path.name != "questions.txt":
                (Path(folder) / path.name).write_bytes(path.read_bytes())
        store = memory_store()
        index(folder, store)
    return store


def examined(exam: Path, store: InMemoryDocumentStore, half: str, *, show: bool) -> list[int]:
    """Ask the questions of a half, and count those of each outcome."""
    passages = [document.content or "" for document in store.filter_documents()]
    rag, counts = load("corrective_retrieval", store=store), Counter[str]()
    for question, answer in asked(exam / "questions.txt", half):
        if answer != "-" and not _holds(passages, answer):
            message = f"{exam.name}: no passage has {answer!r}"
            raise ValueError(message)
        result = rag.run(query=question)
        verdict, is_answered = result["crag"]["verdict"], answer != "-"
        is_correct = verdict == "correct"
        found = is_answered and _holds([document.content or "" for document in result["documents"]], answer)
        counts.update({"answered": is_answered, "unanswered": not is_answered, "found": found})
        counts.update({f"correct {found if is_answered else 'unanswered'}": is_correct})
        if show and not is_correct == found == is_answered:
            print(f"{verdict:<10} {'found' if found else '':<6} {question} | {answer}")
    keys = ("answered", "found", "correct True", "correct False", "unanswered", "correct unanswered")
    return [counts[key] for key in keys]


def asked(path: Path, half: str) -> list[tuple[str, str]]:
    """Give the questions of a half, each with a part of its answer."""
    lines = [line.split("|") for line in path.read_text("utf-8").splitlines() if line.strip()]
    chosen = [line for number, line in enumerate(lines) if (number // 2 % 2 == 1) == (half == "second")]
    return [(question.strip(), answer.strip()) for question, answer in chosen]


def _holds(passages: list[str], answer: str) -> bool:
    return any(answer.lower() in passage.lower() for passage in passages)


if __name__ == "__main__":
    main()
