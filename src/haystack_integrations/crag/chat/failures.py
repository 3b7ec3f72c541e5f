"""Why a call to a model brought no reply: errors of our own, and the kind of anybody's."""

from json import JSONDecodeError
from typing import Final

from haystack_integrations.crag.errors import tls_failure
from haystack_integrations.crag.interrupts import ends_run

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


def kind_of(error: BaseException) -> str:
    """
    Name a failure by its kind; its text may hold a prompt or a key, and goes nowhere.

    :param error: What a chat generator raised.
    :returns: `deadline`, `tls` (no secure connection could be made), `context_length`, `length`, `content_filter`, a
        CallError's `kind`, or the name of the error's class.
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


def could_not_read(error: BaseException) -> bool:
    """
    Tell whether Haystack's generator for OpenAI's API stumbled over a reply.

    :param error: What it raised.
    :returns: Whether it is one of those by which it asserts, or takes for granted, what is in a reply.
    """
    is_no_json = isinstance(error, AssertionError | JSONDecodeError | UnicodeDecodeError | RecursionError)
    return is_no_json or (isinstance(error, TypeError | AttributeError) and "'NoneType'" in str(error))
