"""The calibration file: what is written is read, and what is none says what is wrong and what to do."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_texts import REFUNDS, calibration, head, measured

from haystack_integrations.crag.calibration_file import FORMAT, VERSION
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.judging.calibration import Calibration, load_calibration
from haystack_integrations.crag.judging.crossing import Crossing
from haystack_integrations.crag.vocabulary import JUDGED

FULL = calibration(
    sufficient=head({"pairs": 2.0}),
    crossing=Crossing(frozenset({"born"}), {"born": {"in YEAR": 1.5}}, -0.5),
    priors=(1.0, 2.0, 0.5),
    correct_from=0.6,
    retrievers=("bm25", "dense"),
    notes={"strips": {"threshold": 0.5}, "measured": {"macro_f1": 0.5}},
)


def write(path: Path, content: object) -> str:
    """A file of JSON."""
    path.write_bytes(orjson.dumps(content))
    return str(path)


SUMS = [62.307, 18.98, 16.996, 16.576, 16.63, 18.235]  # of the signals of version 3


def test_the_version_goes_up_with_the_signals() -> None:
    """A file that was fitted to other ones would judge by weights that mean something else; the names are checked."""
    water = "L'eau de la fontaine coûte 3,50 € depuis le 2 mai 2024, dit Straße & Co. Anna's report.txt tells why."
    shop = [("Shop", text) for text in REFUNDS]
    found = measured("Combien coûte l'eau chez Anna depuis 2024?", ("Prix", water), *shop)
    sums = [sum(each.values()) for each in (*found.documents, found.together)]
    assert VERSION == 3
    assert sums == pytest.approx(SUMS, abs=2e-3)


_shares = st.floats(0.01, 10)


@given(
    priors=st.tuples(_shares, _shares, _shares),
    least=st.none() | st.floats(0, 1),
    parts=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    retrievers=st.lists(st.text(max_size=5)).map(tuple),
    notes=st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=3),
)
def test_a_calibration_is_the_same_after_a_file(
    priors: Any, least: float | None, parts: Any, retrievers: Any, notes: dict[str, int]
) -> None:
    """With and without each part that may be missing; what else it tells stays."""
    sufficient, crossing = (
        part if is_there else None for part, is_there in zip((FULL.sufficient, FULL.crossing), parts[:2], strict=True)
    )
    one = replace(
        FULL,
        **{"priors": priors, "correct_from": least, "sufficient": sufficient, "crossing": crossing},
        **{"is_calibrated": parts[2], "retrievers": retrievers, "notes": notes},
    )
    two = Calibration.from_dict(orjson.loads(orjson.dumps(one.to_dict())))
    assert two.to_dict() == one.to_dict()
    assert (two.priors, two.correct_from, two.is_calibrated) == (priors, least, parts[2])
    assert (two.retrievers, two.notes, two.crossing) == (retrievers, notes, crossing)


def test_the_shipped_model_says_that_it_is_not_calibrated() -> None:
    """And what it was fitted on; it takes lists of all retrievers."""
    shipped = load_calibration()
    assert shipped is load_calibration()
    assert (shipped.is_calibrated, shipped.retrievers, shipped.correct_from) == (False, (), None)
    assert shipped.notes["trained_on"]


def test_each_signal_of_the_shipped_model_speaks_for_a_document() -> None:
    """Or says nothing; none means another thing in a longer list, as a rank does, or is missing without a title."""
    shipped = load_calibration()
    for each in (shipped.answers, shipped.topic):
        assert (each.weights >= 0).all()
        assert not any(name.endswith(("_standing", "_above")) or "title" in name for name in each.names)


def test_a_file_is_read_once_until_it_changes(tmp_path: Path) -> None:
    """Also where it is replaced within a tick of the clock."""
    path = write(tmp_path / "own.json", FULL.to_dict())
    first = load_calibration(path)
    assert load_calibration(path) is first
    write(tmp_path / "own.json", replace(FULL, priors=(1.0, 1.0, 0.25)).to_dict())
    assert load_calibration(path).priors == (1.0, 1.0, 0.25)
    for prior in (2.0, 3.0, 4.0):
        write(tmp_path / "new.json", replace(FULL, priors=(prior, 1.0, 1.0)).to_dict())
        (tmp_path / "new.json").replace(tmp_path / "own.json")
        assert load_calibration(path).priors[0] == prior


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a shell."""
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "own.json", FULL.to_dict())
    assert load_calibration("~/own.json").retrievers == FULL.retrievers


def _without(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        for name in path[:-1]:
            content = content[name]
        del content[path[-1]]

    return change


def _with(value: object, *path: str) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        for name in path[:-1]:
            content = content[name]
        content[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_with("crag-corpus-statistics", "format"), f"needs \"format\": '{FORMAT}'"),
        (_with(1, "version"), "has version 1, but version 3 is wanted"),
        (_without("version"), "has version None"),
        (_without("documents"), "no part 'documents'"),
        (_without("verdict"), "no part 'verdict'"),
        (_without("documents", "topic"), "is damaged: KeyError 'topic'"),
        (_without("documents", "crossing"), "is damaged: KeyError 'crossing'"),
        (_without("verdict", "correct_from"), "is damaged: KeyError"),
        (_with(["correct", "maybe"], "verdict", "classes"), "classes must be two or three of"),
        (_with(["correct"], "verdict", "classes"), "classes must be two or three of"),
        (_with(["correct", "correct", "incorrect"], "verdict", "classes"), "classes must be two or three of"),
        (_with(["correct", "incorrect"], "verdict", "classes"), "priors must be 2 numbers"),
        (_with([1.0, 0.0, 1.0], "verdict", "priors"), "priors must be 3 numbers > 0"),
        (_with({"a": [0, 1]}, "verdict", "model", "signals"), "one for each bias"),
        (_with({}, "verdict", "model", "signals"), "one for each bias"),
        (_with({"signals": {"a": [0, 1, 2, 3]}, "biases": [0, 1]}, "documents", "topic"), "'topic' must have 1 biases"),
        (_with({"signals": {"a": [0, 1, 2]}, "biases": [0]}, "verdict", "model"), "'verdict' must have 3 biases"),
        (_with({"signals": {"a": [0, 0, 2]}, "biases": [0]}, "documents", "answers"), "scales > 0"),
        (_with({"words": ["a"], "weights": {"a": {"b": "x"}}, "bias": 0}, "documents", "crossing"), "is damaged"),
        (_with([1, 2], "documents"), "is damaged"),
        (_with("0.5", "verdict", "correct_from"), "correct_from must be a finite number, but got '0.5'"),
        (_with(True, "verdict", "correct_from"), "correct_from must be a finite number, but got True"),
        (_with([0.5], "verdict", "correct_from"), "correct_from must be a finite number, but got [0.5]"),
        (_with(-5, "verdict", "correct_from"), "correct_from must be null or a number from 0 to 1, but got -5"),
        (_with(1.01, "verdict", "correct_from"), "correct_from must be null or a number from 0 to 1"),
        (_with([True, 1.0, 1.0], "verdict", "priors"), "a prior must be a finite number, but got True"),
        (_with("false", "calibrated"), "calibrated must be true or false, but got 'false'"),
        (_with("bm25", "retrievers"), "retrievers must be a list of texts, but got 'bm25'"),
        (_with([1], "retrievers"), "retrievers must be a list of texts, but got [1]"),
        (_with("nan", "documents", "crossing", "bias"), "the bias of a crossing must be a finite number"),
        (_with("inf", "documents", "crossing", "weights", "born", "in YEAR"), "the weight of 'in YEAR' must be"),
        (_with("born", "documents", "crossing", "words"), "the words of a crossing must be a list of texts"),
        (_with(["born", 7], "documents", "crossing", "words"), "the words of a crossing must be a list of texts"),
        (_with({"start": "nan", "trees": []}, "documents", "topic", "trees"), "the start of trees must be a finite"),
    ],
)
def test_a_damaged_file_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    """When the component is warmed up, before any question."""
    content = json.loads(json.dumps(FULL.to_dict()))
    change(content)
    path = write(tmp_path / "own.json", content)
    with pytest.raises(ConfigurationError) as caught:
        HeuristicGrader(calibration=path).warm_up()
    assert said in str(caught.value)
    assert path in str(caught.value)
    assert "write it again with `crag calibrate" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"7", b'{"format": "crag"}', b"x" * 100])
def test_a_file_that_is_none_says_so(tmp_path: Path, content: bytes) -> None:
    """No JSON, or JSON of something else."""
    (tmp_path / "own.json").write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"is no (readable JSON|calibration file).*; write it again with"):
        load_calibration(str(tmp_path / "own.json"))


def test_a_missing_file_and_a_folder_say_so(tmp_path: Path) -> None:
    """With the way out of each."""
    with pytest.raises(ConfigurationError, match=r"'none.json' cannot be read \(No such file.*; correct the path"):
        load_calibration("none.json")
    for path in ("~nobody-by-this-name/own.json", "own\0.json"):
        with pytest.raises(ConfigurationError, match=r"cannot be read \(.*; correct the path"):
            load_calibration(path)
    with pytest.raises(ConfigurationError, match=r"cannot be read \(it is a folder\); correct the path"):
        load_calibration(str(tmp_path))


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path, part: float) -> None:
    """As a full disk leaves it."""
    whole = orjson.dumps(FULL.to_dict())
    (tmp_path / "own.json").write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(ConfigurationError, match="no readable JSON"):
        load_calibration(str(tmp_path / "own.json"))


def test_a_file_whose_limit_was_changed_in_an_editor_is_read(tmp_path: Path) -> None:
    """As `crag calibrate` has people do; some editors put a mark in front, and end lines as on Windows."""
    content = FULL.to_dict()
    content["verdict"]["correct_from"] = 0.93
    text = "\ufeff" + orjson.dumps(content, option=orjson.OPT_INDENT_2).decode().replace("\n", "\r\n")
    (tmp_path / "own.json").write_bytes(text.encode())
    assert load_calibration(str(tmp_path / "own.json")).correct_from == 0.93


def test_the_classes_are_the_three_verdicts() -> None:
    """In the order that files have them."""
    assert JUDGED == ("correct", "ambiguous", "incorrect") == FULL.classes
