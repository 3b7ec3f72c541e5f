"""Questions that a text ends with: whoever asked was not answered there, or the answer stands in the next passage."""

from collections.abc import Sequence
from typing import Final

from haystack_integrations.crag.texts.questions.courtesies import is_closing
from haystack_integrations.crag.texts.text import terms

ASKS: Final = ("?", "\uff1f", "\u061f")
"""How a question ends."""

OPENS: Final = (":", "\uff1a")
"""How a line ends that what follows belongs to: a list, or an answer."""

_CLOSING: Final = " \t\r\n\"'*_`)]|\u201d\u2019\u00bb\u300d"


def is_question(sentence: str) -> bool:
    """
    Tell whether a sentence is written as a question.

    :param sentence: A sentence.
    :returns: Whether it ends with a question mark, whatever quotes or brackets close behind it.
    """
    return sentence.rstrip(_CLOSING).endswith(ASKS)


def open_from(sentences: Sequence[str]) -> int:
    """
    Find the questions that a text ends with; a line with a colon and a letter's end are nothing behind them.

    :param sentences: The sentences of a text, in order.
    :returns: The number of the first of these questions; that of all sentences where there is none.
    """
    end = len(sentences)
    if not any(map(is_question, sentences)):
        return end
    end = next((n for n, part in enumerate(sentences) if n and is_closing(part.strip().partition("\n")[0])), end)
    first = end
    while end and _is_open(sentences[end - 1]):
        end -= 1
        first = end if is_question(sentences[end]) else first
    return first if first < len(sentences) and is_question(sentences[first]) else len(sentences)


def _is_open(sentence: str) -> bool:
    return is_question(sentence) or sentence.rstrip(_CLOSING).endswith(OPENS) or not terms(sentence)
