"""Which passages a text cites, in the ways in which models write that; and whether it declines to answer from any."""

import re
from typing import Final

# Up to three digits: [2019] is a year. Some models write lists and ranges of numbers, brackets and marks of full width,
# as Chinese and Japanese do, the kind of thing before the number, or a dagger and where they read it behind.
_TO: Final = r"\s*[\u2013\u301c\uff0d\uff5e-]\s*"
_WORD: Final = (
    r"(?:documents?|docs?|passages?|sources?|evidence|references?|refs?|citations?|contexts?|chunks?|excerpts?"
    r"|extracts?|snippets?)\s*(?:[:#]\s*)?"
)
_KIND: Final = rf"(?:{_WORD}|\^|\#\s*)?"
_AND: Final = r"(?:and|und|et|y|e|en)\s+"
_BESIDE: Final = rf"\s*[,;\u060c\u061b\u3001\uff0c\uff1b]\s*(?:{_AND})?|\s*&\s*|\s+{_AND}"
# Where in the passage: "page 3", "pp. 3-4", in any language. A year behind words ("May 2024") is no place.
_PLACE: Final = (
    rf"\s*[,:]\s*(?!(?:{_WORD}|{_AND})\d)(?:[^\W\d_]{{1,12}}(?:\.\s*|\s+)|[^\W\d_]{{2,12}}|\u00a7+\s*)"
    r"\d{1,3}(?!\d)"
)
# The end of "pp. 3-4" is read as what is beside: in two ways, each of them would double the time of an open bracket.
_ONE: Final = rf"{_KIND}\d{{1,3}}(?:{_PLACE})?"
_CITED: Final = re.compile(
    rf"[\[\u3010\u3014\uff3b]\s*({_ONE}(?:(?:{_BESIDE}|{_TO}){_ONE})*)\s*"
    r"(?:\u2020[^\n\[\]\u3010\u3011]{0,40})?[\]\u3011\u3015\uff3d]",
    re.IGNORECASE,
)
_PLACES: Final = re.compile(rf"{_PLACE}(?:{_TO}\d{{1,3}}(?!\d))?", re.IGNORECASE)
_WORDS: Final = re.compile(_WORD, re.IGNORECASE)
_RANGE: Final = re.compile(rf"(\d{{1,3}}){_TO}{_KIND}(\d{{1,3}})", re.IGNORECASE)
# The prompt shows passages, so a model may say of them what it is to say of documents.
_REWORDED: Final = re.compile(
    r"(?:(?:provided|given|numbered) )?(?:documents?|passages?|evidence|sources?) do(?:es)?(?: not|n['\u2019]t) "
    r"answer (?:this|the|your)\b"
)
# What a small model repeats of its prompt's form, and what a polite one says first.
_LEAD: Final = re.compile(
    r"\A(?:(?:(?:final )?answer|antwort|r\u00e9ponse|respuesta|risposta|resposta|antwoord|svar|odpowied\u017a"
    r"|\u043e\u0442\u0432\u0435\u0442|cevap|\u7b54\u6848|\u56de\u7b54|\ub2f5\ubcc0)\s*[*_]*\s*[:\uff1a][*_\s]*"
    r"|(?:unfortunately|(?:i(?:'|\u2019| a)m )?sorry|malheureusement|lamentablemente|purtroppo|infelizmente)"
    r"(?:,|\b(?=\s))\s*(?:but )?)"
)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)


def cited(text: str, passages: int) -> list[int]:
    """
    List the numbers in an answer's brackets, and those that a range of passages spans. `argv[1]` in code is none.

    ```python
    from haystack_integrations.crag.citations import cited

    assert cited("It opened in 1889 [1, 2 and 4]. It is open daily [Document 3].", passages=4) == [1, 2, 3, 4]
    ```

    :param text: The answer.
    :param passages: How many there are: a range beyond is none of passages, and only its ends are told.
    :returns: The numbers in order, each once, also those that no passage has.
    """
    numbers = set[int]()
    for found in _CITED.findall(_CODE.sub(" ", text).strip() or text):
        told = _PLACES.sub("", found)
        written = {*map(int, re.findall(r"\d+", told))}
        # [#12] may be the number of anything, and [12, Broadway 3] an address: they count where such a passage is.
        is_surely_one = _WORDS.search(told) or ("#" not in told and told == found)
        numbers |= written if is_surely_one else {number for number in written if 1 <= number <= passages}
        spans = ((int(first), int(last)) for first, last in _RANGE.findall(told))
        numbers.update(number for first, last in spans if last <= passages for number in range(first, last + 1))
    return sorted(numbers)


def without_citations(text: str) -> str:
    """
    Take citations out of a text.

    :param text: The text.
    :returns: The text with a space in the place of each.
    """
    return _CITED.sub(" ", text)


def declines(text: str, *sentences: str) -> bool:
    """
    Tell whether a model said that the evidence does not answer.

    :param text: What it wrote.
    :param sentences: What it may have been asked to write in that case; an empty one is none.
    :returns: Whether the text is one of them, whatever its case, marks, quotes and citations; or begins with it and
        cites nothing for what it goes on to say. "Answer:" and "Unfortunately," may stand before it, and of the
        English one another word for the documents counts, too.
    """
    said, *known = (_alike(_LEAD.sub("", _bare(one))) for one in (_CITED.sub("", text), *sentences))
    begins = said.replace("\n", " ")
    rests = [said[len(wanted) :] for wanted in known if wanted and begins.startswith(wanted.replace("\n", " "))]
    # A new line ends the sentence, as a full stop does; it goes on behind a space, or as another word.
    return any(not rest or not (rest[0].isalnum() or rest[0] == " " or _CITED.search(text)) for rest in rests)


def _alike(words: str) -> str:
    return _REWORDED.sub("documents do not answer this", words, count=1)


def _bare(text: str) -> str:
    """
    Leave out marks around a text, and white space but one sign of it: a line break where there was one.

    By hand: a pattern would take the square of the length of a line within it.
    """
    lines = (" ".join(line.split()) for line in text.casefold().splitlines())
    words = "\n".join(line for line in lines if line)
    first = next((at for at, sign in enumerate(words) if sign.isalnum()), len(words))
    last = next((at for at in range(len(words) - 1, first - 1, -1) if words[at].isalnum()), first - 1)
    return words[first : last + 1]
