"""
What "how much", "how long", the price or the phone number asks for: documents that answer have an amount or a number
there, and seldom that word.

"How long is the warranty?" was `incorrect` over "The warranty is 24 months." and "How much is a day pass?" over "A day
pass is 18 EUR.", as nothing in them is long or much.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import Final

from haystack_integrations.crag.texts.languages.function_words import FUNCTION_WORDS, language_of
from haystack_integrations.crag.texts.languages.stemming import STEMS, STOP_WORDS
from haystack_integrations.crag.texts.table_heads import heads_of_rows, standing_under
from haystack_integrations.crag.texts.text import sentences, terms, words
from haystack_integrations.crag.texts.wording import asked_terms

_DO: Final = "(?:do|does|did|will|can|may)"
# Other languages ask by a verb what something costs, and how long it takes.
_HOW_MUCH: Final = r"(?:was|wie ?viel|wat|hoeveel|vad|hur mycket|ile|combien|quanto|cu[aá]nto|сколько)"
_ASKED_ELSEWHERE: Final = (
    rf"\b{_HOW_MUCH} (?:\w+ )?(?P<cost>kost(?:et|en|ar)?|kosztuj[eą]|co[uû]te(?:nt)?|cuestan?|costa(?:no)?|custam?"
    r"|стоит|стоят)\b|\b(?P<fee>preis|precio|prezzo|pre[çc]o|prijs|prix(?= d))\b"
    r"|\b(?P<lasts>dauer[nt]|duurt|duren|dura(?:no|n|m)?|dure(?:nt)?|trwa(?:ją)?|varar|длится|длятся)\b"
)
_ASKED: Final = re.compile(
    r"(?i)\bhow (?:(?P<money>much)(?= (?:is|are|was|were|do|does|did|will|would|must|should|can|for)\b)"
    r"|(?P<many>many)|(?P<time>long)|(?P<often>often)|(?P<way>far)|(?P<weight>heavy)|(?P<size>tall|high|deep|wide))\b"
    r"|\b(?P<price>price|cost)\b|\b(?P<span>period|duration)\b"
    r"|\b(?P<phone>(?:tele)?phone number)\b|\b(?P<mail>e[- ]?mail address)\b"
    rf"|^(?:when|(?:at )?what time) {_DO} .+ (?P<when>[a-z]+)\W*$|^where {_DO} .+ (?P<where>[a-z]+)\W*$"
    rf"|{_ASKED_ELSEWHERE}"
)
# What a question may have beside such a word, and a document beside the amount, and neither has to.
_COST: Final = frozenset({"cost", "costs", "price"})
_LASTING: Final = frozenset(
    "take takes took last lasts lasted work works stay stays remain remains live lives valid".split()
)
_BESIDE: Final = {"money": _COST, "price": _COST, "time": _LASTING}
_BETWEEN: Final = frozenset(
    "cost price charg fee paid pay take last run call tel phone telephon dial mobil write reach mail contact "
    "least maximum minimum rough exact work stay remain live valid end expir".split()
)
CURRENCIES: Final = (
    r"EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD|AED|euros?|dollars?"
    r"|pounds?|cents?|francs?|yen|yuan|rupees?|Rs\.?|kr(?:on(?:or|er|a|e))?|z\u0142(?:ot\w+)?"
)
"""Pattern of a currency's name, as it stands beside an amount."""

CURRENCY_SIGNS: Final = "$\u20ac\u00a3\u00a5\u20b9\u20a9\u20ba\u20bd"
_BESIDE_AMOUNTS: Final = rf"([{CURRENCY_SIGNS}]) ?\d|\d ?([{CURRENCY_SIGNS[1:]}])"
_MONEY_ELSEWHERE: Final = rf"{CURRENCIES}|euro|Franken|TL|reais|руб\w*"
_TIME_ELSEWHERE: Final = (
    r"sekund\w?|minut\w{1,2}|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|heures?|jours?|semaines?|mois|ans?|années?"
    r"|segundos?|minutos?|horas?|d[ií]as?|semanas?|m[eê]s|meses|a[ñn]os?|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]"
    r"|seconden?|uur|uren|dag(?:en|ar)?|week|weken|maand(?:en)?|jaar|jaren|timm(?:e|ar)|veck(?:a|or)"
    r"|månad(?:er)?|år|godzin\w?|dni|tydzień|tygodni\w?|miesi\w{2,4}|roku?|lata?|секунд\w?|минут\w?|час(?:а|ов)?"
    r"|дн(?:я|ей)|день|недел\w|месяц\w{0,2}|года?|лет"
)
_LENGTH: Final = r"(?:milli|centi|kilo)?met(?:er|re)s?|[mck]?m|miles?|feet|ft|inch(?:es)?"
_MEASURES: Final = {
    "money": rf"\b({CURRENCIES}) ?\d|\d ?({CURRENCIES})(?!\w)|{_BESIDE_AMOUNTS}",
    "time": rf"\w[ -]((?:second|minute|hour|day|week|month|year)s?|min|hrs?|h)\b|\d ?(characters|letters|{_LENGTH})\b",
    "often": r"\b((?i:every|hourly|daily|weekly|monthly|yearly|annually|once|twice|times))\b",
    "way": rf"\d ?({_LENGTH})\b",
    "size": rf"\d ?({_LENGTH})\b",
    "phone": (
        r"(\+\d[\d /().-]{6,20}\d|\b0\d{2,4}[ /-]\d[\d -]{3,20}\d"
        r"|\b(?i:tel|telephone|phone|call|dial)\b[.:]{0,2} ?\d{3,20})"
    ),
    "mail": r"(?<!\S)(\S{1,64}@\S{1,100}\w)",
    "cost": rf"(?i)\b({_MONEY_ELSEWHERE}) ?\d|\d ?({_MONEY_ELSEWHERE})(?!\w)|{_BESIDE_AMOUNTS}",
    "lasts": rf"(?i)\w[ -]({_TIME_ELSEWHERE})(?!\w)",
    "weight": r"\d ?((?:kilo)?gram(?:me)?s?|k?g|tonnes?|tons?|lbs?|pounds?)\b",
}
PATTERNS: Final = {
    kind: re.compile(pattern)
    for kind, pattern in (
        *_MEASURES.items(),
        ("price", _MEASURES["money"]),
        ("span", _MEASURES["time"]),
        ("fee", _MEASURES["cost"]),
    )
}
"""By what is asked for, what an amount of it, a number or an address looks like."""
_NEVER: Final = re.compile(r"(?!)")
_SMALL: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|no|none"
_STEM: Final = 3
_ADDRESSES: Final = ("phone", "mail")  # no amounts, which may be of something else
_PRICE: Final = re.compile(r"(?i)\b(price|cost|fee|rate)s?\b")
_COLUMNS: Final = {
    "money": _PRICE,
    "price": _PRICE,
    "phone": re.compile(r"(?i)\b((?:tele)?phone|tel|mobile|extension)\b"),
    "mail": re.compile(r"(?i)\b(e-?mail)\b"),
    # Of what happens: that it plays, opens or is held there goes without saying.
    "when": re.compile(r"(?i)\b(date|day|time|when)\b"),
    "where": re.compile(r"(?i)\b(place|where|room|location|city|building|venue)\b"),
}
"""Names of columns whose cells are such amounts, or tell when or where, whatever they look like."""


def written_measures(query: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find the unit that documents have for the word by which a question asks for an amount.

    ```python
    from haystack_integrations.crag.texts.questions.measures import written_measures

    assert dict(written_measures("How long is the warranty?", ["The warranty is 24 months."])) == {"long": "months"}
    assert dict(written_measures("How long is the warranty?", ["The warranty is void."])) == {}
    ```

    :param query: The question.
    :param texts: The documents, each below its title.
    :returns: Pairs of such a word and the unit, where one sentence or row, with the title, headings and names of
        columns above it, has an amount and all else that is asked.
    """
    query = " ".join(query.split())  # whatever spaces it has
    if (found := _ASKED.search(query)) is None:
        return
    kind = str(found.lastgroup)
    asking = {*words(found[kind])} | ({*words(query)} & _BESIDE.get(kind, frozenset()))
    asked = {*asked_terms(query)} - {STEMS[word] for word in asking}
    between = _BETWEEN | _of_grammar(language_of(words(query)))
    amount = _number_of(query[found.end() :]) if kind == "many" else PATTERNS.get(kind, _NEVER)
    for text in texts if asked else ():
        if amount.search(" ".join(text.split())) or (kind in _COLUMNS and _COLUMNS[kind].search(text)):
            for said, measure in _told(text, kind, amount, asked, between):
                if asked <= said:
                    yield from ((word, measure) for word in sorted(asking) if STEMS[word] not in said)
                    return


@cache
def _of_grammar(language: str | None) -> frozenset[str]:
    return frozenset(STEMS[word] for word in FUNCTION_WORDS[language]) if language else frozenset()


def _number_of(things: str) -> re.Pattern[str]:
    """Give what a number of the things looks like that a question begins with: 12 working days, two of the keys."""
    named = list(takewhile(lambda word: word not in STOP_WORDS, words(things)))
    begins = re.escape(named[-1][: max(_STEM, len(named[-1]) - 1)]) if named else r"\w"
    return re.compile(rf"(?i)(?<![\w.,])(\d[\d.,]*|{_SMALL})(?:-\w+){{0,3}}?(?: [\w-]+){{0,3}}?[ -]{begins}")


def _told(
    text: str, kind: str, amount: re.Pattern[str], asked: set[str], between: frozenset[str]
) -> Iterator[tuple[set[str], str]]:
    """Give the terms of each sentence with an amount, and of what stands above it, and the unit."""
    title, _, _ = text.partition("\n")
    parts = [text[start:end] for start, end in sentences(text)]
    rows = heads_of_rows(parts)
    standing = standing_under(parts, rows)
    for number, part in enumerate(parts):
        head = parts[rows[number]] if number in rows else ""
        is_told = bool(head) or kind in _ADDRESSES
        plain = " ".join(part.split())  # an amount may stand on two lines
        amounts = (
            found for found in amount.finditer(plain) if is_told or _is_of(asked, between, plain[: found.start()])
        )
        measure = next(amounts, None)
        if measure is None and kind in _COLUMNS and head:
            measure = _COLUMNS[kind].search(head)
        if measure:
            above = "\n".join(parts[place] for place in standing.get(number, ()))
            yield {*terms(f"{title}\n{above}\n{part}")}, str(measure[measure.lastindex or 0])


def _is_of(asked: set[str], between: frozenset[str], before: str) -> bool:
    """Tell an amount of what is asked from one of something else: "must be claimed within 10 days"."""
    for term in reversed(terms(before[: before.rfind(" ") + 1])):
        if term in asked:
            return True
        if term not in between and len(term) > 1 and not term.isdigit():
            return False
    return True
