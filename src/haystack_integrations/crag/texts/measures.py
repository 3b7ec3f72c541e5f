"""
What "how much", "how many", "how long", the price or the phone number asks for: documents that answer have an amount or
a number there, and seldom that word.

"How long is the warranty?" was `incorrect` over "The warranty is 24 months." and "How much is a day pass?" over "A day
pass is 18 EUR.", as nothing in them is long or much.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from haystack_integrations.crag.number_words import written_out
from haystack_integrations.crag.texts.stemming import stems
from haystack_integrations.crag.texts.table_heads import heads_of_rows, standing_under
from haystack_integrations.crag.texts.text import sentences, terms, words
from haystack_integrations.crag.texts.wording import asked_terms

_ASKED: Final = re.compile(
    r"(?i)\bhow (?:(?P<money>much)(?= (?:is|are|was|were|do|does|did|will|would|must|should|can|for)\b)"
    r"|(?P<time>long)|(?P<many>many)|(?P<often>often)|(?P<way>far)|(?P<weight>heavy)|(?P<size>tall|high|deep|wide))\b"
    r"|\b(?P<price>price|cost)\b|\b(?P<phone>(?:tele)?phone number)\b|\b(?P<mail>e[- ]?mail address)\b"
)
_COST: Final = frozenset({"cost", "costs", "price"})
_BETWEEN: Final = frozenset(
    "cost price charg fee paid pay take last run call tel phone telephon dial mobil write reach mail contact".split()
)
_MONEY: Final = r"EUR|USD|GBP|CHF|euros?|dollars?|pounds?|cents?"
_COUNTS: Final = [word for number in range(1, 13) for word in written_out(number)[:1]]
_NEAR: Final = 60  # characters
_LENGTH: Final = r"(?:milli|centi|kilo)?met(?:er|re)s?|[mck]?m|miles?|feet|ft|inch(?:es)?"
_MEASURES: Final = {
    "money": rf"\b({_MONEY}) ?\d|\d ?({_MONEY})\b|([$\u20ac\u00a3]) ?\d|\d ?([\u20ac\u00a3])",
    "time": r"\w[ -]((?:second|minute|hour|day|week|month|year)s?|min|hrs?|h)\b",
    "often": r"\b((?i:every|hourly|daily|weekly|monthly|yearly|annually|once|twice|times))\b",
    "many": rf"(?<![\w.,:-])((?!(?:1[89]|20)\d\d\b)\d{{1,3}}(?:[,.]?\d{{3}})*|{'|'.join(_COUNTS)})\b(?![.,:-]\d| ?%)",
    "way": rf"\d ?({_LENGTH})\b",
    "size": rf"\d ?({_LENGTH})\b",
    "phone": (
        r"(\+\d[\d /().-]{6,20}\d|\b0\d{2,4}[ /-]\d[\d -]{3,20}\d"
        r"|\b(?i:tel|telephone|phone|call|dial)\b[.:]{0,2} ?\d{3,20})"
    ),
    "mail": r"(?<!\S)(\S{1,64}@\S{1,100}\w)",
    "weight": r"\d ?((?:kilo)?gram(?:me)?s?|k?g|tonnes?|tons?|lbs?|pounds?)\b",
}
PATTERNS: Final = {kind: re.compile(pattern) for kind, pattern in (*_MEASURES.items(), ("price", _MEASURES["money"]))}
"""By what is asked for, what an amount of it, a number or an address looks like."""
_PRICE: Final = re.compile(r"(?i)\b(price|cost|fee|rate)s?\b")
_COLUMNS: Final = {
    "money": _PRICE,
    "price": _PRICE,
    "phone": re.compile(r"(?i)\b((?:tele)?phone|tel|mobile|extension)\b"),
    "mail": re.compile(r"(?i)\b(e-?mail)\b"),
}
"""Names of columns whose cells are such amounts, whatever they look like."""


def written_measures(query: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Find the unit that documents have for the word by which a question asks for an amount.

    ```python
    from haystack_integrations.crag.texts.measures import written_measures

    assert dict(written_measures("How long is the warranty?", ["The warranty is 24 months."])) == {"long": "months"}
    assert dict(written_measures("How long is the warranty?", ["The warranty is void."])) == {}
    ```

    :param query: The question.
    :param texts: The documents, each below its title.
    :returns: Pairs of such a word and the unit, where one sentence or row, with the title, heading and names of columns
        above it, has an amount and all else that is asked.
    """
    if (found := _ASKED.search(query)) is None:
        return
    kind = str(found.lastgroup)
    asking = {*words(found[kind])} | ({*words(query)} & _COST if kind in {"money", "price"} else set())
    asked = {*asked_terms(query)} - {stems()[word] for word in asking}
    for text in texts if asked else ():
        if PATTERNS[kind].search(text) or (kind in _COLUMNS and _COLUMNS[kind].search(text)):
            for said, measure in _told(text, kind, asked):
                if asked <= said:
                    yield from ((word, measure) for word in sorted(asking) if stems()[word] not in said)
                    return


def _told(text: str, kind: str, asked: set[str]) -> Iterator[tuple[set[str], str]]:
    """Give the terms of each sentence with an amount, and of what stands above it, and the unit."""
    title, _, _ = text.partition("\n")
    parts = [text[start:end] for start, end in sentences(text)]
    rows = heads_of_rows(parts)
    standing = standing_under(parts, rows)
    for number, part in enumerate(parts):
        head = parts[rows[number]] if number in rows else ""
        amounts = (found for found in PATTERNS[kind].finditer(part) if head or _is_meant(kind, asked, part, found))
        measure = next(amounts, None)
        if measure is None and kind in _COLUMNS and head:
            measure = _COLUMNS[kind].search(head)
        if measure:
            above = "\n".join(parts[place] for place in standing.get(number, ()))
            yield {*terms(f"{title}\n{above}\n{part}")}, str(measure[measure.lastindex or 0])


def _is_meant(kind: str, asked: set[str], part: str, amount: re.Match[str]) -> bool:
    before, behind = part[: amount.start()], part[amount.end() :]
    if kind != "many":
        return _is_of(asked, before)
    # What is counted stands behind its number ("31 large rooms"), or a colon between them.
    return not asked.isdisjoint(terms(behind[:_NEAR])[:2]) or (before.endswith(": ") and _is_of(asked, before))


def _is_of(asked: set[str], before: str) -> bool:
    """Tell an amount of what is asked from one of something else: "must be claimed within 10 days"."""
    for term in reversed(terms(before[: before.rfind(" ") + 1])):
        if term in asked:
            return True
        if term not in _BETWEEN and len(term) > 1 and not term.isdigit():
            return False
    return True
