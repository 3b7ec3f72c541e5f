"""The result file of one part: figures, and what they were measured with, on, and when."""

import argparse
import json
import os
import platform
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from arms import QUESTION_SECONDS, arms
from systems import SYSTEMS


class Results:
    """The result file of one part: written after each system, read when a run goes on."""

    def __init__(self, part: str, given: argparse.Namespace, tasks: Sequence[dict[str, Any]]) -> None:
        """
        Open it; what was measured in another way is not mixed with this run.

        :param part: One of `PARTS`.
        :param given: The command line.
        :param tasks: All questions.
        """
        self.path, self.command = given.out / f"{part}.json", _command(given)
        settings = {
            "sets": given.sets,
            "questions": dict(Counter(task["set"] for task in tasks)),
            "arms": [asdict(arm) for arm in arms(part, given)],
            "question_seconds": QUESTION_SECONDS,
        }
        self.held: dict[str, Any] = {"part": part, "settings": settings, "systems": {}, "failed": {}, "figures": {}}
        if self.path.is_file() and not given.again:
            before = json.loads(self.path.read_text("utf-8"))
            if before["settings"] != settings:
                sys.exit(f"{self.path} holds another run's settings; pass --again to replace it, or another --out")
            self.held = before

    def has(self, system: str) -> bool:
        """
        Tell whether a system is measured.

        :param system: Its name.
        :returns: Whether its figures are there.
        """
        return system in self.held["figures"]

    def add(self, system: str, versions: dict[str, str], figures: Any) -> None:
        """
        Write a system's figures.

        :param system: Its name.
        :param versions: Of its packages.
        :param figures: Of each arm.
        """
        self.held["systems"][system] = {**SYSTEMS[system].shown(), "versions": versions, "date": _now()}
        self.held["figures"][system] = figures
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
        # Another process may have measured other systems with the same settings meanwhile.
        before = json.loads(self.path.read_text("utf-8")) if self.path.is_file() else {}
        if before.get("settings") == self.held["settings"]:
            for kept in ("systems", "figures"):
                self.held[kept] = {**before[kept], **self.held[kept]}
        self.held |= {"date": _now(), "command": self.command, "machine": machine()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(_written(self.held), "utf-8")
        fresh.replace(self.path)


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
    """Give the command without this machine's own paths."""
    named = {str(given.datasets): "DATASETS", str(given.out): given.out.name}
    return shlex.join(["python", "benchmarks/peers/run.py", *(named.get(word, word) for word in sys.argv[1:])])


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
