"""The trained sentence model: honest signals, probabilities, and a file that is checked before it is believed."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.refining.model import StripModel, enough, load_strip_model
from haystack_integrations.crag.refining.signals import SIGNALS, measure
from haystack_integrations.crag.refining.strips import Strip, decompose

QUESTION = "When did the iron tower open?"
PAGES = ["Paris has many sights. The iron tower did open in 1889. Bread is baked daily.", "", "Bees make honey."]
TITLES = ["Iron tower", "", "Bees"]
PIECES = [
    "The iron tower opened.",
    "Iron.",
    "\u5854\u57281889\u5e74\u3002",
    "\n\n",
    "?",
    "``",
    "1889",
    "\x00",
    "\ud800",
]


def strips_of(texts: list[str]) -> list[Strip]:
    """Strips of one document."""
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    return [Strip(0, int(start), int(start) + len(text), text) for start, text in zip(starts, texts, strict=False)]


def shipped() -> dict[str, Any]:
    """The content of a file with the shipped model as its sentence model."""
    return {"format": "crag-calibration", "version": 3, "strips": load_strip_model().to_dict()}


def written(folder: Path, content: Any) -> str:
    """A calibration file."""
    file = folder / "calibration.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def test_the_sentence_that_answers_is_the_most_probable() -> None:
    """By the shipped model, on a page that nobody fitted it on."""
    strips = decompose(PAGES, "sentence", 3)
    probabilities = load_strip_model().probabilities(QUESTION, strips, TITLES)
    assert len(probabilities) == len(strips)
    assert strips[int(np.argmax(probabilities))].text == "The iron tower did open in 1889."
    assert all(0 <= probability <= 1 for probability in probabilities)


@pytest.mark.parametrize(
    ("query", "alone", "among"),
    [
        (
            "When did the iron tower open?",
            [0.6791, 0.5012, 0.1208, 0.0015, 0.0121, 0.0004, 0.0116],
            [0.7875, 0.5122, 0.124, 0.0044, 0.0119, 0.0029, 0.0105],
        ),
        (
            "How many levels has the tower of the engineer?",
            [0.1043, 0.054, 0.4748, 0.0029, 0.0428, 0.0005, 0.0016],
            [0.12, 0.074, 0.6016, 0.0081, 0.0294, 0.0016, 0.0031],
        ),
    ],
)
def test_the_shipped_model_is_told_what_it_was_fitted_on(query: str, alone: list[float], among: list[float]) -> None:
    """A signal that is measured in another way makes it worse, in silence: fit it again, then write these anew."""
    pages = [
        "The iron tower was built by Gustave Eiffel. It did open in May 1889, after two. It is lit at three levels.",
        "He was born in Dijon. The engineer opened an office in 1866.",
        "Bees make honey. They did open 12 hives of iron.",
    ]
    strips, titles = decompose(pages, "sentence", 3), ["Iron tower", "Gustave Eiffel", "Bees"]
    model = load_strip_model()
    assert model.probabilities(query, strips, titles) == pytest.approx(alone, abs=2e-4)
    assert model.probabilities(query, strips, titles, alone=False) == pytest.approx(among, abs=2e-4)


def test_in_company_a_weak_strip_counts_for_less_beside_a_strong_one() -> None:
    """By the second stage, which reads what the first says of the others; a threshold goes by the first."""
    model = load_strip_model()
    strips = decompose(PAGES, "sentence", 3)
    alone, among = (np.array(model.probabilities(QUESTION, strips, TITLES, alone=alone)) for alone in (True, False))
    assert alone.tolist() == model.probabilities(QUESTION, strips, TITLES)
    best = int(alone.argmax())
    assert int(among.argmax()) == best
    assert among[best] / among.sum() != pytest.approx(alone[best] / alone.sum(), rel=0.01)
    rest = [place for place in range(len(strips)) if place != best]
    without = model.probabilities(QUESTION, [strips[k] for k in rest], TITLES, alone=False)
    assert sum(without) > among[rest].sum()


@pytest.mark.parametrize(
    ("tokenised", "plain"),
    [
        ("The tower did n't open in 1889 .", "The tower didn't open in 1889."),
        ("It opened , `` at last '' , in May ( 1889 ) .", 'It opened, "at last", in May (1889).'),
        ("Paris 's one - year fair : iron !", "Paris's one-year fair: iron!"),
    ],
)
def test_signals_do_not_feed_on_surface_form(tokenised: str, plain: str) -> None:
    """Tokenised corpora put spaces before punctuation; that says nothing about evidence."""
    for title in ("Iron tower", "Tower ( iron )"):
        one, two = (
            measure(QUESTION, strips_of(["Bread is baked.", text, "Bees."]), [each], load_encoder())
            for text, each in ((tokenised, title), (plain, title.replace("( ", "(").replace(" )", ")")))
        )
        for name in SIGNALS:
            np.testing.assert_allclose(one[name], two[name], atol=1e-6, err_msg=name)


def test_signals_of_a_tokenised_question_are_those_of_a_plain_one() -> None:
    """Both sides are made alike."""
    one, two = (
        measure(query, decompose(PAGES, "sentence", 3), TITLES, load_encoder())
        for query in ("Did n't the tower , of iron , open ?", "Didn't the tower, of iron, open?")
    )
    for name in SIGNALS:
        np.testing.assert_allclose(one[name], two[name], atol=1e-6, err_msg=name)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6), st.sampled_from(["", "Iron", "?", "Iron (x)"]))
def test_signals_are_finite_and_complete_whatever_is_asked_and_found(texts: list[str], title: str) -> None:
    """Also for odd texts, and questions of stop words only."""
    for query in (QUESTION, "who was it", "\u5854", "1889 - ?"):
        signals = measure(query, strips_of(texts), [title], load_encoder())
        assert sorted(signals) == sorted(SIGNALS)
        assert np.isfinite(np.column_stack(list(signals.values()))).all()
        assert all(values.shape == (len(texts),) for values in signals.values())


def test_a_second_hop_is_seen() -> None:
    """A strip that names another document, and the document that is named, are told apart from the rest."""
    pages = ["The iron tower was built by Gustave Eiffel.", "He was born in Dijon.", "Bees make honey."]
    signals = measure(
        "Where was the builder of the iron tower born?",
        decompose(pages, "sentence", 3),
        ["Iron tower", "Gustave Eiffel", "Bees"],
        load_encoder(),
    )
    assert signals["links_out"].tolist() == [1, 0, 0]
    assert signals["links_in"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("query", "cue", "seen"),
    [
        ("When did the tower of 1889 open?", "answers_when", [0, 0, 1, 1, 0, 0]),
        ("How many towers opened in 1889?", "answers_how_many", [0, 1, 1, 0, 1, 0]),
    ],
)
def test_a_strip_with_a_number_or_date_that_the_question_lacks_has_what_it_asks_for(
    query: str, cue: str, seen: list[float]
) -> None:
    """A figure, a number in words or a month; the question's own year says nothing. To other questions it is none."""
    strips = strips_of(
        [
            "It opened in 1889.",
            "It has 300 steps.",
            "They began in May 1887.",
            "It was in May.",
            "Two were built.",
            "Bees.",
        ]
    )
    signals = measure(query, strips, ["Tower"], load_encoder())
    assert signals[cue].tolist() == seen
    (other,) = {"answers_when", "answers_how_many"} - {cue}
    assert not signals[other].any()


def test_a_question_without_any_word_speaks_against_no_strip() -> None:
    """As with the other scorers."""
    assert load_strip_model().probabilities("?", decompose(PAGES, "sentence", 3), TITLES) == [1.0] * 4
    assert load_strip_model().probabilities(QUESTION, [], []) == []


def test_enough_strips_are_those_that_promise_most_per_word() -> None:
    """A share of the sum of probabilities, in few words."""
    strips = strips_of(["one two three four", "one", "one two"])
    probabilities = {0: 0.5, 1: 0.2, 2: 0.3}
    assert enough(probabilities, strips, 0.2) == [1]
    assert enough(probabilities, strips, 0.5) == [1, 2]
    assert enough(probabilities, strips, 1.0) == [1, 2, 0]


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    """Rounded to five digits, once."""
    model = load_strip_model(written(tmp_path, shipped()))
    assert StripModel.from_dict({**model.to_dict(), "made_of": "towns"}).to_dict()["made_of"] == "towns"
    assert model.to_dict() == load_strip_model().to_dict() == StripModel.from_dict(model.to_dict()).to_dict()


def test_a_rewritten_file_is_read_again(tmp_path: Path) -> None:
    """A calibration may be renewed while a server runs."""
    content = shipped()
    first = load_strip_model(written(tmp_path, content))
    content["strips"]["threshold"] = 0.77
    file = Path(written(tmp_path, content))
    later = file.stat().st_mtime_ns + 10**9
    os.utime(file, ns=(later, later))
    assert (first.threshold, load_strip_model(str(file)).threshold) == (load_strip_model().threshold, 0.77)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"is no readable JSON \(JSONDecodeError\); write it again with `crag calibrate DIR"),
        ("[]", "is no calibration file: it needs \"format\": 'crag-calibration'"),
        ({"format": "crag-calibration", "version": 1, "strips": {}}, "has version 1, but version 3 is wanted"),
        ({"format": "crag-calibration", "version": 3}, "has no part 'strips', which scorer='calibrated' needs"),
        ({"format": "crag-calibration", "version": 3, "strips": {"threshold": 0.5}}, "is damaged: KeyError"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    """With what was got and the way out."""
    with pytest.raises(ConfigurationError, match=message):
        load_strip_model(written(tmp_path, content))


@pytest.mark.parametrize("given", ["", " ", "."])
def test_a_folder_or_an_empty_text_is_no_calibration(given: str) -> None:
    """The message said that an empty one takes what is shipped; an empty text named the working directory."""
    with pytest.raises(ConfigurationError, match=r"cannot be read \(.*\); correct the path, or leave calibration out"):
        load_strip_model(given)


@pytest.mark.parametrize("given", ["", " "])
def test_an_empty_text_is_not_looked_for_in_the_working_directory(given: str) -> None:
    """There may be a model."""
    with pytest.raises(ConfigurationError, match=r"is no folder; .* leave model out for the shipped"):
        load_encoder(given)


def test_a_signal_that_is_not_measured_here_is_refused(tmp_path: Path) -> None:
    """The file is of another version of this package."""
    content = shipped()
    content["strips"]["model"]["signals"]["colour"] = [0, 1, 1]
    with pytest.raises(ConfigurationError, match=r"is damaged: ValueError unknown signals \['colour'\]"):
        load_strip_model(written(tmp_path, content))
    content = shipped()
    content["strips"]["company"]["signals"].pop("beside")
    with pytest.raises(ConfigurationError, match=r"is damaged: ValueError company must read \['own', 'before'"):
        load_strip_model(written(tmp_path, content))
    content = shipped()
    content["strips"]["threshold"] = 3
    with pytest.raises(ConfigurationError, match="is damaged: ValueError threshold must be in"):
        load_strip_model(written(tmp_path, content))


def test_a_file_that_is_not_there_is_refused() -> None:
    """At warm-up, or at the first run."""
    with pytest.raises(ConfigurationError, match=r"`crag calibrate` wrote, but 'nowhere\.json' cannot"):
        load_strip_model("nowhere.json")
