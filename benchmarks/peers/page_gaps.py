"""What the page of the comparison says was not run, and by which commands the rest was."""

from collections.abc import Mapping
from typing import Any

from arms import BY_K, FAULTS, KS, PARTS
from page_figures import Held, arm
from page_pictures import Block
from page_texts import FAULT_NAMES, UNKNOWN


def not_run(held: Held) -> list[str]:
    """Name what is missing, with the reason."""
    said = [f"{part}: no system was run, there is no {part}.json." for part in PARTS if part not in held.parts]
    for part, one in held.parts.items():
        wanted = {arm(row["k"], row["a"], not row["b"], row["errors"], row["fault"]) for row in one["settings"]["arms"]}
        ks = [str(k) for k in KS if part in BY_K and arm(k) not in wanted]
        gone = [FAULT_NAMES[fault] for fault in FAULTS if part == "faults" and arm(fault=fault) not in wanted]
        only = sorted({row["k"] for row in one["settings"]["arms"]})
        said += [f"{part}: no other k was asked for than {only[0]}."] * (part not in BY_K and len(only) == 1)
        said += [
            f"{part}: this run did not ask for {', '.join(lot)}." for lot in ([f"k = {k}" for k in ks], gone) if lot
        ]
        said += _asked_of_some(part, one, held.labels)
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


def _asked_of_some(part: str, one: Mapping[str, Any], labels: Mapping[str, str]) -> list[str]:
    """Name the k that only some of the systems with figures were run with."""
    have = {name: {row["k"] for row in one["figures"][name]} for name in labels if one["figures"].get(name)}
    said = []
    for k in sorted(set().union(*have.values())):
        those = [labels[name] for name, ks in have.items() if k in ks]
        said += [f"{part}: k = {k} was asked of these only: {', '.join(those)}."] * (len(those) < len(have))
    return said


def commands(held: Held) -> list[Block]:
    """Say by which commands it was measured, when, and on which machine; last, since there are many."""
    blocks: list[Block] = []
    for part, one in held.parts.items():
        blocks.append(("h3", f"Part {part}"))
        given: dict[str, dict[str, None]] = {}  # by machine, each once for a day
        for run in one["runs"]:
            on = "{cpus} processors, {memory_gib} GiB, {system}, Python {python}".format_map(UNKNOWN | run["machine"])
            given.setdefault(on, {})[f"{run['command']}  # {run['date'][:10]}"] = None
        for on, lines in given.items():
            blocks += [("p", f"On {on}:"), ("pre", list(lines))]
    return blocks
