"""Who reads the queries of an expander: whether anybody there can search, and for one query or for several."""

from typing import Any, Final
from weakref import WeakSet

from haystack import logging

from haystack_integrations.crag.expansion.options import SEVERAL
from haystack_integrations.crag.sockets import leads_nowhere, leads_on, pipeline_of, sockets_of, tell_of_dead_end
from haystack_integrations.crag.vocabulary import WEB

logger = logging.getLogger(__name__)

_QUERIES: Final = ("query", "queries")
_told: "WeakSet[Any]" = WeakSet()


def tell_of_lost(expander: Any) -> bool:
    """
    Warn where several queries are chosen and one goes on; once for each expander, as it is no matter of one run.

    :param expander: The component, connected.
    :returns: Whether of several only one would be searched for.
    """
    alone = leads_nowhere(expander, "queries", "query")
    if alone and (expander.keep_original or expander.mode in SEVERAL) and expander not in _told:
        _told.add(expander)
        logger.warning(
            "Of several queries of QueryExpander one is searched for, since its output queries leads nowhere; connect "
            "it to a retriever of several, or choose another mode, without keep_original"
        )
    return alone


def read_by(expander: Any) -> dict[str, bool]:
    """
    Tell who reads the queries.

    :param expander: The component; its pipeline knows what it is connected to.
    :returns: For an `Expansion`: `searched`, whether anybody could search for them now: where nobody could, no model is
        asked to write one; and `alone`, whether of several only one would be searched for.
    """
    return {"searched": _can_be_searched(expander), "alone": tell_of_lost(expander)}


def _can_be_searched(expander: Any) -> bool:
    """Tell it by `can_be_asked`, as WebFallback has it; what cannot tell is taken to search."""
    pipeline, sockets = pipeline_of(expander), sockets_of(expander, "output") or {}
    names = {name for socket in _QUERIES for name in sockets[socket].receivers}
    readers = [pipeline.get_component(name) for name in names] if pipeline is not None else []
    return not readers or any(getattr(reader, "can_be_asked", True) for reader in readers)


def ended(expander: Any, result: dict[str, Any]) -> dict[str, Any]:
    """
    Warn where the loop ends for want of another query, and nothing is connected that would end the run; or that is
    asked the next one.

    :param expander: The component.
    :param result: What it gives.
    :returns: The same.
    """
    # A web that gets no query is asked all the same, by the question in the state.
    if expander.mode != WEB and "exhausted" in result:
        tell_of_dead_end(expander, "exhausted", *_QUERIES)
    elif expander.mode != WEB and not leads_on(expander, "queries"):
        tell_of_dead_end(expander, "query", "exhausted")
    return result
