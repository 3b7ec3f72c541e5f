"""Labels made by a chat model: each question's list is graded in one call, and written as a split that others read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Lock
from typing import Any, Final

from haystack_integrations.crag.chat_model import ChatModel
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.deciding.thresholds import PRESETS
from haystack_integrations.crag.errors import ConfigurationError, GradingError
from haystack_integrations.crag.evaluation.cases import (
    ANSWERS,
    ON_TOPIC,
    TOP_K,
    Case,
    Dataset,
    Progress,
    RankedList,
    Record,
    label,
)
from haystack_integrations.crag.evaluation.journal import Journal, journal_of
from haystack_integrations.crag.evaluation.reading import LISTS, QUERIES
from haystack_integrations.crag.evaluation.rows import rows, write_rows
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.evaluation.sheets import SHEET, write_sheet
from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.grading.plan import WHOLE_PASSAGE
from haystack_integrations.crag.vocabulary import SPENT, Judged

# A score from which on a document answers, and one from which on it is on topic.
_UPPER, _LOWER = PRESETS["balanced"]

_AT_ONCE: Final = 4
_SECONDS: Final = 60.0
# So many failures without a label between them are no question's fault.
_MOST_FAILURES: Final = 5


def grader_of(model: ChatModel) -> BatchRelevanceGrader:
    """
    Make what grades for labels.

    :param model: The chat model.
    :returns: The grader.
    """
    generator = model.judge(_SECONDS)
    return BatchRelevanceGrader(generator, max_chars_per_document=WHOLE_PASSAGE, deadline_s=2 * _SECONDS)


def take_labels(dataset: Dataset, setup: Setup, records: Sequence[Record], place: Path) -> None:
    """
    Write labels that people gave, as a split in place of what an earlier state of their sheet made.

    :param dataset: The questions.
    :param setup: Where the lists come from.
    :param records: Of `sheets.read_sheet`.
    :param place: Folder of the split; see `origins.check_target`.
    """
    _make_folder(place)
    with closing(Journal(journal_of(place / QUERIES), dataset, setup, fresh=True)) as log:
        for record in records:
            log.add(record)
    _write_split(dataset, records, place, keeps=False)


def make_labels(
    dataset: Dataset,
    setup: Setup,
    ranked: Callable[[Case], RankedList],
    grader: BatchRelevanceGrader,
    place: Path,
    *,
    fresh: bool = False,
    progress: Progress | None = None,
) -> list[Record]:
    """
    Label questions, and write them as a split. Taken up again, questions that are labelled are not asked again.

    :param dataset: The questions.
    :param setup: Where lists and grades come from: what an earlier run must have been made with.
    :param ranked: Gives the list of a question.
    :param grader: What grades it.
    :param place: Folder of the split that is written; see `origins.check_target`.
    :param fresh: Begin anew.
    :param progress: Called after each question: number done, number of all, id of the last.
    :returns: A record for each question: `{"id", "retrieved", "grades", "cost", "error"}`, the grades None where one of
        them failed: no label is made up.
    :raises GradingError: When one question after the other fails; what was labelled is written.
    """
    _make_folder(place)
    with closing(Journal(journal_of(place / QUERIES), dataset, setup, fresh=fresh)) as log:
        pending = [case for case in dataset.cases if case.id not in log.done]
        if fresh:  # killed before the end, it would leave them, and the next run take them for corrected ones
            _write_split(dataset, [], place, keeps=False)
        try:
            _ask(dataset, pending, ranked, grader, log, progress)
        finally:  # whatever ends it: what was paid for can be used
            found = [log.records[case.id] for case in dataset.cases if case.id in log.records]
            _write_split(dataset, found, place, keeps=True)
            if pending:
                _write_sheet(dataset, place)
        return found


def _make_folder(place: Path) -> None:
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        msg = f"cannot write {str(place)!r} ({error.strerror}); choose another --output, or make the folder writable"
        raise ConfigurationError(msg) from None


def _ask(
    dataset: Dataset,
    pending: Sequence[Case],
    ranked: Callable[[Case], RankedList],
    grader: BatchRelevanceGrader,
    log: Journal,
    progress: Progress | None,
) -> None:
    """Label questions, some at a time, and keep each as it comes: one that waits long holds no others back."""
    retrieving, keeping, failures, done = Lock(), Lock(), 0, len(dataset.cases) - len(pending)

    def labelled(case: Case) -> Record:
        with retrieving:  # a pipeline's retrieval; the model is what takes time
            found = ranked(case)
        record = _labelled(dataset, case, found, grader)
        with keeping:  # in this thread: whatever ends the command meanwhile, it was paid for
            record["cost"] = _together(record, log.records.get(case.id))
            log.add(record)
        return record

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        stack.callback(pool.shutdown, cancel_futures=True)  # what has not begun is given up
        for coming in as_completed([pool.submit(labelled, case) for case in pending]):
            record = coming.result()
            done += 1
            if progress is not None:
                progress(done, len(dataset.cases), record["id"])
            failures = 0 if record["error"] is None else failures + 1
            if failures == _MOST_FAILURES:
                msg = (
                    f"{failures} questions in a row could not be labelled, the last with {record['error']}; check the "
                    "chat model and run the same command again: what was labelled stays"
                )
                raise GradingError(msg)


def _together(record: Record, before: Record | None) -> dict[str, int]:
    """Give what a question's label cost, an earlier try without a label included."""
    return summed([record] if before is None else [before, record])


def _labelled(dataset: Dataset, case: Case, ranked: RankedList, grader: BatchRelevanceGrader) -> Record:
    documents = [dataset.passages[name].document() for name in ranked.retrieved]
    result = grader.run(query=case.question, documents=documents)
    grades = [grade_of(document) for document in result["documents"]]
    failed = any(grade is None or grade.status == "failed" for grade in grades)
    scores = [grade.score for grade in grades if grade is not None]
    return {
        "id": case.id,
        "retrieved": list(ranked.retrieved),
        "retrievers": list(ranked.retrievers),
        "grades": None if failed else [_grade(score) for score in scores],
        "cost": {name: result["report"].get(name, 0) for name in SPENT},
        "error": ", ".join(result["report"].get("reasons") or ["not graded"]) if failed else None,
    }


def _grade(score: float) -> int:
    return ANSWERS if score >= _UPPER else ON_TOPIC if score >= _LOWER else 0


def _write_split(dataset: Dataset, records: Sequence[Record], place: Path, *, keeps: bool) -> None:
    """Write questions and lists, each file whole or not at all; `keeps` lines that are there, corrected ones too."""
    asked = _rows(dataset)
    made = [record for record in records if record["error"] is None]
    questions = [{**asked[record["id"]], **_documents(record)} for record in made]
    # Without a verdict: it follows from the grades, also from those that somebody corrects later.
    by = {case.id: [*case.fixed.retrievers] for case in dataset.cases if case.fixed is not None}
    lists: list[Record] = [{name: record[name] for name in ("id", "retrieved", "grades")} for record in made]
    for row, record in zip(lists, made, strict=True):
        if known := record.get("retrievers") or by.get(record["id"]):
            row["retrievers"] = known
    for file, lines in ((place / QUERIES, questions), (place / LISTS, lists)):
        known = {row.values.get("id"): row.values for row in rows(file)} if keeps and file.is_file() else {}
        write_rows(file, [known.get(line["id"], line) for line in lines])


def _write_sheet(dataset: Dataset, place: Path) -> None:
    """Write the labels of a split as a sheet for people to correct, those that they corrected in its files included."""
    asked = {case.id: case.question for case in dataset.cases}
    lines = [row.values for row in rows(place / LISTS)]
    shown = [(asked[one["id"]], one["retrieved"], one.get("grades") or ()) for one in lines]
    write_sheet(place / SHEET, shown, dataset.passages)


def _rows(dataset: Dataset) -> dict[str, Record]:
    """Read the questions as they are written, with fields that no evaluation reads."""
    return {row.values["id"]: row.values for row in rows(dataset.folder / dataset.split / QUERIES)}


def _documents(record: Record) -> dict[str, list[str]]:
    graded = list(zip(record["retrieved"], record["grades"], strict=True))
    grades = (("gold", ANSWERS), ("partial", ON_TOPIC))
    return {name: [one for one, grade in graded if grade == at] for name, at in grades}


def verdict_of(record: Record) -> Judged:
    """
    Tell the verdict that follows from a record's grades.

    :param record: A record with grades.
    :returns: The verdict on the first documents of its list.
    """
    ranked = RankedList(tuple(record["retrieved"]), tuple(record["grades"]))
    return label(Case(record["id"], ""), ranked, TOP_K, needs_all=False)


def summed(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """
    Add up what labels cost, those of earlier runs included.

    :param records: Of `make_labels`.
    :returns: `llm_calls`, `tokens_in`, `tokens_out`.
    """
    costs = [record["cost"] for record in records]
    return {name: sum(cost[name] for cost in costs) for name in SPENT}
