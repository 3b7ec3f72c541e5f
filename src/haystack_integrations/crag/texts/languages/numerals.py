"""Numbers as Chinese, Japanese and Korean texts write them: numerals, thousands, and groups of ten thousand."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

_DIGITS: Final = {sign: n for n, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_TIMES: Final = {"十": 10, "百": 100, "千": 1000}
_GROUPS: Final = {**dict.fromkeys("万萬만", 4), **dict.fromkeys("亿億억", 8), **dict.fromkeys("兆조", 12)}
_SIGNS: Final = "".join((*_DIGITS, *_TIMES))
# Behind digits: 3万5千, 2천5백.
_BEHIND_DIGITS: Final = {**dict.fromkeys("千천", 1000), **dict.fromkeys("百백", 100)}
_MIXED: Final = r"(?:\d{1,4}(?:\.\d{1,3})? ?[千천](?: ?\d[百백])?|\d{1,2}[百백])(?:\d{1,2})?"
_MIXED_PART: Final = re.compile(rf"(\d+(?:\.\d+)?) ?([{''.join(_BEHIND_DIGITS)}]?)")
# A single numeral is a part of other words, too: 一般, 千葉.
_GROUP: Final = rf"(?:{_MIXED}|\d{{1,12}}(?:,\d{{3}}){{0,3}}(?:\.\d{{1,12}})?|[{_SIGNS}]{{1,12}}) ?[{''.join(_GROUPS)}]"
_NUMBER: Final = re.compile(
    rf"(?:{_GROUP} ?)+(?:{_MIXED}|\d{{1,4}}(?:,\d{{3}})?|[{_SIGNS}]{{1,12}})?|{_MIXED}|[{_SIGNS}]{{2,12}}"
)
_ANY: Final = frozenset((*_SIGNS, *_GROUPS, *_BEHIND_DIGITS))
_PART: Final = re.compile(rf"({_MIXED}|[\d,.]+|[{_SIGNS}]+) ?([{''.join(_GROUPS)}]?)")


def numerals(text: str) -> Iterator[tuple[str, str]]:
    """
    Find numbers that are written in numerals, or in thousands and groups of ten thousand.

    ```python
    from haystack_integrations.crag.texts.languages.numerals import numerals

    assert [*numerals("三十天内 1亿2000万元")] == [("三十", "30"), ("1亿2000万", "120000000")]
    assert [*numerals("3만 5천원")] == [("3만 5천", "35000")]
    ```

    :param text: Any text, digits as in ASCII.
    :returns: Each as it is written, and its digits.
    """
    if _ANY.isdisjoint(text):
        return  # what most texts are, and sooner seen by letters than by places
    for found in _NUMBER.finditer(text):
        value = sum((_value(part) * 10 ** _GROUPS.get(group, 0) for part, group in _PART.findall(found[0])), Decimal())
        yield found[0].rstrip(), f"{value:f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def _value(part: str) -> Decimal:
    if not _BEHIND_DIGITS.keys().isdisjoint(part) and part[0] not in _SIGNS:
        return sum((Decimal(said) * _BEHIND_DIGITS.get(sign, 1) for said, sign in _MIXED_PART.findall(part)), Decimal())
    if part[0] not in _SIGNS:
        return Decimal(part.replace(",", "").rstrip("."))
    if not _TIMES.keys() & set(part):  # 二〇二六: by their places
        return Decimal("".join(str(_DIGITS[sign]) for sign in part))
    value = digit = 0
    for sign in part:
        if sign in _TIMES:
            value, digit = value + (digit or 1) * _TIMES[sign], 0
        else:
            digit = _DIGITS[sign]
    return Decimal(value + digit)
