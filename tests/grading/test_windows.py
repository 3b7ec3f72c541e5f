"""How a batch is cut into prompts."""

import pytest
from haystack import Document
from hypothesis import given
from hypothesis import strategies as st
from makers import scripted

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.grading.plan import Item, make_items
from haystack_integrations.crag.grading.windows import MOST_DOCUMENTS, windows

LENGTHS = st.lists(st.integers(min_value=1, max_value=400), max_size=120)


def items(lengths: list[int]) -> list[Item]:
    """Documents of so many words each."""
    documents = {place: Document(content="word " * length) for place, length in enumerate(lengths)}
    return make_items(documents, 100_000, 100_000)


def sizes(cut: list[list[Item]]) -> list[int]:
    """Tokens of each window."""
    return [sum(item.tokens for item in window) for window in cut]


def filled(batch: list[Item], most: int) -> list[list[Item]]:
    """The plain way: a new window wherever one is full."""
    cut: list[list[Item]] = []
    for item in batch:
        full = not cut or len(cut[-1]) == MOST_DOCUMENTS or sum(one.tokens for one in cut[-1]) + item.tokens > most
        cut += [[item]] if full else []
        cut[-1] += [] if full else [item]
    return cut


@given(lengths=LENGTHS, most=st.integers(min_value=50, max_value=7000))
def test_windows_hold_all_documents_in_order_in_the_fewest_prompts_and_none_is_longer_than_it_must(
    lengths: list[int], most: int
) -> None:
    """Never more calls than by filling one after another, and never a longer one."""
    batch = items(lengths)
    cut, plain = windows(batch, most + 168, 168), filled(batch, most)
    assert [item for window in cut for item in window] == batch
    assert len(cut) == len(plain)
    assert all(len(window) <= MOST_DOCUMENTS for window in cut)
    assert all(size <= most or len(window) == 1 for size, window in zip(sizes(cut), cut, strict=True))
    assert max(sizes(cut), default=0) <= max(sizes(plain), default=0)


@pytest.mark.parametrize(
    ("lengths", "told"),
    [([200] * 22, [11, 11]), ([20] * 26, [13, 13]), ([20] * 25, [25]), ([20] * 60, [20, 20, 20]), ([], [])],
)
def test_what_needs_two_prompts_is_cut_in_the_middle(lengths: list[int], told: list[int]) -> None:
    """They are asked at the same time, and the slower one is waited for."""
    most = 4000 if lengths and lengths[0] == 200 else 7000
    assert [len(window) for window in windows(items(lengths), most, 0)] == told


@pytest.mark.parametrize(("count", "prompts"), [(10, 1), (20, 1), (50, 3), (100, 5)])
def test_twenty_passages_of_two_hundred_words_fit_one_prompt(count: int, prompts: int) -> None:
    """By default; the answer is one call more."""
    most = BatchRelevanceGrader(scripted("{}")).max_prompt_tokens
    assert len(windows(items([200] * count), most, 200)) == prompts
