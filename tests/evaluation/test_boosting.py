"""Boosted trees: grown where there are examples enough, and read out as scikit-learn means them."""

from typing import Any

import numpy as np
import pytest

from haystack_integrations.crag.errors import EvaluationError
from haystack_integrations.crag.evaluation import boosting
from haystack_integrations.crag.evaluation.boosting import Boosting, with_trees
from haystack_integrations.crag.evaluation.regressions import fit_head
from haystack_integrations.crag.judging.heads import Head

NAMES = ("one", "two", "noise")
HOW = Boosting(rounds=20, rate=0.2, leaves=6, least=10)


def examples(n: int = 400) -> Any:
    """Signals of which two decide together: no line separates the examples."""
    table = np.random.default_rng(1).normal(size=(n, 3))
    return table, (table[:, 0] > 0) != (table[:, 1] > 0)


def right(head: Head, table: Any, labels: Any) -> float:
    """Share of examples on the right side."""
    return float(np.mean((head.of_rows(table) > 0.5) == labels))


def test_trees_learn_what_coefficients_cannot() -> None:
    """Of examples that neither has seen."""
    table, labels = examples()
    alone = fit_head(NAMES, table[:300], labels[:300], 1.0)
    both = with_trees(alone, table[:300], labels[:300], HOW)
    assert right(alone, table[300:], labels[300:]) < 0.65
    assert right(both, table[300:], labels[300:]) > 0.85


def test_a_class_with_few_examples_gets_no_trees() -> None:
    """They could not tell it apart."""
    table, labels = examples()
    rare = np.zeros(len(table), dtype=bool)
    rare[: 2 * HOW.least - 1] = True
    assert with_trees(fit_head(NAMES, table, rare, 1.0), table, rare, HOW).trees is None
    rare[2 * HOW.least] = True
    assert with_trees(fit_head(NAMES, table, rare, 1.0), table, rare, HOW).trees is not None
    assert with_trees(fit_head(NAMES, table, labels & False, 1.0), table, labels & False, HOW).trees is None


def test_the_same_examples_grow_the_same_trees() -> None:
    """Nothing depends on chance or on the number of threads."""
    table, labels = examples()
    head = fit_head(NAMES, table, labels, 1.0)
    assert with_trees(head, table, labels, HOW).trees == with_trees(head, table, labels, HOW).trees


@pytest.mark.parametrize("change", ["lost", "other"])
def test_trees_that_are_kept_in_another_form_are_noticed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later release of scikit-learn may do so: no calibration is better than a wrong one."""
    table, labels = examples()

    class Later(boosting.HistGradientBoostingClassifier):
        def decision_function(self, rows: Any) -> Any:
            said = super().decision_function(rows)
            if change == "lost":
                del self._baseline_prediction
            else:
                self._baseline_prediction = self._baseline_prediction + 1
            return said

    monkeypatch.setattr(boosting, "HistGradientBoostingClassifier", Later)
    with pytest.raises(EvaluationError, match="scikit-learn"):
        with_trees(fit_head(NAMES, table, labels, 1.0), table, labels, HOW)
