"""What a search of the web says of itself: outputs, span attributes, one warning. Numbers and names, never a text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from haystack import Document, logging
from haystack.tracing.tracer import Span

from haystack_integrations.crag.expansion.query_text import folded
from haystack_integrations.crag.grades import question_id
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.observing.telemetry import set_tags, shown
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import WEB
from haystack_integrations.crag.web.outcome import NOT_CONFIGURED, Outcome, status_of
from haystack_integrations.crag.web.providers import Provider

logger = logging.getLogger(__name__)

_HARMLESS: Final = (None, "abandoned", NOT_CONFIGURED)


def concluded(
    span: Span,
    query: str,
    outcome: Outcome,
    documents: list[Document],
    *,
    state: CragState | None,
    providers: Sequence[Provider],
) -> dict[str, Any]:
    """
    Give the outputs of a web search, and tell its span and the log how it went.

    :param span: Its span.
    :param query: What was sent, or would have been; only its hash is told.
    :param outcome: What the search came to.
    :param documents: The documents to give.
    :param state: What the run knows, if there is a run.
    :param providers: The chain's providers.
    :returns: `documents`, `status`, `report`, and `state` when there is a run.
    """
    answer = outcome.answer
    failures = [f"{one.provider}:{one.failure}" for one in outcome.tried if one.failure not in _HARMLESS]
    report = {
        "provider": answer.provider if answer else None,
        "results_in": answer.results if answer else 0,
        "kept": len(documents),
        "dropped": dict(answer.dropped) if answer else {},
        "again": outcome.again,
        "query_sha256": question_id(query)[:12] if query else None,
        "tried": [{"provider": a.provider, "failure": a.failure, "calls": a.calls} for a in outcome.tried],
        "breakers": {provider.name: provider.breaker.state for provider in providers},
        "reasons": [f"web_{outcome.status}:{failure}" for failure in failures],
    }
    for one in () if outcome.again else outcome.tried:
        if one.failure != "abandoned":  # it lost a race, which says nothing of how it would have ended
            metrics.web_searched(one.provider, status_of([one]))
    set_tags(span, {**_tags(outcome, report), "crag.documents.out": len(documents)})
    span.set_content_tag("gen_ai.retrieval.query.text", query)
    span.set_content_tag("gen_ai.retrieval.documents", shown(documents))
    if failures and not outcome.again:
        logger.warning("Web search {status}: {failures}", status=outcome.status, failures=", ".join(failures))
    result = {"documents": documents, "status": outcome.status, "report": report}
    return result if state is None else {**result, "state": _after(state, query, outcome)}


def _after(state: CragState, query: str, outcome: Outcome) -> CragState:
    """
    Write down what became of the web, and what it was asked: this pass did not search the index.

    A rewriter has noted its query already. What is sent may be less than that, and is what counts.
    """
    queries, last = state.queries, state.queries[-1] if state.queries else {}
    if query and (last.get("strategy") != WEB or folded(last["query"]) != folded(query)):
        queries = (*queries, {"query": query, "strategy": WEB})
    return replace(state, web=outcome.status, queries=queries)


def _tags(outcome: Outcome, report: dict[str, Any]) -> dict[str, Any]:
    return {
        "openinference.span.kind": "RETRIEVER",
        "gen_ai.operation.name": "retrieval",
        "crag.web.provider": report["provider"],
        "crag.web.status": outcome.status,
        "crag.web.again": outcome.again,
        "crag.web.calls": 0 if outcome.again else sum(one.calls for one in outcome.tried),
        "crag.web.results.in": report["results_in"],
        "crag.web.results.kept": report["kept"],
        **{f"crag.web.dropped.{reason}": count for reason, count in report["dropped"].items()},
        "crag.web.query.sha256": report["query_sha256"],
        "crag.web.failures": report["reasons"] or None,
        "crag.breaker.state": [f"{name}:{state}" for name, state in report["breakers"].items()],
    }
