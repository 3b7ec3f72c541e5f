"""The only door through which web results become documents: cleaned, capped, told apart, labelled."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from haystack import Document

from haystack_integrations.crag.grades import crag_meta, question_id
from haystack_integrations.crag.metadata import source_name
from haystack_integrations.crag.observing.telemetry import set_tags, trace
from haystack_integrations.crag.texts.sanitise import sanitize_text
from haystack_integrations.crag.vocabulary import META_KEY
from haystack_integrations.crag.web.domains import Rules, WebUrl, canonical_url, parse_url

MOST_DOCUMENTS: Final = 10
MOST_BYTES: Final = 8 * 1_024
MOST_BYTES_TOGETHER: Final = 64 * 1_024
CUT_MARK: Final = " […]"
"""Stands at the end of a text that was longer than its cap."""

_MOST_RESULTS: Final = 200
_MOST_TITLE: Final = 200
_LINK_KEYS: Final = ("url", "link", "href", "source", "source_url", "page_url", "permalink")
_TEXT_KEYS: Final = ("snippet", "content", "body", "description")
_TITLE_KEYS: Final = ("title", "name")


def web_documents(
    results: Sequence[Document],
    *,
    query: str,
    provider: str,
    iteration: int,
    max_results: int,
    rules: Rules,
) -> tuple[list[Document], dict[str, int]]:
    """
    Make evidence from what a web search gave, in its order; nothing else of a result gets in.

    :param results: What the provider gave; nothing is expected of it.
    :param query: The query that was sent; only its digest is kept.
    :param provider: The name it is labelled with.
    :param iteration: The correction it was found in.
    :param max_results: The most documents, 10 at most.
    :param rules: Which domains are let in.
    :returns: The documents, and how many results were left out by reason: `no_url`, `domain`, `duplicate`, `empty`,
        `size`. A reason that did not occur has no key.
    """
    label = {"provider": provider, "query_sha256": question_id(query), "iteration": iteration, "trust": "untrusted"}
    label["retrieved_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    door = _Door(rules, set(), [])
    with trace("crag.guard") as span:
        documents, dropped = _entered(door, results, label, min(max_results, MOST_DOCUMENTS))
        cut = any(str(document.content).endswith(CUT_MARK) for document in documents)
        set_tags(span, guard_tags(sum(door.removed), cut=cut))
        set_tags(span, {"crag.documents.in": len(results), "crag.documents.out": len(documents)})
    return documents, dropped


def guard_tags(removed: int, *, cut: bool) -> dict[str, Any]:
    """
    Say what was done to texts from the web before they became evidence.

    :param removed: How many invisible characters were taken out.
    :param cut: Whether a text was cut to its cap.
    :returns: Attributes by name.
    """
    flags = [name for name, met in (("invisible_characters", removed > 0), ("cut", cut)) if met]
    return {"openinference.span.kind": "GUARDRAIL", "crag.guard.removed_chars": removed, "crag.guard.flags": flags}


def _entered(
    door: "_Door", results: Sequence[Document], label: dict[str, Any], most: int
) -> tuple[list[Document], dict[str, int]]:
    """Let in as many results as there is room for, and count the others by reason."""
    documents: list[Document] = []
    dropped: Counter[str] = Counter()
    room = MOST_BYTES_TOGETHER
    for rank, result in enumerate(results[:_MOST_RESULTS], 1):
        if len(documents) >= most:
            dropped["size"] += 1
            continue
        found = door.enter(result)
        if isinstance(found, str):
            dropped[found] += 1
        elif (size := len(found.content.encode())) > room:
            dropped["size"] += 1
        else:
            room -= size
            documents.append(_document(found, {**label, "rank": rank}))
    if len(results) > _MOST_RESULTS:
        dropped["size"] += len(results) - _MOST_RESULTS
    return documents, dict(dropped)


@dataclass(frozen=True)
class _Page:
    """What is taken from one result."""

    url: WebUrl
    key: str
    title: str
    content: str


@dataclass(frozen=True)
class _Door:
    """The rules, what came in before (canonical addresses and digests of contents), how much was taken out of it."""

    rules: Rules
    seen: set[str]
    removed: list[int]

    def enter(self, result: object) -> _Page | str:
        """Take what is needed from a result, or say why it stays out; what costs most comes last."""
        meta = result.meta if isinstance(result, Document) and isinstance(result.meta, dict) else {}
        url = next((url for url in map(parse_url, map(meta.get, _LINK_KEYS)) if url), None)
        key = canonical_url(str(url)) if url else None
        if url is None or key is None:
            return "no_url"
        if not self.rules.permit(url.host):
            return "domain"
        if key in self.seen:
            return "duplicate"
        title = self._clean(_MOST_TITLE, *map(meta.get, _TITLE_KEYS))[:_MOST_TITLE].replace("\n", " ").strip()
        text = getattr(result, "content", None), *map(meta.get, _TEXT_KEYS)
        content = cut_to_bytes(self._clean(MOST_BYTES, *text) or title, MOST_BYTES)
        if not content:
            return "empty"
        if content in self.seen:
            return "duplicate"
        self.seen.update((key, content))
        return _Page(url, key, title, content)

    def _clean(self, most: int, *values: object) -> str:
        """Sanitise the first of some values that leaves text; only as much of it is looked at as can be needed."""
        for value in values:
            if isinstance(value, str):
                text, removed = sanitize_text(value[: 4 * most])
                self.removed.append(removed)
                if text:
                    return text
        return ""


def cut_to_bytes(text: str, most: int) -> str:
    """
    Cut a text to so many bytes of UTF-8, between two characters, and mark the cut.

    :param text: A text without lone surrogates.
    :param most: The most bytes, the mark included.
    :returns: The text, whole or cut.
    """
    encoded = text.encode()
    if len(encoded) <= most:
        return text
    return encoded[: most - len(CUT_MARK.encode())].decode(errors="ignore").rstrip() + CUT_MARK


def _document(page: _Page, label: dict[str, Any]) -> Document:
    provenance = {**label, "url": str(page.url), "domain": page.url.host}
    meta: dict[str, Any] = {"url": str(page.url), META_KEY: {"origin": "web", "provenance": provenance}}
    if page.title:
        meta["title"] = page.title
    name = sha256(f"{page.key}\n{page.content}".encode()).hexdigest()
    return Document(id=name, content=page.content, meta=meta)


def citation(document: Document) -> str:
    """
    Name a document for a reader of an answer.

    :param document: Any document.
    :returns: For one from the web, such as `web: example.com (2026-11-22)`; otherwise its source, or its id.
    """
    provenance = crag_meta(document).get("provenance")
    if not isinstance(provenance, dict) or not provenance.get("domain"):
        return source_name(document) or str(document.id)
    return f"web: {provenance['domain']} ({str(provenance.get('retrieved_at', ''))[:10]})"
