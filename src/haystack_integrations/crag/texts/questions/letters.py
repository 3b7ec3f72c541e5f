"""The letters of a question: those that `crag index` writes."""

import re
from typing import Final
from unicodedata import normalize

_LIGATURE: Final = re.compile(r"[\ufb00-\ufb06]")
_UNSEEN: Final = re.compile(r"[\u00ad\u2060\ufeff]")
_SPACED: Final = r"[A-Za-z\u00c0-\u00d6\u00d8-\u02af\u0300-\u052f\u1e00-\u1fff]"
_WITHIN: Final = re.compile(rf"(?<={_SPACED})\u200b+(?={_SPACED})")
"""A zero-width space is where a line may end: between Latin, Greek or Cyrillic letters within a word. Khmer parts words
by it."""


def in_plain_letters(query: str) -> str:
    """
    Write a question as `crag index` writes texts (`letters` in `indexing.yml`): a search for words compares letters.

    Who copies from a page or a PDF copies its soft hyphens, ligatures and decomposed accents, too, and no word with one
    would be found.

    ```python
    from haystack_integrations.crag.texts.questions.letters import in_plain_letters

    assert in_plain_letters("Where is the con\\ufb01g\\u00aduration?") == "Where is the configuration?"
    ```

    :param query: The question, or a search query.
    :returns: It in the normal form C, its ligatures as single letters, without soft hyphens, word joiners, byte
        order marks, and zero-width spaces within words of Latin, Greek and Cyrillic letters. The joiners of Persian and
        Indic scripts stay: words are made of them.
    """
    if query.isascii():
        return query
    seen = _UNSEEN.sub("", normalize("NFC", query))
    return normalize("NFC", _WITHIN.sub("", _LIGATURE.sub(lambda found: normalize("NFKC", found[0]), seen)))
