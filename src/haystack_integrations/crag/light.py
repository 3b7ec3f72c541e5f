"""Components that only compute, and for less than a hop to another thread costs."""

from asyncio import to_thread
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from functools import partial, wraps
from typing import Any, Final, TypeVar

from haystack.components.builders import AnswerBuilder
from haystack.components.joiners import BranchJoiner, DocumentJoiner

from haystack_integrations.crag.homes import (
    anew_in_children,
    at_home,
    begins_anew,
    first_alone,
    first_alone_async,
    searching,
    store_of,
)

Kind = TypeVar("Kind", bound=type)

_LIGHT: Final = (AnswerBuilder, BranchJoiner, DocumentJoiner)
"""Haystack's own that have no `run_async`: they hand on, merge lists, or put an answer together."""
_SERVERS: Final = ("host", "url", "location")
"""The settings by which stores that can do without a server are told one."""


def light(kind: Kind) -> Kind:
    """
    Give a component a `run_async` that is its `run`, to stand below `@component`.

    Haystack hands a component without one to a pool of a few threads, which all requests of a server share. For what
    computes a fraction of a millisecond and waits for nothing, the way there and back costs more than the work.

    :param kind: A class whose `run` neither waits nor computes for long.
    :returns: The class, with `run_async` of the same signature.
    """
    made: Any = kind
    run = made.run

    @wraps(run)  # with the signature and the output types, which Haystack compares
    async def run_async(self: Any, *args: Any, **inputs: Any) -> Any:
        of_class: Any = type(self)
        if of_class.run is run or of_class.run_async is not run_async:
            return run(self, *args, **inputs)
        # Who inherits this has a `run` of its own, which may wait: as Haystack does, it is run in a thread.
        return await to_thread(of_class.run, self, *args, **inputs)

    made.run_async = run_async
    return kind


def stay_on_loop(part: Any) -> None:
    """
    Give one of Haystack's own components that only compute a `run_async` that is its `run`.

    A run of `corrective_rag` meets five of them. Where many runs share an event loop, the way to a thread and back is a
    wait for Python's lock at either end, and the thread could not have computed beside the loop either.

    :param part: Any component; all others stay as they are.
    """
    if type(part) in _LIGHT and not hasattr(part, "run_async"):
        part.run_async = partial(_at_once, part.run)


def search_in_thread(part: Any) -> None:
    """
    Give a retriever of a store without a server a `run_async` that is its `run`, in a thread.

    The asynchronous client of such a store is none of the same documents: Chroma's refuses to be made, and that of
    Qdrant's `:memory:` opens a second store, which is empty, so every question would read as one without an answer.

    :param part: Any component, or one with such a retriever inside; all others stay as they are.
    """
    for retriever in searching(part):
        store, known = store_of(retriever), getattr(getattr(retriever, "run_async", None), "func", None)
        is_open = store is not None and hasattr(retriever, "run_async") and known not in (to_thread, _at_home)
        if is_open and _servers_of(store) == {""}:
            retriever.run_async = partial(to_thread, retriever.run)


def search_at_home(part: Any) -> None:
    """
    Have embedders and retrievers of others heed where their clients are at home, as our components do.

    :param part: Any component, or one with an embedder or a retriever inside; all others stay as they are.
    """
    chain = searching(part)
    embedders = [embedder for one in chain if (embedder := getattr(one, "text_embedder", None)) is not None]
    for embedder in embedders:  # no stores: documents may be in a client, as Qdrant's
        anew_in_children(embedder)
    for each in (*embedders, *(one for one in chain if one is not part or store_of(one))):
        if hasattr(each, "run_async") and begins_anew(each) and getattr(each.run_async, "func", None) is not _at_home:
            store = store_of(each)
            holders = [holder for holder in (each, store) if holder is not None]
            has_server = begins_anew(store) and any(_servers_of(store))  # else documents may be in a client
            each.run_async = partial(_at_home, holders, has_server, each.run_async)
            if has_server:
                each.run = partial(_first_alone, store, each.run)


async def _at_home(holders: list[Any], has_server: bool, run_async: Any, **inputs: Any) -> Any:
    are_here = [await at_home(holder) for holder in holders]
    if not all(are_here):
        return await to_thread(holders[0].run, **inputs)
    async with first_alone_async(holders[-1]) if has_server else nullcontext():
        return await run_async(**inputs)


def _first_alone(store: Any, run: Any, *args: Any, **inputs: Any) -> Any:
    with first_alone(store):
        return run(*args, **inputs)


def _servers_of(store: Any) -> set[str]:
    """Read from a store's settings which servers it is told, "" for none; a store that says nothing has no entry."""
    known: Mapping[str, Any] = {}
    with suppress(Exception):  # a store that cannot be written down
        known = store.to_dict()["init_parameters"]
    return {"" if known[name] in (None, ":memory:") else str(known[name]) for name in _SERVERS if name in known}


async def _at_once(run: Any, **inputs: Any) -> Any:
    return run(**inputs)
