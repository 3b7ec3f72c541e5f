"""Heads and crossings: plain coefficients, judged by hand, and the same after a file."""

from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_texts import asking, head

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.judging.crossing import Crossing, question_words, visible
from haystack_integrations.crag.judging.heads import Head
from haystack_integrations.crag.judging.reading import shared_reader


def test_two_classes_have_one_probability_and_three_have_three() -> None:
    """Logistic and softmax of the weighted standard signals."""
    two = Head(("a",), np.array([1.0]), np.array([2.0]), np.array([[3.0]]), np.array([0.5]))
    assert two.probabilities([{"a": 2.0, "other": 9.0}]) == pytest.approx([1 / (1 + exp(-2.0))])
    three = Head(("a",), np.zeros(1), np.ones(1), np.array([[1.0], [0.0], [-1.0]]), np.zeros(3))
    row = three.probabilities([{"a": 1.0}])[0]
    assert row == pytest.approx(np.exp([1.0, 0.0, -1.0]) / np.exp([1.0, 0.0, -1.0]).sum())
    assert two.probabilities([]).shape == (0,)


def test_a_signal_far_from_all_others_does_not_decide_alone() -> None:
    """Beyond five deviations it says no more."""
    far = head({"a": 1.0})
    assert far.probabilities([{"a": 5.0}]) == far.probabilities([{"a": 1e12}])


def test_a_signal_that_is_not_measured_here_is_named_with_the_way_out() -> None:
    """Such as one of another version."""
    with pytest.raises(ConfigurationError, match=r"not measured here, \['magic'\]; calibrate again"):
        head({"magic": 1.0}).probabilities([{"a": 1.0}])


_numbers = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.5g}"))


@st.composite
def _heads(draw: st.DrawFn) -> Head:
    size, rows = draw(st.integers(1, 6)), draw(st.sampled_from([1, 3]))
    table = np.array(draw(st.lists(_numbers, min_size=size * (rows + 1), max_size=size * (rows + 1))))
    scales = draw(st.lists(st.floats(1e-3, 1e3).map(lambda v: float(f"{v:.5g}")), min_size=size, max_size=size))
    names = tuple(f"signal {n}" for n in range(size))
    weights = table[size:].reshape(rows, size)
    return Head(
        names, table[:size], np.array(scales), weights, np.array(draw(st.lists(_numbers, min_size=rows, max_size=rows)))
    )


@given(one=_heads())
def test_a_head_is_the_same_after_a_file(one: Head) -> None:
    """Numbers have five digits there."""
    two = Head.from_dict(one.to_dict())
    assert (one.names, one.weights.tolist(), one.biases.tolist()) == (
        two.names,
        two.weights.tolist(),
        two.biases.tolist(),
    )
    assert (one.means.tolist(), one.scales.tolist()) == (two.means.tolist(), two.scales.tolist())
    assert two.to_dict() == one.to_dict()


@pytest.mark.parametrize(
    "values",
    [
        {"signals": {}, "biases": [0.0]},
        {"signals": {"a": [0.0, 1.0]}, "biases": [0.0]},
        {"signals": {"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0]}, "biases": [0.0]},
        {"signals": {"a": [0.0, 0.0, 2.0]}, "biases": [0.0]},
        {"signals": {"a": [0.0, 1.0, float("nan")]}, "biases": [0.0]},
        {"signals": {"a": [0.0, 1.0, 2.0]}, "biases": [0.0, 0.0]},
        {"signals": {"a": [0.0, 1.0, 2.0]}, "biases": 0.0},
        {"signals": {"a": [0.0, 1.0, "much"]}, "biases": [0.0]},
    ],
)
def test_numbers_that_do_not_fit_together_are_refused(values: dict[str, object]) -> None:
    """When they are read, not at the first question."""
    with pytest.raises(ValueError, match=r".+"):
        Head.from_dict(values)


CROSSING = Crossing(
    frozenset({"occup"}), {"occup": {"TITLE was": 2.0, "a": 9.0}, "asks:what": {"politician": 1.0}}, 0.5
)


def test_words_of_a_question_meet_the_ngrams_of_a_document() -> None:
    """Scaled by how many could have met; the question's own words do not count."""
    asked = asking("What was the occupation of Ada Penn?")
    (ada,) = shared_reader().read([("Ada Penn", "Penn was politician.")])
    assert question_words(asked, CROSSING.words) == ["occup", "asks:what"]
    assert {"TITLE was", "politician", "was politician"} <= visible(asked, ada)
    assert CROSSING.score(asked, ada) == pytest.approx(0.5 + 3.0 / sqrt(2 * len(visible(asked, ada))))
    (empty,) = shared_reader().read([("", "")])
    assert CROSSING.score(asked, empty) == 0.5
    (said,) = shared_reader().read([("", "Occupations vary.")])
    assert "occup" in said.ngrams
    assert "vari" in visible(asked, said)
    assert "occup" not in visible(asked, said)


_grams = st.dictionaries(st.text(max_size=5), st.floats(-10, 10), max_size=4)


@given(weights=st.dictionaries(st.text(max_size=5), _grams, max_size=4), bias=st.floats(-5, 5))
def test_a_crossing_is_the_same_after_a_file(weights: dict[str, dict[str, float]], bias: float) -> None:
    """Words in order, so that the same model makes the same file."""
    one = Crossing(frozenset(weights), weights, bias)
    assert Crossing.from_dict(one.to_dict()) == one
    assert one.to_dict()["words"] == sorted(weights)
