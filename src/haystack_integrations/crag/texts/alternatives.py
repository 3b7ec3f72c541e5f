"""The answers that a question offers, "Who wrote Emma? A) Jane Austen B) Mary Shelley": one of them is looked for."""

import re
from typing import Final

from haystack_integrations.crag.texts.several_questions import LONGEST, OPENING

_LABEL: Final = r"[(\[]?([A-Ha-h1-8])[.):\]]\s+"
_FIRST: Final = re.compile(r"(?:[?:]|(?<=\w)\s*\n)\s*(?=[(\[]?[Aa1][.):\]]\s)")
_NEXT: Final = re.compile(rf"(?:\A|[\s,;]){_LABEL}")
_END: Final = re.compile(r"(?<=[.!?])\s|\n")
_LABELS: Final = ("abcdefgh", "12345678")
_FEWEST, _MOST = 2, 8


def alternatives_in(question: str) -> list[str]:
    """
    Ask a question once for each of the answers that it offers under letters or numbers.

    ```python
    from haystack_integrations.crag.texts.alternatives import alternatives_in

    offered = "Who wrote Emma? A) Jane Austen B) Mary Shelley"
    assert alternatives_in(offered) == ["Who wrote Emma, Jane Austen?", "Who wrote Emma, Mary Shelley?"]
    assert alternatives_in("Who wrote Emma?") == []
    ```

    :param question: The question, in English, without courtesies.
    :returns: Two to eight questions, in order; none when it offers no answers.
    """
    first = _FIRST.search(question[:LONGEST])
    if first is None or not OPENING.match(question):
        return []
    _, *parts = _NEXT.split(question[first.end() :])
    labels, offered = "".join(parts[::2]).lower(), [_END.split(part)[0].strip(" \n.,;?") for part in parts[1::2]]
    is_row = any(row.startswith(labels) for row in _LABELS) and _FEWEST <= len(labels) <= _MOST
    if not is_row or not all(offered) or any(map(OPENING.match, offered)):
        return []
    stem = " ".join(question[: first.start()].split()).rstrip(" ?:")
    return [f"{stem}, {answer}?" for answer in offered]
