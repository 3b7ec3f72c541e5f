"""Parts of an answer as they come, for as long as somebody waits for the answer."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from inspect import isawaitable, iscoroutinefunction
from threading import Event
from typing import Any, Final

from haystack.dataclasses import StreamingCallbackT, StreamingChunk

from haystack_integrations.crag.chat import CallError
from haystack_integrations.crag.deadlines import EndOfThread, in_caller
from haystack_integrations.crag.replies.parts import Halves, join_parts
from haystack_integrations.crag.replies.thoughts import Thoughts

_PATIENCE: Final = 60.0


class ListenerError(CallError):
    """A user's own callback raised: no failure of the model, whatever the error reads like."""

    def __init__(self, error: Exception) -> None:
        """Name the way out; the kind is for log and record."""
        super().__init__("streaming_callback")
        self.args = (f"the streaming_callback raised {type(error).__name__}; mend it there, or leave it out",)


class ListenerStop(BaseException):
    """A listener's error on its way past whoever goes on after a failure, as a FallbackChatGenerator with its next."""

    def __init__(self, error: Exception) -> None:
        """Keep the error."""
        super().__init__()
        self.error = error


@contextmanager
def heard(
    callback: StreamingCallbackT | None,
    why: list[str] | None = None,
    *,
    in_thread: bool = False,
    adds_usage: bool = False,
) -> Iterator[StreamingCallbackT | None]:
    """
    Pass the parts of an answer on to a callback until the block ends, however it ends.

    A call that is given up cannot be ended from outside: its thread goes on with the model, and would write into an
    answer that has been closed with something else. So its next part ends it: nobody reads what would be paid for.

    :param callback: A user's callback, which may be a coroutine function; None where nobody listens.
    :param why: Where to note what the parts say on why the model stopped.
    :param in_thread: Whether a thread beside this event loop calls it, which cannot await a coroutine function.
    :param adds_usage: Whether a part that tells nothing but tokens was asked for by us. It is not told: it lacks what
        Haystack's other parts have, and a callback need not be ready for it.
    :returns: A callback of the same kind for the model, which tells nothing once the block has ended (and ends the
        thread that calls it), nor what a model thinks before it answers; or None.
    :raises ListenerError: Where the user's callback raised.
    """
    if callback is None:
        yield None
        return
    parts = _Parts(callback, why, adds_usage=adds_usage)
    try:
        if in_thread:
            yield parts.passed_on(asyncio.get_running_loop())
        else:  # by kind, since generators refuse a coroutine function where they cannot await it
            yield parts.passed_async if is_awaited(callback) else parts.passed
    except ListenerStop as stop:
        raise ListenerError(stop.error) from stop.error
    finally:
        parts.over.set()


def is_awaited(listener: object) -> bool:
    """
    Tell whether a callback is a coroutine function, or an object that is called by one.

    :param listener: A callback, or None.
    :returns: Whether it hears nothing where nobody awaits it.
    """
    return iscoroutinefunction(listener) or iscoroutinefunction(getattr(listener, "__call__", None))  # noqa: B004


class _Parts:
    """What a listener is told of the parts of one answer, until that is over."""

    def __init__(self, listener: Any, why: list[str] | None, *, adds_usage: bool) -> None:
        self.over = Event()
        self._listener, self._why, self._adds_usage = listener, why, adds_usage
        self._thoughts, self._halves = Thoughts(), Halves()

    def passed(self, chunk: StreamingChunk) -> Any:
        self._end_thread_if_over()
        if (told := self._told_of(chunk)) is None:
            return None
        return in_caller(lambda: self._heard(told))

    async def passed_async(self, chunk: StreamingChunk) -> None:
        if (told := self._told_of(chunk)) is not None and isawaitable(hearing := self._heard(told)):
            try:
                await hearing
            except Exception as error:
                raise ListenerStop(error) from None

    def _heard(self, told: StreamingChunk) -> Any:
        try:
            return self._listener(told)
        except Exception as error:
            raise ListenerStop(error) from None

    def passed_on(self, loop: asyncio.AbstractEventLoop) -> Any:
        """Wait for a listener on another loop, as one that is awaited does: parts keep their order, in no flood."""

        def told(chunk: StreamingChunk) -> None:
            self._end_thread_if_over()  # as its event loop may have ended, too
            asyncio.run_coroutine_threadsafe(self.passed_async(chunk), loop).result(_PATIENCE)

        return told

    def _end_thread_if_over(self) -> None:
        if self.over.is_set():
            raise EndOfThread  # no error: a FallbackChatGenerator would ask its next model, for money and for nobody

    def _told_of(self, chunk: StreamingChunk) -> StreamingChunk | None:
        join_parts(chunk)
        reason = chunk.finish_reason or chunk.meta.get("finish_reason")  # Haystack knows not every server's own words
        if self._why is not None and reason:
            self._why.append(str(reason))
        is_unasked = self._adds_usage and "usage" in chunk.meta and "finish_reason" not in chunk.meta
        return None if self.over.is_set() or is_unasked else _without_thought(chunk, self._thoughts, self._halves)


def _without_thought(chunk: StreamingChunk, thoughts: Thoughts, halves: Halves) -> StreamingChunk | None:
    """Give a part of an answer without what belongs to a thought; None where nothing is left to tell."""
    if chunk.tool_calls or chunk.tool_call_result or chunk.reasoning:
        return chunk
    last = chunk.finish_reason is not None
    content = thoughts.without(halves.joined(chunk.content, last=last), last=last)
    if chunk.content and not content and chunk.finish_reason is None:
        return None
    return chunk if content == chunk.content else replace(chunk, content=content)
