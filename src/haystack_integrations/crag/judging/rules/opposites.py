"""
Kinds that exclude each other: who asks for the winter hours is not told by the summer hours.

To words and vectors both are the same but for one word: of 16 questions for one kind, over a document that tells the
other, the model called 10 `correct` (benchmarks/other_kinds.py).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from haystack_integrations.crag.judging.rules.about import about
from haystack_integrations.crag.texts.text import sentences


class _Kind(NamedTuple):
    """
    One of several kinds.

    :param named: What it is asked for by, and named by where another one is asked for.
    :param told: What else tells it; a document with any of these may.
    :param is_asked: Whether it needs a name: "delivery" is standard delivery where another is called express.
    """

    named: re.Pattern[str]
    told: re.Pattern[str]
    is_asked: bool


def _kind(named: str, told: str = "", *, is_asked: bool = True) -> _Kind:
    name = rf"\b(?:{named})\b"
    return _Kind(re.compile(name, re.IGNORECASE), re.compile(rf"{name}|{told or name}", re.IGNORECASE), is_asked)


def _period(adjective: str, noun: str, told: str) -> _Kind:
    return _kind(rf"{adjective}|(?:per|an?|each|every|/) ?{noun}", rf"\b{noun}|{told}")


_ALL_YEAR: Final = r"all year|year[- ]round|throughout the year"
_GROUPS: Final = (
    (
        _period("hourly", "hour", r"/h\b|60 min"),
        _period("daily", "day", r"\bnight|24 hours"),
        _period("weekly", "week", "7 days|seven days"),
        _period("monthly", "month", "30 days"),
        _period("quarterly", "quarter", "three months"),
        _period("yearly|annual(?:ly)?", "year", r"\bannu|p\.a\.|1?2 months|twelve months"),
    ),
    (
        _kind("minimum|minimal", r"\blow|\bsmall|\bleast|\bshort|\bfrom \d|\bless\b|\bbelow|\bfew"),
        _kind("maximum|maximal|max", r"\bhigh|\blarg|\bmost|\blong|\bup to\b|\bmore\b|limit|\babove|\bexceed|\bwithin"),
        _kind("average", r"\baverag|\btypical|\busual"),
    ),
    (_kind("summer", rf"\bju(?:ne|ly)\b|\baugust|{_ALL_YEAR}"), _kind("winter", rf"\b(?:dec|jan|feb)\w*|{_ALL_YEAR}")),
    (
        _kind("weekends?", r"\bs(?:at|un)(?:urday|day)?\b|daily|every day|seven days|24/7"),
        _kind("weekdays?", is_asked=False),
    ),
    (_kind("indoors?", "inside|interior"), _kind("outdoors?", "outside|exterior|open air")),
    (_kind("part[- ]time"), _kind("full[- ]time", is_asked=False)),
    (
        _kind("child|children|kids?", r"\bchild|junior|youth|famil|\bunder \d|\bbelow \d|\bage|years old|teen|bab[yi]"),
        _kind("adults?", is_asked=False),
    ),
    (_kind("express", "same[- ]day|next[- ]day|priority"), _kind("standard", is_asked=False)),
    (_kind("gross"), _kind("net", "after tax")),
    (_kind("imports?", r"\bimport|from abroad"), _kind("exports?", r"\bexport|\babroad")),
    (_kind("uploads?", r"\bupload"), _kind("downloads?", r"\bdownload")),
    (_kind("departures?", r"\bdepart|\bleav|check-? ?out"), _kind("arrivals?", r"\barriv|\breach|check-? ?in")),
    (_kind("incoming|inbound", r"\breceiv"), _kind("outgoing|outbound", r"\bsen[dt]")),
    (_kind("inputs?"), _kind("outputs?")),
    (_kind("single"), _kind("double(?![- ]?(?:click|tap|check))|twin"), _kind("triple(?![- ]?click)")),
    (
        _kind("northern", r"\bnorth"),
        _kind("southern", r"\bsouth"),
        _kind("eastern", r"\beast"),
        _kind("western", r"\bwest"),
    ),
    (_kind("front(?! of)"), _kind("rear", r"\bback|\bhind")),
    (_kind("upper", r"\btop"), _kind("lower", r"\bbottom")),
    (_kind("internal", "inside|within"), _kind("external", "outside")),
    (_kind("public"), _kind("private", "privat|personal")),
    (_kind("male", r"\bm[ae]n\b|\bboy|\bhis?\b"), _kind("female", r"\bwom[ae]n\b|\bgirl|\bshe\b|\bher\b")),
    (_kind("temporary", "temporar"), _kind("permanent", "permanent|unlimited|indefinite")),
    (_kind("wholesale"), _kind("retail", "shop|store")),
    (_kind("urban", "town|cit(?:y|ies)"), _kind("rural", "countr|village")),
)
_ANY: Final = re.compile("|".join(kind.named.pattern for group in _GROUPS for kind in group), re.IGNORECASE)
# "For outside only" tells that it is not for inside.
_ONLY: Final = re.compile(r"(?i)\b(?:only|alone|exclusively|solely|not?)\b")


def untold_kinds(query: str, shown: Sequence[str]) -> Iterator[str]:
    """
    Find kinds that no document about the question tells, though one tells another kind.

    ```python
    from haystack_integrations.crag.judging.rules.opposites import untold_kinds

    hours, asked = ["Summer hours of the lido: 8:00 to 21:00."], "What are the winter hours of the lido?"
    assert [*untold_kinds(asked, hours)] == ["winter"]
    assert [*untold_kinds(asked, [hours[0] + " In January it is closed."])] == []
    ```

    :param query: The question.
    :param shown: The documents.
    :returns: Their words, as the question has them.
    """
    for word, kind, others in _kinds_in(query):
        texts = about(query, [word], shown)
        if not any(map(kind.told.search, texts)) and any(_tells(other, text) for other in others for text in texts):
            yield word


def _kinds_in(query: str) -> Iterator[tuple[str, _Kind, Sequence[_Kind]]]:
    """Give the word of each kind that a question asks for, the kind, and the others; none of a group of two of them."""
    for group in _GROUPS if _ANY.search(query) else ():  # most questions ask for none
        asked = [(named[0], kind) for kind in group if (named := kind.named.search(query))]
        if len(asked) == 1 and asked[0][1].is_asked:
            word, kind = asked[0]
            yield word, kind, [other for other in group if other is not kind]


def _tells(kind: _Kind, text: str) -> bool:
    """Tell whether a text names a kind, and not that it is the only one."""
    if not kind.named.search(text):
        return False
    naming = [text[start:end] for start, end in sentences(text) if kind.named.search(text[start:end])]
    return not any(map(_ONLY.search, naming))
