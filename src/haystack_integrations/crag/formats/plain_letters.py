"""Letters of files as people type them, and search for them."""

import re
import unicodedata
from typing import Final

# Arabic and Hebrew letters by their place in a word, and those of formulas, which are italic by themselves.
_SHAPES: Final = re.compile(r"[\ufb13-\ufdff\ufe70-\ufefc\U0001d400-\U0001d7ff]+")


def as_typed(text: str) -> str:
    """
    Write letters as they are typed: those of formulas, of Arabic and of Hebrew have other codes, as printed.

    :param text: The text of a page.
    :returns: The same with each as its plain letters.
    """
    return _SHAPES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
