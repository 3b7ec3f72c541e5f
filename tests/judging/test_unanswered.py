"""A document that only asks what the user asks."""

from typing import Any

import pytest
from haystack import Document
from judging_texts import asking
from makers import fill

from haystack_integrations.crag.judging.reading import shared_reader
from haystack_integrations.crag.judging.unanswered import unanswered
from haystack_integrations.crag.pipelines import load

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
