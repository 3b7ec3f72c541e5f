"""Numbers as English texts write them out: `two hundred and fifty`, `nineteenth`, `two dozen`, `half a million`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_UNITS: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES: Final = {
    "a": 1,
    **{word: n for n, word in enumerate(_UNITS, 1)},
    **{word: 10 * n for n, word in enumerate(_TENS, 2)},
}
_DOZEN, _HUNDRED = "dozen", "hundred"
ZEROS: Final = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""How many zeros a scale has, by its name."""

SHORT_ZEROS: Final = {"k": ZEROS["thousand"], "m": ZEROS["million"], "bn": ZEROS["billion"]}
"""The same, for the letters that stand for a scale behind digits."""

_ODD: Final = dict(zip("first second third fifth eighth ninth twelfth".split(), (1, 2, 3, 5, 8, 9, 12), strict=True))
_ORDINALS: Final = {
    **{word: _UNITS[n - 1] for word, n in _ODD.items()},
    **{f"{word}th": word for n, word in enumerate(_UNITS, 1) if n not in _ODD.values()},
    **{f"{word.removesuffix('y')}ieth": word for word in _TENS},
    **{f"{word}th": word for word in (_HUNDRED, *ZEROS)},
}
_LARGE: Final = "|".join((_DOZEN, _HUNDRED, *ZEROS))
_WORD: Final = rf"(?:{'|'.join((*_UNITS, *_TENS, *_ORDINALS))}|{_LARGE}|a(?=[\s-](?:{_LARGE})\b))\b"
_RUN: Final = re.compile(rf"\b{_WORD}(?:[\s-](?:and[\s-])?{_WORD})*")
_COUPLE: Final = re.compile(rf"couple(?:\sof)?(?=\s(?:{_LARGE})\b)")
_HALF: Final = re.compile(rf"\b(?:({'|'.join(_UNITS)})\sand\sa\s)?half\s(?:a\s)?({'|'.join(ZEROS)})\b")
_WORDS: Final = re.compile("[a-z]+")
# Nearly every text has none of them, which is seen sooner than by looking for each.
_PARTS: Final = (*_TENS, "tieth", "teen", _DOZEN, _HUNDRED, *ZEROS)
_HUNDREDS, _ROUND, _SINGLE = range(1, 100), range(20, 100, 10), range(1, 10)
"""What `hundred` and `dozen` may stand behind; and behind which numbers one more word may stand, and which."""

_CENTURIES, _YEARS = range(10, 21), range(10, 100)
"""Numbers that begin a year which is told in two parts, and how its second part begins."""

_LONGEST: Final = 32  # words of a number up to the trillions


def written_out(number: int) -> list[str]:
    """
    Write a small number out.

    ```python
    from haystack_integrations.crag.number_words import written_out

    assert written_out(4) == ["four", "fourth"] and written_out(40) == []
    ```

    :param number: Any number.
    :returns: The number and its ordinal in words, from 1 to 19; nothing for others.
    """
    if not 0 < number <= len(_UNITS):
        return []
    word = _UNITS[number - 1]
    return [word, *(ordinal for ordinal, of in _ORDINALS.items() if of == word)]


def spelled(text: str) -> Iterator[int]:
    """
    Find numbers that are written out.

    ```python
    from haystack_integrations.crag.number_words import spelled

    assert max(spelled("It seats two hundred and fifty.")) == 250
    ```

    :param text: Any text.
    :returns: Their values, and those of their parts: two numbers may stand side by side.
    """
    lowered = text.lower()
    if not any(part in lowered for part in _PARTS):
        return
    for whole, large in _HALF.findall(lowered) if "half" in lowered else ():
        yield (2 * _VALUES.get(whole, 0) + 1) * 10 ** ZEROS[large] // 2
    for run in _RUN.findall(_COUPLE.sub("two", lowered)):
        words = [_ORDINALS.get(word, word) for word in _WORDS.findall(run) if word != "and"]
        for start in range(len(words)):
            yield from _values(words[start : start + _LONGEST])


def _values(words: Sequence[str]) -> Iterator[int]:
    """Read on for as long as the words are one number; each word may be its last."""
    total = current = 0
    least = max(ZEROS.values()) + 1
    for word in words:
        if word in ZEROS and current and ZEROS[word] < least:
            total, current, least = total + current * 10 ** ZEROS[word], 0, ZEROS[word]
        elif word in (_DOZEN, _HUNDRED) and current in _HUNDREDS:
            current *= 12 if word == _DOZEN else 100
        elif word in _VALUES and (current % 100 == 0 or (current % 100 in _ROUND and _VALUES[word] in _SINGLE)):
            current += _VALUES[word]
        elif total + current in _CENTURIES and _VALUES.get(word, 0) in _YEARS:  # nineteen eighty-four
            current = 100 * current + _VALUES[word]
        else:
            return
        yield total + current
