"""Why a call to a model brought no reply: errors of our own, and the kind of anybody's."""

import re
from json import JSONDecodeError
from typing import Final

from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.errors import causes, tls_failure
from haystack_integrations.crag.interrupts import ends_run

# Each server has words of its own, most with the status 400 for all: OpenAI, Azure, vLLM, SGLang, LM Studio and Ollama
# say "context length", llama.cpp "size" and its Python server "window", Anthropic "prompt is too long", Google "input
# token count", Bedrock "input is too long", xAI "maximum prompt length", TGI names a sum, Kimi a limit; Groq says 413.
_TOO_LONG: Final = re.compile(
    r"context[ _]?(?:length|size|window|limit)|maximum context|maximum (?:prompt|model|allowed input) length"
    r"|input token count|too many (?:input )?tokens|(?:prompt|input|request)[ _](?:is[ _])?too[ _](?:long|large)"
    r"|(?:input|model) token limit|max tokens allowed|prompt exceeds|reduce the length|max_new_tokens`? must be"
)
# Likewise for a prompt that a filter stopped: Azure, LiteLLM, Alibaba, OpenAI, xAI, OpenRouter.
_FILTERED: Final = re.compile(
    r"content[ _]?(?:filter|policy|management policy)|data_inspection_failed|usage (?:policy|guidelines)|was flagged"
)
_LEAST_ERROR: Final = 400  # in the midst of a stream an error comes with 200 (Anthropic), or -1 (Ollama)
_TOO_LARGE: Final = 413
_TOO_OFTEN: Final = 429
_TOLD: Final = 1_000  # characters of an error that are its own words: behind them some servers repeat the request
_REFUSALS: Final = frozenset({400, 404, 415, 422, 501})
# llama.cpp's Python server answers a form that it does not know as a failure of its own, with the entry's name.
_FORM_NAMED: Final = re.compile(r"response_format|json_schema|stream_options")
_FAULT_OF_SERVER: Final = 500
_OF_THE_TEXT: Final = ("context_length", "content_filter")
_NAMED_BY_STATUS: Final = frozenset({"APIStatusError", "ApiError"})  # with a kind for each: OpenAI, Anthropic, Cohere
_UNREACHED: Final = frozenset({"OSError", "TransportError"})  # the latter of httpx and httpx2, also where one hung up
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


class PromptCutError(CallError):
    """
    A server read less of a prompt than was sent, and replied all the same.

    Ollama cuts a prompt that its context does not hold from its beginning, with status 200: rubric and first documents
    are gone, and the reply looks like any other. Older ones fill a half of the context with the rest, 0.17 all of it.
    """

    def __init__(self, read: int, reply: ChatMessage, *, surely: bool = True) -> None:
        """Keep the reply for what it cost; the kind is that of servers that refuse such a prompt."""
        super().__init__("context_length")
        self.reply, self.surely = reply, surely
        way_out = "raise its context (for Ollama by OLLAMA_CONTEXT_LENGTH), or pass less"
        self.args = (f"the chat model's server read {read} tokens of a longer prompt and cut the rest; {way_out}",)


class NoPartsError(NoCompletionError):
    """A stream without a part in it: a server that takes no notice of `stream` has sent its completion whole."""


def cost_of(error: Exception) -> Usage:
    """
    Tell the tokens that a call cost which brought no reply of use.

    :param error: Why it brought none.
    :returns: What the server told of a prompt that it cut; of any other failure nothing is known.
    """
    return Usage.of(error.reply) if isinstance(error, PromptCutError) else Usage()


def kind_of(error: BaseException) -> str:
    """
    Name a failure by its kind; its text may hold a prompt or a key, and goes nowhere.

    :param error: What a chat generator raised.
    :returns: `deadline`, `tls` (no secure connection could be made), `context_length`, `length`, `content_filter`, a
        CallError's `kind`, or the name of the error's class, with the server's status where it says more, such as
        `ResponseError_404` (of Ollama).
    :raises BaseException: The error, if it is no failure but ends the run (`interrupts.ends_run`).
    """
    if ends_run(error):
        raise error
    if isinstance(error, CallError):
        return error.kind
    if isinstance(error, TimeoutError):
        return "deadline"
    if tls_failure(error) is not None:
        return "tls"
    status, text = status_of(error), _told_by(error)
    if status == _TOO_LARGE or (status != _TOO_OFTEN and _TOO_LONG.search(text)):
        return "context_length"
    if status != _TOO_OFTEN and _FILTERED.search(text):
        return "content_filter"
    name, is_named = type(error).__name__, {base.__name__ for base in type(error).__mro__[1:]} & _NAMED_BY_STATUS
    return _KINDS.get(name, name if status is None or is_named else f"{name}_{status}")


def _told_by(error: BaseException) -> str:
    """
    Read what a server told of a failure.

    OpenAI's client tells one field of the response: a code, and whatever has another form, is in its body alone; of
    Cohere's the text begins with all headers.
    """
    return " ".join(one[:_TOLD] for one in (str(error), str(getattr(error, "body", "")))).lower()


def status_of(error: BaseException) -> int | None:
    """
    Find the status of a server's response.

    :param error: What a chat generator raised; Google's and Bedrock's wrap what their clients raised.
    :returns: The status, 400 or more, or None where none was told.
    """
    for one in (error, error.__cause__):
        response = getattr(one, "response", None)
        of_aws = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        told = (getattr(one, "status_code", None), getattr(response, "status_code", None), getattr(one, "code", None))
        for status in (*told, of_aws.get("HTTPStatusCode")):
            if isinstance(status, int) and status >= _LEAST_ERROR:
                return status
    return None


def refused_at_once(error: BaseException) -> bool:
    """
    Tell whether a request was refused before any part of a reply was sent.

    :param error: What a chat generator raised.
    :returns: Whether the response had an error's status. An error within a stream has a code at most, if it has a field
        for the status, another one: that of the stream (Anthropic), or -1 (Ollama).
    """
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and status >= _LEAST_ERROR


def may_be_the_form(error: Exception) -> bool:
    """
    Tell whether the form of a request may be why it was refused, such as an entry that a server does not know.

    :param error: What a chat generator raised.
    :returns: Whether the same may be asked in another form.
    """
    status = status_of(error)
    is_named = status == _FAULT_OF_SERVER and _FORM_NAMED.search(_told_by(error)) is not None
    return (status in _REFUSALS or is_named) and kind_of(error) not in _OF_THE_TEXT


def surely_not_the_form(error: BaseException) -> bool:
    """
    Tell whether a request failed for what has nothing to do with its form: a server was busy, or was not reached.

    :param error: What a chat generator raised.
    :returns: Whether the status says so, or without one a failed connection. By 500 some servers answer a form that
        they do not know.
    """
    status = status_of(error)
    if status is not None:  # asked first: errors of Hugging Face's client and of requests are OSErrors by any status
        return status not in {*_REFUSALS, _FAULT_OF_SERVER}
    return any(_UNREACHED & {base.__name__ for base in type(one).__mro__} for one in causes(error, hidden=True))


def surely_too_long(error: BaseException) -> bool:
    """
    Tell a prompt that was too long from one that may have the length of a context by chance: only the first teaches.

    :param error: What a chat generator raised, or `PromptCutError`.
    :returns: Whether later prompts are to be shorter.
    """
    return kind_of(error) == "context_length" and (not isinstance(error, PromptCutError) or error.surely)


def could_not_read(error: BaseException) -> bool:
    """
    Tell whether Haystack's generator for OpenAI's API stumbled over a reply.

    :param error: What it raised.
    :returns: Whether it is one of those by which it asserts, or takes for granted, what is in a reply.
    """
    is_no_json = isinstance(error, AssertionError | JSONDecodeError | UnicodeDecodeError | RecursionError)
    return is_no_json or (isinstance(error, TypeError | AttributeError) and "'NoneType'" in str(error))
