"""The table and the page of an evaluation: readable, complete, and harmless whatever the data holds."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from evaluation_records import CLASSES, documents, gap, record
from rich.console import Console

from haystack_integrations.crag.cli.output import plain
from haystack_integrations.crag.evaluation.gaps import gap_recall_at
from haystack_integrations.crag.evaluation.intervals import intervals, paired
from haystack_integrations.crag.evaluation.measures import summarise
from haystack_integrations.crag.evaluation.probabilities import reliability_curve
from haystack_integrations.crag.evaluation.report import html_report, worst
from haystack_integrations.crag.evaluation.risk import cost_curve
from haystack_integrations.crag.evaluation.table import LABELS, judgement, text_table

HOSTILE = "<script src=https://evil.example/x.js></script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"
VOID = {"meta", "br", "img", "link", "input", "base"}
LOADING = {"src", "href", "srcset", "data", "action", "poster", "xlink:href", "formaction", "background"}


class Page(HTMLParser):
    """What is on a page: its elements with attributes, its text, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a name."""
        return [attributes for name, attributes in self.elements if name == tag]


def evaluated(text: str = "tower", n: int = 30) -> list[dict[str, Any]]:
    """Questions with everything that a record can have; every third verdict is wrong."""
    records = []
    for i in range(n):
        label, told = CLASSES[i % 3], CLASSES[(i + (i % 9 == 0)) % 3]
        probabilities = {name: 0.7 if name == told else 0.15 for name in CLASSES}
        found = documents((2, True), (0, False), (None, True))
        found[0] |= {"title": text, "id": f"{text}{i}"}
        records.append(
            record(
                f"q{i}",
                label,
                told,
                question=f"Where is the {text}?",
                score=0.1 + i / 40,
                probabilities=probabilities,
                documents=found,
                strips={"gold": 1, "kept": 2, "hits": 1, "words_in": 50, "words_kept": 10},
                support={"before": True, "after": i % 2 == 0},
                gap=gap("gap" if i % 2 else "covered", told, 0.5, i % 5 == 0),
                snippets={f"{text}{i}": f"All about the {text}."},
            )
        )
    return records


def page_of(records: list[dict[str, Any]], dataset: str = "towers", **more: Any) -> str:
    """The page of some records."""
    names = {"dataset": dataset, "split": "dev", "pipeline": "corrective_rag", "grader": "heuristic", "lists": "fixed"}
    return html_report(summarise(records, **names), records, **more)


def full_page(text: str = "tower") -> str:
    """A page with every part that it can have."""
    records = evaluated(text)
    curve = reliability_curve([0.2, 0.8], [False, True], 2)
    held_out = {text: {"value": 0.7, "low": 0.6, "high": 0.8}, "questions": 120, "ece": None}
    costs = cost_curve([0.2, 0.4], ["correct", "incorrect"], ["incorrect", "incorrect"])
    calibration = {"held_out": held_out, "reliability": curve, "cost_curve": costs}
    compared = {"intervals": intervals(records, draws=50), "comparison": paired(records, records, draws=50)}
    return page_of(records, text, calibration=calibration, **compared)


def test_the_page_loads_nothing_from_anywhere() -> None:
    """No script, no style, font or picture from elsewhere; its links stay on the page, and its own policy says so."""
    html = full_page()
    page = Page(html)
    assert page.open == []
    assert not {tag for tag, _ in page.elements} & {"script", "link", "iframe", "object", "embed", "img", "base"}
    for _, attributes in page.elements:
        assert all((attributes[name] or "").startswith("#") for name in LOADING & set(attributes))
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"https?://|url\(|@import|javascript:", html)
    policies = [one["content"] for one in page.named("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert str(policies[0]).startswith("default-src 'none'")


def test_hostile_text_is_shown_and_never_part_of_the_page() -> None:
    """In questions, titles, ids, texts, names of data and figures alike."""
    harmless, hostile = Page(full_page()), Page(full_page(HOSTILE))
    assert hostile.open == []
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in harmless.elements]
    assert [set(one) for _, one in hostile.elements] == [set(one) for _, one in harmless.elements]
    assert HOSTILE in hostile.text
    assert hostile.text.count("{{ 7 * 7 }}") > 10


def test_no_text_steers_the_page() -> None:
    """What turns the direction of writing, or ends the file for a reader, is shown as a sign; halves can be written."""
    steering = "\u202e\u2066\u2028\x00\x1b\x85\ud800"
    page = full_page(f"tow{steering}er")
    assert not set(steering) & set(page)
    assert "tow\ufffd\ufffd\ufffd\u2400\u241b\ufffd\ufffder" in page.encode().decode()


def test_every_picture_says_what_it_is_and_has_its_numbers_beside_it() -> None:
    """For those who cannot see it."""
    page = Page(full_page())
    pictures = page.named("svg")
    assert len(pictures) == 9
    assert all(one["role"] == "img" and len(one["aria-label"] or "") > 20 for one in pictures)
    assert len(page.named("table")) >= len(pictures)
    assert page.elements[0] == ("html", {"lang": "en"})
    ids = {one["id"] for one in page.named("section")}
    assert {str(one["href"])[1:] for one in page.named("a")} <= ids


def test_a_page_of_next_to_nothing_has_no_empty_parts() -> None:
    """One question without documents, labels or scores; and none at all."""
    for records in ([record("q1", None)], []):
        html = page_of(records)
        assert Page(html).open == []
        assert "<svg" not in html
        assert "There is no verdict to score: no question counts, for want of a label or because" in html
        assert "None: no question counts" in html


def test_what_a_cascade_saves_is_not_told_by_the_questions_that_it_kept_from_its_model() -> None:
    """Of those the cheap judge is sure: all of their calls are saved. How sure it was of the others is not known."""
    records = evaluated()
    names: dict[str, Any] = {"dataset": "d", "split": "s", "pipeline": "cascade_rag", "grader": None, "lists": "fixed"}
    saves = "A cascade whose LLM is always right saves"
    assert saves in html_report(summarise(records, **names), records)
    asked = [{**one, "probabilities": None} if n % 2 else one for n, one in enumerate(records)]
    assert saves not in html_report(summarise(asked, **names), asked)


def test_the_page_says_why_there_is_no_verdict() -> None:
    """A pipeline that judges nothing has made no wrong decision; nor is a question without a label not a strict one."""
    off = [
        record(f"q{n}", verdict="ungraded", rule="mode_off", gap=gap(("gap", "covered")[n % 2], "ungraded"))
        for n in range(4)
    ]
    loose = [record(f"q{n}", "incorrect", strict=False) for n in range(4)]
    for records, why in ((off, "this pipeline judges nothing"), (loose, "no question counts")):
        html = page_of(records)
        assert f"There is no verdict to score: {why}" in html
        assert f"None: {why}" in html
        assert worst(records) == []
    assert gap_recall_at(off) is None
    right = page_of([record("q1")])
    assert "None: every verdict is right" in right


def test_the_worst_decisions_are_the_furthest_from_the_truth_and_the_surest() -> None:
    """Failed ones come last; right, unlabelled and not strict ones never."""
    sure = {"correct": 0.9, "ambiguous": 0.05, "incorrect": 0.05}
    records = [
        record("right"),
        record("failed", error="TimeoutError"),
        record("near", "ambiguous", probabilities=sure),
        record("far", "incorrect", probabilities={**sure, "correct": 0.4}),
        record("far and sure", "incorrect", probabilities=sure),
        record("unlabelled", None),
        record("not strict", "incorrect", strict=False),
    ]
    assert [one["id"] for one in worst(records)] == ["far and sure", "far", "near", "failed"]
    assert len(worst(records, most=2)) == 2


def test_a_worst_decision_is_shown_with_its_evidence() -> None:
    """Question, what was said and what is true, documents with truth, score and whether they were kept, their texts."""
    found = documents((2, True), (1, False), (None, False))
    wrong = record("q7", "incorrect", documents=found, score=0.81, snippets={"d0": "The tower is in Paris."})
    text = " ".join(Page(page_of([wrong])).text.split())
    shown = text[text.index("Where is q7?") :]
    assert "Said correct (score 0.810), is incorrect. q7 · decided by test → generate" in shown
    assert "Title 0The tower is in Paris.answers0.500kept" in shown
    assert "Title 1on topic0.500dropped" in shown
    assert "Title 2not labelled0.500dropped" in shown


def test_text_that_runs_from_right_to_left_is_shown_so() -> None:
    """In a line that runs from left to right, the full stop of an Arabic sentence stands before its first word."""
    page = full_page("برج")
    for shown in ("<h3{}>Where is the برج?<", "<strong{}>", "<blockquote{}>All about the برج.<"):
        assert shown.format(' dir="auto"') in page
    assert "<h1><bdi>برج</bdi>" in page


def test_failed_questions_are_announced_on_the_page() -> None:
    """They stand in the confusion too."""
    text = Page(page_of([*evaluated(), record("q99", error="TimeoutError")])).text
    assert "1 of 31 questions failed. Each counts as a wrong verdict, “ungraded”." in text


def test_questions_that_failed_live_are_not_said_to_count_as_wrong() -> None:
    """Nobody knows which list they would have ended with, so they have no label."""
    live = [record("q98", error="TimeoutError"), record("q99", None, "", error="TimeoutError")]
    text = Page(page_of([*evaluated(), *live])).text
    assert "2 of 32 questions failed. As wrong verdicts, “ungraded”, count 1; the others, without a label" in text


def test_the_table_reads_without_colours_and_shows_only_what_applies() -> None:
    """Each line has a measure with its interval, and what became of it."""
    records, base = evaluated(), [{**one, "verdict": "correct"} for one in evaluated()]
    names: dict[str, Any] = {"dataset": "towers", "split": "dev", "pipeline": None, "grader": "g", "lists": "fixed"}
    compared = paired(records, base, draws=200)
    shown = plain(text_table(summarise(records, **names), intervals=intervals(records, draws=200), comparison=compared))
    assert "\x1b" not in shown
    assert shown.startswith("towers · dev · g  fixed lists, 30 questions")
    line = next(one for one in shown.splitlines() if one.startswith("verdict macro-F1"))
    assert re.fullmatch(r"verdict macro-F1 +0\.\d{3}  0\.\d{3} to \d\.\d{3} +0\.\d{3} +\+0\.\d{3}  .* better *", line)
    assert re.search(r"true .* correct +ambiguous +incorrect", shown)
    bare = plain(text_table(summarise([record()], **names)))
    assert LABELS["strips.f1"] not in bare
    assert "by score alone" not in bare
    told = plain(
        text_table(summarise([record()], **names), gap={"threshold": 0.25, "recall": 0.9, "false_alarms": 0.1})
    )
    assert "gaps noticed by score alone: 90% at 10% false alarms" in told
    assert "(a list alarms below 0.250, chosen on these lists)" in " ".join(told.split())
    assert "95 %" not in bare
    assert "few questions of a verdict" not in shown + bare


def test_the_table_names_verdicts_that_few_questions_have() -> None:
    """Beside intervals only, as these are what promises too much then."""
    names: dict[str, Any] = {"dataset": "towers", "split": "dev", "pipeline": None, "grader": "g", "lists": "fixed"}
    records = evaluated(n=23)
    result = summarise(records, **names)
    assert "few questions of a verdict (7 incorrect): " in plain(
        text_table(result, intervals=intervals(records, draws=50))
    )
    assert "few questions" not in plain(text_table(result))
    assert "few questions of a verdict (7 incorrect)" in Page(html_report(result, records, intervals={})).text


def test_the_table_fits_a_narrow_terminal() -> None:
    """Eighty columns, without the comparison."""
    result = summarise(evaluated(), dataset="towers", split="dev", pipeline=None, grader=None, lists="fixed")
    out = Console(width=80, no_color=True)
    with out.capture() as captured:
        out.print(text_table(result, intervals=intervals(evaluated(), draws=50)))
    assert all(label in captured.get() for label in (LABELS["verdict.macro_f1"], LABELS["cost.seconds"]))


@pytest.mark.parametrize(
    ("name", "low", "high", "word"),
    [
        ("verdict.macro_f1", 0.01, 0.1, "better"),
        ("verdict.macro_f1", -0.1, -0.01, "worse"),
        ("verdict.macro_f1", -0.1, 0.1, "even"),
        ("gaps.false_alarms", 0.01, 0.1, "worse"),
        ("cost.tokens_in", -90.0, -10.0, "better"),
    ],
)
def test_a_difference_counts_only_when_its_interval_leaves_zero_out(
    name: str, low: float, high: float, word: str
) -> None:
    """And fewer false alarms, words and costs are better."""
    assert judgement(name, {"low": low, "high": high}) == word
