"""What a client gets: the answer, the evidence that it cites, the `crag` record, all as plain JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage
from pydantic import BaseModel, Field

from haystack_integrations.crag.answers import STREAM, cut_off
from haystack_integrations.crag.components.evidence_prompt_builder import source_of
from haystack_integrations.crag.deciding.abstention import unanswered
from haystack_integrations.crag.deciding.abstention_words import alone, doubtful
from haystack_integrations.crag.grades import grade_of, origin_of
from haystack_integrations.crag.metadata import told
from haystack_integrations.crag.replies.model_reply import INTERRUPTED
from haystack_integrations.crag.serving.problems import trace_id
from haystack_integrations.crag.texts.steering import whole
from haystack_integrations.crag.vocabulary import ANSWER_FAILED
from haystack_integrations.crag.web.documents import citation


class Evidence(BaseModel):
    """A document that the answer rests on."""

    number: int = Field(description="What the answer cites: [1] is number 1.")
    id: str
    content: str
    source: str = Field(description="The file, address or title that it was taken from.")
    label: str = Field(description="What to show beside the answer, such as `web: example.org (2026-11-22)`.")
    title: str | None
    url: str | None
    score: float | None = Field(description="Its relevance by the grader, from 0 to 1.")
    status: str | None = Field(description="How it came by the score: graded, cached, approved or failed.")
    origin: str = Field(description="`index`, or `web`.")


class Answer(BaseModel):
    """What came out of one question."""

    answer: str | None = Field(description="The model's answer or the abstention; null of pipelines without a model.")
    evidence: list[Evidence]
    crag: dict[str, Any] = Field(description="Verdict, corrections, cost and the trail of all decisions.")
    trace_id: str | None


class RunResult(BaseModel):
    """The body of an answer."""

    result: Answer


def answer_of(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give a run's outputs as plain JSON; scores of retrievers, embeddings and prompts stay inside.

    :param outputs: `documents`, `crag` and perhaps `answers`, as a pipeline gives them.
    :returns: The entries of `Answer`.
    """
    return {
        "answer": _text(outputs),
        "evidence": evidence_of(outputs.get("documents") or ()),
        "crag": _sendable(outputs.get("crag") or {}),
        "trace_id": trace_id(),
    }


def evidence_of(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """
    Give documents as plain JSON, numbered as the answer cites them.

    :param documents: The evidence, best first.
    :returns: The entries of `Evidence` for each.
    """
    return [_sendable(_evidence(number, document)) for number, document in enumerate(documents, 1)]


def _evidence(number: int, document: Document) -> dict[str, Any]:
    grade, title, url = grade_of(document), told(document.meta, "title"), told(document.meta, "url")
    return {
        "number": number,
        "id": str(document.id),
        "content": document.content or "",
        "source": source_of(document),
        "label": citation(document),
        "title": None if title is None else str(title),
        "url": None if url is None else str(url),
        "score": None if grade is None else grade.score,
        "status": None if grade is None else grade.status,
        "origin": origin_of(document),
    }


def spoken(outputs: Mapping[str, Any], follow_up: Mapping[str, Any] | None = None, *, cites: bool = True) -> str:
    """
    Say a run's outputs, for a chat.

    :param outputs: As for `answer_of`.
    :param follow_up: How its question was written out; None of a first one.
    :param cites: Whether its `sources` stand below an answer.
    :returns: The answer and its `sources`; of a pipeline without a model the evidence itself, with a word of doubt
        where the verdict has one, or that nothing answers.
    """
    text, record, documents = _text(outputs), outputs.get("crag") or {}, outputs.get("documents") or ()
    doubt = ""
    if text is not None:
        text = "\n\n".join(filter(None, [text, sources(outputs) if cites else ""]))
    else:
        doubt = doubtful(record, documents)
        shown = (f"[{one['number']}] {one['source']}\n{one['content']}" for one in evidence_of(documents))
        text = "\n\n".join([*filter(None, [doubt]), *shown]) or unanswered(record)
    is_alone = follow_up and follow_up["source"] == "message" and (doubt or record.get("abstention"))
    return whole(f"{text}\n\n{alone(record, documents)}" if is_alone else text)


def sources(outputs: Mapping[str, Any]) -> str:
    """
    Say what an answer cites, for a chat: front ends show nothing of a response but its text, where [1] means nothing.

    :param outputs: As for `answer_of`.
    :returns: A line with number, label and address of each passage that a written answer cites, and of all where the
        model failed to write one; empty without any.
    """
    answer = (outputs.get("crag") or {}).get("answer") or {}
    found = evidence_of(outputs.get("documents") or ())
    if (status := answer.get("status")) not in ("written", "failed"):
        return ""
    numbers = answer["cited"] if status == "written" else [one["number"] for one in found]
    shown = (f"[{one['number']}] {one['label']} {one['url'] or ''}" for one in found if one["number"] in numbers)
    return " \u00b7 ".join(" ".join(one.split()) for one in shown)


def failed_answer(outputs: Mapping[str, Any]) -> bool:
    """
    Tell whether a sentence stands in the place of an answer that the model did not write.

    :param outputs: As for `answer_of`.
    :returns: True when the model failed.
    """
    return any(ANSWER_FAILED in reply.meta for reply in _replies(outputs))


def finish_reason(outputs: Mapping[str, Any]) -> str:
    """
    Say why an answer ends, in OpenAI's words.

    :param outputs: As for `answer_of`.
    :returns: The model's own reason where it was cut off, and `length` where its server or stream broke off, for which
        there is no word; else `stop`, also of a sentence in the answer's place.
    """
    reasons = [cut_off(reply) for reply in _replies(outputs) if not failed_answer(outputs)]
    why = next((why for why in reasons if why is not None), "stop")
    return "length" if why in (STREAM, INTERRUPTED) else why


def usage_of(outputs: Mapping[str, Any], follow_up: Mapping[str, Any] | None) -> dict[str, int] | None:
    """
    Count what an answer cost, in OpenAI's words.

    :param outputs: As for `answer_of`.
    :param follow_up: How its question was written out, with the tokens of that.
    :returns: The tokens of all calls; None where a model did not report those of the answer.
    """
    tokens, asked = (outputs.get("crag") or {}).get("tokens") or {}, follow_up or {}
    if tokens.get("in") is None or tokens.get("out") is None:
        return None
    read, written = tokens["in"] + asked.get("tokens_in", 0), tokens["out"] + asked.get("tokens_out", 0)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _replies(outputs: Mapping[str, Any]) -> Sequence[ChatMessage]:
    answers = outputs.get("answers") or []
    return answers[0].meta.get("all_messages") or [] if answers else []


def _text(outputs: Mapping[str, Any]) -> str | None:
    answers = outputs.get("answers") or []
    return (whole(str(answers[0].data)).strip() or None) if answers else None


def _sendable(told: dict[str, Any]) -> dict[str, Any]:
    """Put signs for halves of characters: one in a title or an id failed each request that found its document."""
    try:
        json.dumps(told, ensure_ascii=False).encode()
    except (TypeError, UnicodeEncodeError):  # a TypeError for an id of another type, such as a UUID
        sendable: dict[str, Any] = json.loads(whole(json.dumps(told, ensure_ascii=False, default=str)))
        return sendable
    return told
