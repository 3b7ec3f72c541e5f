"""Words, content terms, token estimates and sentence spans: what graders and refiners read a text with. No download."""

import re
from collections.abc import Iterator
from math import ceil
from typing import Final
from unicodedata import normalize

from haystack_integrations.crag.texts.languages.abbreviations import leaves_open
from haystack_integrations.crag.texts.languages.stemming import STEMS, STOP_WORDS
from haystack_integrations.crag.texts.marked_words import PARTS, WORD

TOKENS_PER_WORD: Final = 1.3
CHARACTERS_PER_TOKEN: Final = 6
_REACH: Final = 80

# Scripts written without spaces: one token per character, but a run of katakana is one word. Hiragana are no terms.
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
PHRASES: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese, Khmer: written without spaces too; read by the consonant with its vowels and tones."""

_CONSONANT: Final = r"\u0e01-\u0e2e\u0e81-\u0eae\u0edc-\u0edf\u1000-\u102a\u103f\u1780-\u17b3"
_SIGNS: Final = r"\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebd\u0ec6-\u0ecd\u102b-\u103e\u17b6-\u17d3"
_ALONE: Final = re.compile(rf"[\u30a0-\u30ff\u31f0-\u31ff]+|{UNSPACED.pattern}")
_SYLLABLE: Final = re.compile(rf"[\u0e40-\u0e44\u0ec0-\u0ec4]?[{_CONSONANT}][{_SIGNS}]*")
HANGUL: Final = re.compile(r"[\uac00-\ud7a3]")
"""Korean syllables. Particles are written onto Latin words and numbers, too."""

_PARTICLE: Final = re.compile(rf"(?<=[0-9A-Za-z])(?={HANGUL.pattern})")
# Whatever these look for, as one set of signs: that a text has none is told in a fifth of the time that they take.
NOT_SPACED: Final = re.compile(f"[{''.join(each.pattern[1:-1] for each in (UNSPACED, PHRASES, HANGUL))}]")

# Soft hyphens and joiners, as converters of PDF and HTML leave them: in a word, and no part of it.
_WITHIN = re.compile(r"[\u00ad\u200c\u200d\u2060\ufeff]+")
_TO_SPACES = bytes(code if chr(code).isalnum() or chr(code) in "'.," else ord(" ") for code in range(256))

_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^`\n]*+\n(?:.*?^[ \t]*\1[`~]*[ \t\r]*$|.*\Z)", re.MULTILINE | re.DOTALL)
# As word processors write them; the last one is what a PDF often has in the place of a bullet.
_BULLET = r"\u00b7\u2013\u2022\u2023\u2043\u25a0\u25aa\u25cb\u25cf\u25e6\uf0b7"
LINE = re.compile(
    r"(?P<blank>[^\S\n]*(?:\n|\Z))"
    r"|(?P<rule>[^\S\n]*([-=*_~^+])(?:[^\S\n]*\3){2,}[^\S\n]*(?:\n|\Z))"
    r"|(?P<alone>[^\S\n]*(?:\||\#{1,6}[^\S\n])[^\n]*\n?|[^\t\n]*\t[^\t\n]+\t[^\n]*\n?)"
    rf"|(?P<item>[^\S\n]*(?:[-*+{_BULLET}]|\d{{1,3}}[.)]|[a-z]\)|\(\w{{1,3}}\))[^\S\n]+[^\n]*\n?)"
    r"|(?P<flow>[^\n]+\n?)"
)
# German quotations end in what opens them elsewhere, French ones behind a space.
_CLOSING = r"(?:['\"\u201c\u201d\u2018\u2019\u00ab\u00bb)\]]|[ \u00a0\u202f]\u00bb)"
_NOTE_SIGNS = "0123456789[], -\u2013"
_NOTE = r"\[(?:\d+(?:(?:,[ ]?|[-\u2013])\d+)*+|\^[^\]\s]{1,20})\]"
# It begins with the set of signs that it may begin with: `re` looks for those seven times faster than for alternatives.
_HARD, _SOFT = r"\u3002\uff01\uff1f\uff61\uff0e\u0964\u0965\u061f\u06d4", r".!?\u2026"
_END = re.compile(
    rf"[{_HARD}{_SOFT}]"
    rf"(?:(?<=[{_HARD}])(?<![\da-zA-Z\uff21-\uff3a\uff41-\uff5a]\uff0e)(?P<hard>[{_HARD}]*[\u300d\u300f\u201d\u2019\uff09\u3011]*)"
    rf"|(?<=[{_SOFT}])(?<![{_SOFT}]{{2}})(?P<more>[{_SOFT}]*+){_CLOSING}*+(?P<notes>(?:[ ]?{_NOTE})*+)(?=\s))"
)
_NEXT = re.compile(r"\s*[^\w\s]*(?P<word>\w+)(?P<stop>[\s,.]|\Z)?")
# What reports a quotation goes on with the sentence that holds it, in Japanese and Chinese.
_REPORTS = re.compile(r"\s*(?:と|って|\w{1,4}?[说道问答喊說問])")


def surface_words(text: str) -> list[str]:
    """
    Split a text into words as they are written; see `words` for what is a word.

    :param text: Any text, any language.
    :returns: The words in order of appearance.
    """
    if not text.isascii():
        text = normalize("NFKC", text).replace("\u2019", "'").replace("\u00ad", "")
        for sign in "\u2013\u2014\u2018\u201c\u201d":  # dashes and quotes, but for which many a text is Latin-1
            text = text.replace(sign, " ")
    try:
        # Most marks of ordinary text stand before a space, where they are part of no word: faster than any expression.
        spaced = f"{text.encode('latin-1').translate(_TO_SPACES).decode('latin-1')} "
        found = spaced.replace(", ", " ").replace(". ", " ").split()
    except UnicodeEncodeError:
        text = _WITHIN.sub("", text)
        if NOT_SPACED.search(text):
            text = _ALONE.sub(r" \g<0> ", text)
            text = _PARTICLE.sub(" ", _SYLLABLE.sub(r" \g<0> ", text))
        found = WORD.findall(text.replace("_", " "))
    # Almost every word is done now; only those with a mark are looked at again.
    if "".join(found).isalnum():
        return found
    read, last = list[str](), 0
    for place in [place for place, word in enumerate(found) if not word.isalnum()]:
        read += found[last:place]
        read += PARTS[found[place]]
        last = place + 1
    return read + found[last:]


def words(text: str) -> list[str]:
    """
    Split a text into lower-case words.

    Ideographs, hiragana and Thai syllables are single; `1,200` is `1200`, `3.5` whole, `U.S.` `us`, `snake_case` two,
    `l'eau` `eau`.

    :param text: Any text, any language.
    :returns: The words in order of appearance.
    """
    plain = text if text.isascii() else normalize("NFKC", text)  # a full-width capital has no lower case until then
    return surface_words(plain.lower())


def is_ideograph(word: str) -> bool:
    """
    Tell a sign or syllable of a script without spaces, of which it takes about two to make a word.

    :param word: A word, as `words` gives it.
    :returns: Whether it is one.
    """
    return (len(word) == 1 and UNSPACED.match(word) is not None) or PHRASES.match(word) is not None


def terms(text: str) -> list[str]:
    """
    Reduce a text to its content: words without stop words, stemmed (English; other languages stay much as they are).

    :param text: Any text.
    :returns: The stems in order of appearance, repeated as often as they occur.
    """
    return [stem for stem in map(STEMS.__getitem__, words(text)) if stem]


def count_tokens(text: str) -> int:
    """
    Estimate what a language model will count: 1.3 tokens for a word between spaces, 1 for an ideograph.

    Text without spaces (base64, addresses, Thai) counts one token for 6 characters at least.

    :param text: Any text.
    :returns: The estimate, rounded up; 0 only for blank text.
    """
    ideographs = 0 if text.isascii() else len(UNSPACED.findall(text))
    words = (UNSPACED.sub(" ", text) if ideographs else text).split()
    return max(ceil(len(words) * TOKENS_PER_WORD), sum(map(len, words)) // CHARACTERS_PER_TOKEN) + ideographs


def sentences(text: str) -> list[tuple[int, int]]:
    """
    Find the sentences of a text by rules; knows abbreviations, initials, lists, tables, headings, code and CJK.

    List items, table rows, `#` headings and paragraphs stand apart; fenced code is one unit; wrapped lines are joined.

    :param text: Any text.
    :returns: Spans `(start, end)`: `text[start:end]` is a sentence without surrounding whitespace. They are in order,
        do not overlap and leave out nothing but whitespace.
    """
    position, spans = 0, list[tuple[int, int]]()
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        spans += _prose(text, position, fence.start())
        spans.append(_trim(text, *fence.span()))
        position = fence.end()
    return spans + _prose(text, position, len(text))


def _prose(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for first, last, is_flow in _blocks(text, start, end):
        spans += _split(text, first, last) if is_flow else [_trim(text, first, last)]
    return spans


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Cut at blank lines and around lines that stand for themselves; the lines of any other block are one flow."""
    first: int | None = None
    for line in LINE.finditer(text, start, end):
        kind = line.lastgroup
        if first is not None and kind in {"blank", "alone", "item"}:
            yield first, line.start(), True
            first = None
        if kind == "alone":
            yield *line.span(), False
        elif kind == "rule":
            # A line of dashes ends the heading above it, or stands for itself.
            yield (line.start() if first is None else first), line.end(), first is not None
            first = None
        elif kind != "blank" and first is None:
            first = line.start()
    if first is not None:
        yield first, end, True


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut one block at the ends of its sentences; a rest without words stays with what precedes it, and its notes."""
    start, end = _trim(text, start, end)
    block = text[start:end]
    is_lower, marks = block.islower(), _NOTE_SIGNS if block.endswith("]") else ""
    last_word = start + max(0, len(block.rstrip(marks)) - 1)
    while last_word > start and not text[last_word].isalnum():
        last_word -= 1
    last = start
    for mark in _END.finditer(text, start, last_word):
        if _is_end(text, last, mark, is_lower=is_lower):
            is_number = text[start] == "[" and (mark["notes"] or "").startswith(" ")  # in a list of references
            stop = mark.start("notes") if is_number else mark.end()
            yield _trim(text, last, stop)
            last = stop
    yield from [_trim(text, last, end)] if last < end else ()


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _is_end(text: str, start: int, mark: re.Match[str], *, is_lower: bool) -> bool:
    """Tell whether a mark ends the sentence that began at `start`, from the words on both sides of it."""
    # Looked for behind a mark before a blank only: through signs without one it would be gone from each of them.
    following = _NEXT.match(text, mark.end()) if mark["hard"] is None else None
    if following is None:
        return not (mark[0][-1] in "\u300d\u300f\u201d\u2019" and _REPORTS.match(text, mark.end()))
    word = following["word"]
    if word.islower() and not is_lower:
        return False
    if mark["more"] or text[mark.start()] != ".":
        return True
    # Two words back are enough, and a bound keeps texts without any end of a sentence from costing quadratic time.
    reach = max(start, mark.start() - _REACH)
    before = text[reach : mark.start()].rsplit(None, 2)[-2:]
    if not before or text[mark.start() - 1].isspace():
        return True
    # In "by J. Smith" and "John F. Kennedy" the letter is a name's; in "take vitamin C. Patients" it is not.
    is_name = before[0].lstrip("\"'([\u201c\u2018")[:1].isupper() or before[0] in STOP_WORDS
    is_first = len(before) == 1 and reach == start
    return not leaves_open(before, word, following["stop"], is_first=is_first, is_name=is_name)
