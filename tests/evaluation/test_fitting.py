"""Fitting: deterministic, on as few verdicts as there are, and pairs of words only where questions are alike."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from evaluation.calibrated_towns import calibrated_towns, prepared_towns
from judging_texts import known

from haystack_integrations.crag.evaluation.crossings import fit_crossing
from haystack_integrations.crag.evaluation.fitting import fit
from haystack_integrations.crag.evaluation.holding_out import judged_by
from haystack_integrations.crag.evaluation.labelled import LabelledList, Prepared, prepare
from haystack_integrations.crag.evaluation.regressions import best_priors, class_probabilities, fit_head
from haystack_integrations.crag.judging.calibration import Calibration
from haystack_integrations.crag.judging.heads import Values
from haystack_integrations.crag.judging.judge import CROSSED
from haystack_integrations.crag.judging.reading import shared_reader

FEW = 60
"""Lists, of too few questions for pairs of words."""


def with_verdicts(lists: list[Prepared], *verdicts: str) -> list[Prepared]:
    """Those lists whose verdict is one of these."""
    return [each for each in lists if each.source.verdict in verdicts]


def test_the_same_questions_give_the_same_calibration() -> None:
    """Nothing is drawn at random."""
    lists = prepared_towns()[:120]
    assert fit(lists).to_dict() == fit(lists).to_dict()


def test_pairs_of_words_are_learned_where_questions_are_alike() -> None:
    """`founder` is answered by "was begun", not by what is said of bread."""
    crossing = calibrated_towns().calibration.crossing
    assert crossing is not None
    weights = crossing.weights
    assert weights["founder"]["was begun"] > 0 > weights["founder"]["flat loav"]
    assert weights["bread"]["flat loav"] > 0 > weights["bread"].get("was begun", -1)
    assert {"founder", "harvest", "river", "mayor", "bread"} <= crossing.words


def trained(questions: Sequence[str]) -> Values | None:
    """
    Scores of texts that tell where somebody was trained, or do not, by pairs that have not met them.

    No name stands in two questions, so that only the way of telling one can be learned: `in NAME`.
    """
    begins = ["".join(two) for two in product("Bar Cel Dov Fen Gar Hol Jas Kir Lum Mor".split(), "ba di fo gu".split())]
    lists = []
    for number, (begin, end) in enumerate(product(begins, ("mann", "sund", "vik"))):
        name, told = f"{begin}{end}", number % 2 == 0
        where = f"{begin}ilde" if told else f"{begin}ilde".lower()
        text = f"{name} was trained in {where} and wore {'red' if number % 3 else 'blue'} on the roads."
        question = questions[number % len(questions)].format(name=name)
        lists.append(LabelledList(str(number), question, ((name, text),), (2 if told else 1,), None, number))
    grades, groups = np.array([each.grades[0] for each in lists]), np.arange(len(lists))
    found = fit_crossing(prepare(lists, shared_reader(), known()), grades, groups, np.ones(len(lists), bool))
    return None if found[0] is None else found[1]


ALIKE = "In what pleasant quiet old town across our big country was {name} once trained?"


def test_that_a_name_is_told_is_seen_in_names_never_met() -> None:
    """Since runs of words say that there is one, not which."""
    scores = trained([ALIKE])
    assert scores is not None
    assert scores[::2].min() > scores[1::2].max()


def test_words_that_few_questions_share_teach_no_pairs() -> None:
    """However many words these are: the other questions would be judged by what was learned of them."""
    assert trained([ALIKE, "{name}?"]) is not None
    assert trained([ALIKE, "{name}?", "{name}?"]) is None


def test_few_questions_teach_no_pairs() -> None:
    """There is nothing to learn them from; the rest is fitted, and reads no signal of theirs."""
    few = fit(prepared_towns()[:FEW])
    assert few.crossing is None
    assert CROSSED not in {*few.topic.names, *few.answers.names}


@pytest.mark.parametrize("verdicts", [("correct", "incorrect"), ("correct", "ambiguous"), ("ambiguous", "incorrect")])
def test_two_verdicts_are_told_apart(verdicts: tuple[str, ...]) -> None:
    """The third one has no probability and is never told."""
    lists = with_verdicts(prepared_towns(), *verdicts)
    calibration = fit(lists)
    assert calibration.classes == verdicts
    told = [judged_by(each, calibration)[0] for each in lists]
    assert {said.verdict for said in told} == set(verdicts)
    assert all(sum(said.probabilities[name] for name in verdicts) == pytest.approx(1) for said in told)


def test_a_fold_that_met_one_verdict_tells_that_one() -> None:
    """All questions of the other one may stand in the fold that is held out."""
    for verdict in ("correct", "ambiguous", "incorrect"):
        lists = with_verdicts(prepared_towns(), verdict)
        said, _ = judged_by(lists[0], fit(lists))
        assert said.verdict == verdict
        assert said.probabilities[verdict] > 0.9


def test_cut_lists_teach_how_a_gap_looks_and_nothing_else() -> None:
    """What judges documents and verdicts stays as it is, to the last digit; without them there is no such part."""
    lists = prepared_towns()
    uncut = [each for each in lists if not each.source.is_cut]
    one, other = fit(lists), fit(uncut)
    assert other.covered is None
    assert one.covered is not None
    assert replace(one, covered=None).to_dict() == other.to_dict()
    assert Calibration.from_dict(one.to_dict()).to_dict() == one.to_dict()
    said = {each.source.is_cut: list[float]() for each in lists}
    for each in lists:
        if each.source.is_cut or each.source.verdict == "correct":
            said[each.source.is_cut].append(judged_by(each, one)[0].covered)
    assert np.mean(said[True]) < np.mean(said[False]) - 0.3
    conclusion, _ = judged_by(next(each for each in uncut if each.source.verdict == "correct"), other)
    assert conclusion.covered == conclusion.probabilities["correct"]


def test_the_signal_that_only_the_shipped_model_reads_is_not_fitted_on() -> None:
    """It says what `bm25_sum` says, for a corpus nothing is known of."""
    one = fit(prepared_towns())
    for head in (one.topic, one.answers, one.sufficient):
        assert head is not None
        assert "bm25_sum" in head.names
        assert "bm25_damped" not in head.names


def test_a_list_without_a_verdict_teaches_documents() -> None:
    """Heads of documents change with it, and it gets no say in the verdicts."""
    lists = prepared_towns()[:FEW]
    one, other = fit([each for each in lists if each.source.verdict is not None]), fit(lists)
    assert one.answers.to_dict() != other.answers.to_dict()
    assert one.classes == other.classes


def test_a_head_that_met_one_label_always_says_it() -> None:
    """As a probability that is nearly sure."""
    table = np.arange(6.0).reshape(3, 2)
    for label, said in ((True, 0.98), (False, 0.02)):
        head = fit_head(("a", "b"), table, np.array([label] * 3), 1.0)
        assert head.of_rows(table) == pytest.approx([said] * 3, abs=0.01)


def test_probabilities_are_spread_over_classes_that_a_fold_never_met() -> None:
    """Those have none; where one class was met, it has all."""
    table = np.arange(8.0).reshape(4, 2)
    labels = np.array([0, 2, 0, 2])
    said = class_probabilities(fit_head(("a", "b"), table, labels, 1.0), table, labels, 3)
    assert said[:, 1].tolist() == [0.0] * 4
    assert said.sum(axis=1) == pytest.approx([1.0] * 4)
    alone = np.array([0] * 4)
    assert class_probabilities(fit_head(("a", "b"), table, alone, 1.0), table, alone, 3)[:, 0].tolist() == [1.0] * 4


def test_factors_make_up_for_a_rare_verdict() -> None:
    """One that is never the likeliest is told where it is likelier than elsewhere."""
    probabilities = np.array([[0.9, 0.1]] * 90 + [[0.6, 0.4]] * 10)
    priors = best_priors(probabilities, np.array([0] * 90 + [1] * 10))
    assert priors[1] > 1.5
    assert best_priors(np.eye(2)[[0, 1] * 20], np.array([0, 1] * 20)) == pytest.approx((1, 1), rel=0.1)


def test_what_the_probabilities_expect_counts_beside_the_labels() -> None:
    """A draw without any rare verdict, where four in ten were to be expected, does not take them for impossible."""
    probabilities = np.array([[0.9, 0.1]] * 90 + [[0.6, 0.4]] * 10)
    assert best_priors(probabilities, np.zeros(100, dtype=int))[1] > 1.2
