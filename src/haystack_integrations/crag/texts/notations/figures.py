"""Amounts, times, sizes and ids: 2,500,000 and 2.5 million, 6:30 pm and 18:30, 40 x 60 and 40x60, IC402 and IC-402."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from haystack_integrations.crag.number_words import SHORT_ZEROS, ZEROS
from haystack_integrations.crag.texts.languages.spelling import one_spelling

_SCALES: Final = ZEROS | SHORT_ZEROS | dict.fromkeys(("mn", "mio"), ZEROS["million"]) | {"b": ZEROS["billion"]}
_AMOUNT: Final = re.compile(
    rf"(?<![\w.,])(\d{{1,3}}(?:,\d{{3}}){{1,4}}(?:\.\d{{1,6}})?|\d{{1,15}}(?:\.\d{{1,6}})?)"
    rf"(?:[ -]?({'|'.join(_SCALES)}))?(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_LEAST: Final = 1000
_YEAR: Final = re.compile(r"1\d{3}|20\d{2}")
_FIGURE: Final = re.compile(
    r"""(?<![\w.,:/-])(?:
    (?P<hour>[01]?\d|2[0-3])(?:[:h](?P<minute>[0-5]\d)(?::00)?)?(?:[ ]?(?P<half>[aApP])(?:\.[mM]\.|[mM]\b))?
    |(?<=\bat[ ])(?P<spoken>[01]?\d|2[0-3])\.(?P<past>[0-5]\d)
    |(?P<wide>\d{1,5})[ ]?[xX\u00d7][ ]?(?P<high>\d{1,5})(?:[ ]?[xX\u00d7][ ]?(?P<deep>\d{1,5}))?
    |(?P<letters>[A-Za-z]{1,6})-?(?P<number>\d{2,6})|(?P<name>[A-Z]{2,6})[ ](?P<named>\d{2,6})
    )(?!\w|[.,:/-]\w|[ ]?[xX\u00d7][ ]?\d)""",
    re.VERBOSE,
)
_NOON: Final = 12
_LONGEST_NAME: Final = 4
_RARE: Final = 3


def amounts_in(text: str) -> Iterator[tuple[str, Decimal]]:
    """
    Find amounts of a thousand and more; what may be a year is none.

    ```python
    from haystack_integrations.crag.texts.notations.figures import amounts_in

    assert [*amounts_in("It cost $2.5 million.")] == [("2.5 million", 2_500_000)]
    ```

    :param text: Any text.
    :returns: Each as it is written, without a currency, and its value.
    """
    for found in _AMOUNT.finditer(text):
        value = Decimal(found[1].replace(",", "")).scaleb(_SCALES.get(one_spelling((found[2] or "").casefold()), 0))
        if value >= _LEAST and not _YEAR.fullmatch(found[0]):
            yield found[0], value


def figures_in(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """
    Find times of a day, sizes, and names of letters and digits.

    ```python
    from haystack_integrations.crag.texts.notations.figures import figures_in

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
                hour = hour % _NOON + _NOON * (part["half"] in "pP")
            yield found[0], (f"{hour:02}", part["minute"] or "00")
        elif part["spoken"]:
            yield found[0], (part["spoken"].zfill(2), part["past"])
        elif part["wide"]:
            yield found[0], (part["wide"], "x", part["high"], *filter(None, [part["deep"]]))
        elif name := part["letters"] or part["name"]:
            yield found[0], (name.lower(), part["number"] or part["named"])


def other_figures(query: str) -> Iterator[str]:
    """
    Give the other writings of a query's times, sizes and ids, for a search by words: IC402 is one word, IC 402 two.

    ```python
    from haystack_integrations.crag.texts.notations.figures import other_figures

    assert [*other_figures("IC402 at 18:30")] == ["IC 402", "6:30 pm"]
    assert [*other_figures("FL-1020, 40 x 60")] == ["FL1020", "40x60"]
    ```

    :param query: A query.
    :returns: For each how others write it, in words that an index would not find by those of the query.
    """
    for written, value in figures_in(query):
        typed = written.replace("-", " ").lower()
        yield from (other for other in _writings(value) if other.lower() != typed)


def _writings(value: tuple[str, ...]) -> Iterator[str]:
    if value[0].isalpha() and len(value[0]) <= _LONGEST_NAME:  # a longer one is a word: PERIOD 2024
        yield f"{value[0].upper()}{value[1]}"
        if len(value[0]) > 1 and len(value[1]) >= _RARE:  # the 12 of B12 is in many texts
            yield f"{value[0].upper()} {value[1]}"
    elif "x" in value:
        sides = [part for part in value if part != "x"]
        yield from ("x".join(sides), " x ".join(sides))
    elif value[0].isdigit():
        hour, minute = int(value[0]), value[1]
        past = f":{minute}" if int(minute) else ""
        yield from (f"{hour:02}:{minute}", f"{hour % _NOON or _NOON}{past} {'ap'[hour >= _NOON]}m")
