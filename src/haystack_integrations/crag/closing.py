"""Closing nested parts, each by the doors it has."""

from collections.abc import Iterable
from typing import Any


def close_all(parts: Iterable[Any]) -> None:
    """
    Release what parts hold.

    :param parts: Components, stores, caches or None; those without a `close` hold nothing.
    """
    for part in parts:
        if hasattr(part, "close"):
            part.close()


async def close_all_async(parts: Iterable[Any]) -> None:
    """
    Release what parts hold on this event loop; one that knows no event loops is closed as it can be, as pipelines do.

    :param parts: Components, stores, caches or None.
    """
    for part in parts:
        if hasattr(part, "close_async"):
            await part.close_async()
        else:
            close_all([part])
