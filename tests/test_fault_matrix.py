"""
The fault matrix of grading: whatever an endpoint does, documents stay, failure shows, and nothing goes to the web.

Every row runs over HTTP against a real server, through Haystack's own OpenAI generator, by both doors, for one document
and for twenty; and likewise for everybody else who asks a chat model.
"""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from certificates import certified
from haystack import Document
from haystack.dataclasses import ChatMessage
from makers import grade_by_door
from model_faults import FAULTS, ONE, Endpoint, Fault, client_of
from pytest_httpserver import HTTPServer
from werkzeug import Response

from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.components.strip_refiner import StripRefiner
from haystack_integrations.crag.errors import GradingError
from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.state import CragState

QUESTION = "Who wrote Emma?"


def grade(endpoint: Endpoint, documents: list[Document], *, asynchronous: bool, **settings: Any) -> dict[str, Any]:
    """Grade through the real client, by one of the doors."""
    grader = BatchRelevanceGrader(client_of(endpoint), **settings)
    return grade_by_door(grader, QUESTION, documents, asynchronous=asynchronous)


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_loses_no_document_and_leads_to_no_web_search(
    name: str, asynchronous: bool, count: int, endpoint: Endpoint
) -> None:
    """Documents kept, status and cause told, calls bounded, time bounded, never irrelevant, never the web."""
    fault = endpoint.fault = FAULTS[name]
    documents = [Document(content=f"passage number {number}") for number in range(count)]
    started = time.monotonic()
    result = grade(endpoint, documents, asynchronous=asynchronous)
    assert time.monotonic() - started < fault.seconds
    assert [document.id for document in result["documents"]] == [document.id for document in documents]
    assert 1 <= endpoint.requests <= fault.requests
    grades = [grade_of(document) for document in result["documents"]]
    if fault.graded:
        assert result["status"] == "ok"
        assert result["scores"] == [0.9] * count
        return
    assert result["status"] == "failed"
    assert result["scores"] == [0.5] * count
    assert {grade.status for grade in grades if grade is not None} == {"failed"}
    told = {grade.reason for grade in grades if grade is not None}
    assert result["report"]["reasons"][0] == f"grader_failed:{min(map(str, told))}"
    assert len(told) == 1
    assert "max_llm_calls" not in told
    assert fault.kind in (None, *told)
    router = CragRouter(on_incorrect="web", on_ambiguous="web_and_refine")
    decision = router.run(query=QUESTION, documents=result["documents"], report=result["report"])
    assert decision["decision"]["verdict"] == "ungraded"
    assert decision["decision"]["action"] == "generate"
    assert decision["decision"]["coverage"]["reasons"]
    assert len(decision["generate"]) == count


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", ["01 not JSON", "20 503", "21 hang"])
def test_a_strict_grader_raises_instead(name: str, asynchronous: bool, endpoint: Endpoint) -> None:
    """on_failure="raise": one error of this package, whatever the client raised."""
    endpoint.fault = FAULTS[name]
    with pytest.raises(GradingError):
        grade(endpoint, [Document(content="passage")], asynchronous=asynchronous, on_failure="raise")


def by_door(part: Any, *, asynchronous: bool, **inputs: Any) -> dict[str, Any]:
    """Run a component by one of the doors, and close what that door opened."""

    async def run() -> dict[str, Any]:
        try:
            return dict(await part.run_async(**inputs))
        finally:
            await part.close_async()

    try:
        return asyncio.run(run()) if asynchronous else dict(part.run(**inputs))
    finally:
        part.close()


def recorded(replies: list[ChatMessage]) -> dict[str, Any]:
    """The record of a run that ended with this answer."""
    document = Document(content="Emma is a novel by Jane Austen.")
    outcome = CragRouter().run(query=QUESTION, documents=[document], mode="off")["outcome"]
    record: dict[str, Any] = RecordBuilder().run(outcome=outcome, replies=replies)["crag"]
    json.dumps(record, allow_nan=False)
    return record


BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
ALL = pytest.mark.parametrize("name", FAULTS)


@ALL
@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_fault_costs_the_answer_and_says_so(
    name: str, asynchronous: bool, streamed: bool, endpoint: Endpoint
) -> None:
    """
    Nothing is raised; what came in place of a completion is told by its kind.

    None of these takes notice of `stream`: what came whole is asked for once more without, and told as it is.
    """
    fault = endpoint.fault = FAULTS[name]
    generator = AnswerGenerator(client_of(endpoint))
    inputs: dict[str, Any] = {"messages": [ChatMessage.from_user("Who?")]}
    started = time.monotonic()
    callback: Callable[[Any], None] | None = (lambda _: None) if streamed else None
    replies = by_door(generator, asynchronous=asynchronous, streaming_callback=callback, **inputs)["replies"]
    assert time.monotonic() - started < fault.seconds
    assert endpoint.requests <= ONE
    record = recorded(replies)
    kind = fault.kind
    if kind is None and (replies[0].meta.get("finish_reason") or "stop") in ("length", "content_filter"):
        assert record["coverage"]["reasons"][-1] == f"answer_cut_off:{replies[0].meta['finish_reason']}"
    elif kind is None and name not in ("02 empty text", "03 no text", "04 no replies"):
        assert record["answer"]["status"] == "written"
    else:
        assert record["answer"]["status"] == "failed"
        assert record["coverage"]["reasons"][-1] == f"answer_failed:{kind or 'no_text'}"


@ALL
@BOTH
@pytest.mark.parametrize("mode", ["decompose", "web"])
def test_a_fault_leaves_the_queries_to_the_rules_and_says_so(
    name: str, asynchronous: bool, mode: str, endpoint: Endpoint
) -> None:
    """A model that writes no query ends no run; one request for each try of its client."""
    fault = endpoint.fault = FAULTS[name]
    expander = QueryExpander(mode=mode, chat_generator=client_of(endpoint))
    started = time.monotonic()
    result = by_door(expander, asynchronous=asynchronous, state=CragState.start(QUESTION))
    assert time.monotonic() - started < fault.seconds
    assert 1 <= endpoint.requests <= ONE
    report = result["report"]
    assert report["source"] == "model" or report["fallback"] is not None
    assert result.get("queries") or result["exhausted"] == []
    if fault.kind is not None:
        assert (report["source"], report["fallback"]) == ("rules", fault.kind)


@ALL
@BOTH
def test_a_fault_leaves_a_follow_up_as_it_stands_and_says_so(name: str, asynchronous: bool, endpoint: Endpoint) -> None:
    """What a model writes in a question's place is not asked."""
    fault = endpoint.fault = FAULTS[name]
    said = [
        ChatMessage.from_user(QUESTION),
        ChatMessage.from_assistant("Jane Austen [1]."),
        ChatMessage.from_user("When?"),
    ]
    started = time.monotonic()
    result = by_door(FollowUpRewriter(client_of(endpoint)), asynchronous=asynchronous, messages=said)
    assert time.monotonic() - started < fault.seconds
    assert 1 <= endpoint.requests <= ONE
    assert result["query"] == "When?"
    assert result["report"]["fallback"] is not None
    if fault.kind is not None:
        assert result["report"]["fallback"] == fault.kind


@ALL
@BOTH
def test_a_fault_leaves_the_strips_to_their_wording_and_says_so(
    name: str, asynchronous: bool, endpoint: Endpoint
) -> None:
    """No evidence is lost for it, and none is made up."""
    fault = endpoint.fault = FAULTS[name]
    documents = [Document(content="Emma is a novel by Jane Austen. It rains."), Document(content="Bread is good.")]
    started = time.monotonic()
    refiner = StripRefiner(scorer="llm", chat_generator=client_of(endpoint))
    result = by_door(refiner, asynchronous=asynchronous, query=QUESTION, documents=documents)
    assert time.monotonic() - started < fault.seconds
    assert 1 <= endpoint.requests <= ONE
    assert [document.content for document in result["documents"]] == ["Emma is a novel by Jane Austen."]
    assert len(result["report"]["reasons"]) == 1
    if fault.kind is not None:
        assert result["report"]["reasons"] == [f"strips_lexical:{fault.kind}"]


def chunk(choices: Any) -> str:
    """A part of a stream as a server sends it."""
    part = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices}
    return f"data: {json.dumps(part)}\n\n"


SOON = chunk([{"index": 0, "delta": {"content": "Jane "}, "finish_reason": None}])
STREAMS = {
    "an error in place of a part": (['data: {"error": {"message": "scripted"}}\n\n'], "APIError"),
    "a part that is no JSON": (['data: {"id": \n\n'], "no_completion"),
    "a part without choices": ([chunk(None)], "no_completion"),
    "a part with two choices": ([chunk([{"index": 0, "delta": {}}, {"index": 1, "delta": {}}])], "no_completion"),
    "parts of something else": (['data: {"event": "ping"}\n\n'], "no_completion"),
}


@BOTH
@pytest.mark.parametrize("begun", [False, True], ids=["at once", "after a word"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_becomes_something_else_costs_the_answer_and_says_so(
    name: str, begun: bool, asynchronous: bool, endpoint: Endpoint
) -> None:
    """What was heard before is no answer: its end is missing."""
    parts, kind = STREAMS[name]
    body = [SOON, *parts] if begun else parts
    endpoint.fault = Fault(lambda _: Response(body, content_type="text/event-stream"))
    words: list[str] = []
    inputs: dict[str, Any] = {"messages": [ChatMessage.from_user("Who?")]}
    inputs["streaming_callback"] = lambda part: words.append(part.content)
    replies = by_door(AnswerGenerator(client_of(endpoint)), asynchronous=asynchronous, **inputs)["replies"]
    assert "".join(words) == ("Jane " if begun else "")
    assert recorded(replies)["coverage"]["reasons"][-1] == f"answer_failed:{kind}"
    assert endpoint.requests == 1


@BOTH
def test_a_certificate_that_is_not_trusted_is_told_by_one_word(asynchronous: bool, tmp_path: Path) -> None:
    """Not as a connection that failed for whatever reason; by grader and answer alike."""
    with HTTPServer("127.0.0.1", ssl_context=certified(tmp_path)[1]) as server:
        there = Endpoint(f"https://127.0.0.1:{server.port}/v1")
        result = grade(there, [Document(content="passage")], asynchronous=asynchronous)
        messages = [ChatMessage.from_user("Who?")]
        answer = by_door(AnswerGenerator(client_of(there)), asynchronous=asynchronous, messages=messages)
    assert result["report"]["reasons"] == ["grader_failed:tls"]
    assert recorded(answer["replies"])["coverage"]["reasons"][-1] == "answer_failed:tls"
