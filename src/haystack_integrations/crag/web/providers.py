"""What differs between Haystack's web searches: how they are called, where they put the link, and how they fail."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.breaker import Breaker
from haystack_integrations.crag.deadlines import call_within, call_within_async
from haystack_integrations.crag.errors import CragError, NotConfiguredError, causes
from haystack_integrations.crag.homes import runs_here
from haystack_integrations.crag.retry_after import seconds_to_wait, wait_of
from haystack_integrations.crag.web.swallowed import raised

_LINK_KEYS: Final = ("url", "link", "href")
"""`url`: Tavily, ddgs, Brave, Exa, Linkup, Perplexity, Firecrawl, SearXNG. `link`: SerperDev, SearchApi."""

_KINDS: Final = {
    "UsageLimitExceededError": "rate_limited",  # tavily; its other errors keep no response to read a status from
    "RatelimitException": "rate_limited",  # ddgs
    "LinkupTooManyRequestsError": "rate_limited",  # linkup's keep no status either
    "LinkupAuthenticationError": "http_401",
    "LinkupPaymentRequiredError": "http_402",
    "LinkupInsufficientCreditError": "http_402",
    "LinkupInvalidRequestError": "http_400",
    "LinkupNoResultError": "http_400",  # the next question may have results
    "ForbiddenError": "http_403",
    "InvalidAPIKeyError": "http_401",
    "BadRequestError": "http_400",
    "JSONDecodeError": "not_json",
    "ConnectionError": "connection",
    "TransportError": "connection",  # httpx: refused, reset, cut off
    "ChunkedEncodingError": "connection",  # requests: cut off
}
_FINAL: Final = ("timeout", "engines_failed", "ConfigurationError", NotConfiguredError.kind)
"""Kinds that asking at once again does not change."""

_OF_THE_QUERY: Final = ("http_400", "http_413", "http_414", "http_422")
"""Kinds that refuse a query, and not whoever asks: it is empty after all, too long, or of no form that is known."""

_MALFORMED: Final = (KeyError, IndexError, TypeError, AttributeError)
_MOST_CAUSES: Final = 6


@dataclass(frozen=True)
class Failure:
    """
    How a provider failed; never its text, which can hold the query, an address or a key.

    :param kind: `rate_limited`, `timeout`, `connection`, `not_json`, `malformed`, `http_NNN`, or the name of the
        error's class.
    :param retry_after_s: How long it asked to be left alone, in seconds, where the error tells.
    """

    kind: str
    retry_after_s: float | None = None

    @property
    def retryable(self) -> bool:
        """Whether asking once more at once is polite and of use: not when told off, refused, or out of time."""
        told_off = self.kind == "rate_limited" or self.retry_after_s is not None
        return not told_off and self.kind not in _FINAL and not self.kind.startswith("http_4")

    @property
    def of_provider(self) -> bool:
        """Whether it says how the provider is: not that nobody set it up, nor that it does not take this query."""
        return self.kind != NotConfiguredError.kind and self.kind not in _OF_THE_QUERY


class Provider:
    """
    One web search, with the breaker that guards it.

    :param component: Any Haystack web search: `run(query=...)` gives `documents`.
    :param name: What reports and traces call it.
    :param breaker: Its breaker.
    """

    def __init__(self, component: Any, name: str, breaker: Breaker) -> None:
        """Belong together for the life of the process; see the class."""
        self.component, self.name, self.breaker = component, name, breaker

    @property
    def can_be_asked(self) -> bool:
        """Whether a search now would ask it: it is set up, as far as it can tell (`is_set_up`), and not left alone."""
        return bool(getattr(self.component, "is_set_up", True)) and self.breaker.state in ("closed", "half_open")

    def search(self, query: str, seconds: float) -> list[Document]:
        """
        Search, and wait at most so long.

        :param query: What to send.
        :param seconds: The longest wait, in seconds.
        :returns: The results in rank order, each with its address in `meta["url"]` where it has one.
        :raises TimeoutError: When there is no answer in time. What the component raises is raised as it is.
        """
        return results_of(call_within(seconds, partial(self._run, query)))

    async def search_async(self, query: str, seconds: float) -> list[Document]:
        """
        Search without blocking the event loop, in a thread where the client is another loop's; see `search`.

        :param query: What to send.
        :param seconds: The longest wait, in seconds.
        :returns: As `search`.
        :raises TimeoutError: As `search`.
        """
        if not await runs_here(self.component):
            return results_of(await call_within_async(seconds, partial(self._run, query)))
        return results_of(await asyncio.wait_for(self._run_async(query), max(0.001, seconds)))

    def _run(self, query: str) -> Any:
        if hasattr(self.component, "warm_up"):  # some make their client there, and refuse to search before
            self.component.warm_up()
        with raised(self.component) as answers:
            answers.append(self.component.run(query=query))
        return answers[0]

    async def _run_async(self, query: str) -> Any:
        if hasattr(self.component, "warm_up_async"):
            await self.component.warm_up_async()
        elif hasattr(self.component, "warm_up"):
            self.component.warm_up()
        with raised(self.component) as answers:
            answers.append(await self.component.run_async(query=query))
        return answers[0]


def results_of(answer: Any) -> list[Document]:
    """
    Read the results of any Haystack web search.

    :param answer: What its `run` gave.
    :returns: Its documents, each with its address in `meta["url"]` where it has one.
    :raises TypeError: When there is no list of documents in it.
    """
    found = answer.get("documents") if isinstance(answer, Mapping) else None
    if not isinstance(found, Sequence) or not all(isinstance(document, Document) for document in found):
        msg = f"a web search must give a list of documents, but gave {type(found).__name__}"
        raise TypeError(msg)
    links = answer.get("links")
    # Those that drop results without a link have fewer links than documents: no telling which is whose.
    beside = links if isinstance(links, Sequence) and len(links) == len(found) else [None] * len(found)
    return [_with_url(document, link) for document, link in zip(found, beside, strict=True)]


def _with_url(document: Document, link: object) -> Document:
    candidates = [*(document.meta.get(key) for key in _LINK_KEYS), link]
    url = next((value for value in candidates if isinstance(value, str) and value.strip()), None)
    if url is None or document.meta.get("url") == url:
        return document
    return replace(document, meta={**document.meta, "url": url})


def failure_of(error: BaseException) -> Failure:
    """
    Name a failure by its kind. Wrappers keep the real error as their cause, so the causes are looked at too.

    :param error: What a web search raised.
    :returns: Its kind, and how long the provider asked to be left alone.
    """
    chain = list(islice(causes(error, hidden=True), _MOST_CAUSES))
    named = ((kind, link) for link in chain if (kind := _kind(link)) is not None)
    kind, at = next(named, (None, error))
    if kind is None:
        kind = "malformed" if isinstance(chain[-1], _MALFORMED) else type(error).__name__
    return Failure(kind, _retry_after(at))


def _kind(error: BaseException) -> str | None:
    own = getattr(error, "kind", None)
    if isinstance(error, CragError):
        return own if isinstance(own, str) else None
    status = getattr(getattr(error, "response", None), "status_code", None) or getattr(error, "status_code", None)
    if isinstance(status, int) and 400 <= status <= 599:  # noqa: PLR2004
        return "rate_limited" if status == 429 else f"http_{status}"  # noqa: PLR2004
    names = [base.__name__ for base in type(error).__mro__]
    if any("Timeout" in name for name in names):  # built in, httpx, requests, tavily, ddgs: no common base
        return "timeout"
    return next((_KINDS[name] for name in names if name in _KINDS), None)


def _retry_after(error: BaseException) -> float | None:
    for name in ("retry_after_s", "retry_after_seconds"):  # our own client; tavily without a key
        value = getattr(error, name, None)
        if value is not None:
            return seconds_to_wait(str(value))
    headers = getattr(getattr(error, "response", None), "headers", None)
    return wait_of(headers) if isinstance(headers, Mapping) else None
