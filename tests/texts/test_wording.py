"""How a text is worded against a question: coverage, phrases, windows."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.wording import (
    WINDOW_TERMS,
    ask,
    best_window,
    coverage,
    phrase,
    read,
    term_weights,
)

WORDS = st.lists(st.sampled_from(["iron", "tower", "paris", "built", "the", "of", "1889"]), max_size=40).map(" ".join)


def equal_weights(query: str) -> dict[str, float]:
    """The same weight for each of a question's terms."""
    return dict.fromkeys(ask(query).terms, 1.0)


def test_a_question_is_its_content_words_and_their_neighbours() -> None:
    """Stop words are left out, and what stood around them is neighbours."""
    question = ask("What is the capital of France?")
    assert question.terms == ("capit", "franc")
    assert question.pairs == {("capit", "franc")}


def test_a_question_of_stop_words_is_taken_word_by_word() -> None:
    """Otherwise it would have nothing to look for."""
    question = ask("Who was it?")
    assert question.terms == ("who", "was", "it")
    assert read(question, "That is who it was.").found == {"who", "was", "it"}


def test_a_question_without_words_has_no_terms() -> None:
    """Nothing is covered of it, and nothing divides by zero."""
    question = ask("?!")
    assert question.terms == ()
    reading = read(question, "Some text.")
    assert coverage(reading.found, {}) == 0.0
    assert phrase(reading, question, {}) == 0.0
    assert best_window(reading, {}) == (0.0, 0.0)


def test_coverage_counts_rare_terms_more() -> None:
    """A term that all retrieved texts have tells less than one that a single text has, but never ten times less."""
    question = ask("iron tower")
    weights = term_weights(question, [{"iron", "tower"}, {"tower"}, {"tower"}])
    assert weights["tower"] < weights["iron"] < 3 * weights["tower"]
    assert weights == pytest.approx({"iron": log(2 + 3 / 2), "tower": log(2 + 3 / 4)})
    assert coverage({"iron"}, weights) == pytest.approx(log(3.5) / (log(3.5) + log(2.75)))


def test_the_title_counts_as_part_of_the_text() -> None:
    """A passage about the tower need not name it again; whether the question names the title is told apart."""
    question = ask("When was the Iron Tower built?")
    reading = read(question, "It was built in 1889.", "Iron Tower")
    assert reading.found == {"iron", "tower", "built"}
    assert ("iron", "tower") in reading.pairs
    assert reading.is_named is True
    assert read(question, "It was built.", "Iron Bridge").is_named is False
    assert read(question, "It was built.").is_named is None


def test_a_phrase_does_not_reach_from_the_title_into_the_text() -> None:
    """The last word of the one and the first of the other are no neighbours."""
    assert read(ask("tower built"), "Built in 1889.", "Tower").pairs == frozenset()


def test_neighbours_of_the_question_are_found_in_either_order() -> None:
    """`tower of iron` has the neighbours of `iron tower`; words further apart are none."""
    question = ask("iron tower")
    weights = equal_weights("iron tower")
    assert phrase(read(question, "A tower of iron."), question, weights) == pytest.approx(0.5)
    assert phrase(read(question, "A tower, much later painted like iron."), question, weights) == 0.0


def test_more_neighbours_found_prove_more() -> None:
    """A whole question of two terms found proves less than one of five."""
    short, long = "iron tower", "old iron tower museum tickets"
    assert phrase(read(ask(long), long), ask(long), equal_weights(long)) == pytest.approx(0.8)
    assert phrase(read(ask(short), short), ask(short), equal_weights(short)) == pytest.approx(0.5)


def test_the_best_window_is_where_most_of_the_question_stands() -> None:
    """And its place is told as a share of the text."""
    question = ask("iron tower built")
    filler = "weather " * 30
    reading = read(question, f"iron {filler} the iron tower was built {filler}")
    share, middle = best_window(reading, equal_weights("iron tower built"))
    assert share == pytest.approx(1.0)
    assert 0.45 < middle < 0.55


def test_terms_further_apart_than_a_window_do_not_add_up() -> None:
    """Two halves of an answer at both ends of a page are not one place."""
    question = ask("iron tower")
    reading = read(question, "iron " + "weather " * WINDOW_TERMS + "tower")
    assert best_window(reading, equal_weights("iron tower"))[0] == pytest.approx(0.5)


@given(WORDS, WORDS, WORDS)
def test_all_shares_are_in_range(query: str, text: str, title: str) -> None:
    """Whatever is repeated, missing or empty."""
    question = ask(query)
    reading = read(question, text, title)
    weights = term_weights(question, [reading.found])
    window, middle = best_window(reading, weights)
    assert 0 <= window <= coverage(reading.found, weights) + 1e-9 <= 1 + 2e-9
    assert 0 <= phrase(reading, question, weights) < 1
    assert 0 <= middle < 1
