"""What the comparison calibrates: on no question that it asks, nor on one about the same source; each time the same."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from evaluation.towns import write_towns

from haystack_integrations.crag.evaluation.groups import wording
from haystack_integrations.crag.evaluation.reading import read_dataset

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
if not PEERS.is_dir():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)

APART, COUNT = 8, 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of towns, two questions about each, whose answers stand in the documents that answer; and one too small."""
    place = tmp_path_factory.mktemp("datasets")
    for name, count in (("towns", COUNT), ("few", 40)):
        write_towns(place / name, count=count)
        texts = {row["id"]: row["text"] for row in lines(place / name / "corpus.jsonl")}
        queries = place / name / "dev" / "queries.jsonl"
        rows = [{**row, "answers": [texts[row["gold"][0]].rstrip(".").split()[-1]]} for row in lines(queries)]
        queries.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return place


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where these tests keep what they calibrate."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def calibrations(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Any:
    """The module, with few questions kept apart."""
    monkeypatch.syspath_prepend(PEERS / "adapters")
    monkeypatch.syspath_prepend(PEERS)
    monkeypatch.setenv("CRAG_PEERS_DIR", str(cache))
    module = import_module("calibrations")
    monkeypatch.setattr(module, "APART", APART)
    return module


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def sources(data: Any, case: Any) -> set[str]:
    """What names the sources of a question."""
    labelled = (*case.gold, *case.partial)
    return {*labelled, *(data.passages[name].title for name in labelled), wording(case.question)}


@pytest.mark.parametrize("asked", [1, APART, 20])
def test_nothing_that_is_asked_is_calibrated_on_nor_anything_about_its_sources(
    asked: int, folder: Path, calibrations: Any
) -> None:
    """Of those kept apart, be fewer or more asked than that; what is about other sources is used."""
    data = read_dataset(folder / "towns", "dev", least=1)
    rest = calibrations.not_asked(data, asked)
    told, _ = import_module("tasks").read(folder, ["towns"], asked)
    apart = {task.case.id for task in told.values()}
    assert len(apart) == asked
    assert apart.isdisjoint(case.id for case in rest.cases)
    seen = set().union(*(sources(data, case) for case in data.cases if case.id in apart))
    assert all(seen.isdisjoint(sources(data, case)) for case in rest.cases)
    assert COUNT - 2 * max(asked, APART) <= len(rest.cases) <= COUNT - max(asked, APART)


def test_all_parts_measure_the_same_calibration(folder: Path, calibrations: Any) -> None:
    """However few questions they ask."""
    data = read_dataset(folder / "towns", "dev", least=1)
    assert calibrations.not_asked(data, 1) == calibrations.not_asked(data, APART)


def test_a_calibration_is_made_once_and_made_anew_is_the_same(
    folder: Path, cache: Path, calibrations: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the byte; and what is told of it stands in it."""
    (place,), told = calibrations.calibrated(folder, ["towns"], 1)
    first = {path.name: path.read_bytes() for path in place.iterdir()}
    assert place.name == "towns"
    assert place.is_relative_to(cache)
    assert told["towns"]["apart"] + told["towns"]["questions"] == COUNT
    assert sum(told["towns"]["labels"].values()) == told["towns"]["questions"]
    assert 0 < told["towns"]["held_out_f1"]["low"] <= told["towns"]["held_out_f1"]["value"]
    with monkeypatch.context() as patch:
        patch.setattr(calibrations, "calibrate", None)
        assert calibrations.calibrated(folder, ["towns"], 1) == ([place], told)
    monkeypatch.setenv("CRAG_PEERS_DIR", str(tmp_path / "another"))
    (again,), _ = calibrations.calibrated(folder, ["towns"], 1)
    assert again != place
    assert {path.name: path.read_bytes() for path in again.iterdir()} == first


def test_a_set_that_leaves_too_few_questions_is_told(
    folder: Path, calibrations: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `crag calibrate` says it; the run goes on without the system."""
    failed = import_module("environments").SystemFailed
    with pytest.raises(failed, match="not calibrated on few: a calibration needs 40 labelled questions"):
        calibrations.calibrated(folder, ["few"], 1)
    monkeypatch.setattr(calibrations, "APART", COUNT)
    with pytest.raises(failed, match="but got 0"):
        calibrations.calibrated(folder, ["towns"], 1)


def test_a_run_judges_by_the_calibration_and_says_on_what_it_was_made(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole run, with the real worker."""
    run, out = import_module("run"), tmp_path / "results"
    options = ["--sets", "towns", "--questions", str(APART), "--parts", "quality", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["run.py", str(folder), *options, "--systems", "cascade_rag_calibrated"])
    run.main()
    result = json.loads((out / "quality.json").read_text("utf-8"))
    assert result["failed"] == {}
    told = result["systems"]["cascade_rag_calibrated"]["calibrations"]
    assert told["towns"]["questions"] >= COUNT - 2 * APART
    right = result["figures"]["cascade_rag_calibrated"][0]
    assert right["n"] == APART
    assert "error" not in right["outcomes"]
    assert right["verdict_f1"]["value"] > 0


def test_a_cascade_is_scored_by_the_files_of_its_set(folder: Path, calibrations: Any) -> None:
    """Its own calibration, and how rare words are in its corpus."""
    (place,), _ = calibrations.calibrated(folder, ["towns"], 1)
    ours = import_module("adapters.ours")
    scorer: Any = ours.loaded("cascade_rag", ours.scored_by(place)).pipeline.get_component("scorer")
    row = lines(folder / "towns" / "dev" / "queries.jsonl")[0]
    found = [{"id": "one", "text": "A town.", "title": "Town"}]
    report = scorer.run(query=row["question"], documents=ours.documents_of(found))["report"]
    assert report["calibrated"] is True
    assert report["signals"]["set"]["statistics"] == "file"


def test_a_set_that_is_refused_beside_others_is_judged_by_what_ships(folder: Path, calibrations: Any) -> None:
    """As the refusal advises; it is told why."""
    (_, place), told = calibrations.calibrated(folder, ["towns", "few"], 1)
    assert told["few"]["refused"].startswith("a calibration needs 40 labelled questions")
    ours = import_module("adapters.ours")
    scorer: Any = ours.loaded("cascade_rag", ours.scored_by(place)).pipeline.get_component("scorer")
    report = scorer.run(query="Where is it?", documents=ours.documents_of([{"id": "one", "text": "A town."}]))["report"]
    assert report["calibrated"] is False
    cells = import_module("page_calibrated")._cells(told["few"])
    assert cells[2] == "refused"
    assert cells[3].startswith("a calibration needs 40 labelled questions")
