"""
Corrective RAG side by side: every system on the same questions, documents, model and machine, in one run.

    python benchmarks/peers/run.py /path/to/datasets [--sets covidqa scifact hotpotqa clapnq] [--questions 20]
        [--k 3 5 10 20 50] [--systems ...] [--parts cost tokens quality faults] [--out benchmarks/peers/results]
    python benchmarks/peers/run.py /path/to/datasets --parts real --sets popqa --model-url http://127.0.0.1:8815/v1

One process tree: the world (model, retriever, web) and one worker process for each system, one at a time, each in its
own environment. A worker is warmed up with a question of each set that does not count, and starts anew before an arm
where the model takes time, so that it has read nothing before. What is calibrated is so on questions that are not asked
(`calibrations.py`): a minute or so for each set, once. Parts:

cost     every k: all questions with an instant model, where calls are counted; `--timed` of each set with latency
         a + b x prompt tokens + c x completion tokens for a of 0, 0.3 and 1 s, tokens by a rule, and with 0.3 s flat;
         where a goal is about the seconds (0.3 s, k = 5, 10 and 100) `--at-goals` of each set instead
tokens   every k: all questions with an instant model, tokens counted by a real tokenizer (pip install mistral-common)
quality  k = 10, a share of 0 and 0.1 of grades and answers wrong, on fixed lists and on those without an answering
         document
faults   k = 10, `--faulty` questions of each set for each fault; one question of each set where the model hangs
real     only where it is named: k = 5, a real model behind an OpenAI-compatible server (`--model-url`) in the place of
         the script, on sets with short answers (popqa, hotpotqa) and on their lists without an answering document; what
         became of each answer is read from its words (`real.py`)

A question has 60 s (where a real model answers, 900 s); then its worker is stopped and started again. An arm ends with
the third worker that was lost to a timeout or ended by itself: its n says so.
Figures go to `--out`/<part>.json system by system, so a run that was stopped goes on where it was, and a run with
another k adds to what is there; raw records go to the cache folder. A system that cannot be installed or started is
named with its error and left out.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import measures
from arms import KS, PARTS, REAL, Arm
from calibrations import calibrated
from environments import SystemFailed, cache_dir
from real import SHORT_ANSWERS, end_of, real_figures
from result_files import Results, machine
from systems import SYSTEMS
from tasks import LONGEST_LIST, SETS
from workers import Worker, WorkerDied, World

HERE: Final = Path(__file__).parent
MOST_LOST: Final = 3
_NOTHING: Final = dict.fromkeys(("answer", "route", "verdict", "kept"))


def ask(world: World, worker: Worker, task: dict[str, Any], arm: Arm) -> dict[str, Any]:
    """
    Ask one question.

    :param world: Model, retriever and web.
    :param worker: The system.
    :param task: The question.
    :param arm: How it is asked.
    :returns: The record: arm, reply and tally in one.
    """
    how = {key: value for key, value in asdict(arm).items() if key != "questions"}
    world.begin(task=task["task"], system=worker.system.name, **how)
    begun = time.perf_counter()
    try:
        reply = worker.ask(task["task"], task["question"], arm.k, worker.seconds)
    except (TimeoutError, WorkerDied) as error:
        why = "timeout" if isinstance(error, TimeoutError) else str(error)
        reply = {**_NOTHING, "task": task["task"], "seconds": time.perf_counter() - begun, "error": why}
    return {"system": worker.system.name, "set": task["set"], **how, **reply, **world.end()}


def asked(tasks: Sequence[dict[str, Any]], per_set: int) -> list[dict[str, Any]]:
    """
    Take the first questions of each set.

    :param tasks: All.
    :param per_set: How many.
    :returns: The first of each set, then the second: an arm that ends early has asked of all sets alike.
    """
    seen: Counter[str] = Counter()
    places = []
    for place, task in enumerate(tasks):
        seen[task["set"]] += 1
        places.append((seen[task["set"]], place))
    return [tasks[place] for number, place in sorted(places) if number <= per_set]


def run_arm(world: World, worker: Worker, arm: Arm) -> list[dict[str, Any]]:
    """
    Ask all questions of an arm.

    :param world: Model, retriever and web.
    :param worker: The system.
    :param arm: How they are asked.
    :returns: Records; fewer than asked for when too many workers were lost.
    """
    records: list[dict[str, Any]] = []
    lost = 0
    for task in asked(world.tasks, arm.questions):
        if worker.is_cold:
            for first in {one["set"]: one for one in world.tasks}.values():
                ask(world, worker, first, Arm(arm.k, 1))
        records.append({**ask(world, worker, task, arm), "accepted": task["accepted"]})
        lost += worker.is_cold
        if lost == MOST_LOST:
            break
        if arm.fault == "hang":
            worker.stop()  # what it has given up may still be waiting, and would be counted with the next question
    return records


def line(system: str, arm: Arm, records: Sequence[dict[str, Any]], *, is_real: bool = False) -> str:
    """
    Write a row of the table that is printed on the way.

    :param system: Its name.
    :param arm: The arm.
    :param records: Its records.
    :param is_real: Whether a real model answered.
    :returns: One line.
    """
    outcomes = Counter(map(end_of if is_real else measures.outcome, records))
    calls, read_, written = (mean(record[key] for record in records) for key in ("calls", "tokens_in", "tokens_out"))
    said = ", ".join(f"{count} {word}" for word, count in outcomes.most_common())
    seconds = median(record["seconds"] for record in records)
    return (
        f"{system:22} {arm!s:28} n={len(records):3} {calls:5.1f} calls {read_:8.0f} in {written:6.0f} out "
        f"{seconds:7.2f} s  {said}"
    )


def measure(
    world: World, name: str, part: str, todo: Sequence[Arm], places: Sequence[Path] = ()
) -> tuple[dict[str, str], Any]:
    """
    Run a part with one system.

    :param world: Model, retriever and web.
    :param name: The system.
    :param part: One of `PARTS`.
    :param todo: The arms to run.
    :param places: For each set the folder with its calibration, for a system that is calibrated.
    :returns: Versions, and the figures of each arm.
    :raises SystemFailed: When the system cannot be installed or started.
    """
    figures = []
    is_real = part == REAL
    raw = cache_dir() / "records" / part / f"{name}.jsonl"
    raw.parent.mkdir(parents=True, exist_ok=True)
    with (
        raw.open("a", encoding="utf-8") as file,
        Worker(SYSTEMS[name], world.url, places, is_real=is_real) as worker,
    ):
        for arm in todo:
            if arm.is_timed:
                worker.stop()  # texts that it has read before would take it less time
            records = run_arm(world, worker, arm)
            file.writelines(json.dumps(record) + "\n" for record in records)
            measured = real_figures(records) if is_real else measures.figures(records)
            figures.append({**asdict(arm), **measured})
            print(line(name, arm, records, is_real=is_real), flush=True)
            if part == "faults":
                worker.stop()
    return worker.versions, figures


def run_part(part: str, given: argparse.Namespace) -> None:
    """
    Run a part with all systems.

    :param part: One of `PARTS`.
    :param given: The command line.
    :raises SystemFailed: When the world does not start.
    """
    asked = (given.datasets, given.sets, given.questions)
    with World(*asked, tekken=part == "tokens", model_url=given.model_url if part == REAL else None) as world:
        print(f"{len(world.tasks)} questions of {', '.join(given.sets)}; {machine()}", flush=True)
        results = Results(part, given, world.tasks)
        for name in given.systems:
            if not (todo := results.missing(name)):
                print(f"{name:22} {part}: measured before, see {results.path.name}")
                continue
            try:
                places, told = calibrated(*asked) if SYSTEMS[name].calibrated else ((), {})
                results.add(name, *measure(world, name, part, todo, places), told)
            except SystemFailed as error:
                print(f"{name:22} {part}: left out, {error}", flush=True)
                results.leave_out(name, str(error))


def main() -> None:
    """Run all parts that are asked for."""
    given = arguments()
    for part in given.parts:
        run_part(part, given)


def arguments() -> argparse.Namespace:
    """
    Read the command line.

    :returns: What it says.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=20, help="of each set")
    parser.add_argument("--timed", type=int, default=3, help="of each set, where the model takes time")
    parser.add_argument("--at-goals", type=int, help="of each set, where a goal is about the seconds; as --timed")
    parser.add_argument("--faulty", type=int, default=3, help="of each set, for each fault")
    parser.add_argument("--k", nargs="+", type=int, default=list(KS))
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS), metavar="SYSTEM")
    parser.add_argument("--parts", nargs="+", choices=(*PARTS, REAL), default=list(PARTS))
    parser.add_argument("--model-url", help="for the part real: an OpenAI-compatible server's address, with /v1")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--again", action="store_true", help="measure anew what is there of these systems and k")
    given = parser.parse_args()
    given.at_goals = given.at_goals or given.timed
    if REAL in given.parts and (not given.model_url or set(given.sets) - set(SHORT_ANSWERS)):
        parser.error(f"--parts real: wanted --model-url and, in --sets, only {' and '.join(SHORT_ANSWERS)}")
    if any(k > LONGEST_LIST for k in given.k):
        parser.error(f"--k: got {max(given.k)}, wanted at most {LONGEST_LIST}; the lists of the questions end there")
    return given


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # as an interruption: no process is left behind
    main()
