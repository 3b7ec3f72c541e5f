"""Asking another component about strips: a chat model or a ranker, once for all documents, and in time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from haystack import Document
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat import ask, ask_async
from haystack_integrations.crag.deadlines import run_within, run_within_async
from haystack_integrations.crag.ranker_scores import metadata_for, room_in, taken_by
from haystack_integrations.crag.refining.prompt import Shown
from haystack_integrations.crag.refining.reply import read_numbers
from haystack_integrations.crag.refining.strips import Strip
from haystack_integrations.crag.texts.steering import whole


@dataclass(frozen=True)
class Judged:
    """
    What was said of strips.

    :param scores: By strip number, best first; a strip that is missing was judged not worth keeping.
    :param usage: Tokens spent.
    :param unknown: Numbers named that no strip has.
    :param problem: Why nothing of it can be used, or None.
    """

    scores: Mapping[int, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    unknown: int = 0
    problem: str | None = None


class Asking(Protocol):
    """
    One call to another component.

    :ivar numbers: The strips it is about.
    """

    numbers: tuple[int, ...]

    def ask(self, seconds: float) -> Mapping[str, Any]:
        """Ask and wait at most so long."""

    async def ask_async(self, seconds: float) -> Mapping[str, Any]:
        """Ask without blocking the event loop."""

    def read(self, sent: Mapping[str, Any]) -> Judged:
        """Read what came back."""


class ModelAsking:
    """Asks a chat model which of the strips shown are worth keeping."""

    def __init__(self, generator: ChatGenerator, prompt: Shown) -> None:
        """Take what is to be asked."""
        self.generator, self.prompt, self.numbers = generator, prompt, prompt.numbers

    def ask(self, seconds: float) -> Mapping[str, Any]:
        """Ask and wait at most so long."""
        return ask(self.generator, self.prompt.messages, seconds)

    async def ask_async(self, seconds: float) -> Mapping[str, Any]:
        """Ask without blocking the event loop."""
        return await ask_async(self.generator, self.prompt.messages, seconds)

    def read(self, sent: Mapping[str, Any]) -> Judged:
        """Read the numbers named; each strip named has the score 1. Tokens are estimated where none are reported."""
        replies: list[ChatMessage] = sent.get("replies") or []
        if not replies:
            return Judged(problem="empty")
        message = replies[0]
        usage = Usage.of(message, self.prompt.tokens)
        finish_reason = message.meta.get("finish_reason")
        named = read_numbers(message.text, len(self.numbers), finish_reason=finish_reason)
        scores = {self.numbers[number - 1]: 1.0 for number in named.numbers}
        return Judged(scores, usage, named.unknown, named.problem)


class RankerAsking:
    """Has a ranker score strips as documents; those it does not return are not worth keeping."""

    def __init__(self, ranker: Any, query: str, strips: Sequence[Strip], documents: Sequence[Document]) -> None:
        """Make a document of each strip, with its own document's metadata; see `metadata_for`."""
        self.ranker, self.numbers = ranker, tuple(range(len(strips)))
        metas = [metadata_for(document) for document in documents]
        self._strips = [
            Document(id=f"strip-{number}", content=whole(strip.text), meta=dict(metas[strip.document]))
            for number, strip in enumerate(strips)
        ]
        reads = "query" in taken_by(ranker)  # one that only orders or chooses reads none
        asked = {"query": query} if reads else {}
        self._arguments = {"documents": self._strips, **asked, **room_in(ranker, len(self._strips))}

    def ask(self, seconds: float) -> Mapping[str, Any]:
        """Ask and wait at most so long."""
        return run_within(self.ranker, seconds, self._arguments)

    async def ask_async(self, seconds: float) -> Mapping[str, Any]:
        """Ask without blocking the event loop; a ranker without `run_async` is called in a thread."""
        return await run_within_async(self.ranker, seconds, self._arguments)

    def read(self, sent: Mapping[str, Any]) -> Judged:
        """
        Take the scores as they are.

        One that has no score is rated 1, in the order returned: some rankers only choose and order. A score that is
        no number says nothing in favour of a strip.
        """
        numbers = {strip.id: number for strip, number in zip(self._strips, self.numbers, strict=True)}
        scores: dict[int, float] = {}
        for document in sent["documents"]:
            number = numbers.get(document.id)
            score = 1.0 if document.score is None else float(document.score)
            if number is not None and math.isfinite(score):
                scores.setdefault(number, score)
        return Judged(dict(sorted(scores.items(), key=lambda entry: -entry[1])))
