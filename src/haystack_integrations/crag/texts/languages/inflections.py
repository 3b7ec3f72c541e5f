"""
Texts in the forms in which a question has its words: Hunde are Hund, and a Kündigungsfrist is a Frist.

What judges reads English alone by its stems. In German, Russian and the like a word has so many forms, and German
writes so many words in one, that of a question little was found in the text that answers it: of 51 questions on German
documents 15 were `correct` before, and 32 are (benchmarks/exams.py).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final

from haystack_integrations.crag.texts.languages.function_words import FUNCTION_WORDS, language_of, naming
from haystack_integrations.crag.texts.languages.german_verbs import infinitives, joined
from haystack_integrations.crag.texts.languages.regular_forms import regular_forms
from haystack_integrations.crag.texts.languages.spelling import one_spelling
from haystack_integrations.crag.texts.languages.stemming import STEMMED, STOP_WORDS, stems_of
from haystack_integrations.crag.texts.remembering import Remembered
from haystack_integrations.crag.texts.text import words

INFLECTED: Final = tuple(sorted(STEMMED.intersection(FUNCTION_WORDS)))
"""The languages that are read so, in small letters."""

_LETTERS: Final = re.compile(r"[^\W\d_]{3,40}")
# No text says "wie hoch": it tells an amount, a time, a number of times.
_DEGREE: Final = re.compile(
    r"(?i)\b(wie|hoe(?:veel)?|hur|jak|ile|как|quant[oae]s?|cu[aá]nt[oa]s?|combien) (?:hoch|lange?|oft|häufig|hoog|vaak"
    r"|keer|länge|högt?|ofta|długo|często|razy|долго|часто|spesso|tempo|tiempo|volte|veces|vezes|de temps)(?!\w)"
)
_ASKING: Final = {"jak": "ile"}  # "jak" alone asks for the manner
_COMPOUNDING: Final = frozenset({"german", "dutch", "swedish"})
_LINKS: Final = ("es", "s", "en", "er", "n", "e")
_PART: Final = 4
_COMMON: Final = STOP_WORDS.union(*FUNCTION_WORDS.values())
_SHARED: Final = STOP_WORDS.intersection(chain.from_iterable(FUNCTION_WORDS.values()))
_BEGINS, _MOST_FORMS = 3, 3
_SAMPLE: Final = (3, 300)  # so many texts, and characters of each, tell the language

Texts = list[tuple[str, str]]


def in_forms_of(question: str, texts: Sequence[tuple[str, str]]) -> tuple[str, Texts, str | None]:
    """
    Write a question and texts of another language than English so that words of one stem are one word.

    ```python
    from haystack_integrations.crag.texts.languages.inflections import in_forms_of

    texts = [("", "Der Mieter kann mit einer Frist von drei Monaten kündigen.")]
    question, [(_, text)], language = in_forms_of("Welche Kündigungsfristen gelten für Mieter?", texts)
    assert question == "Welche kündigungs fristen gelten für Mieter?"
    assert text == "Der Mieter kann mit einer Fristen von drei Monaten kündigungs."
    assert language == "german"
    ```

    :param question: A question.
    :param texts: Title and content of each document.
    :returns: The question, with a compound that no text has in its parts, where one text has both; the texts, with
        other forms of its words as the question has them, and compounds with one of them in two words; and the language
        that both are read in, in small letters. None for English and a language without a stemmer: nothing changes.
    """
    language = language_between(question, texts)
    if language is None:
        return question, list(texts), None
    question = _DEGREE.sub(lambda found: _ASKING.get(found[1].lower(), found[1]), question)
    keys = _keys_of(language)
    question, verbs = joined(question) if language == "german" else (question, {})
    if language in _COMPOUNDING:
        question = _in_parts(question, texts, keys, FUNCTION_WORDS[language])
    asked = _names(question)
    wanted = {key: word for word in reversed(asked) for each in (verbs.get(word, word), word) for key in keys[each]}
    forms = _Forms(wanted, keys, is_compounding=language in _COMPOUNDING)
    return question, [(forms.of(title), forms.of(content)) for title, content in texts], language


def language_between(question: str, texts: Sequence[tuple[str, str]]) -> str | None:
    """
    Tell the language of a question, where its own words do not, by the texts.

    :param question: A question.
    :param texts: Title and content of each document.
    :returns: The language, in small letters; None for English and a language without a stemmer.
    """
    most, beginning = _SAMPLE
    return _language(question, (word for _, content in texts[:most] for word in words(content[:beginning])))


def forms_among(question: str, vocabulary: Mapping[str, int]) -> list[str]:
    """
    Find what a search for the words of a question looks for besides, in another language than English.

    ```python
    from haystack_integrations.crag.texts.languages.inflections import forms_among

    store = {"der": 9, "versand": 2, "kostet": 1, "ein": 9, "hunde": 1}
    assert forms_among("Wie hoch sind die Versandkosten?", store) == ["versand", "kostet"]
    assert forms_among("Darf ich einen Hund halten?", store) == ["hunde"]
    ```

    :param question: A question.
    :param vocabulary: The words that can be found, and in how many documents each is; none where that is not known.
    :returns: Of each word of the question, its most frequent other forms, three at most; of a compound that is not
        there both parts, where they are. Without a vocabulary the infinitive of a German verb in two places.
    """
    language = _language(question, ["", *(word for word in _COMMON if word in vocabulary)])  # none is the first one
    if language is None:
        return []
    whole = joined(question)[1] if language == "german" else {}
    if not vocabulary:
        return [next(infinitives(verb), f"{verb}n") for verb in whole]
    store, asked, found = _Vocabulary(vocabulary, language), words(question), list[str]()
    for word in (*_names(_DEGREE.sub("", question)), *whole):
        forms = store.forms(word)
        if language in _COMPOUNDING and not forms and word not in store:
            parts = ((store.forms(one, linked=True), store.forms(two)) for one, two in _cut(word))
            forms = next(([first[0], second[0]] for first, second in parts if first and second), [])
        found += [form for form in forms[:_MOST_FORMS] if form not in asked and form not in found]
    return found


_begins: Final = Remembered(lambda word: one_spelling(word.removeprefix("ge")[:_BEGINS])[:_BEGINS])


class _Vocabulary:
    """
    The words that can be found, but for those of grammar, by how they begin: a compound has many parts to look for.

    :param often: In how many documents each word is; a copy of it is read, since a store may be written to meanwhile.
    :param language: Their language.
    """

    def __init__(self, often: Mapping[str, int], language: str) -> None:
        self._often, self._keys, self._near = {**often}, _keys_of(language), defaultdict[str, list[str]](list)
        for word in self._often:
            if word not in FUNCTION_WORDS[language]:
                self._near[_begins[word]].append(word)

    def __contains__(self, word: str) -> bool:
        return word in self._near[_begins[word]]

    def forms(self, word: str, *, linked: bool = False) -> list[str]:
        """Find forms of a word, the most frequent one first; they begin as it does."""
        meant = set(_linked(word, self._keys) if linked else self._keys[word])
        found = [other for other in self._near[_begins[word]] if meant.intersection(self._keys[other])]
        return sorted(found, key=lambda other: (-self._often[other], other))


def _language(question: str, shown: Iterable[str]) -> str | None:
    """Tell the language of a question; of one that may be of two, as of words alone, by words that are shown."""
    written = words(question)
    language, asked, english = language_of(written), {*written}, STOP_WORDS.intersection(written)
    # English has a word of "costi di spedizione in Italia" and of "koszt do domu".
    if language is not None or english <= _SHARED:
        told = language_of([*shown])
        of_told = FUNCTION_WORDS[told] if told else frozenset()
        if english <= of_told and (language is None or len(asked & of_told) >= len(asked & FUNCTION_WORDS[language])):
            language = told or language
    return language if language in INFLECTED else None


def _names(question: str) -> list[str]:
    return [word for word in naming(words(question)) if _LETTERS.fullmatch(word)]


@cache
def _keys_of(language: str) -> Remembered[tuple[str, ...]]:
    """Give what two forms of a word have in common: its stem, and those of the infinitives that it may be of."""
    stem_of = stems_of(language)

    def keys(word: str) -> tuple[str, ...]:
        others = infinitives(word) if language == "german" else regular_forms(word, language)
        return tuple(stem_of[each] for each in (word, *others))

    return Remembered(keys)


def _in_parts(
    question: str, texts: Sequence[tuple[str, str]], keys: Remembered[tuple[str, ...]], common: Collection[str]
) -> str:
    """Take compounds apart that no text has, where one text has both parts; overtime is nothing over time."""
    shown = [
        {key for part in text for word in words(part) if word not in common for key in keys[word]} for text in texts
    ]
    for word in _names(question):
        if not any(map(set(keys[word]).intersection, shown)):
            for one, two in _cut(word):
                first, second = set(_linked(one, keys)), set(keys[two])
                if one not in common and any(first & text and second & text for text in shown):
                    question = re.sub(rf"(?i)(?<!\w){word}(?!\w)", f"{one} {two}", question)
                    break
    return question


def _cut(word: str) -> Iterator[tuple[str, str]]:
    for place in range(_PART, len(word) - _PART + 1):
        yield word[:place], word[place:]


def _linked(part: str, keys: Remembered[tuple[str, ...]]) -> Iterator[str]:
    """Give the keys of a first part, with what may link it to the second one and without."""
    yield from keys[part]
    for link in _LINKS:
        if part.endswith(link) and len(part) - len(link) >= _PART - 1:
            yield from keys[part.removesuffix(link)]


class _Forms:
    """
    The words of texts as a question has them.

    :param wanted: Words of the question by their keys.
    :param keys: The keys of any word.
    :param is_compounding: Whether the language writes several words in one.
    """

    def __init__(self, wanted: dict[str, str], keys: Remembered[tuple[str, ...]], *, is_compounding: bool) -> None:
        self._wanted, self._keys, self._is_compounding = wanted, keys, is_compounding
        self._begins = tuple({key[:_PART] for key in wanted if len(key) >= _PART})
        self._known: dict[str, str] = {}

    def of(self, text: str) -> str:
        return _LETTERS.sub(self._form, text)

    def _form(self, found: re.Match[str]) -> str:
        word = found[0]
        if word not in self._known:
            self._known[word] = self._worked_out(word, word.lower())
        return self._known[word]

    def _worked_out(self, word: str, low: str) -> str:
        keys = self._keys[low]
        if form := self._meant(keys):
            return word if form == low else _like(word, form)
        # The stem of a compound has no marks, as the keys have none.
        if self._is_compounding and any(begin in keys[0] for begin in self._begins):
            for one, two in _cut(low):
                first, second = self._meant(_linked(one, self._keys)), self._meant(self._keys[two])
                if first or second:
                    return f"{_like(word, first or one)} {_like(word, second or two)}"
        return word

    def _meant(self, keys: Iterable[str]) -> str | None:
        return next((self._wanted[key] for key in keys if key in self._wanted), None)


def _like(word: str, form: str) -> str:
    return form.capitalize() if word[0].isupper() else form
