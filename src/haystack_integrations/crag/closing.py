"""Closing nested parts, each by the doors it has; one that fails keeps none of the others open."""

from collections.abc import Iterable
from contextlib import AsyncExitStack, ExitStack
from typing import Any


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
