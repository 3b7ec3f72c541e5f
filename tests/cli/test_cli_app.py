"""`crag`: help, asking files, and the errors that every command shares."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runner import PENGUINS, QUESTION, SCRIPT, crag, environment, in_process, refused
from files import pdf
from haystack import Document
from makers import fill, grading_by, scripted
from metasearch import Metasearch

from haystack_integrations.crag import __version__
from haystack_integrations.crag.cli import output
from haystack_integrations.crag.cli.check import Check
from haystack_integrations.crag.cli.errors import MEANINGS, ExitCode, explain, interrupted
from haystack_integrations.crag.cli.output import plain, progress_bar
from haystack_integrations.crag.cli.tables import checks_view
from haystack_integrations.crag.cli.views import run_view
from haystack_integrations.crag.components import BatchRelevanceGrader
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store


def test_the_version_is_one_line() -> None:
    """Exactly the package's name and version."""
    assert crag("--version").stdout == f"crag-haystack {__version__}\n"


def test_help_lists_every_exit_code() -> None:
    """The codes that scripts rely on stand in the help, from the one table that the code uses."""
    shown = crag("--help").stdout
    for code, meaning in MEANINGS.items():
        assert f"{code.value}  {meaning}" in shown


def test_help_offers_only_what_a_command_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`crag index` refuses a store that forgets; a calibration of the settings is read by a server and by `doctor`."""
    monkeypatch.setenv("COLUMNS", "200")  # each option on one line
    told = {name: crag(name, "--help").output for name in ("index", "ask", "serve", "doctor")}
    assert "elasticsearch; or set CRAG_STORE" in told["index"]
    assert "or memory" not in told["index"]
    assert {name for name, words in told.items() if "CRAG_CALIBRATION" in words} == {"serve", "doctor"}
    assert crag("index", "tests", "--store", "memory").exit_code == ExitCode.USAGE


def test_help_imports_no_haystack() -> None:
    """Help comes at once: the heavy imports come with the commands."""
    code = "import sys; from haystack_integrations.crag.cli.app import app; print('haystack' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert shown.stdout == "False\n"


def test_an_unknown_option_is_bad_usage() -> None:
    """A wrong option ends with 2, like every command line."""
    assert crag("ask", "--nope").exit_code == ExitCode.USAGE


def test_the_supporting_sentence_is_shown_with_its_source(docs: Path) -> None:
    """Verdict, evidence and trail; the sentence that answers stands first."""
    result = crag("ask", QUESTION, "--docs", docs)
    assert result.exit_code == 0, result.stderr
    assert "penguins.md" in result.stdout
    assert "Emperor penguins live on the coast of Antarctica." in result.stdout
    assert "Decision trail" in result.stdout
    assert "pass 1 of 3" in result.stdout


def test_a_web_search_that_fails_is_told_with_what_says_why(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address without its scheme, for example: the run goes on without the web."""
    monkeypatch.setenv("CRAG_SEARXNG_URL", "127.0.0.1:9")
    shown = crag("ask", "Who repairs bicycles?", "--docs", docs, "--pipeline", "heuristic_rag").stdout
    assert "Warning   the web search failed (`crag doctor` says why)" in shown


def test_an_interruption_while_the_command_is_loaded_shows_no_traceback() -> None:
    """A library is being imported when it comes."""
    coming = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from haystack_integrations.crag.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", coming], capture_output=True, text=True, check=False, env=environment()
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("ask", "interrupted"),
        ("calibrate", "interrupted"),
        ("index", "interrupted; finished work is kept, run the same command again to resume"),
        ("eval", "interrupted; finished work is kept if `--json FILE` names a place for it, run the same"),
    ],
)
def test_an_interruption_promises_only_what_the_command_keeps(command: str, told: str) -> None:
    """Nothing stays of a question to files in memory, nor of a calibration."""
    assert interrupted(command).startswith(told)
    assert ("stays" in told) == ("stays" in interrupted(command))


def test_a_question_without_spaces_is_warned_of_in_a_sentence(docs: Path) -> None:
    """The record has a word for programs; a person is told what it means."""
    shown = crag("ask", "ペンギンはどこに住んでいますか", "--docs", docs).stdout
    assert "Warning   the question has no spaces between words, so it cannot be judged well" in shown
    assert "unspaced_question" not in shown


def test_json_holds_answer_evidence_record_and_failures(docs: Path) -> None:
    """One object on stdout; the offsets cite the text exactly."""
    outcome = json.loads(crag("ask", QUESTION, "--docs", docs, "--json").stdout)
    assert outcome["question"] == QUESTION
    assert outcome["answer"] is None
    assert outcome["answered"] is True
    assert outcome["failures"] == []
    assert outcome["crag"]["verdict"] == "correct"
    first = outcome["evidence"][0]
    assert (first["source"], first["status"], first["number"]) == ("penguins.md", "graded", 1)
    assert 0.0 <= first["score"] <= 1.0
    assert first["sentences"][0]["text"].startswith("Emperor penguins live")
    for item in outcome["evidence"]:
        assert all(item["text"][one["start"] : one["end"]] == one["text"] for one in item["sentences"])


def test_evidence_from_the_web_is_told_apart(docs: Path, metasearch: Metasearch) -> None:
    """By its origin, and in words behind its address: the source of a file may be an address, too."""
    metasearch.finds(["A refund is paid within 30 days of the return, to the account that paid."])
    command = ("ask", "When is a refund paid?", "--docs", docs, "--pipeline", "heuristic_rag")
    shown = in_process(*command, CRAG_SEARXNG_URL=metasearch.url).stdout
    assert re.search(r"https://example0\.org/ .*from the web", shown), shown
    told = json.loads(in_process(*command, "--json", CRAG_SEARXNG_URL=metasearch.url).stdout)
    assert [item["origin"] for item in told["evidence"]] == ["web"]


STEERING = "\x1b[2J\x1b]0;owned\x07\x9b1A\r\x08\u202e"


@pytest.mark.parametrize("settings", [{}, {"FORCE_COLOR": "1"}], ids=["piped", "coloured"])
def test_no_text_steers_the_terminal(docs: Path, settings: dict[str, str]) -> None:
    """Neither a document nor the name of its file: what would clear the screen or hide words is shown as a sign."""
    hostile = docs / "pen\x1b[8mguins.md"
    hostile.write_text(f"Emperor penguins live {STEERING} on the coast of Antarctica.", "utf-8", newline="")
    shown = in_process("ask", f"{QUESTION} \x1b[5m", "--docs", docs, **settings)
    assert shown.returncode == 0, shown.stderr
    assert not any(hidden in shown.stdout for hidden in ("\x1b[8m", "\x1b[5m"))
    said = re.sub(r"\x1b\[[0-9;]*m", "", shown.stdout) if settings else shown.stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said)
    assert "\u241b[2J" in said
    assert "owned" in said
    told = in_process("ask", QUESTION, "--docs", docs, "--json", **settings).stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", told)
    assert "\x1b[2J" in json.dumps(json.loads(told)["evidence"], ensure_ascii=False).replace("\\u001b", "\x1b")


def test_the_name_of_a_file_stays_on_its_line(docs: Path) -> None:
    """A line of its own would look like one of the command's."""
    (docs / "peng\nVerdict   correct.md").write_text(PENGUINS)
    (docs / "none\nVerdict   correct.md").write_bytes(b"\0")
    shown = crag("ask", QUESTION, "--docs", docs)
    assert "Verdict   correct" not in (shown.stdout + shown.stderr).splitlines()
    assert "not read: none\u240aVerdict   correct.md: got a binary file" in shown.stderr


def test_several_paths_may_follow_docs(docs: Path) -> None:
    """`--docs *.md` is what a shell makes of it: several paths."""
    paths = sorted(docs.iterdir())
    outcome = json.loads(crag("ask", QUESTION, "--json", "--docs", *paths).stdout)
    assert outcome["crag"]["coverage"]["documents_in"] >= 2


def test_what_is_answered_from_is_not_called_kept_where_nothing_was_kept() -> None:
    """In the verdict's line and in the trail, beside `0 kept`."""
    store = memory_store()
    fill(store, [Document(content="Emperor penguins live on the coast of Antarctica.")])
    rag = load("corrective_retrieval", store=store, router={"on_incorrect": "generate"})
    shown = plain(run_view(rag.run(query="How is the interest on a mortgage calculated?")["crag"]))
    assert "0 kept, 1 discarded" in shown
    assert shown.count("generate  answer from the best that was found") == 2
    assert "what was kept" not in shown


def test_what_passed_the_filter_of_an_incorrect_list_is_not_said_to_answer() -> None:
    """The verdict is on all of it together, and each document passes by its own grade."""
    store = memory_store()
    fill(store, [Document(content="Emperor penguins live on the coast of Antarctica.")])
    thresholds = {"upper": 0.9, "lower": 0.6, "aggregate": "max", "on_incorrect": "generate"}
    grader = BatchRelevanceGrader(chat_generator=grading_by(lambda _: 0.5))
    rag = load("corrective_retrieval", store=store, grader=grader, router=thresholds)
    shown = plain(run_view(rag.run(query="Where do penguins live?")["crag"]))
    assert "1 kept" in shown
    assert shown.count("generate  give what passed the filter, which may not answer") == 2


def test_a_score_on_a_threshold_that_must_be_exceeded_is_not_called_below_it() -> None:
    """Four documents with 3 of 10 are a mean of exactly 0.30, and incorrect by the rule of that design."""
    store = memory_store()
    fill(store, [Document(content=f"Emperor penguins live on coast {number}.") for number in range(4)])
    rag = load("ranked_rag", store=store, grader=grading_by(lambda _: 3), generator=scripted("x"))
    shown = plain(run_view(rag.run(query="Where do penguins live?", web=False)["crag"]))
    assert "incorrect 0.30  no more than 0.30" in shown
    assert "below 0.30" not in shown


def test_nothing_answers_is_an_exit_code_of_its_own(docs: Path) -> None:
    """A script can tell «nothing there» from «broken»; the run still says why."""
    result = crag("ask", "How is the interest on a mortgage calculated?", "--docs", docs, "--json")
    assert result.exit_code == ExitCode.NOT_ANSWERED
    outcome = json.loads(result.stdout)
    assert (outcome["answer"], outcome["answered"], outcome["evidence"]) == (None, False, [])
    assert outcome["crag"]["action"] == "abstain"
    shown = crag("ask", "How is the interest on a mortgage calculated?", "--docs", docs)
    assert "The documents do not answer this question." in shown.stdout


@pytest.mark.parametrize(("pipeline", "mode"), [("heuristic_rag", "enforce"), ("corrective_retrieval", "observe")])
def test_evidence_that_is_shown_with_the_verdict_incorrect_is_no_answer(docs: Path, pipeline: str, mode: str) -> None:
    """At a limit, or where nothing is acted on, the best that was found is shown: a script read it as answered."""
    asked = ("ask", "How is the interest on a mortgage calculated?", "--docs", docs, "--pipeline", pipeline)
    result = crag(*asked, "--mode", mode, "--json")
    outcome = json.loads(result.stdout)
    assert outcome["evidence"]
    assert outcome["crag"]["verdict"] == "incorrect"
    assert (outcome["answered"], result.exit_code) == (False, ExitCode.NOT_ANSWERED)


def test_one_bad_file_stops_no_other(docs: Path) -> None:
    """The answer comes, the bad file is named on stderr, and the exit code says that something is missing."""
    (docs / "broken.pdf").write_text("this is no PDF")
    result = crag("ask", QUESTION, "--docs", docs, "--json")
    assert result.exit_code == ExitCode.INPUTS_FAILED
    outcome = json.loads(result.stdout)
    assert outcome["evidence"][0]["source"] == "penguins.md"
    assert [failure["source"] for failure in outcome["failures"]] == ["broken.pdf"]
    assert result.stderr.startswith("not read: broken.pdf: ")


def test_files_of_other_kinds_are_told_and_stop_nothing(docs: Path) -> None:
    """Whoever asks what stands in a spreadsheet learns why nothing is found."""
    for name in ("a.ods", "b.ODS", "c.eml", "d.py", "e.toml", "f.cfg", "LICENSE"):
        (docs / name).write_text("x")
    result = crag("ask", QUESTION, "--docs", docs)
    assert result.exit_code == 0
    assert result.stderr.startswith("note: 2 .ods, 1 .eml, 1 .py, 1 .toml, 2 other: not read; ")


def test_a_pdf_whose_text_is_of_no_use_is_a_warning(docs: Path) -> None:
    (docs / "glued.pdf").write_bytes(pdf("Penguinslivemostlyonsoutherncoastsandislandsofcoldwater" * 9))
    result = crag("ask", QUESTION, "--docs", docs, "--json")
    assert result.exit_code == ExitCode.DONE
    assert result.stderr.startswith("warning: glued.pdf: got a PDF of which its words are not separated")
    outcome = json.loads(result.stdout)  # where more than twenty are told of, the others are said to be here
    assert (outcome["failures"], [doubt["source"] for doubt in outcome["doubts"]]) == ([], ["glued.pdf"])


def test_the_mode_of_a_run_can_be_chosen(docs: Path) -> None:
    """`observe` decides, says so, and corrects nothing."""
    result = crag("ask", QUESTION, "--docs", docs, "--mode", "observe")
    assert "not acted on: mode observe" in result.stdout
    assert refused(crag("ask", QUESTION, "--docs", docs, "--mode", "maybe"), ExitCode.USAGE).startswith("mode must")


def test_fewer_documents_can_be_asked_for(docs: Path) -> None:
    """One per retriever, so at most two."""
    outcome = json.loads(crag("ask", QUESTION, "--docs", docs, "--top-k", "1", "--json").stdout)
    assert outcome["crag"]["trail"][0]["coverage"]["documents_in"] <= 2


def test_more_documents_than_the_pipeline_judges_are_not_asked_for_in_vain(docs: Path) -> None:
    """A note names what bounds them; the answer comes all the same."""
    asked = crag("ask", QUESTION, "--docs", docs, "--top-k", 11)
    assert asked.exit_code == 0
    assert "note: --top-k: each retriever is asked for top_k=11 documents, but fuse gives on 10" in asked.stderr


def test_a_user_without_a_home_is_answered(docs: Path) -> None:
    """As containers have them, by number alone: Haystack looks for a home as soon as it is imported."""
    nobody = "import pwd; pwd.getpwuid = {}.__getitem__; " + SCRIPT[-1]
    settings = {name: value for name, value in environment().items() if name != "HOME"}
    command = [SCRIPT[0], "-c", nobody, "ask", QUESTION, "--docs", str(docs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stderr
    assert "penguins.md" in done.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "gb18030", "utf-8"])
def test_json_is_the_same_value_in_each_encoding_of_a_pipe(docs: Path, encoding: str) -> None:
    """Windows pipes in its code page: what that does not have came as question marks, and no error."""
    question = "Wo leben 皇帝 penguins, für €5 🐧?"
    command = [*SCRIPT, "ask", question, str(docs), "--json"]
    made = subprocess.run(command, capture_output=True, check=False, env=environment(PYTHONIOENCODING=encoding))
    assert json.loads(made.stdout.decode(encoding))["question"] == question


def test_signs_that_a_pipe_cannot_write_are_written_otherwise(docs: Path) -> None:
    """Check and cross were the same question mark: `crag doctor > report.txt` of Windows told nothing."""
    for encoding in ("cp1252", "ascii"):
        told = in_process("ask", QUESTION, docs, PYTHONIOENCODING=encoding).stdout
        assert re.search(r"Verdict   \* correct 0\.\d\d -> generate", told)
        checked = in_process("doctor", "--llm-model", "m", PYTHONIOENCODING=encoding).stdout
        assert re.search(r"^\+ +python", checked, re.MULTILINE)
        assert re.search(r"^x +chat model", checked, re.MULTILINE)
        assert re.search(r"^ +-> set CRAG_LLM_BASE_URL", checked, re.MULTILINE)


def test_colours_are_off_when_piped(docs: Path) -> None:
    """No escape sequence reaches a file or another program; the exit code comes through."""
    result = in_process("ask", QUESTION, "--docs", docs)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(("setting", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_shows_colours_unless_told_not_to(setting: dict[str, str], coloured: bool) -> None:
    """NO_COLOR wins on a terminal too."""
    ours, theirs = pty.openpty()
    shown_on = environment(TERM="xterm-256color", COLUMNS="100", **setting)
    with subprocess.Popen([*SCRIPT, "pipelines", "list"], stdout=theirs, stderr=theirs, env=shown_on) as process:
        process.wait(60)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "corrective_rag" in shown
    assert ("\x1b[36m" in shown) is coloured


def test_the_innermost_error_of_this_package_speaks() -> None:
    """Haystack and the loader wrap it; its own words name the way out."""
    inner = ConfigurationError("the setting X must be a number, but got 'y'; correct it")
    outer = ConfigurationError("the pipeline cannot be loaded")
    outer.__cause__ = RuntimeError("wrapped")
    outer.__cause__.__cause__ = inner
    assert explain(outer) == (str(inner), ExitCode.USAGE)


def test_a_store_error_is_unreachable() -> None:
    """Whoever raised it."""
    assert explain(StoreError("no answer"))[1] == ExitCode.UNREACHABLE


def test_an_unexpected_error_is_one_line_that_names_its_kind() -> None:
    """And the option that shows more."""
    message, code = explain(ValueError("first line\nsecond line"))
    assert code == ExitCode.FAILED
    assert message == "unexpected ValueError: first line; `crag --debug …` shows where"


def test_a_cycle_of_causes_ends() -> None:
    """Odd chains exist."""
    one: Any = ValueError("one")
    two: Any = ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert "unexpected ValueError" in explain(one)[0]


def test_brackets_in_a_name_are_no_markup(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The id of a record, `[/b]`, ended `crag index` on a terminal; a model `llama[q4]` was told of as `llama`."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("indexing") as told:
        told(1, 2, "records.jsonl#[/b]\n")
    assert "records.jsonl#[/b]" in capsys.readouterr().err
    output.show("[/x]", checks_view([Check("chat model", "ok", "llama[q4] at [/x]")]))
    assert capsys.readouterr().out.count("[/x]") == 2
    assert "llama[q4]" in plain(checks_view([Check("chat model", "ok", "llama[q4]")]))


def test_a_log_shows_how_far_a_long_command_is(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """One line each half minute, also while a single step takes minutes; a short command writes none."""
    with progress_bar("calibrating") as progress:
        progress(0, 4, "reading")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "_LINE_SECONDS", 0.01)
    told = ""
    with progress_bar("calibrating") as progress:
        progress(1, 4, "judging [unseen]\x1b\n1")
        until = time.monotonic() + 10
        while told.count("\n") < 2 and time.monotonic() < until:
            time.sleep(0.01)
            told += capsys.readouterr().err
    assert set(told.splitlines()) == {
        "calibrating: 1 of 4, judging [unseen]\N{SYMBOL FOR ESCAPE}\N{SYMBOL FOR LINE FEED}1"
    }


def test_neither_a_name_nor_what_is_wrong_with_it_begins_a_line_of_its_own(capsys: Any) -> None:
    """Both may hold the ids of records, and what follows a line break would look like a word of the command."""
    output.complain_about(
        [{"source": "a.jsonl#1\nerror: a", "reason": "its id is that of a.jsonl#1\nerror: b already"}]
    )
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_does_its_work_and_says_so_by_its_code(docs: Path, closed: str) -> None:
    """As some daemons start theirs: `crag index` wrote all, and failed by its report; `crag serve` did not start."""
    command = shlex.join([*SCRIPT, "ask", QUESTION, "--docs", str(docs)])
    shell = ["sh", "-c", f"{command} {closed}"]
    assert subprocess.run(shell, capture_output=True, check=False, env=environment()).returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
def test_a_question_from_a_closed_stdin_is_an_empty_one(docs: Path) -> None:
    command = shlex.join([*SCRIPT, "ask", "-", "--docs", str(docs)])
    ended = subprocess.run(
        ["sh", "-c", f"{command} <&-"], capture_output=True, text=True, check=False, env=environment()
    )
    assert (ended.returncode, "unexpected" in ended.stderr) == (2, False), ended.stderr
