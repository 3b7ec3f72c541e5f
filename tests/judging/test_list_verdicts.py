"""From probabilities of documents to a verdict on the list."""

from dataclasses import replace
from itertools import product
from math import log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_texts import ODDS, calibration, head

from haystack_integrations.crag.judging.heads import Head
from haystack_integrations.crag.judging.judge import decide
from haystack_integrations.crag.judging.likely import PLACES, joined, likely_of, listed

_chances = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.9999, 1 - 1e-13, 1.0])), min_size=1, max_size=8)


def number_of(chances: list[float], wanted: int) -> float:
    """The probability that exactly so many are true, over all ways that it can come about."""
    ways = product((False, True), repeat=len(chances))
    return sum(
        prod(chance if is_true else 1 - chance for chance, is_true in zip(chances, way, strict=True))
        for way in ways
        if sum(way) == wanted
    )


def odds_of(chance: float) -> float:
    """Log-odds, of at least one in a thousand and at most all but one."""
    inside = min(0.999, max(0.001, chance))
    return log(inside) - log(1 - inside)


@given(chances=_chances)
def test_the_odds_that_any_and_that_two_answer_are_those_of_all_ways_added_up(chances: list[float]) -> None:
    """Noisy-or and Poisson-binomial; also where one is sure."""
    values = np.array(chances)
    found = listed(values, values, values)
    assert found["answers_any"] == pytest.approx(1 - number_of(chances, 0), abs=1e-9)
    assert found["topic_any"] == found["answers_any"]
    two = 1 - number_of(chances, 0) - number_of(chances, 1)
    assert found["answers_two"] == pytest.approx(max(0.0, two), abs=1e-9)
    assert found["answers_expected"] == pytest.approx(sum(chances))


@given(
    st.lists(st.tuples(*[st.floats(0.01, 0.99)] * 3), min_size=1, max_size=8),
    st.sampled_from([1.0, 0.5]),
)
def test_every_signal_of_a_list_is_the_one_that_its_name_says(rows: list[tuple[float, ...]], part: float) -> None:
    """Written down once more, from the probabilities sorted by hand."""
    answers, topic, sufficient = ([row[n] * part for row in rows] for n in range(3))
    ordered, on_topic = (sorted(values, reverse=True) for values in (answers, topic))
    places = [min(k, len(rows) - 1) for k in range(PLACES)]
    by_topic = sorted(range(len(rows)), key=lambda n: (-topic[n], n))
    any_answers, any_topic = 1 - number_of(answers, 0), 1 - number_of(topic, 0)
    two = max(0.0, any_answers - number_of(answers, 1))
    wanted = {
        **{f"answers_{k + 1}": odds_of(ordered[place]) for k, place in enumerate(places)},
        **{f"topic_{k + 1}": odds_of(on_topic[place]) for k, place in enumerate(places)},
        "answers_gap": ordered[0] - ordered[places[1]],
        "topic_gap": on_topic[0] - on_topic[places[1]],
        "answers_any": any_answers,
        "answers_any_odds": odds_of(any_answers),
        "topic_any": any_topic,
        "topic_any_odds": odds_of(any_topic),
        "answers_expected": sum(answers),
        "topic_expected": sum(topic),
        "answers_two": two,
        "answers_two_odds": odds_of(two),
        "answers_both": ordered[0] * ordered[places[1]],
        "topic_only": max(on - answer for on, answer in zip(topic, answers, strict=True)),
        "answers_first": answers[0],
        "topic_first": topic[0],
        "sufficient_best": sufficient[by_topic[0]],
        "sufficient_second": sufficient[by_topic[1]] if len(rows) > 1 else 0.0,
        "sufficient_mean": sum(s * on for s, on in zip(sufficient, topic, strict=True)) / sum(topic),
        "sufficient_most": max(s if on > 0.5 else 0.0 for s, on in zip(sufficient, topic, strict=True)),
    }
    assert listed(np.array(answers), np.array(topic), np.array(sufficient)) == pytest.approx(wanted, abs=1e-9)


def test_one_document_that_surely_answers_is_not_two() -> None:
    """However sure."""
    assert listed(np.array([1.0]), np.array([1.0]), np.array([1.0]))["answers_two"] == 0.0


@pytest.mark.parametrize("size", range(1, 11))
def test_a_list_of_any_length_has_the_same_signals(size: int) -> None:
    """The best documents in order; a short list repeats its last one."""
    values = np.linspace(0.9, 0.1, size)
    found = listed(values[::-1], values[::-1], values[::-1])
    assert set(found) == set(listed(np.ones(1), np.ones(1), np.ones(1)))
    places = [found[f"answers_{k + 1}"] for k in range(PLACES)]
    assert places == sorted(places, reverse=True)
    assert places[0] == pytest.approx(np.log(9))
    assert places[-1] == pytest.approx(np.log(values[min(size, PLACES) - 1] / (1 - values[min(size, PLACES) - 1])))
    assert found["answers_first"] == values[-1]
    assert all(np.isfinite(list(found.values())))


def test_sufficiency_is_told_of_the_documents_most_on_topic() -> None:
    """The best, the second, the mean by topic, the most among those rather on topic than not."""
    found = listed(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.9, 0.6]), np.array([0.8, 0.3, 0.5]))
    assert (found["sufficient_best"], found["sufficient_second"], found["sufficient_most"]) == (0.3, 0.5, 0.5)
    assert found["sufficient_mean"] == pytest.approx((0.8 * 0.4 + 0.3 * 0.9 + 0.5 * 0.6) / 1.9)
    assert found["topic_only"] == pytest.approx(0.7)
    assert found["answers_both"] == pytest.approx(0.06)


def test_no_document_is_likelier_to_answer_than_to_be_on_topic() -> None:
    """Neither asked directly nor step by step; the two ways count alike."""
    both = joined(np.array([0.8, 0.9]), np.array([0.5, 0.2]), np.array([0.4, 1.0]))
    assert both.answers.tolist() == pytest.approx([0.5, 0.2])
    assert joined(np.array([0.2]), np.array([0.5]), np.array([0.4])).answers.tolist() == pytest.approx([0.2])
    direct = likely_of([{"covered": 0.0, "pairs": 1.0}], calibration(answers=head({"pairs": 9.0})))
    assert direct.answers.tolist() == direct.topic.tolist()
    assert both.scores() == [0.5, 0.2]


def test_the_likeliest_verdict_holds() -> None:
    """And the probabilities are told for all three."""
    verdict, chances = decide(np.array([0.5, 0.3, 0.2]), calibration())
    assert (verdict, chances) == ("correct", {"correct": 0.5, "ambiguous": 0.3, "incorrect": 0.2})


def test_priors_make_up_for_rare_verdicts_without_changing_a_probability() -> None:
    """A factor for each class."""
    verdict, chances = decide(np.array([0.5, 0.3, 0.2]), calibration(priors=(1.0, 2.0, 1.0)))
    assert (verdict, chances["ambiguous"]) == ("ambiguous", 0.3)


@pytest.mark.parametrize(("least", "verdict"), [(0.5, "correct"), (0.51, "ambiguous"), (0.0, "correct")])
def test_with_a_conformal_threshold_correct_must_be_sure_enough(least: float, verdict: str) -> None:
    """Below it the likeliest other verdict holds; above it nothing becomes `correct` that was not."""
    assert decide(np.array([0.5, 0.3, 0.2]), calibration(correct_from=least))[0] == verdict
    assert decide(np.array([0.1, 0.3, 0.6]), calibration(correct_from=0.05))[0] == "incorrect"
    assert decide(np.array([0.5, 0.3, 0.2]), calibration(correct_from=0.1, priors=(0.1, 9.0, 1.0)))[0] == "ambiguous"


def test_a_calibration_of_two_classes_gives_the_third_no_chance() -> None:
    """One row of weights: the probability of the second class."""
    two = Head(ODDS[:1], np.zeros(1), np.ones(1), np.array([[1.0]]), np.zeros(1))
    trained = calibration(verdict=two, classes=("correct", "incorrect"), priors=(1.0, 1.0))
    verdict, chances = decide(two.probabilities([{"answers_1": 1.0}])[0], trained)
    assert verdict == "incorrect"
    assert chances == pytest.approx({"correct": 0.2689, "ambiguous": 0.0, "incorrect": 0.7311}, abs=1e-4)
    assert decide(np.array([0.45]), trained)[0] == "correct"
    limited = replace(trained, correct_from=0.6)  # not sure enough is no reason to call a list off topic
    assert [decide(np.array([chance]), limited)[0] for chance in (0.35, 0.45, 0.55)] == [
        "correct",
        "ambiguous",
        "incorrect",
    ]
    none_correct = replace(trained, classes=("ambiguous", "incorrect"), correct_from=0.5)
    assert decide(np.array([0.3]), none_correct)[0] == "ambiguous"
