"""One run's question to the web: whether it may be asked, in which words, and until when."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from haystack import Document, logging

from haystack_integrations.crag.grades import annotate, crag_meta
from haystack_integrations.crag.interrupts import let_end
from haystack_integrations.crag.state import CragState, seconds_for
from haystack_integrations.crag.web.documents import web_documents
from haystack_integrations.crag.web.outcome import Outcome

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asking:
    """
    What one run asks of the web; it ends with the run.

    :param query: What is sent; empty when nothing of it may leave.
    :param allowed: Whether anything may be sent at all.
    :param ends: When pages are read no longer; `time.monotonic()`.
    :param seconds: What the run has left for the search; None: no limit.
    :param iteration: The pass of the loop.
    :param max_results: Most documents.
    :param allow_domains: Domains that alone are let in.
    :param deny_domains: Domains that are not.
    """

    query: str
    allowed: bool
    ends: float
    seconds: float | None
    iteration: int
    max_results: int
    allow_domains: Sequence[str]
    deny_domains: Sequence[str]

    @classmethod
    def of(cls, part: Any, query: str, state: CragState | None, *, wanted: bool) -> "Asking":
        """
        Open one run's question.

        :param part: The component: its limits and rules.
        :param query: What to send.
        :param state: What the run knows, if there is a run.
        :param wanted: Whether the web is on.
        :returns: What may be asked; nothing when the run does not allow it, its budget is spent or no word is left.
        """
        seconds = None if state is None else state.seconds_left()
        return cls(
            query,
            allowed=bool(wanted and query and (state is None or _may_ask(state))),
            ends=time.monotonic() + seconds_for(state, part.timeout_s),
            seconds=seconds,
            iteration=0 if state is None else state.iteration,
            max_results=part.max_results,
            allow_domains=part.allow_domains or (),
            deny_domains=part.deny_domains or (),
        )

    def prepare(self, results: Sequence[Document], provider: str) -> tuple[list[Document], dict[str, int]]:
        """
        Make usable documents of results.

        :param results: What a provider gave.
        :param provider: Its name.
        :returns: The documents, and how many were dropped for what reason.
        """
        return web_documents(
            results,
            query=self.query,
            provider=provider,
            iteration=self.iteration,
            max_results=self.max_results,
            allow_domains=self.allow_domains,
            deny_domains=self.deny_domains,
        )

    def found(self, outcome: Outcome) -> list[Document]:
        """
        Give the documents of a search; those given again belong to this pass, though retrieved earlier.

        :param outcome: What the search came to.
        :returns: The documents.
        """
        documents = list(outcome.answer.documents) if outcome.answer else []
        return [self._dated(document) for document in documents] if outcome.again else documents

    def _dated(self, document: Document) -> Document:
        return annotate(document, provenance={**crag_meta(document)["provenance"], "iteration": self.iteration})

    def read(self, documents: list[Document]) -> list[Document]:
        """
        Read the pages of documents, in the time that is left.

        :param documents: Documents with snippets.
        :returns: The same with what their pages say; with their snippets where that fails.
        """
        # Here, since what reads pages is needed only where that is on.
        from haystack_integrations.crag.web.pages import read_pages

        try:
            return read_pages(documents, self._left(), allow_domains=self.allow_domains, deny_domains=self.deny_domains)
        except Exception as error:  # snippets are better than no run
            let_end(error)
            return _told(documents, error)

    async def read_async(self, documents: list[Document]) -> list[Document]:
        """
        Read the pages of documents without blocking the event loop; see `read`.

        :param documents: Documents with snippets.
        :returns: As `read`.
        """
        from haystack_integrations.crag.web.pages import read_pages_async

        try:
            return await read_pages_async(
                documents, self._left(), allow_domains=self.allow_domains, deny_domains=self.deny_domains
            )
        except Exception as error:
            return _told(documents, error)

    def _left(self) -> float:
        return max(0.0, self.ends - time.monotonic())


def _may_ask(state: CragState) -> bool:
    """Tell whether the run allows the web (see `QuestionGuard`), and has something left of its budget."""
    return state.web != "skipped" and state.exhausted() is None


def _told(documents: list[Document], error: Exception) -> list[Document]:
    logger.warning("Pages of web results were not read ({kind}); snippets are used", kind=type(error).__name__)
    return documents
