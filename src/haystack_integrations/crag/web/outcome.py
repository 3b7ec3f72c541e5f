"""What a search of the web asks and comes to, and the one place that says so in a word."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from haystack import Document

from haystack_integrations.crag.errors import NotConfiguredError
from haystack_integrations.crag.vocabulary import WebStatus

NOT_CONFIGURED: Final = NotConfiguredError.kind
"""The kind of failure that is none: nobody was asked, since nobody is set up."""

Prepare = Callable[[Sequence[Document], str], tuple[list[Document], dict[str, int]]]
"""From raw results and their provider to what may be used, and how many were dropped for what reason."""


@dataclass(frozen=True)
class Answer:
    """
    What one provider gave.

    :param provider: Its name.
    :param documents: What may be used of it.
    :param results: How many results it gave.
    :param dropped: How many of them may not be used, by reason.
    :param failure: The kind of failure, or why it was not asked (`cooldown`, `open`, `not_configured`); None when it
        answered.
    :param calls: How often it was asked.
    """

    provider: str
    documents: tuple[Document, ...] = ()
    results: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    failure: str | None = None
    calls: int = 0

    @classmethod
    def failed(cls, provider: str, kind: str, calls: int) -> "Answer":
        """
        Give what a provider gave that failed.

        :param provider: Its name.
        :param kind: The kind of failure.
        :param calls: How often it was called; one that is not set up was not asked.
        :returns: The answer.
        """
        return cls(provider, failure=kind, calls=0 if kind == NOT_CONFIGURED else calls)


@dataclass(frozen=True)
class Outcome:
    """
    What a search came to.

    :param status: The one word for it, by `status_of`.
    :param answer: The answer that is used, or None.
    :param tried: One for each provider that was asked or refused, in order of their answers.
    :param again: Whether this is what the same query found a short while ago.
    """

    status: WebStatus
    answer: Answer | None = None
    tried: tuple[Answer, ...] = ()
    again: bool = False


def status_of(tried: Sequence[Answer]) -> WebStatus:
    """
    Decide what became of the web; nothing else decides it, save that a run may not ask at all (`skipped`).

    :param tried: What each provider gave.
    :returns: `ok` when there is anything to use; `denied` when what there was is on domains that are not allowed;
        `empty` when somebody answered; `failed` when somebody was asked; `cooldown` when nobody was; `skipped` when
        there was no time to ask, or nobody is set up.
    """
    tried = [answer for answer in tried if answer.failure != NOT_CONFIGURED]
    if not tried:
        return "skipped"
    answered = [answer for answer in tried if answer.failure is None]
    if any(answer.documents for answer in answered):
        return "ok"
    if any(answer.dropped.get("domain") for answer in answered):
        return "denied"
    if answered:
        return "empty"
    return "failed" if any(answer.calls for answer in tried) else "cooldown"


@dataclass
class Search:
    """
    One search under way. All that belongs to it is here, nothing on the chain.

    :param query: What is sent.
    :param prepare: Makes usable documents of results.
    :param ends: When it must be over, by `time.monotonic()`.
    :param hurried: Whether the run had less time left than a search may take: that it was too short for an answer says
        nothing of a provider, and nothing to other runs.
    :param tried: What each provider gave so far.
    """

    query: str
    prepare: Prepare
    ends: float
    hurried: bool = False
    tried: list[Answer] = field(default_factory=list)

    def left(self) -> float:
        """Tell how many seconds are left; below 0 when it should be over."""
        return self.ends - time.monotonic()
