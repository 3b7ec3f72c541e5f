"""AnswerGenerator: an answer within the run's time, or an honest sentence in its place."""

import asyncio
import inspect
import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import FallbackChatGenerator, MockChatGenerator, OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, ImageContent, StreamingChunk
from haystack.utils import Secret
from makers import graded, scripted
from model_faults import Endpoint, Fault, client_of, completion
from reading import named
from scripted_model import NAME, ScriptedModel
from werkzeug import Response

from haystack_integrations.crag.answers import cut_off
from haystack_integrations.crag.budget import Budget, Usage
from haystack_integrations.crag.chat import CallError
from haystack_integrations.crag.chat_model import ChatModel
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.record_builder import RecordBuilder
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.state import CragState
from haystack_integrations.crag.streaming import heard
from haystack_integrations.crag.vocabulary import ANSWER_FAILED, BROKEN_OFF

_NAMES = ("gen_ai.response.model", "gen_ai.response.finish_reasons")
PROMPT = [ChatMessage.from_user("Who wrote Emma?")]


class Broken:
    """A chat generator that raises, or hangs until it is released."""

    def __init__(self, error: Exception | None = None) -> None:
        """Raise an error, or hang."""
        self.error, self.over = error, threading.Event()

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Fail."""
        if self.error is not None:
            raise self.error
        self.over.wait(60)
        return {"replies": [ChatMessage.from_assistant("late")]}


def run_and_close(generator: AnswerGenerator, inputs: dict[str, Any], *, asynchronous: bool) -> dict[str, Any]:
    """What it gives, by one of the doors; the other one's connections end with their event loop."""

    async def asked() -> dict[str, Any]:
        try:
            return await generator.run_async(**inputs)
        finally:
            await generator.close_async()

    return asyncio.run(asked()) if asynchronous else generator.run(**inputs)


def ask(generator: AnswerGenerator, state: CragState | None = None, *, asynchronous: bool = False) -> ChatMessage:
    """The reply, by one of the doors."""
    if asynchronous:
        result = asyncio.run(generator.run_async(messages=PROMPT, state=state))
    else:
        result = generator.run(messages=PROMPT, state=state)
    reply: ChatMessage = result["replies"][0]
    return reply


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_the_models_reply_passes_unchanged(asynchronous: bool) -> None:
    """With its metadata, so that its cost is counted."""
    reply = ask(AnswerGenerator(scripted("Jane Austen [1].")), asynchronous=asynchronous)
    assert reply.text == "Jane Austen [1]."
    assert reply.meta["usage"]["prompt_tokens"] == 100


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize(
    "state", [None, CragState.start("q", budget=Budget(seconds=0.3))], ids=["own limit", "budget of the run"]
)
def test_a_model_that_hangs_is_given_up_in_time(state: CragState | None, asynchronous: bool) -> None:
    """By its own limit, or what the run has left, whichever is less."""
    model = Broken()
    generator = AnswerGenerator(model, timeout_s=0.3 if state is None else 60)
    known = None if state is None else replace(state, started=time.monotonic())
    start = time.monotonic()
    reply = ask(generator, known, asynchronous=asynchronous)
    assert time.monotonic() - start < 10
    assert reply.meta["crag_failure"] == "deadline"
    assert "could not be written" in str(reply.text)
    model.over.set()


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize(("seconds", "calls"), [(0.0, 0), (1.0, 1)], ids=["no time", "some time"])
def test_only_a_model_that_was_asked_is_counted(asynchronous: bool, seconds: float, calls: int) -> None:
    """Where no time is left it is not asked at all; given up after a while, it was."""
    model = Broken()
    known = CragState.start("q", budget=Budget(seconds=10), started=time.monotonic() - 10 + seconds)
    reply = ask(AnswerGenerator(model), known, asynchronous=asynchronous)
    outcome = CragRouter().run(query="q", documents=[Document(content="a")], mode="off")["outcome"]
    record = RecordBuilder().run(outcome=outcome, replies=[reply])["crag"]
    assert record["coverage"]["reasons"] == ["answer_failed:deadline"]
    assert record["coverage"]["deadline_hit"] is True
    assert record["llm_calls"] == calls
    model.over.set()


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_what_a_model_thinks_is_not_its_answer(asynchronous: bool) -> None:
    """It stands in the message's reasoning; a citation in it counts for nothing."""
    reply = ask(AnswerGenerator(scripted("<think>Rather [2]?</think>\n\nJane Austen [1].")), asynchronous=asynchronous)
    assert reply.text == "Jane Austen [1]."
    assert reply.meta["usage"]["prompt_tokens"] == 100


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_model_that_fails_leaves_the_evidence_and_a_reason_in_the_record(
    asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The kind of failure, never its text."""
    reply = ask(AnswerGenerator(Broken(RuntimeError("secret text"))), asynchronous=asynchronous)
    outcome = CragRouter().run(query="q", documents=[], mode="off")["outcome"]
    record = RecordBuilder().run(outcome=outcome, replies=[reply])["crag"]
    assert record["coverage"]["reasons"] == ["answer_failed:RuntimeError"]
    assert record["coverage"]["deadline_hit"] is False
    assert "RuntimeError" in caplog.text
    assert "secret text" not in caplog.text


def test_a_strict_generator_raises_what_the_client_raised() -> None:
    """For callers who have their own way with errors."""
    with pytest.raises(RuntimeError, match="as it was"):
        ask(AnswerGenerator(Broken(RuntimeError("as it was")), on_failure="raise"))


def test_parts_of_the_answer_are_streamed() -> None:
    """The callback reaches the chat generator, which needs not know of it otherwise."""
    heard: list[str] = []
    generator = AnswerGenerator(MockChatGenerator("one two"))
    generator.run(messages=PROMPT, streaming_callback=lambda chunk: heard.append(chunk.content))
    assert "".join(heard) == "one two"


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize(
    ("parts", "finish_reason", "reasons"),
    [(2, "stop", ["answer_cut_off:stream"]), (None, "stop", []), (None, "eos_token", []), (2, None, [])],
    ids=["broken off", "whole", "whole, in a server's own word", "not streamed"],
)
def test_a_stream_that_ends_without_any_reason_was_broken_off(
    parts: int | None, finish_reason: str | None, reasons: list[str], asynchronous: bool, scripted_model: ScriptedModel
) -> None:
    """As a proxy leaves it that was cut from its model: without a word of its own it would pass for an answer."""
    scripted_model.reply = lambda _: ("Jane Austen wrote it [1].", str(finish_reason))
    scripted_model.parts = parts
    model = OpenAIChatGenerator(Secret.from_token("none"), "scripted-model", api_base_url=scripted_model.url)
    generator, inputs = AnswerGenerator(model), {"messages": PROMPT}
    heard: list[str] = []
    if finish_reason is not None:
        inputs["streaming_callback"] = lambda chunk: heard.append(chunk.content)
    result = run_and_close(generator, inputs, asynchronous=asynchronous)
    document = graded("Emma is by Jane Austen.", 0.9, "Who wrote Emma?")
    outcome = CragRouter().run(query="Who wrote Emma?", documents=[document])["outcome"]
    crag = RecordBuilder().run(outcome=outcome, replies=result["replies"])["crag"]
    assert (crag["answer"]["status"], crag["coverage"]["reasons"]) == ("written", reasons)


@pytest.mark.parametrize(
    ("name", "meta", "is_marked"),
    [
        ("OwnGenerator", {}, False),
        ("OpenAIChatGenerator", {"finish_reason": "stop"}, False),
        ("OpenAIChatGenerator", {}, True),
        ("OpenAIResponsesChatGenerator", {}, True),
    ],
    ids=["of another API", "told at the end", "told nowhere", "told nowhere, responses"],
)
def test_a_generator_that_never_gives_a_reason_is_not_called_broken_off(
    name: str, meta: dict[str, Any], is_marked: bool
) -> None:
    """Only servers of OpenAI's APIs always give one; whether in a part or with the whole answer is their affair."""

    def run(_: Any, messages: Any, streaming_callback: Any, generation_kwargs: Any = None) -> Any:
        streaming_callback(StreamingChunk(content="one two"))
        return {"replies": [ChatMessage.from_assistant("one two", meta=dict(meta))]}

    generator = AnswerGenerator(type(name, (), {"run": run})())
    (reply,) = generator.run(messages=PROMPT, streaming_callback=lambda _: None)["replies"]
    assert reply.text == "one two"
    assert (BROKEN_OFF in reply.meta) is is_marked


@pytest.mark.parametrize(
    ("name", "meta", "told"),
    [
        ("OllamaChatGenerator", {"done": True, "finish_reason": None}, "length"),
        ("OllamaChatGenerator", {"done": True, "finish_reason": "stop"}, None),
        ("AnthropicChatGenerator", {"finish_reason": None}, "interrupted"),
        ("CohereChatGenerator", {"finish_reason": "ERROR_TOXIC"}, "content_filter"),
        ("OwnGenerator", {}, None),
    ],
    ids=["Ollama's word dropped", "Ollama's word", "a broken stream", "a word handed on", "of no known API"],
)
def test_an_answer_without_the_word_that_its_server_always_says_was_cut(
    name: str, meta: dict[str, Any], told: str | None
) -> None:
    """Haystack's generator for Ollama knows no `length`: half an answer would pass for a whole one."""

    def run(_: Any, messages: Any, streaming_callback: Any = None, generation_kwargs: Any = None) -> Any:
        return {"replies": [ChatMessage.from_assistant("one two", meta=dict(meta))]}

    (reply,) = AnswerGenerator(type(name, (), {"run": run})()).run(messages=PROMPT)["replies"]
    assert (reply.text, cut_off(reply)) == ("one two", told)


def test_the_word_is_missed_of_the_model_that_a_fallback_asked_as_well() -> None:
    """`FallbackChatGenerator` tells by name who replied."""
    said = {"replies": [ChatMessage.from_assistant("one")], "meta": {"successful_chat_generator_class": None}}

    def run(_: Any, messages: Any, streaming_callback: Any = None, generation_kwargs: Any = None) -> Any:
        if streaming_callback is not None:
            streaming_callback(StreamingChunk(content="one"))
        return said

    inner = type("OpenAIChatGenerator", (), {"run": run})()
    generator = AnswerGenerator(type("FallbackChatGenerator", (), {"run": run, "chat_generators": [inner]})())
    (whole,) = generator.run(messages=PROMPT)["replies"]
    assert cut_off(whole) is None
    (streamed,) = generator.run(messages=PROMPT, streaming_callback=lambda _: None)["replies"]
    assert cut_off(streamed) == "stream"
    said.update(
        replies=[ChatMessage.from_assistant("one")], meta={"successful_chat_generator_class": "OllamaChatGenerator"}
    )
    (other,) = generator.run(messages=PROMPT)["replies"]
    assert cut_off(other) == "interrupted"


class Talking:
    """A chat generator that says one word, and the next when it is told to go on; it knows no `run_async`."""

    def __init__(self) -> None:
        """Wait for nobody yet."""
        self.go_on, self.over, self.said_all = threading.Event(), threading.Event(), False

    def run(self, messages: list[ChatMessage], streaming_callback: Any, **_: Any) -> dict[str, Any]:
        """Say both words."""
        streaming_callback(StreamingChunk(content="soon "))
        self.go_on.wait(60)
        try:
            streaming_callback(StreamingChunk(content="late"))
            self.said_all = True
        finally:
            self.over.set()
        return {"replies": [ChatMessage.from_assistant("soon late")]}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_callback_hears_in_the_thread_that_asked(asynchronous: bool) -> None:
    """As of Haystack's own generators: a page of Streamlit took none from another thread, and the answer was lost."""
    model, threads = Talking(), set()
    model.go_on.set()
    inputs: dict[str, Any] = {"messages": PROMPT, "streaming_callback": lambda _: threads.add(threading.get_ident())}
    generator = AnswerGenerator(model)
    found = asyncio.run(generator.run_async(**inputs)) if asynchronous else generator.run(**inputs)
    assert found["replies"][0].text == "soon late"
    assert threads == {threading.get_ident()}


def test_an_interrupt_of_a_callback_ends_the_run_and_the_model() -> None:
    """As Streamlit ends a script that was started anew; the thread of the model ends with it."""

    def interrupt(_: StreamingChunk) -> None:
        raise KeyboardInterrupt

    model = Talking()
    with pytest.raises(KeyboardInterrupt):
        AnswerGenerator(model).run(messages=PROMPT, streaming_callback=interrupt)
    model.go_on.set()
    model.over.wait(1)
    assert not model.said_all


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_after_the_apology_the_callback_hears_nothing_more(asynchronous: bool) -> None:
    """The thread that was given up ends with the model's next part, which nobody hears: it would be paid for."""
    words: list[str] = []
    model = Talking()
    generator = AnswerGenerator(model, timeout_s=1.0)
    inputs: dict[str, Any] = {"messages": PROMPT, "streaming_callback": lambda chunk: words.append(chunk.content)}
    result = asyncio.run(generator.run_async(**inputs)) if asynchronous else generator.run(**inputs)
    assert result["replies"][0].meta[ANSWER_FAILED] == "deadline"
    model.go_on.set()
    assert model.over.wait(60)
    assert words == ["soon "]
    assert not model.said_all


class Blocking:
    """A chat generator without its `run_async`, which is asked in a thread."""

    def __init__(self, generator: Any) -> None:
        """Take the generator."""
        self.generator = generator

    def run(self, messages: list[ChatMessage], streaming_callback: Any) -> dict[str, Any]:
        """Ask it."""
        found: dict[str, Any] = self.generator.run(messages=messages, streaming_callback=streaming_callback)
        return found


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_after_an_error_of_the_callback_no_other_model_is_asked(asynchronous: bool) -> None:
    """It would be paid for nothing, and its answer begin once more for a reader who has gone."""
    heard, asked = list[str](), list[str]()

    def fail(chunk: StreamingChunk) -> None:
        heard.append(chunk.content)
        msg = "the reader has gone"
        raise ConnectionError(msg)

    async def fail_async(chunk: StreamingChunk) -> None:
        fail(chunk)

    models = [MockChatGenerator(response_fn=lambda _: asked.append("asked") or "Austen") for _ in range(2)]
    generator = AnswerGenerator(FallbackChatGenerator(models))
    inputs: dict[str, Any] = {"messages": PROMPT, "streaming_callback": fail_async if asynchronous else fail}
    result = asyncio.run(generator.run_async(**inputs)) if asynchronous else generator.run(**inputs)
    assert result["replies"][0].meta[ANSWER_FAILED] == "streaming_callback"
    assert (len(asked), len(heard)) == (1, 1)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_after_the_apology_no_other_model_is_asked(asynchronous: bool) -> None:
    """One that stands in for another would take the end of its thread for a failure, and be paid for nothing."""
    asked: list[str] = []
    first, second = Talking(), MockChatGenerator(response_fn=lambda _: asked.append("second") or "Jane Austen.")
    generator = AnswerGenerator(Blocking(FallbackChatGenerator([first, second])), timeout_s=0.5)
    inputs: dict[str, Any] = {"messages": PROMPT, "streaming_callback": lambda _: None}
    result = asyncio.run(generator.run_async(**inputs)) if asynchronous else generator.run(**inputs)
    assert result["replies"][0].meta[ANSWER_FAILED] == "deadline"
    first.go_on.set()
    assert first.over.wait(60)
    time.sleep(0.2)
    assert not asked


async def test_a_coroutine_function_hears_a_model_that_works_in_a_thread() -> None:
    """In order, on its own event loop; and nothing after the apology."""
    words: list[str] = []
    model = Talking()

    async def listen(chunk: StreamingChunk) -> None:
        await asyncio.sleep(0)
        words.append(chunk.content)
        model.go_on.set()

    result = await AnswerGenerator(model).run_async(messages=PROMPT, streaming_callback=listen)
    assert words == ["soon ", "late"]
    assert result["replies"][0].text == "soon late"


@pytest.mark.parametrize("own", [True, False], ids=["the generator's", "the run's"])
@pytest.mark.parametrize("is_object", [True, False])
def test_a_coroutine_function_that_nobody_can_await_is_refused(own: bool, is_object: bool) -> None:
    """It passed for a model that failed, with an apology as the answer; an object with such a method heard nothing."""

    class Listening:
        async def __call__(self, chunk: StreamingChunk) -> None:
            """Hear nothing."""

    listen: Any = Listening()
    listen = listen if is_object else listen.__call__

    generator = AnswerGenerator(MockChatGenerator("one two", streaming_callback=listen if own else None))
    with pytest.raises(ConfigurationError, match=r"coroutine function as .*streaming_callback.*run_async"):
        generator.run(messages=PROMPT, streaming_callback=None if own else listen)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_callback_that_raises_is_told_from_a_model_that_fails(
    asynchronous: bool, scripted_model: ScriptedModel
) -> None:
    """By its name on record, and by its own error as the cause; by OpenAI's API it passed for no completion."""
    scripted_model.reply = lambda _: ("In cages.", "stop")
    error = AttributeError("'NoneType' object has no attribute 'send'")

    def fail(chunk: StreamingChunk) -> None:
        raise error

    async def fail_async(chunk: StreamingChunk) -> None:
        raise error

    inputs: dict[str, Any] = {"messages": PROMPT, "streaming_callback": fail_async if asynchronous else fail}

    def asked(on_failure: Any) -> Any:
        model = ChatModel(NAME, scripted_model.url).generator(10)
        generator = AnswerGenerator(model, on_failure=on_failure)
        return asyncio.run(generator.run_async(**inputs)) if asynchronous else generator.run(**inputs)

    assert asked("reply")["replies"][0].meta[ANSWER_FAILED] == "streaming_callback"
    with pytest.raises(CallError, match="streaming_callback raised AttributeError") as caught:
        asked("raise")
    assert caught.value.__cause__ is error


def test_a_coroutine_function_listens_as_one() -> None:
    """Generators ask which kind a callback is, and await what a coroutine function gives."""
    words: list[str] = []

    async def listen(chunk: StreamingChunk) -> None:
        words.append(chunk.content)

    generator = AnswerGenerator(MockChatGenerator("one two"))
    asyncio.run(generator.run_async(messages=PROMPT, streaming_callback=listen))
    assert "".join(words) == "one two"
    with heard(listen) as passed:
        assert passed is not None
        assert inspect.iscoroutinefunction(passed)
    asyncio.run(passed(StreamingChunk(content=" three")))
    assert "".join(words) == "one two"


def test_the_span_tells_the_cost_and_no_text(exporter: Any) -> None:
    """Tokens and finish reason."""
    ask(AnswerGenerator(scripted("Jane Austen [1].")))
    (span,) = [span for span in exporter.get_finished_spans() if span.name == "crag.answer"]
    assert span.attributes["gen_ai.usage.input_tokens"] == 100
    assert "Jane" not in str(dict(span.attributes))


@pytest.mark.parametrize("settings", [{"timeout_s": 0}, {"on_failure": "keep"}])
def test_unusable_settings_are_refused(settings: dict[str, Any]) -> None:
    """With what is accepted."""
    with pytest.raises(ConfigurationError):
        AnswerGenerator(MockChatGenerator("x"), **settings)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": {"text": 3}},
        *("3", ["3"]),
        *({"prompt_tokens": number} for number in (float("nan"), float("inf"), 1e300, 10**400, -1, True)),
    ],
)
def test_a_usage_that_is_no_number_costs_nobody_the_answer(usage: Any) -> None:
    """Who counts must not hurt."""
    model = MockChatGenerator("Jane Austen [1].", meta={"usage": usage})
    (reply,) = AnswerGenerator(model).run(messages=[ChatMessage.from_user("Who?")])["replies"]
    assert reply.text == "Jane Austen [1]."
    assert Usage.of(reply) == Usage()


@pytest.mark.parametrize("is_async", [False, True])
def test_without_time_left_no_model_is_asked(is_async: bool) -> None:
    """It would be paid for, and nobody would read its reply."""
    asked: list[Any] = []
    model = MockChatGenerator(response_fn=lambda messages: str(asked.append(messages)))
    state = CragState.start("Who?", budget=Budget(seconds=0.001), started=0.0)
    part, messages = AnswerGenerator(model), [ChatMessage.from_user("Who?")]
    given = part.run_async(messages=messages, state=state) if is_async else None
    result = asyncio.run(given) if given is not None else part.run(messages=messages, state=state)
    assert asked == []
    assert result["replies"][0].meta[ANSWER_FAILED] == "deadline"


@pytest.mark.parametrize("text", ["", "  \n", "[1] [2]", "[1] and [2]"])
def test_a_reply_without_text_is_no_answer(text: str) -> None:
    """As of a model that thought until its tokens were spent."""
    (reply,) = AnswerGenerator(MockChatGenerator(text)).run([ChatMessage.from_user("Who?")])["replies"]
    assert (reply.text, reply.meta["crag_failure"]) == (AnswerGenerator(MockChatGenerator("x")).apology, "no_text")
    with pytest.raises(ValueError, match="without any text"):
        AnswerGenerator(MockChatGenerator(text), on_failure="raise").run([ChatMessage.from_user("Who?")])


@pytest.mark.parametrize(
    ("finish_reason", "kind", "way_out"),
    [
        ("stop", "no_text", "more tokens"),
        ("length", "no_text", "more tokens"),
        ("content_filter", "content_filter", "other words"),
        ("SAFETY", "content_filter", "other words"),
        ("refusal", "content_filter", "other words"),
        ("insufficient_system_resource", "interrupted", "ask again"),
    ],
)
def test_a_reply_without_text_is_told_by_what_ended_it(finish_reason: str, kind: str, way_out: str) -> None:
    """No number of tokens helps against a filter."""
    model = MockChatGenerator("", meta={"finish_reason": finish_reason})
    (reply,) = AnswerGenerator(model).run(PROMPT)["replies"]
    assert reply.meta["crag_failure"] == kind
    with pytest.raises(ValueError, match=way_out):
        AnswerGenerator(model, on_failure="raise").run(PROMPT)


class Slow:
    """A chat generator that takes a second."""

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Answer late."""
        time.sleep(1.0)
        return {"replies": [ChatMessage.from_assistant("Jane Austen [1].")]}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_answer_that_took_too_long_is_raised_with_words(asynchronous: bool) -> None:
    """What ends a wait has none, and a pipeline shows nothing else."""
    with pytest.raises(TimeoutError, match=r"did not answer within timeout_s=0\.1 s"):
        ask(AnswerGenerator(Slow(), timeout_s=0.1, on_failure="raise"), asynchronous=asynchronous)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("written", ["", None])
def test_a_reply_without_text_has_its_cost_in_the_record(
    written: str | None, asynchronous: bool, endpoint: Endpoint
) -> None:
    """Also where the content is null, as of a model that thought until its tokens were spent."""
    endpoint.fault = Fault(lambda _: completion(written, "length"))
    document = graded("Emma is by Jane Austen.", 0.9, "Who wrote Emma?")
    outcome = CragRouter().run(query="Who wrote Emma?", documents=[document])["outcome"]
    reply = ask(AnswerGenerator(client_of(endpoint)), asynchronous=asynchronous)
    crag = RecordBuilder().run(outcome=outcome, replies=[reply])["crag"]
    assert crag["coverage"]["reasons"] == ["answer_failed:no_text"]
    assert (crag["llm_calls"], crag["tokens"]) == (1, {"in": 1, "out": 1})


def test_several_replies_of_one_call_cost_what_the_call_cost(endpoint: Endpoint) -> None:
    """A server tells the tokens of them all once, and Haystack's generator writes that on each."""
    endpoint.fault = Fault(lambda _: two_replies())
    model = client_of(endpoint)
    model.generation_kwargs = {"n": 2}
    document = graded("Emma is by Jane Austen.", 0.9, "Who wrote Emma?")
    outcome = CragRouter().run(query="Who wrote Emma?", documents=[document])["outcome"]
    replies = AnswerGenerator(model).run(PROMPT)["replies"]
    assert [reply.text for reply in replies] == ["Austen [1].", "Jane Austen [1]."]
    crag = RecordBuilder().run(outcome=outcome, replies=replies)["crag"]
    assert (crag["llm_calls"], crag["tokens"]) == (1, {"in": 1, "out": 1})


def two_replies() -> Response:
    """What a server answers that is asked for two."""
    body = json.loads(completion("Austen [1].").get_data())
    (first,) = body["choices"]
    second = {**first, "index": 1, "message": {"role": "assistant", "content": "Jane Austen [1]."}}
    return Response(json.dumps({**body, "choices": [first, second]}), content_type="application/json")


class Silent:
    """A chat generator that was asked and gives no reply at all, as a filter in front of a model may leave it."""

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Give nothing."""
        return {"replies": []}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_model_that_gives_no_reply_was_asked_and_failed(asynchronous: bool) -> None:
    """Not an answer that nobody asked for: it is counted, and the record says why there is none."""
    reply = ask(AnswerGenerator(Silent()), asynchronous=asynchronous)
    assert reply.meta["crag_failure"] == "no_text"
    document = graded("Emma is by Jane Austen.", 0.9, "Who wrote Emma?")
    outcome = CragRouter().run(query="Who wrote Emma?", documents=[document])["outcome"]
    crag = RecordBuilder().run(outcome=outcome, replies=[reply])["crag"]
    assert (crag["answer"]["status"], crag["llm_calls"]) == ("failed", 1)
    assert crag["coverage"]["reasons"] == ["answer_failed:no_text"]


@pytest.mark.parametrize("said", ["Canary birds sing", "canary\n", "canary" * 100, ["canary"], {"canary": 1}, 5, ""])
def test_what_a_server_writes_in_the_place_of_a_name_is_on_no_span(exporter: Any, said: Any) -> None:
    """It may be what it was sent; a name of a usual length is told."""
    for meta in ({"model": said, "finish_reason": said}, {"model": "gpt-7/mini", "finish_reason": "eos"}):
        AnswerGenerator(MockChatGenerator("In cages.", meta=meta)).run(messages=[ChatMessage.from_user("Where?")])
        document = Document(content="Birds sing.")
        BatchRelevanceGrader(MockChatGenerator("x", meta=meta)).run(query="Where?", documents=[document])
    spans = [{name: one.get(name) for name in _NAMES} for one in named(exporter, "crag.answer")]
    assert spans == [dict.fromkeys(_NAMES), {_NAMES[0]: "gpt-7/mini", _NAMES[1]: ["eos"]}]
    assert [one.get(_NAMES[1]) for one in named(exporter, "crag.grade")] == [None, ["eos"]]


def test_an_answer_whose_server_tells_no_tokens_has_none_on_its_span(
    exporter: Any, scripted_model: ScriptedModel
) -> None:
    """As of some streamed ones: 0 would say that it cost nothing."""
    scripted_model.streams_usage = False
    scripted_model.reply = lambda _: ("In cages.", "stop")
    generator = ChatModel(NAME, scripted_model.url).generator(10)
    for callback in (None, lambda _: None):
        AnswerGenerator(generator).run(messages=[ChatMessage.from_user("Where?")], streaming_callback=callback)
    whole, streamed = named(exporter, "crag.answer")
    assert whole["gen_ai.usage.input_tokens"] > 0
    assert streamed["gen_ai.response.finish_reasons"] == ["stop"]
    assert not {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"} & set(streamed)


class Heard(list[StreamingChunk]):
    """A callback that remembers, and needs what Haystack's parts have."""

    def __call__(self, chunk: StreamingChunk) -> None:
        """Read a part as Haystack documents it."""
        assert "finish_reason" in chunk.meta
        self.append(chunk)


def streamed(
    generator: AnswerGenerator, *, asynchronous: bool = False, heard: Heard | None = None
) -> tuple[ChatMessage, dict[str, Any]]:
    """A streamed answer, and the record of its run."""
    callback = Heard() if heard is None else heard
    inputs: dict[str, Any] = {"messages": PROMPT, "streaming_callback": callback}
    replies = run_and_close(generator, inputs, asynchronous=asynchronous)["replies"]
    document = graded("Emma is by Jane Austen.", 0.9, "Who wrote Emma?")
    outcome = CragRouter().run(query="Who wrote Emma?", documents=[document])["outcome"]
    return replies[0], RecordBuilder().run(outcome=outcome, replies=replies)["crag"]


BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@BOTH
def test_a_streamed_answer_tells_its_tokens(asynchronous: bool, scripted_model: ScriptedModel) -> None:
    """OpenAI's API tells them of a stream only where it is asked to; the part that does is not the user's."""
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    generator = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    reply, record = streamed(generator, asynchronous=asynchronous)
    assert reply.text == "Jane Austen [1]."
    assert record["tokens"]["out"] == len("Jane Austen [1].") // 4
    assert record["tokens"]["in"] > 0
    assert record["coverage"]["tokens"] == sum(record["tokens"].values())


@BOTH
def test_a_server_that_refuses_to_be_asked_for_tokens_answers_all_the_same_and_is_asked_once(
    asynchronous: bool, scripted_model: ScriptedModel
) -> None:
    """And the record says that they are not known; 0 would say that the answer cost nothing."""
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    scripted_model.refuses = "stream_options"
    generator = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    for calls in (2, 1, 1):  # what was refused was asked, too
        reply, record = streamed(generator, asynchronous=asynchronous)
        assert reply.text == "Jane Austen [1]."
        assert record["llm_calls"] == calls
        assert record["tokens"] == {"in": None, "out": None}
        assert record["coverage"]["tokens"] is None
    assert ["stream_options" in request for request in scripted_model.requests] == [True, False, False, False]


def test_a_refusal_for_another_reason_does_not_end_asking_for_tokens(scripted_model: ScriptedModel) -> None:
    """Refused without the option too, and the option is not why; once it was taken, it never is."""
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    generator = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    asked: list[bool] = []
    for status in (400, 200, 400, 200):
        scripted_model.status = status
        streamed(generator)
        asked += ["stream_options" in request for request in scripted_model.requests]
        scripted_model.requests.clear()
    assert asked == [True, False, True, True, True]


@BOTH
def test_a_server_that_takes_no_notice_of_stream_answers_in_one_part(
    asynchronous: bool, scripted_model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Its answer is asked for again, whole; after the second one no stream is asked for, and the log tells it once."""
    scripted_model.reply = lambda _: ("<think>[2]?</think>Jane Austen [1].", "stop")
    scripted_model.streams = False
    generator = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    for _ in range(4):
        heard = Heard()
        reply, record = streamed(generator, asynchronous=asynchronous, heard=heard)
        assert "".join(part.content for part in heard) == reply.text == "Jane Austen [1]."
        assert record["answer"]["status"] == "written"
        assert record["coverage"]["reasons"] == []
        assert record["tokens"]["in"] > 0
    asked = ["stream" in request and request["stream"] for request in scripted_model.requests]
    assert asked == [True, False, True, False, False, False]
    assert caplog.text.count("no parts are asked for now") == 1


@BOTH
def test_parts_that_came_before_are_asked_for_again_ten_minutes_after_they_stayed_away(
    asynchronous: bool, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that asked another server for a while left all later answers without a stream."""
    generator = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    for streams in (True, False, False, True):
        scripted_model.streams = streams
        streamed(generator, asynchronous=asynchronous)
    assert not scripted_model.requests[-1].get("stream")
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 601)
    monkeypatch.setattr("haystack_integrations.crag.answer_model.time", later)
    heard = Heard()
    streamed(generator, asynchronous=asynchronous, heard=heard)
    assert scripted_model.requests[-1]["stream"]
    assert len(heard) > 1


def test_one_stream_without_a_part_is_no_reason_to_ask_for_no_more(scripted_model: ScriptedModel) -> None:
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    generator = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    for scripted_model.streams in (False, True, False, True):
        streamed(generator)
    asked = [bool(request.get("stream")) for request in scripted_model.requests]
    assert asked == [True, False, True, True, False, True]


@BOTH
def test_tokens_that_no_server_told_are_unknown_also_of_a_whole_answer(asynchronous: bool) -> None:
    """A generator that tells none says nothing of what it cost."""
    replies = [ask(AnswerGenerator(scripted("x", "stop")), asynchronous=asynchronous)]
    assert replies[0].meta.pop("usage")
    document = graded("Emma is by Jane Austen.", 0.9, "Who wrote Emma?")
    outcome = CragRouter().run(query="Who wrote Emma?", documents=[document])["outcome"]
    assert RecordBuilder().run(outcome=outcome, replies=replies)["crag"]["tokens"] == {"in": None, "out": None}


@pytest.mark.parametrize("own", [{"stream_options": {"include_usage": False}}, {"extra_body": {"stream_options": {}}}])
def test_a_generators_own_word_on_tokens_of_streams_is_kept(own: dict[str, Any], scripted_model: ScriptedModel) -> None:
    """Whoever set it knows the server."""
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    key = Secret.from_token("none")
    model = OpenAIChatGenerator(key, NAME, api_base_url=scripted_model.url, generation_kwargs=own)
    _, record = streamed(AnswerGenerator(model))
    wanted = own.get("stream_options", own.get("extra_body", {}).get("stream_options"))
    assert scripted_model.requests[0]["stream_options"] == wanted
    assert record["tokens"]["in"] is None


def test_a_generator_that_streams_by_itself_is_asked_for_tokens_and_one_that_does_not_is_not(
    scripted_model: ScriptedModel,
) -> None:
    """Servers refuse the option where nothing is streamed."""
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    generator = ChatModel(NAME, scripted_model.url).generator(10)
    ask(AnswerGenerator(generator))
    generator.streaming_callback = lambda _: None
    assert ask(AnswerGenerator(generator)).meta["usage"]["completion_tokens"] > 0
    assert ["stream_options" in request for request in scripted_model.requests] == [False, True]


def test_half_a_character_in_the_evidence_does_not_cost_the_answer(scripted_model: ScriptedModel) -> None:
    """In whatever message it stands, beside parts that are no text."""
    scripted_model.reply = lambda _: ("Jane Austen [1].", "stop")
    image = ImageContent(base64_image="aGk=", mime_type="image/png", validation=False)
    prompt = [ChatMessage.from_system("Be \ud83d brief."), ChatMessage.from_user(content_parts=["\ude00?", image])]
    model = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    assert model.run(messages=prompt)["replies"][0].text == "Jane Austen [1]."
    system, user = scripted_model.requests[0]["messages"]
    assert (system["content"], user["content"][0]["text"]) == ("Be \ufffd brief.", "\ufffd?")
    assert user["content"][1]["type"] == "image_url"
    assert prompt[0].text == "Be \ud83d brief."


@BOTH
@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_half_a_character_of_a_model_is_joined_with_the_other_or_shown_as_missing(
    is_streamed: bool, asynchronous: bool, scripted_model: ScriptedModel
) -> None:
    """As servers send it that cut texts by UTF-16; no server could send it on, as it is no UTF-8."""
    scripted_model.reply = lambda _: ("A smile \ud83d \ude00 [1].", "stop")
    scripted_model.words = ["A smile \ud83d", "\ude00 ", "\ud83d", " [1]."]
    model = AnswerGenerator(ChatModel(NAME, scripted_model.url).generator(10))
    words: list[str] = []

    async def ask_and_close() -> dict[str, Any]:
        try:
            return await model.run_async(messages=PROMPT, streaming_callback=callback)
        finally:
            await model.close_async()

    callback: Any = (lambda chunk: words.append(chunk.content)) if is_streamed else None
    result = asyncio.run(ask_and_close()) if asynchronous else model.run(messages=PROMPT, streaming_callback=callback)
    if is_streamed:
        assert result["replies"][0].text == "".join(words) == "A smile \U0001f600 \ufffd [1]."
    else:
        assert result["replies"][0].text == "A smile \ufffd \ufffd [1]."
