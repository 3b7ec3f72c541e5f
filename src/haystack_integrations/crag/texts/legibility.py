"""Whether a text can be found by its words: a PDF's may look right on its page and be none in its file."""

import re
import unicodedata
from typing import Final

_LEAST: Final = 200  # letters: of less nothing is said
_CODES: Final = re.compile(r"\(cid:\d+\)")
# Letters of scripts that put spaces between words: Latin, Greek, Cyrillic, with their accents.
_WORD: Final = re.compile(r"[A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f\u1e00-\u1fff]+")
_MANGLED: Final = re.compile(
    r"[\u00c2\u00c3\u00c4\u00c5\u00e2][\u0080-\u00bf\u20ac\u2018-\u203a\u2122]"
)  # UTF-8 as Latin-1
_LONG: Final = 40  # letters: longer than words are. Each such word counts once, as names in code come again
_GLUED: Final = 0.1  # of the letters; a manual whose PDF has no spaces has 12 to 30 % of them in such words
_SPACED: Final = 0.6  # of the pieces between spaces are one letter
_STRANGE: Final = 0.05
_VOWELS: Final = frozenset(
    "aeiouy\u03b1\u03b5\u03b7\u03b9\u03bf\u03c5\u03c9\u0430\u0435\u0438\u043e\u0443\u044b\u044d\u044e\u044f\u0456"
)
_FEWEST_VOWELS: Final = (
    0.2  # of the letters; words have 30 to 50 %, those of a font that numbers its signs otherwise 17 %
)
_WHOLE: Final = 4  # letters: shorter words are often abbreviations
_NO_SIGNS: Final = frozenset({"Co", "Cn"})  # of private use, and none at all
_LOOKED_AT: Final = 200_000  # characters


def illegible(text: str) -> str | None:
    """
    Tell what is wrong with a text that no question's words will meet. Rather nothing than a false alarm.

    ```python
    from haystack_integrations.crag.texts.legibility import illegible

    sentence = "A refund is paid within two weeks after the goods have arrived. "
    assert illegible(9 * sentence) is None
    assert illegible(9 * " ".join(sentence)) == "its letters stand apart"
    assert illegible(sentence.replace(" ", "") + sentence[:-20].replace(" ", "")) is None  # too little to tell
    ```

    :param text: The text.
    :returns: What is wrong, in a few words; None where nothing is, or too little is there to tell.
    """
    text = text[:_LOOKED_AT]
    signs = sum(not sign.isspace() for sign in text)
    strange = sum(map(len, _CODES.findall(text))) + sum(unicodedata.category(sign) in _NO_SIGNS for sign in text)
    strange += text.count("\ufffd")
    if strange > _STRANGE * max(signs, _LEAST):
        return "it has codes in the place of letters"
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    if letters < max(_LEAST, sum(map(str.isalpha, text)) / 2):  # of another script
        return None
    if 2 * len(_MANGLED.findall(text)) > _STRANGE * letters:
        return "its letters were read in another encoding"
    once = set(words)
    if sum(len(word) for word in once if len(word) >= _LONG) > _GLUED * letters:
        return "its words are not separated"
    pieces = text.split()
    if sum(len(piece) == 1 and piece.isalpha() for piece in pieces) > _SPACED * len(pieces):
        return "its letters stand apart"
    plain = unicodedata.normalize("NFD", "".join(word for word in once if len(word) >= _WHOLE).lower())
    if len(plain) >= _LEAST and sum(letter in _VOWELS for letter in plain) < _FEWEST_VOWELS * len(plain):
        return "its letters make no words"
    return None
