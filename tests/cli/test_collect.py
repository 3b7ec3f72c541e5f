"""`crag collect` and labels by hand: from an index and a file of questions to a calibration for that index."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runner import CAMELS, PENGUINS, QUESTION, crag, refused
from evaluation.datasets import SPLIT
from evaluation.towns import FACTS, TOWNS, write_towns
from openpyxl import load_workbook
from scripted_model import ScriptedModel, judging

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.corpus_statistics import read_statistics


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two questions, of which one is about nothing that there is."""
    path = tmp_path / "questions.txt"
    path.write_text(f"{QUESTION}\nWho repairs bicycles?\n")
    return path


def grade_of(question: str, text: str) -> int:
    """Grade a page of a town as somebody who knows it would."""
    town = next(town for town in TOWNS if f"old town of {town}" in question)
    fact = next(fact for fact in FACTS if f"which {fact} has" in question)
    return 0 if town not in text else 2 if FACTS[fact].partition(" {")[0] in text else 1


def corrected(sheet: Path, *, but: str = "") -> Path:
    """Write the right grades into a sheet, but for one question."""
    book = load_workbook(sheet)
    for line in book.active.iter_rows(min_row=2):
        if line[1].value != but:
            line[0].value = grade_of(line[1].value, line[4].value)
    book.save(sheet)
    return sheet


def test_a_file_that_cannot_be_read_is_told_to_a_script_too(questions: Path, tmp_path: Path) -> None:
    """What can be read is collected; the same exit code as that of `crag ask` and `crag index`."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "penguins.md").write_text(PENGUINS)
    for number in range(21):
        (docs / f"broken{number:02}.pdf").write_bytes(b"%PDF-1.4 broken")
    done = crag("collect", questions, tmp_path / "data", "--split", "asked", "--docs", docs, "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["documents"]) == (ExitCode.INPUTS_FAILED, 1)
    assert "not read: broken19.pdf" in done.stderr
    assert "not read: and 1 more; --json lists them all" in done.stderr
    assert (len(told["failures"]), told["failures"][20]["source"], told["doubts"]) == (21, "broken20.pdf", [])


def test_an_index_is_collected_labelled_by_hand_and_calibrated_on(tmp_path: Path, place: list[str]) -> None:
    """On Elasticsearch, from a file of questions to a calibration that answers from the same index."""
    towns = write_towns(tmp_path / "towns", count=49)
    asked = [json.loads(line) for line in (towns / SPLIT / "queries.jsonl").read_text().splitlines()]
    gone = {row["gold"][0] for row in asked[::3]}  # a third of what answers is not in the index
    rows = [line for line in (towns / "corpus.jsonl").read_text().splitlines() if json.loads(line)["id"] not in gone]
    (tmp_path / "records.jsonl").write_text("\n".join(rows))
    (tmp_path / "questions.txt").write_text("\n".join(row["question"] for row in asked))
    assert crag("index", tmp_path / "records.jsonl", *place).exit_code == 0

    folder = tmp_path / "data" / "towns"
    shown = crag("collect", tmp_path / "questions.txt", folder, "--split", "asked", *place, "--top-k", "5")
    assert shown.exit_code == 0, shown.stderr
    sheet = folder / "asked" / "sheet.xlsx"
    assert f"of {len(rows)} documents for 49 questions" in " ".join(shown.stdout.split())
    assert read_statistics(folder / "store_statistics.json").documents == len(rows)

    command = (
        "label",
        folder,
        "--split",
        "asked",
        "--output",
        "labelled",
        "--sheet",
        corrected(sheet, but=asked[-1]["question"]),
    )
    labelled = crag(*command)
    assert labelled.exit_code == 0, labelled.stderr
    assert "Labelled 48 of 49 questions" in labelled.stdout
    assert "1 questions have no label (no grade); fill the sheet and run again" in labelled.stderr
    assert len(json.loads(crag(*command, "--json").stdout)["verdicts"]) >= 2  # once more, in its own place

    mine = tmp_path / "mine.json"
    result = crag("calibrate", folder, "--split", "labelled", "--output", mine, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["n"] == 48
    assert "a chat model made the labels" not in result.stderr
    assert "no list has labels of more than 5 documents; the shipped pipelines judge 10" in " ".join(
        result.stderr.split()
    )
    answer = json.loads(crag("ask", asked[1]["question"], *place, "--calibration", mine, "--json").stdout)
    assert answer["crag"]["signals"]["set"]["calibrated"] is True


def test_files_are_collected_and_labelled_by_a_model(
    docs: Path, questions: Path, tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """Without a server; one call for each question, and the titles and texts are those that a grader sees."""
    folder = tmp_path / "data"
    shown = crag("collect", questions, folder, "--split", "asked", "--docs", docs, "--json")
    assert json.loads(shown.stdout) == {
        "split": "asked",
        "questions": 2,
        "documents": 2,
        "documents_of_store": 2,
        "nothing_found": 0,
        "failures": [],
        "doubts": [],
    }
    texts = {json.loads(line)["text"] for line in (folder / "corpus.jsonl").read_text().splitlines()}
    assert texts == {f"penguins\n\n{PENGUINS}", CAMELS}
    configured_model.reply = judging(lambda text: 0.9 if "Antarctica" in text else 0.0)
    made = json.loads(crag("label", folder, "--split", "asked", "--output", "labelled", "--json").stdout)
    assert (made["labelled"], made["cost"]["llm_calls"]) == (2, 2)
    sheet = folder / "asked" / "sheet.xlsx"
    by_hand = ("label", folder, "--split", "asked", "--output", "labelled", "--sheet", sheet)
    assert "holds questions that no sheet labelled" in refused(crag(*by_hand), ExitCode.USAGE)


def test_all_that_was_collected_is_labelled(questions: Path, tmp_path: Path, configured_model: ScriptedModel) -> None:
    """Who collects more judges more; without a word the model was asked about ten, and lists ended there."""
    folder, docs = tmp_path / "data", tmp_path / "docs"
    docs.mkdir()
    for number in range(14):
        (docs / f"{number}.md").write_text(f"Penguins of colony {number} swim. Bicycles are repaired there, too.")
    assert crag("collect", questions, folder, "--split", "asked", "--docs", docs, "--top-k", "14").exit_code == 0
    configured_model.reply = judging(lambda _: 0.9)
    for options, number in (([], 14), (["--top-k", "3"], 3)):
        crag("label", folder, "--split", "asked", "--output", f"by {number}", *options)
        lists = [json.loads(line) for line in (folder / f"by {number}" / "bm25_top10.jsonl").read_text().splitlines()]
        assert {len(row["retrieved"]) for row in lists} == {number}


def commands_in(told: str) -> list[str]:
    """Give the lines that are a command."""
    return [line.strip() for line in told.splitlines() if line.strip().startswith("crag ")]


def test_the_commands_that_come_next_can_be_pasted_also_where_a_folder_has_spaces(
    docs: Path, questions: Path, tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """A shell would take the words of its name for arguments, and the first line of two for a command."""
    folder, split = tmp_path / "my data", "as asked"
    quoted = f"'{folder}'"
    shown = crag("collect", questions, folder, "--split", split, "--docs", docs)
    label = f"crag label {quoted} --split '{split}' --output labelled"
    sheet = folder / split / "sheet.xlsx"
    assert commands_in(shown.stdout) == [label, f"{label} --sheet '{sheet}'"]
    configured_model.reply = judging(lambda text: 0.9 if "Antarctica" in text else 0.0)
    shown = crag("label", folder, "--split", split, "--output", "labelled")
    sheet = folder / "labelled" / "sheet.xlsx"
    assert commands_in(shown.stdout) == [
        f"crag calibrate {quoted} --split labelled --output calibration.json",
        f"crag label {quoted} --split labelled --output checked --sheet '{sheet}'",
    ]


def test_labels_of_a_model_are_corrected_in_its_sheet_and_calibrated_on(
    tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """The sheet has its grades. What people changed there counts, and the model's own labels are in nobody's way."""
    folder = write_towns(tmp_path / "towns", count=48)
    path = folder / SPLIT / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({"id": row["id"], "question": row["question"]}) + "\n" for row in rows))
    configured_model.reply = judging(lambda text: 0.9 if "elected" in text else 0.0)
    shown = crag("label", folder, "--split", SPLIT, "--output", "labelled")
    sheet = folder / "labelled" / "sheet.xlsx"
    assert f"--split labelled --output checked --sheet {sheet}" in " ".join(shown.stdout.split())
    lines = list(load_workbook(sheet).active.iter_rows(min_row=2, values_only=True))
    assert {line[0] for line in lines} == {0, 2}
    assert all((line[0] == 2) == ("elected" in line[4]) for line in lines)
    checked = crag("label", folder, "--split", "labelled", "--output", "checked", "--sheet", corrected(sheet))
    assert checked.exit_code == 0, checked.stderr
    assert "labels of its own" not in checked.stdout
    result = crag("calibrate", folder, "--split", "checked", "--output", tmp_path / "mine.json", "--json")
    assert result.exit_code == 0, result.stderr
    assert "a chat model made the labels" not in result.stderr
    by_people = {row["id"]: sorted(row["gold"]) for row in rows}
    own = [json.loads(line) for line in (folder / "checked" / "queries.jsonl").read_text().splitlines()]
    assert all(set(row["gold"]) <= set(by_people[row["id"]]) for row in own)


def test_a_corrected_sheet_outlives_another_run_of_the_model(
    docs: Path, questions: Path, tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """What is done is not asked again and leaves the sheet alone; begun anew, the corrected one stays beside it."""
    folder = tmp_path / "data"
    assert crag("collect", questions, folder, "--split", "asked", "--docs", docs).exit_code == 0
    configured_model.reply = judging(lambda text: 0.9)
    command = ("label", folder, "--split", "asked", "--output", "labelled")
    assert crag(*command).exit_code == 0
    sheet = folder / "labelled" / "sheet.xlsx"
    sheet.write_bytes(b"corrected")
    assert crag(*command).exit_code == 0
    assert sheet.read_bytes() == b"corrected"
    assert crag(*command, "--fresh").exit_code == 0
    assert sheet.read_bytes() != b"corrected"
    assert sheet.with_name("sheet.before.xlsx").read_bytes() == b"corrected"
    assert crag(*command, "--fresh").exit_code == 0  # nor does a third run write over what the second one kept
    assert sheet.with_name("sheet.before.xlsx").read_bytes() == b"corrected"
    assert sheet.with_name("sheet.before1.xlsx").exists()


@pytest.mark.parametrize("command", ["eval", "calibrate", "label"])
def test_nothing_is_retrieved_from_what_was_collected(
    docs: Path, questions: Path, tmp_path: Path, command: str, configured_model: ScriptedModel
) -> None:
    """It is a part of the store, chosen by these questions: all lists would be too good."""
    folder = tmp_path / "data"
    assert crag("collect", questions, folder, "--split", "asked", "--docs", docs).exit_code == 0
    rows = [json.loads(line) for line in (folder / "asked" / "queries.jsonl").read_text().splitlines()]
    many = [{**row, "id": f"{row['id']}-{n}", "gold": []} for n in range(6) for row in rows]
    (folder / "many").mkdir()
    (folder / "many" / "queries.jsonl").write_text("\n".join(map(json.dumps, many)))
    options: dict[str, Any] = {"calibrate": ["--output", tmp_path / "mine.json"], "label": ["--output", "mine"]}
    shown = crag(command, folder, "--split", "many", "--lists", "live", *options.get(command, []))
    assert shown.exit_code == ExitCode.USAGE
    assert "what `crag collect` found in a store, not all of that store" in shown.stderr
    assert configured_model.calls == 0


def test_a_sheet_is_about_the_lists_that_are_there(docs: Path, questions: Path, tmp_path: Path) -> None:
    """Not about others, which a pipeline would retrieve."""
    folder = tmp_path / "data"
    assert crag("collect", questions, folder, "--split", "asked", "--docs", docs).exit_code == 0
    command = ["label", folder, "--split", "asked", "--output", "mine", "--sheet", folder / "asked" / "sheet.xlsx"]
    for other in (["--lists", "live"], ["--top-k", "3"], ["--pipeline", "corrective_rag"]):
        assert f"got a sheet and {other[0]}, wanted the lists" in refused(crag(*command, *other), ExitCode.USAGE)
    nothing = crag(*command)
    assert "Labelled 0 of" in nothing.stdout
    assert "crag calibrate" not in nothing.stdout
    (folder / "asked" / "bm25_top10.jsonl").unlink()
    assert "'asked' has no lists" in refused(crag(*command), ExitCode.USAGE)


def test_what_cannot_be_collected_is_refused_before_anything_is_written(
    docs: Path, questions: Path, tmp_path: Path
) -> None:
    """Neither files nor a store, or both, no questions, no pipeline."""
    folder = tmp_path / "data"
    for options, code, message in (
        ([], ExitCode.USAGE, "neither files nor a store"),
        (["--docs", docs, "--index", "handbook"], ExitCode.USAGE, "got the index 'handbook' without a store"),
        (["--docs", docs, "--pipeline", "indexing"], ExitCode.USAGE, "'indexing'"),
        (["--docs", tmp_path / "none"], ExitCode.INPUTS_FAILED, "none"),
    ):
        assert message in refused(crag("collect", questions, folder, "--split", "asked", *options), code)
    told = crag("collect", tmp_path / "none.txt", folder, "--split", "asked", "--docs", docs)
    assert "no questions can be read from" in refused(told, ExitCode.INPUTS_FAILED)
    assert not folder.exists()
