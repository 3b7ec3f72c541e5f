"""What a spreadsheet shows beside a number: its currency, unit or percent sign stands in the cell's format alone."""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from haystack_integrations.crag.formats.sheets import told

# Quotes, a backslash or a currency in brackets hold what is shown; other brackets hold colours, `_` and `*` gaps.
_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\[\$(?P<money>[^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].'
    r"|(?P<digits>General|[0#?](?:[0#?.,]|\\?[ \xa0](?=[0#]{3}))*)"
    r"|\\?(?P<sign>.)",
    re.DOTALL,
)
_SECTION: Final = re.compile(r'(?:"[^"]*"?|\\.|\[[^\]]*\]|[_*].|[^;])+|(?<=;)(?=;|$)|^(?=;)', re.DOTALL)
# Of dates, times and durations (`[h]:mm`), without what is shown beside them, colours and gaps.
_NOT_OF_MOMENT: Final = re.compile(r'"[^"]*"?|\\.|\[(?![hms]+\])[^\]]*\]|[_*].', re.IGNORECASE)
_MOMENT: Final = re.compile(
    r"(?=.*[dmyhs])(?:\[[hms]{1,2}\]|[dmyhs]|AM/PM|A/P|\.0{1,3}|[^\w#?\[\]])+", re.IGNORECASE | re.DOTALL
)
_WHEN: Final = re.compile(r"\[(<=|>=|<>|<|>|=)(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\]")
_COMPARED: Final = {"<": lt, ">": gt, "=": eq, "<=": le, ">=": ge, "<>": ne}
_OF_SIGN: Final = "()-+"  # how the format writes what the number's own sign says
_LONGEST: Final = 1_000  # characters of a format; Excel has at most 255
_MOST_THOUSANDS: Final = 9
_PRECISE: Final = 10  # digits that stay true when a number is multiplied or divided


@dataclass(frozen=True)
class _Section:
    """What a format shows of a kind of numbers; `digits` is how it writes the number itself."""

    is_empty: bool
    when: tuple[str, float] | None
    digits: tuple[str, ...]
    before: str
    after: str
    has_percent: bool

    def holds(self, value: float) -> bool:
        return self.when is None or bool(_COMPARED[self.when[0]](value, self.when[1]))


def shown(value: float, form: str) -> str:
    """
    Write a number of a cell with what its format shows beside it.

    :param value: The number.
    :param form: The format, such as `#,##0.00 [$€-407]` or `0 "pcs"`.
    :returns: The number with all of its decimals, and its currency, unit, percent sign or leading zeros; the words that
        the format has in its place; nothing if it hides it.
    """
    sections = _sections(form[:_LONGEST])
    section = _of(sections, value)
    if section.is_empty:
        return told(value) if len(sections) == 1 else ""
    words = f"{section.before}{section.after}"
    if not section.digits:  # `"yes";;"no"`; a dash for zero says no more than zero does
        return words.strip() if any(map(str.isalnum, words)) else told(value)
    if len(section.digits) > 1:  # fractions, powers of ten, telephone numbers
        return told(value)
    digits = section.digits[0]
    # Behind the digits, or those before the point: `0.0,` and `0,.0`.
    thousands = min(sum(len(part) - len(part.rstrip(",")) for part in digits.split(".")), _MOST_THOUSANDS)
    factor = 100.0 if section.has_percent else 1.0
    scaled = value if factor == 1 and not thousands else value * factor / 1000**thousands
    number = told(abs(scaled), 15 if scaled is value else _PRECISE)
    number = number.zfill(len(digits)) if not digits.strip("0") else number
    return " ".join(f"{'-' if value < 0 else ''}{section.before}{number}{section.after}".split())


def as_moment(value: float, form: str, *, is_1904: bool = False) -> str | None:
    """
    Write a number as the date, time or duration that its format makes of it.

    :param value: The number, of days.
    :param form: The format, such as `yyyy\\-mm\\-dd` or `[h]:mm`.
    :param is_1904: Whether days are counted from 1904.
    :returns: The text, of a number that is no moment its digits; None for any other format.
    """
    bare = _NOT_OF_MOMENT.sub("", form[:_LONGEST])
    if _MOMENT.fullmatch(bare) is None:
        return None
    from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel  # a fifth of a second

    with suppress(ValueError, OverflowError):
        epoch = CALENDAR_MAC_1904 if is_1904 else CALENDAR_WINDOWS_1900
        return told(from_excel(value, epoch, timedelta="[" in bare))
    return told(value)


def _of(sections: tuple[_Section, ...], value: float) -> _Section:
    if any(one.when for one in sections):
        return next((one for one in sections if one.holds(value)), sections[-1])
    place = 1 if value < 0 else 2 if value == 0 else 0
    return sections[place] if place < len(sections) else sections[0]


@lru_cache(maxsize=1_000)
def _sections(form: str) -> tuple[_Section, ...]:
    return tuple(map(_section, _SECTION.findall(form)[:3])) or (_section(""),)


def _section(text: str) -> _Section:
    digits, around, has_percent = list[str](), ["", ""], False
    for token in _TOKEN.finditer(text):
        if token["digits"]:
            digits.append(token["digits"])
            continue
        said = "".join(token[name] or "" for name in ("quoted", "money", "sign"))
        has_percent = has_percent or token[0] == "%"
        around[bool(digits)] += "" if said in _OF_SIGN else said
    when = _WHEN.search(text)
    compared = (when[1], float(when[2])) if when else None
    return _Section(not text, compared, tuple(digits), around[0], around[1], has_percent)
