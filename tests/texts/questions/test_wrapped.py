"""A question is taken out of what a program has put around it: escapes, JSON, labels of a prompt or a chat."""

import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.wrapped import unwrapped

ASKED = 'Who edits the "Weekly"?'


@pytest.mark.parametrize(
    "wrapped",
    [
        quote(ASKED),
        quote_plus(ASKED),
        json.dumps({"question": ASKED}),
        json.dumps({"top_k": 5, "query": ASKED, "filters": None}, indent=2),
        json.dumps({"input": {"text": ASKED}}),
        json.dumps(
            {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]}
        ),
        json.dumps(
            [{"role": "user", "content": [{"type": "text", "text": ASKED}]}, {"role": "assistant", "content": ""}]
        ),
        f"Use the context below. Do not make things up.\n\nQuestion: {ASKED}\nHelpful Answer:",
        f"System: You are kind.\nUser: {ASKED}",
        f"Q: What is the capital of Peru?\nA: Lima\n\nQ: {ASKED}\nA:",
        f"Human: Who prints it?\nAI: The town.\nHuman: {ASKED}\nAI:",
    ],
)
def test_what_a_program_wrapped_is_read_as_the_question_in_it(wrapped: str) -> None:
    """A client that escapes twice, a body sent as the question, a whole prompt or chat for a retriever."""
    assert unwrapped(wrapped) == bare_question(wrapped) == ASKED


def test_what_is_labelled_as_context_stays_with_the_question() -> None:
    """It may decide; other mechanisms tell it from what is asked."""
    assert (
        unwrapped(f"Context: The Weekly is a paper.\nQuestion: {ASKED}\nAnswer:") == f"The Weekly is a paper.\n{ASKED}"
    )


@pytest.mark.parametrize(
    "question",
    [
        "What does %20 mean in an address?",
        "https://example.com/a%20b",
        "%20%20",
        "100%",
        "C++",
        "a+b+c",
        "{not: JSON, at all}",
        '{"service": "billing", "timeout": 30}',
        "[1, 2]",
        "[" * 100_000,
        '{"question": ""}',
        "Product: X200\nQuestion: How do I reset the device?",
        "User: Who wrote Emma?\nBot: Jane Austen.\nUser: When did she write it?",
        "Q: How do I reset it?\nA: Hold the key.\nB: Ask us.",
        "Note: a user: what is it?",
        "Customer: ACME\nProduct: X200\nQuestion: How is the device reset?",
        "Q: Who edits the Weekly?\nQ: Who prints the Daily?",
    ],
)
def test_what_no_program_wrapped_stays(question: str) -> None:
    """Nor is a question taken out that cannot be understood without what stands before it."""
    assert unwrapped(question) == question


@given(st.text(max_size=200))
def test_any_question_leaves_a_question(question: str) -> None:
    """Nothing that can be read becomes nothing, and what was taken out is not wrapped otherwise."""
    assert bool(unwrapped(question).strip()) >= bool(question.strip())


@given(st.dictionaries(st.text(max_size=8), st.recursive(st.none() | st.text(max_size=8), st.lists, max_leaves=5)))
def test_any_json_leaves_a_question(body: dict[str, object]) -> None:
    """Whatever it holds, in whatever place."""
    assert unwrapped(json.dumps(body)).strip()


def test_half_a_character_in_json_is_none_in_the_question() -> None:
    """The question as it came can be written, and so no guard refuses it; what stands in it must be so, too."""
    assert unwrapped('{"question": "Who \\ud83d\\ude00 wrote \\ud83d Emma?"}') == "Who \U0001f600 wrote \ufffd Emma?"
