"""A question that offers answers: a list is judged for the one that fits it best."""

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.components import HeuristicGrader
from haystack_integrations.crag.texts.questions.alternatives import alternatives_in
from haystack_integrations.crag.texts.questions.telling import first_search

EMMA = ["Who wrote Emma, Jane Austen?", "Who wrote Emma, Mary Shelley?"]


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Emma? A) Jane Austen B) Mary Shelley",
        "Who wrote Emma?\nA. Jane Austen\nB. Mary Shelley",
        "Who wrote Emma: (a) Jane Austen, (b) Mary Shelley?",
        "Who wrote Emma\n1) Jane Austen\n2) Mary Shelley\nAnswer with the number only.",
        "Who wrote Emma? [A] Jane Austen [B] Mary Shelley",
        "Who wrote Emma ____\n(A) Jane Austen\n(B) Mary Shelley",
        "Who wrote Emma?\n- Jane Austen\n- Mary Shelley\nAnswer with one of them.",
        "Who wrote Emma?\nOptions: Jane Austen, Mary Shelley",
        "Who wrote Emma? Choices: Jane Austen or Mary Shelley",
        "Who wrote Emma?\nAnswer choices:\nA) Jane Austen\nB) Mary Shelley",
        "Who wrote Emma?\nOptions:\n* Jane Austen\n* Mary Shelley",
    ],
)
def test_each_answer_that_is_offered_is_asked_for(question: str) -> None:
    """Under letters, numbers or dots, in a row or in lines, or as options."""
    assert alternatives_in(question) == EMMA
    assert first_search(question) == "Who wrote Emma?"


@pytest.mark.parametrize(
    "question",
    [
        "Which of the following is taxed? A) bread B) books",
        "Which is cheaper? A) bread B) books",
        "What is it? A) a B) b",
    ],
)
def test_what_cannot_be_understood_without_the_answers_is_searched_for_with_them(question: str) -> None:
    """It names nothing else, or points at them."""
    assert alternatives_in(question)
    assert first_search(question) == question


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
        "How do I open the box?\n- It is locked.\n- The key is lost.",
        "What does it cost?\n- What does a child pay?\n- What does a group pay?",
        "What does it cost?\n- children",
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
