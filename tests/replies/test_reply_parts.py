"""Replies in parts: what a model's server sends as a list is read, graded, streamed and counted like a text."""

import asyncio
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.utils import Secret
from makers import fill, run_by_door
from scripted_model import NAME, ScriptedModel, judging

from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.replies.parts import as_text

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
ANSWER = "Jane Austen wrote it [1]."


def chat(model: ScriptedModel) -> OpenAIChatGenerator:
    """Haystack's own generator for the scripted server."""
    return OpenAIChatGenerator(api_key=Secret.from_token("k"), model=NAME, api_base_url=model.url, max_retries=0)


@BOTH
def test_a_model_that_replies_in_parts_grades_answers_and_is_counted(
    in_memory_store: Any, scripted_model: ScriptedModel, asynchronous: bool
) -> None:
    """All over HTTP; without its thought, which names a passage that the answer does not cite."""
    fill(in_memory_store, [Document(content="Emma is a novel by Jane Austen."), Document(content="Bread is baked.")])
    scripted_model.in_parts = True
    scripted_model.reply = judging(lambda text: 0.9 if "Emma" in text else 0.0, ANSWER)
    rag = load("corrective_rag", store=in_memory_store, generator=chat(scripted_model))
    result = run_by_door(rag, asynchronous=asynchronous, query="Who wrote Emma?")
    record = result["crag"]
    assert result["answers"][0].data == ANSWER
    assert (record["verdict"], record["llm_calls"], scripted_model.calls) == ("correct", 2, 2)
    assert record["answer"] == {"status": "written", "cited": [1], "cited_unknown": [], "unsupported_numbers": []}
    assert not record["coverage"]["degraded"]


@BOTH
def test_an_answer_that_is_streamed_in_parts_is_heard_as_text(
    scripted_model: ScriptedModel, asynchronous: bool
) -> None:
    heard: list[str] = []

    async def listen_async(chunk: StreamingChunk) -> None:
        heard.append(chunk.content)

    def listen(chunk: StreamingChunk) -> None:
        heard.append(chunk.content)

    scripted_model.in_parts = True
    scripted_model.reply = judging(lambda _: 1.0, ANSWER)
    generator, prompt = AnswerGenerator(chat(scripted_model)), [ChatMessage.from_user("Who wrote Emma?")]
    if asynchronous:
        result = asyncio.run(generator.run_async(messages=prompt, streaming_callback=listen_async))
    else:
        result = generator.run(messages=prompt, streaming_callback=listen)
    assert result["replies"][0].text == "".join(heard) == ANSWER


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["Jane ", {"type": "text", "text": "Austen"}], "Jane Austen"),
        ([{"type": "output_text", "text": "Jane"}, {"type": "reference", "reference_ids": [1]}], "Jane"),
        ([{"type": "reasoning", "text": "Who?"}, {"type": "text", "text": None}, 7], None),
        ([], None),
    ],
)
def test_of_parts_the_texts_alone_are_the_reply(parts: list[Any], text: str | None) -> None:
    """What else stands among them is no answer; without any text there is none."""
    listed: Any = parts
    (reply,) = as_text({"replies": [ChatMessage.from_assistant(listed, meta={"finish_reason": "stop"})]})["replies"]
    assert (reply.text, reply.meta) == (text, {"finish_reason": "stop"})
