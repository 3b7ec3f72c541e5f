"""
Numbers of an answer that its evidence does not have: the made-up detail that costs most, and needs no model to be seen.

A number is compared by its digits, whatever separates them, so that 1,200 and 1.200 are the same; a number that is
written out counts with its digits in English, Chinese and Japanese, as does 12万. Numbers up to twelve are left out,
since they count things; and so is what numbers a list, and what belongs to a name, as in COVID-19.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain
from threading import Lock
from typing import Final
from unicodedata import normalize, numeric

from cachetools import LRUCache, cached

from haystack_integrations.crag.number_words import SHORT_ZEROS, ZEROS, spelled
from haystack_integrations.crag.texts.languages.numerals import numerals
from haystack_integrations.crag.texts.languages.spelling import one_spelling
from haystack_integrations.crag.texts.text import PHRASES, UNSPACED

# Groups of thousands may be set apart by spaces. All marks between digits are read alike, Arabic ones among them.
_NUMBER: Final = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,\u066b]\d+)?|\d+(?:[.,'\u2019\u060c\u066b\u066c]\d+)*")
_ITEM: Final = re.compile(r"^[ \t>*_-]*(\d{1,3})[.)](?=[ \t*_])", re.MULTILINE)
_RAISED: Final = re.compile(r"(?<=\d)[\u00b2\u00b3\u00b9\u2070-\u2079]+")
_PART: Final = re.compile(r"(?:(?<=\d) ?)?[\u00bc-\u00be]")
_OTHER_DIGIT: Final = re.compile(r"(?![0-9])\d")
_SCALED: Final = re.compile(
    rf"(?<!\d)(?<!\d[.,])(\d{{1,12}}(?:[.,]\d{{1,12}}){{0,4}}) ?(?:({'|'.join(ZEROS)})s?|({'|'.join(SHORT_ZEROS)}))\b",
    re.IGNORECASE,
)
# Years of which the second has lost its century: 2024/25 and its like. 2024-11-25 is a day.
_SPAN: Final = re.compile(r"(?<![\d./-])((?:1\d|20)(\d\d))[/\u2010-\u2014-](\d\d)(?![\d/-])")
_SMALL: Final = 12
_GROUP: Final = 3
_REMEMBERED: Final = 2_000_000  # letters of texts whose numbers are kept: documents come again for other questions
MOST_NUMBERS: Final = 20
"""How many of an answer's numbers are told at most."""

_MARKS: Final = re.compile(r"\D+")
_DATE: Final = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_FRACTION: Final = re.compile(r"[.,\u066b]\d{1,2}$")  # of three digits it may be a group of thousands


def unsupported_numbers(answer: str, evidence: Iterable[str], *, amounts: bool = False) -> list[str]:
    """
    Find numbers that an answer did not take from its evidence.

    ```python
    from haystack_integrations.crag.answer_numbers import unsupported_numbers

    assert unsupported_numbers("Within 14 days.", ["Returns are possible within thirty days."]) == ["14"]
    assert unsupported_numbers("Within 30 days.", ["Returns are possible within thirty days."]) == []
    ```

    :param answer: What a model wrote, without its citations.
    :param evidence: All texts that it was shown, the question among them.
    :param amounts: Read 99.90 as 99.9, and 12,000.00 as 12000, as people write prices. Version 3.10 is not 3.1.
    :returns: The numbers as the answer writes them, each once, the first 20; those up to twelve are not looked at.
    """
    text = _without_items(_plain(answer))
    written = dict.fromkeys(found[0] for found in _NUMBER.finditer(text) if not _is_small(found[0]) and _stands(found))
    if not written:
        return []
    texts = [*map(_read, evidence)]
    # Most stand there as they are written, which is quickly seen.
    standing = set(chain.from_iterable(each.standing for each in texts))
    if not (left := [number for number in written if number not in standing]):
        return []
    scaled = {found[1]: _scaled(found) for found in _SCALED.finditer(text)}
    # The other ways of writing take most of the time, and this one is of large numbers.
    is_long = any(number in scaled or len(_digits(number)) > min(ZEROS.values()) for number in left)
    forms = (each.forms(scaled=is_long, amounts=amounts) for each in texts)
    known = set(chain.from_iterable(forms))
    scaled |= {number: [digits] for whole, digits in numerals(text) for number in _NUMBER.findall(whole)}
    scaled |= {year[2:]: [year] for year in _last_years(text)}
    missing = [
        number
        for number in left
        if _digits(number) not in known
        and not (amounts and _amount(number) in known)
        and known.isdisjoint(scaled.get(number, ()))
        and not _are_known(number, known)
    ]
    return missing[:MOST_NUMBERS]


def plain_digits(text: str) -> str:
    """
    Write digits of any script, and signs of any width, as ASCII has them.

    :param text: Any text.
    :returns: The same in Unicode's compatible form.
    """
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), normalize("NFKC", text))


def with_whole_years(text: str) -> str:
    """
    Write the last year of each span of years out.

    ```python
    from haystack_integrations.crag.answer_numbers import with_whole_years

    assert with_whole_years("In 2024/25 and on 2024-11-25.") == "In 2024/2025 and on 2024-11-25."
    ```

    :param text: Any text.
    :returns: The same, with the century that 2024/25 leaves out.
    """
    return _SPAN.sub(lambda span: span[0][:-2] + (_last_year(span) or span[3]), text)


def _plain(text: str) -> str:
    """Write 3½ as 3.5, and set a note's mark or a power apart: 14¹ is 14."""
    if text.isascii():
        return text
    told = _PART.sub(lambda part: f"{numeric(part[0][-1]):.2f}".removeprefix("0").rstrip("0"), text)
    return plain_digits(_RAISED.sub(lambda mark: f" {mark[0]}", told))


def _without_items(answer: str) -> str:
    """Leave out the numbers of a list, which go on from 1 line by line: what is in its place is no number of a fact."""
    last = 0

    def instead(item: re.Match[str]) -> str:
        nonlocal last
        is_next = int(item[1]) in (1, last + 1)
        last = int(item[1]) if is_next else last
        return "" if is_next else item[0]

    return _ITEM.sub(instead, answer)


def _is_small(number: str) -> bool:
    return len(number) <= len(str(_SMALL)) and int(number) <= _SMALL


def _stands(found: re.Match[str]) -> bool:
    """Tell whether a number stands by itself, not behind a letter, with or without a hyphen."""
    # Chinese, Japanese and Thai set no space before a number.
    before = found.string[max(0, found.start() - 2) : found.start()].removesuffix("-")[-1:]
    return not before.isalpha() or any(script.match(before) for script in (UNSPACED, PHRASES))


def _digits(number: str) -> str:
    return _MARKS.sub("", number).lstrip("0")


def _amount(number: str) -> str:
    """Leave out the zeros that a fraction ends with."""
    return _digits(number.rstrip("0") if _FRACTION.search(number) else number)


def _are_known(number: str, known: Collection[str]) -> bool:
    """Tell whether a date, a time or a grouped number stands there in parts; digits one by one are in any text."""
    parts = _MARKS.split(number)
    if _DATE.fullmatch(number):  # as 2024-03-05 is read, whose month may stand there as a word
        return all(_is_small(part) or _digits(part) in known for part in parts)
    return all(len(part) > 1 and _digits(part) in known for part in parts)


def _scaled(found: re.Match[str]) -> list[str]:
    """Write 1.5 million out, and 1,200 million both as that and as 1.2 million: either mark may be of either kind."""
    number, scale, short = found.groups(default="")
    # Turkish capitals have another I, which the pattern takes for one.
    zeros = ZEROS[one_spelling(scale.casefold())] if scale else SHORT_ZEROS[short.lower()]
    *whole, last = re.split("[.,]", number)
    with_part = ["".join(whole) + last.ljust(zeros, "0")] if whole else []
    in_groups = ["".join(whole) + last + "0" * zeros] if not whole or len(last) == _GROUP else []
    return [digits.lstrip("0") for digits in (*with_part, *in_groups)]


def _last_years(text: str) -> Iterator[str]:
    """Write the last year of each span of years out."""
    return filter(None, map(_last_year, _SPAN.finditer(text)))


def _last_year(span: re.Match[str]) -> str:
    """Write one out; nothing of what is no span, as 2024/11."""
    return span[1][:2] + span[3] if span[3] > span[2] else ""


class _Numbers:
    """The numbers of a text, in each way of writing that has been asked for."""

    def __init__(self, text: str) -> None:
        self.text = _plain(text)

    def forms(self, *, scaled: bool, amounts: bool) -> Iterator[str]:
        """Give all numbers by their digits."""
        return chain(self._digits, self._spelled, self._scaled if scaled else (), self._amounts if amounts else ())

    @cached_property
    def standing(self) -> frozenset[str]:
        """Numbers as they stand there."""
        return frozenset(_NUMBER.findall(self.text))

    @cached_property
    def _digits(self) -> frozenset[str]:
        in_numerals = () if self.text.isascii() else (digits for _, digits in numerals(self.text))
        parts = chain.from_iterable(map(_MARKS.split, self.standing))
        return frozenset((*map(_digits, self.standing), *map(_digits, parts), *in_numerals, *_last_years(self.text)))

    @cached_property
    def _amounts(self) -> frozenset[str]:
        return frozenset(map(_amount, self.standing))

    @cached_property
    def _scaled(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(map(_scaled, _SCALED.finditer(self.text))))

    @cached_property
    def _spelled(self) -> frozenset[str]:
        return frozenset(str(value) for value in spelled(self.text) if value > _SMALL)


@cached(LRUCache(_REMEMBERED, getsizeof=lambda numbers: 1 + len(numbers.text)), lock=Lock())
def _read(text: str) -> _Numbers:
    return _Numbers(text)
