"""
The page of the comparison, docs/comparison.md and docs/comparison.html, from the result files alone.

    python benchmarks/peers/page.py [--results benchmarks/peers/results] [--docs docs]

Which system is best at what is found by rule (`better`); what is not measured here stands in `page_texts.py`.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from arms import KS
from page_calibrated import calibrations
from page_figures import (
    Found,
    Held,
    Measure,
    Row,
    calls,
    compared,
    costs,
    faults,
    quality,
    seconds,
    table,
    written,
)
from page_gaps import commands, not_run
from page_goals import goals
from page_pictures import Block, Line, Link, Text, bars, html, markdown, plot
from page_real import real_model
from page_short import in_short
from page_texts import (
    CALLS,
    COMPARED,
    FACTS,
    FAULTS_SAID,
    GOALS,
    HERE,
    LIMITS,
    NOTHING,
    QUALITY,
    REFERENCE,
    RULE,
    SIDES,
    TITLE,
    WALL,
)

WAYS = ((0.3, False), (0.3, True), (0.0, False))  # seconds of a call, and whether tokens take none


def against(measure: Measure, one: Found, other: Found) -> tuple[int, str]:
    """Compare two figures: 1, 0 or -1 for better, equal or worse, and a word where this decides nothing."""
    first, second = round(one.value, measure.digits), round(other.value, measure.digits)
    sign = ((first > second) - (first < second)) * (1 if measure.higher else -1)
    ends = (one.low, other.high), (other.low, one.high)
    overlap = sign and all(low is not None and high is not None and low <= high for low, high in ends)
    return sign, " (ranges overlap)" if overlap else ""


def better(held: Held, measures: Sequence[Measure]) -> list[Block]:
    """Name the best at each measure, and hold each peer against one design alone."""
    rows: list[list[str]] = [
        ["measure", "better is", *(f"best of {name}" for name in ("this package", "peers", "plain RAG")), "best"]
    ]
    lead: dict[int, list[Text]] = {1: [], 0: [], -1: []}
    for measure in measures:
        found, tops = held.fair(measure), {}
        for side in SIDES:
            values = {name: round(one.value, measure.digits) for name, one in found.items() if held.sides[name] == side}
            top = (max if measure.higher else min)(values.values(), default=None)
            tops[side] = [name for name, value in values.items() if value == top]
        firsts = {side: found[names[0]] for side, names in tops.items() if names}
        who = [SIDES[side] for side, one in firsts.items()
               if all(against(measure, one, other)[0] >= 0 for other in firsts.values())]  # fmt: skip
        alone = f"only {SIDES[next(iter(firsts))]}" if len(firsts) == 1 else ""
        named = {side: " / ".join(held.labels[name] for name in names) for side, names in tops.items()}
        empty = "none" if held.ran(measure) else "not run"
        cells = [f"{written(firsts[side], measure)}: {named[side]}" if side in firsts else empty for side in SIDES]
        rows.append([measure.title, "more" if measure.higher else "less", *cells, alone or ", ".join(who) or empty])
        if "ours" in firsts and "peer" in firsts:
            sign, said = against(measure, firsts["peer"], firsts["ours"])
            lead[sign].append(f"{measure.title}: {cells[1]}. Best of this package: {cells[0]}{said}")
    return [
        ("p", RULE),
        ("h3", "Where a peer is better than every design of this package"),
        ("ul", lead[1] or ["By these figures nowhere."]),
        ("h3", "The best of each side"),
        ("table", rows),
        *each_peer(held, measures),
    ]


def each_peer(held: Held, measures: Sequence[Measure]) -> list[Block]:
    """Hold each peer against one design alone, and say what is known of it besides."""
    blocks: list[Block] = []
    for name in [name for name, side in held.sides.items() if side == "peer"]:
        told: dict[int, list[str]] = {1: [], 0: [], -1: []}
        for measure in measures:
            found = held.fair(measure)
            if name in found and REFERENCE in found:
                sign, said = against(measure, found[name], found[REFERENCE])
                both = f": {written(found[name], measure)} against {written(found[REFERENCE], measure)}{said}"
                told[sign].append(measure.title + both * abs(sign))
        words = {1: "Better than", -1: "Worse than", 0: "Equal to"} if any(told.values()) else {}
        held_up = [f"{word} {REFERENCE}: {'; '.join(told[sign]) or 'nothing'}." for sign, word in words.items()]
        blocks += [
            ("h3", held.labels[name]),
            ("ul", held_up or [f"Not run beside {REFERENCE}: nothing to compare."]),
            ("p", FACTS.get(name, "Nothing else is known of it here.")),
        ]
    return blocks


def compared_on(held: Held) -> list[Block]:
    """Say what was run, on what, and what was not."""
    blocks: list[Block] = []
    for part, one in held.parts.items():
        sets = ", ".join(f"{name} {count}" for name, count in one["settings"]["questions"].items())
        blocks.append(("p", f"Part {part}; questions: {sets}."))
    rows: list[list[Text]] = [["system", "written from", "versions", "parts"]]
    for name, one in held.systems.items():
        ran = [part for part, file in held.parts.items() if name in file["figures"]]
        versions = {
            f"{key} {value}" for part in ran for key, value in held.parts[part]["systems"][name]["versions"].items()
        }
        url = one["source"] if "://" in one["source"] else f"../{one['source']}"
        link = Link(one["source"].rsplit("/", 1)[-1], url)
        rows.append([held.labels[name], link, ", ".join(sorted(versions)), ", ".join(ran) or "not run"])
    return [*blocks, ("table", rows), ("h3", "What was not run"), ("ul", not_run(held) or ["Everything was run."])]


def lines(held: Held, measure: Measure, across: Measure | None = None) -> list[Line]:
    """Give what a picture draws of a measure; where it has another one `across`, at that one's value."""
    drawn = []
    beside = held.found(across or measure)
    for name, one in held.found(measure).items():
        if name in beside:
            label = held.labels[name] + (f" ({beside[name].value:.1f} calls)" if across else "")
            drawn.append(Line(label, held.sides[name], [(beside[name].value, one.value, one.low, one.high)]))
    return drawn


def calls_by_k(held: Held, ks: Sequence[int]) -> str:
    """Draw the calls at each k."""
    at = [(place, held.found(calls(k))) for place, k in enumerate(ks)]
    drawn = [
        Line(label, held.sides[name], [(place, found[name].value, None, None) for place, found in at if name in found])
        for name, label in held.labels.items()
    ]
    return plot("LLM calls by k", "", drawn, {place: f"k = {k}" for place, k in enumerate(ks)})


def walls(held: Held, ks: Sequence[int], a: float, *, flat: bool) -> list[Block]:
    """Write the seconds at each k, where a call takes `a`."""
    said = f"a = {a:g}{', flat' if flat else ''}"
    return [("h3", said), table(held, [seconds(k, a, flat=flat)._replace(title=f"k = {k}") for k in ks])]


def measured(held: Held, prices: Row) -> list[Block]:
    """Write the figures: calls, seconds, costs, quality."""
    ks = sorted({*KS, *(key[0] for part, _, key in held.rows if part == "cost")})
    wrong = quality(0.1)
    support = lines(held, wrong[2], wrong[2]._replace(entry="calls"))
    said = "{}: {input} in, {output} out for {} tokens, as of {as_of}, read at ".format
    priced = [
        [said(name, f"{prices['per_tokens']:,}", **one), Link(one["read_at"], one["read_at"])]
        for name, one in prices["models"].items()
    ]
    return [
        ("h2", "LLM calls"),
        ("p", CALLS),
        ("svg", calls_by_k(held, ks)),
        table(held, [calls(k)._replace(title=f"k = {k}") for k in ks]),
        ("h2", "Wall time"),
        ("p", WALL),
        ("svg", bars("Seconds at k = 10, 0.3 s for each call and time for each token", lines(held, seconds(10)), "s")),
        *(block for a, flat in WAYS for block in walls(held, ks, a, flat=flat)),
        ("h2", "Tokens, and what 1,000 questions cost"),
        ("p", f"List prices in {prices['currency']}, read on {prices['read_on']}, as an example. {prices['note']}"),
        ("ul", priced),
        *(table(held, costs(k, prices)) for k in (10, 50)),
        ("h2", "Quality"),
        ("p", QUALITY),
        (
            "svg",
            plot("Answer support against LLM calls (k = 10, 10 % of grades and answers wrong)", "LLM calls", support),
        ),
        ("h3", "All grades right"),
        table(held, quality(0.0)),
        ("h3", "10 % of grades and answers wrong"),
        table(held, wrong),
    ]


def page(held: Held, prices: Row) -> list[Block]:
    """Put the page together."""
    forms = (Link("Markdown", "comparison.md"), ", ", Link("HTML with pictures", "comparison.html"))
    changed = [f"{held.labels[name]}: {'; '.join(one['changed'] or NOTHING)}." for name, one in held.systems.items()]
    return [
        ("h1", TITLE),
        ("p", ["Written by benchmarks/peers/page.py from the files in benchmarks/peers/results. Forms: ", *forms, "."]),
        ("h2", "In short"),
        *in_short(held, prices),
        ("h2", "What was compared, and on what"),
        ("p", COMPARED),
        *compared_on(held),
        *calibrations(held),
        *measured(held, prices),
        *real_model(held.folder),
        ("h2", "Under faults"),
        ("p", FAULTS_SAID),
        *faults(held),
        ("h2", "Goals set before, and what was reached"),
        ("p", GOALS),
        *goals(held),
        ("h2", "What each side does better"),
        *better(held, compared(prices)),
        ("h2", "What was changed to run each"),
        ("ul", changed),
        ("h2", "What this comparison cannot show"),
        ("ul", LIMITS),
        ("h2", "The commands that measured this"),
        *commands(held),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both forms of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--docs", type=Path, default=HERE.parents[1] / "docs")
    given = parser.parse_args(arguments)
    blocks = page(Held(given.results), json.loads((HERE / "prices.json").read_text("utf-8")))
    for name, text in {"comparison.md": markdown(blocks), "comparison.html": html(blocks, TITLE)}.items():
        (given.docs / name).write_text(text, "utf-8")
        print(f"{name}: {len(text):,} characters")


if __name__ == "__main__":
    main()
