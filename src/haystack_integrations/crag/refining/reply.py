"""
Reading the numbers of strips in a model's reply; nothing else of a reply is ever used, so nothing can be invented.

A list that was cut is not used at all: nobody knows what would have followed, and what is missing would be lost.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from haystack_integrations.crag.replies.json_scan import INVALID, json_values, strict, without_thoughts
from haystack_integrations.crag.replies.model_reply import problem_of

_MOST_VALUES: Final = 64
_MOST_DIGITS: Final = 7
_FENCED: Final = re.compile(r"```\w{0,10}\s*(\[[^`]*\])\s*```")


@dataclass(frozen=True)
class Named:
    """
    What a reply named.

    :param numbers: The numbers of strips that were shown, each once, in the reply's order.
    :param unknown: How many numbers of no strip it named; they are dropped.
    :param problem: Why the reply cannot be used, or None: `empty`, `too_long`, `length`, `interrupted`,
        `content_filter`, `not_json`, `invalid` (something that is no number, or two lists that differ),
        `counted_from_0`, `unknown_numbers`.
    """

    numbers: tuple[int, ...] = ()
    unknown: int = 0
    problem: str | None = None


def read_numbers(text: str | None, count: int, *, finish_reason: str | None) -> Named:
    """
    Read `{"keep": [1, 4]}` wherever it stands, or an array that is the whole reply or the whole of a code block.

    :param text: What the model wrote.
    :param count: How many strips were shown; their numbers begin at 1.
    :param finish_reason: The model's own word on why it stopped.
    :returns: The numbers, or why there are none. An empty list is an answer: no strip is worth keeping.
    """
    problem = problem_of(text, finish_reason)
    if problem is not None:
        return Named(problem=problem)
    lists = list(_lists(without_thoughts(text or "").strip()))
    if not lists:
        return Named(problem="not_json")
    numbers = [_numbers(found) for found in lists]
    if any(found is None or set(found) != set(numbers[0] or ()) for found in numbers):
        return Named(problem="invalid")
    distinct = tuple(dict.fromkeys(numbers[0] or ()))
    if 0 in distinct:
        return Named(problem="counted_from_0")  # all the others name the strip before the one that is meant
    known = tuple(number for number in distinct if 1 <= number <= count)
    nothing_known = bool(distinct) and not known
    return Named(known, len(distinct) - len(known), "unknown_numbers" if nothing_known else None)


def _lists(text: str) -> Iterator[Any]:
    """Find what is given as the list of numbers; in prose `[1]` alone is a citation."""
    fenced = _FENCED.fullmatch(text)
    bare = strict(fenced[1] if fenced else text) if text.startswith(("[", "`")) else INVALID
    if isinstance(bare, list):
        yield bare
        return
    for value, _, _ in json_values(text, _MOST_VALUES):
        if isinstance(value, dict) and "keep" in value:
            yield value["keep"]


def _numbers(value: Any) -> list[int] | None:
    """Take a list of whole numbers, also in quotes; None for anything else, such as a range."""
    if not isinstance(value, list):
        return None
    numbers = []
    for entry in value:
        if isinstance(entry, str) and entry.isascii() and entry.isdecimal() and len(entry) <= _MOST_DIGITS:
            numbers.append(int(entry))
        elif isinstance(entry, int) and not isinstance(entry, bool):
            numbers.append(entry)
        else:
            return None
    return numbers
