"""Parts of an answer as they come, for as long as somebody waits for the answer; and what they cost."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import isawaitable, iscoroutinefunction
from threading import Event
from typing import Any, Final, get_args

from haystack import logging
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage, FinishReason, StreamingCallbackT, StreamingChunk

from haystack_integrations.crag.chat_backed import NoPartsError, ask, ask_async, may_be_the_form, speaks_openai
from haystack_integrations.crag.replies.parts import Halves, join_parts
from haystack_integrations.crag.replies.thoughts import Thoughts

logger = logging.getLogger(__name__)

_PATIENCE: Final = 60.0
_OFTEN_ENOUGH: Final = 2
_USAGE: Final = "stream_options"


class GivenUpError(Exception):
    """Ends a stream that nobody waits for any longer; nobody catches it either."""


@dataclass(frozen=True)
class _Form:
    """How an answer is asked for: in parts where somebody listens, and with what it costs."""

    parts: bool = True
    usage: bool = True


class AnswerModel:
    """
    A chat generator as it is asked for an answer: one in parts with what it costs.

    Servers of OpenAI's API tell the tokens of a stream only where they are asked to. One that refuses to be asked is
    asked again without, at once, and from then on. So is one of which no part comes: some take no notice of `stream`,
    send the answer whole, and their client reads no part in it. After the second in a row no parts are asked for.
    """

    def __init__(self, generator: ChatGenerator) -> None:
        """
        Find out whether the generator's own settings leave the matter open.

        :param generator: The chat generator.
        """
        self.generator = generator
        own: Mapping[str, Any] = getattr(generator, "generation_kwargs", None) or {}
        is_set = _USAGE in own or _USAGE in (own.get("extra_body") or {})
        self._form, self._taken, self._whole = _Form(usage=speaks_openai(generator) and not is_set), False, 0

    @property
    def adds_usage(self) -> bool:
        """Whether a stream of the next answer tells its tokens because of us, and of nobody else."""
        return self._form.usage

    def ask(
        self, messages: Sequence[ChatMessage], seconds: float, callback: StreamingCallbackT | None
    ) -> Mapping[str, Any]:
        """
        Ask for an answer.

        :param messages: What to send.
        :param seconds: The longest wait, a second try included.
        :param callback: Who hears the parts, or None; an answer that came whole is one part.
        :returns: What the generator returns.
        :raises Exception: As `chat_backed.ask`.
        """
        ends, form, again = time.monotonic() + seconds, self._form, True
        while again:
            options = self._options(form, callback)
            try:
                sent, again = ask(self.generator, messages, ends - time.monotonic(), **options), False
            except Exception as error:
                form = self._other(form, options, error, ends)
        for part in self._learned(form, options, sent, callback):
            callback(part)  # type: ignore[misc] # there are parts for somebody only
        return sent

    async def ask_async(
        self, messages: Sequence[ChatMessage], seconds: float, callback: StreamingCallbackT | None
    ) -> Mapping[str, Any]:
        """
        Ask for an answer without blocking the event loop; see `ask`.

        :param messages: What to send.
        :param seconds: The longest wait.
        :param callback: Who hears the parts, or None.
        :returns: As `ask`.
        :raises Exception: As `ask`.
        """
        ends, form, again = time.monotonic() + seconds, self._form, True
        while again:
            options = self._options(form, callback)
            try:
                sent, again = await ask_async(self.generator, messages, ends - time.monotonic(), **options), False
            except Exception as error:
                form = self._other(form, options, error, ends)
        for part in self._learned(form, options, sent, callback):
            told: Any = callback(part)  # type: ignore[misc] # there are parts for somebody only
            if isawaitable(told):
                await told
        return sent

    def _options(self, form: _Form, callback: StreamingCallbackT | None) -> dict[str, Any]:
        """Write the arguments of a call; what a stream costs is asked for of a stream alone, be it the generator's."""
        callback = callback if form.parts else None
        streams = callback is not None or self._streams_itself
        usage = {_USAGE: {"include_usage": True}} if streams and form.usage else None
        return {"streaming_callback": callback, "generation_kwargs": usage}

    @property
    def _streams_itself(self) -> bool:
        return getattr(self.generator, "streaming_callback", None) is not None

    def _other(self, form: _Form, options: Mapping[str, Any], error: Exception, ends: float) -> _Form:
        """Choose the form to ask in again, else raise: where a form was taken once, something else is wrong."""
        if time.monotonic() < ends:
            if options["generation_kwargs"] is not None and not self._taken and may_be_the_form(error):
                return replace(form, usage=False)
            if options["streaming_callback"] is not None and isinstance(error, NoPartsError):
                # A generator's own callback cannot be left out.
                if not self._streams_itself:
                    return replace(form, parts=False)
        raise error

    def _learned(
        self, form: _Form, options: Mapping[str, Any], sent: Mapping[str, Any], callback: StreamingCallbackT | None
    ) -> list[StreamingChunk]:
        """Keep how this answer was got, and give what nobody has heard of it."""
        self._taken |= options["generation_kwargs"] is not None
        if callback is not None:
            # One stream without a part may be chance.
            self._whole = 0 if form.parts else self._whole + 1
            if self._whole == _OFTEN_ENOUGH:
                logger.warning("The chat server sends answers whole, never in parts: no parts are asked for any more")
        self._form = replace(form, parts=self._whole < _OFTEN_ENOUGH)
        return [_whole(reply) for reply in sent["replies"]] if callback is not None and not form.parts else []


def _whole(reply: ChatMessage) -> StreamingChunk:
    """Give an answer that came whole as the one part of it, with what callbacks look for in Haystack's parts."""
    why = reply.meta.get("finish_reason")
    known: Any = why if why in get_args(FinishReason) else "stop"
    meta = {"model": reply.meta.get("model"), "index": 0, "finish_reason": why or known}
    return StreamingChunk(content=reply.text or "", meta=meta, finish_reason=known)


@contextmanager
def heard(
    callback: StreamingCallbackT | None,
    asked: object = None,
    why: list[str] | None = None,
    *,
    adds_usage: bool = False,
) -> Iterator[StreamingCallbackT | None]:
    """
    Pass the parts of an answer on to a callback until the block ends, however it ends.

    A call that is given up cannot be ended from outside: its thread goes on with the model, and would write into an
    answer that has been closed with something else. So its next part ends it: nobody reads what would be paid for.

    :param callback: A user's callback, which may be a coroutine function; None where nobody listens.
    :param asked: The part that will call it from this event loop's run; one without `run_async` works in a thread, and
        cannot await a coroutine function.
    :param why: Where to note what the parts say on why the model stopped.
    :param adds_usage: Whether a part that tells nothing but tokens was asked for by us. It is not told: it lacks what
        Haystack's other parts have, and a callback need not be ready for it.
    :returns: A callback of the same kind for the model, which tells nothing once the block has ended (and ends the
        thread that calls it), nor what a model thinks before it answers; or None.
    """
    if callback is None:
        yield None
        return
    listener: Any = callback
    parts = _Parts(why, adds_usage=adds_usage)

    def passed(chunk: StreamingChunk) -> Any:
        parts.end_thread_if_over()
        told = parts.told_of(chunk)
        return None if told is None else listener(told)

    async def passed_async(chunk: StreamingChunk) -> None:
        told = parts.told_of(chunk)
        if told is not None:
            await listener(told)

    def passed_on(loop: asyncio.AbstractEventLoop) -> Any:
        # Waits for the listener, as one that is awaited does: the parts keep their order and nobody is flooded.
        def told(chunk: StreamingChunk) -> None:
            parts.end_thread_if_over()  # as its event loop may have ended, too
            asyncio.run_coroutine_threadsafe(passed_async(chunk), loop).result(_PATIENCE)

        return told

    try:
        # By kind, since generators refuse a coroutine function where they cannot await it.
        if not iscoroutinefunction(callback):
            yield passed
        elif asked is None or hasattr(asked, "run_async"):
            yield passed_async
        else:
            yield passed_on(asyncio.get_running_loop())
    finally:
        parts.over.set()


class _Parts:
    """What is told of the parts of one answer, until that is over."""

    def __init__(self, why: list[str] | None, *, adds_usage: bool) -> None:
        self.over = Event()
        self._why, self._adds_usage = why, adds_usage
        self._thoughts, self._halves = Thoughts(), Halves()

    def end_thread_if_over(self) -> None:
        if self.over.is_set():
            raise GivenUpError

    def told_of(self, chunk: StreamingChunk) -> StreamingChunk | None:
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
