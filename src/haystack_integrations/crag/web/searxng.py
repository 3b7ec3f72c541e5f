"""What a search asks SearXNG, and both dialects of what comes back: SearXNG's and that of searx, its ancestor."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote_plus

import httpx
from haystack import Document, logging

from haystack_integrations.crag.errors import (
    OWN_AUTHORITY,
    ConfigurationError,
    NotConfiguredError,
    WebSearchError,
    tls_failure,
)
from haystack_integrations.crag.inputs import is_number
from haystack_integrations.crag.retry_after import wait_of
from haystack_integrations.crag.settings import configured

logger = logging.getLogger(__name__)

URL_SETTING: Final = "CRAG_SEARXNG_URL"
MAX_BYTES: Final = 2 * 1024 * 1024
_MOST_ENGINES: Final = 20
_FORMATS: Final = "set `search.formats: [html, json]` in SearXNG's settings.yml"
_WAYS_OUT: Final = {
    401: f"put user name and password into {URL_SETTING} (https://user:password@host)",
    403: f"{_FORMATS}; if they are set, its limiter or a proxy refuses this client",
    404: "url must be the address of its start page",
    429: "ask later, or switch its limiter off for this client",
}
_CERTIFICATE: Final = (
    f"set url to the address that its certificate is for (http:// where it speaks no TLS); {OWN_AUTHORITY}"
)
# A word that begins so is an order to the server: another engine, a redirect to another site, a language, a timeout.
_ORDER: Final = re.compile(r"(?<!\S)[!?:<]+")


def is_configured() -> bool:
    """Tell whether a server is set by CRAG_SEARXNG_URL."""
    return configured(URL_SETTING) is not None


def names_of(name: str, given: list[str] | None) -> list[str] | None:
    """
    Check names of engines or categories: the server takes them with commas between.

    :param name: The setting.
    :param given: Its value.
    :returns: The same.
    :raises ConfigurationError: For what is no list of names.
    """
    is_list = isinstance(given, list) and all(isinstance(one, str) and one.strip() and "," not in one for one in given)
    if given is not None and not is_list:
        msg = f"{name} must be a list of names such as ['general'], or None, but got {given!r}"
        raise ConfigurationError(msg)
    return given


class Server:
    """Where the questions go: its start page, or its `/search`; with a password only if `secret`."""

    def __init__(self, url: str, *, secret: bool) -> None:
        """Check the address; the message about a wrong one does not show it."""
        with suppress(httpx.InvalidURL, TypeError):  # their texts may hold a part of the password
            parts = httpx.URL(url)
            usable = parts.scheme in {"http", "https"} and parts.host and 0 < (parts.port or 80) < 1 << 16
            if usable and (secret or not parts.userinfo):
                path = parts.path.rstrip("/").removesuffix("/search")
                self._auth = httpx.BasicAuth(parts.username, parts.password) if parts.userinfo else httpx.Auth()
                self.url = parts.copy_with(userinfo=b"", path=f"{path}/search", query=None, fragment=None)
                return
        msg = f"url must be like 'http://127.0.0.1:8888', with a password only in {URL_SETTING}; this one is not shown"
        raise ConfigurationError(msg)

    @classmethod
    def configured(cls) -> "Server":
        """Take the address from the setting CRAG_SEARXNG_URL."""
        url = configured(URL_SETTING)
        if url is None:
            msg = f"no SearXNG server is set; pass url or set {URL_SETTING}, for example to http://127.0.0.1:8888"
            raise NotConfiguredError(msg)
        return cls(url, secret=True)

    def request(self, query: str, options: Mapping[str, str], timeout: float) -> httpx.Request:
        """Build the request. A bare transport sends it: httpx's client would log its URL, with the question."""
        # Uncompressed: a small body cannot become a large one.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "crag-haystack"}
        parameters = {"q": _text(_ORDER.sub("", query)), "format": "json", **options}
        limits = {"timeout": httpx.Timeout(timeout).as_dict()}
        try:
            request = httpx.Request("GET", self.url, params=parameters, headers=headers, extensions=limits)
        except httpx.InvalidURL:  # its text says that it is too long
            msg = f"can be asked no question of {len(query):,} characters; shorten it"
            raise self.error(msg, "http_414") from None
        return next(self._auth.auth_flow(request))

    def error(self, what: str, kind: str, retry_after_s: float | None = None) -> WebSearchError:
        """Make an error that names the server."""
        return WebSearchError(f"SearXNG at {self.url} {what}", kind=kind, retry_after_s=retry_after_s)

    @contextmanager
    def failures_explained(self, timeout: float) -> Iterator[None]:
        """Turn what a transport raises into our error; its own holds the URL with the question."""
        try:
            yield
        except (TimeoutError, httpx.TimeoutException):
            msg = f"did not answer within timeout={timeout:g} s; raise it, or lower `outgoing.request_timeout` there"
            raise self.error(msg, "timeout") from None
        except httpx.TransportError as error:
            if (why := tls_failure(error)) is not None:
                msg = f"allows no secure connection ({why}); {_CERTIFICATE}"
                raise self.error(msg, "tls") from None
            reason = f": {error}"[:120] if isinstance(error, httpx.ConnectError) else ""
            msg = f"broke the connection or refused it ({type(error).__name__}{reason}); is it running there?"
            raise self.error(msg, "connection") from None


class Reply:
    """A reply as it comes in: refused as soon as its head says so, or when it grows too long."""

    def __init__(self, server: Server, response: httpx.Response) -> None:
        """Look at the head: only 200, and 400, whose body says more, are read further."""
        self._server, self.status, self._body = server, response.status_code, bytearray()
        if self.status in {200, 400}:
            return
        kind = "rate_limited" if self.status == httpx.codes.TOO_MANY_REQUESTS else f"http_{self.status}"
        moved = "no question is sent on to another address; set url to where it moved"
        way_out = moved if response.has_redirect_location else _WAYS_OUT.get(self.status, "see its log")
        msg = f"answered HTTP {self.status} instead of results; {way_out}"
        raise server.error(msg, kind, wait_of(response.headers))

    def add(self, chunk: bytes) -> None:
        """Take a part of the body; one that is too long is not read further."""
        self._body += chunk
        if len(self._body) > MAX_BYTES:
            msg = f"sent more than {MAX_BYTES} bytes; ask fewer engines"
            raise self._server.error(msg, "too_large")

    def documents(self, query: str, top_k: int, engines: Sequence[str]) -> list[Document]:
        """
        Read the results that have an http(s) address and a text, in the server's order.

        :param query: The question, whose words no message repeats.
        :param top_k: The most documents.
        :param engines: The only engines that were to be asked; empty for any.
        :returns: The documents; none only if the reply is a list of results, and no engine failed.
        """
        reply = self._json()
        if self.status != httpx.codes.OK:
            msg = f"refused the search (HTTP {self.status}): {_masked(reply.get('error'), query)!r}"
            raise self._server.error(msg, f"http_{self.status}")
        results = reply.get("results")
        if not isinstance(results, list):
            msg = f"sent JSON without a list `results` (HTTP {self.status}); is url the address of a SearXNG?"
            raise self._server.error(msg, "not_searxng")
        # For each engine that failed, a list: its name and the cause.
        unresponsive = _list(reply.get("unresponsive_engines"))[:_MOST_ENGINES]
        causes = (": ".join(map(str, _list(one) or [one])) for one in unresponsive)
        failed = "; ".join(_masked(cause, query) for cause in causes)[:300]
        if failed and not results:
            msg = f"found nothing because engines failed ({failed}); see its /stats page, or set other `engines`"
            raise self._server.error(msg, "engines_failed")
        if failed:
            logger.info("SearXNG found results, but engines failed: {failed}", failed=failed)
        documents = list(islice(filter(None, map(_document, results)), top_k))
        asked = {name for document in documents for name in document.meta["engines"]}
        if engines and asked and asked.isdisjoint(engines):
            others = _masked(", ".join(sorted(asked)), query)
            msg = f"does not know engines={list(engines)} and silently asked others ({others}); correct the names"
            raise self._server.error(msg, "engines_ignored")
        for rank, document in enumerate(documents, start=1):
            document.meta["rank"] = rank  # not in its id: a page is the same one at any rank
        return documents

    def _json(self) -> dict[str, Any]:
        with suppress(ValueError, RecursionError):
            if isinstance(reply := json.loads(self._body), dict):
                return reply
        what = "an HTML page" if b"<html" in self._body[:1000].lower() else "something else"
        msg = f"sent {what} instead of a JSON object (HTTP {self.status}); is url right? Else {_FORMATS}"
        raise self._server.error(msg, "not_json" if self.status == httpx.codes.OK else f"http_{self.status}")


def _document(result: object) -> Document | None:
    if not isinstance(result, dict):
        return None
    url, title, snippet = (_text(result.get(name)) for name in ("url", "title", "content"))
    if not url.lower().startswith(("http://", "https://")) or not (snippet or title):
        return None
    engines = [name for one in _list(result.get("engines")) or [result.get("engine")] if (name := _text(one))]
    meta: dict[str, Any] = {"title": title, "url": url, "link": url, "engines": engines}
    # SearXNG writes ISO 8601 here; searx a text for people, and `pubdate` for machines.
    if published := _iso(result.get("publishedDate")) or _iso(result.get("pubdate")):
        meta["published"] = published
    document, score = Document(content=snippet or title, meta=meta), result.get("score")
    if is_number(score) and abs(score) < math.inf:
        document.meta["searxng_score"] = score  # made from ranks: no probability, so not the document's score
    return document


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    # Half of a character pair, which JSON can hold, cannot be stored or sent on.
    return value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""


def _iso(value: object) -> str | None:
    with suppress(ValueError):
        return datetime.fromisoformat(_text(value)).isoformat()
    return None


def _masked(text: object, query: str) -> str:
    shown = " ".join(unquote_plus(_text(text)).split())[:200]
    words = "|".join(map(re.escape, re.findall(r"\w{3,}", query)))
    return re.sub(words, "…", shown, flags=re.IGNORECASE) if words else shown
