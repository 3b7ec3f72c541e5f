"""Two things that a question compares: "Which city is older, Paris or Rome?". A doubt leaves the question whole."""

import re
from typing import Final

from haystack_integrations.crag.texts.questions.keywords import content_words, keywords
from haystack_integrations.crag.texts.questions.several_questions import AUXILIARY, LONGEST, NAME, questions_in

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


def things_compared(question: str) -> list[str]:
    """
    Find what a question compares.

    ```python
    from haystack_integrations.crag.texts.questions.comparisons import things_compared

    assert things_compared("Which city is older, Paris or Rome?") == ["Paris city older", "Rome city older"]
    assert things_compared("What are the causes and effects of inflation?") == []
    ```

    :param question: The question, in English.
    :returns: For each of two things its name, and what is asked about it; nothing when none are compared.
    """
    text = " ".join(question.split())
    if len(text) > LONGEST:
        return []
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
