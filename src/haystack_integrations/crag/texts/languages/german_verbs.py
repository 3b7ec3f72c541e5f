"""Verbs of German in forms that a stemmer leaves apart: zurückgezahlt, beantragt, and in two places, schalte ... ab."""

import re
from collections.abc import Iterator
from typing import Final

from haystack_integrations.crag.texts.languages.function_words import FUNCTION_WORDS

_BEFORE: Final = (
    r"(?:wiederher|zusammen|herunter|heraus|herein|hinaus|hinein|nieder|weiter|wieder|zurück|durch|hinzu|statt|unter"
    r"|fest|fort|frei|hoch|auf|aus|bei|ein|her|hin|los|mit|nach|vor|weg|ab|an|da|um|zu)"
)
_PARTICIPLE: Final = re.compile(rf"({_BEFORE})?ge(\w{{3,}}?)(?:e?t|en)|({_BEFORE})zu(\w{{3,}})")
_FINITE: Final = re.compile(r"(\w{3,}?)(?:e?t|e?te|e?tet|e?ten|e?st|e?test)")
_LAST: Final = re.compile(rf"(?<=\s)((?:wieder )?{_BEFORE})(?=\W*$)")
_WORD: Final = re.compile(r"[^\W\d_]{3,40}")


def infinitives(word: str) -> Iterator[str]:
    """
    Give the infinitives that a word may be a form of, as its letters tell; many are none.

    ```python
    from haystack_integrations.crag.texts.languages.german_verbs import infinitives

    assert [*infinitives("zurückgezahlt")] == ["zurückzahlen", "zurückgezahlen"]
    assert [*infinitives("abzuschalten")] == ["abschalten", "abzuschalen"]
    ```

    :param word: A word in small letters.
    :returns: Of a participle, of an infinitive with `zu` in it, and of what ends as a finite verb.
    """
    if participle := _PARTICIPLE.fullmatch(word):
        before, verb, other, infinitive = participle.groups()
        yield f"{before or ''}{verb}en" if verb else f"{other}{infinitive}"
    if finite := _FINITE.fullmatch(word):
        yield f"{finite[1]}en"


def joined(question: str) -> tuple[str, dict[str, str]]:
    """
    Write a verb in one word whose first part ends the question.

    ```python
    from haystack_integrations.crag.texts.languages.german_verbs import joined

    assert joined("Wie schalte ich das Gerät ab?") == ("Wie abschalte ich das Gerät?", {"abschalte": "schalte"})
    assert joined("Wo ist das Gerät?") == ("Wo ist das Gerät?", {})
    ```

    :param question: A question in German.
    :returns: The question, and the verb without that part by the one with it; nothing where the first word in small
        letters that is none of grammar has none.
    """
    last = _LAST.search(question)
    if last is None:
        return question, {}
    said = [
        word for word in _WORD.finditer(question, 0, last.start()) if word[0].lower() not in FUNCTION_WORDS["german"]
    ]
    verb = next((word for word in said if word[0].islower() or not word.start()), None)
    if verb is None:
        return question, {}
    whole = last[1].replace(" ", "") + verb[0].lower()
    rest = question[verb.end() : last.start()].rstrip()
    return f"{question[: verb.start()]}{whole}{rest}{question[last.end() :]}", {whole: verb[0].lower()}
