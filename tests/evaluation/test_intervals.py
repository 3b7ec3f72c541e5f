"""Intervals by bootstrap over questions, alone and between two evaluations."""

import time
from typing import Any

import numpy as np
import pytest
from evaluation_records import CLASSES, documents, record, verdicts
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.intervals import (
    MEASURES,
    _bounds,
    _times,
    intervals,
    macro_f1,
    paired,
    rare_verdicts,
)
from haystack_integrations.crag.evaluation.matching import of_both_judged
from haystack_integrations.crag.evaluation.measures import summarise, verdict_measures

LABELS = st.sampled_from(CLASSES)
TOLD = st.sampled_from((*CLASSES, "ungraded"))
NAMES: dict[str, Any] = {"dataset": "d", "split": "s", "pipeline": None, "grader": None, "lists": "fixed"}


def some(n: int, right: float, seed: int = 0) -> list[dict[str, Any]]:
    """Questions of which about a share is judged rightly."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(CLASSES, n)
    told = np.where(rng.random(n) < right, truth, rng.choice(CLASSES, n))
    return verdicts(list(zip(map(str, truth), map(str, told), strict=True)))


@given(st.lists(st.tuples(LABELS, TOLD), min_size=1, max_size=40))
def test_the_fast_macro_f1_is_the_one_of_the_result(pairs: list[tuple[str, str]]) -> None:
    """Which scikit-learn made: both must agree on every confusion."""
    found = verdict_measures(verdicts(pairs))
    counts = [[sum(pair == (truth, told) for pair in pairs) for told in (*CLASSES, "ungraded")] for truth in CLASSES]
    assert float(macro_f1(np.array(counts, dtype=float))) == pytest.approx(found["macro_f1"])


@given(st.lists(st.tuples(LABELS, TOLD), min_size=1, max_size=30), st.integers(0, 5))
def test_an_interval_is_ordered_and_within_the_range_of_the_measure(pairs: list[tuple[str, str]], seed: int) -> None:
    """And there is one for every measure that applies, and for no other."""
    found = intervals(verdicts(pairs), draws=50, seed=seed)
    assert tuple(found) == MEASURES
    assert found["filter.f1"] is None
    for name in ("verdict.accuracy", "verdict.macro_f1"):
        bounds = found[name]
        assert bounds is not None
        assert 0 <= bounds["low"] <= bounds["high"] <= 1


def test_the_interval_of_a_share_is_what_theory_says() -> None:
    """Accuracy .75 on 400 questions: 1.96 standard errors to each side."""
    records = verdicts(
        [("correct", "correct"), ("correct", "correct"), ("correct", "correct"), ("correct", "incorrect")] * 100
    )
    bounds = intervals(records, draws=4000)["verdict.accuracy"]
    assert bounds is not None
    error = 1.96 * (0.75 * 0.25 / 400) ** 0.5
    assert (bounds["low"], bounds["high"]) == pytest.approx((0.75 - error, 0.75 + error), abs=0.006)


def test_an_interval_widens_when_questions_of_one_article_are_drawn_together() -> None:
    """Ten groups that are all right or all wrong are ten observations, not a hundred."""
    records = verdicts([("correct", "correct" if n < 50 else "incorrect") for n in range(100)])
    groups = {record["id"]: str(n // 10) for n, record in enumerate(records)}
    alone, together = (intervals(records, groups=one)["verdict.accuracy"] for one in (None, groups))
    assert alone is not None
    assert together is not None
    assert together["high"] - together["low"] > 2.5 * (alone["high"] - alone["low"])


def test_the_same_seed_gives_the_same_interval_and_sums_are_as_good_as_questions() -> None:
    """The slow way redraws the questions themselves, and measures them anew in each draw."""
    records = some(60, 0.7)
    fast = intervals(records, draws=100, seed=3)["verdict.macro_f1"]
    draws = _times(records, None, 100, 3).astype(int)
    drawn = [[one for one, often in zip(records, row, strict=True) for _ in range(often)] for row in draws]
    slow = _bounds(np.array([verdict_measures(own)["macro_f1"] for own in drawn]))
    assert fast == pytest.approx(slow)
    assert fast == intervals(records, draws=100, seed=3)["verdict.macro_f1"]


def test_the_order_of_the_questions_changes_no_interval() -> None:
    """Each draw holds the same questions, alone or in groups."""
    records = some(60, 0.7)
    for groups in (None, {one["id"]: n // 3 for n, one in enumerate(records)}):
        assert intervals(records[::-1], groups=groups) == intervals(records, groups=groups)


def test_two_thousand_questions_are_redrawn_a_thousand_times_in_two_seconds() -> None:
    """All measures together."""
    records = some(2000, 0.7)
    started = time.process_time()
    assert intervals(records, draws=1000)["verdict.macro_f1"] is not None
    assert time.process_time() - started < 2


def test_a_paired_difference_is_surer_than_two_intervals() -> None:
    """Ten questions better of two hundred: each interval holds the other's value, the difference leaves 0 out."""
    base = verdicts([("correct", "correct" if n < 150 else "incorrect") for n in range(200)])
    better = verdicts([("correct", "correct" if n < 160 else "incorrect") for n in range(200)])
    change = paired(better[::-1], base)["verdict.accuracy"]
    assert change is not None
    assert (change["value"], change["base"], change["difference"]) == pytest.approx((0.8, 0.75, 0.05))
    assert 0 < change["low"] < 0.05 < change["high"]
    alone = intervals(base)["verdict.accuracy"]
    assert alone is not None
    assert alone["high"] > 0.8


def test_a_question_that_failed_in_one_evaluation_is_compared_in_neither() -> None:
    """Else whoever fails on what is hard would seem better: here both judge alike, and one failed half of the time."""
    base = verdicts([("correct", "correct" if n < 50 else "incorrect") for n in range(100)])
    failed = [record(f"q{n}", None, "", error="TimeoutError") for n in range(50, 100)]
    for ours, theirs in ((base[:50] + failed, base), (base, base[:50] + failed)):
        one, other = of_both_judged(ours, theirs)
        assert len(one) == len(other) == 50
        change = paired(one, other)["verdict.accuracy"]
        assert change is not None
        assert (change["difference"], change["low"], change["high"]) == (0, 0, 0)


def test_where_every_question_failed_in_one_evaluation_nothing_is_compared_and_nothing_is_lost() -> None:
    """The result that took an hour is written, whatever it was to be compared with."""
    ours, theirs = of_both_judged([record()], [record(error="TimeoutError")])
    assert ours == theirs == []
    assert set(paired(ours, theirs).values()) == set(intervals(ours).values()) == {None}


def test_a_measure_that_one_evaluation_lacks_is_not_compared() -> None:
    """No documents on one side."""
    with_documents = [record(documents=documents((1, True)))]
    assert paired(with_documents, [record()])["filter.f1"] is None
    change = paired(with_documents, with_documents)["filter.f1"]
    assert change == {"value": 1.0, "base": 1.0, "difference": 0.0, "low": 0.0, "high": 0.0}


def test_the_first_list_of_a_live_run_is_compared_with_a_fixed_list() -> None:
    """Which is the first and only one; between two fixed evaluations there is nothing more than the verdict."""
    live = [record(f"q{n}", first={"label": "correct", "verdict": CLASSES[n % 2]}) for n in range(6)]
    fixed = [record(f"q{n}") for n in range(6)]
    change = paired(live, fixed)["first.accuracy"]
    assert change is not None
    assert (change["value"], change["base"]) == (0.5, 1.0)
    assert paired(fixed, fixed)["first.accuracy"] is None
    assert intervals(fixed)["first.accuracy"] is None
    assert intervals(live)["first.accuracy"] is not None


def test_evaluations_of_other_questions_are_refused_with_the_ids_and_the_way_out() -> None:
    """Six are only in this one, of which five are named."""
    ours, base = [record(f"a{n}") for n in range(6)], [record("b1")]
    with pytest.raises(ConfigurationError, match="evaluate both on the same data and split") as caught:
        paired(ours, base)
    assert "6 (a0, a1, a2, a3, a4, …) only in this one and 1 (b1) only in the base" in str(caught.value)
    with pytest.raises(ConfigurationError, match="the base has 2 records of 1 questions"):
        paired([record("b1")], [record("b1"), record("b1")])


def test_the_point_lies_in_its_interval() -> None:
    """The intervals are of the result's own numbers."""
    records = some(300, 0.6)
    value, bounds = summarise(records, **NAMES)["verdict"]["macro_f1"], intervals(records)["verdict.macro_f1"]
    assert bounds is not None
    assert bounds["low"] < value < bounds["high"]


def test_questions_that_are_all_about_one_source_have_no_interval() -> None:
    """Each draw would be the same: a width of nothing is no certainty."""
    records = some(20, 0.5)
    groups = dict.fromkeys((one["id"] for one in records), 0)
    assert intervals(records, groups=groups)["verdict.accuracy"] is None


def test_a_verdict_that_few_questions_have_is_named_as_its_interval_promises_too_much() -> None:
    """From 8 on nothing is said, nor of a verdict that is neither true nor told."""
    few = verdict_measures(verdicts([("correct", "correct")] * 20 + [("incorrect", "correct")] * 3))["confusion"]
    assert rare_verdicts(few) == (
        "few questions of a verdict (3 incorrect): it counts in macro-F1 as much as the others, and the interval is "
        "too narrow with fewer than 8"
    )
    enough = verdict_measures(verdicts([("correct", "incorrect")] * 20 + [("incorrect", "correct")] * 8))["confusion"]
    assert rare_verdicts(enough) is None
    assert rare_verdicts(None) is None


def test_a_verdict_that_is_told_and_right_for_no_question_is_named() -> None:
    """One slip to it takes a third of macro-F1, which nobody would guess beside an accuracy of .96."""
    slip = [("correct", "correct")] * 20 + [("incorrect", "incorrect")] * 8 + [("correct", "ambiguous")]
    assert rare_verdicts(verdict_measures(verdicts(slip))["confusion"]) == (
        "no question is ambiguous, and 1 were told so: it counts in macro-F1 as a verdict that is never right"
    )


def test_the_interval_of_macro_f1_covers_it_from_eight_questions_of_a_verdict_on() -> None:
    """Questions of a known confusion: it does so too rarely with 3 of 200, which is why it is said."""
    rng, shares = np.random.default_rng(4), dict[int, float]()
    for rare in (3, 8):
        true = np.array([[170, 29, 1], [40, 150, 10], [0.1, 0.4, 0.5]])
        true *= [[(200 - rare) / 400], [(200 - rare) / 400], [rare]]
        drawn = rng.multinomial(200, true.ravel() / true.sum(), size=300)
        again = np.stack([rng.multinomial(200, one / 200, size=400) for one in drawn]).reshape(300, 400, 3, 3)
        low, high = np.quantile(macro_f1(again.astype(float)), [0.025, 0.975], axis=1)
        shares[rare] = float(np.mean((low <= macro_f1(true)) & (macro_f1(true) <= high)))
    assert shares[3] < 0.88
    assert shares[8] > 0.9
