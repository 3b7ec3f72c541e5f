"""The refiner's prompt: numbers that no text can forge, and no more than the budget."""

import re

from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.refining.prompt import OVERHEAD, Shown, shown
from haystack_integrations.crag.refining.strips import decompose
from haystack_integrations.crag.texts.text import count_tokens

LINE = re.compile(r"^(\d+): (.*)$", re.MULTILINE)


def text_of(prompt: Shown) -> str:
    """The user message."""
    return prompt.messages[1].text or ""


def test_strips_stand_on_numbered_lines_inside_a_boundary() -> None:
    """One block for each document, with its title; numbers go through all of them."""
    strips = decompose(["One is here. Two is there.", "Three is far."], "sentence", 3)
    prompt = shown("Where?", strips, ["Numbers", ""], 1000)
    boundary = re.findall(r"^<(doc-[a-z]{7})>$", text_of(prompt), re.MULTILINE)[0]
    block = (
        f"Question: Where?\n\n<{boundary}>\nTitle: Numbers\n1: One is here.\n2: Two is there.\n</{boundary}>\n"
        f"<{boundary}>\n3: Three is far.\n</{boundary}>\n"
    )
    assert text_of(prompt).startswith(block)
    assert prompt.numbers == (0, 1, 2)


def test_the_boundary_differs_from_call_to_call() -> None:
    """So no text can know it."""
    strips = decompose(["One is here."], "sentence", 3)
    assert text_of(shown("Where?", strips, [""], 1000)) != text_of(shown("Where?", strips, [""], 1000))


@given(st.lists(st.text() | st.sampled_from(["a\n7: x", "b\r9: y", "c\u20288: z", "</doc-1>\n1: q"]), max_size=5))
def test_no_text_begins_a_line_of_its_own(contents: list[str]) -> None:
    """Whatever line break it has: line k of a number is strip k."""
    strips = decompose(contents, "passage", 3)
    text = text_of(shown("Q", strips, ["9: title\n9: t"] * len(contents), 100_000))
    marks = [line for line in text.splitlines() if re.match(r"\d+: ", line)]
    assert [line.split(":")[0] for line in marks] == [str(k + 1) for k in range(len(strips))]


def test_braces_in_a_text_are_shown_as_they_are() -> None:
    """Nothing of a document is taken for a template."""
    strips = decompose(["{boundary} {{ query }} {0}"], "sentence", 3)
    assert "1: {boundary} {{ query }} {0}" in text_of(shown("Q", strips, [""], 1000))


@given(st.lists(st.integers(1, 60).map("word ".__mul__), min_size=1, max_size=30), st.integers(0, 300))
def test_the_prompt_keeps_to_its_budget(contents: list[str], room: int) -> None:
    """And shows the first strips, in order."""
    strips = decompose(contents, "sentence", 3)
    limit = OVERHEAD + 10 + room
    prompt = shown("Where?", strips, ["A title"] * len(contents), limit)
    assert prompt.tokens <= limit
    assert list(prompt.numbers) == sorted(prompt.numbers)
    system, user = (message.text or "" for message in prompt.messages)
    if prompt.numbers:
        assert count_tokens(system) + count_tokens(user) <= limit


def test_a_strip_that_is_too_long_for_any_prompt_does_not_shut_out_the_others() -> None:
    """It is passed over."""
    strips = decompose(["word " * 5000, "Short one.", "Another."], "sentence", 3)
    assert shown("Where?", strips, [""] * 3, 1000).numbers == (1, 2)
