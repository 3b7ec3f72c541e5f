"""What every component with a nested chat generator does the same way: check, warm up, ask in time, close."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from json import JSONDecodeError
from typing import Any, Final

from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.closing import close_all, close_all_async, leave_ended_loop
from haystack_integrations.crag.copying import Copied
from haystack_integrations.crag.deadlines import NoTimeLeftError, run_within, run_within_async
from haystack_integrations.crag.errors import ConfigurationError, tls_failure
from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.replies.bodies import read_to_a_limit
from haystack_integrations.crag.replies.parts import as_text

_OPENAI_TIMEOUT_S: Final = 30.0
_BEGUN: Final = "completion_start_time"  # of a stream, by Haystack: None where no part of it came
_GRACE_S: Final = 0.5
_CONTEXT_WORDS: Final = ("context_length", "context length", "maximum context", "too many tokens")
_REFUSALS: Final = frozenset({400, 404, 415, 422, 501})
_KINDS: Final = {"LengthFinishReasonError": "length", "ContentFilterFinishReasonError": "content_filter"}


class CallError(Exception):
    """A call to a model that brings no reply, for a reason that is no client's: `kind` names it."""

    def __init__(self, kind: str) -> None:
        """Keep the kind, which is all there is to tell."""
        super().__init__(kind)
        self.kind = kind


class NoCompletionError(CallError, ValueError):
    """What a server of OpenAI's API sent is no chat completion: a proxy's page, an error with status 200, no JSON."""

    def __init__(self) -> None:
        """Name the way out; the kind is for log and record."""
        super().__init__("no_completion")
        self.args = ("the reply is not a chat completion; check the address (most end in /v1) and any proxy before it",)


class NoPartsError(NoCompletionError):
    """A stream without a part in it: a server that takes no notice of `stream` has sent its completion whole."""


class ChatBacked(Copied):
    """
    Forwards the life cycle to `self.chat_generator`, and the end of it to `self.cache` where there is one.

    Keys are resolved at warm-up, not in constructors.
    """

    chat_generator: ChatGenerator

    def warm_up(self) -> None:
        """Make the chat generator ready."""
        part = self._asked()
        if hasattr(part, "warm_up"):
            part.warm_up()

    async def warm_up_async(self) -> None:
        """Make the chat generator ready on this event loop."""
        await leave_ended_loop(part := self._asked())
        if hasattr(part, "warm_up_async"):
            await part.warm_up_async()
        else:
            self.warm_up()

    def close(self) -> None:
        """Release what chat generator and cache hold."""
        close_all(self._held())

    async def close_async(self) -> None:
        """Release what chat generator and cache hold on this event loop."""
        await close_all_async(self._held())

    def _asked(self) -> Any:
        """Give the part that is asked: what a subclass asks may be another one, or none."""
        return self.chat_generator

    def _held(self) -> list[Any]:
        return [self._asked(), getattr(self, "cache", None)]


def check_generator(generator: object) -> None:
    """
    Refuse what is no chat generator.

    :param generator: The object given.
    :raises ConfigurationError: When it has no `run`.
    """
    if not hasattr(generator, "run"):
        msg = f"chat_generator must be a Haystack chat generator, but got {type(generator).__name__}"
        raise ConfigurationError(msg)


def model_of(generator: object) -> str | None:
    """
    Name the model that a chat generator asks.

    :param generator: A chat generator.
    :returns: Its model, or None where it tells none.
    """
    model = getattr(generator, "model", None)
    return model if isinstance(model, str) else None


def speaks_openai(generator: object) -> bool:
    """
    Tell whether a chat generator is Haystack's for OpenAI's API or one derived from it.

    :param generator: A chat generator.
    :returns: Whether it is, told by name: asking by class would import that client for everyone.
    """
    return any(base.__name__ == "OpenAIChatGenerator" for base in type(generator).__mro__)


def reaches_client(generator: Any) -> bool:
    """
    Tell whether the settings of a call reach OpenAI's client, where a timeout is one.

    :param generator: A chat generator.
    :returns: False for another API, and for generators that send all settings in the body, as OpenRouter's does.
    """
    if not speaks_openai(generator):
        return False
    with suppress(Exception):  # a method of Haystack's own: where it takes other arguments, nothing is known
        return "timeout" in generator._prepare_api_call(messages=[], generation_kwargs={"timeout": 1.0})
    return True


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
        return _completed(generator, as_text(sent[0]))


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
        return _completed(generator, as_text(sent[0]))


@contextmanager
def _counted(generator: ChatGenerator) -> Iterator[list[Mapping[str, Any]]]:
    """Have one call's reply read to a limit, and tell its metrics: what is put into the list is its result."""
    read_to_a_limit(generator)
    provider = "openai" if speaks_openai(generator) else type(generator).__name__
    begun, sent, error, asked = time.monotonic(), list[Mapping[str, Any]](), None, True
    try:
        yield sent
    except BaseException as failure:  # a call whose client left (CancelledError) brought no reply either
        told = NoCompletionError() if speaks_openai(generator) and _could_not_read(failure) else failure
        error, asked = kind_of(told), not isinstance(failure, NoTimeLeftError)
        if told is not failure:
            raise told from failure
        raise
    finally:
        usage = None
        with suppress(Exception):  # whatever a generator gave: who counts must not hurt
            usage = Usage.of(sent[0]["replies"][0])
        if asked:
            metrics.model_asked(model_of(generator), provider, time.monotonic() - begun, usage, error)


def _could_not_read(error: BaseException) -> bool:
    """Tell whether Haystack's generator stumbled over a reply: it asserts, or takes for granted, what is in one."""
    is_no_json = isinstance(error, AssertionError | JSONDecodeError | UnicodeDecodeError | RecursionError)
    return is_no_json or (isinstance(error, TypeError | AttributeError) and "'NoneType'" in str(error))


def _completed(generator: ChatGenerator, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse a reply whose text is none, and the empty one that is left where no part of a stream came at all."""
    for reply in sent.get("replies") or [] if speaks_openai(generator) else []:
        text: Any = reply.text
        if not text and reply.meta.get(_BEGUN, "") is None:
            raise NoPartsError
        if not isinstance(text, str | None):
            raise NoCompletionError
    return sent


def _arguments(
    generator: ChatGenerator, messages: Sequence[ChatMessage], seconds: float, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the arguments of one call, with a client timeout that ends a call we have given up."""
    arguments = {"messages": list(messages), **{name: value for name, value in options.items() if value is not None}}
    own = getattr(generator, "timeout", None) or _OPENAI_TIMEOUT_S
    if seconds < own and reaches_client(generator):
        # A little later than we give up ourselves: else chance would decide which of the two is told as the reason.
        timeout = min(own, max(0.0, seconds) + _GRACE_S)
        arguments["generation_kwargs"] = {"timeout": timeout, **arguments.get("generation_kwargs", {})}
    return arguments


def kind_of(error: BaseException) -> str:
    """
    Name a failure by its kind; its text may hold a prompt or a key, and goes nowhere.

    :param error: What a chat generator raised.
    :returns: `deadline`, `tls` (no secure connection could be made), `context_length`, `length`, `content_filter`, a
        CallError's `kind`, or the name of the error's class.
    """
    if isinstance(error, CallError):
        return error.kind
    if isinstance(error, TimeoutError):
        return "deadline"
    if tls_failure(error) is not None:
        return "tls"
    text = str(error).lower()
    if any(words in text for words in _CONTEXT_WORDS):
        return "context_length"
    return _KINDS.get(type(error).__name__, type(error).__name__)


def may_be_the_form(error: Exception) -> bool:
    """
    Tell whether the form of a request may be why it was refused, such as an entry that a server does not know.

    :param error: What a chat generator raised.
    :returns: Whether the same may be asked in another form.
    """
    return getattr(error, "status_code", None) in _REFUSALS and kind_of(error) != "context_length"
