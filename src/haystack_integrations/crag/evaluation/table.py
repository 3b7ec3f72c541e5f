"""What a terminal shows of an evaluation: each measure with its interval and its difference, and the confusion."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from haystack_integrations.crag.evaluation.intervals import rare_verdicts

Interval = Mapping[str, float]
Comparison = Mapping[str, Interval | None]

LABELS: Final = {
    "verdict.accuracy": "verdict accuracy",
    "verdict.macro_f1": "verdict macro-F1",
    "first.accuracy": "first list: verdict accuracy",
    "first.macro_f1": "first list: verdict macro-F1",
    "filter.precision": "documents kept: precision",
    "filter.recall": "documents kept: recall",
    "filter.f1": "documents kept: F1",
    "strips.precision": "strips kept: precision",
    "strips.recall": "strips kept: recall",
    "strips.f1": "strips kept: F1",
    "strips.words_kept": "strips kept: share of words",
    "answer_support.before": "answer in the retrieved text",
    "answer_support.after": "answer in the final text",
    "answer_support.accidental": "answer there by accident",
    "gaps.recall": "gaps noticed",
    "gaps.false_alarms": "false alarms without a gap",
    "cost.llm_calls": "LLM calls per question",
    "cost.tokens_in": "tokens in per question",
    "cost.tokens_out": "tokens out per question",
    "cost.words_to_generator": "words to the generator",
    "cost.seconds": "seconds per question",
}
"""How people read the measures: keys of the result, joined by a point."""

NONE: Final = "n/a"
_LESS_IS_BETTER: Final = ("strips.words_kept", "answer_support.accidental", "gaps.false_alarms", "cost.")
_COLOURS: Final = {"better": "green", "worse": "red", "even": "dim"}
_GROUPED_FROM: Final = 100  # numbers from here on have no decimals


def text_table(
    result: Mapping[str, Any],
    *,
    intervals: Mapping[str, Interval | None] | None = None,
    comparison: Comparison | None = None,
    gap: Mapping[str, float] | str | None = None,
    compared_on: str | None = None,
) -> RenderableType:
    """
    Show a result in a terminal; nothing is said by colour alone.

    :param result: The result of an evaluation.
    :param intervals: From `intervals.intervals`.
    :param comparison: From `intervals.paired`.
    :param gap: From `gaps.gap_recall_at`: what a threshold on the scores notices, whatever the verdicts say;
        or why there is no such threshold.
    :param compared_on: What the comparison is about; see `shared`.
    :returns: What rich prints: the measures that apply, and the confusion.
    """
    head = " · ".join(str(result[key]) for key in ("dataset", "split", "pipeline", "grader") if result[key] is not None)
    parts: list[RenderableType] = [
        Text.assemble((head, "bold"), (f"  {result['lists']} lists, {result['n']:,} questions", "dim")),
        _measures(result, intervals or {}, comparison),
    ]
    notes = [compared_on, which_lists(result), rare_verdicts(result["verdict"]["confusion"]) if intervals else None]
    if isinstance(gap, str):
        notes.append(f"gaps noticed by score alone: {NONE} ({gap})")
    elif gap is not None:
        said = f"gaps noticed by score alone: {gap['recall']:.0%} at {gap['false_alarms']:.0%} false alarms"
        notes.append(f"{said} (a list alarms below {gap['threshold']:.3f}, chosen on these lists)")
    for note in filter(None, notes):
        parts += [Text(), Text(note)]
    confusion = result["verdict"]["confusion"]
    parts += [Text(), _confusion(confusion)] if confusion else []
    return Group(*parts)


def shared(number: int, asked: int, base: int, other_truths: int) -> str:
    """
    Say on how many questions two evaluations are compared.

    :param number: How many both have judged.
    :param asked: How many there are now.
    :param base: How many there are in the base.
    :param other_truths: How many of them have another right verdict in the base.
    :returns: The sentences.
    """
    said = f"Compared on all {number:,} questions"
    if not number == asked == base:
        said = (
            f"Compared on the {number:,} questions that both have judged, of {asked:,} here and {base:,} in the base: "
            "base and difference are about these, the values about all that were asked here"
        )
    if not other_truths:
        return said
    return (
        f"{said}. Of {other_truths:,} of them the right verdict was another one in the base, whose lists are others or "
        "of another length (--top-k): differences in verdicts are partly in what was asked"
    )


def which_lists(result: Mapping[str, Any]) -> str | None:
    """
    Say what verdicts on live lists are about: two evaluations may have corrected to other lists, with other truths.

    :param result: The result of an evaluation.
    :returns: The sentence; None for fixed lists.
    """
    if not (first := result["first"]):
        return None
    return (
        "Live lists: verdict and truth are those of the last list of each run, after corrections, which changed the "
        f"truth of {first['truth_changed']:,} of {result['n']:,} questions; “first list” is before any correction, so "
        "this is what compares with other pipelines and with fixed lists"
    )


def _measures(
    result: Mapping[str, Any],
    intervals: Mapping[str, Interval | None],
    comparison: Comparison | None,
) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("measure")
    table.add_column("value", justify="right")
    shown = ["95 % interval"] if intervals else []
    for name in shown if comparison is None else [*shown, "base", "difference", ""]:
        table.add_column(name, justify="left" if name in ("", "95 % interval") else "right")
    for name, value in values(result):
        row: list[RenderableType] = [label_of(name, result), number(value)]
        row += [span(intervals.get(name))] if intervals else []
        change = (comparison or {}).get(name)
        if comparison is not None and change is None:
            row += [NONE, NONE, ""]
        elif change is not None:
            word = judgement(name, change)
            row += [number(change["base"]), f"{change['difference']:+.3f}"]
            row += [Text(f"{span(change)}  {word}", _COLOURS[word])]
        table.add_row(*row)
    return table


def _confusion(confusion: Mapping[str, Mapping[str, int]]) -> Table:
    columns = list(next(iter(confusion.values())))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("true ↓  told →")
    for name in columns:
        table.add_column(name, justify="right")
    for truth, row in confusion.items():
        cells = [Text(f"{row[name]:,}", "bold" if name == truth else "") for name in columns]
        table.add_row(truth, *cells)
    return table


def values(result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """
    Go through the measures that apply.

    :param result: The result of an evaluation.
    :returns: Name and value of each, in the order of `LABELS`.
    """
    for name in LABELS:
        group, _, key = name.partition(".")
        value = (result[group] or {}).get(key)
        if value is not None:
            yield name, value


def label_of(name: str, result: Mapping[str, Any]) -> str:
    """
    Say what a measure is of: the filter is measured on more of a list than the verdict, and on fewer when calibrating.

    :param name: A measure.
    :param result: The result of an evaluation.
    :returns: Its name for people.
    """
    if not name.startswith("filter.") or not (first := result["filter"].get("of_first")):
        return LABELS[name]
    return LABELS[name].replace("documents kept", f"documents kept of {first}")


def number(value: float | None) -> str:
    """
    Write a measure.

    :param value: A share, a number of calls, tokens or words, or None.
    :returns: Three decimals; none for large numbers; `n/a` for None.
    """
    if value is None:
        return NONE
    return f"{value:,.0f}" if abs(value) >= _GROUPED_FROM else f"{value:.3f}"


def span(bounds: Interval | None) -> str:
    """
    Write an interval.

    :param bounds: `{"low", "high"}`, or None.
    :returns: Such as `0.612 to 0.698`.
    """
    return f"{number(bounds['low'])} to {number(bounds['high'])}" if bounds else NONE


def judgement(name: str, change: Interval) -> str:
    """
    Say in words what a difference to the base is worth.

    :param name: A measure.
    :param change: The interval of its difference.
    :returns: `better` or `worse`; `even` when the interval holds 0.
    """
    if change["low"] <= 0 <= change["high"]:
        return "even"
    return "better" if (change["low"] > 0) != name.startswith(_LESS_IS_BETTER) else "worse"
