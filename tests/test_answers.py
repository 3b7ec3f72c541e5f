"""What became of an answer: one sentence tells that the model declined, and citations are counted against passages."""

import time
from datetime import UTC, datetime
from decimal import Decimal
from unittest.mock import ANY

import numpy as np
import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.answers import answer_account
from haystack_integrations.crag.citations import declines
from haystack_integrations.crag.unwritten_answers import says_nothing
from haystack_integrations.crag.vocabulary import ABSTENTION, ANSWER_FAILED


def account(text: str, passages: int = 3) -> dict[str, object]:
    """What is said of an answer of these words."""
    return told([ChatMessage.from_assistant(text)], passages)


def told(
    replies: list[ChatMessage], passages: int, *, asked: bool = True, question: str = "Who?", text: str = "Emma, 1815."
) -> dict[str, object]:
    """What is said of replies to a question, from so many passages of one text."""
    evidence = [Document(content=text)] * passages
    return answer_account(replies, asked=asked, sentences=[ABSTENTION], question=question, passages=evidence)


@pytest.mark.parametrize(
    "text",
    [
        ABSTENTION,
        ABSTENTION.removesuffix("."),
        f'"{ABSTENTION.upper()}"',
        f"  **{ABSTENTION}** \n",
        "The documents do\nnot answer this question [1][2].",
        f"{ABSTENTION} They are about bicycles.",
        f"{ABSTENTION}\n\nBut as far as I know it was Jane Austen.",
        f"{ABSTENTION.removesuffix('.')}\n\nAs far as I know it was Jane Austen.",
        f"{ABSTENTION.removesuffix('.')}\n- They are about bicycles.",
        "The documents do not answer this question, but it was Jane Austen.",
        f"Answer: {ABSTENTION}",
        f"**Answer:**\n{ABSTENTION}",
        f"Unfortunately, {ABSTENTION}",
        f"I\u2019m sorry, but {ABSTENTION.lower()}",
        "The passage does not answer this question.",
        "The provided evidence doesn\u2019t answer your question. [1]",
    ],
)
def test_an_answer_is_declined_when_it_is_the_sentence_or_goes_on_from_it_without_evidence(text: str) -> None:
    assert declines(text, ABSTENTION)


@pytest.mark.parametrize(
    "text",
    [
        "Jane Austen [1].",
        "",
        "The documents do not answer this question directly, but it follows from them.",
        f"{ABSTENTION} They do say that it is by Jane Austen [1].",
        f"{ABSTENTION.removesuffix('.')}\n\nThey do say that it is by Jane Austen [1].",
        f"It says: {ABSTENTION}",
        f"Answer: Jane Austen. {ABSTENTION}",
        "Unfortunately, Jane Austen did not answer this question.",
        "The documents do not answer this questionnaire.",
        "The passages do not answer the question of her birth, but name her mother.",
        "The passage does not answer.",
    ],
)
def test_an_answer_that_says_more_from_the_evidence_is_not_declined(text: str) -> None:
    assert not declines(text, ABSTENTION)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "[1]",
        "[1] [2]",
        " [1, 3].\n- [2]",
        "([Passage 2])",
        "[1]\u3001[2]\u3002",
        "[1] \u2013 [2]",
        "```\n[1]\n```",
    ],
)
def test_a_reply_of_citations_alone_says_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "?",
        "...",
        "\u2713 [1]",
        "42 [1]",
        ">= [1]",
        "% [2].",
        "`,` [1]",
        "**`*`** [3]",
        "Yes.",
        "\u5927\u962a [1]",
        "[2019]",
    ],
)
def test_a_reply_with_anything_else_says_something(text: str) -> None:
    assert not says_nothing(text)


@given(st.text())
def test_without_a_sentence_nothing_is_declined(text: str) -> None:
    assert not declines(text, "") and not declines(text, "...")


_PIECES = st.sampled_from([*"[]0123456789, a-", "[1]", "[2, 3]", " [7-9]", "[1", "2]", "`[4]`", "\n"])


@given(st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=3), max_size=4), st.integers(1, 12))
def test_each_number_in_brackets_is_cited_where_it_is_a_passage(lists: list[list[int]], passages: int) -> None:
    told = account("".join(f"It says so {numbers}. " for numbers in lists) or "It says so.", passages)
    numbers = sorted({number for numbers in lists for number in numbers})
    assert told["cited"] == [number for number in numbers if 1 <= number <= passages]
    assert told["cited_unknown"] == [number for number in numbers if not 1 <= number <= passages]


@given(st.lists(_PIECES, max_size=20).map("".join), st.integers(0, 12))
def test_what_is_cited_is_a_passage_and_what_is_no_passage_is_named(text: str, passages: int) -> None:
    told = account(text, passages)
    assert all(1 <= number <= passages for number in told["cited"])
    assert not any(1 <= number <= passages for number in told["cited_unknown"])
    # Without evidence nothing is found in it.
    assert told["status"] == ("written" if passages and not says_nothing(text) else "failed")


def test_citations_are_read_one_by_one_and_in_lists() -> None:
    told = account("Emma [1] is by Austen [2, 3][1]; printed in [1815], says [7].")
    assert told == {"status": "written", "cited": [1, 2, 3], "cited_unknown": [7], "unsupported_numbers": []}


@pytest.mark.parametrize(
    ("text", "cited", "unknown"),
    [
        ("Emma [1-3].", [1, 2, 3], []),
        ("Emma [1\u20132; 3].", [1, 2, 3], []),
        ("Emma \u30101\u3011\u30102\u3011.", [1, 2], []),
        ("Emma\uff3b\uff11\uff3d\u3002\u30142\u3015", [1, 2], []),
        ("Emma\u30101\u30012\uff0c3\u3011", [1, 2, 3], []),
        ("Emma\uff3b1\uff5e3\uff3d", [1, 2, 3], []),
        ("See [ 1 ], [ 2, 3 ] and \u3010 4 \u3011.", [1, 2, 3], [4]),
        ("\u0625\u064a\u0645\u0627 [\u0661\u060c \u0663\u061b 7].", [1, 3], [7]),
        ("A share of [0-100] percent.", [], [0, 100]),
        ("Emma [2-1].", [1, 2], []),
        ("Emma [1, 2 and 3], or [1, 2, and 7].", [1, 2, 3], [7]),
        ("Emma [1 and 2] [2 & 3].", [1, 2, 3], []),
        ("Emma [Document 1] [doc2] [Source: 3].", [1, 2, 3], []),
        ("Emma [passage 1, passage 2] [Passages 1-3].", [1, 2, 3], []),
        ("Emma [1 und 2][^3].", [1, 2, 3], []),
        ("Emma \u30101\u2020L1-L14\u3011 [2\u2020source].", [1, 2], []),
        ("Emma [#1], [Passage #2] or [#2-#3].", [1, 2, 3], []),
        ("Emma [source 1, page 3] [Source 7, p. 2].", [1], [7]),
        ("Emma [1, p. 3; 2, pp. 3-5] [3: \u00a7 2].", [1, 2, 3], []),
        ("Emma [1, S. 3][2, Seite 4][3, \u7b2c 3 ].", [1, 2, 3], []),
        ("Emma [1, page 3, Document 2, line 9] [Source 1, source 3].", [1, 2, 3], []),
        ("Emma [citation:1] [Context 2] [chunk 3].", [1, 2, 3], []),
        ("See [2024], [note], [#], [2, May 2024], [7, Elm Street 3], [7, Broadway 3] and [1, n].", [], []),
        ("See [Table 1], [2 of 3], [Section 3], [#12], (1) and [1: 2].", [], []),
    ],
)
def test_ranges_lists_kinds_and_full_width_brackets_are_citations(
    text: str, cited: list[int], unknown: list[int]
) -> None:
    """Of a range that is none of passages only the numbers that stand there are told."""
    assert account(text) == {"status": "written", "cited": cited, "cited_unknown": unknown, "unsupported_numbers": ANY}


def test_an_index_in_code_is_no_citation() -> None:
    """Unless the whole answer stands in a code block."""
    told = account("Use `argv[0]` [2]:\n```python\nprint(argv[7], argv[1])\n```\nThat is all [3].")
    assert told == {"status": "written", "cited": [2, 3], "cited_unknown": [], "unsupported_numbers": []}
    assert account("```markdown\nEmma [1].\n```")["cited"] == [1]


def test_numbers_that_neither_question_nor_evidence_has_are_named() -> None:
    """Of the answer's text; its citations are no part of it, and what was declined has none."""
    reply = [ChatMessage.from_assistant("Emma was printed in 1816 [1], 24 years after 1792 [14].")]
    assert told(reply, 1, question="What came 24 years before?")["unsupported_numbers"] == ["1816", "1792"]
    assert account(f"{ABSTENTION} Not even in 1999.")["unsupported_numbers"] == []


def test_a_price_that_an_answer_writes_with_two_places_is_no_invention() -> None:
    reply = [ChatMessage.from_assistant("It costs 99.90 euros a year, or 1,080.00 for twelve [1].")]
    assert told(reply, 1, text="| Price | 99.9 | 1080 |")["unsupported_numbers"] == []


def test_a_number_in_the_metadata_of_a_passage_is_no_invention() -> None:
    """A prompt may show any of it."""
    reply = [ChatMessage.from_assistant("The page is of 2021-05-17.")]
    evidence = [Document(content="Prices.", meta={"date": "2021-05-17"})]
    told = answer_account(reply, asked=True, sentences=[ABSTENTION], question="When?", passages=evidence)
    assert told["unsupported_numbers"] == []


def test_a_number_in_a_list_of_the_metadata_of_a_passage_is_no_invention() -> None:
    """But one in a mapping is: those are a program's, as the box of a page's words, and hold any number."""
    reply = [ChatMessage.from_assistant("It comes in 38, 40 and 42 cm, and weighs 72 kg [1].")]
    meta = {"sizes": [38, 40], "more": ("42 cm",), "items": [{"box": [72, 720]}], "place": {"left": 72}}
    evidence = [Document(content="Sizes.", meta=meta)]
    told = answer_account(reply, asked=True, sentences=[ABSTENTION], question="Which?", passages=evidence)
    assert told["unsupported_numbers"] == ["72"]


def test_a_number_of_a_table_in_the_metadata_of_a_passage_is_no_invention() -> None:
    """NumPy's and Decimal's are none of Python's own, and read alike in a prompt."""
    reply = [ChatMessage.from_assistant("In 2019 it cost 25.50 [1].")]
    evidence = [Document(content="Prices.", meta={"year": np.int64(2019), "price": Decimal("25.50")})]
    told = answer_account(reply, asked=True, sentences=[ABSTENTION], question="When?", passages=evidence)
    assert told["unsupported_numbers"] == []


def test_a_date_in_the_metadata_of_a_passage_is_no_invention() -> None:
    """Also where it is one of Python's own, which a template shows as a text has it."""
    reply = ChatMessage.from_assistant("It changed on 2021-05-17, at 14:30 [1].")
    evidence = [Document(content="Prices.", meta={"changed": datetime(2021, 5, 17, 14, 30, tzinfo=UTC)})]
    account = answer_account([reply], asked=True, sentences=[ABSTENTION], question="When?", passages=evidence)
    assert account["unsupported_numbers"] == []


def test_an_answer_that_failed_or_was_not_asked_for_cites_nothing() -> None:
    failed = ChatMessage.from_assistant("Sorry [1].", meta={ANSWER_FAILED: "deadline"})
    assert told([failed], 1) == {"status": "failed", "cited": [], "cited_unknown": [], "unsupported_numbers": []}
    replies = [ChatMessage.from_assistant(ABSTENTION)]
    assert told(replies, 1, asked=False)["status"] == "none"
    assert told([], 1)["status"] == "none"


@pytest.mark.parametrize("sign", ["-", "_", ".", "\u2026", " ", "[1, doc ", ", p. 1", "1, p"])
@pytest.mark.parametrize("before", ["Jane Austen", "Emma [1", "Emma [doc"])
def test_a_line_that_a_model_does_not_stop_drawing_costs_milliseconds(before: str, sign: str) -> None:
    """It is read on the event loop of a server: a pattern took the square of its length, minutes for this one."""
    text = f"{before}{sign * 200_000}wrote it [1]."
    started = time.process_time()
    assert account(text)["status"] == "written"
    assert time.process_time() - started < 2


def test_a_bracket_with_ranges_of_pages_that_a_model_does_not_close_costs_milliseconds() -> None:
    """Each range was read in two ways, so that one more doubled the time: of thirty, in a reply cut off, an hour."""
    started = time.process_time()
    assert account("Emma [1" + ", p 3-4, 1" * 22)["status"] == "written"
    assert time.process_time() - started < 1
