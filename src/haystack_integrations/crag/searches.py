"""One search of a retriever: how long it may take, what it brought, and what its report says where it failed."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from haystack import Document, logging
from haystack.document_stores.types import FilterPolicy
from haystack.errors import FilterError
from haystack.tracing.tracer import tracer

from haystack_integrations.crag.chat import kind_of, status_of
from haystack_integrations.crag.deadlines import run_within, run_within_async
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.filters import refuse_void
from haystack_integrations.crag.interrupts import let_end
from haystack_integrations.crag.light import search_at_home, search_in_thread
from haystack_integrations.crag.observing.metrics import index_searched
from haystack_integrations.crag.observing.telemetry import set_tags
from haystack_integrations.crag.sockets import named, sockets_of
from haystack_integrations.crag.state import CragState

logger = logging.getLogger(__name__)

Filters = dict[str, Any] | None
State = CragState | None

TIMEOUT_S: Final = 20.0
"""The longest wait for a search, in seconds: with a model that Ollama only loads now it may well take ten."""

# Somebody has to put these right; told as a failed search, a slip in a retriever of one's own would be hard to find.
_MISTAKES: Final = (
    *(ConfigurationError, FilterError),
    *(AssertionError, AttributeError, ImportError, NameError, NotImplementedError, TypeError),
)
_MISTAKE_OF_DATABASES: Final = "ProgrammingError"  # PEP 249's word for a table that is not there, or another thread
# What a store refuses, such as a vector of another length, it refuses each time; all but these, which pass.
_REFUSALS: Final = frozenset(range(400, 500)) - {408, 425, 429}


def filters_for(policy: FilterPolicy, own: Filters, of_run: Filters) -> Filters:
    """
    Choose the filters of a search.

    Not by Haystack's own `merge`: there those of a run take the place of one on the same field, and with `OR` or `NOT`
    of all, so that whoever asks could open what the retriever's filters close.

    :param policy: What becomes of a retriever's own filters when a run brings some.
    :param own: The retriever's.
    :param of_run: The run's; empty ones are none.
    :returns: The filters; merged, both hold.
    :raises FilterError: For filters that are no mapping, or have no conditions.
    """
    for given in (own, of_run):
        refuse_void(given)
    if policy is FilterPolicy.MERGE and own and of_run:
        return {"operator": "AND", "conditions": [own, of_run]}
    return of_run or own


@dataclass(frozen=True)
class Limit:
    """
    How long a search may take.

    :param seconds: The longest wait.
    :param name: What sets it: `timeout`, the retriever's own, or `deadline`, what the run has left.
    """

    seconds: float
    name: str

    def rest(self, began: float) -> "Limit":
        """
        Give what is left of it.

        :param began: When its time began, by `time.monotonic`.
        :returns: The limit from now on.
        """
        return Limit(self.seconds - (time.monotonic() - began), self.name)


@dataclass(frozen=True)
class Found:
    """
    What a search brought.

    :param documents: In rank order.
    :param report: `status`: `ok`, `incomplete` or `failed`; for the latter two `kind`, a word that says why, and of a
        search that found nothing for want of documents or of vectors one of `NONE_TO_SEARCH`; and `shards`, `{"total",
        "failed"}`, when a server that has them answered.
    :param passing: Whether a copy of what is missing may answer the next search.
    """

    documents: list[Document]
    report: dict[str, Any]
    passing: bool = False

    def result(self) -> dict[str, Any]:
        """Give it as a retriever's outputs."""
        return {"documents": self.documents, "report": self.report}


def tells_of_itself(retriever: Any) -> bool:
    """
    Tell whether a retriever keeps to the run's deadline and reports what it missed.

    :param retriever: Any component.
    :returns: Whether it has the input `state` and the output `report`.
    """
    return "state" in (sockets_of(retriever, "input") or ()) and "report" in (sockets_of(retriever, "output") or ())


def limit_of(state: CragState | None, timeout_s: float) -> Limit:
    """
    Tell how long a search may take.

    :param state: What the run knows, if there is a run.
    :param timeout_s: The retriever's own limit, in seconds.
    :returns: The nearer of both ends.
    """
    left = None if state is None else state.seconds_left()
    return Limit(timeout_s, "timeout") if left is None or left > timeout_s else Limit(left, "deadline")


def search_within(retriever: Any, asked: Mapping[str, Any], limit: Limit) -> Found:
    """
    Ask any retriever, and wait for it no longer than so.

    :param retriever: A component with the output `documents`.
    :param asked: Its inputs.
    :param limit: How long it may take.
    :returns: What it found; trouble on the way is in the report, not raised.
    :raises Exception: For a mistake that somebody has to put right, see `failed`; such as filters of no conditions.
    """
    _prepare(retriever, asked)
    try:
        return _brought(retriever, run_within(retriever, limit.seconds, asked))
    except Exception as error:
        return _unsearched(error, limit)


async def search_within_async(retriever: Any, asked: Mapping[str, Any], limit: Limit) -> Found:
    """
    Ask any retriever on the event loop, or in a thread where it cannot be asked there; see `search_within`.

    :param retriever: As `search_within`.
    :param asked: As `search_within`.
    :param limit: As `search_within`.
    :returns: As `search_within`.
    """
    _prepare(retriever, asked)
    try:
        return _brought(retriever, await run_within_async(retriever, limit.seconds, asked))
    except Exception as error:
        return _unsearched(error, limit)


def _prepare(retriever: Any, asked: Mapping[str, Any]) -> None:
    """See to what a loaded pipeline has seen to; but Hayhooks reads a YAML by itself, and an app has its own."""
    refuse_void(asked.get("filters"))
    search_in_thread(retriever)
    search_at_home(retriever)


def failed(error: Exception, limit: Limit) -> Found:
    """
    Report a search, or the embedding of its question, that failed.

    :param error: What was raised.
    :param limit: How long it might take.
    :returns: No documents, and the kind of the failure; its text may hold a question or a key, and goes nowhere.
    :raises Exception: The error, where it, or what it was made of, is a mistake in an argument, in settings, filters or
        a program, or ends the run.
    """
    let_end(error)
    if any(_is_mistake(one) for one in (error, error.__cause__)):
        raise error
    return not_searched(limit.name if isinstance(error, TimeoutError) else kind_of(error))


def not_searched(kind: str) -> Found:
    """
    Report a search that brought nothing, since it failed.

    :param kind: Why, in a word.
    :returns: No documents, and the kind.
    """
    return Found([], {"status": "failed", "kind": kind})


def _is_mistake(error: BaseException | None) -> bool:
    # A plain ValueError is of an argument, such as a vector of another length. One of a kind may be a reply: no JSON.
    return isinstance(error, _MISTAKES) or type(error) is ValueError or type(error).__name__ == _MISTAKE_OF_DATABASES


def _brought(retriever: Any, given: Mapping[str, Any]) -> Found:
    if "documents" not in given:
        msg = f"{named(retriever)} gave {sorted(given)}, wanted documents; name its output so"
        raise ConfigurationError(msg)
    return not_searched("no_documents") if given["documents"] is None else Found(given["documents"], {"status": "ok"})


def _unsearched(error: Exception, limit: Limit) -> Found:
    """Report a search that failed; what a store refuses, it refuses each time, as Elasticsearch does."""
    if status_of(error) in _REFUSALS:
        raise error
    return failed(error, limit)


def wanted(retriever: Any, top_k: int | None) -> int | None:
    """
    Tell how many documents a retriever is asked for.

    :param retriever: Any component.
    :param top_k: The run's own number.
    :returns: That, or else the retriever's; None where it has none by that name, as Haystack's retrievers do.
    """
    own = getattr(retriever, "top_k", None) if top_k is None else top_k
    return own if isinstance(own, int) else None


def told(found: Found, top_k: int | None, source: str | None = None) -> Found:
    """
    Say on the retriever's own span, in the figures and in the log, how much was searched: of what it gives, and once.

    :param found: What was found.
    :param top_k: How many documents it was asked for, where that is known.
    :param source: The name of the index, where there is one.
    :returns: The same.
    """
    index_searched(status := found.report["status"])
    shards, kind = found.report.get("shards", {}), found.report.get("kind")
    part = "search reached a part of the index: {kind}" + (", {failed} of {total} shards failed" if shards else "")
    if said := {"failed": "search failed: {kind}", "incomplete": part}.get(status):
        logger.warning(said, kind=kind, **shards)
    if (span := tracer.current_span()) is not None:
        tags = {
            "gen_ai.request.top_k": top_k,
            "gen_ai.data_source.id": source,
            "crag.retrieval.status": status,
            "crag.retrieval.failure": kind,
            "crag.retrieval.shards": shards.get("total"),
            "crag.retrieval.shards.failed": shards.get("failed"),
            "crag.retrieval.respelt": found.report.get("respelt"),
        }
        set_tags(span, tags)
    return found
