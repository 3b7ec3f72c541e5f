"""What the language of a text decides: the words that all its texts have, and whether an English model can read it."""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS

LANGUAGES: Final = ("Dutch", "French", "German", "Italian", "Portuguese", "Spanish")
"""Those whose words are known, by the lists that jusText keeps (trafilatura comes with it)."""

# Of running text in its own language a list has 40 % of the words or more, in another one 25 % at most.
_ITS_OWN: Final = 0.3
_FEWEST: Final = 3  # different ones: of five words two names are 40 %, too
_ENGLISH: Final = "English"

# Latin letters, with those of Vietnamese and the like; all scripts but Latin begin behind the first of these ends.
_LATIN: Final = (range(0x250), range(0x1E00, 0x1F00), range(0xFF21, 0xFF5B))


def common_words(words: Sequence[str]) -> Collection[str]:
    """
    Find the commonest words of the language that a text is written in.

    :param words: The words of the text, lower-case.
    :returns: Stop words of English, and for a text in one of `LANGUAGES` the few hundred words that are most frequent
        there: of a text in English, or in none of them, the stop words alone.
    """
    if _share(words, STOP_WORDS) >= _ITS_OWN:
        return STOP_WORDS
    # English is asked, too: names and months, of which some short texts are made, stand in several of the lists.
    best = max((_ENGLISH, *LANGUAGES), key=lambda language: _share(words, _commonest(language)))
    is_known = best != _ENGLISH and _share(words, _commonest(best)) >= _ITS_OWN
    is_known = is_known and len(_commonest(best).intersection(words)) >= _FEWEST
    return STOP_WORDS | _commonest(best) if is_known else STOP_WORDS


def is_other_script(text: str) -> bool:
    """
    Tell text that a model of English cannot read by its letters alone.

    :param text: Any text.
    :returns: Whether at least half of its letters are of another script than Latin.
    """
    if text.isascii():
        return False
    letters = [ord(letter) for letter in text if letter.isalpha()]
    return len(letters) > 0 and 2 * sum(any(letter in part for part in _LATIN) for letter in letters) <= len(letters)


def _share(words: Sequence[str], common: Collection[str]) -> float:
    return sum(word in common for word in words) / max(1, len(words))


@cache
def _commonest(language: str) -> frozenset[str]:
    # Loaded by the first text that is not English: with its package come some tenths of a second.
    from justext import get_stoplist

    return frozenset(get_stoplist(language))
