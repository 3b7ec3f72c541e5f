"""
What an endpoint of a chat model may do wrong, each as a function that writes its response; and a server that does it.

The fixture `endpoint` gives one for each test. It answers over HTTP, and is asked through Haystack's own generator.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from pytest_httpserver import HTTPServer
from scripted_model import documents_in
from werkzeug import Request, Response

# A client that gives up sends its request again: only where the endpoint hangs may a slow machine look like it.
TIMEOUT, HANGS, RETRIES = 60.0, 1.0, 1
Keys = list[str]
Answer = Callable[[Keys], Response]


def completion(text: str | None, finish: str = "stop", choices: bool = True) -> Response:
    """A chat completion as a server sends it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
    return Response(json.dumps({**body, "choices": [choice] if choices else []}), content_type="application/json")


def keyed(keys: Keys, score: Any = 0.9) -> str:
    """The reply that was asked for."""
    return json.dumps({"evaluations": [{"id": key, "score": score} for key in keys]})


def raw(keys: Keys, number: str) -> str:
    """A reply with a literal that Python would not write."""
    return keyed(keys, "@").replace('"@"', number)


def refused(status: int, headers: dict[str, str] | None = None, message: str = "scripted") -> Response:
    """An HTTP error."""
    body = {"error": {"message": message, "type": "scripted", "code": message}}
    return Response(json.dumps(body), status, headers=headers, content_type="application/json")


def hang(_: Keys) -> Response:
    """Longer than the client waits, on a slow machine too."""
    time.sleep(HANGS * 20)
    return completion("late")


def cut_body(_: Keys) -> Response:
    """A body that ends before its announced length."""
    response = Response(b'{"id": "c", "cho', content_type="application/json")
    response.headers["Content-Length"] = "500"
    response.automatically_set_content_length = False
    return response


@dataclass(frozen=True)
class Fault:
    """
    One row: what the endpoint answers, whether the grades are usable all the same, and what bounds a grading by it.

    `kind` is the word for it where no reply comes at all, whoever asks.
    """

    answer: Answer
    graded: bool = False
    requests: int = 4
    seconds: float = 15.0  # one that waits as a server asks for, or for its whole timeout, takes longer
    timeout: float = TIMEOUT
    kind: str | None = None


def text(make: Callable[[Keys], str | None], finish: str = "stop") -> Answer:
    """Answer with a text."""
    return lambda keys: completion(make(keys), finish)


def sent(body: str | bytes, content_type: str = "application/json") -> "Fault":
    """A reply with status 200 that is no chat completion: it is asked for once, and told by one word."""
    return Fault(lambda _: Response(body, content_type=content_type), requests=1, kind="no_completion")


ONE = 1 + RETRIES
FAULTS: dict[str, Fault] = {
    "01 not JSON": Fault(text(lambda _: "Sure, happy to help!")),
    "02 empty text": Fault(text(lambda _: "")),
    "03 no text": Fault(text(lambda _: None)),
    "04 no replies": Fault(lambda _: completion("", choices=False)),
    "05 fenced JSON": Fault(text(lambda k: f"```json\n{keyed(k)}\n```"), graded=True, requests=1),
    "06 thoughts with decoy": Fault(
        text(lambda k: f"<think>{keyed(k, 0.1)}</think>{keyed(k)}"), graded=True, requests=1
    ),
    "07 two objects": Fault(text(lambda k: keyed(k) + keyed(k, 0.1))),
    "08 duplicate ids": Fault(text(lambda k: json.dumps([{"id": i, "score": s} for i in k for s in (0.9, 0.2)]))),
    "09 unknown ids": Fault(text(lambda k: keyed(["zzzzzz" for _ in k]))),
    "10 short array": Fault(text(lambda k: json.dumps([0.9] * (len(k) - 1)))),
    "11 long array": Fault(text(lambda k: json.dumps([0.9] * (len(k) + 1)))),
    "12 NaN": Fault(text(lambda k: raw(k, "NaN"))),
    "12 Infinity": Fault(text(lambda k: raw(k, "-Infinity"))),
    "12 1e999": Fault(text(lambda k: raw(k, "1e999"))),
    "13 negative": Fault(text(lambda k: keyed(k, -0.1))),
    "13 above one": Fault(text(lambda k: keyed(k, 1.1))),
    "13 another scale": Fault(text(lambda k: keyed(k, 95))),
    "14 bool": Fault(text(lambda k: keyed(k, score=True))),
    "14 percent": Fault(text(lambda k: keyed(k, "90 %"))),
    "14 comma": Fault(text(lambda k: keyed(k, "0,9"))),
    "15 brackets": Fault(text(lambda _: "[" * 100_000)),
    "16 cut at once": Fault(text(lambda k: keyed(k)[:20], "length")),
    "17 filtered but valid": Fault(text(keyed, "content_filter")),
    "18 refusal": Fault(text(lambda _: "I cannot help with that.")),
    "19 429 at once": Fault(lambda _: refused(429, {"Retry-After": "0"}), requests=ONE, kind="RateLimitError"),
    "19 429 soon": Fault(lambda _: refused(429, {"Retry-After": "1"}), requests=ONE, kind="RateLimitError"),
    "19 429 after the deadline": Fault(
        lambda _: refused(429, {"Retry-After": "100"}), requests=ONE, kind="RateLimitError"
    ),
    "19 429 much later": Fault(lambda _: refused(429, {"Retry-After": "999"}), requests=ONE, kind="RateLimitError"),
    "19 429 date": Fault(
        lambda _: refused(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), requests=ONE, kind="RateLimitError"
    ),
    "20 500": Fault(lambda _: refused(500), requests=ONE, kind="InternalServerError"),
    "20 502": Fault(lambda _: refused(502), requests=ONE, kind="InternalServerError"),
    "20 503": Fault(lambda _: refused(503), requests=ONE, kind="InternalServerError"),
    "21 hang": Fault(hang, requests=ONE, timeout=HANGS, kind="APITimeoutError"),
    "22 reset mid-body": Fault(cut_body, requests=ONE, kind="APIConnectionError"),
    "23 context overflow": Fault(lambda _: refused(400, message="context_length_exceeded"), kind="context_length"),
    # Beyond the matrix. A request refused for its form is tried once more without the schema, and no further.
    "24 refused for its form": Fault(
        lambda _: refused(400, message="unknown entry"), requests=2, kind="BadRequestError"
    ),
    "25 a proxy's page": sent("<html>502 Bad Gateway", "text/html"),
    "26 an error with status 200": sent('{"error": {"message": "scripted"}}'),
    "27 a page that is called JSON": sent("<html>502 Bad Gateway"),
    "28 nothing": sent(""),
    "29 another charset": sent('{"choices": "\u00e9"}'.encode("latin-1")),
    "30 a text that is a number": sent('{"choices": [{"index": 0, "message": {"role": "assistant", "content": 5}}]}'),
}


@dataclass
class Endpoint:
    """A server that answers every request with one fault, and counts."""

    url: str
    fault: Fault | None = None
    requests: int = 0


@pytest.fixture(scope="session")
def endpoints() -> Iterator[tuple[str, dict[str, Endpoint]]]:
    """One server for all tests, since each takes half a second to end; every test has a place of its own there."""
    known: dict[str, Endpoint] = {}
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:

        def answer(request: Request) -> Response:
            made = known[request.path.split("/")[1]]
            made.requests += 1
            assert made.fault is not None
            return made.fault.answer(list(documents_in(request.get_json()["messages"])))

        server.expect_request(re.compile(".*/v1/chat/completions"), method="POST").respond_with_handler(answer)
        yield f"http://{server.host}:{server.port}", known


@pytest.fixture
def endpoint(endpoints: tuple[str, dict[str, Endpoint]]) -> Endpoint:
    """An endpoint on loopback."""
    url, known = endpoints
    place = str(len(known))
    known[place] = Endpoint(f"{url}/{place}/v1")
    return known[place]


def client_of(endpoint: Endpoint) -> OpenAIChatGenerator:
    """The real client, as patient as the fault wants it."""
    timeout = TIMEOUT if endpoint.fault is None else endpoint.fault.timeout
    key = Secret.from_token("k")
    return OpenAIChatGenerator(api_key=key, api_base_url=endpoint.url, model="m", timeout=timeout, max_retries=RETRIES)
