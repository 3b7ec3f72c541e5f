"""The sentences of a text as they are judged: never more than so many, however the text is made."""

from collections.abc import Sequence
from typing import Final

from haystack_integrations.crag.texts.text import sentences

MOST_PIECES: Final = 2_000
"""The most that are judged of one text, 200 kB of prose. Each costs vectors; a megabyte of marks has 200,000."""

Spans = Sequence[tuple[int, int]]


def pieces(text: str) -> Spans:
    """
    Find the sentences of a text; of too many, neighbours are taken together until `MOST_PIECES` are left.

    :param text: Any text.
    :returns: Spans `(start, end)` in order, as `sentences` gives them.
    """
    found = sentences(text)
    return joined(found, -(-len(found) // MOST_PIECES))


def joined(spans: Spans, size: int) -> Spans:
    """
    Take neighbours together.

    :param spans: Spans `(start, end)`, in order.
    :param size: How many make one.
    :returns: One span for each so many, the last of what is left; the same for a size of 0 or 1.
    """
    if size <= 1:
        return spans
    groups = (spans[first : first + size] for first in range(0, len(spans), size))
    return [(group[0][0], group[-1][1]) for group in groups]
