"""Words that are more than letters and digits: with vowel signs and accents, and with marks (3.5, U.S., l'eau)."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from haystack_integrations.crag.texts.languages.spelling import unelided
from haystack_integrations.crag.texts.remembering import Remembered

MARKS: Final = (
    r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e00-\u0e4e\u0eb0-\u0ecd\u102b-\u103e"
    r"\u17b4-\u17d3"
)
"""Vowel signs and accents that Python does not count as word characters, though words are made of them."""

WORD: Final = re.compile(rf"\w[\w{MARKS}]*(?:['.,]\w[\w{MARKS}]*)*")
"""A word with the marks that may stand in it."""

_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL: Final = re.compile(r"\d+(?:\.\d+)+")
_INITIALS: Final = re.compile(r"[^\W\d](?:\.[^\W\d])+")
_APOSTROPHE: Final = re.compile(r"[^\W\d]+(?:'[^\W\d]+)+")
_MOST_WORDS: Final = 10_000


def _parts(marked: str) -> Iterator[str]:
    for word in WORD.findall(marked):
        if word.isalnum() or _DECIMAL.fullmatch(word) or _APOSTROPHE.fullmatch(word):
            yield unelided(word)
        elif _THOUSANDS.fullmatch(word):
            yield word.replace(",", "")
        elif _INITIALS.fullmatch(word):
            yield word.replace(".", "")
        else:
            yield from filter(None, re.split(r"[.,']", word))


PARTS: Final[Mapping[str, tuple[str, ...]]] = Remembered(lambda marked: tuple(_parts(marked)), _MOST_WORDS)
"""The words that a word with marks counts as, by how it is written, apostrophes plain: `1,200` is `1200`."""
