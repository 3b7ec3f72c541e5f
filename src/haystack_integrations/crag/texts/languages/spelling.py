"""One word in several spellings: with marks or without, ß and io, elisions, Korean particles, British and American."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final
from unicodedata import normalize

# Latin and Greek letters, which many people type without their marks. Cyrillic keeps them: its short i is a letter.
_MARKED: Final = ((0xC0, 0x250), (0x370, 0x400), (0x1E00, 0x2000))
_MARKS: Final = dict.fromkeys(range(0x300, 0x370), "")
# The sharp s, as Swiss German and capitals have it; letters that Unicode takes for whole ones; the Russian io, which
# most texts write as ie; both i of Turkish, since `lower` cannot know which one a capital is; the sigma that ends a
# Greek word.
_LETTERS: Final = {
    "\u00df": "ss",
    "\u00e6": "ae",
    "\u00f0": "d",
    "\u00f8": "o",
    "\u00fe": "th",
    "\u0111": "d",
    "\u0127": "h",
    "\u0131": "i",
    "\u0142": "l",
    "\u0153": "oe",
    "\u0451": "\u0435",
    "\u03c2": "\u03c3",
}


def _without_marks() -> Iterator[tuple[int, str]]:
    for code in chain.from_iterable(range(*ends) for ends in _MARKED):
        bare = normalize("NFD", chr(code)).translate(_MARKS)
        if bare and bare != chr(code):
            yield code, bare


_SIGNS: Final = {**_MARKS, **dict(_without_marks()), **str.maketrans(_LETTERS)}

# What is left of an article, a pronoun and the like before a vowel.
_ELIDED: Final = re.compile(
    r"(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|(?:a|co|da|de|ne|que|su)ll|quest|un)'(?=[^\W\d]{2})", re.IGNORECASE
)

# Korean writes particles, and the forms of to be, to do and to become, onto a noun. What is left has two syllables.
_PARTICLES: Final = re.compile(
    r"(?<=[가-힣]{2})(?:[은는이가을를의에로와과도만요]|에서는?|에는|에게|으로|까지|부터|보다|처럼|이나|이며|이란|라는"
    r"|입니[다까]|인가요?|인지|이에요|예요|[되하됩합된한될할했됐해돼][가-힣]{0,4})$"
)

# British and American, and letters with marks spelt out as keyboards without them have it (Mueller), either way round.
_ENDINGS: Final = r"(?:e[drs]?|ing|ations?)$"
_SPELT_OUT: Final = (("\u00e4", "ae"), ("\u00f6", "oe"), ("\u00fc", "ue"), ("\u00f8", "oe"), ("\u00e5", "aa"))
_TWO_SPELLINGS: Final = tuple(
    (re.compile(one), other)
    for one, other in (
        (r"our(?=(?:s|e[dr]|ing|ful|less|able|ites?|al|hood|ly)?$)", "or"),
        (r"or(?=(?:s|e[dr]|ing|ful|less|able|ites?|al|hood|ly)?$)", "our"),
        (rf"(?<=[iy])s(?={_ENDINGS})", "z"),
        (rf"(?<=[iy])z(?={_ENDINGS})", "s"),
        (r"(?<=[bht])re(?=s?$)", "er"),
        (r"(?<=[bht])er(?=s?$)", "re"),
        (r"(?<=[ei]n)ce(?=s?$)", "se"),
        (r"(?<=[ei]n)se(?=s?$)", "ce"),
        (r"ogue(?=s?$)", "og"),
        (r"og(?=s?$)", "ogue"),
        (r"(?<=m)me(?=s?$)", ""),
        (r"(?<=am)(?=s?$)", "me"),
        (r"(?<=\w)[ao]e(?=\w{3})|^[ao]e(?=\w{5})", "e"),  # paediatric, oestrogen; not canoe and cane
        (r"(?<![ao])e(?=\w{3})", "ae"),
        (r"(?<![ao])e(?=\w{3})", "oe"),
        *(pair for one, two in _SPELT_OUT for pair in ((one, two), (two, one))),
    )
)


@lru_cache(10_000)
def other_spellings(word: str) -> tuple[str, ...]:
    """
    Give the spellings that a word may have on the other side of the Atlantic or of a border, and some that no word has.

    ```python
    from haystack_integrations.crag.texts.languages.spelling import other_spellings

    assert "organize" in other_spellings("organise")
    assert "anaemia" in other_spellings("anemia")
    assert "m\\u00fcller" in other_spellings("mueller")
    ```

    :param word: A word in small letters.
    :returns: Candidates, to be looked for in texts.
    """
    found = (
        word[: place.start()] + other + word[place.end() :]
        for one, other in _TWO_SPELLINGS
        for place in one.finditer(word)
    )
    return tuple(dict.fromkeys(found))


def reread(query: str, meant: Mapping[str, str]) -> str:
    """
    Write a question with other words.

    :param query: The question.
    :param meant: What to read for which of its words, in small letters.
    :returns: The question; a capital stays one, since it may tell a name.
    """
    for typed, word in meant.items():
        parts = r"[\W_]+".join(map(re.escape, typed.split()))
        for found in reversed(list(re.finditer(rf"(?<!\w){parts}(?!\w)", query, re.IGNORECASE))):
            shown = word[:1].upper() + word[1:] if found[0][0].isupper() else word
            query = query[: found.start()] + shown + query[found.end() :]
    return query


def one_spelling(word: str) -> str:
    """
    Give all spellings of a word one form, to compare it by; not to show it, or to search for it.

    :param word: A word in small letters.
    :returns: The form, in small letters.
    """
    return word if word.isascii() else _PARTICLES.sub("", word.translate(_SIGNS))


def unelided(word: str) -> str:
    """
    Leave out what is elided in front of a word, as in `l'eau` and `dell'acqua`; English has few such words.

    :param word: A word in any case, apostrophes plain.
    :returns: What follows the elision; the word, where it has none.
    """
    return word[elision.end() :] if (elision := _ELIDED.match(word)) else word
