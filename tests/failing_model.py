"""A chat model over HTTP whose calls fail as a seed says; a run's record must agree with its log.

Which call fails, and how, is drawn from the run's seed and what the call asks for, not from when it came: calls side by
side find the same in every run of the tests, and so does an answer that is asked for in another mode.
"""

import json
import random
import re
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

import pytest
from model_faults import refused
from pytest_httpserver import HTTPServer
from scripted_model import NAME, Messages, documents_in
from werkzeug import Request, Response

FAULTS: Final = ("cut", "refused", "null", "two", "garbage", "400", "429", "500", "reset")
HANGS: Final = "hang"  # drawn rarely: each costs the whole timeout of the client
GRADED: Final = (None, "two")
"""What a grading is usable after."""
STATUS: Final = {"400": 400, "429": 429}
TOO_LONG: Final = "the request exceeds the available context size"
LEFT: Final = 300
"""Tokens of a prompt that was cut in silence: fewer than one with passages has words, more than a server's guess."""

_NUMBER: Final = re.compile(r"passage(\d+)")
_LINES: Final = re.compile(r"^(\d+) ", re.MULTILINE)


@dataclass(frozen=True)
class Call:
    """A request, and what became of it."""

    kind: str
    fault: str | None
    read: int = 0
    written: int = 0


@dataclass
class Plan:
    """What a run meets: how often a call fails, and the grades of passages, by their number."""

    seed: str
    share: float = 0.0
    grades: tuple[float, ...] = (1.0,)
    faults: tuple[str, ...] = field(default=(*FAULTS * 3, HANGS), repr=False)

    def grade(self, number: int) -> float:
        """The grade of a passage; those of the web, which have no number, are as the first."""
        return self.grades[number % len(self.grades)]


class FailingModel:
    """The server's plan and its log; both are set anew for each run."""

    def __init__(self, server: HTTPServer) -> None:
        self.plan, self.log = Plan("none"), list[Call]()
        self.url = server.url_for("/v1")
        self._asked, self._lock, self._over = Counter[str](), Lock(), Event()
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._complete)

    def begin(self, plan: Plan) -> None:
        """Begin a run."""
        self.plan, self.log, self._asked = plan, [], Counter()

    def end(self) -> None:
        """Let requests that still wait end at once."""
        self._over.set()

    def _complete(self, request: Request) -> Response:
        messages, plan = request.get_json()["messages"], self.plan
        kind = kind_of(messages)
        words = sum(len(message["content"].split()) for message in messages)
        fault = self._drawn(plan, kind, messages)
        if fault == "cut" and words <= LEFT:  # nobody could tell, and nothing is missing
            fault = None
        text = None if fault == "null" else "}{ [99] zz" if fault == "garbage" else written(plan, kind, messages)
        # More than words: else they would be those of a prompt that was cut; nor as many as fill a context.
        read = LEFT if fault == "cut" else words * 2 + 7 + ((words * 2 + 7) % 4096 == 0)
        wrote = len((text or "").split()) + 3
        answered = fault in (None, "cut", "null", "two", "garbage")
        call = Call(kind, fault, read, wrote) if answered else Call(kind, fault)
        with self._lock:
            self.log.append(call)
        if answered:
            return completion(text, call, count=1 + (fault == "two"))
        if fault == "reset":
            reset(request.environ["werkzeug.socket"])
        if fault == HANGS:
            self._over.wait(60)
        return refused(400, message=TOO_LONG) if fault == "refused" else refused(STATUS.get(fault or "", 500))

    def _drawn(self, plan: Plan, kind: str, messages: Messages) -> str | None:
        """Draw by what is asked for and how often it was: by the passages shown, as all else differs by chance."""
        what = f"{plan.seed}/{kind}/{sorted(set(_NUMBER.findall(messages[-1]['content'])))}"
        with self._lock:
            number, self._asked[what] = self._asked[what], self._asked[what] + 1
        drawn = random.Random(f"{what}/{number}")
        return drawn.choice(plan.faults) if drawn.random() < plan.share else None


def kind_of(messages: Messages) -> str:
    """Tell who asks."""
    if documents_in(messages):
        return "grade"
    if "You choose the sentences" in messages[0]["content"]:
        return "strips"
    return "answer" if "numbered evidence" in messages[0]["content"] else "query"


def written(plan: Plan, kind: str, messages: Messages) -> str:
    """Write the reply that was asked for."""
    asked = messages[-1]["content"]
    if kind == "grade":
        numbers = {key: _NUMBER.search(text) for key, text in documents_in(messages).items()}
        scores = {key: plan.grade(int(found[1]) if found else 0) for key, found in numbers.items()}
        if "evaluations" in asked:
            return json.dumps({"evaluations": [{"id": k, "score": v, "reason": "scripted"} for k, v in scores.items()]})
        return json.dumps({"grades": " ".join(f"{key} {score}" for key, score in scores.items())})
    if kind == "strips":
        return json.dumps({"keep": [int(number) for number in _LINES.findall(asked)][::2]})
    return "It is so [1]." if kind == "answer" else "railway opened again"


def completion(text: str | None, call: Call, *, count: int) -> Response:
    """Write a completion with its tokens, those of all its choices together."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": number, "message": message, "finish_reason": "stop"} for number in range(count)]
    usage = {"prompt_tokens": call.read, "completion_tokens": call.written, "total_tokens": call.read + call.written}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": NAME, "choices": choices, "usage": usage}
    return Response(json.dumps(body), content_type="application/json")


def reset(connection: socket.socket) -> None:
    """End a connection without a word."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError


@pytest.fixture
def failing_model() -> Iterator[FailingModel]:
    """Serve a model while the test runs."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        model = FailingModel(server)
        yield model
        model.end()
