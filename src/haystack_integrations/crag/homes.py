"""Where the clients of a part are at home: its asynchronous one on one event loop, and all of them in one process."""

import os
from asyncio import AbstractEventLoop, get_running_loop, wait_for
from asyncio import Lock as LoopLock
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

# The last two are one's in Weaviate's store, and in Tavily's web search.
_ASYNC_CLIENTS: Final = ("async_client", "_async_client", "_async_collection", "_async_tavily_client")
_OWN_CLIENTS: Final = ("client", "_client", "_collection")
_CLIENTS: Final = (*_OWN_CLIENTS, *_ASYNC_CLIENTS)
_PATIENCE_S: Final = 1.0
_WAIT_S: Final = 5.0  # for a first search that hangs; its thread cannot be ended
_LINKS: Final = 4  # longer chains are rings, or stand-ins that have whatever they are asked for


@dataclass
class _Door:
    """Before a store: until a first search came through, one at a time may try."""

    is_open: bool = False
    lock: Lock = field(default_factory=Lock)
    loop_lock: LoopLock = field(default_factory=LoopLock)
    loop: AbstractEventLoop | None = None


_homes: Final[WeakKeyDictionary[Any, AbstractEventLoop]] = WeakKeyDictionary()
_doors: Final[WeakKeyDictionary[Any, _Door]] = WeakKeyDictionary()
_doors_on_loops: Final[WeakKeyDictionary[Any, _Door]] = WeakKeyDictionary()
_known: Final[WeakSet[Any]] = WeakSet()
_entered: Final[ContextVar[frozenset[int]]] = ContextVar("crag_entered", default=frozenset())
_of_parent: Final[list[Any]] = []
_lock = Lock()


async def at_home(part: Any) -> bool:
    """
    Tell whether a part may be asked on this event loop, and let go of an asynchronous client whose loop has ended.

    Its connections are of the loop that opened them. In a script's second `asyncio.run` each call fails with `Event
    loop is closed`; in a thread with a loop of its own, as Flask has for each request, calls fail or hang.

    :param part: A component or store with such a client, a component that asks several `chat_generators`, or any other.
    :returns: False where another loop, which goes on, has the client; there is `run`, whose client knows no loops.
    """
    for each in asked_by(part):
        for client in _left_behind(each):
            with suppress(Exception):  # no connection can be closed on a loop that has ended
                await wait_for(client.close(), _PATIENCE_S)
    here = get_running_loop()
    return all(_home(each, here) is here for each in asked_by(part))


async def runs_here(part: Any) -> bool:
    """
    Tell whether a component is run on this event loop, else in a thread by its `run`.

    :param part: As for `at_home`.
    :returns: Whether it has a `run_async`, and is at home.
    """
    return hasattr(part, "run_async") and await at_home(part)


def anew_in_children(part: Any) -> None:
    """
    Have a part make clients of its own in each process that is forked from now on, as a pool's or Gunicorn's are.

    Two processes that read from one connection get each other's replies, such as an answer to somebody else's question.

    :param part: As for `at_home`, before it is asked.
    """
    for each in asked_by(part):
        if hasattr(each, "close") or begins_anew(each):
            with suppress(TypeError):  # nothing that can be remembered
                _known.add(each)


@contextmanager
def first_alone(store: Any) -> Iterator[None]:
    """
    Let the first search open a store's client before others come, and let go of a client that it could not open.

    Weaviate's store gives away a client that is still connecting, and keeps for ever one that could not: of twenty
    first questions nineteen failed, and after a question while the server was down all.

    :param store: A store of a server, so that no document is in the client.
    """
    door = _door_before(store, _doors)
    with _entering(store) as is_outer, ExitStack() as alone:
        if is_outer and not door.is_open and door.lock.acquire(timeout=_WAIT_S):
            alone.callback(door.lock.release)
            if door.is_open:
                alone.close()
        try:
            yield
        except Exception:
            for client in () if door.is_open else _taken(store, _OWN_CLIENTS):
                with suppress(Exception):
                    client.close()
            raise
        door.is_open = True


@asynccontextmanager
async def first_alone_async(store: Any) -> AsyncIterator[None]:
    """
    Let the first search of an event loop open a store's asynchronous client; see `first_alone`.

    :param store: As `first_alone`; it is at home here.
    """
    door = _door_before(store, _doors_on_loops, get_running_loop())
    with _entering(store) as is_outer:
        async with AsyncExitStack() as alone:
            if is_outer and not door.is_open:
                await alone.enter_async_context(door.loop_lock)
                if door.is_open:
                    await alone.aclose()
            try:
                yield
            except BaseException:  # also when it took too long: that client may be stuck
                for client in () if door.is_open else _taken(store, _ASYNC_CLIENTS):
                    with suppress(Exception):
                        await wait_for(client.close(), _PATIENCE_S)
                raise
            door.is_open = True


def _door_before(store: Any, doors: WeakKeyDictionary[Any, _Door], loop: AbstractEventLoop | None = None) -> _Door:
    with _lock, suppress(TypeError):
        door = doors.get(store)
        if door is None or door.loop is not loop:
            door = doors[store] = _Door(loop=loop)
        return door
    return _Door(is_open=True)  # nothing that can be remembered, as of a dataclass


@contextmanager
def _entering(store: Any) -> Iterator[bool]:
    """Tell whether a search is within no other one of its store, as in a retriever around one: those never wait."""
    entered = _entered.get()
    token = _entered.set(entered | {id(store)})
    try:
        yield id(store) not in entered
    finally:
        _entered.reset(token)


def links(part: Any) -> list[Any]:
    """
    Give a retriever and those inside it, each in the one before, such as a store's own in one that reports.

    :param part: Any component.
    :returns: It, then what it has as `retriever`, and so on.
    """
    chain = [part]
    while len(chain) < _LINKS and (inner := getattr(chain[-1], "retriever", None)) is not None:
        chain.append(inner)
    return chain


def searching(part: Any) -> list[Any]:
    """
    Give a retriever and all that search for it: those inside it, and those that a MultiRetriever has side by side.

    :param part: Any component.
    :returns: It, and they.
    """
    chain = links(part)
    several = getattr(chain[-1], "retrievers", None)
    beside = several.values() if isinstance(several, dict) and len(chain) < _LINKS else ()
    return [*chain, *(each for one in beside for each in links(one))]


def store_of(retriever: Any) -> Any:
    """
    Give the store that a retriever searches; Haystack's for Elasticsearch and others keep it to themselves.

    :param retriever: Any component.
    :returns: Its store, None of one that shows none.
    """
    return getattr(retriever, "document_store", getattr(retriever, "_document_store", None))


def _left_behind(part: Any) -> list[Any]:
    """Make this loop the part's home where its own has ended; its client is taken before the first wait."""
    here = get_running_loop()
    with _lock:
        if not _home(part, here).is_closed():
            return []
        _homes[part] = here
        return _taken(part, _ASYNC_CLIENTS)


def _home(part: Any, here: AbstractEventLoop) -> AbstractEventLoop:
    if begins_anew(part):
        with suppress(TypeError):
            return _homes.setdefault(part, here)
    return here


def begins_anew(part: Any) -> bool:
    """
    Tell whether a part makes another asynchronous client when its own was taken; nobody else would.

    :param part: Any component or store.
    :returns: Whether it says so, by closing one or, as Cohere's which close none, by making one when it is wanted.
    """
    return hasattr(part, "close_async") or (
        hasattr(part, "warm_up_async") and not vars(part).keys().isdisjoint(_CLIENTS)
    )


def _taken(part: Any, names: tuple[str, ...]) -> list[Any]:
    clients = {name: client for name in names if (client := vars(part).get(name)) is not None}
    for name in clients:
        setattr(part, name, None)
    return list(clients.values())


def asked_by(part: Any) -> tuple[Any, ...]:
    """
    Give a component and those that it asks in turn, as a FallbackChatGenerator does its `chat_generators`.

    :param part: Any component or store.
    :returns: It, and they.
    """
    return (part, *(getattr(part, "chat_generators", None) or ()))


def _leave_parent() -> None:
    """Take clients from their parts in a new process. Closed, one may wait here for a thread that is not here."""
    global _lock  # noqa: PLW0603 - perhaps a thread of the parent had it
    _lock = Lock()
    for parts, names in ((_known, _CLIENTS), (_homes, _ASYNC_CLIENTS)):
        for part in list(parts):
            _of_parent.extend(_taken(part, names))
    for kept in (_homes, _doors, _doors_on_loops):
        kept.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which forks nothing
    os.register_at_fork(after_in_child=_leave_parent)
