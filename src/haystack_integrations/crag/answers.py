"""
What became of an answer: written, declined by the model that was to write it, failed, or none asked for.

A grader may let evidence pass that does not answer. The prompt of the answer therefore asks for one known sentence in
that case, so that an application can tell a found answer from a polite refusal without reading either.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.vocabulary import ANSWER_FAILED, AnswerStatus

# Up to three digits: [2019] is a year.
_CITED: Final = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_AROUND: Final = re.compile(r"^[\W_]+|[\W_]+$")


def answer_account(replies: Sequence[ChatMessage], *, asked: bool, sentence: str, passages: int) -> dict[str, Any]:
    """
    Say what became of the answer.

    :param replies: What stands in the answer's place, the first counts.
    :param asked: Whether a model was asked for it.
    :param sentence: What the prompt asks the model to say when the evidence does not answer.
    :param passages: How many numbered passages the model saw.
    :returns: `status`, an `AnswerStatus`; `cited`, the numbers of the passages that the answer cites; and
        `cited_unknown`, numbers in its brackets that no passage has.
    """
    if not asked or not replies:
        return _account("none")
    text = replies[0].text or ""
    if ANSWER_FAILED in replies[0].meta:
        return _account("failed")
    numbers = sorted({int(number) for found in _CITED.findall(text) for number in found.split(",")})
    known = [number for number in numbers if 1 <= number <= passages]
    unknown = [number for number in numbers if number not in known]
    # What a model writes without any passage is found nowhere: a run that does not judge asks it all the same.
    status: AnswerStatus = "declined" if declines(text, sentence) else "written" if passages else "failed"
    return _account(status, known, unknown)


def declines(text: str, sentence: str) -> bool:
    """
    Tell whether a model said that the evidence does not answer.

    :param text: What it wrote.
    :param sentence: What it was asked to write in that case; empty when it was not.
    :returns: Whether the text is that sentence, whatever its case, marks, quotes and citations; or begins with it and
        cites nothing for what it goes on to say.
    """
    wanted, said = _bare(sentence), _bare(_CITED.sub("", text))
    if not wanted or not said.startswith(wanted):
        return False
    rest = said[len(wanted) :]
    return not rest or not (rest[0].isalnum() or rest[0] == " " or _CITED.search(text))


def _bare(text: str) -> str:
    return _AROUND.sub("", " ".join(text.casefold().split()))


def _account(status: AnswerStatus, cited: Sequence[int] = (), unknown: Sequence[int] = ()) -> dict[str, Any]:
    return {"status": status, "cited": list(cited), "cited_unknown": list(unknown)}
