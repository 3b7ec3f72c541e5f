"""Labels by a chat model: what a grade means, what is left out, what a second run asks."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evaluation.datasets import CORRECT, ISLANDS, SPLIT, listed, question, write_dataset, write_lines
from openpyxl import load_workbook
from scripted_model import NAME, ScriptedModel, judging

from haystack_integrations.crag.chat_model import ChatModel
from haystack_integrations.crag.errors import ConfigurationError, GradingError, SourceError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, RankedList
from haystack_integrations.crag.evaluation.labelling import grader_of, make_labels, summed, verdict_of
from haystack_integrations.crag.evaluation.origins import check_target
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.setup import Setup

OUTPUT = "by the model"


def grade(text: str) -> float:
    """As the islands are labelled."""
    return 0.9 if "was built by" in text else 0.4 if "is known for" in text else 0.1


@pytest.fixture
def unlabelled(tmp_path: Path) -> Dataset:
    """The islands, their questions without labels."""
    folder = write_dataset(tmp_path / "islands")
    rows = [{"id": f"q{n}", "question": question(n), "source": "users"} for n in range(len(ISLANDS))]
    write_lines(folder / SPLIT / "queries.jsonl", rows)
    return read_dataset(folder, SPLIT, labelled=False, least=1)


def fixed(case: Case) -> RankedList:
    """The list that comes with the data."""
    assert case.fixed is not None
    return case.fixed


def labels(dataset: Dataset, model: ScriptedModel, **options: Any) -> list[dict[str, Any]]:
    """Label questions by the scripted model."""
    chat = ChatModel(NAME, model.url)
    place = check_target(dataset, OUTPUT)
    return make_labels(
        dataset, Setup("corrective_retrieval", "llm", model=chat), fixed, grader_of(chat), place, **options
    )


def rows(dataset: Dataset, name: str) -> list[dict[str, Any]]:
    """A file that was written."""
    return [json.loads(line) for line in (dataset.folder / OUTPUT / name).read_text().splitlines()]


def test_a_question_is_graded_in_one_call_and_its_labels_are_read(unlabelled: Dataset, scripted_model: Any) -> None:
    """What answers is gold, what is on topic partial; other fields stay, and the split is one like others."""
    scripted_model.reply = judging(grade)
    records = labels(unlabelled, scripted_model)
    assert scripted_model.calls == len(ISLANDS)
    assert summed(records)["llm_calls"] == len(ISLANDS)
    assert summed(records)["tokens_in"] > 0
    first = rows(unlabelled, "queries.jsonl")[0]
    assert first == {
        "id": "q0",
        "question": question(0),
        "source": "users",
        "gold": ["built-0"],
        "partial": ["isle-0"],
    }
    assert rows(unlabelled, "bm25_top10.jsonl")[0] == {
        "id": "q0",
        "retrieved": listed(0),
        "grades": [2, 1, *[0] * 8],
    }
    read = read_dataset(unlabelled.folder, OUTPUT)
    assert [read.truth(case, fixed(case), 5) for case in read.cases[: len(CORRECT)]] == ["correct"] * len(CORRECT)
    assert [verdict_of(record) for record in records[14:20]] == ["ambiguous"] * 5 + ["incorrect"]


def test_a_label_that_is_corrected_by_hand_changes_the_verdict(unlabelled: Dataset, scripted_model: Any) -> None:
    """It is corrected in both files, as the refusal says; no verdict of before stands in its way."""
    scripted_model.reply = judging(grade)
    labels(unlabelled, scripted_model)
    place = unlabelled.folder / OUTPUT
    first, *others = rows(unlabelled, "queries.jsonl")
    write_lines(place / "queries.jsonl", [{**first, "gold": ["other-0"], "partial": ["built-0", "isle-0"]}, *others])
    with pytest.raises(SourceError, match=r"bm25_top10.jsonl:1: got the grade 2 of 'built-0', which has 1 in queries"):
        read_dataset(unlabelled.folder, OUTPUT)
    write_lines(place / "queries.jsonl", [{**first, "gold": [], "partial": ["built-0", "isle-0"]}, *others])
    first, *others = rows(unlabelled, "bm25_top10.jsonl")
    write_lines(place / "bm25_top10.jsonl", [{**first, "grades": [1, 1, *first["grades"][2:]]}, *others])
    for _ in range(2):  # also when the command is run again, as for questions that failed
        read = read_dataset(unlabelled.folder, OUTPUT)
        assert read.truth(read.cases[0], fixed(read.cases[0]), 5) == "ambiguous"
        labels(unlabelled, scripted_model)
    labels(unlabelled, scripted_model, fresh=True)
    read = read_dataset(unlabelled.folder, OUTPUT)
    assert read.truth(read.cases[0], fixed(read.cases[0]), 5) == "correct"


@pytest.mark.parametrize(("score", "label"), [(0.7, 2), (0.69, 1), (0.3, 1), (0.29, 0)])
def test_a_grade_is_a_label_from_the_routers_thresholds_on(
    unlabelled: Dataset, scripted_model: Any, score: float, label: int
) -> None:
    """Seven tenths answer, three tenths are on topic."""
    scripted_model.reply = judging(lambda _: score)
    assert labels(unlabelled, scripted_model)[0]["grades"] == [label] * 10


def test_a_failed_grade_is_no_label(unlabelled: Dataset, scripted_model: Any) -> None:
    """The question is left out, and asked again by the next run; the others are not."""
    bad = {question(3), question(8)}

    def reply(messages: Any) -> tuple[str, str]:
        failed = any(one in messages[-1]["content"] for one in bad)
        return ("No.", "stop") if failed else judging(grade)(messages)

    scripted_model.reply = reply
    records = labels(unlabelled, scripted_model)
    assert [record["id"] for record in records if record["error"]] == ["q3", "q8"]
    assert {record["grades"] is None for record in records if record["error"]} == {True}
    ids = [row["id"] for row in rows(unlabelled, "queries.jsonl")]
    assert ids == [f"q{n}" for n in range(len(ISLANDS)) if n not in (3, 8)]
    assert [row["id"] for row in rows(unlabelled, "bm25_top10.jsonl")] == ids
    before = scripted_model.calls
    scripted_model.reply = judging(grade)
    assert not any(record["error"] for record in labels(unlabelled, scripted_model))
    assert scripted_model.calls == before + 2
    assert [row["id"] for row in rows(unlabelled, "queries.jsonl")] == [f"q{n}" for n in range(len(ISLANDS))]
    labels(unlabelled, scripted_model, fresh=True)
    assert scripted_model.calls == before + 2 + len(ISLANDS)


def test_the_sheet_of_a_second_run_has_what_was_corrected_in_the_files_of_the_first(
    unlabelled: Dataset, scripted_model: Any
) -> None:
    """Taken as it is, it gave the model's own grade back."""
    right = judging(grade)
    scripted_model.reply = lambda messages: (
        ("No.", "stop") if question(3) in messages[-1]["content"] else right(messages)
    )
    labels(unlabelled, scripted_model)
    place = unlabelled.folder / OUTPUT
    for name, changes in (("queries.jsonl", {"gold": []}), ("bm25_top10.jsonl", {"grades": [0, 1, *[0] * 8]})):
        first, *others = rows(unlabelled, name)
        write_lines(place / name, [{**first, **changes}, *others])
    scripted_model.reply = right
    labels(unlabelled, scripted_model)
    assert [cell.value for cell in load_workbook(place / "sheet.xlsx").active["A"][1:4]] == [0, 1, 0]


def test_labels_begun_anew_are_not_mixed_with_those_of_before(unlabelled: Dataset, scripted_model: Any) -> None:
    """Killed on the way, such a run left the old ones, which the next took for corrected ones: the new were lost."""
    scripted_model.reply = judging(grade)
    labels(unlabelled, scripted_model)
    assert rows(unlabelled, "queries.jsonl")
    left = list[Any]()
    labels(unlabelled, scripted_model, fresh=True, progress=lambda *_: left.append(rows(unlabelled, "queries.jsonl")))
    assert left == [[]] * len(ISLANDS)
    assert len(rows(unlabelled, "queries.jsonl")) == len(ISLANDS)


def test_a_label_is_kept_as_soon_as_it_is_there_also_behind_one_that_waits(
    unlabelled: Dataset, scripted_model: Any
) -> None:
    """What is killed while one call hangs has lost none of the others, which were paid for."""
    file, kept = unlabelled.folder / OUTPUT / "queries.jsonl.records.jsonl", 0

    def reply(messages: Any) -> tuple[str, str]:
        nonlocal kept
        if question(0) in messages[-1]["content"]:
            end = time.monotonic() + 20
            while kept < len(ISLANDS) - 1 and time.monotonic() < end:
                kept = len(file.read_text().splitlines()) - 1
                time.sleep(0.02)
        return judging(grade)(messages)

    scripted_model.reply = reply
    records = labels(unlabelled, scripted_model)
    assert kept == len(ISLANDS) - 1
    assert [record["id"] for record in records] == [f"q{n}" for n in range(len(ISLANDS))]


def test_what_a_label_cost_counts_the_tries_that_brought_none(unlabelled: Dataset, scripted_model: Any) -> None:
    """Of earlier runs as well."""
    scripted_model.reply = lambda messages: (
        ("No.", "stop") if question(3) in messages[-1]["content"] else right(messages)
    )
    right = judging(grade)
    assert summed(labels(unlabelled, scripted_model))["llm_calls"] == scripted_model.calls > len(ISLANDS)
    scripted_model.reply = right
    assert summed(labels(unlabelled, scripted_model))["llm_calls"] == scripted_model.calls


def test_a_model_that_only_fails_is_not_asked_about_every_question(unlabelled: Dataset, scripted_model: Any) -> None:
    """It says so, and what was labelled before is written."""
    replies: Iterator[bool] = iter([True] * 7)

    def reply(messages: Any) -> tuple[str, str]:
        return judging(grade)(messages) if next(replies, False) else ("No.", "stop")

    scripted_model.reply = reply
    told: list[tuple[int, int | None]] = []
    with pytest.raises(GradingError, match=r"5 questions in a row could not be labelled.*run the same command again"):
        labels(unlabelled, scripted_model, progress=lambda done, total, _: told.append((done, total)))
    assert told[-1][0] < len(ISLANDS)
    assert len(rows(unlabelled, "queries.jsonl")) == 7
    assert len(rows(unlabelled, "bm25_top10.jsonl")) == 7


def test_a_question_for_which_nothing_is_found_costs_nothing(unlabelled: Dataset, scripted_model: Any) -> None:
    """Nothing answers it."""
    chat, place = ChatModel(NAME, scripted_model.url), check_target(unlabelled, OUTPUT)
    setup = Setup("corrective_retrieval", "llm", model=chat)
    records = make_labels(unlabelled, setup, lambda _: RankedList(()), grader_of(chat), place)
    assert scripted_model.calls == 0
    assert {verdict_of(record) for record in records} == {"incorrect"}


def test_a_split_that_cannot_be_written_is_told_by_its_file_and_no_label_is_lost(
    unlabelled: Dataset, scripted_model: Any
) -> None:
    """As on a disk that is full: what was paid for stands in the records beside it."""
    scripted_model.reply = judging(grade)
    in_its_way = unlabelled.folder / OUTPUT / "bm25_top10.jsonl"
    in_its_way.mkdir(parents=True)
    with pytest.raises(ConfigurationError, match=r"cannot write '.*bm25_top10.jsonl' \(Is a directory\)"):
        labels(unlabelled, scripted_model)
    calls = scripted_model.calls
    in_its_way.rmdir()
    assert len(labels(unlabelled, scripted_model)) == len(rows(unlabelled, "bm25_top10.jsonl")) == len(ISLANDS)
    assert scripted_model.calls == calls


def test_labels_that_others_wrote_are_not_overwritten(unlabelled: Dataset, scripted_model: Any) -> None:
    """Neither those of the questions' own split, nor of another; nor is anything written elsewhere."""
    write_lines(unlabelled.folder / "by hand" / "queries.jsonl", [{"id": "q", "question": "Who?", "gold": []}])
    for name in (SPLIT, "by hand"):
        with pytest.raises(ConfigurationError, match=f"split '{name}' holds questions that `crag label` did not write"):
            check_target(unlabelled, name)
    for name in ("", "..", ".", "a/b"):
        with pytest.raises(ConfigurationError, match="wanted the name of a split"):
            check_target(unlabelled, name)
    scripted_model.reply = judging(grade)
    labels(unlabelled, scripted_model)
    assert check_target(unlabelled, OUTPUT).name == OUTPUT


def test_questions_that_were_appended_to_labelled_ones_are_not_lost_to_a_second_run(
    unlabelled: Dataset, scripted_model: Any
) -> None:
    """As docs/labels.md has more questions join a split: written anew it held those of its origin alone."""
    scripted_model.reply = judging(grade)
    labels(unlabelled, scripted_model)
    known = rows(unlabelled, "queries.jsonl")
    more = {"id": "m1", "question": "Who built the pier?", "gold": [], "partial": []}
    write_lines(unlabelled.folder / OUTPUT / "queries.jsonl", [*known, more])
    with pytest.raises(ConfigurationError, match=r"has 1 questions that 'dev' lacks, such as 'm1'.* remove them there"):
        labels(unlabelled, scripted_model)
    assert rows(unlabelled, "queries.jsonl")[-1] == more
