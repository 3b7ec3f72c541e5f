"""What the page of the comparison says of a real model: what became of its answers, system by system."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arms import REAL
from page_figures import Row
from page_pictures import Block
from real import ENDS

_SAID: Final = """The same systems, questions and documents, but a real chat model in the place of the script: {model},
    on the processors of this machine, k = {k}, questions: {sets}. Only questions with short answers, so that the words
    of an answer tell what became of it; n says of how many, calls and tokens are those of all. Right: an accepted
    answer stands in it (the measure of the CRAG paper for PopQA). Declined: no answer, because the system or the model
    said that there is none. Wrong: anything else that was written. Failed: an error, a timeout or nothing. In brackets
    exact 95 % intervals. A model of this size is far below what these prompts are written for, by this package and by
    the peers; but it is real, it was not told the labels, and people do run such models. Systems that ask the web find
    there what is missing, of questions that the corpus answers; of the others (in the second table) nothing is right
    but to decline. The scorer that ships was not fitted on PopQA, that of the calibrated cascade on other questions of
    it. Time limits are raised, since the model runs on processors."""
_KINDS: Final = {None: "An answering document is in the list", "gap": "The answering documents are removed"}


def real_model(folder: Path) -> list[Block]:
    """
    Tell what a real model answered.

    :param folder: Where the result files are.
    :returns: A section with a table for each kind of list; nothing where there is no such file.
    """
    path = folder / f"{REAL}.json"
    if not path.is_file():
        return []
    held = json.loads(path.read_text("utf-8"))
    settings = held["settings"]
    sets = ", ".join(f"{name} {count}" for name, count in settings["questions"].items())
    told = {"model": settings["model"], "k": settings["arms"][0]["k"], "sets": sets}
    blocks: list[Block] = [("h2", "With a real, small model"), ("p", _SAID.format_map(told))]
    for fault, title in _KINDS.items():
        heads = ["system", "n", *ENDS, "LLM calls", "tokens in", "tokens out", "web searches"]
        rows = {
            held["systems"][name]["label"]: row
            for name, arms in held["figures"].items()
            for row in arms
            if row["fault"] == fault
        }
        table = [heads, *([label, *_cells(row)] for label, row in rows.items())]
        blocks += [("h3", title), ("table", table), ("p", _leaders(rows))]
    commands = [f"{run['command']}  # {run['date'][:10]}" for run in held["runs"]]
    return [*blocks, ("pre", commands)]


def _leaders(rows: Mapping[str, Row]) -> str:
    """Say which systems gave the most right answers, and which the fewest wrong ones."""
    said = []
    for what, end, best in (("Most right answers", "right", max), ("Fewest wrong ones", "wrong", min)):
        share = best(row[end]["value"] for row in rows.values())
        named = [
            f"{name} ({row['calls']['mean']:.1f} calls)" for name, row in rows.items() if row[end]["value"] == share
        ]
        said.append(f"{what} ({share:.2f}): {', '.join(named)}.")
    return " ".join(said)


def _cells(row: Row) -> list[str]:
    shares = ["{value:.2f} ({low:.2f} to {high:.2f})".format_map(row[name]) for name in ENDS]
    return [str(row[ENDS[0]]["n"]), *shares, *(f"{row[name]['mean']:,.{digits}f}" for name, digits in _SPENT.items())]


_SPENT: Final = {"calls": 1, "tokens_in": 0, "tokens_out": 0, "web_calls": 1}
