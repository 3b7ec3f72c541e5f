"""What kept evidence lends to the next query: what it lacks of the question, and whom it names."""

import numpy as np
import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.expansion.evidence_words import feedback_words, least_told, missing, names_in
from haystack_integrations.crag.texts.text import terms


def test_words_that_title_or_text_have_are_not_missing() -> None:
    """In another form either: `cities` has `city`."""
    page = Document(content="It has offices in three cities.", meta={"title": "Kelburn Institute"})
    assert missing(["kelburn", "city", "director"], [page]) == ["director"]


@pytest.mark.parametrize("title", [float("nan"), np.array(["kelburn", "city"]), None])
def test_a_title_that_is_none_has_no_word(title: object) -> None:
    """As a table leaves it where it has no value."""
    page = Document(content="It has offices.", meta={"title": title})
    assert missing(["nan", "office", "city"], [page]) == ["nan", "city"]
    assert least_told(["Which nan?", "Which office?"], [page]) == ["Which nan?", "Which office?"]


def test_only_the_best_two_documents_lend_names_and_have_words() -> None:
    """Each further one on the same subject has names of its own, which lead elsewhere."""
    pages = [Document(content=f"She lives in {city}.") for city in ("Kelburn", "Lowmere", "Ostrey")]
    assert names_in("Where does she live?", pages) == ["Kelburn", "Lowmere"]
    assert missing(["ostrey"], pages) == ["ostrey"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It was built by Harn Works in Lowmere.", ["Harn Works", "Lowmere"]),
        ("The Corvel 12 is an engine.", ["Corvel 12"]),
        ("Engines are built there. The engines are loud.", []),
        ("The house is old. It was sold by Ann. Houses like this house are rare.", ["Ann"]),
        ("COPYING IT IS NOT ALLOWED.\n\nIt was written by Ann O'Neill-Smith.", ["Ann O'Neill-Smith"]),
        ("Call The Harn Works, please.", ["Call The Harn Works"]),
        ("Er wohnt in der Stadt. Die Stadt ist alt, und die Straßen sind schmal.", ["Stadt", "Straßen"]),
        ("\u5317\u4eac\u662f\u9996\u90fd\u3002", []),
        ("Opening Hours And Prices\n\nOpen in June. Ann sells tickets of class A.", ["June"]),
        ("What blocks a case? Then see Case Blocks, or ask Ann.", ["Ann"]),
        ("## Opening Hours And Prices\n\nHall Of Records\n---------------\n\nIt is open in June.", ["June"]),
        ("- Turning off the lamp\n- Choose a lamp, then ask Ann.\n\n1. Click on it.", ["Ann"]),
        ("```\nREM Basic Dim Value\n```\n\nIt was sold by Ann.", ["Ann"]),
        ("", []),
    ],
)
def test_a_name_is_a_run_of_words_with_a_capital(text: str, names: list[str]) -> None:
    """An ordinary word that begins a sentence is none, nor is an article part of one; headings and code have none."""
    assert names_in("What is it?", [Document(content=text)]) == names


def test_what_a_passage_stands_under_is_no_name_in_it() -> None:
    """Its title repeats the headings of its file, which lead to where it was found."""
    page = Document(
        content="lamps - Turning Off And On\n\nIt was sold by Ann.", meta={"title": "lamps - Turning Off And On"}
    )
    assert names_in("What is it?", [page]) == ["Ann"]


def test_names_beside_more_words_of_the_question_come_first_and_those_of_the_question_are_left_out() -> None:
    """The sentence on what is asked tells where to go on."""
    page = Document(content="She likes Lowmere. In it Ann directs the plant of Harn Works.")
    assert names_in("Who owns the plant that Ann directs?", [page]) == ["Harn Works", "Lowmere"]


def test_a_document_with_many_names_lends_five_and_one_without_text_none() -> None:
    """A list of members would drown the question."""
    page = Document(content=", ".join(f"so is Member{n}" for n in range(30)))
    assert len(names_in("Who is it?", [page])) == 5
    assert names_in("Who is it?", [Document(content=None)]) == []
    assert feedback_words("Who is it?", [Document(content=None)]) == []


@given(st.text(), st.text(), st.text())
def test_no_text_breaks_it_and_no_name_is_one_that_was_searched_for(question: str, text: str, tried: str) -> None:
    """Documents hold anything."""
    pages = [Document(content=text)]
    known = {*terms(question), *terms(tried)}
    for name in names_in(question, pages, [tried]):
        assert not known.issuperset(terms(name))
    assert set(missing(question.split(), pages)) <= set(question.split())
