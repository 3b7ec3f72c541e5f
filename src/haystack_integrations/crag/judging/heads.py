"""Models that can be read in the file: plain coefficients, and trees beside them where they have been fitted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.judging.trees import Trees

Values = NDArray[np.float64]

# Beyond so many standard deviations a signal says no more: an odd document must not decide by one of them.
_FARTHEST = 5.0


@dataclass(frozen=True)
class Head:
    """
    A logistic regression: two classes with one row of weights, more with a row for each. With trees, the mean of both:
    the one errs where signals work together, the others where there are few examples.

    :param names: The signals it reads.
    :param means: Their means where it was fitted.
    :param scales: Their standard deviations there.
    :param weights: Shape (rows, signals).
    :param biases: One for each row.
    :param trees: Boosted trees on the same signals, for two classes, or None.
    """

    names: tuple[str, ...]
    means: Values
    scales: Values
    weights: Values
    biases: Values
    trees: Trees | None = None

    def probabilities(self, features: Sequence[Mapping[str, float]]) -> Values:
        """
        Judge.

        :param features: Signals by name; further names do not matter.
        :returns: Shape (len(features),) for two classes, the probability of the second; else (len(features), classes).
        :raises ConfigurationError: When it reads a signal that is not measured.
        """
        return self.of_rows(self.rows(features))

    def rows(self, features: Sequence[Mapping[str, float]]) -> Values:
        """
        Choose what it reads.

        :param features: Signals by name; further names do not matter.
        :returns: The signals in the order of `names`, shape (len(features), signals).
        :raises ConfigurationError: When it reads a signal that is not measured.
        """
        try:
            rows = np.array(list(map(self._read, features)), dtype=float)
        except KeyError:
            unknown = sorted(set(self.names) - set(features[0]))
            msg = f"the calibration reads signals that are not measured here, {unknown[:5]}; calibrate again"
            raise ConfigurationError(msg) from None
        return rows.reshape(len(features), len(self.names))

    @cached_property
    def _read(self) -> Callable[[Mapping[str, float]], Any]:
        return itemgetter(*self.names)

    def of_rows(self, rows: Values) -> Values:
        """
        Judge signals in the order of `names`.

        :param rows: Shape (n, signals).
        :returns: As `probabilities`.
        """
        said = _probabilities(self.standard(rows) @ self.weights.T + self.biases)
        return said if self.trees is None else (said + _probabilities(self.trees.log_odds(rows))) / 2

    def standard(self, rows: Values) -> Values:
        """
        Bring signals to mean 0 and deviation 1, with bounds.

        :param rows: Shape (n, signals).
        :returns: The same shape.
        """
        return np.clip((rows - self.means) / self.scales, -_FARTHEST, _FARTHEST)

    def to_dict(self) -> dict[str, Any]:
        """
        Give plain JSON: for each signal its mean, its scale and its weight in each row.

        :returns: `{"signals": {name: [mean, scale, weight, ...]}, "biases": [...]}`, and `trees` where it has some.
        """
        table = np.column_stack([self.means, self.scales, self.weights.T])
        rows = {name: [_short(value) for value in row] for name, row in zip(self.names, table.tolist(), strict=True)}
        trees = {} if self.trees is None else {"trees": self.trees.to_dict()}
        return {"signals": rows, "biases": [_short(bias) for bias in self.biases.tolist()], **trees}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Head":
        """
        Read what `to_dict` gave.

        :param values: Plain JSON.
        :returns: The model.
        :raises ValueError: When its numbers do not fit together.
        """
        table, biases = np.array(list(values["signals"].values()), dtype=float), np.array(values["biases"], dtype=float)
        if biases.ndim != 1 or table.ndim != 2 or table.shape[1] != 2 + len(biases):  # noqa: PLR2004
            msg = f"each signal must have a mean, a scale and {biases.size} weights, one for each bias"
            raise ValueError(msg)
        if not (np.isfinite(table).all() and np.isfinite(biases).all() and (table[:, 1] > 0).all()):
            msg = "all numbers must be finite and all scales > 0"
            raise ValueError(msg)
        names, trees = tuple(values["signals"]), values.get("trees")
        beside = None if trees is None else Trees.from_dict(trees, names)
        if beside is not None and len(biases) > 1:
            msg = f"trees stand beside one row of weights, but there are {len(biases)}"
            raise ValueError(msg)
        return cls(names, table[:, 0], table[:, 1], table[:, 2:].T, biases, beside)


def _probabilities(log_odds: Values) -> Values:
    if log_odds.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(log_odds[:, 0], -30, 30))))
    powers = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _short(value: float) -> float:
    return float(f"{value:.5g}")
