"""Thresholds that keep wrong `generate` decisions rare, and what a cascade saves."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evaluation_records import CLASSES, verdicts
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.measures import verdict_measures
from haystack_integrations.crag.evaluation.risk import control_wrong_generate, cost_curve, realised, saved_at

SCORED = st.lists(st.tuples(st.integers(0, 12).map(lambda n: n / 12), st.booleans()), min_size=1, max_size=80)
DRAWS = 400


def drawn(rng: np.random.Generator, n: int, separation: float) -> tuple[Any, Any]:
    """Scores of questions of which 60 % have evidence that answers: two normal curves, some way apart."""
    answers = rng.random(n) < 0.6
    return rng.normal(size=n) + separation * answers, answers


@pytest.mark.parametrize("most", [0.05, 0.1, 0.2])
@pytest.mark.parametrize(("n", "separation"), [(80, 2.5), (80, 1.0), (300, 1.5), (300, 0.0)])
def test_the_realised_share_keeps_the_limit_on_average(n: int, separation: float, most: float) -> None:
    """Over many calibration sets, for scores from good to useless, on new questions; nothing generated is no wrong."""
    rng = np.random.default_rng(7)
    scores, answers = drawn(rng, 40_000, separation)
    shares = []
    for _ in range(DRAWS):
        found = control_wrong_generate(*drawn(rng, n, separation), most)
        chosen = answers[scores >= (np.inf if found.threshold is None else found.threshold)]
        shares.append(1 - chosen.mean() if len(chosen) else 0.0)
    error = float(np.std(shares)) / DRAWS**0.5
    assert np.mean(shares) <= most + 3 * error


def test_where_few_calibration_sets_have_a_threshold_these_exceed_the_limit() -> None:
    """What the pages say of the promise: sets without a threshold count as no wrong answers, and nobody sees them."""
    rng, shares = np.random.default_rng(7), []
    scores, answers = drawn(rng, 40_000, 0.7)
    for _ in range(DRAWS):
        found = control_wrong_generate(*drawn(rng, 80, 0.7), 0.1)
        if found.threshold is not None:
            shares.append(1 - answers[scores >= found.threshold].mean())
    assert 0.1 < len(shares) / DRAWS < 0.3
    assert 0.15 < np.mean(shares) < 0.25


@pytest.mark.parametrize(("most", "least"), [(0.05, 0.3), (0.1, 0.5), (0.2, 0.65)])
def test_eighty_questions_are_enough_to_be_useful(most: float, least: float) -> None:
    """With good scores of questions that answer in 60 % of the cases, most of these are generated."""
    rng = np.random.default_rng(8)
    generated = [control_wrong_generate(*drawn(rng, 80, 2.5), most).generated for _ in range(DRAWS)]
    assert np.mean(generated) >= least


def test_the_threshold_is_the_lowest_that_keeps_the_limit_with_one_more_wrong() -> None:
    """Of 20 from .5 on one is wrong: (1 + 1) / 41 * 40 / 20 is just below .1; one lower would be too many."""
    scores = [0.9] * 10 + [0.5] * 10 + [0.1] * 20
    found = control_wrong_generate(scores, [True] * 19 + [False] * 21, 0.1)
    assert (found.threshold, found.generated) == (0.5, 0.5)
    assert found.reachable == pytest.approx(2 / 41 * 40 / 20)


@given(SCORED, st.floats(0.01, 0.98) | st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 2 / 3]))
def test_each_score_recounted_on_its_own_gives_the_same_threshold(
    scored: list[tuple[float, bool]], most: float
) -> None:
    """In fractions, from the rule as it is written: the lowest score s with (W + 1) / (n + 1) <= most * G / n."""
    n, bounds = len(scored), dict[float, Fraction]()
    for least, _ in scored:
        chosen = [answers for score, answers in scored if score >= least]
        bounds[least] = Fraction(chosen.count(False) + 1, n + 1) * Fraction(n, len(chosen))
    found = control_wrong_generate(*zip(*scored, strict=True), most)  # type: ignore[misc]
    assert found.threshold == min((score for score, bound in bounds.items() if bound <= most + 1e-12), default=None)
    assert 0 < found.reachable <= 1
    assert found.reachable == pytest.approx(float(min(bounds.values())))


def test_no_threshold_is_said_with_the_limit_that_could_be_kept() -> None:
    """Five right answers cannot prove that one in twenty is wrong; the reachable limit then has a threshold."""
    scores, answers = [0.9] * 5 + [0.1] * 5, [True] * 5 + [False] * 5
    found = control_wrong_generate(scores, answers, 0.05)
    assert (found.threshold, found.generated) == (None, 0.0)
    assert found.reachable == pytest.approx(1 / 11 * 10 / 5)
    assert control_wrong_generate(scores, answers, found.reachable).threshold == 0.9
    assert control_wrong_generate([0.5], [False], 0.9).reachable == 1.0


@given(SCORED, st.floats(0.01, 0.98), st.floats(0.01, 0.98))
def test_a_larger_limit_never_generates_less_and_what_is_chosen_keeps_it(
    scored: list[tuple[float, bool]], one: float, other: float
) -> None:
    """On the calibration questions themselves, with ties too."""
    scores, answers = zip(*scored, strict=True)
    small, large = (control_wrong_generate(scores, answers, most) for most in sorted((one, other)))
    assert small.generated <= large.generated
    counted = realised(scores, answers, large.threshold)
    assert counted["generated"] == round(large.generated * len(scores))
    if large.threshold is not None:
        assert counted["share"] <= max(one, other)
        assert large.reachable <= max(one, other) + 1e-9


def test_what_was_realised_comes_with_an_exact_interval() -> None:
    """One wrong of ten; nothing generated has no share."""
    found = realised([0.9] * 10 + [0.1], [True] * 9 + [False] * 2, 0.5)
    assert (found["n"], found["generated"], found["wrong"], found["share"]) == (11, 10, 1, 0.1)
    assert (found["low"], found["high"]) == pytest.approx((0.00253, 0.44502), abs=1e-5)
    nothing = {"n": 1, "generated": 0, "wrong": 0, "share": None, "low": None, "high": None}
    assert realised([0.9], [True], None) == nothing


def test_the_interval_of_what_was_realised_covers_the_share_where_questions_of_a_source_go_wrong_together() -> None:
    """12 sources of about 8 questions: one of all questions drawn alone covered the share in 80 of 100 cases."""
    rng, share, covered, alone = np.random.default_rng(4), 0.1, 0, 0
    for _ in range(DRAWS):
        sizes = rng.poisson(7, 12) + 1
        wrong = rng.random(sizes.sum()) < np.repeat(rng.beta(0.4, 3.6, 12), sizes)
        sources = np.repeat(np.arange(12), sizes).tolist()
        found, exact = (realised(np.ones(len(wrong)), ~wrong, 0.5, groups=by) for by in (sources, None))
        covered += found["low"] <= share <= found["high"]
        alone += exact["low"] <= share <= exact["high"]
    assert alone < 0.85 * DRAWS
    assert covered > 0.93 * DRAWS


def test_questions_of_a_source_each_have_the_exact_interval_and_those_of_one_source_tell_nothing() -> None:
    """Where none is wrong, each source counts as one question."""
    right = [True] * 9 + [False]
    exact = realised([0.9] * 10, right, 0.5)
    assert realised([0.9] * 10, right, 0.5, groups=list("abcdefghij")) == exact
    one = realised([0.9] * 10, right, 0.5, groups=["a"] * 10)
    assert (one["low"], one["high"]) == (0, 1)
    none = realised([0.9] * 40, [True] * 40, 0.5, groups=[n // 4 for n in range(40)])
    assert none["high"] == pytest.approx(realised([0.9] * 10, [True] * 10, 0.5)["high"])
    many = realised([0.9] * 40, right * 4, 0.5, groups=[n % 10 for n in range(40)])
    assert many["low"] < exact["share"] < many["high"]
    assert many["high"] - many["low"] > realised([0.9] * 40, right * 4, 0.5)["high"] - many["low"]


@pytest.mark.parametrize(
    ("scores", "answers", "most", "said"),
    [
        ([], [], 0.1, "0 scores and 0 answers"),
        ([0.1, 0.2], [True], 0.1, "2 scores and 1 answers"),
        ([float("nan")], [True], 0.1, "got 1 that are not"),
        ([0.1], [True], 0.0, "between 0 and 1, but got 0.0"),
        ([0.1], [True], 1.0, "between 0 and 1, but got 1.0"),
    ],
)
def test_unusable_scores_and_limits_are_refused(scores: Any, answers: Any, most: float, said: str) -> None:
    """With what was got and the way out."""
    with pytest.raises(ConfigurationError, match=said):
        control_wrong_generate(scores, answers, most)


TRUTH, SAID = ["correct", "ambiguous", "incorrect", "correct"], ["correct", "ambiguous", "correct", "incorrect"]


def test_the_cost_curve_sends_the_least_sure_first() -> None:
    """Two of four verdicts are wrong, and these are the least sure: with half sent all is right."""
    curve = cost_curve([0.9, 0.8, 0.2, 0.4], TRUTH, SAID)
    assert [point["share_sent"] for point in curve] == [0, 0.25, 0.5, 0.75, 1]
    assert [point["threshold"] for point in curve] == [0.2, 0.4, 0.8, 0.9, None]
    pairs = list(zip(TRUTH, SAID, strict=True))
    assert curve[0]["macro_f1"] == pytest.approx(verdict_measures(verdicts(pairs))["macro_f1"])
    assert [point["macro_f1"] for point in curve[2:]] == [1, 1, 1]
    assert saved_at(curve, 0.0) == 0.5
    assert saved_at(curve, 1.0) == 1.0


def test_questions_of_equal_confidence_are_sent_together() -> None:
    """A threshold could not tell them apart."""
    assert [point["share_sent"] for point in cost_curve([0.5, 0.5, 0.5, 0.9], TRUTH, SAID)] == [0, 0.75, 1]


TOLD = st.sampled_from((*CLASSES, "ungraded"))


@given(st.lists(st.tuples(st.sampled_from(CLASSES), TOLD, st.floats(0, 1)), min_size=1, max_size=40))
def test_every_point_of_the_curve_is_the_macro_f1_of_that_cascade(questions: list[tuple[str, str, float]]) -> None:
    """Recounted with scikit-learn by the threshold that the point names; a question may have no verdict."""
    truth, told, sure = (list(one) for one in zip(*questions, strict=True))
    for point in cost_curve(sure, truth, told):
        least = point["threshold"]
        mixed = [is_ if least is None or s < least else said for is_, said, s in questions]
        found = verdict_measures(verdicts(list(zip(truth, mixed, strict=True))))
        assert point["macro_f1"] == pytest.approx(found["macro_f1"])


def test_values_of_other_questions_are_refused() -> None:
    """Counts of each are named."""
    with pytest.raises(ConfigurationError, match="2, 1 and 1 values"):
        cost_curve([0.1, 0.2], ["correct"], ["correct"])
