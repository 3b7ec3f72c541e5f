"""The prompt of an answer, and the same with fewer passages, for a model whose context has no room for all of them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.templates import bounded
from haystack_integrations.crag.texts.text import count_tokens
from haystack_integrations.crag.vocabulary import PASSAGE


@dataclass(frozen=True)
class AnswerPrompt:
    """
    Messages to send, and what became of longer ones.

    :param messages: The messages.
    :param passages: How many passages they still have, the first ones; None for all that they were written with.
    :param tried: What was spent on longer ones.
    """

    messages: Sequence[ChatMessage]
    passages: int | None = None
    tried: Usage = field(default_factory=Usage)

    @property
    def size(self) -> int:
        """Its tokens, estimated."""
        return sum(count_tokens(message.text or "") for message in self.messages)

    def shorter(self, most: float) -> "AnswerPrompt | None":
        """
        Leave out passages, the last first: they stand in the order of the evidence, best first.

        :param most: How many tokens the prompt should have at most, estimated.
        :returns: The prompt with as many passages as that allows, at least one; None where none can be left out, as in
            a prompt without the tags of `EvidencePromptBuilder`.
        """
        found = ((at, bounded(message.text or "", PASSAGE)) for at, message in enumerate(self.messages))
        at, blocks = next(((at, blocks) for at, blocks in found if len(blocks) > 1), (0, []))
        if not blocks:
            return None
        message, text = self.messages[at], self.messages[at].text or ""
        kept, over = len(blocks) - 1, self.size - most
        while kept > 1 and (over := over - count_tokens(text[slice(*blocks[kept])])) > 0:
            kept -= 1
        text = text[: blocks[kept][0]] + text[blocks[-1][1] :]
        rest = ChatMessage.from_dict({**message.to_dict(), "content": [{"text": text}]})
        return replace(self, messages=[*self.messages[:at], rest, *self.messages[at + 1 :]], passages=kept)

    def after(self, spent: Usage) -> "AnswerPrompt":
        """
        Count a try that brought no answer.

        :param spent: What it cost.
        :returns: The same prompt.
        """
        return replace(self, tried=self.tried + spent)

    def told(self) -> dict[str, Any]:
        """
        Say that an answer comes from fewer passages.

        :returns: For the answer's metadata: `passages`, and what longer prompts cost.
        """
        return {"passages": self.passages, **asdict(self.tried)}
