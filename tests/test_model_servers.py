"""
What servers of chat models send by their own documentation and source, each in its own words.

The bodies are written by hand. Those of Ollama 0.17.4, llama.cpp's server (xllamacpp 2026.10.11549), llama-cpp-python
0.3.36 and LiteLLM's proxy 1.108.7 were seen, sent by these with a small model; of the others none runs here.
"""

import gc
import json
import re
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.dataclasses import ChatMessage
from makers import after
from model_faults import Endpoint, Fault, Keys, client_of, completion, keyed
from scripted_model import documents_in
from werkzeug import Response

from haystack_integrations.crag.chat import kind_of
from haystack_integrations.crag.cli.errors import ExitCode, explain
from haystack_integrations.crag.components import (
    AnswerGenerator,
    BatchRelevanceGrader,
    FollowUpRewriter,
    QueryExpander,
    StripRefiner,
)
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.vocabulary import ANSWER_FAILED

QUESTION = "Who wrote Emma?"


def said(message: str, status: int = 400, **rest: Any) -> tuple[int, str]:
    """A status and a body as OpenAI's: one object that tells what is wrong."""
    return status, json.dumps({"error": {"message": message, **rest}})


TOO_LONG = {
    "OpenAI": said("This model's maximum context length is 4096 tokens. However, you requested 6011 tokens"),
    "OpenAI by its code": said("Please send less.", code="context_length_exceeded"),
    "OpenAI responses": said("Your input exceeds the context window of this model."),
    "llama.cpp": said(
        "request (3925 tokens) exceeds the available context size (512 tokens), try increasing it",
        type="exceed_context_size_error",
        n_prompt_tokens=3925,
        n_ctx=512,
    ),
    "llama.cpp as it writes": said("Context size has been exceeded.", 500, type="server_error"),
    "llama-cpp-python": said("Requested tokens (2285) exceed context window of 2048"),
    "llama-cpp-python 0.3.36": said(
        "This model's maximum context length is 2048 tokens. However, you requested 3964 tokens (3924 in the messages, "
        "40 in the completion). Please reduce the length of the messages or completion.",
        type="invalid_request_error",
        param="messages",
        code="context_length_exceeded",
    ),
    "vLLM": said("The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    "SGLang": (
        400,
        '{"object":"error","message":"Input is longer than the model\'s context length (4096 tokens)."}',
    ),
    "TGI": (422, '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"}'),
    "Ollama": said("the prompt is longer than the context length currently available to the model"),
    "Anthropic": said("prompt is too long: 210000 tokens > 200000 maximum"),
    "Google": (400, '[{"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum"}}]'),
    "Bedrock": said("ValidationException: Input is too long for requested model."),
    "xAI": (400, '{"error":"This model\'s maximum prompt length is 131072 but the request contains 140000 tokens"}'),
    "Kimi": said("Invalid request: Your request exceeded model token limit: 131072"),
    "Groq": said("Request too large for model on tokens per minute (TPM): Limit 6000", 413),
    "LiteLLM": said(
        "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - "
        "request (3925 tokens) was refused",
        type="invalid_request_error",
        code="400",
    ),
}
FILTERED = {
    "Azure": said("The response was filtered due to the prompt. Please modify it and retry.", code="content_filter"),
    "LiteLLM": said("litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException"),
    "Alibaba": said("Input data may contain inappropriate content.", code="data_inspection_failed"),
    "OpenRouter": said("Your chosen model requires moderation and your input was flagged", 403),
    "xAI": (403, '{"code":"forbidden","error":"Content violates usage guidelines."}'),
}


def docs(count: int, words: int = 3) -> list[Document]:
    """Documents that differ."""
    return [Document(content=f"Number {n} " + "emma " * words, id=f"d{n}") for n in range(count)]


def refusal(answer: tuple[int, str]) -> Response:
    """An error as a server sends it."""
    return Response(answer[1], answer[0], content_type="application/json", headers={"x-should-retry": "false"})


def graded(endpoint: Endpoint, answer: Callable[[Keys], Response], documents: list[Document]) -> dict[str, Any]:
    """A grading by an endpoint that answers so."""
    endpoint.fault = Fault(answer)
    grader = BatchRelevanceGrader(client_of(endpoint), max_llm_calls=9, max_chars_per_document=2_100)
    try:
        return dict(grader.run(query=QUESTION, documents=documents))
    finally:
        grader.close()


def piped(generator: AnswerGenerator) -> Pipeline:
    """A pipeline, whose errors name the component."""
    pipeline = Pipeline()
    pipeline.add_component("generator", generator)
    return pipeline


@pytest.mark.parametrize("server", TOO_LONG)
def test_a_prompt_that_a_server_calls_too_long_in_its_own_words_is_split(server: str, endpoint: Endpoint) -> None:
    """It is no offence at the form of the request: the halves are asked for by the schema as well."""
    result = graded(
        endpoint, lambda keys: refusal(TOO_LONG[server]) if len(keys) > 2 else completion(keyed(keys)), docs(4)
    )
    assert result["scores"] == [0.9] * 4
    assert (result["status"], endpoint.requests) == ("ok", 3)
    assert result["report"]["structured"]


@pytest.mark.parametrize("server", FILTERED)
def test_a_prompt_that_a_filter_stops_costs_the_document_that_it_is_for_alone(server: str, endpoint: Endpoint) -> None:
    """As where the filter stops the reply; the document is failed and not irrelevant."""
    guilty: list[str] = []

    def answer(keys: Keys) -> Response:
        guilty[:] = guilty or keys[-1:]
        return refusal(FILTERED[server]) if guilty[0] in keys else completion(keyed(keys))

    result = graded(endpoint, answer, docs(4))
    assert result["scores"] == [0.9, 0.9, 0.9, 0.5]
    assert result["report"]["reasons"] == ["grader_partial:content_filter"]
    assert (result["report"]["structured"], endpoint.requests) == (True, 5)


@pytest.mark.parametrize("words", ["Too many tokens, please wait", "Rate limit of the content_filter reached"])
def test_too_much_in_a_minute_is_no_prompt_that_is_too_long_and_none_that_a_filter_stopped(
    words: str, endpoint: Endpoint
) -> None:
    """The first is Amazon's; halves would be sent into the same limit."""
    result = graded(endpoint, lambda _: refusal(said(words, 429)), docs(4))
    assert result["report"]["reasons"] == ["grader_failed:RateLimitError"]
    assert endpoint.requests == 1


def read_by_ollama(keys: Keys, words: int, context: int) -> Response:
    """A reply to what is left of a prompt: one that does not fit is cut to a half of the context from its beginning."""
    whole = words * 4 // 3
    read = whole if whole < context else context // 2 + 2
    seen, score = (keys, 0.9) if read == whole else (keys[len(keys) // 2 :], 0.0)
    reply = json.loads(completion(keyed(seen, score)).get_data())
    reply["usage"] = {"prompt_tokens": read, "completion_tokens": 9, "total_tokens": read + 9}
    return Response(json.dumps(reply), content_type="application/json")


# LiteLLM's proxy 1.108.7, without a data base.
LITELLM_KEY = said("No connected db.", type="no_db_connection", param=None, code="400")
LITELLM_MODEL = said(
    "/chat/completions: Invalid model name passed in model=nope. Call `/v1/models` to view available "
    "models for your key.",
    type="invalid_request_error",
    code="400",
)
NO_SCHEMA = (
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input "
    "should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx': {'expected': \"'text' or 'json_object'\"}}"
)


@pytest.mark.parametrize(
    ("message", "structured", "requests"), [(NO_SCHEMA, False, 3), ("CUDA error: out of memory", True, 2)]
)
def test_a_schema_that_a_server_calls_a_failure_of_its_own_is_refused_all_the_same(
    message: str, structured: bool, requests: int, endpoint: Endpoint
) -> None:
    """llama-cpp-python's; without it no document is graded for ever. Any other failure is none of the schema's."""
    refusals = iter([refusal(said(message, 500, type="internal_server_error"))])
    endpoint.fault = Fault(lambda keys: next(refusals, None) or completion(keyed(keys)))
    grader = BatchRelevanceGrader(client_of(endpoint))
    statuses = [grader.run(query=question, documents=docs(3))["status"] for question in (QUESTION, "Who sold Emma?")]
    report = grader.run(query="Who read Emma?", documents=docs(3))["report"]
    grader.close()
    assert statuses == ["failed" if structured else "ok", "ok"]
    assert (report["structured"], endpoint.requests) == (structured, requests + 1)


def filled_by_ollama(keys: Keys, whole: int, details: dict[str, int] | None = None) -> Response:
    """As 0.17.4 was seen to: it cuts a prompt of 5584 tokens to 4096, and the reply is as long as any."""
    reply = json.loads(completion(keyed(keys, 0.9 if whole < 4096 else 0.0)).get_data())
    reply["usage"] = {"prompt_tokens": min(whole, 4096), "completion_tokens": 9, "total_tokens": min(whole, 4096) + 9}
    reply["usage"] |= {"prompt_tokens_details": details} if details else {}
    return Response(json.dumps(reply), content_type="application/json")


class Refused(Exception):  # noqa: N818 - named like nothing that is known
    """An error of a client, with what it tells of a response."""

    def __init__(self, text: str, **told: Any) -> None:
        """Take attributes, or what another error was raised for."""
        super().__init__(text)
        self.__cause__ = told.pop("cause", None)
        vars(self).update(told)


AWS = {"ResponseMetadata": {"HTTPStatusCode": 429}}
HEADERS = f"headers: {{'x-policy': '{'default-src ' * 100}'}}, status_code: 400, body: "


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Refused("Too many tokens, please wait before trying again.", cause=Refused("", response=AWS)), "Refused_429"),
        (Refused("Error in Google Gen AI chat generation: 401", cause=Refused("", code=401)), "Refused_401"),
        (Refused("model 'qwen3' not found", status_code=404), "Refused_404"),
        (Refused(HEADERS, status_code=400, body={"message": "too many tokens: 5000"}), "context_length"),
        (type("ApiError", (Refused,), {})("", status_code=529), "ApiError_529"),
        (type("NotFoundError", (type("ApiError", (Refused,), {}),), {})("", status_code=404), "NotFoundError"),
        (Refused("no connection"), "Refused"),
        (Refused("CUDA error", status_code=-1), "Refused"),
    ],
    ids=[
        "Bedrock throttles",
        "Google",
        "Ollama",
        "Cohere",
        "Cohere, no class of its own",
        "Cohere, its own",
        "none",
        "in a stream",
    ],
)
def test_a_refusal_is_told_by_its_status_also_where_a_generator_wraps_it(error: Exception, kind: str) -> None:
    """Without it, a Bedrock that throttles reads as a prompt that is too long, and is asked more, for less."""
    assert kind_of(error) == kind


def test_grades_from_a_prompt_that_was_cut_in_silence_do_not_count(endpoint: Endpoint) -> None:
    """Without the question's own lines they are no judgements; what the server read of it is told and counted."""
    result = graded(endpoint, lambda keys: read_by_ollama(keys, 200 + 400 * len(keys), 4096), docs(10, words=400))
    assert result["scores"] == [0.9] * 10
    assert result["report"]["bisections"] == 1
    assert result["report"]["tokens_in"] == 2050 + 2 * (2200 * 4 // 3)


def test_what_a_server_tells_of_a_prompt_that_it_cut_is_counted_whoever_asked(endpoint: Endpoint) -> None:
    """It read the rest, and wrote something: grader, query, strips and follow-up are not cheaper for it."""
    reply = json.loads(completion("Emma").get_data())
    reply["usage"] = {"prompt_tokens": 300, "completion_tokens": 9, "total_tokens": 309}
    endpoint.fault = Fault(lambda _: Response(json.dumps(reply), content_type="application/json"))
    question, pages = "Who wrote it? " * 200, docs(1, words=400)
    state = after("refine", CragState.start(question))
    earlier = [ChatMessage.from_user(question), ChatMessage.from_assistant(question)]
    grader = BatchRelevanceGrader(client_of(endpoint), max_chars_per_document=4_000)
    told = [
        grader.run(query=QUESTION, documents=pages)["report"],
        QueryExpander(mode="llm", chat_generator=client_of(endpoint)).run(state=state)["report"],
        StripRefiner(scorer="llm", chat_generator=client_of(endpoint)).run(query=QUESTION, documents=pages)["report"],
        FollowUpRewriter(client_of(endpoint)).run([*earlier, ChatMessage.from_user("And when?")])["report"],
    ]
    spent = [(one["tokens_in"] / one["llm_calls"], one["tokens_out"] / one["llm_calls"]) for one in told]
    assert spent == [(300, 9)] * 4


def test_a_prompt_that_fills_a_context_to_the_last_token_was_cut(endpoint: Endpoint) -> None:
    """It has more tokens than words, so its words alone do not tell: ten passages of 2,000 characters are such."""
    result = graded(endpoint, lambda keys: filled_by_ollama(keys, 559 * len(keys)), docs(10, words=320))
    assert result["scores"] == [0.9] * 10
    assert (result["report"]["bisections"], endpoint.requests) == (1, 3)


def test_a_prompt_that_only_looks_cut_does_not_split_the_next_ones(endpoint: Endpoint) -> None:
    """By chance one has the length of a context; taken for the context's end, all later ones would be split."""
    read = iter([4096, 2000, 2000, 4000])

    def reply(keys: Keys) -> Response:
        sent = json.loads(completion(keyed(keys, 0.9)).get_data())
        sent["usage"] = {"prompt_tokens": next(read), "completion_tokens": 9, "total_tokens": 4105}
        return Response(json.dumps(sent), content_type="application/json")

    endpoint.fault = Fault(reply)
    grader = BatchRelevanceGrader(client_of(endpoint), max_chars_per_document=2_100)
    for calls in (3, 1):
        result = grader.run(query=QUESTION, documents=docs(10, words=320))
        assert (result["scores"], result["report"]["llm_calls"]) == ([0.9] * 10, calls)


@pytest.mark.parametrize(("words", "details"), [(320, {"cached_tokens": 0}), (40, None)])
def test_a_prompt_of_that_length_was_not_cut_where_its_server_refuses_one_or_its_text_is_short(
    words: int, details: dict[str, int] | None, endpoint: Endpoint
) -> None:
    """OpenAI's and llama.cpp's tell what a count is made of; some servers tell one count for all prompts."""
    result = graded(endpoint, lambda keys: filled_by_ollama(keys, 4096, details), docs(10, words=words))
    assert (result["scores"], endpoint.requests) == ([0.0] * 10, 1)


def endless(left: Event) -> Iterator[str]:
    """A stream that ends when its reader leaves, as a server notices by the closed connection."""
    delta = {"index": 0, "delta": {"content": "Emma " * 1_000}, "finish_reason": None}
    part = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [delta]}
    try:
        while True:
            yield f"data: {json.dumps(part)}\n\n"
    finally:
        left.set()


@pytest.mark.parametrize("leaves", [False, True])
def test_a_stream_that_nobody_reads_on_is_closed_at_once(leaves: bool, endpoint: Endpoint) -> None:
    """Not when Python collects its garbage: a server with one slot would write on, and let the next question wait."""
    left = Event()
    endpoint.fault = Fault(lambda _: Response(endless(left), content_type="text/event-stream"))

    def hear(_: Any) -> None:
        if leaves:
            raise ConnectionError

    generator = AnswerGenerator(client_of(endpoint), timeout_s=0.5)
    gc.disable()
    try:
        (reply,) = generator.run(messages=[ChatMessage.from_user(QUESTION)], streaming_callback=hear)["replies"]
        assert left.wait(10)
    finally:
        gc.enable()
        generator.close()
    assert reply.meta[ANSWER_FAILED] == ("streaming_callback" if leaves else "deadline")


class Native:
    """A generator for a server's own API, which tells what was read of a prompt by another name."""

    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """Grade as far as the context holds."""
        assert generation_kwargs
        keys = list(documents_in([{"content": message.text or ""} for message in messages]))
        read = 2050 if len(keys) > 5 else 3000
        meta = {"finish_reason": "stop", "usage": {"input_tokens": read, "output_tokens": 9}}
        return {"replies": [ChatMessage.from_assistant(keyed(keys, 0.9 if read == 3000 else 0.0), meta=meta)]}


def test_a_cut_prompt_is_no_refused_schema_for_any_generator() -> None:
    """One of another vendor may refuse a schema by whatever error; this one has taken it."""
    grader = BatchRelevanceGrader(Native(), max_chars_per_document=2_100, structured_output=True)
    result = grader.run(query=QUESTION, documents=docs(10, words=400))
    assert (result["scores"], result["report"]["llm_calls"]) == ([0.9] * 10, 3)
    assert result["report"]["structured"]


class Narrow:
    """A generator of another vendor, whose model takes three documents."""

    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        """Grade, or refuse as LiteLLM's package does."""
        keys = list(documents_in([{"content": message.text or ""} for message in messages]))
        if len(keys) > 3:
            raise Refused("ContextWindowExceededError: exceeds the available context size", status_code=400)
        assert generation_kwargs
        return {"replies": [ChatMessage.from_assistant(keyed(keys), meta={"finish_reason": "stop"})]}


def test_a_prompt_that_is_too_long_is_no_refused_schema_for_any_generator() -> None:
    """Else the halves are asked for in words, and a warning tells to do without a schema that is taken."""
    result = BatchRelevanceGrader(Narrow(), structured_output=True).run(query=QUESTION, documents=docs(6))
    assert (result["scores"], result["report"]["llm_calls"]) == ([0.9] * 6, 3)
    assert result["report"]["structured"]


def test_the_next_grading_sends_no_prompt_that_was_too_long_before(endpoint: Endpoint) -> None:
    """A wasted call for each question, and documents beyond the limit of calls, where the context holds three."""
    endpoint.fault = Fault(lambda keys: refusal(TOO_LONG["llama.cpp"]) if len(keys) > 3 else completion(keyed(keys)))
    grader = BatchRelevanceGrader(client_of(endpoint), max_chars_per_document=2_100)
    first = grader.run(query=QUESTION, documents=docs(10, words=400))
    again = grader.run(query="Who sold Emma?", documents=docs(10, words=400))
    alone = grader.run(query="Who read Emma?", documents=docs(1, words=400))
    grader.close()
    assert first["report"]["reasons"] == ["grader_partial:context_length", "grader_partial:max_llm_calls"]
    assert (again["status"], again["report"]["bisections"], again["report"]["llm_calls"]) == ("ok", 0, 4)
    assert (alone["status"], alone["report"]["llm_calls"]) == ("ok", 1)


def test_a_count_that_no_server_made_is_none(endpoint: Endpoint) -> None:
    """Some report 0 or 1 for every prompt."""
    result = graded(endpoint, lambda keys: completion(keyed(keys)), docs(10, words=400))
    assert (result["status"], endpoint.requests) == ("ok", 1)


def test_an_answer_to_a_part_of_the_prompt_is_none(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """The instructions were cut, and an unknown part of the evidence; the way out is in the log."""
    endpoint.fault = Fault(lambda keys: read_by_ollama(["only"], 4000, 4096))
    prompt = [ChatMessage.from_system("Cite."), ChatMessage.from_user("word " * 4000)]
    (reply,) = AnswerGenerator(client_of(endpoint)).run(messages=prompt)["replies"]
    assert reply.meta[ANSWER_FAILED] == "context_length"
    assert reply.meta["usage"]["prompt_tokens"] == 2050
    assert re.search("read 2050 tokens of a longer prompt.*OLLAMA_CONTEXT_LENGTH", caplog.text)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda _: refusal(FILTERED["Azure"]), "its filter stopped the prompt"),
        (lambda _: refusal(TOO_LONG["Groq"]), "refused: 413.*too long"),
        (lambda _: refusal(said("System role not supported")), "refused: 400.*takes a system message"),
        (lambda _: refusal(LITELLM_KEY), "refused: 400.*behind LiteLLM CRAG_LLM_API_KEY"),
        (lambda _: refusal(LITELLM_MODEL), "refused: 400.*CRAG_LLM_MODEL names a chat model that it has"),
        (lambda _: read_by_ollama(["only"], 4000, 4096), "read 2050 tokens of a longer prompt.*OLLAMA_CONTEXT_LENGTH"),
    ],
)
def test_crag_ask_names_the_way_out(answer: Callable[[Keys], Response], told: str, endpoint: Endpoint) -> None:
    """A filter is not mended by a longer context, nor a short context by another address."""
    endpoint.fault = Fault(answer)
    generator = AnswerGenerator(client_of(endpoint), on_failure="raise")
    with pytest.raises(Exception, match=r".") as raised:
        piped(generator).run({"generator": {"messages": [ChatMessage.from_user("word " * 4000)]}})
    message, code = explain(raised.value)
    assert re.search(told, message)
    assert code is ExitCode.UNREACHABLE
