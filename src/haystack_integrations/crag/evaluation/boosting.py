"""Fit boosted trees by scikit-learn, and read them out into a form that needs no scikit-learn to run."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from haystack_integrations.crag.errors import EvaluationError
from haystack_integrations.crag.judging.heads import Head, Values
from haystack_integrations.crag.judging.trees import Split, Trees

_SHARE_OF_SIGNALS: Final = 0.3
_RIDGE: Final = 1.0
_ALIKE: Final = 1e-9


@dataclass(frozen=True)
class Boosting:
    """
    How trees are grown.

    :param rounds: Number of trees.
    :param rate: How much of what a tree says is added.
    :param leaves: Most leaves of a tree.
    :param least: Fewest examples in a leaf. A class with fewer than twice as many gets no trees: they could not tell
        it apart, and the mean with the head's coefficients would only blur these.
    """

    rounds: int
    rate: float
    leaves: int
    least: int


def with_trees(head: Head, table: Values, labels: NDArray[np.bool_], how: Boosting) -> Head:
    """
    Grow trees on the same examples as a head, and set them beside it.

    :param head: A fitted head.
    :param table: The values of its signals, shape (n, signals).
    :param labels: What is right.
    :param how: How they are grown.
    :returns: The head with trees; without, where some class has too few examples.
    :raises EvaluationError: When this release of scikit-learn keeps its trees in another form than is read here.
    """
    if min(labels.sum(), (~labels).sum()) < 2 * how.least:
        return head
    model = HistGradientBoostingClassifier(
        max_iter=how.rounds,
        learning_rate=how.rate,
        max_leaf_nodes=how.leaves,
        min_samples_leaf=how.least,
        l2_regularization=_RIDGE,
        max_features=_SHARE_OF_SIGNALS,
        early_stopping=False,
        random_state=0,
    ).fit(table, labels)
    return replace(head, trees=_read(model, head.names, table))


def _read(model: HistGradientBoostingClassifier, names: tuple[str, ...], table: Values) -> Trees:
    """Read the trees out; scikit-learn has no public form of them, so what was read must say the same as the model."""
    wanted = model.decision_function(table)
    try:
        start = float(model._baseline_prediction.item())
        trees = tuple(tuple(_node(node, names) for node in one.nodes) for (one,) in model._predictors)
        found = Trees(names, start, trees)
        is_same = bool(np.allclose(found.log_odds(table)[:, 0], wanted, rtol=0, atol=_ALIKE))
    except (AttributeError, KeyError, TypeError, ValueError):
        is_same = False
    if not is_same:
        msg = "this release of scikit-learn keeps boosted trees in a form that is not read here; install one below 2"
        raise EvaluationError(msg)
    return found


def _node(node: Any, names: tuple[str, ...]) -> Split | float:
    if node["is_leaf"]:
        return float(node["value"])
    return names[node["feature_idx"]], float(node["num_threshold"]), int(node["left"]), int(node["right"])
