"""Parts of an answer as they come, for as long as somebody waits for the answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from threading import Event
from typing import Any

from haystack.dataclasses import StreamingCallbackT, StreamingChunk


@contextmanager
def heard(callback: StreamingCallbackT | None) -> Iterator[StreamingCallbackT | None]:
    """
    Pass the parts of an answer on to a callback until the block ends, however it ends.

    A call that is given up cannot be ended: its thread goes on with the model, and would write into an answer that has
    been closed with something else.

    :param callback: A user's callback, which may be a coroutine function; None where nobody listens.
    :returns: A callback of the same kind for the model, which does nothing once the block has ended; or None.
    """
    if callback is None:
        yield None
        return
    listener: Any = callback
    over = Event()

    def passed(chunk: StreamingChunk) -> Any:
        return None if over.is_set() else listener(chunk)

    async def passed_async(chunk: StreamingChunk) -> None:
        if not over.is_set():
            await listener(chunk)

    try:
        # By kind, since generators refuse a coroutine function where they cannot await it.
        yield passed_async if iscoroutinefunction(callback) else passed
    finally:
        over.set()
