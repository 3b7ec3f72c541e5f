"""What README and docs say was measured is what the result files hold; a number that differs fails."""

import json
import re
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import haystack_integrations.crag as package

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
if not RESULTS.is_dir():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)
README, CHOOSE, RESULTS_PAGE, JUDGEMENT = (
    (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/choose.md", "docs/results.md", "docs/judgement.md")
)
SETS = ("popqa", "hotpotqa", "covidqa")
MEASURED = ("popqa", "clapnq", "scifact", "covidqa", "hotpotqa")
MADE = ("correction", "llm_calls", "real_questions")


@cache
def result(name: str) -> dict[str, Any]:
    """A result file."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text("utf-8")))


def pipelines(name: str) -> list[dict[str, Any]]:
    """What one pipeline did on each set."""
    return [result("correction")["figures"][one]["pipelines"][name] for one in SETS]


def short(value: float, digits: int = 2) -> str:
    """As the pages write a share: without the zero before the point."""
    return f"{value:.{digits}f}".removeprefix("0")


def support(run: dict[str, Any], *, words: bool = False) -> str:
    """Answer support first and in the end."""
    size = f" ({run['words_before']:.0f} → {run['words_after']:.0f})" if words else ""
    return f"{short(run['first'])} → {short(run['after'])}{size}"


def said_so(run: dict[str, Any]) -> str:
    """Abstentions where the answers' documents were deleted."""
    return f"{run['abstained']['gold_deleted']} of {run['floor']['n']}"


def day(name: str) -> str:
    """When a result file was written, as the pages write it."""
    measured = date.fromisoformat(result(name)["date"])
    return f"{measured.day} {measured:%B %Y}"


def row(page: str, start: str) -> list[str]:
    """The cells of the one row that starts so."""
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def section(page: str, heading: str) -> str:
    """What stands under a heading of the second level."""
    (found,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return str(found)


def table(text: str, head: str) -> dict[str, list[str]]:
    """The rows of the one table whose head starts so: cells by the first one."""
    (found,) = [part for part in text.split("\n\n") if part.startswith(f"| {head}")]
    rows = found.splitlines()[2:]
    cells = ([cell.strip() for cell in line.removeprefix("|").removesuffix("|").split(" | ")] for line in rows)
    return {name: values for name, *values in cells}


@pytest.mark.parametrize("name", MADE)
def test_a_result_file_says_when_and_how_it_was_made(name: str) -> None:
    """By a program that is there, on no path of somebody's machine."""
    held = result(name)
    assert date.fromisoformat(held["date"]).year >= 2026
    assert held["command"].startswith(f"python benchmarks/{name}.py ")
    assert (ROOT / held["command"].split()[1]).is_file()
    assert not re.search(r"[ =]/|127\.0\.0\.1", held["command"])
    assert {"python", "crag-haystack", "haystack-ai"} <= set(held["versions"])


def test_the_table_of_the_first_screen_is_what_was_measured() -> None:
    """Support, words and abstentions, with n, date and command."""
    (n,) = {one["n"] for one in result("correction")["figures"].values()}
    head, *sets = row(README, f"{n} questions")
    command = f"`benchmarks/correction.py --data DATASETS --url URL --limit {n}`"
    assert head == f"{n} questions per dataset, {day('correction')}, {command}"
    assert f"--limit {n} " in result("correction")["command"]
    assert tuple(sets) == SETS
    right, without = pipelines("corrective_rag"), pipelines("corrective_retrieval")
    assert row(README, "`corrective_rag`, oracle grades")[1:] == [support(run, words=True) for run in right]
    assert row(README, "the same, with all relevant documents deleted")[1:] == [said_so(run) for run in right]
    assert row(README, "`corrective_retrieval`, no LLM")[1:] == [support(run) for run in without]
    lost = [
        f"{one['lost_held']}, {other['lost_held']} of {one['held']}" for one, other in zip(right, without, strict=True)
    ]
    assert row(README, "answers lost that a relevant document contained")[1:] == lost
    erring, with_opinion = pipelines("corrective_rag, erring"), pipelines("cascade_rag, erring")
    lost = [
        f"{one['lost_held']}, {other['lost_held']} of {one['held']}"
        for one, other in zip(erring, with_opinion, strict=True)
    ]
    assert row(README, "the same, one grade in ten wrong")[1:] == lost


def test_the_readme_says_what_a_real_model_answered() -> None:
    """Of two systems: right answers with their calls, and wrong ones where the answering documents are removed."""
    held = json.loads((ROOT / "benchmarks" / "peers" / "results" / "real.json").read_text("utf-8"))
    arms = {(name, arm["fault"]): arm for name, rows in held["figures"].items() for arm in rows}

    def count(name: str, fault: str | None, end: str) -> int:
        share = arms[name, fault][end]
        return round(share["value"] * share["n"])

    ours, theirs = "paper_rag", "langgraph_crag"
    said = re.search(r"\(1\.5 billion parameters, (.*?)\.\n\n", README, re.DOTALL)
    assert said is not None
    assert [float(number) for number in re.findall(r"\d+(?:\.\d+)?", said[1])] == [
        held["settings"]["questions"]["popqa"],
        count(ours, None, "right"),
        arms[ours, None]["right"]["n"],
        round(arms[ours, None]["calls"]["mean"], 1),
        count(theirs, None, "right"),
        round(arms[theirs, None]["calls"]["mean"], 1),
        count(ours, "gap", "wrong"),
        count(theirs, "gap", "wrong"),
        arms[ours, "gap"]["wrong"]["n"],
    ]


def test_the_table_on_correction_is_what_was_measured() -> None:
    """Of all pipelines that it names."""
    told = section(RESULTS_PAGE, "Does correction help?")
    n = result("correction")["figures"]["popqa"]["n"]
    assert told.strip().startswith(f"`correction.py`, {day('correction')}: {n} questions per dataset, ")
    assert tuple(row(told, "pipeline and measure")[1:]) == SETS
    named = {
        "`corrective_rag`, oracle grades": "corrective_rag",
        "`corrective_retrieval`, uncalibrated": "corrective_retrieval",
        "`paper_rag`, no LLM grader": "paper_rag",
        "`signals_rag`": "signals_rag",
    }
    wanted = {}
    for label, name in named.items():
        runs = pipelines(name)
        wanted[f"{label}: answer support"] = [support(run) for run in runs]
        sizes = [f"{run['words_before']:.0f} → {run['words_after']:.0f}" for run in runs]
        wanted[f"{label}: words in the evidence"] = sizes
        if name.startswith("corrective"):
            deleted, lost = "abstains when all relevant documents are deleted", "answers lost that a relevant document"
            wanted[f"{label}: {deleted}"] = [said_so(run) for run in runs]
            wanted[f"{label}: {lost} contained"] = [f"{run['lost_held']} of {run['held']}" for run in runs]
    assert table(told, "pipeline and measure") == wanted


def test_the_table_on_wrong_grades_is_what_was_measured() -> None:
    """Answers lost, support and words of each pipeline whose model errs."""
    told = section(RESULTS_PAGE, "Does correction help?")
    named = {
        "`corrective_rag`, without the first place": "corrective_rag, erring, no lead",
        "`corrective_rag`": "corrective_rag, erring",
        "`cascade_rag`, uncalibrated, without the scorer's opinion": "cascade_rag, erring, no opinion",
        "`cascade_rag`, uncalibrated": "cascade_rag, erring",
    }
    wanted = {}
    for label, name in named.items():
        runs = pipelines(name)
        lost = [f"{run['lost_held']} of {run['held']}" for run in runs]
        after = [support(run).rpartition(" ")[2] for run in runs]
        wanted[label] = [*lost, *after, *(f"{run['words_after']:.0f}" for run in runs)]
    assert table(told, "pipeline | answers lost") == wanted


def test_the_tables_on_verdicts_and_calls_are_what_was_counted() -> None:
    """Right first verdicts; calls on real questions; calls by how many documents answer, the same for each k."""
    told = section(RESULTS_PAGE, "Verdicts and LLM calls")
    names = ("corrective_rag", "agent_rag")
    real = [result("real_questions")["figures"]["verdicts"][name] for name in names]
    (n,) = {one["n"] for one in real}
    assert told.strip().startswith(f"`real_questions.py`, {day('real_questions')}: {n} questions ")
    assert row(told, "right verdict on the first retrieval")[1:] == [f"{one['right']} of {n}" for one in real]
    often = []
    for one in real:
        first, *others = (f"{number} for {questions}" for number, questions in one["llm_calls"].items())
        often.append(", ".join([f"{first} questions", *others]))
    assert row(told, "LLM calls per question, answer included")[1:] == often

    counted = result("llm_calls")["figures"]
    cases, sizes = ("all", "all but one", "one", "none"), ("5", "10", "25")
    assert f"`llm_calls.py`, {day('llm_calls')}: " in told
    assert "the same for 5, 10 and 25 short documents" in told
    assert all(list(counted[name])[:3] == list(sizes) for name in names)
    wanted = {}
    for case in cases:
        found = []
        for name in names:
            (calls,) = {counted[name][k][case]["calls"] for k in sizes}
            (action,) = {counted[name][k][case]["action"] for k in sizes}
            found.append(f"{calls} (it abstains)" if action == "abstain" else str(calls))
        wanted[case] = found
    wanted["a rule approves the documents"] = ["–", str(counted["agent_rag"]["rule"]["calls"])]
    assert table(told, "documents that answer") == wanted


def test_the_table_on_fusion_is_what_was_measured() -> None:
    """BM25 beside the fused list, with stop words and without, on both sets."""
    told = section(RESULTS_PAGE, "Hybrid retrieval")
    wanted = {}
    for name, hits in result("real_questions")["figures"]["hits"].items():
        lists = [hits[each] for each in ("bm25 whole", "fused whole", "bm25", "fused")]
        wanted[f"{name} (n = {hits['n']})"] = [f"{short(at['hit@1'], 3)}, {short(at['hit@10'], 3)}" for at in lists]
    assert table(told, "dataset | whole question: BM25") == wanted
    assert told.strip().startswith(f"`real_questions.py`, {day('real_questions')}.")


def test_the_figures_of_the_shipped_model_are_those_in_its_file() -> None:
    """On both pages."""
    file = Path(package.__file__).parent / "models" / "calibration" / "default.json"
    unseen = json.loads(file.read_text("utf-8"))["unseen_macro_f1"]
    grades = table(section(RESULTS_PAGE, "Grading without an LLM"), "dataset | macro-F1")
    assert {name: cells[1] for name, cells in grades.items()} == {
        name: short(value, 3) for name, value in unseen.items()
    }
    told = section(JUDGEMENT, "Out of the box")
    assert f"| | {' | '.join(MEASURED)} | mean |\n|---" in told
    assert row(told, "shipped model")[1:-1] == [short(unseen[name], 3) for name in MEASURED]


def held_out() -> dict[str, list[str]]:
    """The table of held-out results, cells by the name of the set, the first with its number of questions."""
    return {name: row(JUDGEMENT, f"{name} (") for name in MEASURED}


def test_both_pages_say_the_same_of_calibration() -> None:
    """The short table is taken from the long one."""
    grades = table(section(RESULTS_PAGE, "Grading without an LLM"), "dataset | macro-F1")
    wanted = {name: [f"{c[2].split(' / ')[2]}, {c[1].split()[0]}", c[3], c[6]] for name, c in held_out().items()}
    assert {name: cells[2:] for name, cells in grades.items()} == wanted


def test_the_page_on_limits_says_between_what_gaps_are_noticed() -> None:
    """The least and the most of the table of held-out results."""
    told = " ".join((ROOT / "docs" / "limits.md").read_text("utf-8").split())
    shares = sorted((cells[6] for cells in held_out().values()), key=lambda share: int(share.split()[0]))
    assert f"calibrated, at 10 % false alarms, between {shares[0]} and {shares[-1]} of them" in told


def test_both_pages_say_the_same_of_the_cascade() -> None:
    """The short table has what a model reaches that grades one in ten wrong."""
    long = table(section(JUDGEMENT, "Cascade"), "dataset | questions sent")
    told = table(section(RESULTS_PAGE, "Grading without an LLM"), "dataset | questions sent")
    assert told == {name: [*cells[:2], cells[4], cells[7]] for name, cells in long.items()}
    assert set(told) == set(MEASURED)


def test_both_pages_say_the_same_of_sentences() -> None:
    """The short table has the sets in its rows, the long one in its columns."""
    told = table(section(RESULTS_PAGE, "Grading without an LLM"), "dataset | top 3")
    long = section(JUDGEMENT, "Sentences")
    assert [cells[1] for cells in told.values()] == row(long, "by wording alone")[1:]
    assert [cells[2] for cells in told.values()] == row(long, "calibrated, held out")[1:]


def test_the_picture_of_a_report_shows_the_figures_of_the_page() -> None:
    """Of one set, with the false alarms at which gaps are noticed; its figures stand beside it."""
    shown = json.loads((ROOT / "docs" / "pictures" / "report.json").read_text("utf-8"))
    cells = row(JUDGEMENT, f"{shown['set']} (")
    bounds = shown["intervals"]["verdict.macro_f1"]
    reach = f"{short(bounds['low'], 3)} to {short(bounds['high'], 3)}"
    assert cells[0] == f"{shown['set']} ({shown['n']:,})"
    assert cells[1] == f"{short(shown['verdict']['macro_f1'], 3)} ({reach})"
    assert cells[3] == short(shown["ece"], 3)
    assert cells[4] == short(shown["filter"]["f1"], 3)
    assert cells[6] == f"{shown['gaps_at_10_percent']['recall']:.0%}".replace("%", " %")
    caption = " ".join(CHOOSE.partition("\n\n![First screen of a report")[0].rpartition("\n\n")[2].split())
    rates = [
        f"{shown[name][part]:.0%}".replace("%", " %") for name, part in (("gaps", "recall"), ("gaps", "false_alarms"))
    ]
    assert f"on {shown['set']}. Gaps, lists without the answering documents: " in caption
    assert f"documents: {rates[0]} noticed at {rates[1]} false alarms" in caption
