"""What English writes in several ways: numbers, units, a few names and words ("ten percent" and 10%, US, bike)."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

import yaml

_NUMBER: Final = r"\d[\d.,]*"
_SHORT: Final = 2
_Pair = tuple[str, str]
_STEM: Final = 5
_MOST_KEPT: Final = 1000


def written_otherwise(query: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find what documents write for numbers, units and names of a question that none of them writes in that way.

    ```python
    from haystack_integrations.crag.texts.notations.writings import written_otherwise

    assert dict(written_otherwise("Who gets ten percent?", ["It is 10% off."])) == {"ten": "10", "percent": "%"}
    assert dict(written_otherwise("Which trail is 12km long?", ["12 kilometers"])) == {"12km": "12 kilometers"}
    assert dict(written_otherwise("Who left the US?", ["the United States"])) == {"us": "United States"}
    ```

    :param query: The question.
    :param texts: The documents.
    :returns: Pairs of what the question has, in small letters, and what to read for it.
    """
    read, said = set[str](), {found.lower() for found in _any().findall(query)}
    if not said:
        return
    shown = _Shown(texts)
    for kind, writings, lowered in _groups():
        typed = None if said.isdisjoint(lowered) else _found(query, writings)
        if typed is None:
            continue
        pair = _with_number(query, typed, writings, shown) if kind == "units" else None
        pair = pair or _alone(query, typed, writings, shown, _counted(query, typed) if kind == "numbers" else "")
        if pair and pair[0].lower() not in read and pair[0].lower() != pair[1].lower():
            read.add(pair[0].lower())
            yield pair[0].lower(), pair[1]


def writings_of(unit: str) -> list[str]:
    """
    Give the ways to write a unit.

    ```python
    from haystack_integrations.crag.texts.notations.writings import writings_of

    assert {"kilograms", "kilo", "kg"} <= {*writings_of("kg")}
    assert writings_of("employees") == []
    ```

    :param unit: What stands behind a number.
    :returns: All ways; none of what is no unit.
    """
    units = (writings for kind, writings, lowered in _groups() if kind == "units" and unit.lower() in lowered)
    return [one for writings in units for one in writings]


class _Shown:
    """What documents have: a writing is looked for letter by letter first, which is ten times as fast."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [(text, text.lower()) for text in texts]

    def times(self, writing: str, counted: str = "") -> int:
        """Tell in how many of them a writing is."""
        low, pattern = writing.lower(), _pattern(writing, counted)
        return sum(low in lowered and pattern.search(text) is not None for text, lowered in self._texts)


def _alone(query: str, typed: str, writings: Sequence[str], shown: _Shown, counted: str) -> _Pair | None:
    """Find what documents write for a word, and none of them as the question has it."""
    if not _is_said_once(query, typed) or shown.times(typed, counted):
        return None
    best = max(writings, key=lambda other: shown.times(other, counted))
    return (typed, best) if shown.times(best, counted) else None


def _with_number(query: str, unit: str, writings: Sequence[str], shown: _Shown) -> _Pair | None:
    """Find how documents write the number before a unit with it: a number and a unit in one are a word of their own."""
    found = re.search(rf"(?<![\w.,])({_NUMBER})([ ]?){re.escape(unit)}(?!\w)", query)
    if found is None or shown.times(found[0]):
        return None
    candidates = (f"{found[1]}{space}{other}" for other in writings for space in (" ", ""))
    return next(((found[0], one) for one in candidates if shown.times(one)), None)


def _counted(query: str, number: str) -> str:
    """Give a pattern of what is counted, as documents may write it: four is a 4 where it is of the same things."""
    found = re.search(rf"{re.escape(number)}\W+(\w+)", query, re.IGNORECASE)
    things = found[1].lower() if found else number
    ways = writings_of(things) or [things[:_STEM]]
    return rf"[\s-]?(?:{'|'.join(map(re.escape, ways))})"


def _is_said_once(query: str, typed: str) -> bool:
    """Tell a country from a pronoun: both would be read otherwise."""
    return len(re.findall(rf"(?<!\w){re.escape(typed)}(?!\w)", query, re.IGNORECASE)) == 1


def _found(query: str, writings: Sequence[str]) -> str | None:
    """Give the longest writing of a few that a question has."""
    there = (one for one in reversed(writings) if one[0].isalnum() and _pattern(one).search(query))
    return max(there, key=len, default=None)


@lru_cache(_MOST_KEPT)
def _pattern(writing: str, counted: str = "") -> re.Pattern[str]:
    """Find one: a sign anywhere, letters as a word, a unit behind a digit, too; one of two letters there alone."""
    if counted:
        return re.compile(
            rf"(?<![\w.,]){re.escape(writing)}{counted}|[$€£]\s?{re.escape(writing)}(?![\d.,]*\d)", re.IGNORECASE
        )
    if not writing[0].isalnum():
        return re.compile(re.escape(writing))
    behind = r"(?:(?<=\d)|(?<=\d ))" if writing.islower() and len(writing) <= _SHORT else r"(?<![^\W\d_])"
    # "us" is no country, and a doctor no title; "usa" is one.
    is_exact = len(writing) <= _SHORT if writing.isupper() else writing.istitle() and " " not in writing
    return re.compile(rf"{behind}{re.escape(writing)}(?!\w)", 0 if is_exact else re.IGNORECASE)


@cache
def _any() -> re.Pattern[str]:
    """Find any: what most questions have none of."""
    every = {re.escape(one) for _, writings, _ in _groups() for one in writings if one[0].isalnum()}
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(sorted(every, key=len, reverse=True))})(?!\w)", re.IGNORECASE)


@cache
def _groups() -> tuple[tuple[str, tuple[str, ...], frozenset[str]], ...]:
    """Give the kind of each group of writings, the writings, and those in small letters."""
    known = yaml.safe_load((files("haystack_integrations.crag") / "data" / "writings.yml").read_text("utf-8"))
    return tuple(
        (kind, tuple(writings), frozenset(map(str.lower, writings)))
        for kind, groups in known.items()
        for writings in groups
    )
