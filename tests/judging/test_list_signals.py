"""Documents among each other, and the list as a whole, by hand for small lists."""

from math import log
from statistics import mean

import pytest
from judging_texts import measured

from haystack_integrations.crag.judging.company import COMPARED

QUESTION = "Where was the author of Emma born?"
EMMA = ("Emma (novel)", "Emma is a novel, and its author is Jane Austen.")
AUSTEN = ("Jane Austen", "She was born in Steventon.")
RAIN = ("Rain", "Rain is likely.")


def test_documents_that_speak_of_each_other_are_linked() -> None:
    """A question of two hops needs both: neither covers it, both together do."""
    emma, austen, rain = measured(QUESTION, EMMA, AUSTEN, RAIN).documents
    assert (emma["speaks_of"], austen["spoken_of"]) == (1.0, 1.0)
    assert (emma["spoken_of"], austen["speaks_of"], rain["spoken_of"]) == (0.0, 0.0, 0.0)
    assert emma["covered"] == pytest.approx(2 / 3)
    assert austen["covered"] == pytest.approx(1 / 3)
    assert emma["linked_joint"] == austen["linked_joint"] == pytest.approx(1.0)
    assert rain["linked_joint"] == 0.0
    assert austen["spoken_of_covered"] == pytest.approx(2 / 3)
    assert austen["spoken_of_named"] == emma["title_named"] == 1.0
    assert emma["speaks_of_covered"] == pytest.approx(1 / 3)


def test_a_name_is_spoken_of_only_in_one_piece() -> None:
    """Jane Smith and Mrs Austen are not Jane Austen."""
    apart = ("Emma", "Jane Smith and Mrs Austen.")
    assert measured(QUESTION, apart, AUSTEN).documents[1]["spoken_of"] == 0.0


def test_what_two_documents_cover_together_needs_no_link() -> None:
    """The best partner counts; what a document adds to the first one, too."""
    apart = ("Emma", "It has an author.")
    one, two = measured(QUESTION, apart, ("", "She was born there.")).documents
    assert one["joint"] == two["joint"] == pytest.approx(1.0)
    assert one["joint_gain"] == pytest.approx(1 / 3)
    assert two["joint_gain"] == pytest.approx(2 / 3)
    assert two["beyond_first"] == pytest.approx(1 / 3)
    *_, rain = measured(QUESTION, apart, ("", "Rain."), ("", "She was born there."), RAIN).documents
    assert (rain["joint"], rain["joint_gain"]) == pytest.approx((2 / 3, 2 / 3))


def test_a_signal_also_counts_relative_to_the_list() -> None:
    """The lead of the best over the second, the lag of the others, the standing in the spread, the rank."""
    emma, austen, rain = measured(QUESTION, EMMA, AUSTEN, RAIN).documents
    assert emma["covered_gap"] == pytest.approx(1 / 3)
    assert austen["covered_gap"] == pytest.approx(-1 / 3)
    assert rain["covered_gap"] == pytest.approx(-2 / 3)
    assert [each["covered_above"] for each in (emma, austen, rain)] == [0.0, 0.5, 1.0]
    spread = (2 / 27) ** 0.5 + 0.05
    assert emma["covered_standing"] == pytest.approx(1 / 3 / spread)
    assert austen["covered_standing"] == pytest.approx(0.0, abs=1e-9)


def test_a_document_alone_is_compared_with_nothing() -> None:
    """It leads as if another were nearly as good, and stands in the middle."""
    (alone,) = measured(QUESTION, EMMA).documents
    for name in COMPARED:
        assert alone[f"{name}_gap"] == pytest.approx(alone[name] / 4)
        assert alone[f"{name}_standing"] == alone[f"{name}_above"] == 0.0
    assert (alone["joint"], alone["joint_gain"], alone["agreement"]) == (alone["covered"], 0.0, 0.0)


def test_parts_of_one_source_are_siblings() -> None:
    """By their title; documents without a title are nobody's."""
    parts = [("Emma", "The author was born."), ("Emma", "Rain."), ("", "Rain."), ("", "Rain.")]
    first, second, third, _ = measured(QUESTION, *parts).documents
    assert (first["siblings"], second["siblings"], third["siblings"]) == (0.2, 0.2, 0.0)
    assert second["siblings_covered"] == pytest.approx(1.0)
    assert second["siblings_sentence"] == pytest.approx(2 / 3)


def test_documents_that_say_the_same_agree() -> None:
    """By meaning, with the others on average and with the one most alike."""
    one, two, other = measured(QUESTION, AUSTEN, ("Jane Austen", "She was born in Steventon."), RAIN).documents
    assert one["agreement_most"] == two["agreement_most"] == pytest.approx(1.0, abs=1e-5)
    assert one["agreement"] > other["agreement"]


def test_a_list_agrees_as_its_documents_do_on_average() -> None:
    """Each with the others and none with itself; a document alone agrees with nobody."""
    texts = (AUSTEN, ("Jane Austen", "She was born in Steventon."), EMMA, RAIN)
    found = measured(QUESTION, *texts)
    assert 0 < found.together["agreement"] < 0.9
    assert found.together["agreement"] == pytest.approx(mean(each["agreement"] for each in found.documents), abs=1e-6)
    assert measured(QUESTION, AUSTEN).together["agreement"] == pytest.approx(0.0, abs=1e-6)


def test_how_many_titles_a_list_has_and_how_many_documents_have_the_same() -> None:
    """Shares of its documents."""
    parts = [("Emma", "The author was born."), ("Emma", "Rain."), ("Rain", "Rain."), ("Emma", "Rain.")]
    together = measured(QUESTION, *parts).together
    assert (together["titles"], together["same_title_most"]) == (0.5, 0.75)


def test_damped_weights_differ_by_how_few_of_these_documents_have_a_term() -> None:
    """Whatever the corpus says: what all have weighs half of what none has, or more."""
    texts = [("", "The author of Emma."), ("", "The author."), ("", "An author.")]
    first, second, _ = measured(QUESTION, *texts).documents
    author, emma, born = log(2 + 3 / 4), log(2 + 3 / 2), log(2 + 3 / 1)
    assert first["covered_damped"] == pytest.approx((author + emma) / (author + emma + born))
    assert second["covered_damped"] == pytest.approx(author / (author + emma + born))
    doubted = 2 * (author + emma + born) / 3
    assert first["pairs_damped"] == pytest.approx((author + emma) / (author + 2 * emma + born + doubted))


def test_the_list_is_measured_as_a_whole() -> None:
    """What all cover together, what their titles do, how many names and titles there are."""
    together = measured(QUESTION, EMMA, AUSTEN, RAIN).together
    assert together["union"] == pytest.approx(1.0)
    assert together["titles_covered"] == pytest.approx(1 / 3)
    assert (together["titles_names"], together["names"]) == (1.0, 1.0)
    assert together["titles"] == 1.0
    assert together["same_title_most"] == pytest.approx(1 / 3)
    assert together["covered_most"] == pytest.approx(2 / 3)
    assert together["linked_joint_most"] == pytest.approx(1.0)
    assert (together["title_named_count"], together["spoken_of_count"]) == (1.0, 1.0)
    assert together["asks_where"] == 1.0
    assert together["bm25_first"] >= together["bm25_gap"]
    assert together["bm25_range"] == together["bm25_first"]
