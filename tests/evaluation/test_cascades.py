"""What the shipped cascade would ask, and how well it then decides, from held-out records."""

from typing import Any

import pytest
import yaml

from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.evaluation.cascades import SHARES_WRONG, cascade_figures, in_words
from haystack_integrations.crag.pipelines.loader import source


def record(label: str, verdict: str, sure: float, *documents: tuple[float, int], needed: int = 1) -> dict[str, Any]:
    """A held-out list: the true verdict, what the scorer says and how sure it is, each document's score and label."""
    shown = [{"id": str(n), "score": score, "label": grade} for n, (score, grade) in enumerate(documents)]
    probabilities = {verdict: sure}
    said = {"label": label, "verdict": verdict, "probabilities": probabilities}
    return {"question": "Q?", "documents": shown, "needed": needed, **said}


def reached(*records: dict[str, Any]) -> dict[float, tuple[float, float]]:
    """Macro-F1 of the cascade and of asking about everything, by the share of wrong grades."""
    return {row["share"]: (row["cascade"], row["everything"]) for row in cascade_figures(records)["wrong"]}


def test_only_what_the_gate_is_not_sure_of_is_counted_as_sent() -> None:
    """One list is decided; of the other, two of three documents are unsure: half the questions, two of five."""
    decided = record("correct", "correct", 0.99, (0.5, 2), (0.5, 0))
    unsure = record("correct", "ambiguous", 0.5, (0.5, 2), (0.4, 0), (0.01, 0))
    found = cascade_figures([decided, unsure])
    assert (found["calls"], found["documents"]) == (0.5, 0.4)


def test_the_model_mends_what_it_is_asked_about_and_nothing_else() -> None:
    """A sure mistake stands; an unsure one is put right by a model that is right."""
    mended = record("correct", "ambiguous", 0.5, (0.5, 2))
    stays = record("incorrect", "correct", 0.99, (0.5, 0))
    assert reached(mended)[0.0] == (1.0, 1.0)
    assert reached(mended, stays)[0.0] == (pytest.approx(1 / 3), 1.0)


def test_a_document_that_is_not_sent_counts_as_the_gate_took_it() -> None:
    """What is surely off topic is off topic, though the label says otherwise; what surely answers makes it correct."""
    overlooked = record("correct", "ambiguous", 0.5, (0.01, 2), (0.5, 1))
    taken_for_answer = record("ambiguous", "ambiguous", 0.5, (0.95, 1), (0.5, 1))
    assert reached(overlooked)[0.0] == (0.0, 1.0)
    assert reached(taken_for_answer)[0.0] == (0.0, 1.0)


def test_where_the_model_errs_the_gate_keeps_it_from_most_of_its_mistakes() -> None:
    """Nine of ten documents are surely off topic: asked about all, the model takes some of them for answers."""
    lists = [record("incorrect", "incorrect", 0.5, (0.5, 0), *[(0.01, 0)] * 9) for _ in range(30)]
    lists += [record("correct", "incorrect", 0.5, (0.5, 2), *[(0.01, 0)] * 9) for _ in range(30)]
    found = reached(*lists)
    assert found[0.0] == (1.0, 1.0)
    assert 1 > found[0.05][0] > found[0.05][1] + 0.05
    assert found[0.05][0] > found[0.1][0] > found[0.1][1] + 0.05


def test_where_nobody_labels_a_topic_a_slip_to_it_is_a_mistake_and_no_third_class() -> None:
    """Its F1 of zero would take a third from the model's figure alone: .9 beside a judgement's .9 would read .6."""
    lists = [record("incorrect", "incorrect", 0.5, (0.5, 0)) for _ in range(100)]
    lists += [record("correct", "correct", 0.5, (0.5, 2)) for _ in range(100)]
    assert reached(*lists)[0.1] == (pytest.approx(0.92, abs=0.03), pytest.approx(0.92, abs=0.03))


def test_a_question_of_two_steps_needs_both_its_documents() -> None:
    """One of two that must answer is half of it."""
    half = record("ambiguous", "correct", 0.5, (0.5, 2), (0.5, 0), needed=2)
    both = record("correct", "ambiguous", 0.5, (0.5, 2), (0.5, 2), needed=2)
    assert reached(half, both)[0.0] == (1.0, 1.0)


def test_what_it_asks_and_what_it_reaches_are_said_in_words() -> None:
    """With the shares of wrong grades, and what asking about everything reaches."""
    told = in_words(cascade_figures([record("correct", "ambiguous", 0.5, (0.5, 2), (0.01, 0))]))
    assert told[0] == "cascade_rag sends its model 100% of the questions, 50% of the documents"
    assert told[1].startswith("macro-F1 with a model that grades 0%, 5%, 10% wrong: 1.00, ")
    assert told[2].startswith("the same, asked about everything: 1.00, ")
    assert len(SHARES_WRONG) == 3


def test_the_gate_that_is_measured_is_the_one_that_ships() -> None:
    """The numbers in the YAML are the component's own."""
    ships = yaml.safe_load(source("cascade_rag"))["components"]["gate"]["init_parameters"]
    gate = CascadeGate()
    assert ships == {"sure": gate.sure, "low": gate.low, "high": gate.high}
