"""Logs, code and tables that stand beside a question are told from what it asks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.pasted import blocks, unpasted
from haystack_integrations.crag.texts.questions.telling import asking_part, first_search

ASKED = "How do I restart the import?"
PASTED = {
    "trace of Python": (
        'Traceback (most recent call last):\n  File "/srv/app.py", line 42, in <module>\n    result = fetch(order)\n'
        "TimeoutError: gateway did not answer"
    ),
    "trace of Java": "java.lang.NullPointerException: name is null\n\tat com.example.Cart.add(Cart.java:57)",
    "log": "2024-03-11 09:14:02,113 INFO  worker-3 started. Waiting.\n[2024-03-11T09:14:07] WARN worker-3 retries",
    "syslog": "Mar 11 09:14:02 host cron[12]: job started\nMar 11 09:14:03 host cron[12]: job failed",
    "levels": "ERROR could not connect\nWARN retrying in 5 s",
    "object": '{\n  "service": "billing",\n  "features": {"invoices": true},\n  "hosts": [\n    "a"\n  ]\n}',
    "function": "def total(items):\n    result = 0\n    return result",
    "braces": "function total(items) {\n  return items.length;\n}",
    "fence": "```\nanything at all, word for word\n```",
    "statement": "SELECT name FROM orders WHERE total > 10",
    "commands": "$ git push\n$ git pull",
    "page": "<div>\n  <p>Save 20 %</p>\n</div>",
    "table": "| region | units |\n|---|---|\n| north | 120 |",
    "quoted": "> I looked through the binder.\n> Could you ask?",
}


@pytest.mark.parametrize("pasted", PASTED.values(), ids=PASTED)
def test_what_is_asked_is_told_from_what_is_pasted(pasted: str) -> None:
    """Above it, below it, and announced by a line of its own."""
    for question in (f"{pasted}\n{ASKED}", f"{ASKED}\n\n{pasted}", f"I see this:\n{pasted}\n\n{ASKED}"):
        assert unpasted(question) == ASKED
        assert asking_part(question) == first_search(question) == ASKED
        assert first_search(bare_question(f"Hi all,\n{question}\nThanks!")) == ASKED


@pytest.mark.parametrize("pasted", PASTED.values(), ids=PASTED)
def test_what_points_at_what_is_pasted_is_searched_for_with_it(pasted: str) -> None:
    """Alone it says nothing; nor is there anything to tell it from where nothing else is said."""
    question = f"{pasted}\nHow do I fix this?"
    assert asking_part(question) is None
    assert first_search(question) == question
    assert unpasted(pasted) == first_search(pasted) == pasted


def test_few_words_beside_what_is_pasted_are_what_is_asked() -> None:
    """A search needs no question mark."""
    assert asking_part(f"{PASTED['log']}\nrestart import worker") == "restart import worker"
    assert asking_part("The import failed.\nrestart import worker") is None


@pytest.mark.parametrize(
    "question",
    [
        "What is the notice period?",
        "What does ERROR 404 mean?",
        "Select a plan from the list:\nwhich one is free?",
        "while I am on leave:\nwho answers my mail?",
        "Error: which codes are there?\nI mean those of the printer.",
        "Which is larger, <a> or <b>?",
        "- Windows 11\n- version 3.2\nWhich drivers do I need?",
        "for each item (such as a lamp):\nhow long is it under warranty?",
        "If it rains, who pays?\nIf it snows, who pays?",
        "  Which one?  ",
    ],
)
def test_what_people_say_is_not_taken_to_be_pasted(question: str) -> None:
    """Lists, sentences that begin as statements of a language do, and signs within a sentence."""
    assert unpasted(question) == question


@given(st.text(alphabet="aE:{}[]();=<>|`~-> \t\n\"'.,?"), st.text(alphabet="ab \n"))
def test_no_line_is_lost(pasted: str, said: str) -> None:
    """Blocks are the lines of a question in their order."""
    question = f"{pasted}\n{said}"
    kept = [line for _, text in blocks(question) for line in text.split("\n") if line.strip()]
    assert kept == [line for line in question.split("\n") if line.strip()]
