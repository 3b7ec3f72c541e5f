"""WebFallback: evidence from any Haystack web search, when asked for. Policy: `web.search`, `breaker`."""

from typing import Any

from haystack import Document, component

from haystack_integrations.crag.inputs import checked, led_by_state
from haystack_integrations.crag.observing.telemetry import trace
from haystack_integrations.crag.settings import check_not_negative, check_positive
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.web.asking import Asking
from haystack_integrations.crag.web.domains import Rules
from haystack_integrations.crag.web.life_cycle import WebBacked, listed
from haystack_integrations.crag.web.outcome import Outcome
from haystack_integrations.crag.web.queries import outgoing, patterns
from haystack_integrations.crag.web.report import concluded
from haystack_integrations.crag.web.search import WebSearchChain


@component
@checked
@led_by_state
class WebFallback(WebBacked):
    """
    Searches the web through one provider or a chain of them, and gives labelled, cleaned, capped documents.

    Only the query leaves, less what `redact` matches. A provider's failure is a status, never an exception: `ok`,
    `empty`, `failed`, `cooldown`, `denied` or `skipped`. A provider that failed is left alone for a while, and the same
    query within a minute gets the same documents (see `web.search.WebSearchChain`). Nothing of a run is kept.

    ```python
    from haystack import Document, component
    from haystack_integrations.crag.components.web_fallback import WebFallback

    @component
    class Search:
        @component.output_types(documents=list[Document])
        def run(self, query: str):
            page = {"title": "Emma", "url": "https://example.org/emma"}
            return {"documents": [Document(content="Emma is by Jane Austen.", meta=page)]}

    result = WebFallback(Search()).run(query="Who wrote Emma?")
    assert result["status"] == "ok"
    assert result["documents"][0].meta["url"] == "https://example.org/emma"
    ```
    """

    def __init__(
        self,
        websearch: Any | list[Any],
        *,
        max_results: int = 5,
        timeout_s: float = 8.0,
        max_retries: int = 1,
        hedge_after_s: float | None = None,
        query_cooldown_s: float = 60.0,
        next_on_empty: bool = False,
        allow_domains: list[str] | None = None,
        deny_domains: list[str] | None = None,
        redact: list[str] | None = None,
        read_pages: bool = False,
        enabled: bool = True,
    ) -> None:
        """
        Choose providers and limits.

        :param websearch: A Haystack web search, or a list of them, best first. One that blocks ends by its own timeout.
        :param max_results: Most documents to give; 10, where more are asked for.
        :param timeout_s: The longest search, in seconds.
        :param max_retries: How often one is asked again in a search; never after a timeout, 429 or another 4xx.
        :param hedge_after_s: Seconds without an answer until the next provider is asked too; None: only on a failure.
        :param query_cooldown_s: For how long the same query is not searched again, in seconds; 0 always searches.
        :param next_on_empty: Whether the next provider is asked as well when one finds nothing to use.
        :param allow_domains: Give only results of these domains and what is below them. None: of all.
        :param deny_domains: Give none of these.
        :param redact: Regular expressions; what they match (names, numbers, addresses) is cut from the query.
        :param read_pages: Read the results' pages instead of giving their snippets.
        :param enabled: Whether a run that does not say so may search.
        :raises ConfigurationError: For what is no web search, an unusable number or expression.
        """
        self.websearch, self.max_results, self.timeout_s = websearch, max_results, timeout_s
        self.max_retries, self.hedge_after_s, self.query_cooldown_s = max_retries, hedge_after_s, query_cooldown_s
        self.next_on_empty, self.allow_domains, self.deny_domains = next_on_empty, allow_domains, deny_domains
        self.redact, self.read_pages, self.enabled = redact, read_pages, enabled
        check_positive({"max_results": max_results, "timeout_s": timeout_s})
        check_not_negative(max_retries=max_retries, hedge_after_s=hedge_after_s, query_cooldown_s=query_cooldown_s)
        Rules.of(allow_domains, deny_domains)
        self._cut = patterns(redact)
        self._chain = WebSearchChain(
            listed(websearch),
            timeout_s=timeout_s,
            max_retries=max_retries,
            hedge_after_s=hedge_after_s,
            query_cooldown_s=query_cooldown_s,
            next_on_empty=next_on_empty,
        )

    @component.output_types(documents=list[Document], state=CragState, status=str, report=dict[str, Any])
    def run(
        self, query: str | None = None, state: CragState | None = None, enabled: bool | None = None
    ) -> dict[str, Any]:
        """
        Search the web, unless it is off or the run's budget is spent: then nothing is opened.

        :param query: What to search for; a rewriter's words, never a document's. None: the question in the state.
        :param state: What the run knows; its budget is respected. Where it is connected, nothing is done without it.
        :param enabled: Whether this run may search; None: as constructed.
        :returns: A dictionary with the following keys:
            - `documents`: What was found, at most `max_results`, each with its origin in `meta["crag"]`.
            - `state`: The state after it, with what became of the web; only when one was given.
            - `status`: The same in a word.
            - `report`: Provider, results in and kept, drops by reason, who was tried, breakers.
        :raises ConfigurationError: When neither a query nor a state came.
        """
        with trace("crag.web") as span:
            asking = self._asking(query, state, enabled)
            outcome = Outcome("skipped")
            if asking.allowed:
                outcome = self._chain.search(asking.query, asking.prepare, asking.seconds)
            documents = asking.found(outcome)
            if documents and self.read_pages:
                documents = asking.read(documents)
            return concluded(span, asking.query, outcome, documents, state=state, providers=self._chain.providers)

    @component.output_types(documents=list[Document], state=CragState, status=str, report=dict[str, Any])
    async def run_async(
        self, query: str | None = None, state: CragState | None = None, enabled: bool | None = None
    ) -> dict[str, Any]:
        """
        Search the web without blocking the event loop; see `run`.

        :param query: As `run`.
        :param state: As `run`.
        :param enabled: As `run`.
        :returns: As `run`.
        """
        with trace("crag.web") as span:
            asking = self._asking(query, state, enabled)
            outcome = Outcome("skipped")
            if asking.allowed:
                outcome = await self._chain.search_async(asking.query, asking.prepare, asking.seconds)
            documents = asking.found(outcome)
            if documents and self.read_pages:
                documents = await asking.read_async(documents)
            return concluded(span, asking.query, outcome, documents, state=state, providers=self._chain.providers)

    def _asking(self, query: str | None, state: CragState | None, enabled: bool | None) -> Asking:
        """Open one run's question; all that this run knows is in it, nothing on self."""
        sent = outgoing(query, self._cut, None if state is None else state.query)
        return Asking.of(self, sent, state, wanted=self.enabled if enabled is None else enabled)
