"""The prompt of an answer, and the same with fewer passages, for a model whose context has no room for all of them."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.templates import bounded
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import PASSAGE

_SCORES: Final = "crag_scores"
_NUMBER: Final = re.compile(r'(<[^>\n]* number=")(\d+)"')


def scores_of(passages: Sequence[Document]) -> dict[str, Any]:
    """
    Say which passages of a prompt are the best.

    :param passages: They, in the order of the prompt.
    :returns: For the metadata of the message that shows them: their scores, -1 for one without.
    """
    grades = map(grade_of, passages)
    return {_SCORES: [-1.0 if grade is None else grade.score for grade in grades]}


def for_run(messages: Sequence[ChatMessage], state: CragState | None) -> Sequence[ChatMessage]:
    """
    Leave out which passages are the best where a run changes nothing: there the last ones found have to go.

    :param messages: A prompt.
    :param state: The run as its router left it, or None.
    :returns: The prompt, in modes `observe` and `off` without scores.
    """
    if state is None or not state.trail or state.trail[-1].get("mode") == "enforce":
        return messages
    return [_unscored(one) if _SCORES in one.meta else one for one in messages]


def _unscored(message: ChatMessage) -> ChatMessage:
    meta = {name: told for name, told in message.meta.items() if name != _SCORES}
    return ChatMessage.from_dict({**message.to_dict(), "meta": meta})


@dataclass(frozen=True)
class AnswerPrompt:
    """
    The messages of a prompt as they were written, and how much of them is sent.

    :param whole: All messages.
    :param shown: Which passages are sent, by their numbers in `whole`; None for all.
    """

    whole: Sequence[ChatMessage]
    shown: Sequence[int] | None = None

    @cached_property
    def messages(self) -> Sequence[ChatMessage]:
        """What is sent."""
        return self.whole if self.shown is None else self._with(self.shown)

    @cached_property
    def size(self) -> int:
        """Its tokens, estimated."""
        return _size(self.messages)

    def shorter(self, most: float) -> "AnswerPrompt | None":
        """
        Leave out passages, those with the lowest scores first, and number the others anew.

        :param most: How many tokens the prompt should have at most, estimated.
        :returns: The prompt with as many passages as that allows, at least one; None where none can be left out, as in
            a prompt without the tags of `EvidencePromptBuilder`.
        """
        at, blocks = self._passages
        now = len(blocks) if self.shown is None else len(self.shown)
        if now <= 1:
            return None
        scores, everything = self.whole[at].meta.get(_SCORES) or [], range(1, len(blocks) + 1)
        # What a template numbers otherwise cannot be numbered anew: there the last ones go.
        is_numbered = len(scores) == len(blocks) and self._numbers is not None
        order = sorted(everything, key=lambda number: -scores[number - 1] if is_numbered else number)
        best = [sorted(order[:count]) for count in range(1, now)]
        fitting = bisect_right(best, most, key=lambda numbers: _size(self._with(numbers)))
        return replace(self, shown=best[max(0, fitting - 1)])

    @cached_property
    def _passages(self) -> tuple[int, list[tuple[int, int]]]:
        """Find the message that shows passages, and where they stand in it."""
        found = ((at, bounded(message.text or "", PASSAGE)) for at, message in enumerate(self.whole))
        return next(((at, blocks) for at, blocks in found if blocks), (0, []))

    @cached_property
    def _numbers(self) -> list[int] | None:
        """Read the number of each passage, as they stand there: a template may show the best one last."""
        at, blocks = self._passages
        found = [_NUMBER.match(self.whole[at].text or "", first) for first, _ in blocks]
        told = [int(number[2]) for number in found if number is not None]
        return told if sorted(told) == [*range(1, len(blocks) + 1)] else None

    def _with(self, shown: Sequence[int]) -> list[ChatMessage]:
        """Write the messages with some of the passages; what stands between two of them goes with the first."""
        at, blocks = self._passages
        message, text = self.whole[at], self.whole[at].text or ""
        ends = [*(first for first, _ in blocks[1:]), blocks[-1][1]]
        anew = {number: new for new, number in enumerate(shown, 1)}
        passages = zip(self._numbers or range(1, len(blocks) + 1), blocks, ends, strict=True)
        kept = ((anew[number], text[first:end]) for number, (first, _), end in passages if number in anew)
        numbered = (block if self._numbers is None else _with_number(block, new) for new, block in kept)
        shorter = text[: blocks[0][0]] + "".join(numbered) + text[ends[-1] :]
        rest = ChatMessage.from_dict({**message.to_dict(), "content": [{"text": shorter}]})
        return [*self.whole[:at], rest, *self.whole[at + 1 :]]


def _with_number(block: str, number: int) -> str:
    """Number a passage anew in its own tag; what stands in its text is not looked through."""
    found = _NUMBER.match(block)
    return block if found is None else f'{found[1]}{number}"{block[found.end() :]}'


def _size(messages: Sequence[ChatMessage]) -> int:
    return sum(count_tokens(message.text or "") for message in messages)
