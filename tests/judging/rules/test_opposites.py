"""Who asks for one of two kinds is not told by the other."""

import time
from typing import Any

import pytest
from haystack import Document
from makers import fill

from haystack_integrations.crag.judging.rules.exact import absent
from haystack_integrations.crag.judging.rules.opposites import untold_kinds
from haystack_integrations.crag.pipelines import load

SECONDS = 2.0  # some hundredths here
FEE = "The monthly fee of the Aurora plan is 12 EUR."
HOURS = "# Lido\n\nSummer: 8:00 to 21:00. Children pay half."


@pytest.mark.parametrize(
    ("question", "text", "asked"),
    [
        ("What is the yearly fee of the Aurora plan?", FEE, "yearly"),
        ("How much is the Aurora plan per week?", FEE, "per week"),
        ("What are the winter hours of the lido?", HOURS, "winter"),
        ("maximum order of screws", "The minimum order of screws is 200.", "maximum"),
        ("What does an indoor court cost?", "Outdoor courts cost 14 EUR.", "indoor"),
        ("Do part-time staff get a parka?", "All full-time staff get a parka.", "part-time"),
        ("How much is a child ticket?", "An adult ticket costs 11 EUR.", "child"),
        ("What was the gross profit?", "Net profit was 3 million.", "gross"),
        ("What did express delivery cost?", "Standard delivery costs 4 EUR.", "express"),
    ],
)
def test_another_kind_is_found_where_one_is_asked_for(question: str, text: str, asked: str) -> None:
    """No document tells the one that is asked for."""
    assert [*untold_kinds(question, [text])] == [asked]
    assert asked in absent(question, [("", text)])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the monthly fee of the Aurora plan?", FEE),
        ("What is the yearly fee of the Aurora plan?", f"{FEE} Who pays for twelve months gets two of them free."),
        ("What is the yearly fee of the Aurora plan?", "The Aurora plan costs 12 EUR."),  # of no kind
        ("What are the winter hours of the lido?", f"{HOURS} It is closed in January."),
        ("Is the lido open in winter?", "The lido is open in summer only."),  # that answers
        ("Can I use the stain indoors?", "The stain is for outdoors alone."),
        ("Which is cheaper, the monthly or the yearly fee?", FEE),  # of two kinds each may be asked for
        ("How long does standard delivery take?", "Delivery takes four days, express delivery one."),  # unnamed
        ("How much is an adult ticket?", "A ticket is 11 EUR, a child pays half."),
        ("How much is a child ticket?", "An adult ticket is 11 EUR, under 12 it is free."),
        ("What does Aurora mean?", FEE),
        ("Is there a tree in front of the lido?", "At the rear of the lido is a tree."),
        ("How much is the plan?", FEE),
        ("How do I export all notes in a single file?", "Double-click the book; all notes are exported in one file."),
    ],
)
def test_what_tells_the_kind_in_other_words_or_tells_none_is_left_alone(question: str, text: str) -> None:
    """A kind that is not named may be meant."""
    assert [*untold_kinds(question, [text])] == []


def test_a_document_about_something_else_tells_no_kind() -> None:
    """Nor does it name another one."""
    texts = [("", FEE), ("", "The yearly party of the chess club is in May.")]
    assert absent("What is the yearly fee of the Aurora plan?", texts) == ["yearly"]
    assert absent("When is the monthly party of the choir?", [("", "The party of the choir is in May."), *texts]) == []


def test_a_question_for_the_other_kind_is_not_answered(in_memory_store: Any) -> None:
    """All its other words are there."""
    fill(in_memory_store, [Document(content=text) for text in (FEE, HOURS, "Dogs stay outside.", "Tea is at five.")])
    rag = load("corrective_retrieval", store=in_memory_store)
    assert rag.run(query="What is the monthly fee of the Aurora plan?")["crag"]["verdict"] == "correct"
    assert rag.run(query="What is the yearly fee of the Aurora plan?")["crag"]["verdict"] != "correct"


def test_no_question_takes_long() -> None:
    """Nor does a text of nothing but kinds."""
    begun = time.process_time()
    question = "yearly fee " * 10_000
    [*untold_kinds(question, ["monthly fee " * 20_000, "a. " * 50_000])]
    assert time.process_time() - begun < SECONDS
