"""
A question with a slip of the keyboard, read as its documents write the word.

Elasticsearch finds documents by a misspelt word, too, and then the judgement missed that word in all of them: one wrong
letter changed between a quarter and a half of the verdicts (benchmarks/as_typed.py).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from haystack_integrations.crag.encoding.encoders import is_word
from haystack_integrations.crag.judging.asking import Frequencies
from haystack_integrations.crag.texts.text import surface_words, terms

_FEWEST: Final = 5
_LONG: Final = 6
_WORD: Final = re.compile(rf"(?<!\w)[^\W\d_]{{{_FEWEST},}}(?!\w)")
_NOBODYS: Final = ""
"""A term of no document: what statistics say of it, they say of all that they do not know."""


def respelled(query: str, texts: Sequence[tuple[str, str]], frequencies: Frequencies) -> dict[str, str]:
    """
    Find words of a question that no document has, and what its documents write in their place.

    Two letters have changed places in a word of five, or a word of six has a letter too many, too few, or another one;
    never the first. Names that differ in a letter (Hansen, Hanson) are two, and a word that English has (causal) is
    meant as it stands, whatever the documents have (casual).

    :param query: The question.
    :param texts: Title and content of each document.
    :param frequencies: Document frequencies of the corpus.
    :returns: What to read for which word of the question; nothing for nearly all questions.
    """
    stem_of = {word: "".join(terms(word)) for word in dict.fromkeys(_WORD.findall(query)) if not is_word(word)}
    _, known = frequencies((*stem_of.values(), _NOBODYS)) if stem_of else (0, {})
    doubtful = [word for word, stem in stem_of.items() if stem and known.get(stem, 0) <= known.get(_NOBODYS, 0)]
    if not doubtful:
        return {}
    written, large = Counter[str](), Counter[str]()
    for title, content in texts:
        for word in surface_words(f"{title}\n{content}"):
            if len(word) >= _FEWEST and word.isalpha():
                written[word.lower()] += 1
                large[word.lower()] += word[0].isupper()
    stems = {stem for word in written for stem in terms(word)}
    names = {word for word, often in written.items() if large[word] == often}
    found = {word: _meant(word.lower(), written, names) for word in doubtful if stem_of[word] not in stems}
    return {word: meant for word, meant in found.items() if meant is not None}


def reread(query: str, meant: Mapping[str, str]) -> str:
    """
    Write a question with other words.

    :param query: The question.
    :param meant: What to read for which of its words.
    :returns: The question; a capital stays one, since it may tell a name.
    """

    def other(found: re.Match[str]) -> str:
        word = meant.get(found[0], found[0])
        return word.capitalize() if found[0][0].isupper() else word

    return _WORD.sub(other, query) if meant else query


def _meant(typed: str, written: Mapping[str, int], names: Iterable[str]) -> str | None:
    """Find the word of the documents that a word may be a slip of; of several the most frequent one."""
    near = [word for word in written if word[0] == typed[0] and abs(len(word) - len(typed)) <= 1]
    found = [(written[word], word) for word in near if _is_slip(typed, word, is_name=word in names)]
    return max(found)[1] if found else None


def _is_slip(typed: str, word: str, *, is_name: bool) -> bool:
    shortest = min(len(typed), len(word))
    first = next((n for n in range(shortest) if typed[n] != word[n]), shortest)
    last = next((n for n in range(shortest - first) if typed[~n] != word[~n]), shortest - first)
    one, other = typed[first : len(typed) - last], word[first : len(word) - last]
    if len(one) == len(other):
        return (len(one) == 2 and one == other[::-1]) or (len(one) == 1 and shortest >= _LONG and not is_name)  # noqa: PLR2004
    return len(one) + len(other) == 1 and shortest >= _LONG
