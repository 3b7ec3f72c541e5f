"""
Documents that are of another year by their title: last year's policy, an older season.

Another document of the list may have the year that is asked for, so nothing is missing, and yet the best page on the
subject be the wrong one. Of 58 documents of six public datasets that are so, in lists of five, 3 answer.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from haystack_integrations.crag.answer_numbers import plain_digits

_YEAR: Final = r"(?<![\w.,$\u20ac\u00a3\u00a5-])(?:19|20)\d\d"
# Not an amount, a date's or a version's part.
_ASKED: Final = re.compile(rf"{_YEAR}(?!\w|[.,-]\d| ?[%$\u20ac\u00a3\u00a5]| [A-Z]{{3}}\b)")
_SPAN: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)(?: ?[-\u2013/] ?(\d{4}|\d\d)(?!\d))?")
_LONGEST_LINE: Final = 100


def of_other_years(query: str, texts: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """
    Tell which documents have years in their title, or in their first line, and nowhere one that is asked for.

    :param query: The question.
    :param texts: Title and content of each document.
    :returns: For each whether it is of other years.
    """
    asked = set(map(int, _ASKED.findall(plain_digits(query))))
    return np.array([bool(asked) and _is_of_others(asked, title, content) for title, content in texts])


def _is_of_others(asked: set[int], title: str, content: str) -> bool:
    first, _, rest = content.lstrip().partition("\n")
    above = f"{title}\n{first}" if rest and len(first) <= _LONGEST_LINE else title
    told = set(_years(plain_digits(above)))
    return bool(told) and asked.isdisjoint(told) and asked.isdisjoint(_years(plain_digits(f"{title}\n{content}")))


def _years(text: str) -> Iterator[int]:
    """Give the years of a text, and those between: 2022-25, 2023/24."""
    for found in _SPAN.finditer(text):
        first = last = int(found[1])
        if found[2]:
            last = int(found[2] if len(found[2]) == 4 else found[1][:2] + found[2])  # noqa: PLR2004
        yield from range(first, last + 1) if 0 <= last - first < 100 else (first,)  # noqa: PLR2004
