"""
The fault matrix of grading: whatever an endpoint does, documents stay, failure shows, and nothing goes to the web.

Every row runs over HTTP against a real server, through Haystack's own OpenAI generator, by both doors, for one document
and for twenty.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret
from makers import grade_by_door
from pytest_httpserver import HTTPServer
from scripted_model import documents_in
from werkzeug import Request, Response

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.errors import GradingError
from haystack_integrations.crag.grades import grade_of

QUESTION = "Who wrote Emma?"
# A client that gives up sends its request again: only where the endpoint hangs may a slow machine look like it.
TIMEOUT, HANGS, RETRIES = 10.0, 0.5, 1
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
    """Longer than the client waits."""
    time.sleep(HANGS * 2)
    return completion("late")


def cut_body(_: Keys) -> Response:
    """A body that ends before its announced length."""
    response = Response(b'{"id": "c", "cho', content_type="application/json")
    response.headers["Content-Length"] = "500"
    response.automatically_set_content_length = False
    return response


@dataclass(frozen=True)
class Fault:
    """One row: what the endpoint answers, and whether the grades are usable all the same."""

    answer: Answer
    graded: bool = False
    requests: int = 4
    seconds: float = 3.0
    timeout: float = TIMEOUT


def text(make: Callable[[Keys], str | None], finish: str = "stop") -> Answer:
    """Answer with a text."""
    return lambda keys: completion(make(keys), finish)


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
    "19 429 at once": Fault(lambda _: refused(429, {"Retry-After": "0"}), requests=ONE),
    "19 429 soon": Fault(lambda _: refused(429, {"Retry-After": "1"}), requests=ONE),
    "19 429 much later": Fault(lambda _: refused(429, {"Retry-After": "999"}), requests=ONE),
    "19 429 date": Fault(lambda _: refused(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), requests=ONE),
    "20 500": Fault(lambda _: refused(500), requests=ONE),
    "20 502": Fault(lambda _: refused(502), requests=ONE),
    "20 503": Fault(lambda _: refused(503), requests=ONE),
    "21 hang": Fault(hang, requests=ONE, seconds=6.0, timeout=HANGS),
    "22 reset mid-body": Fault(cut_body, requests=ONE, seconds=6.0, timeout=HANGS),
    "23 context overflow": Fault(lambda _: refused(400, message="context_length_exceeded")),
    # Beyond the matrix: a request refused for its form is tried once more without the schema, and no further.
    "24 refused for its form": Fault(lambda _: refused(400, message="unknown entry"), requests=2),
}


@dataclass
class Endpoint:
    """A server that answers every request with one fault, and counts."""

    url: str
    fault: Fault | None = None
    requests: int = 0


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint on loopback."""
    with HTTPServer(host="127.0.0.1", port=0, threaded=True) as server:
        made = Endpoint(f"http://{server.host}:{server.port}/v1")

        def answer(request: Request) -> Response:
            made.requests += 1
            assert made.fault is not None
            return made.fault.answer(list(documents_in(request.get_json()["messages"])))

        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(answer)
        yield made


def grade(endpoint: Endpoint, documents: list[Document], *, asynchronous: bool, **settings: Any) -> dict[str, Any]:
    """Grade through the real client, by one of the doors."""
    timeout = TIMEOUT if endpoint.fault is None else endpoint.fault.timeout
    chat = OpenAIChatGenerator(
        api_key=Secret.from_token("k"), api_base_url=endpoint.url, model="m", timeout=timeout, max_retries=RETRIES
    )
    return grade_by_door(BatchRelevanceGrader(chat, **settings), QUESTION, documents, asynchronous=asynchronous)


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_loses_no_document_and_leads_to_no_web_search(
    name: str, asynchronous: bool, count: int, endpoint: Endpoint
) -> None:
    """Documents kept, status told, calls bounded, time bounded, never irrelevant, never the web."""
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
