"""Splitting a question by rule: only where there is no doubt."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.expansion.split import split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Where was Alan Turing born and when did he die?",
            ["Where was Alan Turing born", "when did Alan Turing die"],
        ),
        (
            "When was Alan Turing born and what were his hobbies?",
            ["When was Alan Turing born", "what were Alan Turing's hobbies"],
        ),
        ("Who wrote Emma and when was it published?", ["Who wrote Emma", "when was Emma published"]),
        ("How long is the Nile? How deep is Lake Baikal?", ["How long is the Nile", "How deep is Lake Baikal"]),
        ("How do I log in and how do I reset my password?", ["How do I log in", "how do I reset my password"]),
        ("Which city is older, Paris or Rome?", ["Paris city older", "Rome city older"]),
        ("Who is older, Hampton Del Ruth or Ted Kotcheff?", ["Hampton Del Ruth older", "Ted Kotcheff older"]),
        (
            "Were Scott Derrickson and Ed Wood of the same nationality?",
            ["Scott Derrickson nationality", "Ed Wood nationality"],
        ),
        (
            "Are Kestrel and At the End of the Pier both novels?",
            ["Kestrel novels", "At the End of the Pier novels"],
        ),
        ("What is the difference between TCP and UDP?", ["TCP", "UDP"]),
        ("Compare PostgreSQL and MySQL in terms of replication.", ["PostgreSQL replication", "MySQL replication"]),
        ("Redis vs. Memcached", ["Redis", "Memcached"]),
        ("Is Python faster than Java?", ["Python faster", "Java faster"]),
    ],
)
def test_two_questions_and_two_things_are_split(question: str, parts: list[str]) -> None:
    """Each part stands alone: a pronoun is replaced by the one name it can be."""
    assert split(question, 3) == parts


@pytest.mark.parametrize(
    "question",
    [
        "emma",
        "What are the causes and effects of inflation?",
        "What is research and development?",
        "Who founded Apple and where was he born?",  # he is not Apple
        "What company made the iPhone and when was it founded?",  # it is not the iPhone
        "Who was the wife of Barack Obama and when was she born?",
        "When did Marie Curie meet Pierre Curie and where did she work?",  # two names
        "Why is the sky blue and why?",
        "What is the relationship between how we sleep and how we learn?",
        'Who directed "What and where is love"?',
        "What is the difference between black and white and colour film?",
        "Do cats and dogs fight?",
        "Who painted the Mona Lisa and when finished?",  # two words are no question
        "I know who I am and what I want",
        "How does useState work and what are they for?",
        "What did the UN and WHO offices ask the countries?",
        "What is the song of the university whose hall is in Kestrel and whose branches are in Pier Town?",
        "Are Kestrel and Letters from the Pier both novels?",  # where does the second name end?
    ],
)
def test_a_doubt_leaves_the_question_whole(question: str) -> None:
    """A wrong part would search for something nobody asked."""
    assert split(question, 3) == []


def test_more_parts_than_allowed_are_no_parts() -> None:
    """Half of a question is another question."""
    assert split("Is Python faster than Java?", 1) == []


@given(
    st.lists(
        st.sampled_from("who what and or between than is Are A Bo it ? , vs compare faster the in".split()), max_size=90
    )
)
def test_any_question_is_split_fast_into_few_parts_or_none(parts: list[str]) -> None:
    """No text makes the rules search for long."""
    started = time.thread_time()
    found = split(" ".join(parts), 3)
    assert time.thread_time() - started < 0.5
    assert len(found) in (0, 2, 3)
    assert all(found)
