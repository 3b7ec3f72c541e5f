"""Lines of a PDF without their numbers: TeX prints them behind each line, where they are glued to its last word."""

import re
from itertools import pairwise
from typing import Final

_NUMBERED: Final = re.compile(r"(?<=[^\d\s])\d{1,5}(?=[ \t]*$)")
_FEWEST: Final = 10  # lines of a page in a row; fewer are signs of notes
_FARTHEST: Final = 3  # numbers in a row that may be missing: those behind another number cannot be told apart
_MOST_BETWEEN: Final = 30  # lines: a table or a figure
_MOST: Final = 1_000  # lines of a page
_DIFFERENT: Final = 0.6  # of the words before numbers: of "GPIO1", "GPIO2" they are parts


def without_line_numbers(text: str) -> str:
    """
    Take the numbers of lines out of a page.

    :param text: The text of a page.
    :returns: The same; all of it if no ten lines or more end with numbers that go on with one another.
    """
    lines = text.split("\n")
    found = [(place, match) for place, line in enumerate(lines) if (match := _NUMBERED.search(line)) is not None]
    if len(found) < _FEWEST or len(lines) > _MOST:
        return text
    chains: list[list[tuple[int, int]]] = []
    for place, match in found:
        number = int(match[0])
        chain = next((one for one in reversed(chains) if _goes_on(one[-1], (place, number))), None)
        if chain is None:
            chains.append([(place, number)])
        else:
            chain.append((place, number))
    counted = max(chains, key=len)
    ends = dict(counted)
    words = {lines[place].rstrip().removesuffix(str(number)).split()[-1] for place, number in counted}
    if len(counted) < _FEWEST or len(words) < len(counted) * _DIFFERENT:
        return text
    for (before, first), (after, last) in pairwise(counted):
        if last == first + 2:  # behind a number: of "in 202015" the line is the 15th
            between = [place for place in range(before + 1, after) if lines[place].rstrip().endswith(str(first + 1))]
            ends |= dict.fromkeys(between[:1] if len(between) == 1 else (), first + 1)
    return "\n".join(line.rstrip().removesuffix(str(ends[at])) if at in ends else line for at, line in enumerate(lines))


def _goes_on(before: tuple[int, int], after: tuple[int, int]) -> bool:
    return 0 < after[1] - before[1] <= _FARTHEST and after[0] - before[0] <= _MOST_BETWEEN
