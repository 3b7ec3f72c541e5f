"""What llama.cpp's own server does with what we send: asked too much, by a wrong key, given up, and killed."""

import json
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from llama_server import ANSWER, LlamaServer, running

from haystack_integrations.crag.cli.errors import explain
from haystack_integrations.crag.components import AnswerGenerator, BatchRelevanceGrader
from haystack_integrations.crag.vocabulary import ANSWER_FAILED

PROMPT = [ChatMessage.from_system("Cite."), ChatMessage.from_user("Who wrote Emma?")]
FOR_EVER = {"extra_body": {"ignore_eos": True}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("llama")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[LlamaServer]:
    with running(folder, 65_536) as started:
        yield started


def client(server: LlamaServer, options: dict[str, Any] | None = None, key: str = "none") -> OpenAIChatGenerator:
    secret = Secret.from_token(key)
    return OpenAIChatGenerator(
        secret, "tiny", api_base_url=server.url, timeout=60, max_retries=0, generation_kwargs=options
    )


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_answer_comes_with_what_it_cost(asynchronous: bool, streams: bool, server: LlamaServer) -> None:
    """In parts as well: the server tells the tokens of a stream where it is asked to."""
    parts: list[str] = []

    def hear(chunk: Any) -> None:
        parts.append(chunk.content)

    async def hear_async(chunk: Any) -> None:
        hear(chunk)

    generator = AnswerGenerator(client(server))
    if asynchronous:
        result = await generator.run_async(messages=PROMPT, streaming_callback=hear_async if streams else None)
        await generator.close_async()
    else:
        result = generator.run(messages=PROMPT, streaming_callback=hear if streams else None)
        generator.close()
    (reply,) = result["replies"]
    assert (reply.text, reply.meta["finish_reason"]) == (ANSWER, "stop")
    assert reply.meta["usage"]["completion_tokens"] == 6
    assert "".join(parts) == (ANSWER if streams else "")


def test_a_reply_is_held_to_the_schema(server: LlamaServer) -> None:
    """Whatever the model would say: what it says of no document that was asked about is no grade."""
    grader = BatchRelevanceGrader(client(server, {"max_tokens": 400, "seed": 1}), max_llm_calls=1)
    result = grader.run(query="Who wrote Emma?", documents=[Document(content="Emma is a novel by Jane Austen.")])
    grader.close()
    assert result["report"]["structured"]
    assert result["scores"] == [0.5]
    assert set(result["report"]["reasons"]) <= {"grader_failed:missing", "grader_failed:max_llm_calls"}


def test_a_prompt_that_its_context_does_not_hold_is_told_as_too_long(folder: Path) -> None:
    """Asked in parts as well; the way out is a longer context, not another key."""
    with running(folder, 512) as short:
        generator = AnswerGenerator(client(short), on_failure="raise")
        for listener in (None, print):
            with pytest.raises(Exception, match="exceeds the available context size") as raised:
                generator.run(messages=[ChatMessage.from_user("who wrote it " * 300)], streaming_callback=listener)
        generator.close()
    assert re.search("the prompt is too long for it", explain(raised.value)[0])


def test_an_answer_that_fills_the_context_says_that_it_was_cut(folder: Path) -> None:
    """The server stops there and says `length`; it does not drop the beginning to go on."""
    with running(folder, 512) as short:
        (reply,) = AnswerGenerator(client(short, FOR_EVER)).run(messages=PROMPT)["replies"]
    assert reply.meta["finish_reason"] == "length"
    assert reply.meta["usage"]["total_tokens"] == 512


def test_a_wrong_key_is_told_with_the_setting_that_holds_it(folder: Path) -> None:
    """The kind is that of any server of OpenAI's API."""
    with running(folder, 512, key="right") as locked:
        generator = AnswerGenerator(client(locked, key="wrong"), on_failure="raise")
        with pytest.raises(Exception, match="Invalid API Key") as raised:
            generator.run(messages=PROMPT)
        generator.close()
    assert re.search("refused: 401.*CRAG_LLM_API_KEY", explain(raised.value)[0])


@pytest.mark.parametrize("streams", [False, True])
def test_a_server_stops_writing_what_was_given_up(streams: bool, server: LlamaServer) -> None:
    """Its one slot is free again for the next question, which would wait for the end of this answer."""
    generator = AnswerGenerator(client(server, FOR_EVER), timeout_s=0.5)
    (reply,) = generator.run(messages=PROMPT, streaming_callback=(lambda _: None) if streams else None)["replies"]
    assert reply.meta[ANSWER_FAILED] == "deadline"
    assert _becomes_free(server)
    generator.close()


def test_a_server_stops_writing_what_its_listener_does_not_take(server: LlamaServer) -> None:
    """As where the page that showed it was closed."""

    def leave(_: Any) -> None:
        raise ConnectionError

    generator = AnswerGenerator(client(server, FOR_EVER))
    (reply,) = generator.run(messages=PROMPT, streaming_callback=leave)["replies"]
    assert reply.meta[ANSWER_FAILED] == "streaming_callback"
    assert _becomes_free(server)
    generator.close()


def _becomes_free(server: LlamaServer) -> bool:
    """Ask now and then: a server that is asked each second for its slots does not look who has left."""
    for _ in range(5):
        time.sleep(1.5)
        with urllib.request.urlopen(server.url.removesuffix("/v1") + "/slots") as response:
            if not any(slot["is_processing"] for slot in json.load(response)):
                return True
    return False


def test_a_server_that_is_killed_while_it_writes_has_written_no_answer(folder: Path) -> None:
    """What was heard of it was a part; the evidence is returned all the same."""
    heard: list[str] = []
    with running(folder, 65_536) as doomed:
        generator = AnswerGenerator(client(doomed, FOR_EVER))
        Timer(0.5, doomed.process.kill).start()
        (reply,) = generator.run(messages=PROMPT, streaming_callback=lambda part: heard.append(part.content))["replies"]
        generator.close()
    assert heard
    assert reply.meta[ANSWER_FAILED] == "APIConnectionError"
