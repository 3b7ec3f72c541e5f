"""One call to a chat model: in time, its reply read to a limit and checked, and counted."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final

from haystack import logging
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage, TextContent

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat.failures import (
    NoCompletionError,
    NoPartsError,
    PromptCutError,
    could_not_read,
    kind_of,
)
from haystack_integrations.crag.chat.generators import model_of, reaches_client, speaks_openai, tells_end, uses_openai
from haystack_integrations.crag.deadlines import NoTimeLeftError, run_within, run_within_async
from haystack_integrations.crag.interrupts import ends_run
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.replies.bodies import read_to_a_limit
from haystack_integrations.crag.replies.model_reply import INTERRUPTED
from haystack_integrations.crag.replies.parts import as_text
from haystack_integrations.crag.texts.steering import whole
from haystack_integrations.crag.texts.text import UNSPACED, count_tokens

logger = logging.getLogger(__name__)

_OPENAI_TIMEOUT_S: Final = 30.0
_BEGUN: Final = "completion_start_time"  # of a stream, by Haystack: None where no part of it came
_GRACE_S: Final = 0.5
# A server that tells fewer tells none that it counted; contexts begin at 512, and Ollama keeps a half of its own.
_LEAST_READ: Final = 256
# What Ollama keeps of a prompt that is too long fills its context to the last token, and contexts have such sizes: its
# default, and multiples of it. A whole prompt has this length by chance, now and then: so it teaches nothing.
_CONTEXT: Final = 4_096
# OpenAI's own limit of `n`. Behind us each reply becomes an answer that holds them all, and a server copies it all.
_MOST_REPLIES: Final = 128


def ask(generator: ChatGenerator, messages: Sequence[ChatMessage], seconds: float, **options: Any) -> Mapping[str, Any]:
    """
    Ask a chat model and wait for its reply at most so long, whatever its client's timeouts are.

    :param generator: A chat generator.
    :param messages: What to send.
    :param seconds: The longest wait, in seconds.
    :param options: Further arguments of the generator's `run`; None is left out.
    :returns: What the generator returns; a reply in parts as its text.
    :raises TimeoutError: When there is no reply in time. What the generator raises is raised as it is.
    """
    with _counted(generator) as sent:
        sent.append(run_within(generator, seconds, _arguments(generator, messages, seconds, options)))
        return _completed(generator, as_text(sent[0]), messages)


async def ask_async(
    generator: ChatGenerator, messages: Sequence[ChatMessage], seconds: float, **options: Any
) -> Mapping[str, Any]:
    """
    Ask a chat model without blocking the event loop; see `ask`.

    :param generator: A chat generator; one without `run_async` is called in a thread.
    :param messages: What to send.
    :param seconds: The longest wait, in seconds.
    :param options: As for `ask`.
    :returns: As `ask`.
    :raises TimeoutError: As `ask`.
    """
    with _counted(generator) as sent:
        sent.append(await run_within_async(generator, seconds, _arguments(generator, messages, seconds, options)))
        return _completed(generator, as_text(sent[0]), messages)


@contextmanager
def _counted(generator: ChatGenerator) -> Iterator[list[Mapping[str, Any]]]:
    """Have one call's reply read to a limit, and tell its metrics: what is put into the list is its result."""
    read_to_a_limit(generator)
    provider = "openai" if uses_openai(generator) else type(generator).__name__
    begun, sent, error, asked = time.monotonic(), list[Mapping[str, Any]](), None, True
    try:
        yield sent
    except BaseException as failure:  # a call whose client left (CancelledError) brought no reply either
        told = NoCompletionError() if speaks_openai(generator) and could_not_read(failure) else failure
        asked = not isinstance(failure, NoTimeLeftError)
        error = type(failure).__name__ if ends_run(failure) else kind_of(told)
        if told is not failure:
            raise told from failure
        raise
    finally:
        usage = None
        with suppress(Exception):  # whatever a generator gave: who counts must not hurt
            usage = Usage.of(sent[0]["replies"][0])
        if asked:
            metrics.model_asked(model_of(generator), provider, time.monotonic() - begun, usage, error)


def _completed(generator: ChatGenerator, sent: Mapping[str, Any], messages: Sequence[ChatMessage]) -> Mapping[str, Any]:
    """
    Refuse a reply whose text is none, of whose stream no part came, or to a part of the prompt only.

    One that lacks its server's word on why it ended was cut, and says so. Replies beyond what one can ask for are
    dropped.
    """
    replies = [_own(reply) for reply in (sent.get("replies") or [])[:_MOST_REPLIES]]
    for reply in replies if speaks_openai(generator) else []:
        text: Any = reply.text
        if not text and reply.meta.get(_BEGUN, "") is None:
            raise NoPartsError
        if not isinstance(text, str | None):
            raise NoCompletionError
    by_name = (sent.get("meta") or {}).get("successful_chat_generator_class")  # of a FallbackChatGenerator
    for reply in replies if tells_end(generator, by_name) else []:
        if not reply.meta.get("finish_reason"):
            # Ollama alone says `done`, and what is dropped of its words is `length`.
            reply.meta["finish_reason"] = "length" if reply.meta.get("done") else INTERRUPTED
    for reply in replies[:1]:
        read = _read_of(reply)
        surely = _LEAST_READ <= read < _least_tokens(messages)
        if surely or _filled(read, reply, messages):
            cut = PromptCutError(read, reply, surely=surely)
            logger.warning("{cut}", cut=str(cut))
            raise cut
    return {**sent, "replies": replies} if "replies" in sent else sent


def _own(reply: ChatMessage) -> ChatMessage:
    """Take a copy of a reply: what this run writes on it is not to be in a generator's memory of its answers."""
    return replace(reply, _meta={**reply.meta}) if isinstance(reply, ChatMessage) else reply


def _sendable(message: ChatMessage) -> ChatMessage:
    """Put a sign in the place of half a character: no client can send it, and one document's would cost all others."""
    if all(whole(text) is text for text in message.texts):
        return message
    parts = [replace(one, text=whole(one.text)) if isinstance(one, TextContent) else one for one in message._content]
    return replace(message, _content=parts)


def _read_of(reply: ChatMessage) -> int:
    """Tell how many tokens of its prompt a server read, what it had read before included; 0 where it tells none."""
    usage = reply.meta.get("usage")
    counts = usage.items() if isinstance(usage, dict) else ()
    wanted = [count for name, count in counts if name == "prompt_tokens" or str(name).endswith("input_tokens")]
    return sum(count for count in wanted if isinstance(count, int))


def _filled(read: int, reply: ChatMessage, messages: Sequence[ChatMessage]) -> bool:
    """
    Tell whether what a server read of its prompt is a context full, so that the prompt was cut by however little.

    Servers of chat completions that tell what a count is made of, as OpenAI's and llama.cpp's, refuse such a prompt.
    """
    usage = reply.meta.get("usage") or {}
    if read % _CONTEXT or not read or usage.get("prompt_tokens_details"):
        return False
    # Text of many tokens for its length, such as code, has less than twice as many as estimated.
    return read <= 2 * sum(count_tokens(message.text or "") for message in messages)


def _least_tokens(messages: Sequence[ChatMessage]) -> int:
    """Tell how many tokens a prompt has at least, by any tokenizer: none has one for several words."""
    texts = [message.text or "" for message in messages]
    return sum(max(len(text.split()), len(UNSPACED.findall(text)) // 2) for text in texts)


def _arguments(
    generator: ChatGenerator, messages: Sequence[ChatMessage], seconds: float, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the arguments of one call, with a client timeout that ends a call we have given up."""
    arguments = {
        "messages": [*map(_sendable, messages)],
        **{name: value for name, value in options.items() if value is not None},
    }
    own = getattr(generator, "timeout", None) or _OPENAI_TIMEOUT_S
    if seconds < own and reaches_client(generator):
        # A little later than we give up ourselves: else chance would decide which of the two is told as the reason.
        timeout = min(own, max(0.0, seconds) + _GRACE_S)
        arguments["generation_kwargs"] = {"timeout": timeout, **arguments.get("generation_kwargs", {})}
    return arguments
