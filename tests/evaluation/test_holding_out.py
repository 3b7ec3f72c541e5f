"""Held-out figures: no question is judged by what has seen it, or its source."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from evaluation.calibrated_towns import calibrated_towns, prepared_towns, towns
from evaluation_records import record

from haystack_integrations.crag.errors import EvaluationError
from haystack_integrations.crag.evaluation.crossings import fit_crossing
from haystack_integrations.crag.evaluation.holding_out import LIMITS, figures, held_out, risk_realised
from haystack_integrations.crag.evaluation.labelled import Prepared
from haystack_integrations.crag.evaluation.limits import limit_rows
from haystack_integrations.crag.evaluation.regressions import splits

SOME = 160
"""Lists that are held out twice: enough for each fold to learn from."""


@cache
def held_towns() -> tuple[list[dict], list[int]]:
    """The records of some lists, and their folds."""
    return held_out(prepared_towns()[:SOME])


def poisoned(lists: list[Prepared], groups: set[int]) -> list[Prepared]:
    """The same lists, with all labels of some groups wrong: who follows them must have seen them."""
    wrong = {"correct": "incorrect", "ambiguous": "correct", "incorrect": "correct", None: None}
    return [
        each
        if each.source.group not in groups
        else replace(
            each,
            source=replace(
                each.source,
                grades=tuple(2 - grade for grade in each.source.grades),
                verdict=wrong[each.source.verdict],
            ),
        )
        for each in lists
    ]


def said(records: list[dict]) -> dict[str, tuple]:
    """What was said of each question, without its labels."""
    return {
        each["id"]: (each["verdict"], each["probabilities"], [one["score"] for one in each["documents"]])
        for each in records
    }


def test_a_group_is_never_on_both_sides() -> None:
    """Neither in the folds nor in what is held out of them."""
    groups = np.array([each.source.group for each in prepared_towns()])
    for train, test in splits(groups):
        assert not set(groups[train]) & set(groups[test])
    judged = [each for each in prepared_towns() if each.source.verdict is not None]
    _, folds = held_towns()
    by_group: dict[int, set[int]] = {}
    for each, fold in zip(judged, folds, strict=False):
        by_group.setdefault(each.source.group, set()).add(fold)
    assert {len(found) for found in by_group.values()} == {1}
    assert len(by_group) < len(folds)


def test_processes_that_fit_folds_side_by_side_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With gap lists, in the order of the questions."""
    lists = prepared_towns()[:SOME]
    gaps = {each.source.id: each for each in lists[:3]}
    alone, folds = held_out(lists, gaps)
    monkeypatch.setattr("haystack_integrations.crag.evaluation.holding_out.WORTH_WORKERS", 1)
    assert held_out(lists, gaps, workers=2) == (alone, folds)
    assert sum(record["gap"] is not None for record in alone) == sum(
        each.source.id in gaps for each in lists if each.source.verdict
    )


class Fatal:
    """Ends the process that it is handed to, when the others have been started."""

    def __reduce__(self) -> tuple:
        return eval, ("__import__('time').sleep(2) or __import__('os').abort()",)


def test_a_process_that_dies_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the system takes it for want of memory."""
    monkeypatch.setattr("haystack_integrations.crag.evaluation.holding_out.WORTH_WORKERS", 1)
    with pytest.raises(EvaluationError, match=r"one of 2 processes died, .*run the same command again"):
        held_out(prepared_towns()[:SOME], {"": Fatal()}, workers=2)


def test_a_questions_labels_change_nothing_in_what_is_said_of_it() -> None:
    """What nobody has seen cannot be repeated: with other labels the same is said; of other questions it is not."""
    lists = prepared_towns()[:SOME]
    before, folds = held_towns()
    judged = [each for each in lists if each.source.verdict is not None]
    fold = {each.source.group for each, number in zip(judged, folds, strict=True) if number == 0}
    after, _ = held_out(poisoned(lists, fold))
    ours = {each.source.id for each in judged if each.source.group in fold}
    one, other = said(before), said(after)
    assert {name: one[name] for name in ours} == {name: other[name] for name in ours}
    assert any(one[name] != other[name] for name in one.keys() - ours)


def test_pairs_of_words_are_scored_by_those_that_have_not_seen_the_question() -> None:
    """The verdict learns from these scores, so they must be as good as on a new question, and no better."""
    lists = prepared_towns()
    grades = np.array([grade for each in lists for grade in each.source.grades])
    groups = np.array([each.source.group for each in lists for _ in each.source.grades])
    own, every = groups == groups[np.flatnonzero(grades == 2)[0]], np.ones(len(grades), bool)
    swapped = np.where(own & (grades > 0), 3 - grades, grades)
    _, before = fit_crossing(lists, grades, groups, every)
    _, after = fit_crossing(lists, swapped, groups, every)
    assert np.array_equal(before[own], after[own])
    assert not np.array_equal(before, after)


def test_the_figures_are_plain_and_complete() -> None:
    """For the file, the table and the report; without gap lists there are no figures on gaps."""
    found = calibrated_towns().figures
    assert found["n"] == 120
    assert found["verdict"]["macro_f1"] > 0.9
    assert found["ece"] < 0.15
    assert (found["gaps"], found["gaps_at_10_percent"]) == (None, None)
    between = found["intervals"]["verdict.macro_f1"]
    assert 0.75 < between["low"] <= found["verdict"]["macro_f1"] <= between["high"] <= 1
    assert [each["limit"] for each in found["wrong_generate"]] == list(LIMITS)
    assert 0 <= found["calls_saved_at_2_points"] <= 1
    assert len(found["cost_curve"]) < 100


def test_the_cost_curve_goes_by_the_probability_of_the_verdict_told() -> None:
    """As the gate of a cascade does: a rare verdict may be told though another one is likelier, and is sent early."""
    said = {"correct": 0.6, "ambiguous": 0.1, "incorrect": 0.3}
    unsure = record("q0", "correct", "incorrect", probabilities=said)
    sure = [record(f"q{n}", "correct", "correct", probabilities={**said, "correct": 0.5}) for n in (1, 2, 3, 4)]
    found = figures([{**one, "needed": 1} for one in (unsure, *sure)], [0, 1, 2, 3, 4], {})
    assert found["cost_curve"][1] == {"share_sent": 0.2, "macro_f1": 1.0, "threshold": 0.5}
    assert found["calls_saved_at_2_points"] == 0.8


def test_what_is_wrong_without_a_limit_is_counted_and_told() -> None:
    """The file without a limit answers whatever is likeliest to be correct: that may be wrong every second time."""
    said = {"probabilities": {"correct": 0.5, "ambiguous": 0.2, "incorrect": 0.3}, "needed": 1}
    labels = ["correct"] * 6 + ["incorrect"] * 4
    records = [{**record(f"q{n}", label, "correct"), **said} for n, label in enumerate(labels)]
    records += [{**record(f"r{n}", "incorrect", "incorrect"), **said} for n in range(4)]
    found = figures(records, [n % 5 for n in range(14)], {})
    assert (found["without_limit"]["generated"], found["without_limit"]["wrong"]) == (10, 4)
    told = limit_rows(found, None)["answers without a limit"]
    assert told == "40.0% wrong among 10 answered (12.2% to 73.8%)"
    assert limit_rows({}, 0.5) == {"limit in the file": "correct from a probability of 0.50 on"}


def test_held_out_records_name_their_documents_as_the_corpus_does() -> None:
    """Who looks into a wrong decision must find what was judged."""
    _, ranked = towns()
    for one in calibrated_towns().records:
        names = [each["id"] for each in one["documents"]]
        assert names == list(ranked[one["id"]].retrieved[: len(names)])


def test_a_limit_that_was_asked_for_is_tried_too() -> None:
    """Its realised share is told beside the usual ones."""
    records = calibrated_towns().records
    folds, groups = [n % 5 for n in range(len(records))], {each["id"]: each["id"] for each in records}
    found = figures(records, folds, groups, [0.15])
    assert [each["limit"] for each in found["wrong_generate"]] == [0.05, 0.1, 0.15, 0.2]


def test_a_threshold_is_counted_on_the_fold_that_did_not_choose_it() -> None:
    """A fold whose scores are all wrong shows it, whatever the others say."""
    records = [
        record(f"q{fold}-{n}", "incorrect" if fold == 0 else "correct", probabilities={"correct": 0.9})
        for fold in range(5)
        for n in range(40)
    ]
    folds = [fold for fold in range(5) for _ in range(40)]
    found = risk_realised(records, folds, 0.2)
    assert found["wrong"] == 40
    assert found["share"] == pytest.approx(1.0)


def test_the_interval_of_wrong_answers_knows_of_sources_as_all_others_do() -> None:
    """Whole sources go wrong: 10 of 40 questions alone tell more than 2 of 8 sources."""
    records = [
        {**one, "id": f"q{n}", "verdict": "correct", "label": "incorrect" if n // 5 in (0, 1) else "correct"}
        for n, one in enumerate(calibrated_towns().records[:40])
    ]
    folds, sources = [n // 5 % 5 for n in range(40)], {one["id"]: n // 5 for n, one in enumerate(records)}
    alone, together = (figures(records, folds, by)["without_limit"] for by in ({}, sources))
    assert alone["share"] == together["share"] == 0.25
    assert together["high"] > alone["high"] + 0.1
    assert risk_realised(records, folds, 0.9, sources)["high"] > risk_realised(records, folds, 0.9)["high"]


def test_what_was_never_called_correct_is_no_matter_of_a_limit() -> None:
    """It stays what it was, however loose the limit is."""
    sure = [record(f"sure-{n}", probabilities={"correct": 0.9}) for n in range(100)]
    others = [record(f"other-{n}", "ambiguous", "ambiguous", probabilities={"correct": 0.4}) for n in range(100)]
    folds = [number % 5 for number in range(200)]
    found = risk_realised(sure + others, folds, 0.5)
    assert (found["n"], found["generated"], found["wrong"]) == (200, 100, 0)
    assert risk_realised(others, folds[:100], 0.5)["share"] is None
