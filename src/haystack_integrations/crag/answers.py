"""
What became of an answer: written, declined by the model that was to write it, failed, or none asked for.

A grader may let evidence pass that does not answer. The prompt of the answer therefore asks for one known sentence in
that case, so that an application can tell a found answer from a polite refusal without reading either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from itertools import chain
from numbers import Number
from typing import Any, Final

from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.answer_numbers import unsupported_numbers
from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.chat import uses_openai
from haystack_integrations.crag.citations import cited, declines, without_citations
from haystack_integrations.crag.homes import asked_by
from haystack_integrations.crag.observing.telemetry import names_of
from haystack_integrations.crag.replies.model_reply import INTERRUPTED, ended_by
from haystack_integrations.crag.unwritten_answers import NoTextError, says_nothing
from haystack_integrations.crag.vocabulary import ANSWER_FAILED, BROKEN_OFF, FEWER, TRIED, AnswerStatus

STREAM: Final = "stream"
"""Why an answer ends early, where its model had no word on it: the stream of its parts broke off."""


def answer_account(
    replies: Sequence[ChatMessage],
    *,
    asked: bool,
    sentences: Sequence[str],
    question: str,
    passages: Sequence[Document],
) -> dict[str, Any]:
    """
    Say what became of the answer.

    :param replies: What stands in the answer's place, the first counts.
    :param asked: Whether a model was asked for it.
    :param sentences: What the prompt may have asked the model to say when the evidence does not answer.
    :param question: What was asked.
    :param passages: The numbered passages that the model saw.
    :returns: `status`, an `AnswerStatus`; `cited`, the numbers of the passages that the answer cites; `cited_unknown`,
        numbers in its brackets that no passage has; and `unsupported_numbers`, those in its text that neither the
        question nor a passage has.
    """
    if not asked or not replies:
        return _account("none")
    text = replies[0].text or ""
    if ANSWER_FAILED in replies[0].meta or says_nothing(text):  # where no AnswerGenerator sees to that
        return _account("failed")
    numbers = cited(text, len(passages))
    known = [number for number in numbers if 1 <= number <= len(passages)]
    unknown = [number for number in numbers if number not in known]
    # What a model writes without any passage is found nowhere: a run that does not judge asks it all the same.
    status: AnswerStatus = "declined" if declines(text, *sentences) else "written" if passages else "failed"
    invented = _invented(text, question, passages) if status == "written" else ()
    return _account(status, known, unknown, invented)


def shortcomings(replies: Sequence[ChatMessage], account: Mapping[str, Any]) -> list[str]:
    """
    Name what is wanting in the answer of a run.

    :param replies: What stands in the answer's place.
    :param account: What `answer_account` says of it.
    :returns: For the coverage, such as `answer_failed:deadline`, or `answer_cut_off:length` for one that its model did
        not end, or `evidence_cut:context_length` for one from fewer passages; empty for a whole answer, and where none
        was asked for.
    """
    if account["status"] == "none":
        return []
    if account["status"] == "failed":
        told = [str(reply.meta[ANSWER_FAILED]) for reply in replies if ANSWER_FAILED in reply.meta]
        untold = NoTextError(replies[0]).kind if says_nothing(replies[0].text or "") else "no_evidence"
        return [f"answer_failed:{kind}" for kind in [*told, untold][:1]]
    why = cut_off(replies[0])
    return [
        *(["evidence_cut:context_length"] if FEWER in replies[0].meta else []),
        *([f"answer_cut_off:{why}"] if why else []),
    ]


def shown_to(replies: Sequence[ChatMessage], evidence: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """
    Tell which passages the model of an answer saw.

    :param replies: What stands in the answer's place.
    :param evidence: The documents that its prompt was written with.
    :returns: Those it saw, in the order of their numbers, and those that its context had no room for.
    """
    fewer = replies[0].meta.get(FEWER) if replies else None
    shown = {number - 1 for number in fewer["shown"]} if fewer else set(range(len(evidence)))
    places = range(len(evidence))
    return [evidence[at] for at in places if at in shown], [evidence[at] for at in places if at not in shown]


def spent_on(replies: Sequence[ChatMessage]) -> Usage:
    """
    Count what an answer cost.

    :param replies: What stands in the answer's place.
    :returns: Its tokens, and the calls and tokens of what was tried before in vain. Of several replies (`n`) each has
        the tokens of all, as a server tells them.
    """
    return sum((Usage.of(reply) + Usage(**reply.meta.get(TRIED, {})) for reply in replies[:1]), Usage())


def after(tried: Sequence[Usage], replies: list[ChatMessage]) -> dict[str, Any]:
    """
    Give what stands in the answer's place, with what was spent on it before.

    :param tried: What each call cost that was made in vain.
    :param replies: What came in the end; the first is marked.
    :returns: What an AnswerGenerator gives.
    """
    if tried:
        replies[0].meta[TRIED] = asdict(sum(tried, Usage()))
    return {"replies": replies}


def mark_ended(reply: ChatMessage, why: Sequence[str], generator: object) -> None:
    """
    Write on a streamed answer why it ended, or that its stream ended without a word on why.

    Servers of OpenAI's APIs always give one, others need not.

    :param reply: The answer.
    :param why: What the parts of its stream said.
    :param generator: The chat generator that it came from.
    """
    if why:  # Haystack's generator joins the parts without a server's own word, such as `model_length`
        if reply.meta.get("finish_reason") in (None, INTERRUPTED):
            reply.meta["finish_reason"] = why[-1]
        return
    if any(map(uses_openai, asked_by(generator))) and not reply.meta.get("finish_reason"):
        reply.meta[BROKEN_OFF] = True


def cut_off(reply: ChatMessage) -> str | None:
    """
    Tell why an answer ends before its model ended it.

    :param reply: The answer.
    :returns: `length`, `content_filter` or `interrupted`, by the server's own word; `stream`, where that broke off
        before any word on it; None for a whole answer.
    """
    if reply.meta.get(BROKEN_OFF):
        return STREAM
    return ended_by(reply.meta.get("finish_reason"))


def reply_tags(reply: ChatMessage) -> dict[str, Any]:
    """
    Describe a model's answer for its span, without its text.

    :param reply: The answer.
    :returns: Model, finish reason and tokens, in the words of the conventions.
    """
    usage, model = Usage.of(reply), names_of(reply.meta.get("model"))
    return {
        "gen_ai.response.model": model[0] if model else None,
        "gen_ai.response.finish_reasons": names_of(reply.meta.get("finish_reason")) or None,
        # Of a streamed answer most servers tell none: not known is not nothing.
        "gen_ai.usage.input_tokens": usage.tokens_in or None,
        "gen_ai.usage.output_tokens": usage.tokens_out or None,
    }


def _account(
    status: AnswerStatus, cited: Sequence[int] = (), unknown: Sequence[int] = (), invented: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "status": status,
        "cited": list(cited),
        "cited_unknown": list(unknown),
        "unsupported_numbers": list(invented),
    }


def _invented(text: str, question: str, passages: Sequence[Document]) -> list[str]:
    """Name the numbers of an answer that nothing has which its prompt may have shown: a template may use any field."""
    values = [value for passage in passages for value in passage.meta.values()]
    # Of mappings nothing is told: most are a program's, as the boxes of a page's words, whose numbers say anything.
    listed = chain.from_iterable(value for value in values if isinstance(value, list | tuple | set | frozenset))
    told = (str(value) for value in chain(values, listed) if isinstance(value, str | Number | date))
    shown = chain((question,), (passage.content or "" for passage in passages), told)
    return unsupported_numbers(without_citations(text), shown, amounts=True)
