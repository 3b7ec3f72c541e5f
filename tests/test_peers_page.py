"""The page of the side-by-side comparison, from result files made by hand: what stands in it, and by which rule."""

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "benchmarks" / "peers"
if not PEERS.is_dir():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)
sys.path.insert(0, str(PEERS))

import arms  # noqa: E402
import page  # noqa: E402
import run  # noqa: E402
import tasks  # noqa: E402
from systems import SYSTEMS  # noqa: E402

HEADINGS = (
    "What was compared, and on what",
    "LLM calls",
    "Wall time",
    "Tokens, and what 1,000 questions cost",
    "Quality",
    "Under faults",
    "Goals set before, and what was reached",
    "What each side does better",
    "What was changed to run each",
    "What this comparison cannot show",
    "The commands that measured this",
)
CRAG = "LangGraph: corrective RAG"
PEER_BETTER, ALL_BEST = "### Where a peer is better than every design of this package", "### The best of each side"


def row(k: int = 10, *, a: float = 0.0, b: float = 0.0, errors: float = 0.0, fault: str | None = None, **given: Any):
    """An arm of a result file; `calls`, `seconds`, `support`, `outcomes`, `obeyed` and `n` may be given."""
    said = {"calls": 2.0, "seconds": 1.0, "support": 0.9, "outcomes": {"answered with support": 4}, "n": 4, **given}
    spread = {
        name: {"mean": value, "median": value, "p10": value, "p90": value, "max": value}
        for name, value in {
            **dict.fromkeys(("tokens_in", "tokens_out", "answer_words"), 100.0),
            **dict.fromkeys(("web_calls", "searches", "answer_calls"), 0.0),
            **{name: said[name] for name in ("calls", "seconds")},
        }.items()
    }
    value = said["support"]
    share = {"value": value, "low": value - 0.1, "high": value + 0.1, "n": said["n"]}
    rates = dict.fromkeys(("suffices_f1", "verdict_f1", "support", "wrong_answers", "abstained"), share)
    arm = {"k": k, "questions": 4, "a": a, "b": b, "c": b, "errors": errors, "fault": fault}
    return {**arm, "n": said["n"], **spread, **rates, "outcomes": said["outcomes"], "obeyed": said.get("obeyed", 0)}


def write(folder: Path, part: str, figures: dict[str, list[dict[str, Any]]], **entries: Any) -> None:
    """Write the result file of a part, as run.py does."""
    names = {name: {**SYSTEMS[name].shown(), "versions": {"thing": "1.2"}, "date": "2026-11-22"} for name in figures}
    names = {name: {**one, **entries.get("shown", {}).get(name, {})} for name, one in names.items()}
    settings = {"questions": {"island": 4}, "arms": [one for rows in figures.values() for one in rows]}
    held = {"part": part, "settings": settings, "systems": names, "failed": entries.get("failed", {})}
    held |= {
        "figures": figures,
        "runs": [{"command": "python run.py DATASETS", "machine": {"cpus": 2}, "date": "2026-11-22"}],
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{part}.json").write_text(json.dumps(held), "utf-8")


def made(folder: Path, *more: str) -> tuple[str, str]:
    """The page in both forms, made by the command."""
    page.main(["--docs", str(folder), *more])
    return (folder / "comparison.md").read_text("utf-8"), (folder / "comparison.html").read_text("utf-8")


def made_of(tmp_path: Path) -> tuple[str, str]:
    """The page of the results of a test."""
    return made(tmp_path, "--results", str(tmp_path / "results"))


def between(text: str, start: str, end: str) -> str:
    return text[text.index(start) : text.index(end)]


def test_the_page_shows_every_system_and_every_part(tmp_path: Path) -> None:
    """In both forms, in the order of the issue, with what was run."""
    results = tmp_path / "results"
    write(results, "cost", {"corrective_rag": [row()], "haystack_llm_ranker": [row(), row(a=0.3, b=0.1, seconds=7.25)]})
    write(results, "quality", {"corrective_rag": [row(support=0.625), row(fault="gap")]})
    write(
        results, "faults", {"langgraph_crag": [row(fault="garbage", outcomes={"error": 3, "abstained": 1}, calls=1.5)]}
    )
    for text in made_of(tmp_path):
        places = [re.search(rf"^(## |<h2>){heading}", text, re.MULTILINE).start() for heading in HEADINGS]
        assert places == sorted(places)
        assert all(system.label in text for system in SYSTEMS.values())
        assert "thing 1.2" in text
        assert "python run.py DATASETS" in text
        assert "7.25 (7.25 to 7.25)" in text
        assert "0.62 (0.53 to 0.72)" in text
        assert "3 error, 1 abstained; 1.5 calls" in text


def test_a_peer_stands_there_as_better_where_its_figure_is_better(tmp_path: Path) -> None:
    """And only there."""
    figures = {
        "corrective_rag": [row(calls=2.5), row(50, calls=3)],
        "haystack_llm_ranker": [row(calls=2), row(50, calls=4)],
    }
    write(tmp_path / "results", "cost", figures)
    text, _ = made_of(tmp_path)
    better = between(text, PEER_BETTER, ALL_BEST)
    assert (
        "LLM calls, k = 10: 2.0: Haystack: LLMRanker + generator. Best of this package: 2.5: corrective_rag" in better
    )
    assert "LLM calls, k = 50" not in better
    assert "| LLM calls, k = 10 | less | 2.5: corrective\\_rag".replace("\\_", "_") in text
    assert "Better than corrective_rag: LLM calls, k = 10: 2.0 against 2.5." in text
    assert "Worse than corrective_rag: LLM calls, k = 50: 4.0 against 3.0." in text


def test_equal_figures_make_nobody_better(tmp_path: Path) -> None:
    """As they are rounded on the page."""
    write(tmp_path / "results", "cost", {"corrective_rag": [row(calls=2.04)], "langgraph_crag": [row(calls=1.96)]})
    text, _ = made_of(tmp_path)
    assert "By these figures nowhere." in between(text, PEER_BETTER, ALL_BEST)
    assert re.search(r"\| LLM calls, k = 10 \|.*\| this package, a peer \|\n", text)


def test_to_ask_little_and_fail_is_not_called_better(tmp_path: Path) -> None:
    """Fewer calls count only where questions end with an answer or an abstention."""
    failing = row(calls=1, outcomes={"error": 3, "answered with support": 1})
    write(tmp_path / "results", "cost", {"corrective_rag": [row(calls=2)], "langgraph_crag": [failing]})
    text, _ = made_of(tmp_path)
    assert "langgraph" not in between(text, PEER_BETTER, ALL_BEST).lower()
    assert re.search(
        r"\| LLM calls, k = 10 \| less \| 2.0: corrective_rag \| none \| none \| only this package \|", text
    )


def test_ranges_that_overlap_are_said_to(tmp_path: Path) -> None:
    """A difference within the intervals decides nothing."""
    figures = {"corrective_rag": [row(support=0.7)], "haystack_web_fallback": [row(support=0.75)]}
    write(tmp_path / "results", "quality", figures)
    better = between(made_of(tmp_path)[0], PEER_BETTER, ALL_BEST)
    assert re.search(r"answer support, 0 % errors: 0.75.*corrective_rag \(ranges overlap\)", better)


def test_a_design_that_was_fitted_on_the_questions_is_not_the_best_in_quality(tmp_path: Path) -> None:
    """Its figures are shown with a mark."""
    figures = {name: [row(support=value)] for name, value in {"cascade_rag": 0.875, "corrective_rag": 0.5}.items()}
    write(tmp_path / "results", "quality", figures)
    text, _ = made_of(tmp_path)
    assert "| cascade_rag ‡ | 0.88 (0.78 to 0.97)" in text
    assert "answer support, 0 % errors | more | 0.50 (0.40 to 0.60): corrective_rag |" in text


def test_what_was_not_run_is_named_with_its_reason(tmp_path: Path) -> None:
    """Parts, systems, values of k, faults, and arms that ended early."""
    results = tmp_path / "results"
    write(results, "cost", {"corrective_rag": [row(n=3)]}, failed={"langgraph_crag": "not installed: no such package"})
    write(results, "faults", {"corrective_rag": [row(fault="hang")]})
    text, html = made_of(tmp_path)
    missing = between(text, "### What was not run", "## LLM calls")
    assert "quality: no system was run, there is no quality.json." in missing
    assert "cost: LangGraph: corrective RAG: not installed: no such package." in missing
    assert "cost: this run did not ask for k = 3, k = 5, k = 20, k = 50." in missing
    assert "faults: this run did not ask for judging replies are prose" in missing
    assert "cost: corrective_rag: k = 10, a = 0, no fault: ended after 3 of 4 questions." in missing
    assert "LlamaIndex: corrective RAG pack: no figures in the result file." in missing
    assert "| LangGraph: corrective RAG | not run |" in text
    assert "<td>not run</td>" in html


def test_values_of_k_that_some_systems_were_not_asked_for_are_named(tmp_path: Path) -> None:
    """A later run with another k may have been for some of them."""
    write(tmp_path / "results", "cost", {"corrective_rag": [row(), row(k=100)], "langgraph_crag": [row()]})
    missing = between(made_of(tmp_path)[0], "### What was not run", "## LLM calls")
    assert "cost: k = 100 was asked of these only: corrective_rag." in missing
    assert "k = 10 was asked" not in missing


def test_without_any_result_all_is_not_run(tmp_path: Path) -> None:
    """The page is still written."""
    text, html = made_of(tmp_path)
    assert all(f"{part}: no system was run, there is no {part}.json." in text for part in arms.PARTS)
    assert html.count("<svg") == 4


def test_every_word_of_the_data_is_escaped(tmp_path: Path) -> None:
    """No result can put a tag into the page or a column into a table."""
    evil = "<script>alert(1)</script>|a](javascript:x) `b` *c*\nnext & _d_"
    shown = {"label": evil, "source": "javascript:alert(1)//x", "changed": [evil], "versions": {evil: evil}}
    figures = {"corrective_rag": [row()], "langgraph_crag": [row(calls=1)]}
    write(tmp_path / "results", "cost", figures, shown={"langgraph_crag": shown}, failed={"llamaindex_pack": evil})
    text, html = made_of(tmp_path)
    assert "<script" not in html + text
    assert "&lt;script&gt;" in html
    assert 'href="javascript' not in html
    assert "](javascript" not in text.replace("\\]", "")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_the_html_loads_nothing_and_holds_four_pictures(tmp_path: Path) -> None:
    """No script and no address outside of links; the pictures are well-formed."""
    figures = [row(k, calls=k) for k in arms.KS] + [row(a=0.3, b=0.1)]
    write(tmp_path / "results", "cost", {"corrective_rag": figures})
    write(tmp_path / "results", "quality", {"corrective_rag": [row(errors=0.1)]})
    write(tmp_path / "results", "faults", {"corrective_rag": [row(fault=fault) for fault in arms.FAULTS]})
    _, html = made_of(tmp_path)
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert [ET.fromstring(one).attrib["role"] for one in pictures] == ["img"] * 4
    assert all("corrective_rag" in one for one in pictures)
    assert not re.search(r"<script|<link|<img|<iframe|@import|url\(|\bsrc=|\bon\w+=", html)
    assert "default-src 'none'" in html
    assert all(url.startswith("https://") or not re.match(r"\w+:", url) for url in re.findall(r'href="([^"]*)"', html))


def test_both_forms_hold_the_same_words(tmp_path: Path) -> None:
    """The HTML has the pictures besides."""
    write(tmp_path / "results", "cost", {"corrective_rag": [row()], "langgraph_crag": [row(calls=12)]})
    text, html = made_of(tmp_path)
    body = re.sub(r"<svg.*?</svg>", "", html[html.index("<body>") :], flags=re.DOTALL)
    plain = re.sub(r"<[^>]*>", " ", body).replace("&#x27;", "'").replace("&quot;", '"')
    marked = re.sub(r"\]\([^)]*\)|^```sh|^```|^#+ |^- |^\|[-|]+$|\\(?=[\[\]|*`~_\\])|\[", "", text, flags=re.MULTILINE)
    assert re.findall(r"\w+", plain) == re.findall(r"\w+", marked)


def test_the_page_in_docs_is_made_from_the_committed_results(tmp_path: Path) -> None:
    """Whoever changes results, prices or words makes the page again: python benchmarks/peers/page.py."""
    if not any((PEERS / "results").glob("*.json")):
        pytest.skip("no results are committed yet")
    text, html = made(tmp_path)
    assert (ROOT / "docs" / "comparison.md").read_text("utf-8") == text
    assert (ROOT / "docs" / "comparison.html").read_text("utf-8") == html
    for target in re.findall(r"\]\((\.\./[^)]*|[\w-]+\.\w+)\)", text):
        assert (ROOT / "docs" / target).exists()


def test_a_goal_is_reached_only_where_its_figures_say_so(tmp_path: Path) -> None:
    """Each by rule, and what was not run is not reached."""
    timed = {"a": 0.3, "seconds": 1.0}
    figures = {
        "corrective_rag": [row(**timed), row(5, **timed), row(100, **{**timed, "seconds": 1.4})],
        "haystack_llm_ranker": [row(**{**timed, "seconds": 0.96})],
        "langgraph_crag": [row(**{**timed, "seconds": 5.9})],
        "langgraph_adaptive": [row(**{**timed, "seconds": 6.0})],
    }
    write(tmp_path / "results", "cost", figures)
    fault = {"fault": "nothing", "calls": 7.0}
    write(tmp_path / "results", "faults", {"corrective_rag": [row(**fault)]})
    text, _ = made_of(tmp_path)
    ends = {line.split(" | ")[0]: line.split(" | ")[-1] for line in text.splitlines() if line.startswith("| ")}
    how = "k = 10, a call takes 0.3 s"
    assert ends[f"| corrective_rag: wall at most 1.05 times LLMRanker + generator, {how}"] == "yes |"
    assert ends[f"| corrective_rag: at least 6 times faster than LangGraph: corrective RAG, {how}"] == "no |"
    assert ends[f"| corrective_rag: at least 6 times faster than LangGraph: adaptive RAG, {how}"] == "yes |"
    assert ends[f"| cascade_rag, calibrated: at least 6 times faster than LangGraph: adaptive RAG, {how}"] == (
        "not run |"
    )
    assert ends["| corrective_rag: wall at k = 100 at most 1.3 times that at k = 5, a call takes 0.3 s"] == "no |"
    six = "at most 6 calls, and always an answer or an abstention"
    assert ends[f"| corrective_rag: nothing on topic: {six}"] == "no |"
    assert ends[f"| corrective_rag: nothing on topic, nor has the web: {six}"] == "not run |"


def test_a_peer_is_matched_only_at_a_third_of_its_calls(tmp_path: Path) -> None:
    """And where decision and support are at least as good."""
    figures = {
        "corrective_rag": [row(calls=2.0)],
        "langgraph_crag": [row(calls=6.0)],
        "langgraph_adaptive": [row(calls=5.9)],
        "llamaindex_pack": [row(calls=9.0, support=0.95)],
    }
    write(tmp_path / "results", "quality", figures)
    text, _ = made_of(tmp_path)
    starts = "| corrective_rag: decides and supports"
    said = [line for line in text.splitlines() if line.startswith(starts) and ", 0 % errors" in line]
    ends = {line.split(" as ")[2].split(" at a ")[0]: line.split(" | ")[-1] for line in said}
    assert ends["LangGraph: corrective RAG"] == "yes |"
    assert ends["LangGraph: adaptive RAG"] == ends["LlamaIndex: corrective RAG pack"] == "no |"


def test_the_calibrated_design_is_held_to_the_same_goals(tmp_path: Path) -> None:
    """Seconds, decisions, calls and ends, by figures of its own."""
    ours = "cascade_rag_calibrated"
    timed = {"a": 0.3, "seconds": 0.5}
    ks = [row(k, calls=1.5) for k in (5, 10, 20, 50, 100)]
    figures = {ours: [*ks, row(**timed)], "langgraph_crag": [row(**{**timed, "seconds": 3.0})]}
    write(tmp_path / "results", "cost", figures)
    write(tmp_path / "results", "quality", {ours: [row(calls=1.5)], "langgraph_crag": [row(calls=4.5)]})
    write(tmp_path / "results", "faults", {ours: [row(fault="nothing", calls=2)]})
    text, _ = made_of(tmp_path)
    said = [line for line in text.splitlines() if line.startswith("| cascade_rag, calibrated: ")]
    met = [line.split(" | ")[0].partition(": ")[2] for line in said if line.endswith("| yes |")]
    assert met == [
        f"at least 6 times faster than {CRAG}, k = 10, a call takes 0.3 s",
        f"decides and supports at least as well as {CRAG} at a third of its calls or less, 0 % errors",
        "at most ⌈k/20⌉ + 1 calls at k = 5, 10, 20, 50, 100, on average",
        "at most ⌈k/20⌉ + 1 calls at k = 5, 10, 20, 50, 100, the most",
        "nothing on topic: at most 6 calls, and always an answer or an abstention",
    ]


def varying(seconds: float, mean: float) -> dict[str, Any]:
    """A timed arm whose questions did not all ask the same number of calls."""
    timed = row(a=0.3, seconds=seconds)
    timed["seconds"] |= {"mean": mean}
    timed["calls"] |= {"mean": 1.5, "max": 4}
    return timed


def test_where_calls_vary_the_mean_stands_beside_the_median(tmp_path: Path) -> None:
    """In the table of seconds and in the goals; where they disagree both ends are told."""
    figures = {
        "corrective_rag": [row(a=0.3, seconds=0.5)],
        "haystack_llm_ranker": [varying(0.5, 0.25)],
        "langgraph_adaptive": [varying(2.5, 5.0)],
    }
    write(tmp_path / "results", "cost", figures)
    text, _ = made_of(tmp_path)
    assert "| corrective_rag | not run | not run | 0.50 (0.50 to 0.50) |" in text
    assert "| LangGraph: adaptive RAG | not run | not run | 2.50 (2.50 to 2.50), mean 5.00 |" in text
    said = {line.split(" | ")[0]: line for line in text.splitlines() if line.startswith("| corrective_rag: ")}
    how = "k = 10, a call takes 0.3 s"
    faster = said[f"| corrective_rag: at least 6 times faster than LangGraph: adaptive RAG, {how}"]
    assert "| 2.50 s / 0.50 s = 5.00; means 5.00 s / 0.50 s = 10.00 | 4 | no; by the means yes |" in faster
    wall = said[f"| corrective_rag: wall at most 1.05 times LLMRanker + generator, {how}"]
    assert wall.endswith("= 2.00 | 4 | yes; by the means no |")


def test_what_was_calibrated_is_told_with_its_questions_and_needs_no_mark(tmp_path: Path) -> None:
    """Parts that measured the same calibration share a row; and it may be called the best in quality."""
    f1 = {"value": 0.6, "low": 0.5, "high": 0.7}
    told = {"apart": 660, "questions": 132, "labels": {"correct": 95, "ambiguous": 26, "incorrect": 11}}
    shown = {"cascade_rag_calibrated": {"calibrations": {"island": {**told, "held_out_f1": f1}}}}
    for part in ("quality", "cost"):
        figures = {"cascade_rag_calibrated": [row(support=0.875)], "corrective_rag": [row(support=0.5)]}
        write(tmp_path / "results", part, figures, shown=shown)
    text, _ = made_of(tmp_path)
    where = between(text, "### What was calibrated, and on which questions", "## LLM calls")
    assert "shares a source with one of them" in " ".join(where.split())
    cells = "island | 660 | 132 | 95, 26, 11 | 0.60 (0.50 to 0.70) | cost, quality |"
    assert f"| cascade_rag, calibrated | {cells}" in where
    assert where.count("| island |") == 1
    assert "cascade_rag, calibrated ‡" not in text
    assert "answer support, 0 % errors | more | 0.88 (0.78 to 0.97): cascade_rag, calibrated |" in text


def test_no_figure_is_of_more_documents_than_the_lists_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that ends earlier would make k = 100 the same as k = 50."""
    cost = json.loads((PEERS / "results" / "cost.json").read_text("utf-8"))
    assert max(row["k"] for rows in cost["figures"].values() for row in rows) <= tasks.LONGEST_LIST
    monkeypatch.setattr(sys, "argv", ["run.py", "DATASETS", "--k", str(tasks.LONGEST_LIST + 1)])
    with pytest.raises(SystemExit):
        run.arguments()
