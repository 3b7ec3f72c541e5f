"""Parts of an answer as they come, for as long as somebody waits for the answer."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import iscoroutinefunction
from threading import Event
from typing import Any, Final

from haystack.dataclasses import StreamingCallbackT, StreamingChunk

from haystack_integrations.crag.replies.parts import join_parts
from haystack_integrations.crag.replies.thoughts import Thoughts

_PATIENCE: Final = 60.0


@contextmanager
def heard(
    callback: StreamingCallbackT | None, asked: object = None, why: list[str] | None = None
) -> Iterator[StreamingCallbackT | None]:
    """
    Pass the parts of an answer on to a callback until the block ends, however it ends.

    A call that is given up cannot be ended: its thread goes on with the model, and would write into an answer that has
    been closed with something else.

    :param callback: A user's callback, which may be a coroutine function; None where nobody listens.
    :param asked: The part that will call it from this event loop's run; one without `run_async` works in a thread, and
        cannot await a coroutine function.
    :param why: Where to note what the parts say on why the model stopped.
    :returns: A callback of the same kind for the model, which does nothing once the block has ended, and is not called
        for what a model thinks before it answers; or None.
    """
    if callback is None:
        yield None
        return
    listener: Any = callback
    over, thoughts = Event(), Thoughts()

    def told_of(chunk: StreamingChunk) -> StreamingChunk | None:
        join_parts(chunk)
        reason = chunk.finish_reason or chunk.meta.get("finish_reason")  # Haystack knows not every server's own words
        if why is not None and reason:
            why.append(str(reason))
        return None if over.is_set() else _without_thought(chunk, thoughts)

    def passed(chunk: StreamingChunk) -> Any:
        told = told_of(chunk)
        return None if told is None else listener(told)

    async def passed_async(chunk: StreamingChunk) -> None:
        told = told_of(chunk)
        if told is not None:
            await listener(told)

    def passed_on(loop: asyncio.AbstractEventLoop) -> Any:
        # Waits for the listener, as one that is awaited does: the parts keep their order and nobody is flooded.
        return lambda chunk: asyncio.run_coroutine_threadsafe(passed_async(chunk), loop).result(_PATIENCE)

    try:
        # By kind, since generators refuse a coroutine function where they cannot await it.
        if not iscoroutinefunction(callback):
            yield passed
        elif asked is None or hasattr(asked, "run_async"):
            yield passed_async
        else:
            yield passed_on(asyncio.get_running_loop())
    finally:
        over.set()


def _without_thought(chunk: StreamingChunk, thoughts: Thoughts) -> StreamingChunk | None:
    """Give a part of an answer without what belongs to a thought; None where nothing is left to tell."""
    if chunk.tool_calls or chunk.tool_call_result or chunk.reasoning:
        return chunk
    content = thoughts.without(chunk.content, last=chunk.finish_reason is not None)
    if chunk.content and not content and chunk.finish_reason is None:
        return None
    return chunk if content == chunk.content else replace(chunk, content=content)
