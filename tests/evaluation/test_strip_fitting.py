"""Fitting the sentence model: it learns what evidence looks like, and says how well it does on unseen questions."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.evaluation.cases import Case, Dataset, Passage, RankedList
from haystack_integrations.crag.evaluation.strip_fitting import best_threshold, fit_measured, fit_strips, kept_above
from haystack_integrations.crag.evaluation.strip_lists import Kept, StripList, measured, strip_lists
from haystack_integrations.crag.evaluation.strips import Sentences
from haystack_integrations.crag.refining.model import StripModel
from haystack_integrations.crag.refining.signals import SIGNALS

PLACES = "Arden Belmont Corvin Dunmore Elstow Farley Gorton Harwick Iverley Jarrow Kelso Lorton Marden Norwood".split()
KINDS = ("tower", "bridge", "mill")


def made_up() -> Dataset:
    """42 buildings; the second sentence of a building's page says when it was opened, and nothing else answers."""
    passages, cases = {}, []
    for kind in KINDS:
        for number, place in enumerate(PLACES):
            name, year = f"{kind}-{number}", 1800 + 7 * number
            sentences = (
                f"The {kind} of {place} stands by the river.",
                f"It was opened in {year} by the mayor.",
                "Many visitors come in summer.",
                f"Bread is baked in {place} daily.",
            )
            passages[name] = Passage(name, f"{place} {kind}", " ".join(sentences), sentences)
    for number, place in enumerate(PLACES):
        for kind in KINDS:
            names = (f"{kind}-{number}", *(f"{other}-{number}" for other in KINDS if other != kind))
            gold = frozenset({(names[0], 1)})
            question = f"When was the {kind} of {place} opened?"
            cases.append(Case(names[0], question, (), (names[0],), (), gold, fixed=RankedList(names)))
    cases.append(Case("unlabelled", "Who bakes?", fixed=RankedList(("mill-0",))))
    cases.append(Case("not-retrieved", "Who baked?", gold_sentences=frozenset({("mill-1", 3)}), fixed=RankedList(())))
    return Dataset(Path("made-up"), "dev", passages, tuple(cases))


@pytest.fixture(scope="module")
def lists() -> list[StripList]:
    """Its lists; the three questions on one place stay together."""
    dataset = made_up()
    return strip_lists(dataset, [number // 3 for number in range(len(dataset.cases))])


@pytest.fixture(scope="module")
def part(lists: list[StripList]) -> dict[str, Any]:
    """The fitted model, as it comes out of a file."""
    return dict(json.loads(json.dumps(fit_strips(lists, {"trained_on": "buildings"}))))


def test_only_questions_with_labelled_sentences_and_a_list_count(lists: list[StripList]) -> None:
    """Without labels a sentence that is not marked may still be evidence."""
    assert len(lists) == len(PLACES) * len(KINDS)
    assert lists[0].gold == {(0, 1)}
    assert [end > start for start, end, _ in lists[0].sentences[0]] == [True] * 4


def test_a_title_above_a_text_is_no_strip_to_learn_from(lists: list[StripList]) -> None:
    """A refiner cuts it off, too, in texts of `crag index`."""
    dataset = made_up()
    texts = {name: replace(one, text=f"{one.title}\n\n{one.text}") for name, one in dataset.passages.items()}
    below = strip_lists(replace(dataset, passages=texts), range(len(dataset.cases)))[0]
    assert below.texts != lists[0].texts
    assert [strip.text for strip in measured(below).strips] == [strip.text for strip in measured(lists[0]).strips]
    assert measured(below).table.tolist() == measured(lists[0]).table.tolist()


def test_a_strip_is_evidence_where_it_overlaps_a_labelled_sentence(lists: list[StripList]) -> None:
    """And a sentence is kept when all strips that hold it are."""
    each = measured(lists[0])
    assert each.table.shape == (12, len(SIGNALS))
    assert np.flatnonzero(each.evidence).tolist() == [1]
    assert each.parts == tuple((number,) for number in range(12))
    whole = replace(lists[0], sentences=(((0, len(lists[0].texts[0][1]), 21),), (), ()), gold=frozenset({(0, 0)}))
    assert measured(whole).evidence.tolist() == [True] * 4 + [False] * 8
    assert measured(whole).parts == ((0, 1, 2, 3),)


def test_it_learns_what_evidence_looks_like(part: dict[str, Any], lists: list[StripList]) -> None:
    """On questions that it has not seen, at a threshold that was chosen without them."""
    assert part["held_out"]["questions"] == len(lists)
    assert part["held_out"]["f1"] > 0.9
    assert part["trained_on"] == "buildings"
    shares = [entry["words_kept"] for entry in part["shares"]]
    assert shares == sorted(shares)


def test_the_component_keeps_what_the_fit_counted(tmp_path: Path, part: dict[str, Any], lists: list[StripList]) -> None:
    """One way of measuring at fit time and at run time: the same sentences, by two ways of counting."""
    file = tmp_path / "calibration.json"
    file.write_text(json.dumps({"format": "crag-calibration", "version": 3, "strips": part}))
    refiner, dataset = StripRefiner(scorer="calibrated", calibration=str(file)), made_up()
    places, model = Sentences(dataset.passages), StripModel.from_dict(part)
    by_component, by_fit = np.zeros(3, dtype=int), Kept()
    for case, each in zip(dataset.cases, lists, strict=False):
        names = case.fixed.retrieved if case.fixed else ()
        documents = [dataset.passages[name].document() for name in names]
        told = places.count(case, names, refiner.run(query=case.question, documents=documents)["documents"])
        by_component += [told["hits"], told["kept"], told["words_kept"]]
        row = measured(each)
        by_fit += kept_above([row], [model.head.of_rows(row.table)], model.threshold)
    assert by_component.tolist() == [by_fit.hits, by_fit.kept, by_fit.words_kept]


def test_where_no_strip_passes_the_best_is_counted(lists: list[StripList]) -> None:
    """As the component does."""
    row = measured(lists[0])
    kept = kept_above([row], [np.linspace(0, 0.1, 12)], 0.5)
    assert (kept.kept, kept.hits, kept.labelled) == (1, 0, 1)


def test_the_threshold_is_where_f1_is_best(lists: list[StripList]) -> None:
    """In the middle of the range that tells all evidence from all the rest."""
    rows = [measured(each) for each in lists[:5]]
    said = [np.where(row.evidence, 0.8, 0.3) for row in rows]
    assert 0.3 <= best_threshold(rows, said) < 0.8


def test_too_few_questions_are_refused(lists: list[StripList]) -> None:
    """With how many there were, and how many it takes."""
    with pytest.raises(ConfigurationError, match=r"at least 20 questions with gold_sentences, .* but got 19"):
        fit_strips(lists[:19])
    without = [replace(each, gold=frozenset()) for each in lists]
    with pytest.raises(ConfigurationError, match="got 42 and 0 of them with a labelled sentence in its list"):
        fit_strips(without)


@pytest.mark.parametrize(("sources", "said"), [(1, "about 1 source, but"), (2, "about 2 sources, but at least 3")])
def test_questions_about_too_few_sources_are_refused(lists: list[StripList], sources: int, said: str) -> None:
    """Too little could be held out; a calibration then has no sentence model, and is not lost."""
    with pytest.raises(ConfigurationError, match=said):
        fit_strips([replace(each, group=number % sources) for number, each in enumerate(lists)])


def test_three_sources_are_enough(lists: list[StripList]) -> None:
    """Each stage then learns from what was held out."""
    assert fit_strips([replace(each, group=number % 3) for number, each in enumerate(lists)])["held_out"]["f1"] > 0.9


def test_a_list_without_text_does_no_harm(lists: list[StripList]) -> None:
    """It has no strips, and its labels were not found."""
    empty = replace(lists[0], texts=(("Nothing", ""),), sentences=((),), gold=frozenset())
    rows = [measured(each) for each in [*lists, empty]]
    assert rows[-1].table.shape == (0, len(SIGNALS))
    assert fit_measured(rows)["held_out"]["questions"] == len(rows)
