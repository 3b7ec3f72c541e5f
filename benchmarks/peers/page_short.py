"""The first table of the page: one row for each system that a reader chooses between, a number for each question."""

from page_figures import Found, Held, Measure, Row, arm, calls, costs, quality, seconds, written
from page_pictures import Block
from page_texts import CALIBRATED, REFERENCE, SHORT

OURS = (REFERENCE, CALIBRATED)


def in_short(held: Held, prices: Row) -> list[Block]:
    """Write what a reader asks first: what it costs, how long it takes, how well it decides, and what it makes up."""
    decides, _, supports, _, wrong, _ = quality(0.1)
    price = costs(10, prices)[2]
    measures = [
        calls(10)._replace(title="LLM calls"),
        seconds(10)._replace(title="seconds"),
        price._replace(title=price.title.removesuffix(", k = 10")),
        decides._replace(title="decides whether the evidence suffices, macro-F1"),
        supports,
        wrong._replace(title="wrong answers where the evidence is missing"),
        Measure("judging calls hang: seconds", "faults", arm(fault="hang"), "seconds", 0),
    ]
    names = [name for name, side in held.sides.items() if name in OURS or side != "ours"]
    rows = [[held.labels[name], *(plainly(held.find(one, name), one) for one in measures)] for name in names]
    return [("p", SHORT), ("table", [["system", *(one.title for one in measures)], *rows])]


def plainly(found: Found | str, measure: Measure) -> str:
    """Write a figure without its range, which stands below."""
    return written(found if isinstance(found, str) else Found(found.value, found.n), measure)
