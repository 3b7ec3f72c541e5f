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
README, CHOOSE, CALIBRATION = (
    (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/choose.md", "docs/calibration.md")
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
    head, *sets = row(README, "n = ")
    assert head == f"n = {n} a set, {day('correction')}, `benchmarks/correction.py --limit {n}`"
    assert f"--limit {n} " in result("correction")["command"]
    assert tuple(sets) == SETS
    right, without = pipelines("corrective_rag"), pipelines("corrective_retrieval")
    assert row(README, "`corrective_rag`, right grades")[1:] == [support(run, words=True) for run in right]
    assert row(README, "the same, the answers' documents deleted")[1:] == [said_so(run) for run in right]
    assert row(README, "`corrective_retrieval`, no model")[1:] == [support(run) for run in without]
    lost = [
        f"{one['lost_held']}, {other['lost_held']} of {one['held']}" for one, other in zip(right, without, strict=True)
    ]
    assert row(README, "answers lost that a document that answers held")[1:] == lost


def test_the_full_row_on_correction_is_what_was_measured() -> None:
    """All pipelines that it names."""
    what, figures, command = row(CHOOSE, "Does correction help?")
    right, paper = pipelines("corrective_rag"), pipelines("paper_rag")
    each = ", ".join(f"{name} {support(run, words=True)}" for name, run in zip(SETS, right, strict=True))
    words = sorted(round(run["words_after"]) for run in paper)
    assert what.endswith(f"n = {result('correction')['figures']['popqa']['n']} a set")
    assert figures.startswith(
        f"with right grades: `corrective_rag` {each}; with the answers' documents deleted it says so in "
        f"{', '.join(map(said_so, right))}. Without a model, uncalibrated: `corrective_retrieval` "
        f"{', '.join(map(support, pipelines('corrective_retrieval')))} (wrong abstentions); `paper_rag` "
        f"{', '.join(map(support, paper))} ({words[0]} to {words[-1]} words). "
    )
    lost = ", ".join(f"{run['lost_held']} of {run['held']}" for run in pipelines("corrective_retrieval"))
    assert [run["lost_held"] for run in right] == [0, 0, 0]
    assert f"held, `corrective_rag` lost none, `corrective_retrieval` {lost}. " in figures
    assert command == f"`correction.py`, {day('correction')}"


def test_the_rows_on_verdicts_and_calls_are_what_was_counted() -> None:
    """Right first verdicts; calls on real questions; calls by how many documents answer, the same for each k."""
    right = result("real_questions")["figures"]["verdicts"]
    one, two = right["corrective_rag"], right["agent_rag"]
    what, figures, command = row(CHOOSE, "Verdict of the first retrieval")
    assert f", {one['n']} questions, " in what
    assert figures.startswith(
        f"`corrective_rag` {one['right']} of {one['n']}, `agent_rag` {two['right']} of {two['n']}: "
    )
    assert command == f"`real_questions.py`, {day('real_questions')}"

    what, figures, command = row(CHOOSE, "LLM calls for each question")
    counted = result("llm_calls")["figures"]
    cases = ("all", "all but one", "one", "none")
    assert "where all, all but one, one or none of 5, 10 or 100 short documents answer" in what
    calls = {}
    for name in ("corrective_rag", "agent_rag"):
        assert list(counted[name])[:3] == ["5", "10", "100"]
        (calls[name],) = {tuple(counted[name][k][case]["calls"] for case in cases) for k in ("5", "10", "100")}
    assert {counted["corrective_rag"][k]["none"]["action"] for k in ("5", "10", "100")} == {"abstain"}
    listed = {name: " / ".join(map(str, each)) for name, each in calls.items()}
    first, *others = (f"{number} for {questions}" for number, questions in one["llm_calls"].items())
    often = ", ".join([f"{first} questions", *others])
    assert figures == (
        f"`corrective_rag` {often}; `agent_rag` 2 for {two['llm_calls']['2']}, up to "
        f"{max(map(int, two['llm_calls']))}; and `corrective_rag` {listed['corrective_rag']} (it abstains), "
        f"`agent_rag` {listed['agent_rag']}, {counted['agent_rag']['rule']['calls']} where a rule approves"
    )
    assert command == f"`real_questions.py`, `llm_calls.py`, {day('llm_calls')}"


def test_the_row_on_fusion_is_what_was_measured() -> None:
    """BM25 beside the fused list, on both sets."""
    _, figures, command = row(CHOOSE, "Fusion, hit@1 / hit@10")
    wanted = []
    for name, hits in result("real_questions")["figures"]["hits"].items():
        pairs = [f"{short(hits[kind]['hit@1'], 3)} / {short(hits[kind]['hit@10'], 3)}" for kind in ("bm25", "fused")]
        wanted.append(f"{name} (n = {hits['n']}) {' → '.join(pairs)}")
    assert figures == " · ".join(wanted)
    assert command == f"`real_questions.py`, {day('real_questions')}"


def test_the_figures_of_the_shipped_model_are_those_in_its_file() -> None:
    """On both pages."""
    file = Path(package.__file__).parent / "models" / "calibration" / "default.json"
    unseen = json.loads(file.read_text("utf-8"))["unseen_macro_f1"]
    _, figures, _ = row(CHOOSE, "Verdict without a model as it comes")
    told = dict(re.findall(r"(\w+) (\.\d+) \(", figures))
    assert told == {name: short(value, 3) for name, value in unseen.items()}
    whole = " ".join(CALIBRATION.split())
    assert " · ".join(f"{name} {short(unseen[name], 3)}" for name in MEASURED) in whole


def test_both_pages_say_the_same_of_calibration() -> None:
    """The row on choosing is taken from the table on calibrating."""
    table = {name: row(CALIBRATION, f"{name} (") for name in MEASURED}
    _, figures, _ = row(CHOOSE, "The same, calibrated")
    told = {name: values for name, *values in re.findall(r"(\w+) (\.\d+) \((\.\d+); (\.\d+)\)", figures)}
    assert told == {name: [c[1].split()[0], c[2].split(" / ")[2], c[3]] for name, c in table.items()}
    _, figures, _ = row(CHOOSE, "Evidence removed")
    assert dict(re.findall(r"(\w+) (\d+ %)", figures)) == {name: cells[6] for name, cells in table.items()}


def test_the_page_on_limits_says_between_what_gaps_are_noticed() -> None:
    """The least and the most of the table on calibrating."""
    told = " ".join((ROOT / "docs" / "limits.md").read_text("utf-8").split())
    shares = sorted((row(CALIBRATION, f"{name} (")[6] for name in MEASURED), key=lambda share: int(share.split()[0]))
    assert f"calibrated, at 10 % false alarms, between {shares[0]} and {shares[-1]} of them" in told


def test_both_pages_say_the_same_of_the_cascade() -> None:
    """The row on choosing takes from the table on calibrating what a model reaches that grades one in ten wrong."""
    section = CALIBRATION.partition("## Cascade")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    table = {name: (sent, *(each.split(", ")[2] for each in reached)) for name, sent, *reached in rows[2:]}
    _, figures, _ = row(CHOOSE, "`cascade_rag`, calibrated")
    told = {name: tuple(values) for name, *values in re.findall(r"(\w+) ([^:·]+): (\.\d+) \((\.\d+)\)", figures)}
    assert told == table
    assert set(told) == set(MEASURED)


def test_the_picture_of_a_report_shows_the_figures_of_the_page() -> None:
    """Of one set, with the false alarms at which gaps are noticed; its figures stand beside it."""
    shown = json.loads((ROOT / "docs" / "pictures" / "report.json").read_text("utf-8"))
    cells = row(CALIBRATION, f"{shown['set']} (")
    bounds = shown["intervals"]["verdict.macro_f1"]
    reach = f"{short(bounds['low'], 3)} to {short(bounds['high'], 3)}"
    assert cells[0] == f"{shown['set']} ({shown['n']:,})"
    assert cells[1] == f"{short(shown['verdict']['macro_f1'], 3)} ({reach})"
    assert cells[3] == short(shown["ece"], 3)
    assert cells[4] == short(shown["filter"]["f1"], 3)
    assert cells[6] == f"{shown['gaps_at_10_percent']['recall']:.0%}".replace("%", " %")
    caption = CHOOSE.partition("\n\n![First screen of a report")[0].rpartition("\n\n")[2]
    rates = [
        f"{shown[name][part]:.0%}".replace("%", " %") for name, part in (("gaps", "recall"), ("gaps", "false_alarms"))
    ]
    assert (
        f"of {shown['set']} (gaps, lists without what answers: {rates[0]} noticed at {rates[1]} false alarms" in caption
    )
