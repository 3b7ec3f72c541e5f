"""
A chat model for load: OpenAI-compatible, of fixed latency, raw ASGI because it shares the cores with what it serves.

    python benchmarks/model_server.py --port 8010 [--latency 0.2] [--fail 0.1]

A question is about a case, `case0000123`. A document is relevant when it holds the topic of the case, and an answer
names its case, so an answer or a grade that reached the wrong question shows in the reply. It also tells how long it
took over each case (`GET /times`, which forgets them), and changes how many calls fail (`POST /fail/0.1`).
"""

import argparse
import asyncio
import random
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import uvicorn

TOPICS = 100
FAULTS = ("429", "503", "cut", "429", "503", "cut", "429", "503", "length", "hang")
CASE = re.compile(r"\bcase(\d{7})\b")
_GRADED = re.compile(r'<(doc-[a-z]{7}) id="([b-z]{3,4})"[^>]*>\n(.*?)\n</\1>', re.DOTALL)
_RANKED = re.compile(r"^Document (\d+):\n(.*?)(?=^Document \d+:|\Z)", re.DOTALL | re.MULTILINE)
_JSON = [(b"content-type", b"application/json")]
_HANG_SECONDS = 600

Send = Callable[[dict[str, Any]], Awaitable[None]]


def case(number: int) -> str:
    """Name a case."""
    return f"case{number:07}"


def topic(number: int) -> str:
    """Name what a case is about, a word of some documents."""
    return f"topic{number % TOPICS:03}"


def reply_to(prompt: str, number: int) -> str:
    """Grade, rank or answer: whatever the prompt asks for, about one case."""
    wanted = topic(number)
    if graded := _GRADED.findall(prompt):
        line = " ".join(f"{key} {'.9' if wanted in text else '.1'}" for _, key, text in graded)
        return orjson.dumps({"grades": line}).decode()
    if prompt.lstrip().startswith("You are ranking"):  # Haystack's LLMRanker
        documents = prompt.partition("\nDocuments:")[2]
        found = [{"index": int(place)} for place, text in _RANKED.findall(documents) if wanted in text]
        return orjson.dumps({"documents": found}).decode()
    return f"The answer to {case(number)} stands in the first document [1]."


class Model:
    """The server's script and its memory."""

    def __init__(self, latency: float, fail: float) -> None:
        self.latency, self.fail = latency, fail
        self.seconds: defaultdict[int, float] = defaultdict(float)
        self._dice = random.Random(7)

    async def __call__(self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        """Answer a request."""
        begun, path, body, more = time.perf_counter(), scope["path"], b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if path.endswith("/chat/completions"):
            await self._complete(orjson.loads(body), begun, send)
        elif path.startswith("/fail/"):
            self.fail = float(path.removeprefix("/fail/"))
            await _send(send, {})
        else:
            times, self.seconds = self.seconds, defaultdict(float)
            await _send(send, {str(number): seconds for number, seconds in times.items()})

    async def _complete(self, request: dict[str, Any], begun: float, send: Send) -> None:
        prompt = request["messages"][-1]["content"]
        named = CASE.search(prompt)
        number = int(named[1]) if named else 0
        fault = self._dice.choice(FAULTS) if self._dice.random() < self.fail else ""
        text = reply_to(prompt, number)
        await asyncio.sleep(_HANG_SECONDS if fault == "hang" else self.latency)
        self.seconds[number] += time.perf_counter() - begun
        if fault in ("429", "503"):
            await _send(send, {"error": {"message": "scripted", "type": "scripted"}}, int(fault))
        elif request.get("stream"):
            await _stream(send, request["model"], text, cut=fault == "cut")
        else:
            reply = _completion(request["model"], len(prompt), text, cut=fault == "length")
            await _send(send, reply, cut=fault == "cut")


def _completion(model: str, read: int, text: str, *, cut: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": text[: len(text) // 2] if cut else text}
    choice = {"index": 0, "message": message, "finish_reason": "length" if cut else "stop"}
    usage = {"prompt_tokens": read // 4, "completion_tokens": len(text) // 4, "total_tokens": (read + len(text)) // 4}
    head = {"id": "scripted", "object": "chat.completion", "created": 0, "model": model}
    return {**head, "choices": [choice], "usage": usage}


async def _send(send: Send, body: Any, status: int = 200, *, cut: bool = False) -> None:
    """Send a whole reply, or one that promises more than comes: the connection is closed on it."""
    text = orjson.dumps(body)
    retry = [(b"retry-after", b"1")] if status == 429 else []
    headers = [*_JSON, *retry, (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text[: len(text) // 2] if cut else text, "more_body": cut})


async def _stream(send: Send, model: str, text: str, *, cut: bool) -> None:
    """Send a reply word by word, or its first half."""
    words = re.findall(r"\S+\s*", text)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for word in words[: len(words) // 2 if cut else None]:
        await send({"type": "http.response.body", "body": _chunk(model, {"content": word}), "more_body": True})
    if not cut:
        last = _chunk(model, {}, "stop") + b"data: [DONE]\n\n"
        await send({"type": "http.response.body", "body": last, "more_body": False})


def _chunk(model: str, delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": model}
    return b"data: " + orjson.dumps({**head, "choices": [choice]}) + b"\n\n"


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--fail", type=float, default=0.0)
    given = parser.parse_args()
    model: Any = Model(given.latency, given.fail)
    # What it breaks off on purpose is no error to be logged.
    uvicorn.run(model, port=given.port, lifespan="off", access_log=False, log_level="critical", timeout_keep_alive=60)


if __name__ == "__main__":
    main()
