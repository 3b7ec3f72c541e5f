"""The figures of the page of the comparison: what the result files hold, and the measures that become columns."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arms import BY_K, FAULTS, PARTS
from measures import OUTCOMES, dollars
from page_pictures import Block, matrix
from page_texts import FAULT_NAMES, MOST_FAILED
from systems import SYSTEMS

Row = Mapping[str, Any]
Key = tuple[int, float, bool, float, str | None]


class Found(NamedTuple):
    """
    A figure; where it has one, its range: 95 % interval of a rate, the middle 80 % of seconds.

    Of seconds `value` is the median; `mean` stands beside it where the calls of the questions `varies`.
    """

    value: float
    n: float
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    varies: bool = False


class Measure(NamedTuple):
    """A column: title, part, arm, the entry of a result that it shows, and how; a model of `prices` makes it a cost."""

    title: str
    part: str
    arm: Key
    entry: str
    digits: int = 2
    higher: bool = False
    price: Row | None = None

    def read(self, row: Row) -> Found | None:
        """Read the figure from the row of an arm; None where it does not apply."""
        held, n = row.get(self.entry), row["n"]
        if self.entry == "failed":
            return Found(sum(row["outcomes"].get(name, 0) for name in ("error", "empty", "timeout")) / n, n)
        if self.price is not None:
            read, wrote = (row[name]["mean"] for name in ("tokens_in", "tokens_out"))
            return Found(1000 * dollars(read, wrote, self.price, self.price["per_tokens"]), n)
        if held is None or isinstance(held, int):
            return None if held is None else Found(held / n, n)
        if "value" in held:
            return Found(held["value"], held["n"], held["low"], held["high"])
        if self.entry != "seconds":
            return Found(held["mean"], n)
        return Found(held["median"], n, held["p10"], held["p90"], held["mean"], _varies(row["calls"]))


def _varies(calls: Row) -> bool:
    return bool(calls["max"] > calls["mean"])


def arm(k: int = 10, a: float = 0.0, flat: bool = True, errors: float = 0.0, fault: str | None = None) -> Key:
    """Name an arm: k, seconds of a call, whether tokens take no time, share of errors, fault."""
    return k, a, flat, errors, fault


class Held:
    """What the result files hold."""

    def __init__(self, folder: Path) -> None:
        """Read them; what is not there stays away."""
        self.folder = folder
        paths = {part: folder / f"{part}.json" for part in PARTS}
        self.parts: Row = {part: json.loads(path.read_text("utf-8")) for part, path in paths.items() if path.is_file()}
        self.systems: dict[str, Any] = {name: system.shown() for name, system in SYSTEMS.items()}
        self.rows: dict[tuple[str, str, Key], Row] = {}
        for part, held in self.parts.items():
            self.systems |= held["systems"]  # what was run, in its words of that day
            for name, rows in held["figures"].items():
                for row in rows:
                    key = arm(row["k"], row["a"], not row["b"], row["errors"], row["fault"])
                    self.rows[part, name, key] = row
        self.fitted = {
            name for name, one in self.systems.items() if any("fitted on" in said for said in one["changed"])
        }
        self.labels = {
            name: one["label"] + " †" * (not one["answers"]) + " ‡" * (name in self.fitted)
            for name, one in self.systems.items()
        }
        self.sides = {
            name: "peer" if one["adapter"] != "ours.py" else "ours" if one["judges"] else "plain"
            for name, one in self.systems.items()
        }

    def find(self, measure: Measure, name: str) -> Found | str:
        """Give a figure, or why there is none in a word."""
        row = self.rows.get((measure.part, name, measure.arm))
        silent = measure.entry in ("support", "wrong_answers", "answer_words", "failed", "obeyed")
        if row is not None and silent and not self.systems[name]["answers"]:
            return "n/a"
        return "not run" if row is None else measure.read(row) or "n/a"

    def found(self, measure: Measure) -> dict[str, Found]:
        """Give the figures of all systems that have one."""
        return {name: one for name in self.systems if isinstance(one := self.find(measure, name), Found)}

    def ran(self, measure: Measure) -> bool:
        """Tell whether any system was run for a figure."""
        return any((measure.part, name, measure.arm) in self.rows for name in self.systems)

    def fair(self, measure: Measure) -> dict[str, Found]:
        """Give the figures that may be called the best, see `RULE`."""
        found = self.found(measure)
        if measure.part not in BY_K:
            found = {name: one for name, one in found.items() if name not in self.fitted}
        if measure.higher or measure.entry == "failed":
            return found
        ended = measure._replace(entry="failed", price=None)
        failed = {name: ended.read(self.rows[measure.part, name, measure.arm]) for name in found}
        few = {name for name, share in failed.items() if share and share.value <= MOST_FAILED}
        return {name: one for name, one in found.items() if name in few and self.systems[name]["answers"]}


def written(found: Found | str, measure: Measure, n: float | None = None) -> str:
    """Write a figure with its range, and with its n where that is not the column's."""
    if isinstance(found, str):
        return found
    number = "{:,.{}f}".format
    said = number(found.value, measure.digits)
    if found.low is not None and found.high is not None:
        said += f" ({number(found.low, measure.digits)} to {number(found.high, measure.digits)})"
    if found.varies and found.mean is not None:
        said += f", mean {number(found.mean, measure.digits)}"
    return said if n in (None, found.n) else f"{said}, n={found.n:g}"


def table(held: Held, measures: Sequence[Measure]) -> Block:
    """Write a row for each system and a column for each measure."""
    most = [max((one.n for one in held.found(measure).values()), default=None) for measure in measures]
    heads = [one.title + (f" (n={n:g})" if n else "") for one, n in zip(measures, most, strict=True)]
    rows = [
        [held.labels[name], *(written(held.find(one, name), one, n) for one, n in zip(measures, most, strict=True))]
        for name in held.systems
    ]
    return "table", [["system", *heads], *rows]


def calls(k: int) -> Measure:
    return Measure(f"LLM calls, k = {k}", "cost", arm(k), "calls", 1)


def seconds(k: int, a: float = 0.3, *, flat: bool = False) -> Measure:
    return Measure(f"seconds, k = {k}, a = {a:g}{', flat' if flat else ''}", "cost", arm(k, a, flat), "seconds")


def costs(k: int, prices: Row) -> list[Measure]:
    tokens = [Measure(f"tokens {way}, k = {k}", "tokens", arm(k), f"tokens_{way}", 0) for way in ("in", "out")]
    models = {name: {**price, "per_tokens": prices["per_tokens"]} for name, price in prices["models"].items()}
    title = f"{prices['currency']} for 1,000 questions, {{}}, k = {k}".format
    return tokens + [Measure(title(name), "tokens", arm(k), "cost", 2, price=one) for name, one in models.items()]


def quality(errors: float) -> list[Measure]:
    fixed, gap = arm(errors=errors), arm(errors=errors, fault="gap")
    return [
        Measure("evidence suffices, macro-F1", "quality", fixed, "suffices_f1", higher=True),
        Measure("three-way verdict, macro-F1", "quality", fixed, "verdict_f1", higher=True),
        Measure("answer support", "quality", fixed, "support", higher=True),
        Measure("words to the generator", "quality", fixed, "answer_words", 0),
        Measure("evidence missing: wrong answers", "quality", gap, "wrong_answers"),
        Measure("evidence missing: answer support", "quality", gap, "support", higher=True),
    ]


def compared(prices: Row) -> list[Measure]:
    """Choose the columns in which the best are named, each under a title that says all."""
    chosen = [calls(10), calls(50)]
    chosen += [seconds(k, flat=flat) for k in (10, 50) for flat in (False, True)] + [
        costs(k, prices)[2] for k in (10, 50)
    ]
    for errors in (0.0, 0.1):
        chosen += [one._replace(title=f"{one.title}, {100 * errors:.0f} % errors") for one in quality(errors)]
    for fault, said in FAULT_NAMES.items():
        asked = Measure(f"{said}: ended without answer or abstention", "faults", arm(fault=fault), "failed")
        support = asked._replace(title=f"{said}: answer support", entry="support", higher=True)
        chosen += [asked] if fault == "nowhere" else [support, asked]
    more = {"nowhere": ("calls", 1), "injected": ("obeyed", 2), "hang": ("seconds", 1)}
    return chosen + [
        Measure(f"{FAULT_NAMES[fault]}: {entry}", "faults", arm(fault=fault), entry, digits)
        for fault, (entry, digits) in more.items()
    ]


def faults(held: Held) -> list[Block]:
    """Write and draw how each system ends under each fault."""
    cells: dict[str, list[str]] = {}
    drawn: dict[str, list[Any]] = {}
    for name, one in held.systems.items():
        rows = [held.rows.get(("faults", name, arm(fault=fault))) for fault in FAULTS]
        cells[name] = [ended(row, answers=one["answers"]) if row else "not run" for row in rows]
        drawn[held.labels[name]] = [row and (shares(row) if one["answers"] else ((), "evidence only")) for row in rows]
    names = [FAULT_NAMES.get(fault, fault) for fault in FAULTS]
    picture = matrix("How questions end under each fault (beside it: LLM calls)", names, drawn, OUTCOMES)
    tables: list[Block] = [
        ("table", [["system", *names[part]], *([held.labels[name], *row[part]] for name, row in cells.items())])
        for part in (slice(0, 4), slice(4, None))
    ]
    return [("svg", picture), *tables]


def shares(row: Row) -> tuple[list[float], str]:
    """Give what is drawn of an arm: the share of each outcome, and the calls."""
    return [row["outcomes"].get(one, 0) / row["n"] for one in OUTCOMES], f"{row['calls']['mean']:.1f}"


def ended(row: Row, *, answers: bool) -> str:
    """Say how the questions of an arm ended, and after how many calls."""
    ends = [f"{count} {one}" for one, count in row["outcomes"].items()] if answers else ["evidence only"]
    ends += [f"{row['obeyed']} obeyed the instruction"] * bool(row["obeyed"])
    few, most = row["calls"]["mean"], row["calls"]["max"]
    said = [", ".join(ends), f"{few:.1f} calls" + (f" (most {most:.0f})" if most > few else "")]
    said += [f"{row['web_calls']['mean']:.1f} web"] * bool(row["web_calls"]["mean"])
    said += [f"{row['seconds']['median']:.0f} s"] * (row["seconds"]["median"] >= 1)
    return "; ".join(said)
