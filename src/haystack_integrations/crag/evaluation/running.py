"""Run an evaluation: on all cores, with every record on disk as it comes, so that it can be taken up again."""

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.corpus_statistics import write_statistics
from haystack_integrations.crag.errors import ConfigurationError, EvaluationError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Label, Progress, Record
from haystack_integrations.crag.evaluation.journal import Journal
from haystack_integrations.crag.evaluation.lists import FixedLists
from haystack_integrations.crag.evaluation.live import LiveLists, check, check_whole
from haystack_integrations.crag.evaluation.parts import (
    exchanged,
    judging_parts,
    reads_statistics,
    waits_for_a_model,
    warm_up,
)
from haystack_integrations.crag.evaluation.processes import at_work
from haystack_integrations.crag.evaluation.reading import LISTS, STATISTICS, read_dataset
from haystack_integrations.crag.evaluation.setup import Setup
from haystack_integrations.crag.evaluation.training import counted
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.grading import check_retrievers
from haystack_integrations.crag.vocabulary import COSTS

WORTH_A_WORKER: Final = {"fixed": 1000, "live": 100}
"""Questions without a chat model for which another process is worth its start of some seconds."""

_CHUNK: Final = 16


class Judge(Protocol):
    """Makes records of questions."""

    def record(self, case: Case) -> Record:
        """
        Judge a question.

        :param case: The question.
        :returns: Its record.
        """

    def truth(self, case: Case) -> Label | None:
        """
        Tell the right verdict on a question's list.

        :param case: The question.
        :returns: The verdict; None where nobody knows the list before the question is asked.
        """


def evaluate(
    dataset: Dataset,
    setup: Setup,
    *,
    journal: Path | None = None,
    workers: int | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> list[Record]:
    """
    Judge every question of a data set.

    A question that fails becomes a record with its `error`, and the others go on; run again, it is tried again.

    :param dataset: The data.
    :param setup: What is evaluated.
    :param journal: File that takes every record as it comes; what stands in it already is not judged again.
    :param workers: Processes; None for all cores where that pays.
    :param fresh: Begin the journal anew.
    :param progress: Called after each record: number done, number of all, id of the last.
    :returns: The records in the order of the data.
    :raises CragError: When it cannot begin, or the journal is of another evaluation.
    """
    _require(dataset, setup)
    with closing(Journal(journal, dataset, setup, fresh=fresh)) as log:
        known = log.done
        pending = [number for number, case in enumerate(dataset.cases) if case.id not in known]
        total, processes = len(dataset.cases), _workers(setup, workers, len(pending))
        # Closed whatever happens, so that no process goes on after an interruption.
        with closing(_records(dataset, setup, pending, processes)) as coming:
            for done, record in enumerate(coming, total - len(pending) + 1):
                log.add(record)
                if progress is not None:
                    progress(done, total, record["id"])
        return [log.records[case.id] for case in dataset.cases]


def _require(dataset: Dataset, setup: Setup) -> None:
    """Refuse what cannot work, before any process starts."""
    # A part that cannot be loaded says so here; in a process of its own it could not say much.
    if setup.lists == "live":
        check(setup)
        check_whole(dataset)
        warm_up(exchanged(setup).values())
        return
    parts = vars(judging_parts(setup)).values()
    warm_up(parts)
    used = {name for case in dataset.cases if case.fixed is not None for name in case.fixed.retrievers}
    for part in parts:
        # As at run time, where documents say who found them: here the lists do.
        if isinstance(part, HeuristicGrader) and part.weights is None:
            check_retrievers(used, load_calibration(part.calibration))
    if any(case.fixed is None for case in dataset.cases):
        place = dataset.folder / dataset.split / LISTS
        msg = f"the data has no fixed lists; put them into {str(place)!r}, or take --lists live"
        raise ConfigurationError(msg)


def _judge_of(dataset: Dataset, setup: Setup) -> Judge:
    """Load what judges, once for each process."""
    return LiveLists(dataset, setup) if setup.lists == "live" else FixedLists(dataset, setup)


@contextmanager
def _counted(dataset: Dataset, setup: Setup) -> Iterator[Setup]:
    """Count the corpus where a grader would ask the pipeline's store: all processes read one file."""
    if setup.lists == "live" or not reads_statistics(setup):
        yield setup
        return
    if dataset.statistics is not None:
        yield replace(setup, statistics=str(dataset.statistics))
        return
    with TemporaryDirectory(prefix="crag-eval-") as folder:
        file = Path(folder, STATISTICS)
        write_statistics(counted(dataset), file)
        yield replace(setup, statistics=str(file))


def _workers(setup: Setup, asked: int | None, pending: int) -> int:
    """Choose the number of processes: as asked for, else as many as pay."""
    cores = os.cpu_count() or 1
    each = 1 if waits_for_a_model(setup) else WORTH_A_WORKER[setup.lists]
    worth = pending // each
    return max(1, min(pending, cores if asked is None else asked, worth if asked is None else pending))


def _records(dataset: Dataset, setup: Setup, pending: Sequence[int], workers: int) -> Generator[Record]:
    """Give the records as they come."""
    if not pending:
        return
    with _counted(dataset, setup) as counted:
        if workers == 1:
            judge = _judge_of(dataset, counted)
            yield from (_record(judge, dataset.cases[number]) for number in pending)
        else:
            yield from _by_workers(dataset, counted, pending, workers)


def _by_workers(dataset: Dataset, setup: Setup, pending: Sequence[int], workers: int) -> Generator[Record]:
    """Give the records as the workers finish them."""
    size = 1 if waits_for_a_model(setup) else min(_CHUNK, ceil(len(pending) / workers))
    chunks = [pending[start : start + size] for start in range(0, len(pending), size)]
    begin = partial(_begun, dataset.folder, dataset.split, setup, logging.getLogger().level)
    try:
        with at_work(workers, begin, chunks) as futures:
            for future in as_completed(futures):
                yield from future.result()
    except BrokenProcessPool:
        msg = (
            f"one of {workers} processes died, perhaps for lack of memory; finished work is kept, "
            "run the same command again to resume, or with --workers 1"
        )
        raise EvaluationError(msg) from None


def _begun(folder: Path, split: str, setup: Setup, level: int) -> Callable[[Sequence[int]], list[Record]]:
    """Load what judges, in a worker process."""
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    logging.basicConfig(level=level)
    dataset = read_dataset(folder, split)
    return partial(_chunk, _judge_of(dataset, setup), dataset.cases)


def _chunk(judge: Judge, cases: Sequence[Case], numbers: Sequence[int]) -> list[Record]:
    return [_record(judge, cases[number]) for number in numbers]


def _record(judge: Judge, case: Case) -> Record:
    """Judge a question; a failure is a record too, and nothing in it is made up."""
    try:
        return judge.record(case)
    except ConfigurationError:  # no question is to blame, and no other would go better
        raise
    except Exception as error:  # one question must not end the evaluation: whatever a component raises
        # A pipeline wraps a wrong setting, too: one of a correction fails only the questions that are corrected.
        cause = error.__cause__ or error
        why = (str(cause).strip().splitlines() or ["no message"])[0]
        none = dict.fromkeys(("verdict", "score", "probabilities", "rule", "action", "strips", "support", "gap"))
        # With its label it counts as a wrong verdict, where it would have had to be right.
        head = {"id": case.id, "question": case.question, "label": judge.truth(case), "strict": case.strict}
        cost = dict.fromkeys(COSTS)
        return {**head, **none, "documents": [], "cost": cost, "error": f"{type(cause).__name__}: {why}"}
