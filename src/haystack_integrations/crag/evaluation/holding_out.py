"""What a calibration does on questions it was not fitted on: nested cross-validation, as records of an evaluation."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np

from haystack_integrations.crag.errors import EvaluationError
from haystack_integrations.crag.evaluation.cascades import cascade_figures
from haystack_integrations.crag.evaluation.cases import Record
from haystack_integrations.crag.evaluation.fitting import fit
from haystack_integrations.crag.evaluation.gaps import COVERED, gap_recall_at
from haystack_integrations.crag.evaluation.intervals import Groups, intervals, sources_of
from haystack_integrations.crag.evaluation.labelled import Prepared
from haystack_integrations.crag.evaluation.measures import certainty, summarise
from haystack_integrations.crag.evaluation.probabilities import probability_measures
from haystack_integrations.crag.evaluation.processes import at_work
from haystack_integrations.crag.evaluation.regressions import splits
from haystack_integrations.crag.evaluation.risk import control_wrong_generate, cost_curve, realised, saved_at
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.joining import joined_for
from haystack_integrations.crag.judging.judge import Conclusion, opinion_on

LIMITS = (0.05, 0.1, 0.2)
"""Shares of wrong `generate` decisions that are tried on held-out questions."""

# The router's filter.
_KEPT = 0.3

_POINTS: Final = 50
WORTH_WORKERS: Final = 200
"""Questions from which on it pays to start processes for the folds, which takes some seconds."""


def held_out(
    lists: Sequence[Prepared], gaps: Mapping[str, Prepared] | None = None, workers: int = 1
) -> tuple[list[Record], list[int]]:
    """
    Judge every question by a calibration that was fitted without its group.

    :param lists: Prepared lists; those with a verdict are judged.
    :param gaps: Lists from which the evidence was removed, by question id, with their status as verdict.
    :param workers: Processes that fit folds side by side, where there are questions enough.
    :returns: A record for each question, and the fold that each was held out in.
    """
    judged = [n for n, each in enumerate(lists) if each.source.verdict is not None]
    tests = [test for _, test in splits(np.array([lists[n].source.group for n in judged]))]
    places = [[judged[k] for k in test] for test in tests]
    folds = np.zeros(len(judged), dtype=np.intp)
    for fold, test in enumerate(tests):
        folds[test] = fold
    told = _told(lists, gaps or {}, places, workers if len(judged) >= WORTH_WORKERS else 1)
    by_place = dict(zip(chain.from_iterable(places), chain.from_iterable(told), strict=True))
    return [by_place[n] for n in judged], folds.tolist()


def _told(
    lists: Sequence[Prepared], gaps: Mapping[str, Prepared], places: Sequence[Sequence[int]], workers: int
) -> Iterable[list[Record]]:
    """Give the records of each fold."""
    if workers == 1:
        return [_fold(lists, gaps, own) for own in places]
    workers = min(workers, len(places))
    try:
        # A process is given the lists once, then the places of one fold after the other.
        with at_work(workers, partial(partial, _fold, lists, gaps), places) as futures:
            return [future.result() for future in futures]
    except BrokenProcessPool:
        msg = f"one of {workers} processes died, perhaps for lack of memory; run the same command again with more of it"
        raise EvaluationError(msg) from None


def _fold(lists: Sequence[Prepared], gaps: Mapping[str, Prepared], places: Sequence[int]) -> list[Record]:
    """Judge the lists at some places by a calibration of all lists that share no group with them."""
    out = {lists[n].source.group for n in places}
    calibration = fit([each for each in lists if each.source.group not in out])
    return [record_of(lists[n], calibration, gaps.get(lists[n].source.id)) for n in places]


def record_of(each: Prepared, calibration: Calibration, gap: Prepared | None = None) -> Record:
    """
    Judge one list, and write down what came out beside what is right.

    :param each: The list.
    :param calibration: What judges.
    :param gap: The list that is left when the evidence is removed.
    :returns: A record as `crag eval` makes them, with how many documents that answer are `needed`.
    """
    found, scores = judged_by(each, calibration)
    names = each.source.names or tuple(map(str, range(len(scores))))
    rows = zip(names, each.source.texts, each.source.grades, scores, strict=True)
    documents = [
        {"id": name, "title": title, "label": grade, "score": score, "kept": score >= _KEPT}
        for name, (title, _), grade, score in rows
    ]
    missing: Record | None = None
    if gap is not None:
        told, _ = judged_by(gap, calibration)
        missing = {"status": gap.source.verdict, "verdict": told.verdict, "score": told.covered, "by": COVERED}
        missing["accidental"] = None
    return {
        "id": each.source.id,
        "question": each.source.question,
        "label": each.source.verdict,
        "strict": True,
        "verdict": found.verdict,
        "score": found.probabilities["correct"],
        "probabilities": found.probabilities,
        "rule": "set_verdict",
        "action": None,
        "documents": documents,
        "strips": None,
        "support": None,
        "gap": missing,
        "cost": None,
        "error": None,
        "needed": each.source.needed,
    }


def judged_by(each: Prepared, calibration: Calibration) -> tuple[Conclusion, list[float]]:
    """
    Judge one list.

    :param each: The list.
    :param calibration: What judges.
    :returns: What is said of it, and the score of each document.
    """
    opinions = [opinion_on(part, each.texts, asked, each.readings, calibration) for part, asked in each.parts]
    opinion, _ = joined_for(each.kind, each.question, opinions)
    return opinion.conclusion, opinion.likely.scores()


def figures(
    records: Sequence[Record], folds: Sequence[int], groups: Groups, limits: Sequence[float] = ()
) -> dict[str, Any]:
    """
    Sum up held-out records.

    :param records: From `held_out`.
    :param folds: The fold of each.
    :param groups: The group of each question, by id: questions of one group are redrawn together.
    :param limits: Shares of wrong `generate` decisions that are tried besides `LIMITS`.
    :returns: Measures with intervals, calibration of the probabilities, gaps, cost curve, what the shipped cascade
        does, realised risk: plain JSON.
    """
    result = summarise(records, dataset="", split="", pipeline="", grader="", lists="")
    quality = probability_measures(records)
    truth, told = [record["label"] for record in records], [record["verdict"] for record in records]
    curve = cost_curve([certainty(record) for record in records], truth, told)
    has_gaps = any(record["gap"] for record in records)
    return {
        "n": len(records),
        "verdict": result["verdict"],
        "filter": result["filter"],
        "gaps": result["gaps"] if has_gaps else None,
        "gaps_at_10_percent": gap_recall_at(records) if has_gaps else None,
        "intervals": intervals(records, groups=groups),
        "ece": None if quality is None else quality["ece"],
        "ece_by_chance": None if quality is None else quality["by_chance"],
        "brier": None if quality is None else quality["brier"],
        "reliability": None if quality is None else quality["curve"],
        "cost_curve": thinned(curve),
        "calls_saved_at_2_points": saved_at(curve),
        "cascade": cascade_figures(records),
        "without_limit": risk_without_limit(records, groups),
        "wrong_generate": [risk_realised(records, folds, most, groups) for most in sorted({*LIMITS, *limits})],
    }


def risk_realised(
    records: Sequence[Record], folds: Sequence[int], most: float, groups: Groups | None = None
) -> dict[str, Any]:
    """
    Choose a threshold on all folds but one and count on that one, for each fold. Only what is called correct without a
    limit counts: of these a limit takes some away.

    :param records: Held-out records.
    :param folds: The fold of each.
    :param most: The largest share of wrong `generate` decisions.
    :param groups: The group of each question, by id, for the interval; one that is not named is alone.
    :returns: The limit, how many questions were generated for, and the share of wrong ones with its interval.
    """
    scores = np.array([record["probabilities"]["correct"] for record in records])
    right = np.array([record["label"] == "correct" for record in records])
    called, numbers = np.array([record["verdict"] == "correct" for record in records]), np.array(folds)
    chosen = np.full(len(records), -1.0)
    for fold in np.unique(numbers):
        own, others = called & (numbers == fold), called & (numbers != fold)
        threshold = control_wrong_generate(scores[others], right[others], most).least if others.any() else None
        if threshold is not None:
            chosen[own] = scores[own] - threshold  # shifted so that 0 is the threshold of every fold
    return {"limit": most, **realised(chosen, right, 0.0, groups=sources_of(records, groups))}


def risk_without_limit(records: Sequence[Record], groups: Groups | None = None) -> dict[str, Any]:
    """
    Count what is called correct, and is not.

    :param records: Held-out records.
    :param groups: As for `risk_realised`.
    :returns: As `risk_realised`, without a limit.
    """
    called = [float(record["verdict"] == "correct") for record in records]
    right = [record["label"] == "correct" for record in records]
    return realised(called, right, 1.0, groups=sources_of(records, groups))


def thinned(curve: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Leave points of a curve out, so that a file stays small.

    :param curve: Points.
    :returns: About fifty points, the first and the last among them.
    """
    step = max(1, len(curve) // _POINTS)
    return [point for number, point in enumerate(curve) if number % step == 0 or number == len(curve) - 1]
