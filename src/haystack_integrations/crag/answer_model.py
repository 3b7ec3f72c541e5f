"""A chat generator as it is asked for an answer: in parts, with what they cost, or whole where no parts come."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from math import inf
from typing import Any, Final, get_args

from haystack import logging
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage, FinishReason, StreamingCallbackT, StreamingChunk

from haystack_integrations.crag.answer_prompt import AnswerPrompt
from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat import (
    NoPartsError,
    PromptCutError,
    Room,
    ask,
    ask_async,
    believed_until,
    cost_of,
    kind_of,
    may_be_the_form,
    refused_at_once,
    speaks_openai,
    surely_too_long,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.homes import runs_here
from haystack_integrations.crag.streaming import is_awaited
from haystack_integrations.crag.vocabulary import FEWER

logger = logging.getLogger(__name__)

_OFTEN_ENOUGH: Final = 2
_USAGE: Final = "stream_options"


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
    send the answer whole, and their client reads no part in it. After the second in a row no parts are asked for; for
    ten minutes, where parts came before. A prompt that is too long for the model's context is asked again with fewer
    passages, and those of the next ten minutes are shorter.
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
        self._room, self._heard, self._parts_from = Room(), False, 0.0

    @property
    def adds_usage(self) -> bool:
        """Whether a stream of the next answer tells its tokens because of us, and of nobody else."""
        return self._form.usage

    def ask(
        self,
        messages: Sequence[ChatMessage],
        seconds: float,
        callback: StreamingCallbackT | None,
        tried: list[Usage],
    ) -> Mapping[str, Any]:
        """
        Ask for an answer.

        :param messages: What to send.
        :param seconds: The longest wait, a second try included.
        :param callback: Who hears the parts, or None; an answer that came whole is one part.
        :param tried: Where to note what each call cost that was made in vain before the last one, whatever that brings.
        :returns: What the generator returns; its replies' metadata says where they are from fewer passages.
        :raises ConfigurationError: For a callback that nobody can await here.
        :raises Exception: As `chat.ask`.
        """
        self._check_not_awaited(callback)
        ends, form, prompt, again = time.monotonic() + seconds, self._begin(), self._fitting(messages), True
        while again:
            options = self._options(form, callback)
            try:
                sent, again = ask(self.generator, prompt.messages, ends - time.monotonic(), **options), False
            except Exception as error:
                form, prompt = self._other(form, prompt, options, error, ends)
                tried.append(_cost(error))
        self._found_room(prompt, sent)
        for part in self._learned(form, options, sent, callback):
            callback(part)  # type: ignore[misc] # there are parts for somebody only
        return sent

    async def ask_async(
        self,
        messages: Sequence[ChatMessage],
        seconds: float,
        callback: StreamingCallbackT | None,
        tried: list[Usage],
    ) -> Mapping[str, Any]:
        """
        Ask for an answer without blocking the event loop; see `ask`.

        :param messages: What to send.
        :param seconds: The longest wait.
        :param callback: Who hears the parts, or None.
        :param tried: As for `ask`.
        :returns: As `ask`.
        :raises Exception: As `ask`.
        """
        ends, form, prompt, again = time.monotonic() + seconds, self._begin(), self._fitting(messages), True
        while again:
            options, left = self._options(form, callback), ends - time.monotonic()
            try:
                sent, again = await ask_async(self.generator, prompt.messages, left, **options), False
            except Exception as error:
                form, prompt = self._other(form, prompt, options, error, ends)
                tried.append(_cost(error))
        self._found_room(prompt, sent)
        listener: Any = callback
        for part in self._learned(form, options, sent, callback):
            if not await runs_here(self.generator):  # it calls from a thread of its own, and its callback may wait
                await asyncio.to_thread(listener, part)
            elif isawaitable(told := listener(part)):
                await told
        return sent

    def _begin(self) -> _Form:
        """Choose how to ask first: a server that sends no parts for now, though it did, is tried again later."""
        if not self._form.parts and time.monotonic() >= self._parts_from:
            self._form, self._whole = replace(self._form, parts=True), 0
        return self._form

    def _check_not_awaited(self, callback: object) -> None:
        """Refuse what generators refuse, before it passes for a model that failed."""
        own = {"the chat generator's own streaming_callback": self._own_listener}
        for name, listener in {"streaming_callback": callback, **own}.items():
            if is_awaited(listener):
                msg = f"got a coroutine function as {name}, which run cannot await; pass a function, or call run_async"
                raise ConfigurationError(msg)

    def _options(self, form: _Form, callback: StreamingCallbackT | None) -> dict[str, Any]:
        """Write the arguments of a call; what a stream costs is asked for of a stream alone, be it the generator's."""
        callback = callback if form.parts else None
        usage = {_USAGE: {"include_usage": True}} if form.usage and self.listener(callback) is not None else None
        return {"streaming_callback": callback, "generation_kwargs": usage}

    @property
    def _own_listener(self) -> StreamingCallbackT | None:
        own: StreamingCallbackT | None = getattr(self.generator, "streaming_callback", None)
        return own

    def listener(self, callback: StreamingCallbackT | None) -> StreamingCallbackT | None:
        """
        Choose who hears the parts: what they say on how the answer ended is looked at on the way.

        :param callback: Who wants to hear this answer, or None.
        :returns: The same; else the generator's own callback, or None where nobody listens.
        """
        return self._own_listener if callback is None else callback

    def _other(
        self, form: _Form, prompt: AnswerPrompt, options: Mapping[str, Any], error: Exception, ends: float
    ) -> tuple[_Form, AnswerPrompt]:
        """Choose what to ask in its place, else raise: where a form was taken once, something else is wrong."""
        if kind_of(error) == "context_length":
            if surely_too_long(error):
                self._room.refused(prompt.size)
            # Behind a status no part was heard; a server that cuts a prompt, or stops within a stream, has sent some.
            is_unheard = self.listener(options["streaming_callback"]) is None or refused_at_once(error)
            # A refusal costs next to nothing, so little is given up at a time; an answer to what was cut is paid for.
            share = 0.5 if isinstance(error, PromptCutError) else 0.75
            fewer = prompt.shorter(share * prompt.size) if is_unheard and time.monotonic() < ends else None
            if fewer is None:
                raise error
            logger.warning("The prompt is too long for the model: asked with {n} passages", n=len(fewer.shown or ()))
            return form, fewer
        if time.monotonic() >= ends:
            raise error
        if options["generation_kwargs"] is not None and not self._taken and may_be_the_form(error):
            return replace(form, usage=False), prompt
        # A generator's own callback cannot be left out.
        is_ours = options["streaming_callback"] is not None and self._own_listener is None
        if is_ours and isinstance(error, NoPartsError):
            return replace(form, parts=False), prompt
        raise error

    def _fitting(self, messages: Sequence[ChatMessage]) -> AnswerPrompt:
        """Write a prompt as long as the model's context allows, where that is known from an earlier one."""
        prompt, room = AnswerPrompt(messages), self._room.within(inf)
        is_long = room < inf and prompt.size > room
        return (prompt.shorter(room) if is_long else None) or prompt

    def _found_room(self, prompt: AnswerPrompt, sent: Mapping[str, Any]) -> None:
        """Learn how long a prompt may be, and mark the answer to one with fewer passages."""
        if self._room.is_known:
            self._room.took(prompt.size)
        for reply in sent["replies"] if prompt.shown is not None else ():
            reply.meta[FEWER] = {"shown": list(prompt.shown or ())}

    def _learned(
        self, form: _Form, options: Mapping[str, Any], sent: Mapping[str, Any], callback: StreamingCallbackT | None
    ) -> list[StreamingChunk]:
        """Keep how this answer was got, and give what nobody has heard of it."""
        self._taken |= options["generation_kwargs"] is not None
        if callback is not None:
            # One stream without a part may be chance; two of a server that sends parts, another behind its proxy.
            self._heard |= form.parts
            self._whole = 0 if form.parts else self._whole + 1
            if self._whole == _OFTEN_ENOUGH:
                self._parts_from = believed_until(taken=self._heard)
                logger.warning("The chat server sends answers whole, never in parts: no parts are asked for now")
        self._form = replace(form, parts=self._whole < _OFTEN_ENOUGH)
        return [_whole(reply) for reply in sent["replies"]] if callback is not None and not form.parts else []


def _cost(error: Exception) -> Usage:
    """Tell what a call in vain cost: itself, and tokens where a server cut its prompt and replied all the same."""
    return Usage(llm_calls=1) + cost_of(error)


def _whole(reply: ChatMessage) -> StreamingChunk:
    """Give an answer that came whole as the one part of it, with what callbacks look for in Haystack's parts."""
    why = reply.meta.get("finish_reason")
    known: Any = why if why in get_args(FinishReason) else "stop"
    meta = {"model": reply.meta.get("model"), "index": 0, "finish_reason": why or known}
    return StreamingChunk(content=reply.text or "", meta=meta, finish_reason=known)
