"""`crag calibrate` through the command line: figures, files, refusals."""

import json
import os
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree

import pytest
from cli_runner import crag, environment, refused
from evaluation.datasets import SPLIT, write_lines
from evaluation.towns import LENGTH, write_towns
from small_network import write_network

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.corpus_statistics import write_statistics
from haystack_integrations.crag.evaluation.reading import STATISTICS, read_dataset
from haystack_integrations.crag.evaluation.training import counted

WITHOUT_SKLEARN = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sklearn":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from haystack_integrations.crag.cli import main
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The towns; nothing is written into their folder."""
    return write_towns(tmp_path_factory.mktemp("data") / "the towns", count=60)


def test_the_held_out_figures_are_shown_and_the_file_is_used(folder: Path, tmp_path: Path) -> None:
    """With bounds; what a limit does is told, and `crag eval` reads the file."""
    file, page = tmp_path / "my own.json", tmp_path / "mine.html"
    shown = crag(
        "calibrate", folder, "--split", SPLIT, "--output", file, "--max-wrong-generate", "0.375", "--html", page
    )
    assert shown.exit_code == 0, shown.stderr
    option = f"Use it: --calibration '{file}' of crag ask"  # as a shell takes it; what is shown is wrapped
    assert "".join(option.split()) in "".join(shown.stdout.split())
    assert "Calibrated on 60 questions, judged by the first five documents;" in shown.stdout
    assert "held out, in five folds that share no source:" in shown.stdout
    for told in ("macro-F1 0.", "adaptive ECE", "limit 37.5% of wrong answers", "correct from a probability of"):
        assert told in shown.stdout
    assert "no sentence model: it takes 20 questions with labelled sentences, some of them retrieved" in shown.stdout
    assert "warning" not in shown.stderr  # progress is told where it takes long
    text = page.read_text()
    assert "held-out folds" in text
    assert '<th scope="row">judged</th><td>the first five documents</td>' in text
    assert '<th scope="row">folds share no</th><td>source</td>' in text
    assert "at most 0.375 wrong: correct from a probability of" in text
    assert "limit 0.375 of wrong answers" in text
    assert "documents kept of 5: F1" in text
    saving = next(line.strip() for line in shown.stdout.splitlines() if "of its calls at 2 points" in line)
    assert saving.startswith("A cascade whose LLM is always right saves")
    assert saving in text
    lines = [line.strip() for line in shown.stdout.splitlines()]
    asks = next(number for number, line in enumerate(lines) if line.startswith("cascade_rag sends its model"))
    assert "; ".join(lines[asks : asks + 3]) + "." in text
    assert "src=" not in text
    result = crag("eval", folder, "--split", SPLIT, "--calibration", file, "--json", "-", "--html", page)
    assert "correct from a probability of" in page.read_text()
    assert "limit 0.375 of wrong answers" in page.read_text()
    assert json.loads(result.stdout)["grader"] == "calibrated"
    assert json.loads(result.stdout)["n"] == 60
    assert "these figures are not held out" in result.stderr
    rows = [json.loads(line) for line in (folder / SPLIT / "queries.jsonl").read_text().splitlines()]
    write_lines(
        folder / "later" / "queries.jsonl", [*({**row, "question": f"Why? {row['id']}"} for row in rows[:9]), rows[9]]
    )
    result = crag("eval", folder, "--split", "later", "--calibration", file, "--lists", "live", "--json", "-")
    rmtree(folder / "later")  # the others' folder, too
    said = f"fitted on 1 of these questions, which stand in the split {SPLIT!r}, too ({rows[9]['id']!r}): these figures"
    assert said in " ".join(result.stderr.split())


def test_a_verdict_that_few_questions_have_is_told_beside_the_interval_it_narrows(tmp_path: Path) -> None:
    """Five of sixty are incorrect: a third of macro-F1, of which nobody knows much."""
    verdicts = ("correct",) * 6 + ("ambiguous",) * 5 + ("incorrect",)
    folder = write_towns(tmp_path / "towns", count=60, verdicts=verdicts)
    shown = crag("calibrate", folder, "--split", SPLIT, "--output", tmp_path / "mine.json")
    assert shown.exit_code == 0, shown.stderr
    assert "few questions of a verdict (5 incorrect): it counts in macro-F1" in shown.stdout


def test_questions_that_no_figure_is_about_are_told(tmp_path: Path) -> None:
    """Nothing was retrieved for one, another is not strict: the number in the report is less than that in the file."""
    folder = write_towns(tmp_path / "the towns", count=60)
    lists, questions = (folder / SPLIT / name for name in ("bm25_top10.jsonl", "queries.jsonl"))
    first, *others = [json.loads(line) for line in lists.read_text().splitlines()]
    write_lines(lists, [{"id": first["id"], "retrieved": []}, *others])
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    write_lines(questions, [*rows[:-1], {**rows[-1], "strict": False}])
    shown = crag("calibrate", folder, "--split", SPLIT, "--output", tmp_path / "mine.json")
    assert shown.exit_code == 0, shown.stderr
    assert "Calibrated on 58 questions" in shown.stdout
    said = "warning: not in the figures: 2 of 60 questions, for which nothing was retrieved or which the data marks as"
    assert said in " ".join(shown.stderr.split())


def test_what_was_fitted_for_a_limit_that_cannot_be_kept_is_not_lost(folder: Path, tmp_path: Path) -> None:
    """It stands under another name, without the limit; nothing takes the place of the file that was asked for."""
    file, kept = tmp_path / "mine.json", tmp_path / "mine.unlimited.json"
    asked = ("calibrate", folder, "--split", SPLIT, "--output", file, "--max-wrong-generate", "0.045")
    kept.write_text("of somebody else")
    assert f"'{kept}' exists and is no earlier result" in refused(crag(*asked), ExitCode.USAGE)
    assert kept.read_text() == "of somebody else"
    kept.unlink()
    message = refused(crag(*asked), ExitCode.USAGE)
    assert "no threshold keeps the share of wrong answers at 0.045" in message
    assert f"What was fitted is not lost: without a limit it stands in '{kept}'" in message
    assert not file.exists()
    content = json.loads(kept.read_text())
    assert content["verdict"]["correct_from"] is None
    named = message.partition('(as "correct_from": ')[2].partition(")")[0]
    kept.write_text(json.dumps({**content, "verdict": {**content["verdict"], "correct_from": float(named)}}))
    assert crag("eval", folder, "--split", SPLIT, "--calibration", kept).exit_code == 0


def test_a_question_is_judged_by_the_calibration_that_is_named(folder: Path, tmp_path: Path) -> None:
    """The record says so; a pipeline that has no use for it is refused."""
    file = tmp_path / "mine.json"
    assert crag("calibrate", folder, "--split", SPLIT, "--output", file).exit_code == 0
    (tmp_path / "town.md").write_text("Kentville was founded in 1712 by fishermen.\n", "utf-8")
    asked = ("ask", "When was Kentville founded?", "--docs", tmp_path / "town.md", "--json")
    for options, is_calibrated in (((), False), (("--calibration", file), True)):
        record = json.loads(crag(*asked, *options).stdout)["crag"]
        signals = record["signals"]["set"]
        assert signals["calibrated"] is is_calibrated
        assert ("not calibrated on your questions" in crag(*asked[:-1], *options).stdout) is not is_calibrated
        assert 0 <= signals["covered"] <= 1
    said = crag(*asked, "--pipeline", "heuristic_rag", "--calibration", file)
    assert said.exit_code == ExitCode.USAGE
    assert "no part of 'heuristic_rag' judges by a calibration" in said.stderr
    assert "no calibration at 'nowhere.json'" in crag(*asked, "--calibration", "nowhere.json").stderr


def test_lists_of_a_pipeline_are_judged_whole_and_noted_with_their_retrievers(tmp_path: Path) -> None:
    """The calibration is for these only; as JSON the figures are there for programs."""
    folder, file = write_towns(tmp_path / "towns", count=48), tmp_path / "live.json"
    path = folder / SPLIT / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    # Every second question is about a town that is not there: the pipeline finds the others' pages.
    for number, row in enumerate(rows[::2]):
        row |= {"question": f"Visitors often wonder where Zanzu{number} was.", "gold": [], "partial": []}
    write_lines(path, rows)
    (folder / SPLIT / "bm25_top10.jsonl").unlink()
    result = crag("calibrate", folder, "--split", SPLIT, "--output", file, "--lists", "live", "--json")
    assert result.exit_code == 0, result.stderr
    content = json.loads(file.read_text())
    assert content["retrievers"] == ["bm25", "dense"]
    assert content["trained_on"]["documents"] == 10, "judged by whole lists, as the pipeline hands them on"
    told = json.loads(result.stdout)
    assert (told["file"], told["n"], told["gaps"]) == (str(file), 48, None)
    assert told["verdict"]["accuracy"] > 0.9


def test_lists_that_an_index_gave_are_judged_whole(tmp_path: Path) -> None:
    """They are what the pipeline judges: figures and limit of their first five documents would be of other lists."""
    folder, file = write_towns(tmp_path / "towns", count=48), tmp_path / "mine.json"
    write_statistics(counted(read_dataset(folder, SPLIT)), folder / STATISTICS)  # as `crag collect` leaves them
    shown = crag("calibrate", folder, "--split", SPLIT, "--output", file)
    assert shown.exit_code == 0, shown.stderr
    assert "judged by whole lists, as far as they are labelled" in shown.stdout
    assert json.loads(file.read_text())["trained_on"]["documents"] == LENGTH


def test_a_pipeline_that_is_named_for_lists_in_the_data_is_told_to_have_no_effect(tmp_path: Path) -> None:
    """Who names the one that will be served takes the figures for those of its retrieval."""
    folder = write_towns(tmp_path / "few", count=5)
    command = ("calibrate", folder, "--split", SPLIT, "--output", tmp_path / "mine.json")
    said = "--pipeline cascade_rag has no effect on the lists in the data; `crag collect --pipeline` or --lists live"
    assert said in crag(*command, "--pipeline", "cascade_rag").stderr
    assert "no effect" not in crag(*command).stderr


def test_too_few_questions_are_refused_with_the_number_it_takes(tmp_path: Path) -> None:
    """Nothing is written."""
    folder, file = write_towns(tmp_path / "few", count=5), tmp_path / "mine.json"
    message = refused(crag("calibrate", folder, "--split", SPLIT, "--output", file), ExitCode.USAGE)
    assert "needs 40 labelled questions" in message
    assert "label 35 more" in message
    assert not file.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--output", "no/where.json"], "cannot write 'no/where.json'"),
        (["--output", "x.json", "--html", "."], "cannot write '.'"),
        (["--output", "x.json", "--lists", "live", "--pipeline", "nope"], "no shipped pipeline named 'nope'"),
        (["--output", "x.json", "--lists", "live", "--pipeline", "indexing"], "wanted one with the input `query`"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_fitted(folder: Path, options: list[str], said: str) -> None:
    """Got, wanted, way out."""
    assert said in refused(crag("calibrate", folder, "--split", SPLIT, *options), ExitCode.USAGE)


def test_a_file_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    """The corpus named as `--output`, a calibration as `--html` or `--json`: refused; an earlier result is replaced."""
    folder = write_towns(tmp_path / "towns", count=60)
    corpus, file, page, result = folder / "corpus.jsonl", tmp_path / "c.json", tmp_path / "c.html", tmp_path / "r.json"
    before = corpus.read_bytes()
    fit, judge = ("calibrate", folder, "--split", SPLIT), ("eval", folder, "--split", SPLIT, "--limit", "2")
    for _ in range(2):
        assert crag(*fit, "--output", file, "--html", page).exit_code == 0
        assert crag(*judge, "--json", result, "--html", page).exit_code == 0
    # As Windows, or a version control, ends lines; what is written in its place is the same on every system.
    result.write_bytes(result.read_bytes().replace(b"\n", b"\r\n"))
    assert crag(*judge, "--json", result).exit_code == 0
    assert b"\r" not in result.read_bytes()
    calibration = file.read_bytes()
    for command in (
        (*fit, "--output", corpus),
        (*fit, "--output", result),
        (*fit, "--output", file, "--html", corpus),
        (*judge, "--html", file),
        (*judge, "--json", file),
    ):
        assert "exists and is no earlier result of this kind" in refused(crag(*command), ExitCode.USAGE)
    assert "for two results" in refused(crag(*fit, "--output", file, "--html", file), ExitCode.USAGE)
    assert (corpus.read_bytes(), file.read_bytes()) == (before, calibration)


def test_a_disk_that_is_full_is_found_before_anything_is_fitted(tmp_path: Path) -> None:
    """Minutes of work were lost; nothing is left beside the files. The data is not even read."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        ran = crag("calibrate", tmp_path / "none", "--split", SPLIT, "--output", tmp_path / "mine.json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert re.search(r"cannot write '.*mine.json' \(File too large\)", refused(ran, ExitCode.USAGE))
    assert list(tmp_path.iterdir()) == []


def test_a_calibration_goes_where_a_link_or_a_pipe_leads(folder: Path, tmp_path: Path) -> None:
    """A link was replaced by a file; so was /dev/stdout of the whole machine, where root ran the command."""
    (first := tmp_path / "v1.json").write_text('{"format": "crag-calibration"}')
    (link := tmp_path / "current.json").symlink_to(first)
    os.mkfifo(pipe := tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reading:
        piped = reading.submit(subprocess.run, ["cat", pipe], capture_output=True, check=True, timeout=600)
        for output in (link, pipe):
            assert crag("calibrate", folder, "--split", SPLIT, "--output", output).exit_code == 0
            assert output.is_symlink() or output.is_fifo()
        assert json.loads(first.read_bytes()) == json.loads(piped.result().stdout)


def test_a_split_without_lists_says_how_to_make_them(tmp_path: Path) -> None:
    """By retrieval."""
    folder = write_towns(tmp_path / "towns", count=12)
    (folder / SPLIT / "bm25_top10.jsonl").unlink()
    message = refused(crag("calibrate", folder, "--split", SPLIT, "--output", tmp_path / "x.json"), ExitCode.USAGE)
    assert "use --lists live" in message


@pytest.mark.parametrize("command", [["calibrate", "--output", "x.json"], ["eval"]])
def test_without_scikit_learn_the_way_to_get_it_is_told(folder: Path, command: list[str]) -> None:
    """One sentence; the other commands do not need it."""
    name, *options = command
    call = [sys.executable, "-c", WITHOUT_SKLEARN, name, str(folder), "--split", SPLIT, *options]
    result = subprocess.run(call, capture_output=True, text=True, check=False, env=environment())
    assert result.returncode == ExitCode.USAGE, result.stderr
    assert 'pip install "crag-haystack[eval]"' in result.stderr
    assert "Traceback" not in result.stderr


def test_a_calibration_is_for_the_embedding_model_it_was_made_with(folder: Path, tmp_path: Path) -> None:
    """Another model gives other numbers: both are named, and the way out; with its own the file judges."""
    model, file = write_network(tmp_path / "small-network"), tmp_path / "mine.json"
    result = crag("calibrate", folder, "--split", SPLIT, "--output", file, "--model", model)
    assert result.exit_code == 0, result.stderr
    told = " ".join(result.stdout.split())
    assert f"model='{model}'" in result.stdout.replace("\n", "")
    assert "of crag eval, with --model" in told  # `crag ask` and `serve` have no such option, and refuse the file
    assert json.loads(file.read_text())["encoder"] == "small-network"
    asked = ("eval", folder, "--split", SPLIT, "--calibration", file)
    message = refused(crag(*asked), ExitCode.USAGE)
    assert "made with the embeddings of 'small-network', but the grader's model is 'static-minilm-256'" in message
    judged = crag(*asked, "--model", model, "--json", "-")
    assert json.loads(judged.stdout)["verdict"]["macro_f1"] > 0.5
    examined = json.loads(crag("doctor", "--calibration", file, "--json").stdout)["checks"]
    (found,) = [(check["status"], check["found"]) for check in examined if check["name"] == "calibration"]
    assert found[0] == "error"
    assert "made with the embeddings of 'small-network', and the shipped pipelines judge by 'static-minilm" in found[1]


def test_an_embedding_model_that_nothing_would_use_is_refused(folder: Path, tmp_path: Path) -> None:
    """Else a figure would be taken for that model's."""
    model = write_network(tmp_path / "small-network")
    for more in ((), ("--grader", "llm")):
        message = refused(crag("eval", folder, "--split", SPLIT, "--model", model, *more), ExitCode.USAGE)
        assert "no grader that embeds" in message
    message = refused(crag("eval", folder, "--split", SPLIT, "--model", model, "--grader", "heuristic"), ExitCode.USAGE)
    assert "calibrate with this one" in message
