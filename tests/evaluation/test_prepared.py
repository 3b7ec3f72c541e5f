"""A labelled list is read for a calibration as the grader reads it afterwards."""

import pytest
from evaluation.calibrated_towns import calibrated_towns
from haystack import Document

from haystack_integrations.crag.corpus_statistics.counting import collect
from haystack_integrations.crag.evaluation.holding_out import judged_by
from haystack_integrations.crag.evaluation.labelled import LabelledList, prepare
from haystack_integrations.crag.judging.grading import grade
from haystack_integrations.crag.judging.reading import shared_reader

RULES = "Kinder dürfen mit der Erlaubnis ihrer Eltern rudern."


def test_a_list_in_german_is_prepared_in_the_forms_of_its_question() -> None:
    """The corpus has "Kinder" alone: "Kind" is as common as the documents that hold it, and no word that nobody has."""
    statistics = collect([RULES, *(f"Die Regel {number} ist alt." for number in range(50))]).statistics("store")
    asked = "Darf ein Kind rudern?"
    labelled = LabelledList("1", asked, (("", RULES), ("", "Das Dach ist alt.")), (2, 0), "correct", 1)
    (prepared,) = prepare([labelled], shared_reader(), statistics.counts)
    assert statistics.counts(["kind"])[1].get("kind", 0) == 0
    assert prepared.readings[0].holds("kind")
    assert prepared.source.question == asked  # as whoever labelled it knows it
    assert prepared.asked.weights["kind"] == prepared.asked.weights["rudern"] < 1


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("How long is the river of Arlon?", "whole"),
        ("Who was the mayor in the UK?", "whole"),  # as its documents write it
        ("We are moving next week and everything is chaos. How long is the river of Arlon?", "asked_alone"),
        ("How long is the river of Arlon, and who founded the town of Belmor?", "asked_apart"),
        ("Which is older, Arlon or Belmor?", "compared"),
        ("Which river is in Arlon?\nA) the Elz\nB) the Ilm", "alternatives"),
    ],
)
def test_what_is_held_out_is_judged_as_the_grader_judges_it(asked: str, kind: str) -> None:
    """Whatever a question holds beside itself: figures and limit are about that judgement, and the record shows it."""
    texts = (
        ("Arlon", "The river of Arlon, the Elz, is 80 km long. Arlon is old."),
        ("Belmor", "Belmor was founded by Ida Holm in 1200. The mayor in the United Kingdom was Tom Reed."),
    )
    corpus = collect(f"{title}\n{text}" for title, text in texts).statistics("store")
    trained = calibrated_towns().calibration
    labelled = LabelledList("1", asked, texts, (2, 0), "correct", 1)
    (prepared,) = prepare([labelled], shared_reader(), corpus.counts)
    documents = [Document(content=text, meta={"title": title}) for title, text in texts]
    graded = grade(asked, documents, (), trained, shared_reader(), lambda _: corpus, "title")
    said, scores = judged_by(prepared, trained)
    rounded = {name: round(value, 4) for name, value in said.probabilities.items()}
    verdict = graded.report["verdict"]
    assert (said.verdict, rounded, scores) == (verdict["verdict"], verdict["probabilities"], graded.scores)
    assert (prepared.kind, prepared.source) == (kind, labelled)
