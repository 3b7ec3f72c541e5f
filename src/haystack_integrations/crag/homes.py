"""Where the clients of a part are at home: its asynchronous one on one event loop, and all of them in one process."""

import os
from asyncio import AbstractEventLoop, get_running_loop, wait_for
from contextlib import suppress
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

_ASYNC_CLIENTS: Final = ("async_client", "_async_client")
_CLIENTS: Final = ("client", "_client", *_ASYNC_CLIENTS)
_PATIENCE_S: Final = 1.0
_LINKS: Final = 4  # longer chains are rings, or stand-ins that have whatever they are asked for
_homes: Final[WeakKeyDictionary[Any, AbstractEventLoop]] = WeakKeyDictionary()
_known: Final[WeakSet[Any]] = WeakSet()
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
    for each in _asked_by(part):
        for client in _left_behind(each):
            with suppress(Exception):  # no connection can be closed on a loop that has ended
                await wait_for(client.close(), _PATIENCE_S)
    here = get_running_loop()
    return all(_home(each, here) is here for each in _asked_by(part))


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
    for each in _asked_by(part):
        if hasattr(each, "close") or begins_anew(each):
            with suppress(TypeError):  # nothing that can be remembered
                _known.add(each)


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


def _asked_by(part: Any) -> tuple[Any, ...]:
    return (part, *(getattr(part, "chat_generators", None) or ()))


def _leave_parent() -> None:
    """Take clients from their parts in a new process. Closed, one may wait here for a thread that is not here."""
    global _lock  # noqa: PLW0603 - perhaps a thread of the parent had it
    _lock = Lock()
    for parts, names in ((_known, _CLIENTS), (_homes, _ASYNC_CLIENTS)):
        for part in list(parts):
            _of_parent.extend(_taken(part, names))
    _homes.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which forks nothing
    os.register_at_fork(after_in_child=_leave_parent)
