"""The numbers of an evaluation: exact on small records, None where a measure does not apply."""

import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from evaluation_records import CLASSES, documents, gap, record, verdicts
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.evaluation.gaps import gap_recall_at, two_scales
from haystack_integrations.crag.evaluation.measures import (
    filter_measures,
    summarise,
    verdict_measures,
    whole_result,
)
from haystack_integrations.crag.evaluation.probabilities import (
    adaptive_ece,
    ece_by_chance,
    probability_measures,
    reliability_curve,
)

NAMES: dict[str, Any] = {"dataset": "d", "split": "s", "pipeline": None, "grader": "g", "lists": "fixed"}
PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)
BINS = st.integers(1, 12)


def test_the_result_has_the_published_keys_and_null_where_nothing_applies() -> None:
    """Other tools read them; a measure without data is never 0."""
    result = summarise([], **NAMES)
    assert result == {
        **NAMES,
        "n": 0,
        "verdict": {"accuracy": None, "macro_f1": None, "confusion": None},
        "filter": {"precision": None, "recall": None, "f1": None, "of_first": None},
        "strips": {"precision": None, "recall": None, "f1": None, "words_kept": None},
        "answer_support": {"before": None, "after": None, "accidental": None},
        "gaps": {"recall": None, "false_alarms": None},
        "cost": dict.fromkeys(("llm_calls", "tokens_in", "tokens_out", "words_to_generator", "seconds")),
        "first": None,
    }


def test_macro_f1_is_the_mean_over_the_classes_that_occur() -> None:
    """Correct has 2 of 2 found and 3 said: F1 .8; ambiguous 1 of 2 found and 1 said: F1 2/3; nothing is incorrect."""
    pairs = [("correct", "correct"), ("correct", "correct"), ("ambiguous", "correct"), ("ambiguous", "ambiguous")]
    found = verdict_measures(verdicts(pairs))
    assert found["accuracy"] == 0.75
    assert found["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert found["confusion"]["ambiguous"] == {"correct": 1, "ambiguous": 1, "incorrect": 0}
    assert list(found["confusion"]) == list(CLASSES)


def test_questions_without_label_or_not_strict_are_left_out_of_the_verdict() -> None:
    """They stay in `n`."""
    records = [*verdicts([("correct", "correct"), (None, "correct")]), record("q9", "incorrect", strict=False)]
    result = summarise(records, **NAMES)
    assert (result["n"], result["verdict"]["accuracy"]) == (3, 1.0)


def test_a_failed_question_counts_as_a_wrong_verdict_in_a_column_of_its_own() -> None:
    """Even where the verdict that it happens to carry is right; the column is there only when it is needed."""
    failed = record("q1", "correct", "correct", error="TimeoutError")
    found = verdict_measures([failed, record("q2")])
    assert found["accuracy"] == 0.5
    assert found["confusion"]["correct"] == {"correct": 1, "ambiguous": 0, "incorrect": 0, "ungraded": 1}
    assert "ungraded" not in verdict_measures([record()])["confusion"]["correct"]


def test_the_filter_is_scored_over_all_labelled_documents_of_all_questions() -> None:
    """Three on topic or better, three kept of the labelled, two of them rightly; against answers only one is right."""
    records = [
        record("q1", documents=documents((2, True), (1, False), (0, True), (None, True))),
        record("q2", documents=documents((1, True), (0, False))),
    ]
    found = summarise(records, **NAMES)["filter"]
    assert found == pytest.approx({"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "of_first": 4})
    assert filter_measures(records, least=2) == pytest.approx({"precision": 1 / 3, "recall": 1.0, "f1": 0.5})


def test_nothing_kept_has_no_precision_but_a_recall_of_zero() -> None:
    """Zero divided by zero is not zero."""
    found = filter_measures([record(documents=documents((2, False)))])
    assert found == {"precision": None, "recall": 0.0, "f1": 0.0}


def test_strips_answers_gaps_and_cost_are_summed_over_questions() -> None:
    """Means of cost are per question; a gap list that is partial counts nowhere."""
    cost = {"llm_calls": 2, "tokens_in": None, "tokens_out": None, "words_to_generator": 30, "seconds": 0.5}
    records = [
        record(
            "q1",
            strips={"gold": 2, "kept": 3, "hits": 1, "words_in": 100, "words_kept": 30},
            support={"before": True, "after": True},
            gap=gap("gap", "incorrect", accidental=True),
            cost=cost,
        ),
        record(
            "q2",
            strips={"gold": 2, "kept": 1, "hits": 1, "words_in": 100, "words_kept": 10},
            support={"before": True, "after": False},
            gap=gap("gap", "correct", accidental=False),
            cost={**cost, "llm_calls": 0},
        ),
        record("q3", gap=gap("covered", "ambiguous"), cost=cost),
        record("q4", gap=gap("partial", "incorrect"), cost=cost),
    ]
    result = summarise(records, **NAMES)
    assert result["strips"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "words_kept": 0.2}
    assert result["answer_support"] == {"before": 1.0, "after": 0.5, "accidental": 0.5}
    assert result["gaps"] == {"recall": 0.5, "false_alarms": 1.0}
    expected = {"llm_calls": 1.5, "tokens_in": None, "tokens_out": None, "words_to_generator": 30, "seconds": 0.5}
    assert result["cost"] == expected


def test_gap_recall_is_read_at_a_threshold_that_alarms_on_few_covered_lists() -> None:
    """One of ten covered lists may alarm, so the threshold is the second lowest score of them."""
    covered = [record(f"c{n}", gap=gap("covered", "correct", 0.3 + n / 20)) for n in range(10)]
    gaps = [record(f"g{n}", gap=gap("gap", "correct", score)) for n, score in enumerate((0.1, 0.34, 0.35, 0.9))]
    found = gap_recall_at([*covered, *gaps], 0.1)
    assert found == {"threshold": 0.35, "recall": 0.5, "false_alarms": 0.1}
    assert gap_recall_at(covered) is None


def test_without_a_score_the_verdict_of_a_gap_list_says_whether_it_alarms() -> None:
    """Nothing retrieved has no score, but is a gap that was noticed."""
    covered = [record(f"c{n}", gap=gap("covered", "correct")) for n in range(3)]
    gaps = [record("g1", gap=gap("gap", "incorrect")), record("g2", gap=gap("gap", "correct"))]
    found = gap_recall_at([*covered, *gaps])
    assert found is not None
    assert (found["recall"], found["false_alarms"]) == (0.5, 0.0)
    records = [*covered, *gaps]
    told = whole_result(
        summarise(records, **NAMES), gap_recall_at(records), intervals={}, comparison=None, compared_on=None
    )
    assert told["gaps_at_10_percent"] == {"threshold": None, "recall": 0.5, "false_alarms": 0.0}  # JSON has no infinity


def test_scores_of_two_scales_have_no_threshold() -> None:
    """A calibration's number where a cascade was sure, its model's score where it asked: the reason is told."""
    lists = [record("c", gap=gap("covered", "correct", 0.9)), record("g", gap=gap("gap", "incorrect", 0.2))]
    for one, by in zip(lists, ("covered", "decided"), strict=True):
        one["gap"]["by"] = by
    assert gap_recall_at(lists) is None
    said = two_scales(lists)
    assert said is not None
    assert said.startswith("1 lists were scored by the calibration and 1 by the model that was asked: two scales")
    lists[1]["gap"]["by"] = "covered"
    assert two_scales(lists) is None
    assert gap_recall_at(lists) is not None


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40), st.floats(0, 1))
def test_false_alarms_never_exceed_what_was_allowed(lists: list[tuple[bool, float]], allowed: float) -> None:
    """Whatever the scores, with ties too."""
    records = [record(f"q{n}", gap=gap("covered" if c else "gap", "correct", s)) for n, (c, s) in enumerate(lists)]
    found = gap_recall_at(records, allowed)
    assert found is None or found["false_alarms"] <= allowed + 1e-9


def test_adaptive_ece_is_the_mean_distance_over_bins_of_equal_size() -> None:
    """Two bins of two: .1 said and 0 seen, .8 said and .5 seen."""
    assert adaptive_ece([0.1, 0.1, 0.8, 0.8], [False, False, True, False], bins=2) == pytest.approx(0.2)
    assert reliability_curve([0.1, 0.1, 0.8, 0.8], [False, False, True, False], bins=2) == [
        {"probability": pytest.approx(0.1), "observed": 0.0, "n": 2},
        {"probability": pytest.approx(0.8), "observed": 0.5, "n": 2},
    ]
    assert adaptive_ece([], []) is None


@given(PAIRS, BINS, st.randoms(use_true_random=False))
def test_ece_is_a_share_and_does_not_depend_on_the_order_of_the_questions(
    pairs: list[tuple[float, bool]], bins: int, random: Any
) -> None:
    """Ties included; the bins together hold every question, as evenly as can be."""
    mixed = random.sample(pairs, len(pairs))
    found, again = (adaptive_ece(*zip(*one, strict=True), bins) for one in (pairs, mixed))  # type: ignore[misc]
    assert found is not None
    assert again is not None
    assert 0 <= found <= 1
    assert math.isclose(found, again, abs_tol=1e-9)
    sizes = [point["n"] for point in reliability_curve(*zip(*pairs, strict=True), bins)]  # type: ignore[misc]
    assert sum(sizes) == len(pairs)
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(("number", "off"), [(80, 0.12), (300, 0.06), (1000, 0.03)])
def test_on_few_questions_probabilities_that_hold_seem_off_and_by_how_much_is_told(number: int, off: float) -> None:
    """A calibration error of a tenth says nothing against those of 80 questions; against those of 1,000 it does."""
    chance = np.random.default_rng(0)
    values = 1 / (1 + np.exp(-chance.normal(0.5, 1.5, number)))
    assert ece_by_chance(values) == pytest.approx(off, abs=0.01)
    seen = adaptive_ece(values, chance.random(number) < values)
    assert seen == pytest.approx(off, abs=off)
    assert ece_by_chance(values) == ece_by_chance(values)
    assert ece_by_chance([]) is None


@given(st.lists(st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.booleans()), min_size=1, max_size=40), BINS)
def test_ece_recounted_question_by_question_is_the_same(pairs: list[tuple[float, bool]], bins: int) -> None:
    """
    Bins of as equal a size as can be, the first ones larger by one: how far the mean probability of each is from the
    share seen, weighed by its size. A question counts with what happened on average where its probability was said.
    """
    seen = {said: fmean(happened for other, happened in pairs if other == said) for said, _ in pairs}
    left, off = sorted(said for said, _ in pairs), 0.0
    for rest in range(bins, 0, -1):
        size = -(-len(left) // rest)
        own, left = left[:size], left[size:]
        off += abs(sum(own) - sum(seen[said] for said in own))
    assert adaptive_ece(*zip(*pairs, strict=True), bins) == pytest.approx(off / len(pairs))  # type: ignore[misc]


def test_probabilities_are_measured_against_what_was_correct() -> None:
    """The Brier score is the mean squared distance; failed and unlabelled questions are left out."""
    said = {"correct": 0.8, "ambiguous": 0.1, "incorrect": 0.1}
    records = [record("q1", "correct", probabilities=said), record("q2", "incorrect", probabilities=said)]
    left_out = [record("q3", None, probabilities=said), record("q4", probabilities=said, error="TimeoutError")]
    found = probability_measures([*records, *left_out])
    assert found is not None
    assert (found["n"], found["brier"]) == (2, pytest.approx((0.04 + 0.64) / 2))
    assert found["ece"] == pytest.approx(0.3)
    assert probability_measures([record()]) is None


def test_what_judges_nothing_has_neither_a_verdict_nor_gaps() -> None:
    """Null, not 0: it cannot be wrong. A judge whose grades all failed is."""
    for rule, wanted in (("mode_off", (None, None)), ("grader_failed", (0.0, 1.0))):
        told = {**record("q1", "correct", "ungraded", gap=gap("gap", "ungraded")), "rule": rule}
        result = summarise([told], dataset="d", split="dev", pipeline=None, grader=None, lists="fixed")
        assert (result["verdict"]["macro_f1"], result["gaps"]["recall"]) == wanted


def test_macro_f1_counts_a_class_that_is_told_and_never_true() -> None:
    """As scikit-learn counts: else whoever calls half of all lists ambiguous is not blamed for it."""
    found = verdict_measures(verdicts([("correct", "correct"), ("correct", "ambiguous")]))
    assert found["macro_f1"] == pytest.approx((2 / 3 + 0) / 2)


def test_the_verdict_on_the_first_list_is_measured_beside_that_on_the_last() -> None:
    """Corrections change what is true of a question; one that failed has no first list."""
    corrected = record("q1", "correct", first={"label": "incorrect", "verdict": "incorrect", "score": 0.1})
    plain = record("q2", "correct", first={"label": "correct", "verdict": "incorrect", "score": 0.1})
    result = summarise([corrected, plain, record("q3", None, error="TimeoutError")], **NAMES)
    assert result["verdict"]["accuracy"] == 1.0
    first = result["first"]
    assert (first["accuracy"], first["truth_changed"]) == (0.5, 1)
    assert first["confusion"]["correct"] == {"correct": 0, "ambiguous": 0, "incorrect": 1}
