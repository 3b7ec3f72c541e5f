"""How a batch becomes prompts: as few as hold it, and as even as these can be."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from haystack_integrations.crag.grading.plan import Item

MOST_DOCUMENTS: Final = 25
"""In one prompt: a reply is written grade by grade, so that two of 25 at once take half as long as one of 50."""


def windows(items: Sequence[Item], max_prompt_tokens: int, overhead: int) -> list[list[Item]]:
    """
    Cut a batch. The calls run at the same time, so what takes longest is the longest: even ones are the fastest.

    :param items: All items in rank order.
    :param max_prompt_tokens: Most tokens (estimated) of one prompt.
    :param overhead: Tokens of the prompt without documents.
    :returns: Windows in order, of at most `MOST_DOCUMENTS`; one item that is too long alone makes a window of its own.
    """
    most = max_prompt_tokens - overhead
    filled = _filled(items, most)
    if len(filled) < 2:  # noqa: PLR2004 - there is nothing to make even, as in most gradings
        return filled
    rooms = range(sum(item.tokens for item in items) // len(filled), most)
    least = bisect_left(rooms, True, key=lambda room: len(_filled(items, room)) == len(filled))
    return _filled(items, rooms[least]) if least < len(rooms) else filled


def _filled(items: Sequence[Item], most: int) -> list[list[Item]]:
    """Cut a batch wherever so many tokens are full."""
    cut: list[list[Item]] = []
    room = 0
    for item in items:
        if not cut or item.tokens > room or len(cut[-1]) == MOST_DOCUMENTS:
            cut.append([])
            room = most
        cut[-1].append(item)
        room -= item.tokens
    return cut
