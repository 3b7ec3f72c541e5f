"""
Names that no document tells: who asks about the train to Leeds is not told by the train to York.

Every other word of the question may be there, and to the shipped model that was enough: of 1,152 lists of six public
datasets that answer a question with a name, asked with the name of another question in its place, it called 304
`correct`, and with this rule 30. Of 115 lists that lack a name or number of their question it called 33 `correct`, of
which 9 were, and with it 3 (benchmarks/other_numbers.py).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from unicodedata import combining, normalize

from haystack_integrations.crag.judging.surface import normalised
from haystack_integrations.crag.texts.languages.function_words import FUNCTION_WORDS
from haystack_integrations.crag.texts.languages.spelling import unelided
from haystack_integrations.crag.texts.languages.stemming import STOP_WORDS
from haystack_integrations.crag.texts.text import sentences, words

# Of the languages that are known: also Polish, Turkish and Russian.
_CAPITAL: Final = r"(?!I\b)[A-Z\u00c0-\u00de\u0106\u0130\u0141\u015a\u015e\u0179\u017b\u0410-\u042f][\w'\u2019&-]*+"
# Behind a number it is a unit, or PM.
NAME: Final = re.compile(rf"(?:(?<=[^\W\d] )|(?<=[,;:] )){_CAPITAL}(?: {_CAPITAL})*+")
"""Words with a capital inside a sentence."""
_NOUN: Final = re.compile(rf"(?:(?<=[^\W\d] )|(?<=[,;:] )){_CAPITAL}")
# What only nouns stand behind, nearly always; Spanish "lo" does not tell one, and French "de" only behind "combien".
# Polish has no articles, but prepositions.
_ARTICLES: Final = {
    "french": "le la les un une du des au aux ce cet cette ces mon ma mes son sa ses notre nos votre vos leur leurs "
    "quel quelle quels quelles",
    "spanish": "el la los las un una unos unas del al este estos estas mi mis su sus nuestro nuestra nuestros nuestras "
    "cu\u00e1nta cu\u00e1ntos cu\u00e1ntas",
    "italian": "il lo la i gli le un uno una del dello della dei degli delle al allo alla ai agli alle dal dallo dalla "
    "dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle questo questa questi queste mio "
    "mia miei mie suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre quanti quante",
    "dutch": "de het een mijn jouw uw onze ons deze dit geen elke ieder iedere welk welke hoeveel",
    "polish": "w we z ze na do od po za przed pod nad przy dla bez o u mi\u0119dzy",
    "portuguese": "o a os as um uma uns umas do da dos das ao \u00e0 aos \u00e0s no na nos nas pelo pela pelos pelas "
    "este estes estas meu minha meus minhas seu sua seus suas nosso nossa nossos nossas quantos quantas",
}
_BEHIND: Final = {
    language: re.compile(
        rf"(?i)(?<![\w-])(?:(?:{articles.replace(' ', '|')}|combien de) |(?:l|un|combien d|(?:[ads]|de|ne|da|su)ll)"
        r"['\u2019])(?=(?P<noun>[^\W\d_]{3,})(?![\w'\u2019-]))"
    )
    for language, articles in _ARTICLES.items()
}
# Behind an article, before a noun; a noun that ends so is not looked for.
_ADJECTIVES: Final = {"dutch": ("e",), "polish": ("ego", "emu", "ej", "ym", "im", "ych", "ich")}
# Monday to Friday has Wednesday in it.
_DAY: Final = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|wed|thur?s?|fri|sat|sun|jan(?:uary)?|feb(?:ruary)?"
    r"|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_POSSESSIVE: Final = re.compile(r"['\u2019]s?\b")
_IN_WORD, _OUTSIDE = re.compile(r"\w"), re.compile(r"\W")
_STEM, _ENDING = 4, 4
_FEWEST: Final = 2


def names_in(query: str, language: str | None = None) -> list[str]:
    """
    Find names: words with a capital inside a sentence, which most languages give to names alone; not German.

    :param query: A question.
    :param language: Its language, in small letters; None for English.
    :returns: Each as it is written, but for those with a digit, which have several writings (E53, E-53); none of a
        question that has capitals everywhere (How Do I ...).
    """
    query = normalised(query)
    told = [query[start:end] for start, end in sentences(query)]
    # What one tells of oneself first is no part of the question.
    query = " ".join([each for each in told if each.endswith("?")] or told)
    typed, common = query.split(), FUNCTION_WORDS[language] if language else STOP_WORDS
    is_told = language != "german" if language else sum(word in common for word in words(query)) >= _FEWEST
    has_small = any(word.islower() and word not in common for word in typed)
    has_capital = any(word.isupper() or word.istitle() for word in typed[1:] if word.lower() in common - {"i"})
    written = " ".join(map(unelided, typed)) if language else query
    found = NAME.findall(written) if is_told and (has_small or not has_capital) else []
    return [name for name in found if not any(map(str.isdigit, name)) and not (language and name.lower() in common)]


def untold_names(query: str, shown: Sequence[str], language: str | None = None) -> Iterator[str]:
    """
    Find names that no document has in any part.

    ```python
    from haystack_integrations.crag.judging.rules.other_names import untold_names

    asked = "Which train to Leeds leaves York before the Canadian one?"
    assert [*untold_names(asked, ["From York to Canada, a train leaves at 9:10."])] == ["Leeds"]
    ```

    :param query: The question.
    :param shown: The documents.
    :param language: As for `names_in`.
    :returns: The names, as `names_in` gives them; no days and months, which a range may cover.
    """
    names, plain = names_in(query, language), ""
    written = "\n".join(shown).lower() if names else ""
    for name in names:
        said = words(_POSSESSIVE.sub("", _plain(name)))
        parts = [part for part in said if len(part) > 1 and part not in STOP_WORDS]
        if parts and not any(_DAY.fullmatch(part) or is_begun(part, written) for part in parts):
            # Nearly all names are told as they are; to read all documents for the others takes a hundred times as long.
            plain = plain or " ".join(words(_plain(written)))
            if not any(is_begun(part, plain) for part in parts):
                yield name


def untold_nouns(query: str, shown: Sequence[str], language: str | None) -> Iterator[str]:
    """
    Find nouns that no document has, neither as a word nor as the first or last part of one.

    ```python
    from haystack_integrations.crag.judging.rules.other_names import untold_nouns

    texts = ["Im Museum kostet der Eintritt 8 Euro, mit Museumskarte 4 Euro."]
    assert [*untold_nouns("Was kostet im Museum der Katalog?", texts, "german")] == ["Katalog"]
    assert [*untold_nouns("Was kostet im Museum der Eintritt mit Karte?", texts, "german")] == []
    ```

    :param query: The question.
    :param shown: The documents, in the forms in which the question has its words (`texts.languages.inflections`).
    :param language: The language of the question, in small letters; None for English.
    :returns: The nouns, as the question writes them.
    """
    nouns = _nouns_in(query, language)
    written = "\n".join(shown).lower() if nouns else ""
    for noun in dict.fromkeys(nouns):
        low = re.escape(noun.lower())
        if not re.search(rf"(?<!\w){low}|{low}(?!\w)", written):
            yield noun


def _nouns_in(query: str, language: str | None) -> list[str]:
    """Find nouns: in German, which gives a capital to all of them, and behind what only nouns stand behind."""
    if language is None or (pattern := _NOUN if language == "german" else _BEHIND.get(language)) is None:
        return []
    common, adjectives = FUNCTION_WORDS[language], _ADJECTIVES.get(language, ())
    found = ((noun, noun.lower()) for noun in pattern.findall(query))
    return [noun for noun, low in found if low not in common and not low.endswith(adjectives)]


def _plain(text: str) -> str:
    """Fold case and marks: Emilie, \u00c9milie."""
    return "".join(sign for sign in normalize("NFKD", text.lower()) if not combining(sign))


def is_begun(part: str, text: str) -> bool:
    """
    Look for the beginning of a name, by which its other forms are told: Canada, Canadian.

    :param part: A word of a name, in small letters.
    :param text: Any text, in small letters.
    :returns: Whether a word of the text begins so.
    """
    begins = part[: max(_STEM, len(part) - _ENDING)]
    place = text.find(begins)  # a pattern for each name took ten times as long, most of it to compile
    while place > 0 and _IN_WORD.match(text, place - 1):
        behind = _OUTSIDE.search(text, place)
        place = -1 if behind is None else text.find(begins, behind.end())
    return place >= 0
