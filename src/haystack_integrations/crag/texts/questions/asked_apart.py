"""What a question asks that can be judged one by one: questions in a row, and one question about several names."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Final

from haystack_integrations.crag.texts.questions.comparisons import things_compared
from haystack_integrations.crag.texts.questions.several_questions import LONGEST, NAME, OPENING, questions_in

_TWO_NAMES: Final = re.compile(rf"(.*?\s)({NAME}) and ((?:(?:of|in|for|by|the)\s)*{NAME})(.*)")
_AND: Final = re.compile(r"\band\b")
_SIGN: Final = re.compile(r"\s*&(?:amp;)?\s*")  # as firms and bands write it
_TOGETHER: Final = re.compile(
    r"\b(?:between|both|same|together|each other|common|differ\w*|similar\w*|compar\w*|or|versus|vs)\b", re.IGNORECASE
)


def asked_apart(question: str, texts: Iterable[tuple[str, str]]) -> list[str]:
    """
    Find the questions in what is asked, each to be answered by itself.

    ```python
    from haystack_integrations.crag.texts.questions.asked_apart import asked_apart

    asked = "Who directed Emma and Persuasion?"
    assert asked_apart(asked, []) == ["Who directed Emma?", "Who directed Persuasion?"]
    assert asked_apart(asked, [("Films", "Emma & Persuasion share a director.")]) == []
    ```

    :param question: The question, in English, without courtesies.
    :param texts: Titles and texts of documents. Where one has the two names as they are asked for, they may be one
        name ("Pride and Prejudice"), or are told of together.
    :returns: The questions in order; none when the question is one, compares things, or with any doubt.
    """
    return questions_in(question) or ([] if things_compared(question) else _of_each_name(question, texts))


def _of_each_name(question: str, texts: Iterable[tuple[str, str]]) -> list[str]:
    """Ask of each of two names that stand side by side."""
    text = " ".join(question.split())
    is_plain = len(text) <= LONGEST and OPENING.match(text) and not _TOGETHER.search(text)
    found = _TWO_NAMES.fullmatch(text) if is_plain and len(_AND.findall(text)) == 1 else None
    if found is None:
        return []
    front, one, two, rest = found.groups()
    together = f"{one} and {two}".lower()
    shown = (_SIGN.sub(" and ", text.lower()) for text in chain.from_iterable(texts))
    if one == two or any(together in " ".join(text.split()) for text in shown):
        return []
    return [f"{front}{name}{rest}" for name in (one, two)]
