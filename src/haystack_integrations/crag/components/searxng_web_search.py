"""SearXNGWebSearch: search the web through a SearXNG server of your own."""

import asyncio
from contextlib import aclosing, closing
from typing import Any, Literal, get_args

import httpx
from haystack import Document, component

from haystack_integrations.crag.copying import Copied
from haystack_integrations.crag.deadlines import call_within
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.settings import number
from haystack_integrations.crag.web.searxng import Reply, Server, is_configured, names_of

TimeRange = Literal["day", "week", "month", "year"]


@component
@checked
class SearXNGWebSearch(Copied):
    """
    Asks a SearXNG server, or the older searx, and returns its results as documents: no key, no account.

    SearXNG gives JSON only with `search.formats: [html, json]` in its settings.yml. A failure is an error and never an
    empty list, also where the server answers "no results" because its engines failed. Nothing is retried here, no
    result page is opened, no redirect followed and no proxy used. A question is only searched for: its words that
    SearXNG would take for orders (`!engine`, `!!site`, `:language`, `<timeout`) lose those signs. Only the first page
    is asked. For `time_range`, the server skips the engines that cannot filter by it without a word.

    ```python
    from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch

    search = SearXNGWebSearch(url="http://127.0.0.1:8888", top_k=5, language="en")
    # search.run(query="Who wrote Emma?")["documents"]
    assert search.top_k == 5
    ```
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        top_k: int = 10,
        categories: list[str] | None = None,
        engines: list[str] | None = None,
        language: str | None = None,
        time_range: TimeRange | None = None,
        safe_search: Literal[0, 1, 2] = 1,
        timeout: float = 5.0,
    ) -> None:
        """
        Set the search up; nothing is connected.

        :param url: The server's address. None reads the setting CRAG_SEARXNG_URL at first use, so that a pipeline
            loads without it. Only there may it hold a user name and a password.
        :param top_k: The most documents of one search.
        :param categories: Categories of engines to ask, such as `general`; None leaves it to the server.
        :param engines: Engines to ask by name; None leaves it to the server. With `categories`, those are asked too.
        :param language: A code such as `en` or `de-CH`, or `all`; None leaves it to the server.
        :param time_range: How old a result may be.
        :param safe_search: 0 filters nothing, 1 is moderate, 2 strict.
        :param timeout: Seconds that one search may take as a whole.
        :raises ConfigurationError: For an unusable value.
        """
        if time_range not in (None, *get_args(TimeRange)):
            msg = f"time_range must be one of {get_args(TimeRange)} or None, but got {time_range!r}"
            raise ConfigurationError(msg)
        self.url, self.language, self.time_range = url, language, time_range
        self.categories, self.engines = names_of("categories", categories), names_of("engines", engines)
        self.top_k = number("top_k", top_k, 10, int, 1, 1000)
        self.timeout = number("timeout", timeout, 5.0, float, 0.001, 600)
        self.safe_search = number("safe_search", safe_search, 1, int, 0, 2)  # for 3 the server fails
        self._server = None if url is None else Server(url, secret=False)
        self._verify: Any = None

    @property
    def is_set_up(self) -> bool:
        """Whether there is a server to ask: one was given, or CRAG_SEARXNG_URL is set."""
        return self._server is not None or is_configured()

    def warm_up(self) -> None:
        """
        Find the server's address and read the certificates that are trusted; nothing is connected.

        :raises ConfigurationError: For no address; NotConfiguredError when neither `url` nor CRAG_SEARXNG_URL is set.
        """
        self._ready()

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """
        Search the web.

        :param query: The question.
        :param top_k: The most documents; None takes the one set at construction.
        :returns: A dictionary with the following keys:
            - `documents`: The results in the server's order. The content is the snippet, or the title where there is
              none; `meta` has `title`, `url`, `link` (the same), `engines`, `rank`, `searxng_score` (from ranks: no
              probability, so `score` is None) and `published` (ISO 8601), where the server knows it.
            - `links`: Their addresses. Both are empty only if nothing was found: failures are raised.
        :raises WebSearchError: When the search failed; its `kind` says how.
        :raises ConfigurationError: When no server is set, or `top_k` is no whole number above 0.
        """
        server, request, wanted = self._prepared(query, top_k)
        # A connection of its own: nothing stays open, and giving up ends it.
        with server.failures_explained(self.timeout), httpx.HTTPTransport(verify=self._verify) as transport:

            def ask() -> Reply:
                with closing(transport.handle_request(request)) as response:
                    reply = Reply(server, response)
                    for chunk in response.iter_raw():
                        reply.add(chunk)
                    return reply

            reply = call_within(self.timeout, ask)
        return self._found(reply, query, wanted)

    @component.output_types(documents=list[Document], links=list[str])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """Search the web without blocking the event loop; see `run`."""
        server, request, wanted = self._prepared(query, top_k)
        with server.failures_explained(self.timeout):
            async with asyncio.timeout(self.timeout), httpx.AsyncHTTPTransport(verify=self._verify) as transport:
                async with aclosing(await transport.handle_async_request(request)) as response:
                    reply = Reply(server, response)
                    async for chunk in response.aiter_raw():
                        reply.add(chunk)
        return self._found(reply, query, wanted)

    def _prepared(self, query: str, top_k: int | None) -> tuple[Server, httpx.Request, int]:
        wanted = self.top_k if top_k is None else number("top_k", top_k, self.top_k, int, 1, 1000)
        server = self._ready()
        names = {"categories": ",".join(self.categories or ()), "engines": ",".join(self.engines or ())}
        options = {**names, "language": self.language, "time_range": self.time_range, "safesearch": self.safe_search}
        given = {name: str(value) for name, value in options.items() if value not in (None, "")}
        return server, server.request(query, given, self.timeout), wanted

    def _found(self, reply: Reply, query: str, top_k: int) -> dict[str, Any]:
        documents = reply.documents(query, top_k, () if self.categories else self.engines or ())
        return {"documents": documents, "links": [document.meta["url"] for document in documents]}

    def _ready(self) -> Server:
        self._server = server = self._server or Server.configured()
        if self._verify is None:  # read once, as it takes longer than a search
            self._verify = httpx.create_ssl_context() if server.url.scheme == "https" else False
        return server
