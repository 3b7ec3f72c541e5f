"""Who reads the queries of an expander: where nobody there can search, no model is asked to write one."""

from typing import Any, Final

from haystack_integrations.crag.sockets import leads_on, pipeline_of, sockets_of, tell_of_dead_end
from haystack_integrations.crag.vocabulary import WEB

_QUERIES: Final = ("query", "queries")


def can_be_searched(expander: Any) -> bool:
    """
    Tell whether anything that the expander's queries go to could search for them now.

    :param expander: The component; its pipeline knows what it is connected to.
    :returns: False only where all of them say that they cannot, by `can_be_asked`, as WebFallback does without a web
        search that is set up. What cannot tell is taken to search.
    """
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
