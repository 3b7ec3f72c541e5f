"""Logistic regressions by scikit-learn, on splits that keep the questions of one group together."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from haystack_integrations.crag.judging.heads import Head, Values

FOLDS: Final = 5

Groups = NDArray[np.int64]

# Factors that are tried for the classes, and how much a factor must bring for each e-fold that it is away from 1.
_FACTORS: Final = np.exp(np.linspace(-1.2, 1.2, 13))
_RELUCTANCE: Final = 0.004
_AS_GOOD: Final = 0.01
_NOTHING: Final = 1e-9
_SURE: Final = 4.0


def one_thread() -> AbstractContextManager[Any]:
    """
    Keep linear algebra and the growing of trees on one thread: these tables are small, and more took up to ten times
    as long.

    :returns: What does so inside a `with`.
    """
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1)
    return limits


def splits(groups: Groups) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """
    Split into folds that no group crosses.

    :param groups: The group of each row.
    :returns: Rows to fit on, and rows held out, fold by fold; fewer than five where there are fewer groups.
    """
    folds = min(FOLDS, len(set(groups.tolist())))
    yield from GroupKFold(folds).split(groups, groups=groups)


def splits_of(groups: Groups, own: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """
    Split some rows into folds that no group crosses; the others are held out with their groups.

    :param groups: The group of each row.
    :param own: The rows to split.
    :returns: Rows to fit on, some of `own`, and rows held out, fold by fold.
    """
    for _, test in splits(groups[own]):
        held = np.isin(groups, groups[own][test])
        yield own & ~held, held


def fit_head(names: tuple[str, ...], table: Values, labels: NDArray[Any], c: float) -> Head:
    """
    Fit one logistic regression.

    :param names: The signals.
    :param table: Their values, shape (n, signals).
    :param labels: What is right: true or false, or a class number.
    :param c: Inverse strength of the regularisation.
    :returns: The model. Where all labels are equal, one that always says so.
    """
    if len(set(labels.tolist())) < 2 or not len(table):  # noqa: PLR2004
        share = float(np.mean(labels)) if len(labels) else 0.0
        bias = np.array([_SURE if share else -_SURE])
        zeros = np.zeros(len(names))
        return Head(names, zeros, zeros + 1, zeros[None, :], bias)
    scaler = StandardScaler().fit(table)
    empty = Head(names, scaler.mean_, scaler.scale_, np.zeros((1, len(names))), np.zeros(1))
    model = LogisticRegression(C=c, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(empty.standard(table), labels)
    return replace(empty, weights=model.coef_, biases=model.intercept_)


def class_probabilities(head: Head, table: Values, present: NDArray[Any], classes: int) -> Values:
    """
    Spread what a head says over all classes, also over those that it never met.

    :param head: A fitted head.
    :param table: Signals, shape (n, signals).
    :param present: The labels it was fitted on.
    :param classes: The number of classes.
    :returns: Shape (n, classes).
    """
    known = np.unique(present)
    said = head.of_rows(table)
    result = np.zeros((len(table), classes))
    if len(known) == 1:
        result[:, known] = 1.0
        return result
    result[:, known] = said if said.ndim > 1 else np.column_stack([1 - said, said])
    return result


def best_priors(probabilities: Values, labels: NDArray[Any]) -> tuple[float, ...]:
    """
    Find factors for the classes that make the most of macro-F1, since rare verdicts count as much as frequent ones.

    The truth is half the labels and half what the probabilities themselves expect: calibrated, they say how rare
    verdicts fare with less luck than a few labels of them. Of all factors that do about as well as the best the
    geometric mean is taken, for the same reason.

    :param probabilities: Held-out probabilities, shape (n, classes).
    :param labels: The right classes.
    :returns: One factor for each class, the first 1.
    """
    classes = probabilities.shape[1]
    rest = np.stack(np.meshgrid(*[_FACTORS] * (classes - 1), indexing="ij"), axis=-1).reshape(-1, classes - 1)
    tried = np.column_stack([np.ones(len(rest)), rest])
    truth = (np.eye(classes)[labels] + probabilities) / 2
    values = np.array([_quality(probabilities, factors, truth) for factors in tried])
    good = tried[values >= values.max() - _AS_GOOD]
    return tuple(round(float(factor), 4) for factor in np.exp(np.log(good).mean(axis=0)))


def _quality(probabilities: Values, factors: Values, truth: Values) -> float:
    """Give macro-F1 against a truth in shares, less what factors far from 1 cost."""
    told = np.eye(len(factors))[(probabilities * factors).argmax(axis=1)]
    found = 2 * (told * truth).sum(axis=0) / np.maximum(told.sum(axis=0) + truth.sum(axis=0), _NOTHING)
    return float(found.mean() - _RELUCTANCE * np.abs(np.log(factors)).sum())
