"""The result file of one part: figures, and the runs that measured them: with what, on what, and when."""

import argparse
import json
import os
import platform
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from arms import QUESTION_SECONDS, REAL, REAL_SECONDS, Arm, arms
from real import RealModel
from systems import SYSTEMS


class Results:
    """
    The result file of one part: written after each system, read when a run goes on.

    A run asks for arms; what is there already is not measured again, unless that is asked for. Another run may add
    arms, such as another k, on the same questions.
    """

    def __init__(self, part: str, given: argparse.Namespace, tasks: Sequence[dict[str, Any]]) -> None:
        """
        Open it; what was measured on other questions is not mixed with this run, which replaces it where asked to.

        :param part: One of `PARTS`.
        :param given: The command line.
        :param tasks: All questions.
        """
        self.path = given.out / f"{part}.json"
        self.run = {"command": _command(given), "machine": machine()}
        self.asked = list(arms(part, given))
        questions = dict(Counter(task["set"] for task in tasks))
        settings = {"sets": given.sets, "questions": questions, "question_seconds": QUESTION_SECONDS}
        if part == REAL:
            settings |= {"question_seconds": REAL_SECONDS, "model": RealModel(given.model_url).name()}
        empty: dict[str, Any] = {"runs": [], "systems": {}, "failed": {}, "figures": {}}
        self.held = empty | {"part": part, "settings": {**settings, "arms": []}}
        self.again, self.measured = given.again, set[str]()
        if self.path.is_file():
            found = json.loads(self.path.read_text("utf-8"))
            is_alike = {**found["settings"], "arms": None} == {**self.held["settings"], "arms": None}
            kept = self._without_replaced(found)
            if is_alike and (given.again or kept == found):
                self.held = kept
            elif not given.again:
                sys.exit(f"{self.path} holds another run's settings; pass --again to replace them, or another --out")
        self.held["settings"]["arms"] = [asdict(arm) for arm in self._with_asked(self.held["settings"])]

    def _with_asked(self, settings: dict[str, Any]) -> list[Arm]:
        return sorted(dict.fromkeys([*_arms(settings["arms"]), *self.asked]), key=lambda arm: arm.k)

    def _without_replaced(self, found: dict[str, Any]) -> dict[str, Any]:
        """Leave out what is now asked of more or fewer questions, of all systems: that is another measurement."""
        asked = {replace(arm, questions=0): arm for arm in self.asked}
        of_all = [*found["settings"]["arms"], *(row for rows in found["figures"].values() for row in rows)]
        gone = {arm for arm in _arms(of_all) if asked.get(replace(arm, questions=0), arm) != arm}
        if gone and self.again:
            told = ", ".join(f"{arm} of {arm.questions}" for arm in sorted(gone, key=lambda arm: arm.k))
            print(f"{self.path.name}: of all systems gives way, since another number of questions is asked: {told}")
        figures = {name: _but(rows, gone) for name, rows in found["figures"].items()}
        settings = {**found["settings"], "arms": _but(found["settings"]["arms"], gone)}
        return {**found, "settings": settings, "figures": {name: rows for name, rows in figures.items() if rows}}

    def missing(self, system: str) -> list[Arm]:
        """
        List the arms of this run that are not measured; all of them where they are to be measured again.

        :param system: Its name.
        :returns: What is to be measured, in order.
        """
        done = [] if self.again and system not in self.measured else _arms(self.held["figures"].get(system, ()))
        return [arm for arm in self.asked if arm not in done]

    def add(
        self,
        system: str,
        versions: dict[str, str],
        figures: Sequence[dict[str, Any]],
        calibrations: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Write a system's figures; those of the same arms, measured before, give way to them.

        :param system: Its name.
        :param versions: Of its packages.
        :param figures: Of each arm.
        :param calibrations: By name of the set what is told of its calibration, for a system that is calibrated.
        """
        fresh = _arms(figures)
        stays = [row for row in self.held["figures"].get(system, ()) if not set(_arms([row])) & set(fresh)]
        now = {"versions": versions, **({"calibrations": dict(calibrations)} if calibrations else {})}
        before = self.held["systems"].get(system, now)
        known = {name: before.get(name) for name in now}
        if stays and known != now:
            sys.exit(
                f"{self.path} has {system} with {known}, but this is {now}; pass --again with all that stands "
                "there of it, or another --out"
            )
        self.measured.add(system)
        self.held["systems"][system] = {**SYSTEMS[system].shown(), **now, "date": _now()}
        self.held["figures"][system] = sorted([*stays, *figures], key=lambda row: row["k"])
        self.held["failed"].pop(system, None)
        self._write()

    def leave_out(self, system: str, why: str) -> None:
        """
        Write why a system was left out.

        :param system: Its name.
        :param why: The error, in a line.
        """
        self.held["failed"][system] = why
        self._write()

    def _write(self) -> None:
        held = self.held
        # Another process may have measured other systems with the same settings meanwhile, or another run before this.
        before = json.loads(self.path.read_text("utf-8")) if self.path.is_file() else held
        if before["settings"] == held["settings"]:
            both = {kept: held[kept] | before[kept] for kept in ("systems", "figures")}
            mine = {kept: {name: held[kept][name] for name in self.measured} for kept in both}
            held = {**held, **{kept: both[kept] | mine[kept] for kept in both}, "runs": before["runs"]}
        others = [run for run in held["runs"] if {**run, "date": None} != {**self.run, "date": None}]
        self.held["runs"] = held["runs"] = [*others, {**self.run, "date": _now()}]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(_written(held), "utf-8")
        fresh.replace(self.path)


def _but(rows: Sequence[dict[str, Any]], gone: Collection[Arm]) -> list[dict[str, Any]]:
    return [row for row, arm in zip(rows, _arms(rows), strict=True) if arm not in gone]


def _arms(rows: Iterable[dict[str, Any]]) -> list[Arm]:
    return [Arm(**{name: row[name] for name in Arm.__dataclass_fields__}) for row in rows]


def _written(held: dict[str, Any]) -> str:
    """Write a result file: each arm on one line, so that the file stays small and its changes can be read."""
    head = json.dumps({key: value for key, value in held.items() if key != "figures"}, indent=1)
    rows = [
        f"  {json.dumps(name)}: [\n   "
        + ",\n   ".join(json.dumps(one, separators=(",", ":")) for one in arms_)
        + "\n  ]"
        for name, arms_ in held["figures"].items()
    ]
    figures = ",\n".join(rows)
    return f'{head[:-2]},\n "figures": {{\n{figures}\n }}\n}}\n'


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _command(given: argparse.Namespace) -> str:
    """Give the command without this machine's own paths; where the figures were written changes none of them."""
    words = [{str(given.datasets): "DATASETS"}.get(word, word) for word in sys.argv[1:]]
    if "--out" in words:
        del words[(at := words.index("--out")) : at + 2]
    return shlex.join(["python", "benchmarks/peers/run.py", *words])


def machine() -> dict[str, Any]:
    """
    Describe where this runs.

    :returns: CPUs, memory, system, interpreter.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
