"""A question of several parts or two things, split by rule: conservative, so that a doubt leaves the question whole."""

import re
from typing import Final

from haystack_integrations.crag.expansion.rules import content_words, keywords
from haystack_integrations.crag.texts.several_questions import AUXILIARY, NAME, questions_in

_SPAN: Final = r"(?:(?!\b(?:and|or|between|than)\b)[^,;:?()\"\u201c\u201d])"
_SIDE: Final = rf"({_SPAN}{{1,80}}?)"
_ABOUT: Final = r"(?:\s+(?:in terms of|with respect to|with regard to|regarding|when it comes to)\s+(.{1,80}?))?"

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
    rf"(?:{AUXILIARY})\s+{_SIDE}\s+((?:more|less)\s+[a-z-]+|[a-z]{{3,}}er|better|worse)\s+than\s+{_SIDE}[\s?.!]*",
    re.IGNORECASE,
)
# A name that goes on until `both` is no name that is known here: "Escape from the Dark".
_BOTH: Final = re.compile(
    rf"(?i:{AUXILIARY})\s+(?:both\s+)?(?:the\s+)?({NAME})\s+and\s+(?:the\s+)?({NAME})\s+((?!.+\bboth\b)[a-z][^,;:()\"\u201c\u201d]{{3,160}}?)[\s?.!]*"
)
_IDLE: Final = frozenset("same both common different difference".split())
_LONGEST: Final = 400


def split(question: str, most: int) -> list[str]:
    """
    Split a question of several parts into search queries for the parts.

    Known are several questions in one, see `texts/several_questions.py`, and comparisons of two things; with any doubt
    nothing is split.

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
    parts = _compared(text) or questions_in(text)
    return parts if 1 < len(set(parts)) <= most else []


def _compared(text: str) -> list[str]:
    """Give one query for each of two things that a question compares."""
    for pattern in _COMPARISONS:
        if found := pattern.fullmatch(text):
            return _sides(found[1], found[2], found[3] or "")
    if found := _CHOICE.fullmatch(text):
        return _sides(found[2], found[3], found[1])
    if found := _THAN.fullmatch(text):
        return _sides(found[1], found[3], found[2])
    if (found := _BOTH.fullmatch(text)) and not questions_in(text):
        return _sides(found[1], found[2], found[3])
    return []


def _sides(first: str, second: str, about: str) -> list[str]:
    topic = " ".join(word for word in keywords(about).split() if word not in _IDLE)
    sides = [side.strip(" .,'\u2019") for side in (first, second)]
    if not all(content_words(side) for side in sides):
        return []
    return [f"{side} {topic}".strip() for side in sides]
