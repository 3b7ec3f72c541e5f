"""
The page of the comparison, docs/comparison.md and docs/comparison.html, from the result files alone.

    python benchmarks/peers/page.py [--results benchmarks/peers/results] [--docs docs]

Which system is best at what is found by rule (`better`); facts about peers that are not measured here stand in `FACTS`.
What was not run is named with its reason.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from arms import FAULTS, KS, PARTS, PER_COMPLETION_TOKEN, PER_PROMPT_TOKEN
from measures import OUTCOMES, dollars
from page_pictures import Block, Line, Link, Text, bars, html, markdown, matrix, plot
from systems import SYSTEMS

HERE: Final = Path(__file__).parent
TITLE: Final = "Corrective RAG side by side"
REFERENCE: Final = "corrective_rag"
SIDES: Final = {"ours": "this package", "peer": "a peer", "plain": "plain RAG"}
MOST_FAILED: Final = 0.1
FAULT_NAMES: Final = {
    "garbage": "judging replies are prose",
    "cut": "judging replies are cut",
    "web_down": "the web is down",
    "gap": "no answering document",
    "nothing": "nothing on topic",
    "nowhere": "nor on the web",
    "injected": "instruction in a document",
    "hang": "judging calls hang",
}
FACTS: Final = {
    "haystack_llm_ranker": """Measured on haystack-ai 3.4.0: one call ranks any number of documents and drops those
        that are not relevant; Haystack had this before this package. An empty list of documents is read as: none is
        relevant. A reply in a code fence, prose, an index out of range or an empty reply lets all documents through,
        with a warning in the log; an index named three times gives its document three times. It gives no scores,
        labels or reasons.""",
    "haystack_web_fallback": """From source: one call where the documents answer; two calls and a web search where the
        model replies the agreed word. Nothing is graded, so no call is spent on grading.""",
    "langgraph_crag": """From source: the example says of itself that it is kept as an archive and no longer updated;
        one irrelevant document sends the question to the web; of a grade only the exact word "yes" counts; there is
        no threshold, no refinement and no loop. The framework brings checkpoints, streaming of tokens from each node,
        and tracing. Measured: the rewritten question takes the place of the user's, also for the answer.""",
    "langgraph_adaptive": """From source: the only system here that checks an answer after it was written, for being
        grounded and for resolving the question. Measured with langgraph 1.2.22 at k = 4 and nothing relevant in the
        corpus: 40 calls at a recursion limit of 25, 165 at 100, 1,665 at 1,000, each time ending in
        GraphRecursionError without an answer. The default limit of that version is 10,007.""",
    "llamaindex_pack": """From source: the answer is written for the user's own question; only the web is asked with
        the rewritten one. Grades are free text. Measured: where the grader says "Yes." in place of "yes" for every
        document, there is no web search and no call for an answer, and the answer is "Empty Response". The pack's
        class of release 0.3.1 raises in a plain program.""",
}
LIMITS: Final = (
    """The chat model is a script. It grades by the labels of the data; a set share of grades is wrong, for the same
    documents in every system and every form of asking. A real model may grade many documents in one prompt less well
    than one at a time: that would cost the systems that grade in one call, this package's among them; it is not seen
    here.""",
    """The script always admits that it does not know. Wrong answers are answers that stand in other documents by
    accident, and obeyed instructions: lower bounds of what a real model does.""",
    """The script obeys an instruction in a document wherever it stands outside of tags with a random name. That is a
    rule that favours systems with such tags, and a stand-in for a gullible model. It measures no real one.""",
    """Only grades are wrong at times; the answering call never is. So a system that lets the answering model say that
    it cannot answer (tutorial 36) decides without any error here. A real model does not always know.""",
    """A rewritten question is the question with two words more, so loops and rewriting hardly recover anything.""",
    """Evidence suffices: a system that asks the web as soon as one document is irrelevant, and then answers from
    both, decides wrongly by this measure where an answering document was there; its answers can still be right.""",
    """The web is a keyword search over the same corpus, at once and without junk. It holds what is missing from the
    corpus, except under "nor on the web". So systems that may ask the web can answer where the answering documents
    are missing, and those without can at best abstain.""",
    """Judging replies that are prose or cut are made on purpose, whatever form the request asks for. Providers that
    enforce a schema rarely send such replies.""",
    """Wall times are of a machine shared with other work, at times with other runs of this comparison; of few
    questions, one at a time, with model and systems on the same processors. The time for each token is chosen, not
    measured at a provider. Nothing is said about load. Examples that grade one document after another would take
    about the time of one call if they asked at once, with as many calls and tokens.""",
    """Tokens are words and marks counted by one rule, not by a model's tokenizer. Prompts of peers are in our words:
    their prompt tokens differ from those of the originals.""",
    """Questions are such whose answer stands word for word in a labelled document, or that the corpus does not
    answer. Designs with ‡ use models that were fitted on the half of the data that the questions are from: they have
    seen these questions, and do worse on others.""",
    """The makers of this package wrote the comparison. It runs many designs of theirs against one form of each peer,
    and the best of many is favoured; so each peer is also held against one design alone.""",
    """Services that need a key or the network (Tavily, SerperDev, an online hub of prompts, OpenAI) are replaced by
    parts of the comparison. Not run, since they need containers, model weights or services: RAGFlow, NVIDIA's RAG
    blueprint, mmore, and the code of the CRAG paper.""",
)
RULE: Final = f"""By rule, from the figures of this page, compared as they are rounded here, each measure alone: what
    is cheapest may be worst at answering. Where less is better, a system that ended in an error, a timeout or nothing
    in more than {100 * MOST_FAILED:.0f} % of the questions is not called the best: to ask little and then fail is no
    merit. Nor is one that writes no answer (†); in quality and under faults, nor is one whose model was fitted on
    these questions (‡). "Ranges overlap" means that the 95 % intervals do, or for seconds the ranges of the middle 80
    %: there the figures decide nothing."""

COMPARED: Final = """Every system got the same questions, the same ranked documents, the same model, retriever and
    web, all from one scripted server on loopback, one question at a time, each in a process of its own with its own
    packages. k is the number of retrieved documents. Labels of open data decide what the model replies. Cost: all
    questions with a model that replies at once, where calls and tokens are counted, and some with a model that takes
    time. Quality: k = 10, with a share of grades wrong, on lists with and without the answering documents. Faults: k
    = 10, some questions for each fault. A command is of the run that wrote last; others may have added systems with
    the same settings."""
QUALITY: Final = """k = 10, in brackets 95 % intervals (bootstrap over questions). Evidence suffices: the system
    answers from what was retrieved exactly when an answering document is among it. Three-way verdict: correct,
    ambiguous or incorrect against the label of the list. Answer support: of the questions with an answer, those
    answered where the answer stands in the documents of the last prompt. Words to the generator: those of that
    prompt's documents. Evidence missing: the same questions without their answering documents in list and corpus;
    they are on the web, for systems that may ask it. Wrong answers: answered without an answering document in the
    prompt. An interval without width says that all questions asked ended alike, no more. n/a: the system has no such
    decision, or writes no answer."""
FAULTS_SAID: Final = """k = 10, right grades, a model that replies at once. Judging replies are prose, are cut in
    half, or hang for 30 s (a question has 60 s); the web fails; documents are missing: the answering ones, all on
    topic, or these on the web, too; one of the first three documents gives an instruction. Each cell: how the
    questions ended, mean LLM calls, mean searches on the web, median seconds from 1 s up."""
CALLS: Final = """Mean calls of a question, the answer's included. † writes no answer, by its design. ‡ uses a model
    that was fitted on the half of the data that the questions are from."""
WALL: Final = f"""Median seconds of a question, in brackets the range of the middle 80 % of the questions. A call
    takes a + {PER_PROMPT_TOKEN:.5f} s for each prompt token + {PER_COMPLETION_TOKEN} s for each completion token;
    flat: a alone."""
NOTHING: Final = ("nothing",)
UNKNOWN: Final = dict.fromkeys(("cpus", "memory_gib", "system", "python"), "unknown")

Row = Mapping[str, Any]
Key = tuple[int, float, bool, float, str | None]


class Found(NamedTuple):
    """A figure; where it has one, its range: 95 % interval of a rate, the middle 80 % of seconds."""

    value: float
    n: float
    low: float | None = None
    high: float | None = None


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
        return Found(held["median"], n, held["p10"], held["p90"]) if self.entry == "seconds" else Found(held["mean"], n)


def arm(k: int = 10, a: float = 0.0, flat: bool = True, errors: float = 0.0, fault: str | None = None) -> Key:
    """Name an arm: k, seconds of a call, whether tokens take no time, share of wrong grades, fault."""
    return k, a, flat, errors, fault


class Held:
    """What the result files hold."""

    def __init__(self, folder: Path) -> None:
        """Read them; what is not there stays away."""
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
        if measure.part != "cost":
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
    numbers = [f"{one:,.{measure.digits}f}" for one in found if one is not None]
    said = f"{numbers[0]} ({numbers[2]} to {numbers[3]})" if len(numbers) == 4 else numbers[0]
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
    tokens = [Measure(f"tokens {way}, k = {k}", "cost", arm(k), f"tokens_{way}", 0) for way in ("in", "out")]
    models = {name: {**price, "per_tokens": prices["per_tokens"]} for name, price in prices["models"].items()}
    title = f"{prices['currency']} for 1,000 questions, {{}}, k = {k}".format
    return tokens + [Measure(title(name), "cost", arm(k), "cost", 2, price=one) for name, one in models.items()]


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
        chosen += [one._replace(title=f"{one.title}, {100 * errors:.0f} % wrong grades") for one in quality(errors)]
    for fault, said in FAULT_NAMES.items():
        asked = Measure(f"{said}: ended without answer or abstention", "faults", arm(fault=fault), "failed")
        support = asked._replace(title=f"{said}: answer support", entry="support", higher=True)
        chosen += [asked] if fault == "nowhere" else [support, asked]
    more = {"nowhere": ("calls", 1), "injected": ("obeyed", 2), "hang": ("seconds", 1)}
    return chosen + [
        Measure(f"{FAULT_NAMES[fault]}: {entry}", "faults", arm(fault=fault), entry, digits)
        for fault, (entry, digits) in more.items()
    ]


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


def compared_on(held: Held) -> list[Block]:
    """Say what was run, on what, when, and what was not."""
    blocks: list[Block] = []
    for part, one in held.parts.items():
        dates = sorted(system["date"][:10] for system in one["systems"].values()) or ["no date"]
        machine = one.get("machine") or {}
        sets = ", ".join(f"{name} {count}" for name, count in one["settings"]["questions"].items())
        on = "{cpus} processors, {memory_gib} GiB, {system}, Python {python}".format_map({**UNKNOWN, **machine})
        days = " to ".join(dict.fromkeys((dates[0], dates[-1])))
        blocks += [("p", f"Part {part}: {days}; {on}; questions: {sets}."), ("pre", one.get("command", "not recorded"))]
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


def not_run(held: Held) -> list[str]:
    """Name what is missing, with the reason."""
    said = [f"{part}: no system was run, there is no {part}.json." for part in PARTS if part not in held.parts]
    for part, one in held.parts.items():
        wanted = {arm(row["k"], row["a"], not row["b"], row["errors"], row["fault"]) for row in one["settings"]["arms"]}
        ks = [str(k) for k in KS if part == "cost" and arm(k) not in wanted]
        gone = [FAULT_NAMES[fault] for fault in FAULTS if part == "faults" and arm(fault=fault) not in wanted]
        said += [
            f"{part}: this run did not ask for {', '.join(lot)}." for lot in ([f"k = {k}" for k in ks], gone) if lot
        ]
        gone_systems: dict[str, list[str]] = {}
        for name, label in held.labels.items():
            rows = one["figures"].get(name)
            if rows is None:
                gone_systems.setdefault(one["failed"].get(name) or "no figures in the result file", []).append(label)
            for row in rows or ():
                asked = sum(min(row["questions"], count) for count in one["settings"]["questions"].values())
                what = f"k = {row['k']}, a = {row['a']:g}, {FAULT_NAMES.get(row['fault'], row['fault'] or 'no fault')}"
                said += [f"{part}: {label}: {what}: ended after {row['n']} of {asked} questions."] * (row["n"] < asked)
        said += [f"{part}: {' / '.join(labels)}: {why}." for why, labels in gone_systems.items()]
    return said


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
        table(held, [seconds(k, flat=flat) for k in (10, 50) for flat in (False, True)]),
        table(held, [seconds(k, a) for k in (10, 50) for a in (0.0, 1.0)]),
        ("h2", "Tokens, and what 1,000 questions cost"),
        ("p", f"List prices in {prices['currency']}, read on {prices['read_on']}, as an example. {prices['note']}"),
        ("ul", priced),
        *(table(held, costs(k, prices)) for k in (10, 50)),
        ("h2", "Quality"),
        ("p", QUALITY),
        ("svg", plot("Answer support against LLM calls (k = 10, 10 % of grades wrong)", "LLM calls", support)),
        ("h3", "All grades right"),
        table(held, quality(0.0)),
        ("h3", "10 % of grades wrong"),
        table(held, wrong),
    ]


def page(held: Held, prices: Row) -> list[Block]:
    """Put the page together."""
    forms = (Link("Markdown", "comparison.md"), ", ", Link("HTML with pictures", "comparison.html"))
    changed = [f"{held.labels[name]}: {'; '.join(one['changed'] or NOTHING)}." for name, one in held.systems.items()]
    return [
        ("h1", TITLE),
        ("p", ["Written by benchmarks/peers/page.py from the files in benchmarks/peers/results. Forms: ", *forms, "."]),
        ("h2", "What was compared, and on what"),
        ("p", COMPARED),
        *compared_on(held),
        *measured(held, prices),
        ("h2", "Under faults"),
        ("p", FAULTS_SAID),
        *faults(held),
        ("h2", "What each side does better"),
        *better(held, compared(prices)),
        ("h2", "What was changed to run each"),
        ("ul", changed),
        ("h2", "What this comparison cannot show"),
        ("ul", LIMITS),
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
