"""Spellings of one word count as one word, whichever of them a text or a question has."""

from unicodedata import normalize

import pytest

from haystack_integrations.crag.expansion.rules import keywords
from haystack_integrations.crag.texts.text import surface_words, terms, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Stra\u00dfe", "STRASSE"),
        ("Stra\u00dfe", "Strasse"),
        ("\u0443\u0447\u0451\u0442", "\u0443\u0447\u0435\u0442"),
        ("\u0130nternet", "internet"),
        ("SINIR", "s\u0131n\u0131r"),
        ("\u0130STANBUL", "\u0130stanbul"),
        ("\u039b\u038c\u0393\u039f\u03a3", "\u03bb\u03cc\u03b3\u03bf\u03c3"),
        ("caf\u00e9 f\u00fcr a\u00f1o", normalize("NFD", "caf\u00e9 f\u00fcr a\u00f1o")),
        ("l'installation", "d\u2019installation"),
        ("환불이 지급되나요?", "환불은 지급됩니다."),
        ("램프의", "램프"),
        ("L'Italia", "dell'Italia"),
        ("lorsqu'un syst\u00e8me", "un syst\u00e8me"),
        ("Ra\u0161\u00edn \u0141\u00f3d\u017a Malm\u00f6 Nguy\u1ec5n", "Rasin Lodz Malmo Nguyen"),
        ("\u0391\u03b8\u03ae\u03bd\u03b1", "\u03b1\u03b8\u03b7\u03bd\u03b1"),
    ],
)
def test_spellings_of_one_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


def test_letters_that_differ_in_more_than_a_mark_are_two() -> None:
    """The short i of Russian is a letter of its own, and an umlaut spelt out is read by what documents have."""
    assert terms("\u0439\u043e\u0433\u0430") != terms("\u0438\u043e\u0433\u0430")
    assert terms("Mueller") != terms("M\u00fcller")


def test_what_is_elided_is_no_part_of_a_word() -> None:
    """And what stands behind it keeps its capital, by which names are told."""
    assert surface_words("L'Or\u00e9al d\u2019Artagnan, dell'amico C'est j'ai") == [
        *("Or\u00e9al", "Artagnan", "amico", "est", "ai")
    ]


def test_apostrophes_of_english_are_left_alone() -> None:
    """Its short forms are stop words, and its names are whole."""
    text = "don't i'll you'd o'brien rock'n'roll o'clock the cat's aujourd'hui y'all"
    assert words(text) == text.split()


def test_a_search_is_worded_as_the_question_is() -> None:
    """A store compares words as they are written."""
    assert keywords("Welche Stra\u00dfe ist die l\u00e4ngste?") == "stra\u00dfe l\u00e4ngste"
    assert keywords("Comment changer le fond d'\u00e9cran ?") == "changer fond \u00e9cran"
