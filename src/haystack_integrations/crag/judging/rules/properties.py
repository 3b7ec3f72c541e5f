"""
Properties that no document tells: who asks for the phone number of a person is not told by what that person does.

With a rare name found, the shipped model called nearly any question about it `correct`, whatever it asked (figures:
benchmarks/other_properties.py). A rule for all properties would lose as much as it saves: an occupation, a nation, a
place or a date is told without its word. These have a form of their own, or are roles of people.

A list of telephones does not tell the number of a person who stands in another section: the word and the form of what
is asked are there, and so is the name; only not together.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from haystack_integrations.crag.judging.rules.about import about
from haystack_integrations.crag.judging.rules.other_names import is_begun
from haystack_integrations.crag.texts.questions.measures import PATTERNS
from haystack_integrations.crag.texts.text import words

_MEASURED: Final = re.compile(
    r"(?i)\b(?:(?P<phone>(?:tele)?phone number)|(?P<mail>e[- ]?mail address)"
    r"|(?P<price>price)(?! (?:list|tag|range)s?\b)"
    r"|(?:how much|what) (?:do|does|did|will|would) .{1,80}\b(?P<price_2>cost)"
    r"|how (?:(?P<price_3>expensive)|(?P<weight>heavy)|(?P<way>far)|(?P<size>tall|deep|wide)|(?P<age>old))"
    r" (?:is|was|are|were)"
    r"|(?:which|what|who) .{1,80}?\b(?:(?P<price_4>cheape(?:r|st)|(?:more|most) expensive)"
    r"|(?P<weight_2>heavie(?:r|st))|(?P<size_2>(?:tall|deep|wid)e(?:r|st))))\b"
)
# What tells it beside an amount, or that there is one.
_TOLD: Final = {
    "phone": r"phone|\btel\b|mobile",
    "mail": r"e-?mail",
    "price": (
        r"\bpric|\bcosts?\b|\bfees?\b|\bno charge|\bpay \d|\bsells? (?:at|for)\b|\bsold (?:at|for)\b"
        r"|(?<![\w-])free\b(?! (?:to|time|from|of(?! charge))\b)"
    ),
    "weight": r"\bweigh|\bheav|\blight",
    "way": r"\bfar\b|\bdistan|\baway\b|\bwalk|\bminute|\bhours?\b|\bnear",
    "age": r"\bborn\b|\bbirth|\bage[ds]?\b|\bbuil[dt]|\bfound|\bestablish|\bconstruct|\bcentury\b|\bsince \d{4}"
    r"|\b(?:dat(?:es|ed|ing)|erected|opened|completed|inaugurated)\b[^.]{0,40}?\b(?:1\d|20)\d\d\b",
    "size": r"\btall\b|\bheight|\bdepth|\bwidth",
}
# In a bracket behind a name it is of a life.
_AGE: Final = re.compile(r"\(\D{0,20}\d{4}\b|\d+[ -]years?[ -]olds?\b")
_FORMS: Final = {**PATTERNS, "age": _AGE}
_ROLE: Final = re.compile(
    r"(?i)\bwho (?:is|was|are|were) the (?:[a-z-]+ ){0,2}?"
    r"(?!(?:person|people|man|woman|responsible)\b)(?P<role>[a-z-]{4,}) (?:of|for|behind)\b"
)
_OTHERWISE: Final = {
    **dict.fromkeys(
        ("author", "writer", "screenwriter"), r"writ|wrote|author|script|novel|book|stor(?:y|ies)|poe[mt]|\bplay by"
    ),
    "composer": r"opera|symphon|\bsong|\bmusic by",
    **dict.fromkeys(("father", "mother", "parents"), r"\bson\b|daughter|child|\bborn to\b|parent"),
    **dict.fromkeys(("wife", "husband", "spouse"), r"marri|wife|husband|spouse|wed"),
    **dict.fromkeys(("founder", "founders", "creator"), r"establish|set up|creat|start|invent|develop"),
    **dict.fromkeys(("owner", "owners"), r"belong|bought|acqui|\bsold\b"),
    **dict.fromkeys(("leader", "head", "boss"), r"\bled\b|\bleads?\b|head|chief"),
    **dict.fromkeys(("singer", "singers"), r"\bsang\b|\bsung\b|\bsings?\b|vocal|perform|song|album"),
}
"""Roles that are told in other words than by what they begin with: the producer produced it."""
_STEM, _ENDING = 4, 3
_CAPITAL: Final = r"[A-Z\u00c0-\u00de][\w'\u2019-]*\w"
# Of two words, or behind a title: any other may be the name of the house, which stands beside no number.
_PERSON: Final = (
    rf"(?:(?:(?:Mrs?|Ms|Dr|Prof(?:essor)?)\b\.? )+({_CAPITAL}(?: {_CAPITAL})*)|({_CAPITAL}(?: {_CAPITAL})+))"
)
_HOLDER: Final = re.compile(
    rf"(?:number|address|old) (?:of|for|is|was) {_PERSON}|{_PERSON}['\u2019]s? (?:\w+[ -]){{1,2}}?(?:number|address)"
)
_PARAGRAPHS: Final = re.compile(r"\n[^\S\n]*\n")
_DIVIDER: Final = re.compile(r"[\s|:-]+")


class _Property(NamedTuple):
    """What a question asks for, what may tell it, and the name of the person beside whom it must stand, if any."""

    written: str
    told: tuple[re.Pattern[str], ...]
    holder: str = ""


def untold_properties(query: str, shown: Sequence[str]) -> Iterator[str]:
    """
    Find properties of which no document about the question has what may tell them; of a person, beside the name.

    ```python
    from haystack_integrations.crag.judging.rules.properties import untold_properties

    texts = ["Ann Lee is a painter. She was born in 1960 in York."]
    assert [*untold_properties("What is the phone number of Ann Lee?", texts)] == ["phone number"]
    assert [*untold_properties("Who is the manager of Ann Lee?", texts)] == ["manager"]
    assert [*untold_properties("Who is the manager of Ann Lee?", ["Ann Lee, managed by Ben Fox."])] == []
    ```

    :param query: The question.
    :param shown: The documents.
    :returns: Those of them, as the question has them.
    """
    asked = _properties_in(query)
    near = about(query, [each.written for each in asked], shown) if asked else ()
    for each in asked:
        beside_it = (_beside(each.holder, text) for text in near) if each.holder else near
        if not any(pattern.search(text) for text in beside_it for pattern in each.told):
            yield each.written


def _properties_in(query: str) -> list[_Property]:
    """Find a phone number, an e-mail address, a price, weight, distance, size, age, or the role of a person."""
    measured = [
        (kind.partition("_")[0], written)
        for found in _MEASURED.finditer(query)
        for kind, written in found.groupdict().items()
        if written
    ]
    roles = (found["role"] for found in _ROLE.finditer(query))
    return [
        *(
            _Property(written, (re.compile(rf"(?i){_TOLD[kind]}"), _FORMS[kind]), _holder_in(query))
            for kind, written in measured
        ),
        *(_Property(role, (re.compile(rf"(?i){_said(role.lower())}"),)) for role in roles),
    ]


def _said(role: str) -> str:
    begins = rf"\b{re.escape(role[: max(_STEM, len(role) - _ENDING)])}"
    return f"{begins}|{_OTHERWISE[role]}" if role in _OTHERWISE else begins


def _holder_in(query: str) -> str:
    """Find whose number, address or age is asked for: the last word of the name, as several may have the first."""
    found = _HOLDER.search(" ".join(query.split()))
    return words(next(filter(None, found.groups())))[-1] if found else ""


def _beside(name: str, text: str) -> str:
    """
    Give what a document tells beside a name: all where the title has it.

    Else rows, items and paragraphs that have the name, those behind such a paragraph, and what is under such a heading.
    """
    title = text.partition("\n")[0]
    return text if is_begun(name, title.lower()) else "\n".join(_told(name, text))


def _told(name: str, text: str) -> Iterator[str]:
    under, was_told = 0, False  # the level of a heading with the name
    for paragraph in _PARAGRAPHS.split(text):
        lines = paragraph.strip().splitlines()
        if lines and (level := len(lines[0]) - len(lines[0].lstrip("#"))):
            if not under or level <= under:
                under = level if is_begun(name, lines[0].lower()) else 0
            was_told = False
        if lines and all(line.startswith(("|", "- ", "* ")) for line in lines):
            # The names of its columns tell what the cells of a row are.
            head = lines[:1] if len(lines) > 1 and _DIVIDER.fullmatch(lines[1]) else []
            kept = [line for line in lines if under or was_told or is_begun(name, line.lower())]
            yield from [*head, *kept] if kept else ()
            was_told = False
            continue
        is_told = is_begun(name, paragraph.lower())
        if is_told or was_told or under:
            yield paragraph
        was_told = is_told
