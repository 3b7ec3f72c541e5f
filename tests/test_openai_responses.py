"""OpenAI's Responses API in place of chat completions: the same decisions, tokens and failures."""

import json
import re
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIResponsesChatGenerator
from haystack.utils import Secret
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from haystack_integrations.crag.components import BatchRelevanceGrader, StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.opening import memory_store

QUESTION, ANSWER = "When is a refund paid?", "Within 30 days of the return [1]."
PAGE = Document(content="A refund is paid within 30 days of the return.")
_KEY = re.compile(r'id="([b-z]{3})"')


class Responses:
    """A server of that API: grades all as relevant, answers, and can fail at either."""

    def __init__(self, server: HTTPServer) -> None:
        """Listen."""
        self.url, self.grading, self.answering = server.url_for("/v1"), "whole", "whole"
        self.asked: list[dict[str, Any]] = []
        self.refuses_schema = False
        server.expect_request("/v1/responses", method="POST").respond_with_handler(self._respond)

    def generator(self, **settings: Any) -> OpenAIResponsesChatGenerator:
        """Make what asks it."""
        return OpenAIResponsesChatGenerator(
            api_key=Secret.from_token("none"), model="m", api_base_url=self.url, max_retries=0, **settings
        )

    def _respond(self, request: Request) -> Response:
        body = request.get_json()
        self.asked.append(body)
        if self.refuses_schema and "text" in body:
            told = {"error": {"message": "text.format is not supported", "type": "invalid_request_error"}}
            return Response(json.dumps(told), 400, content_type="application/json")
        keys = _KEY.findall(body["input"][-1]["content"][0]["text"])
        text = json.dumps({"grades": " ".join(f"{key} .9" for key in keys)}) if keys else ANSWER
        how = self.grading if keys else self.answering
        text = text[: len(text) // 2] if how == "cut" else text
        whole = _response(text, how)
        if not body["stream"]:
            return Response(json.dumps(whole), content_type="application/json")
        events = [{"type": "response.created", "response": {**whole, "output": [], "usage": None}}]
        events += [
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "m", "delta": part}
            for part in re.findall(r"\S+\s*", text)
        ]
        events += [{"type": f"response.{whole['status']}", "response": whole}] * (how != "broken off")
        told = [{**event, "sequence_number": number, "logprobs": []} for number, event in enumerate(events)]
        lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in told)
        return Response(lines, content_type="text/event-stream")


def _response(text: str, how: str) -> dict[str, Any]:
    content = {"type": "output_text", "text": text, "annotations": []}
    if how == "refused":
        content = {"type": "refusal", "refusal": "I cannot help with that."}
    status, why = ("incomplete", {"reason": "max_output_tokens"}) if how == "cut" else ("completed", None)
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Perhaps [7]?"}]}
    said = {"type": "message", "id": "m", "status": status, "role": "assistant", "content": [content]}
    usage = {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 40}}
    head = {"id": "x", "object": "response", "created_at": 1, "model": "m", "status": status, "incomplete_details": why}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None}
    return {**head, **rest, "output": [thought, said], "usage": usage}


@pytest.fixture
def responses(httpserver: HTTPServer) -> Responses:
    return Responses(httpserver)


def ask(grader: Any, generator: Any = None) -> tuple[str, dict[str, Any]]:
    """Ask the recommended pipeline: the answer and the record."""
    store = memory_store()
    store.write_documents(StaticDocumentEmbedder().run([PAGE])["documents"])
    result = load("corrective_rag", store=store, grader=grader, generator=generator or grader).run(query=QUESTION)
    return result["answers"][0].data, result["crag"]


def test_it_grades_and_answers_and_all_tokens_are_counted(responses: Responses) -> None:
    """Thoughts are tokens, and no part of the answer."""
    answer, crag = ask(responses.generator())
    assert (answer, crag["verdict"], crag["answer"]["cited"]) == (ANSWER, "correct", [1])
    assert (crag["llm_calls"], crag["tokens"]) == (2, {"in": 200, "out": 100})
    assert crag["coverage"]["reasons"] == []


@pytest.mark.parametrize(("how", "reason"), [("cut", "length"), ("refused", "empty")], ids=["cut", "refused"])
def test_a_grading_that_was_cut_or_refused_is_no_judgement(responses: Responses, how: str, reason: str) -> None:
    """No document is read as irrelevant for it."""
    responses.grading = how
    _, crag = ask(responses.generator())
    assert (crag["verdict"], crag["coverage"]["failed"]) == ("ungraded", 1)
    assert any(reason in told for told in crag["coverage"]["reasons"])


@pytest.mark.parametrize(
    ("how", "streams", "reasons", "status"),
    [
        ("whole", True, [], "written"),
        ("broken off", True, ["answer_cut_off:stream"], "written"),
        ("cut", True, ["answer_cut_off:length"], "written"),
        ("cut", False, ["answer_cut_off:length"], "written"),
        ("refused", False, ["answer_failed:no_text"], "failed"),
    ],
)
def test_an_answer_that_is_not_whole_is_told_as_that(
    responses: Responses, how: str, streams: bool, reasons: list[str], status: str
) -> None:
    """Also a stream whose last event never came, which ends like any other."""
    heard: list[str] = []
    listening: dict[str, Any] = {"streaming_callback": lambda chunk: heard.append(chunk.content)} if streams else {}
    responses.answering = how
    answer, crag = ask(responses.generator(), responses.generator(**listening))
    assert (crag["coverage"]["reasons"], crag["answer"]["status"]) == (reasons, status)
    if streams:
        assert ANSWER.startswith(answer)
        assert "".join(heard) == answer


def test_grades_are_asked_for_by_a_schema_beside_the_generators_own_settings(responses: Responses) -> None:
    """In that API's form; an own form of the reply stays."""
    grader = BatchRelevanceGrader(responses.generator(generation_kwargs={"text": {"verbosity": "low"}}))
    assert grader.run(query=QUESTION, documents=[PAGE])["report"]["structured"]
    text = responses.asked[0]["text"]
    assert (text["verbosity"], text["format"]["type"], text["format"]["strict"]) == ("low", "json_schema", False)
    assert text["format"]["schema"]["additionalProperties"] == {"type": "number"}
    own = {"text": {"format": {"type": "json_object"}}}
    assert not BatchRelevanceGrader(responses.generator(generation_kwargs=own)).run(query=QUESTION, documents=[PAGE])[
        "report"
    ]["structured"]
    assert responses.asked[1]["text"] == own["text"]


def test_a_server_that_refuses_the_schema_is_asked_in_words(responses: Responses) -> None:
    """At once, and from then on."""
    responses.refuses_schema = True
    grader = BatchRelevanceGrader(responses.generator())
    for calls in (2, 1):
        result = grader.run(query=QUESTION, documents=[PAGE])
        assert (result["scores"], result["report"]["llm_calls"]) == ([0.9], calls)


def test_a_call_ends_in_the_graders_time(responses: Responses) -> None:
    """Its client is told how long it may wait, as that of chat completions is."""
    generator = responses.generator(timeout=30.0)
    sent: list[dict[str, Any]] = []
    real = generator._prepare_api_call
    generator._prepare_api_call = lambda **given: sent.append(real(**given)) or real(**given)  # type: ignore[method-assign]
    assert BatchRelevanceGrader(generator, deadline_s=5.0).run(query=QUESTION, documents=[PAGE])["scores"] == [0.9]
    assert sent[-1]["timeout"] == pytest.approx(5.5, abs=0.3)
    assert "timeout" not in responses.asked[0]
