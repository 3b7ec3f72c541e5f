"""The table of `correction.py`: what became of the questions of one set, by pipeline and strategy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

STRATEGIES = ("none", "refine", "expand", "web", "web_and_refine")


@dataclass
class Run:
    """What one pipeline did with one question; `strategy` is "abstained" where it answered nothing."""

    strategy: str
    gold: bool  # a document that answers stood in what the pipeline retrieved first
    before: bool
    held: bool  # before, in a document that answers by the labels
    first: bool
    after: bool
    words_before: int
    words_after: int


def mean(values: Sequence[float]) -> float:
    """The mean; not a number without values."""
    return sum(values) / len(values) if values else float("nan")


def summed(runs: Sequence[Run], gaps: Sequence[Run]) -> dict[str, Any]:
    """The figures of one line of the table."""
    parts = ("before", "first", "after", "words_before", "words_after")
    means = {part: mean([getattr(run, part) for run in runs]) for part in parts}
    return {
        "n": len(runs),
        **means,
        "gained": sum(run.after and not run.before for run in runs),
        "lost": sum(run.before and not run.after for run in runs),
        "held": sum(run.held for run in runs),
        "lost_held": sum(run.held and not run.after for run in runs),
        "floor": {"n": len(gaps), **{part: mean([getattr(run, part) for run in gaps]) for part in ("before", "after")}},
    }


def row(label: str, figures: dict[str, Any]) -> str:
    """One line of the table."""
    support = " ".join(f"{figures[part]:6.3f}" for part in ("before", "first", "after"))
    size = " ".join(f"{figures[part]:6.0f}" for part in ("words_before", "words_after"))
    floor = f"{figures['floor']['n']:4} {figures['floor']['before']:6.3f} {figures['floor']['after']:6.3f}"
    lost = f"{figures['lost']} ({figures['lost_held']})"
    line = f"{label:43} {figures['n']:4} | {support} {figures['gained']:4} {lost:>8} | {size} | {floor}"
    return line.replace("nan", "  -")


def silences(runs: Sequence[Run], gaps: Sequence[Run]) -> dict[str, int]:
    """The abstentions: all, those that were wrong, and those that were right."""
    silent = [run for run in runs if run.strategy == "abstained"]
    return {
        "n": len(silent),
        "with_support_before": sum(run.before for run in silent),
        "with_gold_retrieved": sum(run.gold for run in silent),
        "gold_deleted": sum(run.strategy == "abstained" for run in gaps),
    }


def table(
    title: str, runs: dict[str, list[Run]], gaps: dict[str, list[Run]], by_labels: Sequence[str]
) -> dict[str, Any]:
    """Print one set, and return the figures of the pipelines; those `by_labels` are graded by the data's labels."""
    print(f"\n{title}")
    found = {}
    print(
        f"{'':43} {'':4} | {'support':^20} {'':13} | {'words':^13} | {'floor (gold deleted)':^18}\n"
        f"{'pipeline / strategy':43} {'n':>4} | {'before':>6} {'first':>6} {'after':>6} {'+':>4} {'-':>8} | "
        f"{'before':>6} {'after':>6} | {'n':>4} {'before':>6} {'after':>6}"
    )
    for name, every in runs.items():
        whole, silent = summed(every, gaps[name]), silences(every, gaps[name])
        found[name] = {**whole, "abstained": silent}
        print(row(name + (" (grader: labels)" if name in by_labels else ""), whole))
        for strategy in STRATEGIES:
            some = [run for run in every if run.strategy == strategy]
            alike = [run for run in gaps[name] if run.strategy == strategy]
            if some or alike:
                asked = " (web asked for, none here)" if "web" in strategy else ""
                print(row(f"  {strategy}{asked}", summed(some, alike)))
        print(
            f"  abstained {silent['n']}, with support before {silent['with_support_before']}, with a gold document "
            f"retrieved {silent['with_gold_retrieved']}; with the gold deleted {silent['gold_deleted']} of "
            f"{len(gaps[name])}"
        )
    return found
