"""A thought in front of an answer is no part of it, however the parts of the answer come."""

import itertools
import time

import pytest
from haystack.dataclasses import ChatMessage, ReasoningContent, StreamingChunk
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.replies.thoughts import Thoughts, without_thought
from haystack_integrations.crag.streaming import heard

TEXT = st.text(alphabet="a <>/thinkTHINK\n", max_size=30)


def cut(text: str, places: list[int]) -> list[str]:
    """Cut a text into parts."""
    ends = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(ends)]


@given(TEXT, TEXT, st.lists(st.integers(0, 60), max_size=8))
def test_what_follows_a_thought_is_the_answer_whatever_the_parts(thought: str, answer: str, places: list[int]) -> None:
    thought = thought.replace(">", "")
    thoughts = Thoughts()
    parts = cut(f" \n<think>{thought}</THINK>\n\n{answer}", places)
    shown = [thoughts.without(part, last=number == len(parts)) for number, part in enumerate(parts, 1)]
    assert "".join(shown) == answer.lstrip()
    assert thoughts.thought == thought.strip()


@given(st.sampled_from(["x", " \n x", "\n<b"]), TEXT, st.lists(st.integers(0, 60), max_size=8))
def test_a_text_that_does_not_begin_with_one_passes_whole(begin: str, text: str, places: list[int]) -> None:
    text = begin + text
    thoughts = Thoughts()
    assert "".join(map(thoughts.without, cut(text, places))) == text


@pytest.mark.parametrize("text", ["<think>Who knows", "<think></think>", "<think>So.</think> \n"])
def test_where_a_thought_is_all_there_is_no_answer(text: str) -> None:
    reply = without_thought(ChatMessage.from_assistant(text, meta={"model": "m"}))
    assert (reply.text, reply.meta) == (None, {"model": "m"})


def test_a_thought_is_kept_where_haystack_keeps_such() -> None:
    """What the model itself gave as its reasoning stays."""
    plain = without_thought(ChatMessage.from_assistant("<think>By [2]?</think>Jane Austen [1]."))
    assert (plain.text, plain.reasoning) == ("Jane Austen [1].", ReasoningContent("By [2]?"))
    nova = without_thought(ChatMessage.from_assistant("<Thinking>By [2]?</thinking>\n\nJane Austen [1]."))
    assert (nova.text, nova.reasoning) == ("Jane Austen [1].", ReasoningContent("By [2]?"))
    given_apart = ChatMessage.from_assistant("<think>b</think>Yes.", reasoning="a")
    assert without_thought(given_apart).reasoning == ReasoningContent("a")
    untouched = ChatMessage.from_assistant("Use <think> and </think>.")
    assert without_thought(untouched) is untouched


@pytest.mark.parametrize(
    "text",
    [
        "By [2]? No.\n</think>\n\nJane Austen [1].",
        "By [2]? No.</think>\nJane Austen [1].",
        "By [2]? No.\n</THINK> Jane Austen [1].",
        "By [2]? No.\n</thinking>\n\nJane Austen [1].",
    ],
)
def test_a_thought_whose_beginning_the_servers_template_wrote_is_none_of_the_answer(text: str) -> None:
    """Such a server gives the closing tag only."""
    reply = without_thought(ChatMessage.from_assistant(text, meta={"model": "m"}))
    assert (reply.text, reply.reasoning) == ("Jane Austen [1].", ReasoningContent("By [2]? No."))
    assert reply.meta == {"model": "m"}


@pytest.mark.parametrize(
    "text", ["The tag `</think>` ends it [1].", "Write <think>\nand then\n</think>\n as the template says [1]."]
)
def test_an_answer_that_speaks_of_the_closing_tag_stays_whole(text: str) -> None:
    untouched = ChatMessage.from_assistant(text)
    assert without_thought(untouched) is untouched


def test_who_listens_to_a_stream_hears_no_thought() -> None:
    """And the last sign also of an answer that begins like one."""

    def stream(*parts: str) -> list[str]:
        words: list[str] = []
        with heard(lambda chunk: words.append(chunk.content)) as callback:
            assert callback is not None
            for part in parts:
                callback(StreamingChunk(content=part))
            callback(StreamingChunk(content="", finish_reason="stop"))
        return words

    assert stream("<th", "ink>a [2]", "</think>", "\n\n", "Jane ", "Austen.") == ["Jane ", "Austen.", ""]
    assert stream("<thinki", "ng>a [2]", "</thin", "king>\n\n", "Jane ", "Austen.") == ["Jane ", "Austen.", ""]
    assert stream("<", "th") == ["<th"]
    assert stream("<thinkers> ", "of old") == ["<thinkers> ", "of old", ""]
    assert stream("<think>never ends") == [""]


def test_a_thought_of_many_parts_costs_no_more_than_its_length() -> None:
    """All of it was gone through at each part, on the event loop of a server: a second for a thought of 32,000."""
    thoughts, started = Thoughts(), time.process_time()
    assert (
        "".join(map(thoughts.without, ["<think>", *["some "] * 300_000, "</thi", "nk>", *[" "] * 9, "Jane"])) == "Jane"
    )
    assert time.process_time() - started < 15
    assert thoughts.thought == ("some " * 300_000).strip()
