"""The letters of a question: those that `crag index` writes."""

import re
from typing import Final
from unicodedata import normalize

_LIGATURE: Final = re.compile(r"[\ufb00-\ufb06]")
_UNSEEN: Final = re.compile(r"[\u00ad\u2060\ufeff]")


def in_plain_letters(query: str) -> str:
    """
    Write a question as `crag index` writes texts (`letters` in `indexing.yml`): a search for words compares letters.

    Who copies from a page or a PDF copies its soft hyphens, ligatures and decomposed accents, too, and no word with one
    would be found.

    ```python
    from haystack_integrations.crag.texts.letters import in_plain_letters

    assert in_plain_letters("Where is the con\\ufb01g\\u00aduration?") == "Where is the configuration?"
    ```

    :param query: The question, or a search query.
    :returns: It in the normal form C, its ligatures as single letters, without soft hyphens, word joiners and byte
        order marks. The joiners of Persian and Indic scripts stay: words are made of them.
    """
    if query.isascii():
        return query
    return normalize("NFC", _LIGATURE.sub(lambda found: normalize("NFKC", found[0]), _UNSEEN.sub("", query)))
