"""What is learned of a context by prompts that were too long."""

from math import inf

from haystack_integrations.crag.chat.room import Room


def test_what_only_looks_like_a_prompt_that_was_cut_teaches_nothing_the_first_time() -> None:
    """One prompt in thousands has by chance the length of a context: all later ones were split for it."""
    room = Room()
    room.refused(2000, surely=False)
    assert room.within(inf) == inf
    room.took(1000)  # a half of it, as is asked next
    room.refused(1900, surely=False)
    assert room.within(inf) == 1000


def test_a_longer_prompt_that_is_taken_takes_the_doubt_away() -> None:
    """Then the first was none that was cut, and the next one is the first again."""
    room = Room()
    room.refused(2000, surely=False)
    room.took(2500)
    room.refused(2100, surely=False)
    assert room.within(inf) == inf
    room.refused(6000)
    assert room.within(inf) == 3000
