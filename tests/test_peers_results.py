"""The result files of the comparison: a run adds what is not measured yet, and mixes nothing that is not alike."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"
if not PEERS.is_dir():
    pytest.skip("the benchmarks are not part of the source distribution", allow_module_level=True)
sys.path.insert(0, str(PEERS))

from result_files import Results  # noqa: E402

TASKS = [{"set": "island"}, {"set": "island"}]


def results(
    folder: Path, *, k: tuple[int, ...] = (3, 10), timed: int = 1, at_goals: int = 1, again: bool = False
) -> Results:
    """The file of the part cost, opened by a run."""
    given = {"out": folder, "datasets": Path("data"), "sets": ["island"], "questions": 2, "timed": timed}
    given |= {"at_goals": at_goals}
    return Results("cost", argparse.Namespace(**given, k=list(k), again=again), TASKS)


def measure(file: Results, system: str = "corrective_rag", version: str = "1") -> None:
    """Measure what is missing, as a run does."""
    file.add(system, {"thing": version}, [{**asdict(arm), "n": 2} for arm in file.missing(system)])


def held(folder: Path) -> dict[str, Any]:
    """What stands in the file."""
    return dict(json.loads((folder / "cost.json").read_text("utf-8")))


def test_what_is_measured_is_not_measured_again(tmp_path: Path) -> None:
    """A run that was stopped goes on with the other systems."""
    measure(results(tmp_path))
    again = results(tmp_path)
    assert again.missing("corrective_rag") == []
    assert len(again.missing("agent_rag")) == 10


def test_a_run_with_another_k_adds_to_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order of k, with both commands."""
    monkeypatch.setattr("sys.argv", ["run.py", "data", "--k", "3", "10"])
    measure(results(tmp_path))
    monkeypatch.setattr("sys.argv", ["run.py", "data", "--k", "5"])
    more = results(tmp_path, k=(5,))
    assert {arm.k for arm in more.missing("corrective_rag")} == {5}
    measure(more)
    found = held(tmp_path)
    ks = [row["k"] for row in found["figures"]["corrective_rag"]]
    assert ks == sorted(ks) == [row["k"] for row in found["settings"]["arms"]] == [3] * 5 + [5] * 5 + [10] * 5
    assert [run["command"][-5:] for run in found["runs"]] == [" 3 10", "--k 5"]


def test_more_questions_for_the_same_arm_are_another_measurement(tmp_path: Path) -> None:
    """They are refused, and replace what is there where that is asked for."""
    measure(results(tmp_path))
    with pytest.raises(SystemExit, match="pass --again"):
        results(tmp_path, timed=2)
    assert len(results(tmp_path, timed=2, again=True).missing("corrective_rag")) == 10


def test_more_questions_are_timed_where_a_goal_is_about_the_seconds(tmp_path: Path) -> None:
    """At 0.3 s a call and k = 10, and nowhere else."""
    asked = results(tmp_path, timed=1, at_goals=5).asked
    assert {(arm.k, arm.a) for arm in asked if arm.questions == 5} == {(10, 0.3)}
    assert [arm.questions for arm in asked if arm.k == 10] == [2, 5, 1, 5, 1]
    assert [arm.questions for arm in asked if arm.k == 3] == [2, 1, 1, 1, 1]


def test_more_questions_for_some_arms_take_the_place_of_those_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of all systems, so that no column holds figures of other questions; all else stays, and is not asked again."""
    for system in ("corrective_rag", "agent_rag"):
        measure(results(tmp_path), system)
    with pytest.raises(SystemExit, match="pass --again"):
        results(tmp_path, k=(10,), at_goals=2)
    assert capsys.readouterr().out == ""
    measure(results(tmp_path, k=(10,), at_goals=2, again=True))
    assert "k=10 a=0.3 of 1" in capsys.readouterr().out
    found = held(tmp_path)
    assert [row["questions"] for row in found["figures"]["corrective_rag"]] == [2, 1, 1, 1, 1, 2, 2, 1, 2, 1]
    assert [(row["k"], row["a"]) for row in found["figures"]["agent_rag"] if row["k"] == 10] == [
        (10, 0.0),
        (10, 0.0),
        (10, 1.0),
    ]
    assert len(results(tmp_path, at_goals=2).missing("agent_rag")) == 2
    assert results(tmp_path, at_goals=2).missing("corrective_rag") == []


def test_another_calibration_is_not_mixed_in(tmp_path: Path) -> None:
    """It would be another system; what is told of it stands beside the versions."""
    file = results(tmp_path)
    told = {"island": {"questions": 90}}
    file.add("cascade_rag_calibrated", {}, [{**asdict(arm), "n": 2} for arm in file.asked], told)
    assert held(tmp_path)["systems"]["cascade_rag_calibrated"]["calibrations"] == told
    other = results(tmp_path, k=(5,))
    with pytest.raises(SystemExit, match="'questions': 80"):
        other.add("cascade_rag_calibrated", {}, [], {"island": {"questions": 80}})


def test_another_version_of_a_system_is_not_mixed_in(tmp_path: Path) -> None:
    """Its figures would not be of one thing."""
    measure(results(tmp_path))
    with pytest.raises(SystemExit, match="'thing': '2'"):
        measure(results(tmp_path, k=(5,)), version="2")


def test_what_another_process_measured_meanwhile_stays(tmp_path: Path) -> None:
    """Both opened the file before either wrote."""
    one, other = results(tmp_path), results(tmp_path)
    measure(one)
    measure(other, "agent_rag")
    assert set(held(tmp_path)["figures"]) == set(held(tmp_path)["systems"]) == {"corrective_rag", "agent_rag"}


def test_one_system_can_be_measured_again_beside_the_others(tmp_path: Path) -> None:
    """All others that are asked for are measured again, too; none is lost before."""
    measure(results(tmp_path))
    measure(results(tmp_path), "agent_rag")
    again = results(tmp_path, again=True)
    assert len(again.missing("corrective_rag")) == 10
    measure(again, version="2")
    assert again.missing("corrective_rag") == []
    assert len(again.missing("agent_rag")) == 10
    versions = {name: one["versions"] for name, one in held(tmp_path)["systems"].items()}
    assert versions == {"corrective_rag": {"thing": "2"}, "agent_rag": {"thing": "1"}}
    assert [row["k"] for row in held(tmp_path)["figures"]["corrective_rag"]] == [3] * 5 + [10] * 5


def test_what_is_measured_again_takes_no_other_figure_with_it(tmp_path: Path) -> None:
    """Neither those of another k, nor those of other systems."""
    measure(results(tmp_path))
    measure(results(tmp_path), "agent_rag")
    measure(results(tmp_path, k=(10,), again=True))
    found = held(tmp_path)
    for system in ("corrective_rag", "agent_rag"):
        assert [row["k"] for row in found["figures"][system]] == [3] * 5 + [10] * 5
    assert [row["k"] for row in found["settings"]["arms"]] == [3] * 5 + [10] * 5


def test_part_of_a_system_measured_again_with_another_version_is_refused(tmp_path: Path) -> None:
    """The other part is of the old version."""
    measure(results(tmp_path))
    with pytest.raises(SystemExit, match="'thing': '2'"):
        measure(results(tmp_path, k=(10,), again=True), version="2")
