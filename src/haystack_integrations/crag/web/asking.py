"""One run's question to the web: whether it may be asked, in which words, and until when."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haystack import Document, logging

from haystack_integrations.crag.grades import annotate, crag_meta
from haystack_integrations.crag.interrupts import let_end
from haystack_integrations.crag.state import CragState, seconds_for
from haystack_integrations.crag.web.documents import web_documents
from haystack_integrations.crag.web.domains import Rules
from haystack_integrations.crag.web.outcome import Outcome

if TYPE_CHECKING:
    from haystack_integrations.crag.web.pages import PageReader

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
    :param rules: Which domains are let in.
    """

    query: str
    allowed: bool
    ends: float
    seconds: float | None
    iteration: int
    max_results: int
    rules: Rules

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
            rules=Rules.of(part.allow_domains, part.deny_domains),
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
            rules=self.rules,
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
        reader = self._reader()
        try:
            return reader.read_blocking(documents, self._left())
        except Exception as error:  # snippets are better than no run
            let_end(error)
            return _told(documents, error)

    async def read_async(self, documents: list[Document]) -> list[Document]:
        """
        Read the pages of documents without blocking the event loop; see `read`.

        :param documents: Documents with snippets.
        :returns: As `read`.
        """
        reader = self._reader()
        try:
            return await reader.read(documents, self._left())
        except Exception as error:
            return _told(documents, error)

    def _reader(self) -> "PageReader":
        from haystack_integrations.crag.web.pages import PageReader  # needed only where that is on

        return PageReader(self.rules.permit)

    def _left(self) -> float:
        return max(0.0, self.ends - time.monotonic())


def _may_ask(state: CragState) -> bool:
    """Tell whether the run allows the web (see `QuestionGuard`), and has something left of its budget."""
    return not state.bars_web() and state.exhausted() is None


def _told(documents: list[Document], error: Exception) -> list[Document]:
    logger.warning("Pages of web results were not read ({kind}); snippets are used", kind=type(error).__name__)
    return documents
