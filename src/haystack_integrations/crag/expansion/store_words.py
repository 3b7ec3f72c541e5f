"""
Words of a question as a store in memory spells them: for a slip of the keyboard a search by words finds nothing.

Haystack's store counts its documents' words for BM25, so that a near one is looked up in a dictionary. Elasticsearch
knows near words itself (`elasticsearch/spelling`).
"""

from collections.abc import Iterator, Mapping
from string import ascii_lowercase
from typing import Any, Final

from haystack_integrations.crag.encoding.encoders import may_be_slip
from haystack_integrations.crag.texts.languages.inflections import forms_among
from haystack_integrations.crag.texts.text import words

_MOST_WORDS: Final = 8
_MOST_LETTERS: Final = 32  # a longer word is none that anybody typed, and has too many neighbours to try
_COUNTS: Final = "_freq_vocab_for_idf"  # of InMemoryDocumentStore: in how many documents each of its words is


def near_words(store: Any, query: str) -> list[str]:
    """
    Find what a store in memory has for words of a query that neither it nor English has.

    :param store: A document store.
    :param query: A search query.
    :returns: For each such word, the first eight, the most frequent word of the store that is one letter away and
        begins alike, if there is one. Nothing for a store of another kind.
    """
    known: Mapping[str, int] = getattr(store, _COUNTS, {})
    asked = [word for word in dict.fromkeys(words(query)) if len(word) <= _MOST_LETTERS] if known else []
    slips = [word for word in asked if word not in known and may_be_slip(word)]
    near = ([one for one in _one_letter_away(word) if one in known] for word in slips[:_MOST_WORDS])
    return [max(found, key=lambda one: known.get(one, 0)) for found in near if found]


def other_forms(store: Any, query: str) -> list[str]:
    """
    Find the forms in which a store has the words of a query in another language than English.

    :param store: A document store.
    :param query: A question.
    :returns: See `texts.languages.inflections.forms_among`; what a store of another kind has is not known.
    """
    return forms_among(query, getattr(store, _COUNTS, {}))


def _one_letter_away(word: str) -> Iterator[str]:
    """Leave a letter out, add or exchange one, or swap two, behind the first: in Latin letters and the word's own."""
    letters = "".join(dict.fromkeys(ascii_lowercase + word))
    for place in range(1, len(word) + 1):
        before, behind = word[:place], word[place:]
        yield from (before + letter + behind for letter in letters)
        if behind:
            yield before + behind[1:]
            yield from (before + letter + behind[1:] for letter in letters)
            yield before + behind[1:2] + behind[0] + behind[2:]
