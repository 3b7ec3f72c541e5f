"""Reading the pages of web results: public addresses only, little time, few bytes; the snippet stays where it fails."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, Final

import httpcore
import trafilatura
from haystack import Document

from haystack_integrations.crag.deadlines import call_within, call_within_async
from haystack_integrations.crag.formats.html_marks import MARK, with_words_marked
from haystack_integrations.crag.formats.html_references import without_no_text
from haystack_integrations.crag.grades import annotate, crag_meta, origin_of
from haystack_integrations.crag.interrupts import let_end
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.texts.sanitise import sanitize_text
from haystack_integrations.crag.web.charsets import decoded
from haystack_integrations.crag.web.documents import MOST_BYTES_TOGETHER, cut_to_bytes, guard_tags
from haystack_integrations.crag.web.domains import canonical_url, parse_url
from haystack_integrations.crag.web.fetching import MARKUP, PAGE_SECONDS, Kind, PageError, PageFetcher, give_up
from haystack_integrations.crag.web.markup import bounded

MOST_BYTES: Final = 2_097_152
_MOST_TEXT: Final = 32 * 1_024
_GRACE_SECONDS: Final = 0.5
_AT_ONCE: Final = 2
_AMPERSAND: Final = re.compile(r"(?i)&(?:amp|#0*38|#x0*26);")
_UNSEEN: Final = "//*[@hidden] | //template"
# Of cells that others span; and of how many columns or rows one is read, three digits.
_MOST_SPANNED, _SPANS, _LONGEST_SPAN = 10_000, 100, 3
# One character in so many may be one that could not be read.
_GARBLED: Final = 200


@dataclass(frozen=True)
class PageReader:
    """
    Puts the main text of their pages in the place of web documents' snippets.

    Of a page that is longer than 2 MiB, the first bytes are read; 32 KiB of its text are kept, 64 KiB of all.

    :param permits: Tells whether a host may be asked; for redirects too.
    :param max_bytes: The most of a page.
    :param fetcher: What fetches pages.
    """

    permits: Callable[[str], bool]
    max_bytes: int = MOST_BYTES
    fetcher: PageFetcher = field(default_factory=PageFetcher)

    async def read(self, documents: Sequence[Document], seconds: float) -> list[Document]:
        """
        Read all pages at once, each for its time, all within the time of all.

        :param documents: Any documents; only those from the web are read.
        :param seconds: The longest wait for all of them, in seconds; 5 for one page.
        :returns: The documents in their order with their ids, a page that several lead to once. In the provenance of a
            web document, `page` says `read` (and `page_url` from where) or `failed:` and the kind of failure, whereupon
            the snippet stays.
        """
        ends = asyncio.get_running_loop().time() + seconds
        # Whoever has no time left when its turn comes begins no work that nobody waits for.
        turns = asyncio.Semaphore(_AT_ONCE)
        # Together they keep to what snippets may have together, whether they are pages or not.
        most = min(_MOST_TEXT, MOST_BYTES_TOGETHER // max(1, len(documents)))
        return _each_once(await asyncio.gather(*(self._page(document, ends, turns, most) for document in documents)))

    def read_blocking(self, documents: Sequence[Document], seconds: float) -> list[Document]:
        """
        Read them on an event loop of their own: one reader, and its deadlines, for both doors.

        :param documents: As for `read`.
        :param seconds: As for `read`.
        :returns: As `read`.
        """
        try:
            # The grace lets it end by itself, with the pages that were in time.
            return call_within(seconds + _GRACE_SECONDS, lambda: asyncio.run(self.read(documents, seconds)))
        except TimeoutError as error:
            let_end(error)
            return [_labelled(document, page="failed:timeout") for document in documents]

    async def _page(self, document: Document, ends: float, turns: asyncio.Semaphore, most: int) -> Document:
        clock = asyncio.get_running_loop().time
        if not _is_web(document):
            return document
        ends = min(ends, clock() + PAGE_SECONDS)
        try:
            async with asyncio.timeout_at(ends):
                url = parse_url(document.meta.get("url"))
                url, kind, body = await self.fetcher.fetch(url, self.max_bytes, self.permits)
                async with turns:
                    told = len((document.content or "").strip())
                    text = await call_within_async(ends - clock(), partial(_main_text, body, kind, most, told))
        except Exception as error:  # a page is an extra: whatever it does, the snippet stays
            return _labelled(document, page=f"failed:{_reason(error)}")
        # A redirect is part of where a text comes from, so it is told; and what is cited is where it leads.
        return _labelled(replace(document, content=text), page="read", page_url=str(url), domain=url.host)


def _each_once(documents: Sequence[Document]) -> list[Document]:
    """Leave out a page that a result before has led to, by a redirect: it would be evidence for itself."""
    keys = [canonical_url(crag_meta(one)["provenance"].get("page_url")) if _is_web(one) else None for one in documents]
    return [document for at, document in enumerate(documents) if keys[at] is None or keys[at] not in keys[:at]]


def _is_web(document: Document) -> bool:
    return origin_of(document) == "web"


def _labelled(document: Document, **entries: Any) -> Document:
    if not _is_web(document):
        return document
    provenance = crag_meta(document).get("provenance")
    return annotate(document, provenance={**(provenance if isinstance(provenance, dict) else {}), **entries})


def _reason(error: Exception) -> Kind:
    if isinstance(error, PageError):
        return error.kind
    if isinstance(error, TimeoutError | httpcore.TimeoutException):
        return "timeout"
    if isinstance(error, httpcore.NetworkError | httpcore.ProtocolError):
        return "connection"
    return "error"


def _main_text(body: bytes, kind: str, most: int, told: int) -> str:
    """Find what a page is about, as clean text of bounded length that tells more than so many characters."""
    if body.startswith(b"%PDF-"):  # whatever it is called: much of it may be letters
        give_up("type")
    text = decoded(body, kind)
    if kind.partition(";")[0].strip().lower() in MARKUP:
        # A string, not bytes: those it would also decompress. Comments are other people's words.
        text = _AMPERSAND.sub("&amp;amp;", without_no_text(text))  # Trafilatura reads what is left once more
        page = _with_few_cells(trafilatura.load_html(bounded(text)))
        if page is not None:
            with_words_marked(page)
        text = trafilatura.extract(page, fast=True, include_comments=False, prune_xpath=_UNSEEN) or ""
        text = text.replace(MARK, "")
    with trace("crag.guard") as span:
        text, removed = sanitize_text(text[: 4 * _MOST_TEXT], markup=False)
        shown = cut_to_bytes(text, most)
        set_tags(span, guard_tags(removed, cut=shown != text))
    if not text:
        give_up("empty")
    if text.count("\ufffd") * _GARBLED > len(text):
        give_up("charset")
    if len(text) <= told:  # «Please enable JavaScript», a question about cookies
        give_up("short")
    return shown


def _with_few_cells(page: Any) -> Any:
    """Leave ten thousand of the cells that others only span: Trafilatura makes each, in the square of their number."""
    left = _MOST_SPANNED
    for cell in () if page is None else page.xpath("//td[@colspan or @rowspan] | //th[@colspan or @rowspan]"):
        left -= prod(min(int(said), _SPANS) if said.isdecimal() else 1 for said in _spans_of(cell)) - 1
        if left < 0:
            cell.attrib.pop("colspan", None)
            cell.attrib.pop("rowspan", None)
    return page


def _spans_of(cell: Any) -> Iterator[str]:
    """Give how many columns and rows a cell spans, as far as anyone writes such numbers."""
    return (cell.get(name, "1")[:_LONGEST_SPAN] for name in ("colspan", "rowspan"))
