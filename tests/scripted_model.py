"""A chat model whose replies a function writes: an OpenAI-compatible server on loopback, for tests without a mock.

The fixture `scripted_model` gives one for each test, `configured_model` one that `crag` finds by itself. It counts
calls, keeps requests, and can fail or be slow on demand. `judging` writes the reply function most tests need: it
grades what the grading prompt shows, and answers the rest.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from threading import Event, Lock
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

Messages = list[dict[str, Any]]
Reply = Callable[[Messages], tuple[str, str]]
"""From the messages of a request to the text of the reply and its finish reason, for example `("Yes.", "stop")`."""

NAME = "scripted-model"
_DOCUMENT = re.compile(r'<(doc-[a-z]{7}) id="([b-z]{3,4})"[^>]*>\n(.*?)\n</\1>', re.DOTALL)


def documents_in(messages: Messages) -> dict[str, str]:
    """Give the documents of a grading prompt, text by key; empty when the messages ask for something else."""
    return {key: text for _, key, text in _DOCUMENT.findall(messages[-1]["content"])}


def judging(score: Callable[[str], float], answer: str = "The answer is in [1].") -> Reply:
    """Write a reply function that grades each document's text with `score`, and otherwise gives `answer`."""

    def reply(messages: Messages) -> tuple[str, str]:
        documents = documents_in(messages)
        line = " ".join(f"{key} {score(text)}" for key, text in documents.items())
        return (json.dumps({"grades": line}) if documents else answer), "stop"

    return reply


class ScriptedModel:
    """The server's script and its memory; set `reply`, `status` and `delay` at any time."""

    def __init__(self, server: HTTPServer) -> None:
        self.reply: Reply = judging(lambda _: 1.0)
        self.status = 200  # another one is answered instead of a reply
        self.delay = 0.0  # seconds before each answer
        self.pause = 0.0  # seconds before each word of a stream
        self.parts: int | None = None  # a stream of an answer ends after so many, without a word on why
        self.streams_usage = True  # a stream ends with its tokens where the request asks for them, as OpenAI's do
        self.words: list[str] | None = None  # the parts of a stream, where they are not the words of the reply
        self.in_parts = False  # a text is sent as a list of parts behind one that is a thought, as Mistral's models do
        self.streams = True  # False takes no notice of `stream`, and answers whole
        self.refuses, self.refusal = "", 400  # a request with this entry is answered with this status
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []  # the API key of each request
        self.url = f"http://{server.host}:{server.port}/v1"
        self._lock, self._over = Lock(), Event()
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._complete)
        server.expect_request("/v1/models", method="GET").respond_with_json({"object": "list", "data": [_MODEL]})

    @property
    def calls(self) -> int:
        """Count the requests for a completion."""
        return len(self.requests)

    @property
    def gradings(self) -> int:
        """Count those that asked for grades."""
        return sum(bool(documents_in(request["messages"])) for request in self.requests)

    def end(self) -> None:
        """Let requests that still wait end at once."""
        self._over.set()

    def _paced(self, parts: Iterator[str]) -> Iterator[str]:
        for part in parts:
            self._over.wait(self.pause)
            yield part

    def _complete(self, request: Request) -> Response:
        body = request.get_json()
        with self._lock:
            self.requests.append(body)
            self.keys.append(request.headers.get("Authorization", "").removeprefix("Bearer "))
        self._over.wait(self.delay)
        if self.refuses and self.refuses in body:
            return _response({"error": {"message": f"unknown entry {self.refuses}", "type": "scripted"}}, self.refusal)
        if self.status != 200:
            return _response({"error": {"message": f"scripted {self.status}", "type": "scripted"}}, self.status)
        text, finish_reason = self.reply(body["messages"])
        read, written = len(json.dumps(body["messages"])) // 4, len(text) // 4
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        if body.get("stream") and self.streams:
            told = usage if self.streams_usage and (body.get("stream_options") or {}).get("include_usage") else None
            words = self.words or re.findall(r"\S+\s*", text)
            parts = islice(_parts(body["model"], words, finish_reason, told, in_parts=self.in_parts), self.parts)
            return Response(self._paced(parts), content_type="text/event-stream")
        content = [*_THOUGHT, *_as_parts(re.findall(r"\S+\s*", text))] if self.in_parts else text
        return _response(
            {
                "id": "scripted",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [
                    {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
                ],
                "usage": usage,
            }
        )


_MODEL = {"id": NAME, "object": "model", "created": 0, "owned_by": "tests"}


_THOUGHT: list[dict[str, Any]] = [{"type": "thinking", "thinking": [{"type": "text", "text": "Not [2], then?"}]}]


def _as_parts(words: list[str]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": word} for word in words]


def _parts(model: str, words: list[str], finish_reason: str, usage: Any, *, in_parts: bool) -> Iterator[str]:
    """A reply word by word, as OpenAI streams it."""
    chunk = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": model}
    contents: list[Any] = [_THOUGHT, *([part] for part in _as_parts(words))] if in_parts else words
    for content in contents:
        choice = {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": None}
        yield f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"
    choice = {"index": 0, "delta": {}, "finish_reason": finish_reason}
    yield f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"
    if usage:
        yield f"data: {json.dumps({**chunk, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def _response(body: dict[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """Serve a scripted model while the test runs."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        model = ScriptedModel(server)
        yield model
        model.end()


@pytest.fixture
def configured_model(scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Serve a scripted model that the environment's CRAG_LLM_* settings name."""
    monkeypatch.setenv("CRAG_LLM_BASE_URL", scripted_model.url)
    monkeypatch.setenv("CRAG_LLM_MODEL", NAME)
    return scripted_model
