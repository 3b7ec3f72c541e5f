"""Numbers of lists as letters and as Roman numerals."""

from collections.abc import Callable, Mapping
from typing import Final

_ROMAN: Final = tuple(
    zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), "m cm d cd c xc l xl x ix v iv i".split(), strict=True)
)
_MOST_ROMAN: Final = 4_000
_MOST_LETTERS: Final = 26 * 8


def letters(number: int) -> str:
    """
    Write a number as a small letter, as pages count: Z is followed by AA, then AB.

    :param number: The number.
    :returns: Letters; of a number that has none, its digits.
    """
    said, left = "", number
    while left > 0:
        left, place = divmod(left - 1, 26)
        said = chr(ord("a") + place) + said
    return said or str(number)


def repeated(number: int) -> str:
    """
    Write a number as a small letter, as Word counts: Z is followed by AA, then BB.

    :param number: The number.
    :returns: Letters; of a number that has none, its digits.
    """
    if not 0 < number < _MOST_LETTERS:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def roman(number: int) -> str:
    """
    Write a number as a small Roman numeral.

    :param number: The number.
    :returns: The numeral; of a number that has none, its digits.
    """
    if not 0 < number < _MOST_ROMAN:
        return str(number)
    said = ""
    for value, sign in _ROMAN:
        said += sign * (number // value)
        number %= value
    return said


FORMS: Final[Mapping[str, Callable[[int], str]]] = {
    "a": letters,
    "A": lambda number: letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
}
"""Ways to count, as HTML's lists name them."""
