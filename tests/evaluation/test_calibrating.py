"""A calibration as a whole: what it refuses, what it promises, and that its file says the same as what was fitted."""

import json
import resource
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from evaluation.calibrated_towns import calibrated_towns, prepared_towns, towns
from evaluation.datasets import write_lines
from evaluation.towns import read_towns, write_towns
from evaluation_records import record
from haystack import Document

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.errors import CalibrationError, ConfigurationError
from haystack_integrations.crag.evaluation.calibrating import (
    calibrate,
    check_separable,
    with_lists,
    without_looking,
    write,
)
from haystack_integrations.crag.evaluation.cases import RankedList
from haystack_integrations.crag.evaluation.holding_out import judged_by, risk_realised
from haystack_integrations.crag.evaluation.limits import (
    UnreachableLimitError,
    check_limit,
    limit_rows,
    realised_in_words,
    threshold_for,
)
from haystack_integrations.crag.evaluation.live import fill
from haystack_integrations.crag.judging.calibration import load_calibration


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The calibration file of the towns."""
    path = tmp_path / "my calibration.json"
    write(calibrated_towns(), path)
    return path


def test_the_file_judges_as_what_was_fitted(file: Path, in_memory_store: Any) -> None:
    """Through the grader that reads it, on a store with the corpus, to the fourth digit."""
    fill(in_memory_store, towns()[0])
    grader = HeuristicGrader(calibration=str(file), document_store=in_memory_store)
    judged = [each for each in prepared_towns() if each.source.verdict is not None]
    for each in judged:
        documents = [
            Document(id=str(number), content=text, meta={"title": title})
            for number, (title, text) in enumerate(each.source.texts)
        ]
        result = grader.run(query=each.source.question, documents=documents)
        said, scores = judged_by(each, calibrated_towns().calibration)
        assert result["report"]["verdict"] == {
            "verdict": said.verdict,
            "probabilities": {name: round(p, 4) for name, p in said.probabilities.items()},
            "covered": round(said.covered, 4),
            "correct_from": calibrated_towns().calibration.correct_from,
        }
        assert result["scores"] == scores
        assert result["report"]["calibrated"] is True


def test_the_file_is_small_plain_json(file: Path) -> None:
    """It tells where it comes from, and what it does on questions that it has not seen."""
    content = json.loads(file.read_text())
    assert file.stat().st_size < 400_000
    assert (content["format"], content["version"], content["calibrated"]) == ("crag-calibration", 3, True)
    assert content["trained_on"]["questions"] == 120
    assert sum(content["trained_on"]["labels"].values()) == 120
    assert content["held_out"]["verdict"]["macro_f1"] == calibrated_towns().figures["verdict"]["macro_f1"]
    assert "strips" not in content  # no sentence is labelled
    assert content["retrievers"] == []


def test_a_file_is_written_whole_or_not_at_all(file: Path, tmp_path: Path) -> None:
    """What was there stays when the new one cannot take its place."""
    before, limits = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))  # as a disk that is full
    try:
        with pytest.raises(ConfigurationError, match="cannot write"):
            write(calibrated_towns(), file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    write(calibrated_towns(), file)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_the_threshold_is_stored_and_kept(file: Path) -> None:
    """No verdict is `correct` below it or for it; on the held-out records the share of wrong ones keeps the limit."""
    least = json.loads(file.read_text())["verdict"]["correct_from"]
    assert least == calibrated_towns().calibration.correct_from
    calibration = load_calibration(str(file))
    for each in prepared_towns()[:60]:
        said, _ = judged_by(each, calibration)
        free, _ = judged_by(each, replace(calibration, correct_from=None))
        is_sure = said.probabilities["correct"] >= least
        assert (said.verdict == "correct") == (free.verdict == "correct" and is_sure)
    records = calibrated_towns().records
    called = [each for each in records if each["verdict"] == "correct"]
    chosen = [each["label"] for each in called if each["probabilities"]["correct"] >= least]
    assert np.mean([label != "correct" for label in chosen]) <= 0.2


def test_an_unreachable_limit_is_refused_with_the_reachable_one() -> None:
    """Asked for that, there is a threshold."""
    records = calibrated_towns().records
    with pytest.raises(CalibrationError, match=r"no threshold keeps the share of wrong answers at 0\.001") as caught:
        threshold_for(records, 0.001)
    reachable = float(str(caught.value).partition("can be kept is ")[2].partition(" ")[0])
    threshold = threshold_for(records, reachable)
    assert 0 <= threshold < 1
    named = float(str(caught.value).partition('"correct_from": ')[2].partition(")")[0])
    assert threshold <= named < threshold + 0.0001


def test_a_limit_that_no_judgement_of_these_labels_could_keep_is_refused_at_once() -> None:
    """One more question is taken for wrong: 19 right ones promise one in twenty, and no less."""
    verdicts = ["correct"] * 19 + ["incorrect"] * 40 + [None] * 5
    check_limit(0.05, verdicts)
    check_limit(None, verdicts)
    with pytest.raises(UnreachableLimitError, match=r"19 questions whose .* promise 0\.05 at best.* label 80 more"):
        check_limit(0.01, verdicts)
    perfect = [record(f"q{n}", probabilities={"correct": 0.5 + n / 100}) for n in range(19)]
    assert threshold_for(perfect, 0.05) == 0


def test_a_limit_that_can_be_kept_is_named_as_it_is_whatever_floats_make_of_it() -> None:
    """Six of 99 are wrong, and one more is taken for so: 7 of 100 can be kept, and nobody need allow 8."""
    records = [record(f"q{n}", "correct" if n > 5 else "incorrect", probabilities={"correct": 0.55}) for n in range(99)]
    with pytest.raises(UnreachableLimitError, match=r'can be kept is 0\.07 \(as "correct_from": 0\)'):
        threshold_for(records, 0.01)
    assert threshold_for(records, 0.07) == 0


def test_a_limit_that_is_kept_anyway_takes_nothing_away() -> None:
    """Nor what is less sure than any of these questions: fitted on all of them, a calibration says other numbers."""
    records = [record(f"q{n}", "correct" if n > 9 else "incorrect", probabilities={"correct": 0.5}) for n in range(100)]
    assert threshold_for(records, 0.2) == 0
    others = [{**one, "id": f"o{n}", "probabilities": {"correct": 0.4}} for n, one in enumerate(records)]
    folds = [0] * 100 + [1] * 100
    assert risk_realised([*records, *others], folds, 0.2)["generated"] == 200
    assert limit_rows({}, 0.0, 0.2) == {"limit in the file": "at most 0.2 wrong: takes no verdict away"}


def test_more_wrong_answers_than_the_limit_are_commented() -> None:
    """By chance or not: the lower end of the interval says which."""
    risk = {"limit": 0.1, "generated": 50, "share": 0.08, "low": 0.02, "high": 0.2}
    # Also where the limit is kept: 0 of 3 is kept, and says next to nothing.
    said = "8.0% wrong among 50 answered (2.0% to 20.0%)"
    assert realised_in_words(risk) == said
    assert realised_in_words({**risk, "limit": 0.05}) == (
        f"{said}: above the limit, but within chance; rely on the upper end, not on the limit"
    )
    assert realised_in_words({**risk, "limit": 0.01}).startswith(f"{said}: above the limit by more than chance")
    assert realised_in_words({**risk, "share": None, "generated": 0}) == "nothing called correct"


def test_an_unreachable_limit_does_not_lose_what_was_fitted(tmp_path: Path) -> None:
    """The refusal brings it along, without a limit."""
    data = read_towns(write_towns(tmp_path / "towns", count=60))
    least = 1 / (
        1 + sum(case.fixed is not None and data[0].truth(case, case.fixed, 5) == "correct" for case in data[0].cases)
    )
    with pytest.raises(UnreachableLimitError, match="the smallest that can be kept is") as caught:
        calibrate(*data, most_wrong=least)
    assert caught.value.calibrated.calibration.correct_from is None
    assert caught.value.calibrated.figures["n"] == 60


@pytest.mark.parametrize("seed", [1, 3])
def test_labels_that_nothing_explains_are_refused(tmp_path: Path, seed: int) -> None:
    """
    With what was reached, what one reaches without looking, and how many more questions would tell.

    By chance alone 60 such labels separate now and then, as an interval of 95 % allows: of 40 seeds those of seed 2.
    """
    folder = write_towns(tmp_path / "towns", count=60, shuffled=True, seed=seed)
    with pytest.raises(CalibrationError, match=r"60 questions do not separate.*without a look.*label about 180 more"):
        calibrate(*read_towns(folder))


def test_guessing_is_no_judgement() -> None:
    """Drawing verdicts as often as they are true reaches more macro-F1 than always saying the same."""
    drawn = {"correct": {"correct": 25, "incorrect": 25}, "incorrect": {"correct": 25, "incorrect": 25}}
    assert without_looking(drawn) == pytest.approx(0.5)
    same = {"correct": {"correct": 80, "incorrect": 0}, "incorrect": {"correct": 20, "incorrect": 0}}
    assert without_looking(same) == pytest.approx(0.8 / 1.8)
    bounds = {"verdict.macro_f1": {"low": 0.45, "high": 0.6}}
    found = {"n": 100, "intervals": bounds, "verdict": {"macro_f1": 0.52, "confusion": drawn}}
    with pytest.raises(CalibrationError, match=r"one reaches 0\.50"):
        check_separable(found)
    check_separable({**found, "intervals": {"verdict.macro_f1": {"low": 0.51, "high": 0.6}}})


def test_two_verdicts_are_enough(tmp_path: Path) -> None:
    """Without gap lists, and without labelled sentences."""
    folder = write_towns(tmp_path / "towns", count=80, verdicts=("correct", "incorrect"))
    dataset, ranked = read_towns(folder)
    # No page on the topic: found or not is all there is.
    cases = tuple(replace(case, gold=(*case.gold, *case.partial), partial=()) for case in dataset.cases)
    found = calibrate(replace(dataset, cases=cases), ranked)
    assert found.calibration.classes == ("correct", "incorrect")
    assert found.figures["verdict"]["macro_f1"] > 0.95
    assert (found.strips, found.figures["gaps"], found.calibration.correct_from) == (None, None, None)


def test_lists_of_a_pipeline_take_the_place_of_those_of_the_data() -> None:
    """What was removed from the others then tells nothing: no figures on gaps."""
    dataset, ranked = towns()
    gap = RankedList(("x",), status="gap")
    cases = tuple(replace(case, gap=gap) for case in dataset.cases)
    other = RankedList(tuple(reversed(dataset.cases[0].fixed.retrieved)))
    found = with_lists(replace(dataset, cases=cases), {**ranked, "t0": other}).cases
    assert (found[0].fixed, found[0].gap) == (other, None)
    assert (found[1].fixed, found[1].gap) == (ranked["t1"], gap)


def test_the_order_of_questions_lists_documents_and_labels_changes_nothing(tmp_path: Path) -> None:
    """The same file, digit by digit, and the same figures: what stands where says nothing about a question."""
    chance, folder = Random(11), write_towns(tmp_path / "towns")
    for path in sorted(folder.rglob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        chance.shuffle(rows)
        for row in rows:
            for ids in (row.get("gold", []), row.get("partial", [])):
                chance.shuffle(ids)
        write_lines(path, rows)
    found = calibrate(*read_towns(folder), most_wrong=0.2)
    assert json.dumps(found.to_dict()) == json.dumps(calibrated_towns().to_dict())
    assert found.records == calibrated_towns().records


def test_each_step_is_told(tmp_path: Path) -> None:
    """From nothing to all."""
    told: list[tuple[int, int | None]] = []
    data = read_towns(write_towns(tmp_path / "towns", count=60))
    found = calibrate(*data, retrievers=["bm25"], progress=lambda done, total, _: told.append((done, total)))
    assert found.calibration.retrievers == ("bm25",)
    assert told == [(number, told[-1][0]) for number in range(told[-1][0] + 1)]
