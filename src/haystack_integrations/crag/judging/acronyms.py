"""Names that a question shortens and its documents write out, or the other way round: SLA, service level agreement."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Final

from haystack_integrations.crag.texts.languages.stemming import STEMS
from haystack_integrations.crag.texts.text import surface_words, terms

_SHORT: Final = re.compile(r"(?<![\w-])[A-Z]{3,6}(?![\w-])")
_PARTS: Final = re.compile(r"[^\w\s'\u2019-]+|\n\s*\n")
_SHORTEST: Final = 3
_LONGEST: Final = 6
_TELLING: Final = 4
_TWICE: Final = 2


def short_for_long(
    query: str, missing: Collection[str], shown: Sequence[str], texts: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """
    Find what documents write for the acronyms of a question that none of them has.

    Words that happen to begin so are many: only what is written with capitals, is of four words, or stands there twice
    is taken.

    :param query: The question, as it is typed.
    :param missing: Its words that no document has, in small letters.
    :param shown: Its words.
    :param texts: The documents.
    :returns: Pairs of an acronym and what to read for it, in small letters.
    """
    short = [] if query.isupper() else [one for one in dict.fromkeys(_SHORT.findall(query)) if one.lower() in missing]
    if not short:
        return
    lines = _lines(texts)
    for one in short:
        if any(_spell(shown[place : place + len(one)], one.lower()) for place in range(len(shown))):
            continue  # the question says itself what it is short for
        found = Counter(chain.from_iterable(_written_out(line, one.lower()) for line in lines))
        best = max(found, key=lambda run: (found[run], run), default=())
        is_name = all(word[0].isupper() for word in best)
        if best and (is_name or len(best) >= _TELLING or _times(found, best) >= _TWICE):
            yield one.lower(), " ".join(best).lower()


def long_for_short(shown: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find the acronym that documents write, and never write out, for words of a question that none of them has together.

    :param shown: The words of the question.
    :param texts: The documents.
    :returns: Pairs of words and the acronym to read for them, in small letters; the longest first.
    """
    # By capitals, as they are found: of some small letters, as one of Turkish, the capital has another small one.
    runs = {
        "".join(word[0] for word in run).upper(): run
        for size in range(_SHORTEST, _LONGEST + 1)
        for run in zip(*(shown[start:] for start in range(size)), strict=False)
        if all(map(_counts, run))
    }
    # Most texts have none of these letters in a row, which is sooner seen than where one stands alone.
    somewhere = [short for short in runs if any(short in text for text in texts)]
    if not somewhere:
        return
    written = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, somewhere))})(?![\w-])")
    known = {short for text in texts if not text.isupper() for short in written.findall(text)}
    if not known:
        return
    # Mostly one of the first texts has the words already, so texts are read as they are needed.
    said, lines, taken = cache(lambda text: frozenset(terms(text))), cache(lambda: _lines(texts)), set[str]()
    for short in sorted(known, key=lambda short: (-len(short), short)):
        run = runs[short]
        wanted = {STEMS[word] for word in run}
        # Where it is written out, the words are there, if in another number than in the question.
        is_known = any(said(text) >= wanted for text in texts)
        is_known = is_known or any(any(_written_out(line, short.lower())) for line in lines())
        if taken.isdisjoint(run) and not is_known:
            taken.update(run)
            yield " ".join(run), short.lower()


def _lines(texts: Sequence[str]) -> list[list[str]]:
    return [surface_words(part) for text in texts for part in _PARTS.split(text)]


def _written_out(line: Sequence[str], short: str) -> Iterator[tuple[str, ...]]:
    """Find the words in a row that begin so; between those of a name there may be small ones: Board of Public Works."""
    yield from _runs(line, short)
    named = [word for word in line if word[0].isupper() or STEMS[word.lower()]]
    yield from (run for run in _runs(named, short) if all(word[0].isupper() for word in run))


def _runs(line: Sequence[str], short: str) -> Iterator[tuple[str, ...]]:
    initials = "".join(word[0].lower() for word in line)
    place = initials.find(short)
    while place >= 0:
        run = tuple(line[place : place + len(short)])
        if _spell([word.lower() for word in run], short) and not any(word.isupper() for word in run):
            yield run
        place = initials.find(short, place + 1)


def _spell(run: Sequence[str], short: str) -> bool:
    return len(run) == len(short) and all(map(_counts, run)) and "".join(word[0] for word in run) == short


def _counts(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and bool(STEMS[word])


def _times(found: Counter[tuple[str, ...]], run: Sequence[str]) -> int:
    """Count how often words stand there, whatever their capitals, and once more in another number."""
    plain = [STEMS[word.lower()] for word in run]
    return sum(times for other, times in found.items() if [STEMS[word.lower()] for word in other] == plain)
