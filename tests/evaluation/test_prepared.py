"""A labelled list is read for a calibration as the grader reads it afterwards."""

from haystack_integrations.crag.corpus_statistics.counting import collect
from haystack_integrations.crag.evaluation.labelled import LabelledList, prepare
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
    assert prepared.asked.weights["kind"] == prepared.asked.weights["rudern"] < 1
