"""
A question as its documents write its words: a slip of the keyboard, a word in one part or in two, British or American.

The other words of a question, and its vector, find its documents, and then the judgement missed the misspelt word in
all of them: one wrong letter changed between a quarter and a half of the verdicts (benchmarks/as_typed.py).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Final

from haystack_integrations.crag.encoding.encoders import FEWEST_LETTERS, may_be_slip
from haystack_integrations.crag.judging.acronyms import long_for_short, short_for_long
from haystack_integrations.crag.judging.asking import Frequencies
from haystack_integrations.crag.judging.reading import Reading
from haystack_integrations.crag.judging.surface import normalised
from haystack_integrations.crag.texts.languages.irregular import irregular_forms
from haystack_integrations.crag.texts.languages.spelling import other_spellings, reread
from haystack_integrations.crag.texts.languages.stemming import STEMS, STOP_WORDS
from haystack_integrations.crag.texts.notations.dates import dates_in, in_numbers
from haystack_integrations.crag.texts.notations.figures import amounts_in, figures_in
from haystack_integrations.crag.texts.notations.rewriting import rewritten
from haystack_integrations.crag.texts.notations.versions import written_versions
from haystack_integrations.crag.texts.notations.writings import written_otherwise
from haystack_integrations.crag.texts.questions.courtesies import bare_question
from haystack_integrations.crag.texts.questions.measures import written_measures
from haystack_integrations.crag.texts.text import surface_words, words

_SHORTEST: Final = 4
_LONG: Final = 6
_LONGEST: Final = 40  # beyond it is no word, and each place in it would be looked at
_PARTICLES: Final = frozenset({"in", "out", "up", "off", "on", "down", "over"})
# To explain or describe a thing is to tell what it is, unless documents have that word themselves: EXPLAIN of SQL.
_TO_TELL: Final = re.compile(
    r"(?i)(?:(explain|describe|define|discuss|clarify|find)"
    r"|(?:the |an? )?(introduction|guide|basics|definition) (?:to|of)|(look) up|(search) for|(write) about)\b"
)
_MEANS: Final = re.compile(r"(?i)what (?:do|does) (.{1,80}) (?:mean|stand for)\W*")
# What is to be told of all that happens, and of all that is found: documents say it in other words.
_EMPTY: Final = re.compile(
    r"(?i)\b(?:(what) happens?(?= (?:if|when|after|to|with)\b)"
    r"|(where) (?:can|do|could|should|will) (?:i|we|you|one) (?:find|get)\b)"
)
_NOBODYS: Final = ""
"""A term of no document: what statistics say of it, they say of all that they do not know."""


def as_meant(
    query: str, texts: Sequence[tuple[str, str]], readings: Sequence[Reading], frequencies: Frequencies
) -> tuple[str, dict[str, str]]:
    """
    Read a question as its documents are judged for it: without courtesies, and spelt as they are.

    :param query: The question.
    :param texts: Title and content of each document.
    :param readings: The same, read.
    :param frequencies: Document frequencies of the corpus.
    :returns: The question to judge by, and what was read in it for which words.
    """
    question = bare_question(normalised(query))
    if (verb := _TO_TELL.match(question)) and not _holds(readings, str(verb[verb.lastindex or 0]).lower()):
        question = question[verb.end() :].strip() or question
    if meaning := _MEANS.fullmatch(question):
        question = f"What is {meaning[1]}?"
    meant = respelled(question, texts, readings, frequencies)
    question = _EMPTY.sub(lambda found: str(found[found.lastindex or 0]), reread(question, meant))
    return reread(question, dict(_in_other_forms(question, readings))), meant


def _in_other_forms(question: str, readings: Sequence[Reading]) -> Iterator[tuple[str, str]]:
    """Find the form that documents have of an irregular word (frozen, freeze); nothing that is searched for."""
    for word in words(question):
        if STEMS[word] and not _holds(readings, word):
            yield from ((word, other) for other in irregular_forms(word)[::-1] if _holds(readings, other))


def respelled(
    query: str, texts: Sequence[tuple[str, str]], readings: Sequence[Reading], frequencies: Frequencies
) -> dict[str, str]:
    """
    Find words of a question that none of its documents has, and what they write in their place.

    The spelling of the other side of the Atlantic (organise, colour). A word that they write in two (wifi, wi-fi), or
    two that they write in one (log in, login). An acronym that they write out, or the words for it. A date in another
    form, a number, a unit, a country, a version, a time that is written in several ways (10%, ten percent). The unit
    that "how long" and "how much" ask for, and the number for "how many". And a slip: two letters have changed places
    in a word of five, or a word of six has a letter too many, too few, or another one; never the first. Then the corpus
    must not have the word either. Names that differ in a letter (Hansen, Hanson) are two, and a word that English has
    (causal) is meant as it stands, whatever the documents have (casual).

    :param query: The question.
    :param texts: Title and content of each document.
    :param readings: The same, read.
    :param frequencies: Document frequencies of the corpus.
    :returns: What to read for which word or words of the question; nothing for nearly all questions.
    """
    asked = words(query)
    missing = {word for word in asked if len(word) <= _LONGEST and STEMS[word] and not _holds(readings, word)}
    written = [f"{title}\n{content}" for title, content in texts]
    twins = {
        word: [other for other in other_spellings(word) if _holds(readings, other) and _is_shown(other, written)]
        for word in missing
    }
    found = {word: others[0] for word, others in twins.items() if others}
    found |= {
        f"{one} {two}": one + two
        for one, two in pairwise(asked)
        if not missing.isdisjoint((one, two)) and _is_compound(one, two) and _holds(readings, one + two)
    }
    found |= {word: parts for word in missing if (parts := _in_two(word, texts, readings)) is not None}
    found |= dict(chain(short_for_long(query, missing, asked, written), long_for_short(asked, written)))
    found |= dict(rewritten(figures_in, query, written))  # first: the "pm" of a time has several writings, too
    found |= dict(_dated(query, written)) | dict(rewritten(amounts_in, query, written))
    found |= dict(written_otherwise(query, written)) | dict(written_versions(query, written))
    found |= dict(written_measures(reread(query, found), written))
    rest = missing - {part for parts in found for part in parts.split()}
    doubtful = list(_doubtful(rest, frequencies))
    return found | dict(_slips(doubtful, texts)) if doubtful else found


def _dated(query: str, written: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find how documents write a date: in words, in numbers, in another order; of a month in days what they share."""
    for typed, days in dates_in(query):
        shown = Counter[str]()
        for other, there in chain.from_iterable(map(dates_in, written)):
            if not days.isdisjoint(there):
                shown[other] += 1
            elif in_numbers(month := min(days)) == other[: len("2021-04")] and not month.day:
                shown[in_numbers(month)] += 1
        said = {*words(typed)}
        if shown and all(said != {*words(other)} for other in shown):
            yield typed.lower(), shown.most_common(1)[0][0]


def _holds(readings: Sequence[Reading], word: str) -> bool:
    stem = STEMS[word]
    return bool(stem) and any(reading.holds(stem) for reading in readings)


def _is_shown(word: str, written: Sequence[str]) -> bool:
    """Tell whether texts have a word by its own letters: without its marks, pot is no poet."""
    if not word.isascii():
        return any(word in words(text) for text in written)
    stem = STEMS[word]
    return any(shown.isascii() and STEMS[shown] == stem for text in written for shown in words(text))


def _in_two(word: str, texts: Sequence[tuple[str, str]], readings: Sequence[Reading]) -> str | None:
    """Find the two words next to each other that documents write a word in."""
    for place in range(1, len(word)):
        one, two = word[:place], word[place:]
        if _is_compound(one, two) and _holds(readings, one) and (two in _PARTICLES or _holds(readings, two)):
            together = re.compile(rf"(?<!\w){one}[\W_]+{two}(?!\w)", re.IGNORECASE)
            if any(together.search(f"{title}\n{content}") for title, content in texts):
                return f"{one} {two}"
    return None


def _is_compound(one: str, two: str) -> bool:
    """Tell parts of a word from words that happen to make another one: a part, in form."""
    return (
        len(one + two) >= _SHORTEST
        and (one + two).isalpha()
        and one not in STOP_WORDS
        and (two not in STOP_WORDS or two in _PARTICLES)
    )


def _doubtful(missing: set[str], frequencies: Frequencies) -> Iterator[str]:
    """Give the words that may be slips: neither English nor the corpus has them."""
    unknown = {word: STEMS[word] for word in sorted(missing) if may_be_slip(word)}
    if unknown:
        _, known = frequencies((*unknown.values(), _NOBODYS))
        nobodys = known.get(_NOBODYS, 0)
        yield from (word for word, stem in unknown.items() if known.get(stem, 0) <= nobodys)


def _slips(doubtful: Sequence[str], texts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Find the word of the documents that a word may be a slip of; of several the most frequent one."""
    written, large = Counter[str](), Counter[str]()
    for title, content in texts:
        shown = [word for word in surface_words(f"{title}\n{content}") if word.isalpha()]
        written.update(word.lower() for word in shown)
        large.update(word.lower() for word in shown if word[0].isupper())
    for typed in doubtful:
        near = [word for word in written if word[0] == typed[0] and abs(len(word) - len(typed)) <= 1]
        meant = [word for word in near if _is_slip(typed, word, is_name=large[word] == written[word])]
        if meant:
            yield typed, max(meant, key=lambda word: (written[word], word))


def _is_slip(typed: str, word: str, *, is_name: bool) -> bool:
    shortest = min(len(typed), len(word))
    first = next((n for n in range(shortest) if typed[n] != word[n]), shortest)
    last = next((n for n in range(shortest - first) if typed[~n] != word[~n]), shortest - first)
    one, other = typed[first : len(typed) - last], word[first : len(word) - last]
    if len(one) == len(other) == 2:  # noqa: PLR2004
        return one == other[::-1] and shortest >= FEWEST_LETTERS
    return shortest >= _LONG and len(one) <= 1 and len(other) <= 1 and not (is_name and one and other)
