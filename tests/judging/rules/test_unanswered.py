"""A document that only asks what the user asks."""

import time
from typing import Any

import pytest
from haystack import Document
from judging_texts import asking
from makers import fill

from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.judging.rules.unanswered import unanswered
from haystack_integrations.crag.judging.surface import normalised, told
from haystack_integrations.crag.pipelines import load

SECONDS = 2.0  # some hundredths here; quadratic time would be minutes
QUESTION = "How do I change the language of the menu?"
PAIRS = [
    ("Which browsers are supported?", "Firefox and Chrome in their last two versions."),
    ("When are invoices sent?", "On the first day of the month."),
    ("Who can see my comments?", "Everybody in the project."),
]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"Q: {QUESTION}\nA: Click the globe at the bottom.", "correct"),
        (f"Q: {QUESTION}\nA:", "ambiguous"),
        (f"### {QUESTION}", "ambiguous"),
        (f"I like your service.\n\n{QUESTION}\nMany thanks\nKim", "ambiguous"),
        ("- Where are my files?\n- " + QUESTION + "\n- Can I stop?", "ambiguous"),
        (f"To change the language of the menu, click the globe. {QUESTION}", "correct"),
    ],
)
def test_the_question_itself_is_no_answer(in_memory_store: Any, text: str, verdict: str) -> None:
    """Unless something follows, or what stands before says as much; the document is kept, since it is on the topic."""
    texts = [text, *(f"Q: {question}\nA: {answer}" for question, answer in PAIRS)]
    fill(in_memory_store, [Document(content=each) for each in texts])
    result = load("corrective_retrieval", store=in_memory_store).run(query=QUESTION)
    assert result["crag"]["verdict"] == verdict
    assert text in [document.content for document in result["documents"]]


def test_another_question_at_the_end_changes_nothing() -> None:
    """What counts is where the words of the user's question stand."""
    texts = [
        ("", "The river Wien flows through Vienna. Shall we go?"),
        ("", "Shall we go? Which river flows in Vienna?"),
    ]
    found = unanswered(asking("Which river flows through Vienna?"), shared_reader().read(texts))
    assert found.tolist() == [False, True]


@pytest.mark.parametrize(
    "reference",
    [
        'See Section 5.1, "How do I change the language of the menu?", for menus.',
        "See Section 5.1 , `` How do I change the language of the menu ? '' , for menus .",
        "See Section 5.1.2, \u201cHow do I change the language of the menu?\u201d, for menus.",
        "Siehe Abschnitt 5.1, \u201eHow do I change the language of the menu?\u201c.",
        "Voir Section\u00a05.1, \u00ab\u00a0How do I change the language of the menu?\u00a0\u00bb.",
    ],
)
def test_the_title_of_another_section_is_no_answer(in_memory_store: Any, reference: str) -> None:
    """A text that points to the section with the user's question does not answer it; nor is it off the topic."""
    texts = [f"Dates are shown as the country has them. {reference}", *(f"Q: {q}\nA: {a}" for q, a in PAIRS)]
    fill(in_memory_store, [Document(content=each) for each in texts])
    assert load("corrective_retrieval", store=in_memory_store).run(query=QUESTION)["crag"]["verdict"] != "correct"


@pytest.mark.parametrize("kept", ['In 1999, "The Menu" won.', 'Version 5.1 "The Menu" won.', "5.1, the menu"])
def test_other_quotations_are_told(kept: str) -> None:
    """Only what stands behind the number of a section is the title of one."""
    assert told(kept) == normalised(kept)


@pytest.mark.parametrize("part", ["1.", '5.1, "', "5.1, \u201c", "5.1, ``", "1.1 ", '"'])
def test_titles_of_sections_are_looked_for_in_linear_time(part: str) -> None:
    """Hostile text must not hold the server."""
    began = time.perf_counter()
    told(part * (200_000 // len(part)))
    assert time.perf_counter() - began < SECONDS
