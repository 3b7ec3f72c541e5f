"""`crag label` through the command line: labels, their cost, and the errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import crag, refused
from evaluation.datasets import SPLIT, write_dataset
from evaluation.towns import FACTS, TOWNS, write_towns
from scripted_model import ScriptedModel, documents_in, judging

from haystack_integrations.crag.cli.errors import ExitCode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The islands."""
    return write_dataset(tmp_path / "the islands")


def answering(text: str) -> float:
    """Who built it."""
    return 0.9 if "was built by" in text else 0.4 if "is known for" in text else 0.0


def test_labels_are_made_told_and_made_once(folder: Path, configured_model: ScriptedModel) -> None:
    """With what they cost; the same command asks nothing again."""
    configured_model.reply = judging(answering)
    command = ("label", folder, "--split", SPLIT, "--output", "mine", "--top-k", "6")
    shown = crag(*command)
    assert shown.exit_code == 0, shown.stderr
    assert "Labelled 24 of 24 questions" in shown.stdout
    assert "14 correct, 5 ambiguous, 5 incorrect" in shown.stdout
    assert "24 calls" in shown.stdout
    assert "crag calibrate" in shown.stdout
    assert {len(documents_in(request["messages"])) for request in configured_model.requests} == {6}
    again = json.loads(crag(*command, "--json").stdout)
    assert configured_model.calls == 24
    assert (again["labelled"], again["left_out"], again["cost"]["llm_calls"]) == (24, 0, 24)
    assert again["verdicts"] == {"correct": 14, "ambiguous": 5, "incorrect": 5}
    result = crag("eval", folder, "--split", "mine", "--grader", "evidence", "--json", "-")
    assert json.loads(result.stdout)["n"] == 24
    assert "a chat model made the labels of 'mine' (`crag label`)" in " ".join(result.stderr.split())
    people = crag("eval", folder, "--split", SPLIT, "--grader", "evidence", "--json", "-")
    assert "made the labels" not in people.stderr


def test_without_lists_the_pipeline_retrieves(folder: Path, configured_model: ScriptedModel) -> None:
    """So many documents for each question."""
    (folder / SPLIT / "bm25_top10.jsonl").unlink()
    (folder / SPLIT / "gap_bm25_top10.jsonl").unlink()
    configured_model.reply = judging(answering)
    shown = crag("label", folder, "--split", SPLIT, "--output", "mine", "--top-k", "3", "--json")
    assert json.loads(shown.stdout)["labelled"] == 24
    lists = [json.loads(line) for line in (folder / "mine" / "bm25_top10.jsonl").read_text().splitlines()]
    assert {len(row["retrieved"]) for row in lists} == {3}
    assert lists[0]["retrieved"][0] == "built-0"


def test_retrieving_without_the_extra_for_evaluation_says_what_to_install(
    folder: Path, configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is indexed; lists that come with the data need none of it."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    told = crag("label", folder, "--split", SPLIT, "--output", "mine", "--lists", "live")
    assert "crag-haystack[eval]" in refused(told, ExitCode.USAGE)
    assert configured_model.calls == 0


def test_what_was_labelled_can_be_calibrated_on(tmp_path: Path, configured_model: ScriptedModel) -> None:
    """From questions without any label to a calibration; the unlabelled split is no leak."""
    folder = write_towns(tmp_path / "towns", count=48)
    path = folder / SPLIT / "queries.jsonl"
    bare = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({"id": row["id"], "question": row["question"]}) + "\n" for row in bare))

    def reply(messages: list) -> tuple[str, str]:
        asked = messages[-1]["content"]
        town = next(town for town in TOWNS if f"old town of {town}" in asked)
        fact = next(fact for fact in FACTS if f"which {fact} has" in asked)
        phrase = FACTS[fact].partition(" {")[0]
        return judging(lambda text: 0.0 if town not in text else 1.0 if phrase in text else 0.4)(messages)

    configured_model.reply = reply
    shown = crag("label", folder, "--split", SPLIT, "--output", "labelled", "--json")
    assert shown.exit_code == 0, shown.stderr
    assert len(json.loads(shown.stdout)["verdicts"]) == 3
    result = crag("calibrate", folder, "--split", "labelled", "--output", tmp_path / "mine.json", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["n"] == 48
    assert "a chat model made the labels of 'labelled'" in result.stderr


def test_labels_beside_those_that_were_there_have_a_way_to_a_calibration(
    tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """Both are of the same questions: the refusal has the commands that set one of them aside, and these are enough."""
    folder = write_towns(tmp_path / "the towns", count=48)
    configured_model.reply = judging(lambda text: 0.9 if "a" in text else 0.0)
    shown = crag("label", folder, "--split", SPLIT, "--output", "mine")
    assert f"'{SPLIT}' has labels of its own" in shown.stdout
    truth = [json.loads(line) for line in (folder / SPLIT / "queries.jsonl").read_text().splitlines()]
    for name in ("queries.jsonl", "bm25_top10.jsonl"):  # labels as people gave them, which a calibration can carry
        (folder / "mine" / name).write_text((folder / SPLIT / name).read_text())
    command = ("calibrate", folder, "--split", "mine", "--output", tmp_path / "mine.json")
    message = refused(crag(*command), ExitCode.USAGE)
    assert f"{len(truth)} questions of split 'mine' stand in '{SPLIT}', too" in message
    assert "the same questions, labelled once more by `crag label`" in message
    commands = message.partition("folder of its own (")[2].partition("), and")[0]
    subprocess.run(commands, shell=True, check=True)
    assert crag(*command).exit_code == 0
    beside = tmp_path / f"the towns-{SPLIT}"
    assert json.loads(crag("eval", beside, "--split", SPLIT, "--grader", "evidence", "--json", "-").stdout)["n"] == 48


def test_questions_that_were_not_graded_are_counted(folder: Path, configured_model: ScriptedModel) -> None:
    """With the reason; the others are there."""

    def reply(messages: list) -> tuple[str, str]:
        return ("No.", "stop") if "of Corvane?" in messages[-1]["content"] else judging(answering)(messages)

    configured_model.reply = reply
    shown = crag("label", folder, "--split", SPLIT, "--output", "mine")
    assert shown.exit_code == ExitCode.INPUTS_FAILED
    assert "Labelled 23 of 24 questions" in shown.stdout
    assert "1 questions have no label (grader_failed:" in shown.stderr
    assert len((folder / "mine" / "queries.jsonl").read_text().splitlines()) == 23


def test_without_a_chat_model_the_settings_are_named(folder: Path) -> None:
    """Nothing is written."""
    message = refused(crag("label", folder, "--split", SPLIT, "--output", "mine"), ExitCode.USAGE)
    assert "CRAG_LLM_BASE_URL and CRAG_LLM_MODEL" in message
    assert not (folder / "mine").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--output", SPLIT], "holds questions that `crag label` did not write; choose another --output"),
        (["--output", "../mine"], "wanted the name of a split"),
        (["--output", "ä" * 128], "wanted the name of a split"),
        (["--output", "mine", "--lists", "live", "--pipeline", "indexing"], "wanted one with the input `query`"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_asked(
    folder: Path, configured_model: ScriptedModel, options: list[str], said: str
) -> None:
    """Got, wanted, way out."""
    assert said in refused(crag("label", folder, "--split", SPLIT, *options), ExitCode.USAGE)
    assert configured_model.calls == 0


def test_labels_of_another_model_are_not_mixed(
    folder: Path, configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun anew, or written elsewhere."""
    configured_model.reply = judging(answering)
    command = ("label", folder, "--split", SPLIT, "--output", "mine")
    assert crag(*command).exit_code == 0
    monkeypatch.setenv("CRAG_LLM_MODEL", "another")
    assert "other model; add --fresh" in refused(crag(*command), ExitCode.USAGE)
    assert crag(*command, "--fresh").exit_code == 0
