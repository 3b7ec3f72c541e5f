"""Words reduced to their stems, and those that say nothing; worked out once for each word. No download."""

from collections.abc import Mapping
from functools import cache
from threading import local
from typing import Final

import Stemmer

from haystack_integrations.crag.texts.languages.spelling import one_spelling
from haystack_integrations.crag.texts.remembering import Remembered
from haystack_integrations.crag.texts.steering import without_halves

STOP_WORDS: Final = frozenset(
    "a about above after again against all also am an and any are aren't as at be because been before being below "
    "between both but by can can't could couldn't did didn't do does doesn't doing don't down during each else few "
    "for from further had hadn't has hasn't have haven't having he her here hers herself him himself his how however "
    "i i'm if in into is isn't it it's its itself just let's may me might more most must my myself no nor not of off "
    "on once one only or other ought our ours ourselves out over own s same shall she should shouldn't so some such t "
    "than that that's the their theirs them themselves then there there's these they they're this those through to "
    "too under until up upon very was wasn't we were weren't what what's when where which while who who's whom whose "
    "why will with within without won't would wouldn't yet you your yours yourself yourselves".split()
)
"""English words that say nothing about a topic. `us` is missing on purpose: lower-cased, it is also a country."""


STEMMED: Final = frozenset(Stemmer.algorithms()) - {"english"}
"""Other languages whose stems are known."""


class _Stemmer(local):
    """A stemmer for each thread, as none is for two at once; without a memory of its own."""

    def __init__(self, language: str) -> None:
        self.stem = Stemmer.Stemmer(language, 0).stemWord


_stemmer: Final = _Stemmer("english")


def _stem(word: str) -> str:
    clean = without_halves(word)
    nothing = word in STOP_WORDS or "\u3040" < word < "\u30a0" or not clean
    return "" if nothing else _stemmer.stem(one_spelling(clean))


STEMS: Final[Mapping[str, str]] = Remembered(_stem)
"""Stems by lower-case word; empty for a stop word. It knows every word, for all threads: a look-up is ten times cheaper
than stemming again."""


@cache
def stems_of(language: str) -> Mapping[str, str]:
    """
    Give stems of another language than English by lower-case word, without its marks.

    :param language: Its English name in small letters, of `STEMMED`.
    :returns: A mapping that knows every word, for all threads.
    """
    stemmer = _Stemmer(language)
    return Remembered(lambda word: one_spelling(stemmer.stem(word)))
