"""Trees: walked as they are written, the same after a file, and refused where no walk would end."""

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.judging.heads import Head
from haystack_integrations.crag.judging.trees import Trees

NAMES = ("covered", "rank")
SMALL = (("covered", 0.5, 1, 2), -1.0, ("rank", 0.2, 3, 4), 1.0, 3.0)
"""Little covered: -1; else 1, or 3 where the rank is above 0.2."""


def trees(*some: Any, start: float = 0.25) -> Trees:
    """Trees for two classes."""
    return Trees(NAMES, start, tuple(some))


@pytest.mark.parametrize(("row", "wanted"), [((0.5, 9.0), -1.0), ((0.51, 0.2), 1.0), ((0.51, 0.21), 3.0)])
def test_a_value_on_the_line_goes_to_the_first_node(row: tuple[float, float], wanted: float) -> None:
    """As in the trees of scikit-learn."""
    assert trees(SMALL).log_odds(np.array([row])).tolist() == [[wanted + 0.25]]


def test_what_several_trees_say_is_added() -> None:
    """Trees of different sizes, down to a single leaf."""
    both = trees(SMALL, (0.5,), (("rank", 0.0, 1, 2), 10.0, 20.0))
    assert both.log_odds(np.array([[0.9, 0.1], [0.1, -0.1]])).tolist() == [[21.75], [9.75]]


def test_without_a_tree_all_start_alike() -> None:
    """What was fitted on nothing that a split tells apart."""
    assert trees().log_odds(np.array([[0.9, 0.1], [0.1, -0.1]])).tolist() == [[0.25], [0.25]]


def test_no_rows_give_no_answers() -> None:
    """An empty retrieval."""
    assert trees(SMALL).log_odds(np.zeros((0, 2))).shape == (0, 1)


@pytest.mark.parametrize(
    "broken",
    [
        (),
        (("unknown", 0.5, 1, 2), 0.0, 0.0),
        (("covered", 0.5, 0, 1), 0.0),
        (("covered", 0.5, 1, 3), 0.0, 0.0),
        (("covered", 0.5, 3, 1), 0.0, 0.0),
        (("covered", 0.5, 1, 2), ("covered", 0.5, 0, 2), 0.0),
    ],
    ids=["no node", "unknown signal", "back to itself", "no such node", "no such first node", "a circle"],
)
def test_a_tree_that_cannot_be_walked_is_refused(broken: Any) -> None:
    """When the file is read, not at the first question."""
    with pytest.raises(ValueError, match=r"a (tree|split) must"):
        trees(broken)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), "nan", "0.5", True, None])
@pytest.mark.parametrize("place", ["start", "line", "leaf"])
def test_a_number_that_is_none_is_refused(place: str, odd: Any) -> None:
    """As a head refuses it: all comparisons with NaN are false, and each question would take the same way."""
    own = {"start": 0.25, "line": 0.5, "leaf": 1.0} | {place: odd}
    written = {"start": own["start"], "trees": [[["rank", own["line"], 1, 2], own["leaf"], 3.0]]}
    with pytest.raises(ValueError, match="must be a finite number"):
        Trees.from_dict(written, NAMES)
    if isinstance(odd, float):
        with pytest.raises(ValueError, match="must be finite"):
            trees((("rank", own["line"], 1, 2), own["leaf"], 3.0), start=own["start"])


@pytest.mark.parametrize("split", [["rank", 0.5, 1.5, 2], ["rank", 0.5, "1", 2], ["rank", 0.5, 1], ["rank", 0.5]])
def test_a_split_of_another_form_is_refused(split: Any) -> None:
    """A place between two nodes is none."""
    with pytest.raises(ValueError, match="a split must be"):
        Trees.from_dict({"start": 0, "trees": [[split, 1.0, 3.0]]}, NAMES)


def head(trees_beside: Trees | None) -> Head:
    """A head of one row with trees beside it."""
    zeros = np.zeros(2)
    return Head(NAMES, zeros, zeros + 1, np.array([[2.0, 0.0]]), np.array([-1.0]), trees_beside)


def test_a_head_with_trees_says_the_mean_of_both() -> None:
    """Of the probabilities."""
    rows = np.array([[0.9, 0.1], [0.2, 0.3]])
    odds = trees(SMALL).log_odds(rows)[:, 0]
    wanted = (head(None).of_rows(rows) + 1 / (1 + np.exp(-odds))) / 2
    assert head(trees(SMALL)).of_rows(rows) == pytest.approx(wanted)


def test_trees_beside_several_rows_are_refused() -> None:
    """They tell two classes apart, not three."""
    zeros = np.zeros(2)
    written = Head(NAMES, zeros, zeros + 1, np.zeros((3, 2)), np.zeros(3)).to_dict()
    with pytest.raises(ValueError, match="beside one row"):
        Head.from_dict(written | {"trees": trees(SMALL).to_dict()})


_values = st.floats(-1e3, 1e3)


@st.composite
def _trees(draw: st.DrawFn) -> Trees:
    """Any trees that can be walked."""

    def tree() -> tuple[Any, ...]:
        splits = draw(st.integers(0, 6))
        nodes: list[Any] = [(draw(st.sampled_from(NAMES)), draw(_values), 2 * n + 1, 2 * n + 2) for n in range(splits)]
        return (*nodes, *(draw(_values) for _ in range(splits + 1)))

    number = draw(st.integers(1, 3))
    return Trees(NAMES, draw(_values), tuple(tree() for _ in range(number)))


@given(grown=_trees(), rows=st.lists(st.tuples(_values, _values), max_size=4))
def test_any_trees_are_walked_as_by_hand_and_stay_the_same_in_a_file(grown: Trees, rows: list[Any]) -> None:
    """Node by node."""

    def walked(tree: Any, row: dict[str, float]) -> float:
        node = tree[0]
        while isinstance(node, tuple):
            signal, line, first, second = node
            node = tree[first if row[signal] <= line else second]
        return float(node)

    table = np.array(rows, dtype=float).reshape(-1, 2)
    wanted = [
        grown.start + sum(walked(tree, dict(zip(NAMES, row, strict=True))) for tree in grown.trees) for row in rows
    ]
    assert grown.log_odds(table)[:, 0].tolist() == pytest.approx(wanted)
    written = orjson.loads(orjson.dumps(head(grown).to_dict()))
    assert Head.from_dict(written).trees == grown
