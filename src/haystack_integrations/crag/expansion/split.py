"""A question of two hops or two things, split by rule: conservative, so that a doubt leaves the question whole."""

import re
from typing import Final

from haystack_integrations.crag.expansion.rules import content_words, keywords

_ASKS: Final = r"(?:who|whom|whose|what|when|where|which|why|how)"
_AUXILIARY: Final = r"(?:is|are|was|were|do|does|did|has|have|had)"
_SPAN: Final = r"(?:(?!\b(?:and|or|between|than)\b)[^,;:?()\"\u201c\u201d])"
_SIDE: Final = rf"({_SPAN}{{1,80}}?)"
_NAME: Final = r"[A-Z][\w.'\u2019-]*(?:\s+(?:(?:of|the|de|van|von|da)\s+)*[A-Z][\w.'\u2019-]*)*"
_ABOUT: Final = r"(?:\s+(?:in terms of|with respect to|with regard to|regarding|when it comes to)\s+(.{1,80}?))?"

_TWO_QUESTIONS: Final = re.compile(
    rf"\s*(.{{8,}}?)(?:\s*[,;]\s*and\s+|\s+and\s+|\s*;\s*|\?\s+(?:and\s+)?)({_ASKS}\b.{{4,}}?)[\s?.!]*", re.IGNORECASE
)
_OPENING: Final = re.compile(rf"(?:{_ASKS}|{_AUXILIARY}|in (?:which|what)|tell|explain|describe|list)\b", re.IGNORECASE)
_COMPARISONS: Final = (
    re.compile(
        rf"(?:what(?:'s| is| are| was| were)?\s+)?(?:the\s+)?(?:main\s+|key\s+)?(?:differences?|similarit(?:y|ies))\s+"
        rf"between\s+{_SIDE}\s+and\s+{_SIDE}{_ABOUT}[\s?.!]*",
        re.IGNORECASE,
    ),
    re.compile(rf"compare\s+{_SIDE}\s+(?:and|with|to|versus|vs\.?)\s+{_SIDE}{_ABOUT}[\s?.!]*", re.IGNORECASE),
    re.compile(rf"{_SIDE}\s+(?:versus|vs\.?)\s+{_SIDE}{_ABOUT}[\s?.!]*", re.IGNORECASE),
)
_CHOICE: Final = re.compile(
    rf"((?:who|which|what)\b[^,:;?\"\u201c\u201d]{{3,120}}?)\s*[,:]\s*{_SIDE}\s*,?\s+or\s+{_SIDE}[\s?.!]*",
    re.IGNORECASE,
)
_THAN: Final = re.compile(
    rf"(?:{_AUXILIARY})\s+{_SIDE}\s+((?:more|less)\s+[a-z-]+|[a-z]{{3,}}er|better|worse)\s+than\s+{_SIDE}[\s?.!]*",
    re.IGNORECASE,
)
# A name that goes on until `both` is no name that is known here: "Escape from the Dark".
_BOTH: Final = re.compile(
    rf"(?i:{_AUXILIARY})\s+(?:both\s+)?(?:the\s+)?({_NAME})\s+and\s+(?:the\s+)?({_NAME})\s+((?!.+\bboth\b)[a-z][^,;:()\"\u201c\u201d]{{3,160}}?)[\s?.!]*"
)
_QUOTES: Final = re.compile(r"[\"\u201c\u201d\u201e\u00ab\u00bb]|(?<!\w)['\u2018]|['\u2019](?!\w)")
_THINGS: Final = re.compile(r"\b(?:it|its)\b", re.IGNORECASE)
_PERSONS: Final = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"\b(?:they|them|their|theirs|this|that|these|those|there|then|one|ones|both|each|other|former|latter|same)\b",
    re.IGNORECASE,
)
_NAMING: Final = re.compile(r"\s*(?:in\s+)?(?:who|whom|whose|what|which)\b", re.IGNORECASE)
_IDLE: Final = frozenset("same both common different difference".split())
_OPEN_ENDED: Final = frozenset("a an the of and or to for with by than about from not no my your its".split())
_LONGEST: Final = 400
_FEWEST_WORDS: Final = 3


def split(question: str, most: int) -> list[str]:
    """
    Split a question of several parts into search queries for the parts.

    Known are two questions joined by "and", and comparisons of two things. What the second question calls "it" or "she"
    is named when there is one name it can be; with any doubt nothing is split.

    ```python
    from haystack_integrations.crag.expansion.split import split

    assert split("Where was Alan Turing born and when did he die?", 3) == [
        "Where was Alan Turing born",
        "when did Alan Turing die",
    ]
    assert split("Which city is older, Paris or Rome?", 3) == ["Paris city older", "Rome city older"]
    assert split("What are the causes and effects of inflation?", 3) == []
    ```

    :param question: The question.
    :param most: Most parts.
    :returns: The parts in order; empty when the question is one, or when the parts are more than `most`.
    """
    text = " ".join(question.split())
    # Rules for questions; what is longer than a paragraph is none, and would cost time to look through.
    if len(text) > _LONGEST:
        return []
    parts = _compared(text) or _two_questions(text)
    return parts if 1 < len(set(parts)) <= most else []


def _two_questions(text: str) -> list[str]:
    """Split at the one place where a second question begins, if both can stand alone."""
    found = _TWO_QUESTIONS.fullmatch(text)
    if found is None or _QUOTES.search(text) or not _OPENING.match(found[1]):
        return []
    first, second = found[1].rstrip(" ,;?"), _standing_alone(found[1], found[2])
    if second is None or _TWO_QUESTIONS.fullmatch(second) or _dangling(first) or _goes_on(first, second):
        return []
    parts = [first, second]
    return parts if all(len(p.split()) >= _FEWEST_WORDS and content_words(p) for p in parts) else []


def _dangling(first: str) -> bool:
    """Tell whether what stands before "and" ends in the middle: "between who", "the link of how and why"."""
    written = first.lower().split()
    return "between" in written or written[-1] in _OPEN_ENDED


def _goes_on(first: str, second: str) -> bool:
    """Tell a clause or a name from a question: "the actor who sang and who danced", "of the ECDC and WHO"."""
    asks = second.split(maxsplit=1)[0]
    is_name = asks.isupper() and not first.isupper()
    return is_name or re.search(rf"\s{re.escape(asks)}\b", first, re.IGNORECASE) is not None


def _standing_alone(first: str, second: str) -> str | None:
    """Name what the second question calls by a pronoun; None when that could be more than one thing."""
    if _VAGUE.search(second):
        return None
    things, persons = _THINGS.search(second), _PERSONS.search(second)
    if not things and not persons:
        return second
    # The first word of a question is written large without being a name.
    names = set(re.findall(_NAME, first.split(" ", 1)[-1]))
    # "Who founded Apple and where was he born?": he is the answer, not the name.
    answered = _NAMING.match(first) and (persons or not first.lower().startswith("who"))
    if len(names) != 1 or answered or (things and persons):
        return None
    name = names.pop()

    def named(pronoun: re.Match[str]) -> str:
        return f"{name}'s" if pronoun[0].lower() in ("its", "his", "hers") else name

    # "her" is both; only before a word that is no end of the question it owns something.
    second = re.sub(r"\bher(?=\s+\w)", f"{name}'s", second, flags=re.IGNORECASE)
    return _PERSONS.sub(named, _THINGS.sub(named, second))


def _compared(text: str) -> list[str]:
    """Give one query for each of two things that a question compares."""
    for pattern in _COMPARISONS:
        if found := pattern.fullmatch(text):
            return _sides(found[1], found[2], found[3] or "")
    if found := _CHOICE.fullmatch(text):
        return _sides(found[2], found[3], found[1])
    if found := _THAN.fullmatch(text):
        return _sides(found[1], found[3], found[2])
    if (found := _BOTH.fullmatch(text)) and not _TWO_QUESTIONS.fullmatch(text):
        return _sides(found[1], found[2], found[3])
    return []


def _sides(first: str, second: str, about: str) -> list[str]:
    topic = " ".join(word for word in keywords(about).split() if word not in _IDLE)
    sides = [side.strip(" .,'\u2019") for side in (first, second)]
    if not all(content_words(side) for side in sides):
        return []
    return [f"{side} {topic}".strip() for side in sides]
