"""The answers that a question offers, "Who wrote Emma? A) Jane Austen B) Mary Shelley": one of them is looked for."""

import re
from typing import Final

from haystack_integrations.crag.texts.questions.several_questions import LONGEST, OPENING

_LABEL: Final = r"[(\[]?([A-Ha-h1-8])[.):\]]\s+"
_NAME: Final = r"(?:(?:answer\s+)?(?:options|choices)\s*:\s*)"
_FIRST: Final = re.compile(rf"(?:[?:_]|(?<=\w)\s*\n)\s*{_NAME}?(?=[(\[]?[Aa1][.):\]]\s)", re.IGNORECASE)
_NEXT: Final = re.compile(rf"(?:\A|[\s,;]){_LABEL}")
_LISTED: Final = re.compile(rf"\?\s*\n\s*{_NAME}?(?=[-*\u2022]\s)|\?\s+{_NAME}(?=[^\s?])", re.IGNORECASE)
_CHOOSING: Final = re.compile(r"(?:in\s+)?(?:who|whom|whose|what|which|when|where)\b", re.IGNORECASE)
_BULLET: Final = re.compile(r"[^\S\n]*[-*\u2022]\s+([^\n]+)(?:\n|\Z)")
_PARTED: Final = re.compile(r"\s*[,;/]\s*(?:or\s+)?|\s+or\s+")
_END: Final = re.compile(r"(?<=[.!?])\s|\n")
_LABELS: Final = ("abcdefgh", "12345678")
_FEWEST, _MOST = 2, 8


def alternatives_in(question: str) -> list[str]:
    """
    Ask a question once for each of the answers that it offers under letters, numbers or dots, or as its options.

    ```python
    from haystack_integrations.crag.texts.questions.alternatives import alternatives_in

    offered = "Who wrote Emma? A) Jane Austen B) Mary Shelley"
    assert alternatives_in(offered) == ["Who wrote Emma, Jane Austen?", "Who wrote Emma, Mary Shelley?"]
    assert alternatives_in("Who wrote Emma?") == []
    ```

    :param question: The question, in English, without courtesies.
    :returns: Two to eight questions, in order; none when it offers no answers.
    """
    stem, offered = _parted(question)
    return [f"{stem}, {answer}?" for answer in offered]


def without_alternatives(question: str) -> str:
    """
    Leave out the answers that a question offers: a search for all of them is one for what is wrong.

    :param question: The question, in English, without courtesies.
    :returns: What it asks; the question itself where it offers none.
    """
    stem, offered = _parted(question)
    return f"{stem}?" if offered else question


def _parted(question: str) -> tuple[str, list[str]]:
    """Tell what is asked, without the sign behind it, from what is offered."""
    for opening, mark, parted in ((OPENING, _FIRST, _labelled), (_CHOOSING, _LISTED, _listed)):
        if opening.match(question) and (first := mark.search(question[:LONGEST])):
            offered = [answer.strip(" \n.,;?") for answer in parted(question[first.end() :])]
            if _FEWEST <= len(offered) <= _MOST and all(offered) and not any(map(OPENING.match, offered)):
                return " ".join(question[: first.start()].split()).rstrip(" ?:_"), offered
    return question, []


def _labelled(text: str) -> list[str]:
    _, *parts = _NEXT.split(text)
    labels = "".join(parts[::2]).lower()
    return [_END.split(part)[0] for part in parts[1::2]] if any(row.startswith(labels) for row in _LABELS) else []


def _listed(text: str) -> list[str]:
    bullets, place = list[str](), 0
    while bullet := _BULLET.match(text, place):
        bullets.append(bullet[1])
        place = bullet.end()
    return bullets or _PARTED.split(text.split("\n", 1)[0])
