"""A question: its weighted terms, what it asks for, whom it names."""

from math import log

import pytest
from judging_texts import asking, known

from haystack_integrations.crag.judging.asking import KINDS, kind_of, names_in
from haystack_integrations.crag.judging.grading import retrieved_frequencies
from haystack_integrations.crag.judging.reading import shared_reader


@pytest.mark.parametrize(
    ("kind", "queries"),
    [
        ("who", ["Who wrote Emma?", "whose idea was it", "To whom was it sold?"]),
        ("when", ["When did it open?", "In what year did it open?", "Which month is the coldest?"]),
        ("where", ["Where is Vienna?", "Which country has no army?", "what city hosts it"]),
        ("how_many", ["How many moons has Mars?", "How  old is it?", "What percentage melts?", "which number is it"]),
        ("how", ["How does yeast work?"]),
        ("what", ["What is yeast?", "Tell me what yeast is."]),
        ("which", ["Which river flows through Vienna?"]),
        ("why", ["Why do birds sing?"]),
        (
            "yes_no",
            ["Is Pluto a planet?", "Isn\u2019t Pluto a planet?", "Would a lemon float?", "\u201cDid it rain?\u201d"],
        ),
        ("statement", ["Yeast makes bread rise.", "It is warm.", "", "Island birds are tame."]),
    ],
)
def test_every_kind_of_question_is_told(kind: str, queries: list[str]) -> None:
    """By what its answer must be."""
    assert [kind_of(query) for query in queries] == [kind] * len(queries)
    assert kind in KINDS


def test_a_term_weighs_by_its_inverse_document_frequency() -> None:
    """As a share of the weight of a term that no document has."""
    asked = asking("Which river flows through Vienna?", known(1_000, river=500, vienna=10))
    highest = log(1 + 1000.5 / 0.5)
    assert asked.terms == ("river", "flow", "vienna")
    assert asked.weights["flow"] == 1.0
    assert asked.weights["vienna"] == pytest.approx(log(1 + 990.5 / 10.5) / highest)
    assert asked.weights["river"] == pytest.approx(log(1 + 500.5 / 500.5) / highest)
    assert asked.total == pytest.approx(sum(asked.weights.values()))


def test_a_count_above_the_number_of_documents_is_no_negative_weight() -> None:
    """A server's counts and its number of documents are from two moments."""
    weights = asking("river Vienna", known(3, river=9, vienna=3)).weights
    assert 0 < weights["river"] == weights["vienna"] < 1


def test_neighbouring_terms_are_pairs_and_repeated_ones_are_not() -> None:
    """Stop words between them do not count."""
    asked = asking("New York, New York: a city of islands")
    assert asked.sequence == ("new", "york", "new", "york", "citi", "island")
    assert asked.terms == ("new", "york", "citi", "island")
    assert asked.pairs == (("new", "york"), ("york", "new"), ("new", "york"), ("york", "citi"), ("citi", "island"))
    assert asking("Paris Paris").pairs == ()


def test_a_question_of_stop_words_is_taken_word_by_word() -> None:
    """And one without any word has no terms."""
    assert asking("Who was it?").terms == ("who", "was", "it")
    assert asking("?!").terms == ()
    assert asking("").total == 1.0


def test_capitals_are_names_except_the_one_that_begins_the_question() -> None:
    """Unless the second word has one, too."""
    assert asking("Castles of Prague and Vienna").capitals == {"pragu", "vienna"}
    assert asking("Prague Castle is how old").capitals == {"pragu", "castl"}
    assert asking("which river flows through vienna").capitals == frozenset()


def test_the_documents_tell_the_names_of_a_question_in_small_letters() -> None:
    """What they write with a capital twice, within a sentence, and seldom without."""
    asked = asking("which river flows through vienna")
    texts = [
        ("", "The Danube river flows by Vienna."),
        ("", "We saw Vienna. It is on a river called the River Danube."),
    ]
    readings = shared_reader().read(texts)
    assert names_in(asked, readings) == {"vienna"}
    assert names_in(asked, readings[:1]) == frozenset()
    assert names_in(asking("which river flows through Vienna"), readings[:1]) == {"vienna"}
    mixed = shared_reader().read([*texts, ("", "A cafe in vienna.")])
    assert names_in(asked, mixed) == frozenset()
    at_the_start = shared_reader().read([("", "Vienna is old. Vienna is large. Vienna is grey.")])
    assert names_in(asked, at_the_start) == frozenset()


def test_over_what_was_retrieved_a_term_weighs_the_less_the_more_texts_have_it() -> None:
    """Where no statistics of a corpus are known: at most twice as much, and a copy of a text is no other text."""
    texts = [
        ("", "Vienna in Austria is a city of bakers and music."),
        ("", "In Vienna the river has green banks and ferries."),
        ("", "Bridges over the river in Vienna are painted white."),
    ]

    def weights(*given: tuple[str, str]) -> list[float]:
        asked = asking("Vienna river Austria penguins?", retrieved_frequencies(shared_reader().read(given)))
        return [asked.weights[term] for term in ("vienna", "river", "austria", "penguin")]

    in_all, in_two, in_one, in_none = weights(*texts)
    assert in_all < in_two < in_one < in_none
    assert 1.8 < in_none / in_all < 2
    assert weights(*texts, texts[0], texts[0]) == weights(*texts)
