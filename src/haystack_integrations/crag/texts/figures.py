"""Times, sizes and ids, which are written in several ways: 6:30 pm and 18:30, 40 x 60 and 40x60, FL1020 and FL-1020."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from haystack_integrations.crag.texts.rewriting import as_written

_FIGURE: Final = re.compile(
    r"""(?<![\w.,:/-])(?:
    (?P<hour>[01]?\d|2[0-3])(?:[:h](?P<minute>[0-5]\d))?(?:[ ]?(?P<half>[ap])(?:\.m\.|m\b))?
    |(?<=\bat[ ])(?P<spoken>[01]?\d|2[0-3])\.(?P<past>[0-5]\d)
    |(?P<wide>\d{1,5})[ ]?[xX\u00d7][ ]?(?P<high>\d{1,5})(?:[ ]?[xX\u00d7][ ]?(?P<deep>\d{1,5}))?
    |(?P<letters>[A-Za-z]{1,6})-?(?P<number>\d{2,6})|(?P<name>[A-Z]{2,6})[ ](?P<named>\d{2,6})
    )(?!\w|[.,:/-]\w|[ ]?[xX\u00d7][ ]?\d)""",
    re.VERBOSE,
)
_NOON: Final = 12


def figures_in(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """
    Find times of a day, sizes, and names of letters and digits.

    ```python
    from haystack_integrations.crag.texts.figures import figures_in

    assert [*figures_in("at 6:30 pm")] == [("6:30 pm", ("18", "30"))]
    assert [*figures_in("FL-1020 is 40 x 60 cm")] == [("FL-1020", ("fl", "1020")), ("40 x 60", ("40", "x", "60"))]
    ```

    :param text: Any text.
    :returns: Each as it is written, and what is the same in all ways to write it.
    """
    for found in _FIGURE.finditer(text):
        part = found.groupdict()
        if part["hour"] and (part["minute"] or part["half"]):
            hour = int(part["hour"])
            if part["half"] and hour <= _NOON:
                hour = hour % _NOON + _NOON * (part["half"] == "p")
            yield found[0], (f"{hour:02}", part["minute"] or "00")
        elif part["spoken"]:
            yield found[0], (part["spoken"].zfill(2), part["past"])
        elif part["wide"]:
            yield found[0], (part["wide"], "x", part["high"], *filter(None, [part["deep"]]))
        elif name := part["letters"] or part["name"]:
            yield found[0], (name.lower(), part["number"] or part["named"])


def written_figures(query: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find how documents write the times, sizes and ids of a question that none of them writes in that way.

    :param query: The question.
    :param texts: The documents.
    :returns: Pairs of one as the question has it, in small letters, and what to read for it.
    """
    if asked := [*figures_in(query)]:
        yield from as_written(asked, chain.from_iterable(map(figures_in, texts)))
