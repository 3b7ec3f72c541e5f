"""
Dates, in words or in numbers: "3 April 2021", "2021-04-03", "03.04.2021", "4/3/2021"; months in words ("April 2021").

Of months in numbers none is known: 2010-11 is a season as well.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final, NamedTuple

from haystack_integrations.crag.texts.languages.spelling import one_spelling

_MONTHS: Final = (
    "january jan januar janvier enero gennaio janeiro januari",
    "february feb februar février febrero febbraio fevereiro februari",
    "march mar märz mars marzo março maart",
    "april apr avril abril aprile",
    "may mai mayo maggio maio mei",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember décembre diciembre dicembre dezembro",
)
# Whatever the case of letters, a pattern takes both i of Turkish and the long s of old prints for i and s.
_NUMBERS: Final = {one_spelling(name): number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_NAMES: Final = tuple(names.split()[0].capitalize() for names in _MONTHS)
_MONTH: Final = rf"(?:{'|'.join(sorted(' '.join(_MONTHS).split(), key=len, reverse=True))})"
_DATE: Final = re.compile(
    rf"""(?<![\w.,/-])(?:
    (?P<iso>(?:1\d|20)\d\d)(?P<parted>[-/.])(?P<iso_month>\d\d?)(?P=parted)(?P<iso_day>\d\d?)
    |(?P<one>\d\d?)(?P<sign>[./-])(?P<two>\d\d?)(?P=sign)(?P<short>(?:1\d|20)\d\d)
    |(?:(?P<day>\d\d?)(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?)?(?P<month>{_MONTH})\b\.?
      (?:\s+(?P<behind>\d\d?)(?:st|nd|rd|th)?\b(?!:))?,?\s+(?:de\s+)?(?P<year>(?:1\d|20)\d\d)
    )(?:(?=T\d)|(?![\w/-]|[.,]\d))""",
    re.IGNORECASE | re.VERBOSE,
)
_LAST_DAY, _LAST_MONTH = 31, 12


class Day(NamedTuple):
    """
    A day, or a month.

    :param year: Four digits.
    :param month: 1 to 12.
    :param day: 1 to 31; 0 for the month.
    """

    year: int
    month: int
    day: int


def dates_in(text: str) -> Iterator[tuple[str, frozenset[Day]]]:
    """
    Find dates, with month names in English, German, French, Spanish, Italian, Portuguese and Dutch.

    ```python
    from haystack_integrations.crag.texts.notations.dates import Day, dates_in

    assert [*dates_in("Opened on April 3rd, 2021.")] == [("April 3rd, 2021", {Day(2021, 4, 3)})]
    assert [*dates_in("on 4/3/2021")] == [("4/3/2021", {Day(2021, 4, 3), Day(2021, 3, 4)})]
    ```

    :param text: Any text.
    :returns: Each as it is written, and the days it may mean: two where day and month may be either.
    """
    yield from ((found[0], days) for found, days in _found_in(text))


def other_forms(text: str) -> Iterator[str]:
    """
    Give a text with its dates in the other form: in words what is in numbers, and in numbers what is in words.

    ```python
    from haystack_integrations.crag.texts.notations.dates import other_forms

    assert [*other_forms("What opened on 2021-04-03?")] == ["What opened on 3 April 2021?"]
    assert [*other_forms("What opened on 3 April 2021?")] == ["What opened on 2021-04-03?"]
    assert [*other_forms("What opened?")] == []
    ```

    :param text: A question.
    :returns: The text once for each way in which its dates can be read; nothing where it has none.
    """
    dates = [*_found_in(text)]
    if dates:
        for days in product(*(sorted(days) for _, days in dates)):
            other, last = "", 0
            for (found, _), day in zip(dates, days, strict=True):
                other += text[last : found.start()] + (in_numbers(day) if _is_in_words(found[0]) else _in_words(day))
                last = found.end()
            yield other + text[last:]


def _found_in(text: str) -> Iterator[tuple[re.Match[str], frozenset[Day]]]:
    for found in _DATE.finditer(text):
        days = frozenset(day for day in _meant(found.groupdict()) if day.month <= _LAST_MONTH and day.day <= _LAST_DAY)
        if days and all(day.month for day in days):
            yield found, days


def _meant(parts: Mapping[str, str | None]) -> Iterator[Day]:
    if parts["iso"]:
        yield Day(int(parts["iso"]), int(parts["iso_month"] or 0), int(parts["iso_day"] or 0))
    elif parts["short"]:
        one, two, year = (int(parts[name] or 0) for name in ("one", "two", "short"))
        yield Day(year, two, one)
        if parts["sign"] != ".":  # so month and day are written in some countries
            yield Day(year, one, two)
    elif parts["month"]:
        day = parts["day"] or parts["behind"] or 0
        yield Day(int(parts["year"] or 0), _NUMBERS[one_spelling(parts["month"].casefold())], int(day))


def _is_in_words(written: str) -> bool:
    return any(letter.isalpha() for letter in written)


def in_numbers(day: Day) -> str:
    """
    Write a day as ISO 8601 has it.

    :param day: A day, or a month.
    :returns: As 2021-04-03, or 2021-04.
    """
    return f"{day.year}-{day.month:02}-{day.day:02}" if day.day else f"{day.year}-{day.month:02}"


def _in_words(day: Day) -> str:
    return " ".join(filter(None, (str(day.day or ""), _NAMES[day.month - 1], str(day.year))))
