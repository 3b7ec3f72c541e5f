"""A question that offers answers: a list is judged for the one that fits it best."""

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.texts.alternatives import alternatives_in

EMMA = ["Who wrote Emma, Jane Austen?", "Who wrote Emma, Mary Shelley?"]


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Emma? A) Jane Austen B) Mary Shelley",
        "Who wrote Emma?\nA. Jane Austen\nB. Mary Shelley",
        "Who wrote Emma: (a) Jane Austen, (b) Mary Shelley?",
        "Who wrote Emma\n1) Jane Austen\n2) Mary Shelley\nAnswer with the number only.",
        "Who wrote Emma? [A] Jane Austen [B] Mary Shelley",
    ],
)
def test_each_answer_that_is_offered_is_asked_for(question: str) -> None:
    """Under letters or numbers, in a row or in lines."""
    assert alternatives_in(question) == EMMA


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Emma?",
        "Who wrote Emma? Jane Austen",
        "Who wrote Emma? A) Jane Austen",
        "Who wrote Emma? A) Jane Austen C) Mary Shelley",
        "1) Who wrote Emma? 2) Who wrote Persuasion?",
        "What is meant by these? A) who B) what",
        "What does vitamin A. do to B. Smith?",
        "I did this: a) open b) close",
        "What is it? " + "A) " * 200,
        "",
    ],
)
def test_other_questions_offer_none(question: str) -> None:
    assert alternatives_in(question) == []


@given(st.text(alphabet="ABCabc12.): \n?whoist", max_size=80))
def test_whatever_is_asked_there_are_two_to_eight_or_none(question: str) -> None:
    """And each is one line that asks."""
    found = alternatives_in(f"Who {question}")
    assert not found or 2 <= len(found) <= 8
    assert all(each.endswith("?") and "\n" not in each for each in found)


def test_the_answers_that_are_wrong_are_not_missed_in_a_document() -> None:
    """To the words of all of them nine lists in ten that answered were not `correct`."""
    answers = Document(content="The lighthouse of Merrow was designed by the engineer Ada Holm in 1911.", id="light")
    other = Document(content="Bread is left to rise for two hours before it is baked.", id="bread")
    asked = "Who designed the lighthouse of Merrow? A) Bo Lind B) Ada Holm C) Cy Frost D) Di Berg"
    graded = HeuristicGrader().run(query=asked, documents=[answers, other])
    without = HeuristicGrader().run(query=asked, documents=[other])
    assert graded["report"]["verdict"]["verdict"] == "correct"
    assert graded["scores"][0] > 0.5 > graded["scores"][1]
    assert graded["signals"]["set"]["alternatives"] == 4
    assert without["report"]["verdict"]["verdict"] == "incorrect"
