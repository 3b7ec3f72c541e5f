"""
What the page of the comparison says of the goals that were set before anything was measured, each by its figures.

Reached or not is found by rule from the figures as they are written, two digits, for each of two designs: `REFERENCE`
and `CALIBRATED`; what is decided and supported also for the one whose only call is the answer. Seconds are medians;
where the calls of a question vary, the ratio of the means stands beside that of the medians, and whether it would do,
too.
"""

from collections.abc import Iterator
from math import ceil, inf
from typing import NamedTuple

from page_figures import Found, Held, arm, calls, quality, seconds
from page_pictures import Block
from page_texts import CALIBRATED, REFERENCE

_DESIGNS = (REFERENCE, CALIBRATED)
_ONE_CALL = "signals_rag"
_BATCH = 20  # documents in one grading call, by the goal
_KS = (5, 10, 20, 50, 100)


class Goal(NamedTuple):
    """
    A row: what was wanted, what was measured of how many questions, and whether that is enough; None: not run.

    `by_means` is whether the means are, where they stand beside medians.
    """

    wanted: str
    measured: str
    n: float | None
    reached: bool | None
    by_means: bool | None = None

    @property
    def end(self) -> str:
        """Say whether it was reached."""
        if self.reached is None:
            return "not run"
        said = {True: "yes", False: "no"}
        if self.by_means in (None, self.reached):
            return said[self.reached]
        return f"{said[self.reached]}; by the means {said[not self.reached]}"


def goals(held: Held) -> list[Block]:
    """
    Write the table of goals.

    :param held: What the result files hold.
    :returns: The table.
    """
    rows = [["goal", "measured", "n", "reached"]]
    for goal in (*_walls(held), *_decisions(held), *_calls(held), *_ends(held)):
        rows.append([goal.wanted, goal.measured, "" if goal.n is None else f"{goal.n:g}", goal.end])
    return [("table", rows)]


def _ratio(wanted: str, over: Found | str, under: Found | str, *, most: float = inf, least: float = 0) -> Goal:
    if isinstance(over, str) or isinstance(under, str):
        return Goal(wanted, "", None, None)
    value = round(over.value / under.value, 2)
    said = f"{over.value:.2f} s / {under.value:.2f} s = {value:.2f}"
    by_means = None
    if (over.varies or under.varies) and over.mean and under.mean:
        of_means = round(over.mean / under.mean, 2)
        said += f"; means {over.mean:.2f} s / {under.mean:.2f} s = {of_means:.2f}"
        by_means = least <= of_means <= most
    return Goal(wanted, said, over.n, least <= value <= most, by_means)


def _walls(held: Held) -> Iterator[Goal]:
    """Hold the wall time against peers at k = 10, and against itself from k = 5 to 100."""
    for flat, how in ((True, "a call takes 0.3 s"), (False, "0.3 s and time for each token")):
        at_ten = seconds(10, flat=flat)
        for design in _DESIGNS:
            who, ours = held.labels[design], held.find(at_ten, design)
            wanted = f"{who}: wall at most 1.05 times LLMRanker + generator, k = 10, {how}"
            yield _ratio(wanted, ours, held.find(at_ten, "haystack_llm_ranker"), most=1.05)
            for name in ("langgraph_crag", "langgraph_adaptive"):
                wanted = f"{who}: at least 6 times faster than {held.labels[name]}, k = 10, {how}"
                yield _ratio(wanted, held.find(at_ten, name), ours, least=6)
        few, many = (held.find(seconds(k, flat=flat), REFERENCE) for k in (5, 100))
        wanted = f"{held.labels[REFERENCE]}: wall at k = 100 at most 1.3 times that at k = 5, {how}"
        yield _ratio(wanted, many, few, most=1.3)


def _decisions(held: Held) -> Iterator[Goal]:
    """Hold decision and support against each peer that decides, at a third of its calls or less."""
    peers = [name for name, side in held.sides.items() if side == "peer"]
    for errors in (0.0, 0.1):
        for design in (*_DESIGNS, _ONE_CALL):
            yield from (_decision(held, design, name, errors) for name in peers)


def _decision(held: Held, design: str, peer: str, errors: float) -> Goal:
    first, _, support, *_ = quality(errors)
    asked = {"macro-F1": first, "support": support, "calls": first._replace(entry="calls")}
    wanted = (
        f"{held.labels[design]}: decides and supports at least as well as {held.labels[peer]} at a third of its calls "
        f"or less, {100 * errors:.0f} % errors"
    )
    found = {what: held.found(one) for what, one in asked.items()}
    pairs = {what: (each[design], each[peer]) for what, each in found.items() if {design, peer} <= each.keys()}
    if "calls" not in pairs:
        return Goal(wanted, "", None, None)
    calls_, n = pairs.pop("calls"), held.rows["quality", peer, first.arm]["n"]
    good = all(round(ours.value, 2) >= round(other.value, 2) for ours, other in pairs.values())
    said = [f"{what} {ours.value:.2f} against {other.value:.2f}" for what, (ours, other) in pairs.items()]
    said.append(f"calls {calls_[0].value:.1f} against {calls_[1].value:.1f}")
    return Goal(wanted, ", ".join(said), n, good and 3 * calls_[0].value <= calls_[1].value)


def _calls(held: Held) -> Iterator[Goal]:
    """Count calls by k: one for each twenty documents, and one for the answer."""
    for name in (REFERENCE, CALIBRATED):
        rows = [(k, held.rows.get(("cost", name, calls(k).arm))) for k in _KS]
        wanted = f"{held.labels[name]}: at most ⌈k/{_BATCH}⌉ + 1 calls at k = {', '.join(map(str, _KS))}"
        known = [(k, row["calls"], row["n"]) for k, row in rows if row is not None]
        if len(known) < len(_KS):
            yield Goal(wanted, "", None, None)
            continue
        limits = [ceil(k / _BATCH) + 1 for k in _KS]
        for how in ("mean", "max"):
            values = [spread[how] for _, spread, _ in known]
            said = ", ".join(f"{value:.1f} of {limit}" for value, limit in zip(values, limits, strict=True))
            enough = all(round(value, 1) <= limit for value, limit in zip(values, limits, strict=True))
            yield Goal(f"{wanted}, {'on average' if how == 'mean' else 'the most'}", said, known[0][2], enough)


def _ends(held: Held) -> Iterator[Goal]:
    """Look at a corpus that has nothing on the topic."""
    for fault, where in (("nothing", ""), ("nowhere", ", nor has the web")):
        for design in _DESIGNS:
            asked = "at most 6 calls, and always an answer or an abstention"
            wanted = f"{held.labels[design]}: nothing on topic{where}: {asked}"
            row = held.rows.get(("faults", design, arm(fault=fault)))
            if row is None:
                yield Goal(wanted, "", None, None)
                continue
            bad = sum(row["outcomes"].get(name, 0) for name in ("error", "empty", "timeout"))
            said = f"at most {row['calls']['max']:.0f} calls; {bad} ended without either"
            yield Goal(wanted, said, row["n"], row["calls"]["max"] <= 6 and not bad)
