"""Exit codes of `crag`, and one sentence for every error that a person at a terminal can meet."""

import re
from enum import IntEnum
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from haystack_integrations.crag.elasticsearch.tls import no_answer
from haystack_integrations.crag.errors import (
    OWN_AUTHORITY,
    CragError,
    EvaluationError,
    GradingError,
    SourceError,
    StoreError,
    causes,
    tls_failure,
)


class ExitCode(IntEnum):
    """What a command's exit code says; `crag --help` shows the same table."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_ANSWERED = 3
    INPUTS_FAILED = 4
    UNREACHABLE = 5


MEANINGS: Final = {
    ExitCode.DONE: "answered, done, healthy",
    ExitCode.FAILED: "unexpected error, or something required does not work",
    ExitCode.USAGE: "a wrong option, name, setting or question",
    ExitCode.NOT_ANSWERED: "nothing in the documents answers the question",
    ExitCode.INPUTS_FAILED: "some or all inputs could not be read",
    ExitCode.UNREACHABLE: "the document store, the chat model or Jaeger cannot be used",
}

# Codes of the errors of this package; all that is not in it is about an argument, a name or a setting.
_CODES: Final[dict[type[CragError], ExitCode]] = {
    StoreError: ExitCode.UNREACHABLE,
    GradingError: ExitCode.UNREACHABLE,
    SourceError: ExitCode.INPUTS_FAILED,
    EvaluationError: ExitCode.FAILED,
}

_MODEL_HINTS: Final = {
    # LiteLLM says so of a model that it does not have, and of a key, too.
    400: "check CRAG_LLM_OPTIONS, that CRAG_LLM_MODEL names a chat model that it has and that takes a system message, "
    "and behind LiteLLM CRAG_LLM_API_KEY",
    401: "check CRAG_LLM_API_KEY, or OPENAI_API_KEY where no CRAG_LLM_MODEL is set",
    402: "its account has no credit left: pay it in, or use the key of another one in CRAG_LLM_API_KEY",
    403: "check CRAG_LLM_API_KEY, or OPENAI_API_KEY where no CRAG_LLM_MODEL is set, and what it may use",
    404: "check CRAG_LLM_BASE_URL (most end in /v1) and CRAG_LLM_MODEL",
    429: "its rate limit or its account's quota is used up: wait, raise it, or use another key in CRAG_LLM_API_KEY",
}
# Of any status.
_KIND_HINTS: Final = {
    "context_length": "the prompt is too long for it: set a CRAG_LLM_MODEL with a longer context, or raise it there",
    "content_filter": "its filter stopped the prompt: ask in other words, or look at the filter's settings",
}
_MODEL_TLS: Final = (
    "put the address that its certificate is for into CRAG_LLM_BASE_URL (http:// where it speaks no TLS); "
    f"{OWN_AUTHORITY}"
)
# Haystack's own words on a Secret.
_UNSET: Final = re.compile(r"None of the following authentication environment variables are set: (\(.*\))")

_GOES_ON: Final = "run the same command again to resume"
# Commands that keep what they finished.
_KEPT: Final = {
    "index": f"finished work is kept, {_GOES_ON}",
    "label": f"finished work is kept, {_GOES_ON}",
    "eval": f"finished work is kept if `--json FILE` names a place for it, {_GOES_ON}",
}


def interrupted(command: str | None) -> str:
    """
    Say what an interruption from the keyboard leaves.

    :param command: The command that was interrupted.
    :returns: The message.
    """
    return f"interrupted; {_KEPT[command]}" if command in _KEPT else "interrupted"


def explain(error: BaseException) -> tuple[str, ExitCode]:
    """
    Say in one sentence what happened and what to do, without a traceback.

    Haystack wraps what a component raises, and clients wrap what a socket raises, so the whole chain is looked at:
    an error of this package first, then what the store's or the model's client says.

    :param error: Any exception.
    :returns: The message, and the exit code.
    """
    chain = list(causes(error))
    for cause in reversed(chain):
        if isinstance(cause, CragError):
            codes = (code for kind, code in _CODES.items() if isinstance(cause, kind))
            return str(cause), next(codes, ExitCode.USAGE)
    for cause in reversed(chain):
        package = type(cause).__module__.partition(".")[0]
        if package in ("elasticsearch", "elastic_transport"):
            return _store_message(cause), ExitCode.UNREACHABLE
        if package == "openai":
            return _model_message(cause), ExitCode.UNREACHABLE
    if unset := _UNSET.search(str(chain[-1])):
        names = " or ".join(re.findall(r"'([^']+)'", unset[1]))
        way = "set it (Haystack reads no .env), or CRAG_LLM_BASE_URL and CRAG_LLM_MODEL if it is for the chat model"
        return f"a part of the pipeline reads its key from {names}, which is not set; {way}", ExitCode.USAGE
    if isinstance(chain[-1], ModuleNotFoundError) and chain[-1].name == "redis":
        return (
            'the grade cache needs redis, which is not installed; run `pip install "crag-haystack[redis]"`',
            ExitCode.USAGE,
        )
    failed = next((cause for cause in chain if getattr(cause, "component_name", None)), None)
    kind: type | None = getattr(failed, "component_type", None)
    asking = ("haystack.components.generators", "haystack_integrations.crag.components.answer_generator")
    if kind is not None and kind.__module__.startswith(asking):
        return _answer_message(chain[-1]), ExitCode.UNREACHABLE
    cause = chain[-1]
    where = f" in the component {getattr(failed, 'component_name', None)!r}" if failed is not None else ""
    text = (str(cause).strip().splitlines() or ["no message"])[0]
    return f"unexpected {type(cause).__name__}{where}: {text}; `crag --debug …` shows where", ExitCode.FAILED


def through_proxy(url: str) -> str:
    """
    Say that an address is asked through a proxy of the environment, which may be what answers, or does not.

    :param url: The address.
    :returns: Words to stand behind the address; empty without a proxy.
    """
    parts, proxies = urlsplit(url), getproxies()
    name = next((one for one in (parts.scheme, "all") if proxies.get(one)), None)
    if name is None or not parts.hostname or proxy_bypass(parts.hostname):
        return ""
    return f" (asked through the proxy of {name.upper()}_PROXY, which NO_PROXY={parts.hostname} avoids)"


def _store_message(error: BaseException) -> str:
    """Say what Elasticsearch, or the way to it, answered; never a part of a document."""
    if isinstance(getattr(error, "status_code", None), int):
        from haystack_integrations.crag.elasticsearch.reaching import refusal  # not for the command's help

        return refusal(error)  # type: ignore[arg-type] # only its client's errors have a status
    return no_answer(error)


def _answer_message(error: BaseException) -> str:
    """Say why there is no answer, where the client of the chat model had no word on it."""
    if isinstance(error, TimeoutError):
        return "the chat model did not answer in the run's time; look at its load, or set another CRAG_LLM_MODEL"
    if getattr(error, "kind", None) in ("no_text", "context_length", "content_filter", "interrupted"):
        return f"{error} (CRAG_LLM_MODEL)"
    return "the chat model's server did not return a chat completion; check CRAG_LLM_BASE_URL (most end in /v1)"


def _model_message(error: BaseException) -> str:
    """Say what the chat model's endpoint answered; never a part of a prompt or reply."""
    name = type(error).__name__
    request = getattr(error, "request", None)
    address = urlsplit(str(request.url)) if request is not None else None
    place = f" at {address.scheme}://{address.netloc.rpartition('@')[2]}" if address is not None else ""
    place += through_proxy(str(request.url)) if request is not None else ""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        from haystack_integrations.crag.chat import kind_of  # Haystack, which the command's help does without

        hint = _MODEL_HINTS.get(status, "look at the server's log, or set CRAG_LLM_BASE_URL to another one")
        hint = _KIND_HINTS.get(kind_of(error), hint)
        return f"the chat model{place} refused: {status} {name}; {hint}"
    if "Timeout" in name:
        return f"the chat model{place} did not answer in time; look at its load, or set another CRAG_LLM_MODEL"
    if (why := tls_failure(error)) is not None:
        return f"no secure connection to the chat model{place} ({why}); {_MODEL_TLS}"
    if request is not None:
        return f"no answer from the chat model{place} ({name}); start it, or correct CRAG_LLM_BASE_URL"
    return f"the chat model cannot be used ({name}); check CRAG_LLM_BASE_URL, CRAG_LLM_MODEL and CRAG_LLM_API_KEY"
