"""
Regular forms of words that Snowball leaves apart from the others: livrons, livrer; cierra, cerrar; animais, animal.
Of German ones see `german_verbs`.

For each language, what a form looks like, and the form whose stem it has as well. No such word need be one: two stems
that nobody uses meet no other.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_FORMS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "french": (
        (r"(\w{3,})(?:ons|ent)", r"\1er"),  # livrons, livrent
        (r"(\w{2,}d)(?:re|ue?s?)", r"\1"),  # rendre, rendu
        (r"(\w*(?:ouv|off))ert(?:e?s?|ures?)", r"\1rir"),
    ),
    "spanish": (
        (r"(\w+)ie(\w+)", r"\1e\2"),  # cierra, cerrar
        (r"(\w*[^\Wgq])ue(\w+)", r"\1o\2"),  # devuelve, devolver
        (r"(\w{2,})c(?:e|es|en|emos)", r"\1z"),  # luces, luz; utilice, utilizar
        (r"(\w{2,})qu(?:e|es|en|emos)", r"\1car"),  # aparque, aparcar
    ),
    "portuguese": (
        (r"(\w{2,}a)is", r"\1l"),
        (r"(\w{2,})[e\u00e9]is", r"\1el"),
        (r"(\w{2,})[o\u00f3]is", r"\1ol"),
        (r"(\w{2,})[o\u00f5\u00e3]es", "\\1\u00e3o"),
        (r"(\w{2,})ns", r"\1m"),
    ),
    "dutch": (
        (r"(?:ge)?(\w{4,}?)[td]e?n?", r"\1"),  # betaalt, betaald
        (r"(?:ge)?(\w{4,}?)[td]e?n?", r"\1en"),
        (r"(?:ge)?(\w*)([aeou])\2([b-df-hj-np-tv-z])[td]e?n?", r"\1\2\3en"),  # annuleert, annuleren
    ),
}
_PATTERNS: Final = {
    language: tuple((re.compile(form), other) for form, other in forms) for language, forms in _FORMS.items()
}


def regular_forms(word: str, language: str) -> Iterator[str]:
    """
    Give what else a word may be a form of.

    ```python
    from haystack_integrations.crag.texts.regular_forms import regular_forms

    assert [*regular_forms("livrons", "french")] == ["livrer"]
    assert [*regular_forms("luces", "spanish")] == ["luz"]
    ```

    :param word: A word in small letters.
    :param language: The English name of its language, in small letters.
    :returns: Other forms, and some that no word has.
    """
    for pattern, other in _PATTERNS.get(language, ()):
        if found := pattern.fullmatch(word):
            yield found.expand(other)
