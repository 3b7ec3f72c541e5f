"""Boosted trees that can be read: each split names its signal, each leaf what it adds to the log-odds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.calibration_file import finite

Values = NDArray[np.float64]
Split = tuple[str, float, int, int]
Tree = tuple[Split | float, ...]
"""Nodes, the first is the root. A split: signal, highest value that goes to the first of the two nodes named. A leaf:
what it adds."""


@dataclass(frozen=True)
class Trees:
    """
    Gradient boosted trees (Friedman 2001) that tell two classes apart: the sum of what one leaf of each tree adds.

    :param names: The signals, in the order of a row.
    :param start: The log-odds of the second class before any tree.
    :param trees: The trees.
    """

    names: tuple[str, ...]
    start: float
    trees: tuple[Tree, ...]

    def __post_init__(self) -> None:
        """Refuse trees that cannot be walked: better when the file is read than at the first question."""
        known = set(self.names)
        numbers = (node[1] if isinstance(node, tuple) else node for tree in self.trees for node in tree)
        if not isfinite(self.start) or not all(map(isfinite, numbers)):
            msg = "all numbers of trees must be finite"
            raise ValueError(msg)
        for tree in self.trees:
            if not tree:
                msg = "a tree must have a node"
                raise ValueError(msg)
            for number, node in enumerate(tree):
                # Children stand behind their parent, so that every walk ends.
                if not isinstance(node, tuple):
                    continue
                if node[0] not in known or not number < min(node[2:]) <= max(node[2:]) < len(tree):
                    msg = f"a split must name a signal of the model and two nodes behind it, but got {list(node)}"
                    raise ValueError(msg)

    def log_odds(self, rows: Values) -> Values:
        """
        Judge.

        :param rows: Signals as they were measured, shape (n, signals).
        :returns: Shape (n, 1).
        """
        signal, line, following, adds, roots = self._table
        # All comparisons at once: to choose the few that count would take longer than to make all of them.
        goes_first = (rows[:, signal] <= line).ravel()
        begins = np.arange(0, goes_first.size, max(1, len(signal)), dtype=np.intp)[:, None]
        place = np.broadcast_to(roots, (len(rows), len(roots)))
        for _ in range(self._splits):
            place = following[2 * place + goes_first[begins + place]]
        return np.asarray(self.start + adds[place].sum(axis=1, keepdims=True))

    @cached_property
    def _splits(self) -> int:
        return max(map(_depth, self.trees), default=0)

    @cached_property
    def _table(self) -> tuple[NDArray[Any], ...]:
        """All nodes as arrays: signal, line, the two that follow, what a leaf adds; and the place of each root."""
        place_of = {name: place for place, name in enumerate(self.names)}
        sizes = [len(tree) for tree in self.trees]
        roots = np.cumsum([0, *sizes], dtype=np.intp)
        size = int(roots[-1])
        signal, line, adds = np.zeros(size, dtype=np.intp), np.zeros(size), np.zeros(size)
        following = np.repeat(np.arange(size, dtype=np.intp), 2)  # a leaf follows itself
        for root, tree in zip(roots.tolist(), self.trees, strict=False):
            for at, node in enumerate(tree, root):
                if isinstance(node, tuple):
                    signal[at], line[at] = place_of[node[0]], node[1]
                    following[2 * at : 2 * at + 2] = root + node[3], root + node[2]
                else:
                    adds[at] = node
        return signal, line, following, adds, roots[:-1]

    def to_dict(self) -> dict[str, Any]:
        """
        Give plain JSON.

        :returns: `{"start": number, "trees": [[[signal, line, node, node], number, ...], ...]}`.
        """
        return {"start": self.start, "trees": self.trees}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], names: Sequence[str]) -> "Trees":
        """
        Read what `to_dict` gave.

        :param values: Plain JSON.
        :param names: The signals, in the order of a row.
        :returns: The trees.
        :raises ValueError: When a tree cannot be walked, or a number is none that can be reckoned with.
        """
        trees = tuple(tuple(map(_node, tree)) for tree in values["trees"])
        return cls(tuple(names), finite("the start of trees", values["start"]), trees)


def _depth(tree: Tree) -> int:
    """Count the splits on the longest way through a tree; nodes that follow stand behind."""
    deep = [0] * len(tree)
    for place, node in enumerate(tree):
        for following in node[2:] if isinstance(node, tuple) else ():
            deep[following] = max(deep[following], deep[place] + 1)
    return max(deep)


def _node(node: Any) -> Split | float:
    if isinstance(node, list | tuple):
        signal, line, *places = node
        if len(places) != 2 or not all(isinstance(place, int) and not isinstance(place, bool) for place in places):  # noqa: PLR2004
            msg = f"a split must be [signal, line, node, node], but got {list(node)}"
            raise ValueError(msg)
        return str(signal), finite("the line of a split", line), places[0], places[1]
    return finite("a leaf", node)
