"""`crag eval`: the table, the files, comparison, and the errors, through the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_runner import SCRIPT, crag, environment, in_process, refused
from evaluation.datasets import ISLANDS, SPLIT, write_dataset, write_lines
from scripted_model import NAME, ScriptedModel, documents_in, judging

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.pipelines.loader import source

KEYS = [
    *"dataset split pipeline grader lists n verdict filter strips answer_support gaps cost first".split(),
    *"gaps_at_10_percent intervals comparison".split(),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set in a folder with a space in its name."""
    return write_dataset(tmp_path / "the islands")


def test_the_table_shows_the_measures_and_the_confusion(folder: Path) -> None:
    """For people."""
    result = crag("eval", folder, "--split", SPLIT, "--grader", "evidence")
    assert result.exit_code == 0, result.stderr
    assert "the islands · dev · corrective_retrieval · evidence" in result.stdout
    assert "verdict macro-F1" in result.stdout
    assert "documents kept of 10: F1" in result.stdout
    assert "true ↓  told →" in result.stdout
    assert result.stderr == ""


def test_the_result_is_written_with_its_records(folder: Path, tmp_path: Path) -> None:
    """Exactly the keys that other tools read; one line for each question beside it, after a head."""
    file = tmp_path / "a result.json"
    assert crag("eval", folder, "--split", SPLIT, "--grader", "evidence", "--json", file).exit_code == 0
    result = json.loads(file.read_text())
    assert list(result) == KEYS
    assert (result["dataset"], result["n"], result["lists"]) == ("the islands", len(ISLANDS), "fixed")
    assert result["verdict"]["macro_f1"] > 0.9
    lines = (tmp_path / "a result.json.records.jsonl").read_text().splitlines()
    assert len(lines) == len(ISLANDS) + 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="its names are always text")
def test_a_folder_whose_name_is_no_text_is_evaluated_to_the_end(folder: Path, tmp_path: Path) -> None:
    """As from a disk of another time: all was judged before anything was written."""
    old, file = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"), tmp_path / "result.json"
    folder.rename(old)
    options = ("--grader", "evidence", "--json", file, "--html", tmp_path / "page.html")
    assert crag("eval", old, "--split", SPLIT, *options).exit_code == 0
    assert json.loads(file.read_text())["dataset"] == "caf\ufffd"


def test_what_live_figures_are_about_is_said_in_the_table_and_on_the_page(folder: Path, tmp_path: Path) -> None:
    """The last list of each run; the first one's verdict stands beside it, and in the result."""
    page, file = tmp_path / "report.html", tmp_path / "live.json"
    options = ("--grader", "evidence", "--lists", "live", "--html", page, "--json", file, "--workers", "1")
    shown = crag("eval", folder, "--split", SPLIT, *options)
    assert shown.exit_code == 0, shown.stderr
    told = " ".join(shown.stdout.split())
    assert "first list: verdict macro-F1 1.000 1.000 to 1.000" in told
    said = (
        "verdict and truth are those of the last list of each run, after corrections, which changed the truth of 0 of"
    )
    assert said in told
    assert said in page.read_text()
    assert "first list: verdict macro-F1" in page.read_text()
    assert "in the order they were retrieved" not in page.read_text()  # a run's record does not tell it
    assert "Kept documents first" in page.read_text()
    first = json.loads(file.read_text())["first"]
    assert (first["accuracy"], first["truth_changed"]) == (1.0, 0)
    assert "Live lists" not in crag("eval", folder, "--split", SPLIT, "--grader", "evidence").stdout


def test_a_dash_prints_json_and_nothing_else(folder: Path) -> None:
    """For programs, without a file."""
    result = crag("eval", folder, "--split", SPLIT, "--grader", "evidence", "--json", "-", "--limit", "12")
    assert list(json.loads(result.stdout)) == KEYS
    assert json.loads(result.stdout)["n"] == 12
    assert result.stderr == ""


def test_a_program_is_told_what_the_terminal_shows(folder: Path, tmp_path: Path) -> None:
    """Gaps at a rate of false alarms, intervals, and what was compared: none of it is in the table alone."""
    base, ours = tmp_path / "base.json", ("eval", folder, "--split", SPLIT, "--grader", "evidence", "--json")
    assert crag("eval", folder, "--split", SPLIT, "--grader", "coherence", "--json", base).exit_code == 0
    alone = json.loads(base.read_text())
    result = json.loads(crag(*ours, "-", "--compare", base).stdout)
    shown = " ".join(crag(*ours, tmp_path / "new.json", "--compare", base).stdout.split())
    assert json.loads((tmp_path / "new.json").read_text())["comparison"]["about"] == result["comparison"]["about"]
    gap = result["gaps_at_10_percent"]
    assert f"by score alone: {gap['recall']:.0%} at {gap['false_alarms']:.0%} false alarms" in shown
    assert f"below {gap['threshold']:.3f}" in shown
    low = result["intervals"]["verdict.macro_f1"]["low"]
    assert f"{result['verdict']['macro_f1']:.3f} {low:.3f} to" in shown
    assert result["comparison"]["about"] == "Compared on all 24 questions"
    change = result["comparison"]["measures"]["verdict.macro_f1"]
    assert change["base"] == pytest.approx(alone["verdict"]["macro_f1"])
    assert change["difference"] == pytest.approx(result["verdict"]["macro_f1"] - alone["verdict"]["macro_f1"])
    assert alone["comparison"] is None


def test_what_does_not_apply_is_null(tmp_path: Path) -> None:
    """Never 0: no gap list, no labelled sentence, no answer."""
    folder = write_dataset(tmp_path / "set", without=["gap_bm25_top10.jsonl"])
    path = folder / SPLIT / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    write_lines(path, [{key: row[key] for key in ("id", "question", "gold")} for row in rows])
    result = json.loads(crag("eval", folder, "--split", SPLIT, "--grader", "evidence", "--json", "-").stdout)
    assert set(result["gaps"].values()) == set(result["strips"].values()) == {None}
    assert set(result["answer_support"].values()) == {None}
    assert result["gaps_at_10_percent"] is None
    assert result["filter"]["f1"] is not None


def test_the_report_is_one_page_with_the_evidence(folder: Path, tmp_path: Path) -> None:
    """Nothing in it is loaded from elsewhere."""
    page = tmp_path / "report.html"
    assert crag("eval", folder, "--split", SPLIT, "--grader", "coherence", "--html", page).exit_code == 0
    text = page.read_text()
    assert "<html" in text
    assert "src=" not in text


def test_two_results_are_compared_by_question(folder: Path, tmp_path: Path) -> None:
    """The earlier one's records are beside it; without them there is nothing to compare with."""
    base, file = tmp_path / "base.json", tmp_path / "new.json"
    assert crag("eval", folder, "--split", SPLIT, "--grader", "coherence", "--json", base).exit_code == 0
    result = crag("eval", folder, "--split", SPLIT, "--grader", "evidence", "--json", file, "--compare", base)
    assert result.exit_code == 0, result.stderr
    assert "difference" in result.stdout
    assert "Compared on all 24 questions" in result.stdout
    (tmp_path / "base.json.records.jsonl").unlink()
    lost = crag("eval", folder, "--split", SPLIT, "--compare", base)
    assert "no records at" in (said := refused(lost, ExitCode.INPUTS_FAILED))
    assert "pass the FILE of an earlier `crag eval --json FILE`" in said


def test_only_questions_that_both_have_are_compared(folder: Path, tmp_path: Path) -> None:
    """The records beside a result may be of more questions than it is; what both have is counted, and told."""
    base, page = tmp_path / "base.json", tmp_path / "report.html"
    judged = ("eval", folder, "--split", SPLIT)
    assert crag(*judged, "--grader", "coherence", "--json", base).exit_code == 0
    assert crag(*judged, "--grader", "coherence", "--json", base, "--limit", "12").exit_code == 0
    assert len((tmp_path / "base.json.records.jsonl").read_text().splitlines()) == len(ISLANDS) + 1
    few = json.loads(base.read_text())
    for options, said in (
        ((), "Compared on the 12 questions that both have judged, of 24 here and 12 in the base"),
        (("--limit", "10"), "Compared on the 10 questions that both have judged, of 10 here and 12 in the base"),
        (("--limit", "12"), "Compared on all 12 questions"),
    ):
        result = crag(*judged, "--grader", "evidence", "--compare", base, "--html", page, *options)
        assert said in " ".join(result.stdout.split())
        assert said in page.read_text()
    line = next(one for one in result.stdout.splitlines() if one.startswith("verdict accuracy"))
    assert f" {few['verdict']['accuracy']:.3f} " in line


def test_a_comparison_with_verdicts_on_lists_of_another_length_says_so(folder: Path, tmp_path: Path) -> None:
    """What is right for the first document alone may be wrong for five: the difference is not the grader's."""
    base, judged = tmp_path / "base.json", ("eval", folder, "--split", SPLIT, "--grader", "evidence")
    file = folder / SPLIT / "bm25_top10.jsonl"
    first, *others = [json.loads(line) for line in file.read_text().splitlines()]
    write_lines(file, [{"id": first["id"], "retrieved": ["other-0", "built-0"]}, *others])
    assert crag(*judged, "--top-k", "1", "--json", base).exit_code == 0
    said = " ".join(crag(*judged, "--compare", base).stdout.split())
    assert "Compared on all 24 questions. Of 1 of them the right verdict was another one in the base" in said
    assert "right verdict was" not in crag(*judged, "--top-k", "1", "--compare", base).stdout


def test_an_earlier_result_of_other_questions_is_refused_before_anything_is_judged(
    folder: Path, tmp_path: Path
) -> None:
    """Also where the ids are the same."""
    base, path = tmp_path / "base.json", folder / SPLIT / "queries.jsonl"
    assert crag("eval", folder, "--split", SPLIT, "--grader", "coherence", "--json", base).exit_code == 0
    path.write_text(path.read_text().replace("lighthouse of", "windmill of"))
    refusal = refused(crag("eval", folder, "--split", SPLIT, "--grader", "llm", "--compare", base), ExitCode.USAGE)
    assert "got no question in common, wanted some to compare: 24 here, 24 in the base; evaluate both" in refusal


@pytest.mark.parametrize("place", [".", "..", "/"])
def test_a_folder_is_no_result_to_compare_with(place: str, folder: Path) -> None:
    """The file in it may have any name."""
    message = refused(crag("eval", folder, "--split", SPLIT, "--compare", place), ExitCode.USAGE)
    assert f"got the folder {place!r}, wanted the file of a result" in message


def test_a_run_that_was_cut_off_is_taken_up(folder: Path, tmp_path: Path) -> None:
    """By the same command; another grader is refused, `--fresh` begins anew."""
    file, journal = tmp_path / "result.json", tmp_path / "result.json.records.jsonl"
    command = ("eval", folder, "--split", SPLIT, "--json", file)
    assert in_process(*command, "--grader", "evidence").returncode == 0
    whole, lines = json.loads(file.read_text()), journal.read_text().splitlines(keepends=True)
    file.unlink()
    journal.write_text("".join(lines[:9]) + lines[9][:30])
    assert crag(*command, "--grader", "evidence").exit_code == 0
    again = json.loads(file.read_text())
    # Intervals are of the cost, too, which is another one.
    assert {**again, "cost": None, "intervals": None} == {**whole, "cost": None, "intervals": None}
    assert journal.read_text().startswith("".join(lines[:9]))
    assert "other grader; add --fresh" in refused(crag(*command, "--grader", "rerank"), ExitCode.USAGE)
    assert crag(*command, "--grader", "rerank", "--fresh").exit_code == 0


def test_an_interruption_from_the_keyboard_loses_nothing(tmp_path: Path) -> None:
    """One sentence and the usual exit code, no traceback of any process; the same command ends the evaluation."""
    folder = write_dataset(tmp_path / "many questions", times=150)
    file, journal = tmp_path / "result.json", tmp_path / "result.json.records.jsonl"
    command = ["eval", str(folder), "--split", SPLIT, "--grader", "evidence", "--json", str(file)]
    started: Any = {"text": True, "stderr": subprocess.PIPE, "env": environment(), "start_new_session": True}
    # A background job of a shell ignores the keyboard, and what it starts inherits that.
    started["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen([*SCRIPT, *command, "--workers", "2"], **started) as process:
        end = time.monotonic() + 120
        while (not journal.exists() or journal.read_bytes().count(b"\n") < 5) and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr is not None
        said = process.stderr.read()
    assert said.startswith("error: interrupted; finished work is kept")
    assert said.count("\n") == 1
    finished = journal.read_text().splitlines(keepends=True)
    assert crag(*command).exit_code == 0
    assert journal.read_text().startswith("".join(finished))
    assert json.loads(file.read_text())["n"] == 150 * len(ISLANDS)


@pytest.mark.skipif(sys.platform == "win32", reason="killed in another way")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_time_limit_leaves_nothing_in_temporary_folders(workers: str, tmp_path: Path) -> None:
    """SIGTERM ends it as before, but words of the corpus stayed there for as long as the machine ran."""
    folder = write_dataset(tmp_path / "many questions", times=150)
    file, journal = tmp_path / "result.json", tmp_path / "result.json.records.jsonl"
    (temporary := tmp_path / "temporary").mkdir()
    command = ["eval", str(folder), "--split", SPLIT, "--json", str(file), "--workers", workers]
    started: Any = {"text": True, "stderr": subprocess.PIPE, "env": environment() | {"TMPDIR": str(temporary)}}
    with subprocess.Popen([*SCRIPT, *command], **started) as process:
        end = time.monotonic() + 120
        while (not journal.exists() or journal.read_bytes().count(b"\n") < 5) and time.monotonic() < end:
            time.sleep(0.02)
        assert [*temporary.glob("crag-eval-*/*")]
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == -signal.SIGTERM
    assert said.startswith("error: interrupted; finished work is kept")
    assert not [*temporary.iterdir()]


def test_questions_that_stand_twice_are_told(folder: Path) -> None:
    """By name, and how many of them have other labels: each counts as often as it stands there."""
    path = folder / SPLIT / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[7] |= {"question": rows[3]["question"].upper(), "gold": []}
    rows[8] |= {name: rows[4][name] for name in ("question", "gold", "partial")}
    write_lines(path, rows)
    said = crag("eval", folder, "--split", SPLIT, "--grader", "evidence")
    assert said.exit_code == 0, said.stderr
    told = " ".join(said.stderr.split())
    assert "2 questions stand more than once in the split 'dev', 1 of them with other labels each time" in told
    assert "('q3' and 'q7'; 'q4' and 'q8'); each counts as often as it stands there" in told


@pytest.mark.parametrize("command", [("eval", "--grader", "evidence"), ("calibrate", "--output", "mine.json")])
def test_labels_that_do_not_follow_from_the_grades_are_told(
    folder: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of the command: they may be why."""
    monkeypatch.chdir(folder)
    file = folder / SPLIT / "bm25_top10.jsonl"
    first, *others = [json.loads(line) for line in file.read_text().splitlines()]
    write_lines(file, [{**first, "label_top5": "ambiguous"}, *others])
    result = crag(command[0], folder, "--split", SPLIT, *command[1:])
    said = f"warning: 1 label does not follow from the grades ({file}:1: 'ambiguous' as label_top5, not 'correct')"
    assert said in result.stderr


def test_a_corrupt_line_is_named(folder: Path) -> None:
    """With file and number."""
    path = folder / SPLIT / "queries.jsonl"
    path.write_text(path.read_text().replace('"id": "q2"', '"id": q2'))
    message = refused(crag("eval", folder, "--split", SPLIT), ExitCode.INPUTS_FAILED)
    assert "queries.jsonl:3: got another line, wanted one JSON object" in message


def test_an_unknown_id_is_named(folder: Path) -> None:
    """With file, line and way out."""
    path = folder / SPLIT / "bm25_top10.jsonl"
    path.write_text(path.read_text().replace("other-7", "other-77"))
    message = refused(crag("eval", folder, "--split", SPLIT), ExitCode.INPUTS_FAILED)
    assert "got the unknown id 'other-77'" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--pipeline", "nope"], "no shipped pipeline named 'nope'"),
        (["--pipeline", "corrective_rag"], "ask a chat model, but none is configured"),
        (["--pipeline", "corrective_rag"], "or take --grader heuristic"),
        (["--pipeline", "corrective_rag", "--lists", "live", "--grader", "heuristic"], "take --pipeline corrective"),
        (["--grader", "llm"], "asks a chat model, but none is configured"),
        (["--calibration", "nowhere.json"], "no calibration at 'nowhere.json'"),
        (["--json", "no/where.json"], "cannot write 'no/where.json'"),
        (["--html", "."], "cannot write '.'"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_judged(folder: Path, options: list[str], said: str) -> None:
    """Got, wanted, way out."""
    assert said in refused(crag("eval", folder, "--split", SPLIT, *options), ExitCode.USAGE)


@pytest.mark.parametrize(("part", "command"), [("router", "eval"), ("guard", "ask")])
def test_an_unknown_setting_in_a_file_of_ones_own_is_named(
    folder: Path, tmp_path: Path, part: str, command: str
) -> None:
    """In one line, by each command that reads the file, with the setting that was meant and no value of others."""
    slips = {"router": ("max_iteration", "max_iterations"), "guard": ("budgets", "budget")}
    spec = yaml.safe_load(source("corrective_retrieval"))
    spec["components"][part]["init_parameters"][slips[part][0]] = 7_654_321
    own = tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(spec))
    options = ["eval", folder, "--split", SPLIT] if command == "eval" else ["ask", "Why?", "--docs", folder]
    said = refused(crag(*options, "--pipeline", own), ExitCode.USAGE)
    assert said.startswith(f"the component {part!r} of {str(own)!r}: ")
    assert f"has no setting ['{slips[part][0]}']; did you mean '{slips[part][1]}'?" in said
    assert "7654321" not in said


def test_a_chat_model_can_grade(folder: Path, configured_model: ScriptedModel) -> None:
    """Its calls and tokens are counted, those of the verdict alone."""
    configured_model.reply = judging(lambda text: 0.9 if "was built by" in text else 0.0)
    options = ("--grader", "llm", "--json", "-", "--workers", "1", "--limit", "4")
    done = crag("eval", folder, "--split", SPLIT, *options)
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert (result["grader"], result["cost"]["llm_calls"]) == ("llm", 1.0)
    assert result["cost"]["tokens_in"] > 0
    assert result["verdict"]["accuracy"] == 1.0
    assert configured_model.gradings == 3 * 4
    assert "no verdict" not in done.stderr


def test_a_chat_model_that_grades_nothing_is_told_beside_the_figures(
    folder: Path, configured_model: ScriptedModel
) -> None:
    """An accuracy of 0 would look like a bad model, where its server is down."""
    configured_model.reply = lambda _: "Sure!"
    done = crag("eval", folder, "--split", SPLIT, "--grader", "llm", "--json", "-", "--workers", "1", "--limit", "2")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["verdict"]["accuracy"] == 0.0
    assert "2 of 2 questions have no verdict, as grades failed" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "options",
    [("--grader", "llm"), ("--pipeline", "corrective_rag"), ("--pipeline", "corrective_rag", "--lists", "live")],
    ids=["grader", "fixed", "live"],
)
def test_the_model_that_is_set_to_grade_grades(
    folder: Path, configured_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """As in what is served: else another one was evaluated."""
    monkeypatch.setenv("CRAG_LLM_GRADING_MODEL", "small")
    configured_model.reply = judging(lambda _: 0.9)
    done = crag("eval", folder, "--split", SPLIT, *options, "--json", "-", "--workers", "1", "--limit", "2")
    assert done.exit_code == 0, done.output
    asked = {(bool(documents_in(call["messages"])), call["model"]) for call in configured_model.requests}
    assert asked == {(True, "small"), *({(False, NAME)} if "live" in options else ())}


def test_a_cascade_asks_its_model_only_where_the_scorer_is_not_sure(
    folder: Path, tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """Its own scorer and gate decide; what was not asked costs nothing."""
    configured_model.reply = judging(
        lambda text: 0.9 if "was built by" in text else 0.5 if "is known for" in text else 0.0
    )
    spec = yaml.safe_load(source("cascade_rag"))
    spec["components"]["scorer"]["init_parameters"] = {"weights": "evidence"}
    spec["components"]["gate"]["init_parameters"] = {"low": 0.2, "high": 0.9}
    path = tmp_path / "my cascade.yml"
    path.write_text(yaml.safe_dump(spec))
    shown = crag("eval", folder, "--split", SPLIT, "--pipeline", path, "--json", "-", "--workers", "1")
    result = json.loads(shown.stdout)
    assert result["verdict"]["accuracy"] > 0.9
    assert 0 < result["cost"]["llm_calls"] < 1


def test_gaps_of_a_cascade_that_asks_for_some_lists_are_not_ranked(
    folder: Path, tmp_path: Path, configured_model: ScriptedModel
) -> None:
    """A probability and a model's score are two scales: none instead of a figure, and why, in both reports."""
    configured_model.reply = judging(lambda text: 0.9 if "was built by" in text else 0.0)
    spec = yaml.safe_load(source("cascade_rag"))
    spec["components"]["gate"]["init_parameters"] = {"sure": 0.9}
    path, page = tmp_path / "my cascade.yml", tmp_path / "report.html"
    path.write_text(yaml.safe_dump(spec))
    shown = crag("eval", folder, "--split", SPLIT, "--pipeline", path, "--html", page, "--workers", "1")
    assert configured_model.calls > 0
    assert "gaps noticed by score alone: n/a (" in " ".join(shown.stdout.split())
    assert "two scales make no order, so only the verdicts tell" in " ".join(shown.stdout.split())
    assert "two scales make no order" in page.read_text()
