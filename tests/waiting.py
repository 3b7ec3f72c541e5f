"""Waiting for what happens elsewhere: as long as a slow machine needs, and no longer than it takes."""

import asyncio
import time
from collections.abc import Callable

PATIENCE = 60.0


def eventually(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Wait until something holds; whether it does."""
    end = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < end:
        time.sleep(0.02)
    return holds


async def eventually_async(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """The same without holding the event loop."""
    end = time.monotonic() + seconds
    while not (holds := bool(condition())) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return holds
