"""Closing nested parts, each by the doors it has; one that fails keeps none of the others open."""

from asyncio import AbstractEventLoop, get_running_loop, wait_for
from collections.abc import Iterable
from contextlib import AsyncExitStack, ExitStack, suppress
from typing import Any, Final
from weakref import WeakKeyDictionary

_CLIENTS: Final = ("async_client", "_async_client")
_PATIENCE_S: Final = 1.0
_homes: Final[WeakKeyDictionary[Any, AbstractEventLoop]] = WeakKeyDictionary()


def close_all(parts: Iterable[Any]) -> None:
    """
    Release what parts hold.

    :param parts: Components, stores, caches or None; those without a `close` hold nothing.
    :raises Exception: What a part raised, after all have been closed.
    """
    with ExitStack() as stack:
        for part in parts:
            if hasattr(part, "close"):
                stack.callback(part.close)


async def close_all_async(parts: Iterable[Any]) -> None:
    """
    Release what parts hold on this event loop; one that knows no event loops is closed as it can be, as pipelines do.

    :param parts: Components, stores, caches or None.
    :raises Exception: What a part raised, after all have been closed.
    """
    async with AsyncExitStack() as stack:
        for part in parts:
            if hasattr(part, "close_async"):
                stack.push_async_callback(part.close_async)
            elif hasattr(part, "close"):
                stack.callback(part.close)


async def leave_ended_loop(part: Any) -> None:
    """
    Let go of an asynchronous client whose event loop has ended, so that its part makes another one.

    Its connections are of that loop: in a script's second `asyncio.run`, each call fails with `Event loop is closed`.

    :param part: A component or store with such a client, a component that asks several `chat_generators`, or any other.
    """
    loop = get_running_loop()
    for each in (part, *(getattr(part, "chat_generators", None) or ())):
        if not hasattr(each, "close_async"):  # nobody says that it can begin anew
            continue
        with suppress(TypeError):  # nothing that can be remembered
            if _homes.setdefault(each, loop).is_closed():
                _homes[each] = loop
                await _let_go(each)


async def _let_go(part: Any) -> None:
    """Take the client from its part before the first wait: two searches at once share a store."""
    for name in _CLIENTS:
        client = vars(part).get(name)
        if client is not None:
            setattr(part, name, None)
            with suppress(Exception):  # no connection can be closed on a loop that has ended
                await wait_for(client.close(), _PATIENCE_S)
