"""Answers that did not come: replies without an answer in them, and what stands in their place."""

import re
from collections.abc import Mapping
from typing import Any, Final

from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.chat import CallError, PromptCutError, kind_of
from haystack_integrations.crag.citations import without_citations
from haystack_integrations.crag.deadlines import NoTimeLeftError
from haystack_integrations.crag.deciding.abstention_words import unwritten
from haystack_integrations.crag.replies.model_reply import INTERRUPTED, ended_by
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ANSWER_FAILED, NOT_ASKED

_AND: Final = re.compile(r"\b(?:and|or|und|oder|et|ou)\b|`+\s*`+", re.IGNORECASE)
_JOINS: Final = " \t\n.,;:&/|()[]*_\"'-\u2013\u2014\u2022\u00b7\u3001\u3002\u30fb\uff0c\uff1a\uff1b"
_WAYS_OUT: Final = {
    "no_text": "give it more tokens, or another model",
    "content_filter": "a filter of its server stopped it, so ask in other words",
    INTERRUPTED: "its server broke off, so ask again",
}


class NoTextError(CallError, ValueError):
    """A reply without any text: a model that thinks too long gives none, a small one may give its citations alone."""

    def __init__(self, reply: ChatMessage) -> None:
        """Name the way out; the kind is for log and record: what ended the reply, if that was not the model."""
        why = ended_by(reply.meta.get("finish_reason"))
        super().__init__(why if why in _WAYS_OUT else "no_text")
        self.args = (f"the model replied without any text; {_WAYS_OUT[self.kind]}",)


def says_nothing(text: str) -> bool:
    """
    Tell whether a reply is no answer: a small model may write the numbers of its passages, and no more.

    :param text: What a model wrote.
    :returns: Whether it is blank, or nothing but citations and what joins them stands in it: `>=` or `%` is an answer.
    """
    rest = without_citations(text).strip()
    return not rest or (rest != text.strip() and not _AND.sub("", rest).strip(_JOINS))


def apology(text: str, state: CragState | None, error: Exception, told: Mapping[str, Any]) -> ChatMessage:
    """
    Write what stands in the place of an answer that did not come.

    :param text: What the user reads; ours in the language of the question.
    :param state: What the run knows, such as its question.
    :param error: Why there is none.
    :param told: Metadata of the reply, where one came; its cost is counted.
    :returns: A message that names the kind of failure, and whether no model was asked at all.
    """
    unasked = {NOT_ASKED: True} if isinstance(error, NoTimeLeftError) else {}
    said, meta = unwritten(text, "" if state is None else state.query), told
    if isinstance(error, PromptCutError):
        meta = error.reply.meta
    return ChatMessage.from_assistant(said, meta={**meta, **unasked, ANSWER_FAILED: kind_of(error)})


def worded(error: Exception, timeout_s: float) -> Exception:
    """
    Say what was waited for in vain: what ends a wait has no word on it.

    :param error: Why there is no answer.
    :param timeout_s: How long it may take.
    :returns: It.
    """
    if isinstance(error, TimeoutError) and not str(error):
        error.args = (f"the chat model did not answer within timeout_s={timeout_s:g} s or the seconds of the budget",)
    return error
