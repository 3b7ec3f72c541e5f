"""
Properties that no document tells: who asks for the phone number of a person is not told by what that person does.

With a rare name found, the shipped model called nearly any question about it `correct`, whatever it asked (figures:
benchmarks/other_properties.py). A rule for all properties would lose as much as it saves: an occupation, a nation, a
place or a date is told without its word. These have a form of their own, or are roles of people.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from haystack_integrations.crag.texts.measures import PATTERNS

_MEASURED: Final = re.compile(
    r"(?i)\b(?:(?P<phone>(?:tele)?phone number)|(?P<mail>e[- ]?mail address)"
    r"|what (?:is|are|was|were) the (?P<price>price)s? (?:of|for)"
    r"|how much (?:do|does|did|will|would) .{1,80}\b(?P<money>cost)"
    r"|how (?:(?P<weight>heavy)|(?P<way>far)|(?P<size>tall|deep|wide)) (?:is|was|are|were))\b"
)
# What tells it beside an amount, or that there is one.
_TOLD: Final = {
    "phone": r"phone|\btel\b|mobile",
    "mail": r"e-?mail",
    "price": r"\bpric|\bcosts?\b|\bfees?\b|\bfree of charge|\bfor free|\bis free\b|\bno charge|\bpay \d",
    "weight": r"\bweigh|\bheav|\blight",
    "way": r"\bfar\b|\bdistan|\baway\b|\bwalk|\bminute|\bhours?\b|\bnear",
    "size": r"\btall\b|\bheight|\bdepth|\bwidth",
}
_TOLD["money"] = _TOLD["price"]
_ROLE: Final = re.compile(
    r"(?i)\bwho (?:is|was|are|were) the (?:[a-z-]+ ){0,2}?"
    r"(?!(?:person|people|man|woman|responsible)\b)(?P<role>[a-z-]{4,}) (?:of|for|behind)\b"
)
_OTHERWISE: Final = {
    **dict.fromkeys(
        ("author", "writer", "screenwriter"), r"writ|wrote|author|script|novel|book|stor(?:y|ies)|poe[mt]|\bplay by"
    ),
    **dict.fromkeys(("father", "mother", "parents"), r"\bson\b|daughter|child|\bborn to\b|parent"),
    **dict.fromkeys(("wife", "husband", "spouse"), r"marri|wife|husband|spouse|wed"),
    **dict.fromkeys(("founder", "founders", "creator"), r"establish|set up|creat|start|invent|develop"),
    **dict.fromkeys(("owner", "owners"), r"belong|bought|acqui|\bsold\b"),
    **dict.fromkeys(("leader", "head", "boss"), r"\bled\b|\bleads?\b|head|chief"),
    **dict.fromkeys(("singer", "singers"), r"\bsang\b|\bsung\b|\bsings?\b|vocal|perform|song|album"),
}
"""Roles that are told in other words than by what they begin with: the producer produced it."""
_STEM, _ENDING = 4, 3


def asks_property(query: str) -> bool:
    """Tell whether a question asks for one of these properties, so that documents need be looked at."""
    return bool(_MEASURED.search(query) or _ROLE.search(query))


def untold_properties(query: str, shown: Sequence[str]) -> Iterator[str]:
    """
    Find a property that a question asks for, where no document has anything that may tell it.

    ```python
    from haystack_integrations.crag.judging.properties import untold_properties

    texts = ["Ann Lee is a painter. She was born in 1960 in York."]
    assert [*untold_properties("What is the phone number of Ann Lee?", texts)] == ["phone number"]
    assert [*untold_properties("Who is the manager of Ann Lee?", texts)] == ["manager"]
    assert [*untold_properties("Who is the manager of Ann Lee?", ["Ann Lee, managed by Ben Fox."])] == []
    ```

    :param query: The question.
    :param shown: The documents.
    :returns: A phone number, an e-mail address, a price, a weight, a distance, a size, or the role of a person, as the
        question has it.
    """
    for found in _MEASURED.finditer(query):
        kind = str(found.lastgroup)
        told = re.compile(rf"(?i){_TOLD[kind]}")
        if not any(told.search(text) or PATTERNS[kind].search(text) for text in shown):
            yield found[kind]
    for found in _ROLE.finditer(query):
        role = found["role"].lower()
        begins = rf"\b{re.escape(role[: max(_STEM, len(role) - _ENDING)])}"
        told = re.compile(rf"(?i){begins}|{_OTHERWISE.get(role, begins)}")
        if not any(map(told.search, shown)):
            yield found["role"]
