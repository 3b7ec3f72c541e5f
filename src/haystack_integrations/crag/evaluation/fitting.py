"""
Fit a judgement on labelled lists: documents first, then the list.

Each stage is fitted on what the stage before says of questions that it has not seen. Sorted probabilities of single
documents tell more about a list than any signal of the list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.evaluation.boosting import Boosting, with_trees
from haystack_integrations.crag.evaluation.cases import ANSWERS, ON_TOPIC
from haystack_integrations.crag.evaluation.crossings import fit_crossing
from haystack_integrations.crag.evaluation.labelled import Prepared
from haystack_integrations.crag.evaluation.regressions import (
    Groups,
    best_priors,
    class_probabilities,
    fit_head,
    one_thread,
    splits,
    splits_of,
)
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.crossing import Crossing
from haystack_integrations.crag.judging.heads import Head, Values
from haystack_integrations.crag.judging.judge import CROSSED, together
from haystack_integrations.crag.judging.likely import Likely, joined
from haystack_integrations.crag.vocabulary import JUDGED

# Inverse regularisation of the two stages; flat between a third and three times as much.
_DOCUMENT_C: Final = 0.03
_VERDICT_C: Final = 0.02

# What only the shipped model reads. Its documents are judged without statistics of a corpus, so by `bm25_damped` in the
# place of `bm25_sum`: beside it that brought nothing (macro-F1 .742 -> .736 on hotpotqa, .714 -> .688 on clapnq). Nor
# did how specific a question is, which helps a model that has met none of its kind. Titles are in other signals, too.
_NOT_READ: Final = frozenset({"bm25_damped", "specific", "titles_named", "untitled"})

# More trees at a lower rate took as much longer and were no better held out. The verdict has none: lists are fewer than
# trees need, and of those from which the evidence was removed they called more `correct`. What has met such lists has.
_TREES: Final = Boosting(rounds=30, rate=0.2, leaves=8, least=20)


@dataclass(frozen=True)
class _Rows:
    """A row of signals for each document; `own` are those of lists that are not cut."""

    names: tuple[str, ...]
    table: Values
    groups: Groups
    own: NDArray[np.bool_]


@dataclass(frozen=True)
class _Stages:
    """The stages that judge documents."""

    topic: Head
    answers: Head
    sufficient: Head
    crossing: Crossing | None


def fit(lists: Sequence[Prepared], notes: Mapping[str, Any] | None = None) -> Calibration:
    """
    Fit all stages.

    :param lists: Prepared lists. Those with no verdict to be taught teach documents only, those cut only how a gap
        looks; the same question may come with several of them.
    :param notes: What the file shall tell besides.
    :returns: The calibration.
    """
    with one_thread():
        return _fitted(lists, notes or {})


def _fitted(lists: Sequence[Prepared], notes: Mapping[str, Any]) -> Calibration:
    places = np.array([k for k, each in enumerate(lists) for _ in each.source.grades])
    grades = np.array([grade for each in lists for grade in each.source.grades])
    groups = np.array([lists[k].source.group for k in places])
    own = np.array([not lists[k].source.is_cut for k in places])
    pairs, scores = fit_crossing(lists, grades, groups, own)
    features = [features for each in lists for features in each.measured.documents]
    if pairs is not None:
        features = [{**each, CROSSED: score} for each, score in zip(features, scores.tolist(), strict=True)]
    names = tuple(name for name in features[0] if name not in _NOT_READ)
    rows = _Rows(names, np.array([[each[name] for name in names] for each in features]), groups, own)
    topic, of_topic = _staged(rows, grades >= ON_TOPIC, own)
    answers, of_answers = _staged(rows, grades == ANSWERS, own)
    enough, of_enough = _staged(rows, grades == ANSWERS, own & (grades >= ON_TOPIC))
    stages = _Stages(topic, answers, enough, pairs)
    return _concluding(lists, places, joined(of_answers, of_topic, of_enough), stages, notes)


def _staged(rows: _Rows, labels: NDArray[np.bool_], among: NDArray[np.bool_]) -> tuple[Head, Values]:
    """Fit a head on some of the own rows, and give what heads fitted without a row's group say of any row."""

    def head(known: NDArray[np.bool_]) -> Head:
        return _head(rows.names, rows.table[known], labels[known], _DOCUMENT_C)

    held = np.zeros(len(labels))
    for train, test in splits_of(rows.groups, rows.own):
        held[test] = head(train & among).of_rows(rows.table[test])
    return head(among), held


def _head(names: tuple[str, ...], table: Values, labels: NDArray[np.bool_], c: float) -> Head:
    return with_trees(fit_head(names, table, labels, c), table, labels, _TREES)


def _concluding(
    lists: Sequence[Prepared], places: NDArray[Any], likely: Likely, stages: _Stages, notes: Mapping[str, Any]
) -> Calibration:
    """Fit what judges lists on what the held-out document stages say."""
    used = [k for k, each in enumerate(lists) if each.source.taught is not None or each.source.is_cut]
    features = []
    for k in used:
        own = places == k
        part = Likely(likely.answers[own], likely.topic[own], likely.sufficient[own])
        features.append(together(lists[k].measured, part))
    names = tuple(name for name in features[0] if name not in _NOT_READ)
    table = np.array([[each[name] for name in names] for each in features])
    is_cut = np.array([lists[k].source.is_cut for k in used])
    judged = [lists[k].source for k in used if not lists[k].source.is_cut]
    groups = np.array([source.group for source in judged])
    head, classes, priors = _verdict(names, table[~is_cut], [str(source.taught) for source in judged], groups)
    covered = None
    if is_cut.any():
        holds = np.array([ANSWERS in lists[k].source.grades for k in used])
        covered = _head(names, table, holds, _VERDICT_C)
    judging = (stages.topic, stages.answers, stages.sufficient, stages.crossing, head, classes, priors)
    return Calibration(*judging, covered=covered, notes=dict(notes))


def _verdict(
    names: tuple[str, ...], table: Values, told: Sequence[str], groups: Groups
) -> tuple[Head, tuple[str, ...], tuple[float, ...]]:
    """Fit the verdict, and the factors that make up for rare ones; gives the classes between the two."""
    classes = _classes(set(told))
    labels = np.array([classes.index(verdict) for verdict in told])
    held = np.zeros((len(told), len(classes)))
    for train, test in splits(groups):
        head = fit_head(names, table[train], labels[train], _VERDICT_C)
        held[test] = class_probabilities(head, table[test], labels[train], len(classes))
    return fit_head(names, table, labels, _VERDICT_C), classes, best_priors(held, labels)


def _classes(told: set[str]) -> tuple[str, ...]:
    """Order the verdicts; a fold that met one only gets another beside it, as a head tells two apart at least."""
    if len(told) == 1:
        told = {*told, "correct" if "incorrect" in told else "incorrect"}
    return tuple(name for name in JUDGED if name in told)
