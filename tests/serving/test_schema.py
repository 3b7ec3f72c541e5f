"""Requests made up from the app's own OpenAPI schema: none ends in a 500."""

import json
import re
from typing import Any
from urllib.parse import urljoin

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving.conftest import BEARER, QUESTION

_EXAMPLES = 200
_CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


# The server answers in a thread of this process; what it draws by chance, Hypothesis takes for a strategy's doing.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
def test_no_request_ends_in_a_server_error(answering: Any) -> None:
    """Right ones and wrong ones, over all routes. What comes back stands in the schema; a failure has its form."""
    with answering.client() as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    schema.config.update(base_url=answering.url)
    strategies = [
        operation.ok().as_strategy(generation_mode=mode)  # type: ignore[union-attr] # an error raises here
        for operation in schema.get_all_operations()
        for mode in GenerationMode
    ]

    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=st.one_of(strategies))
    def check(case: Any) -> None:
        response = case.call(base_url=answering.url, headers=BEARER)
        assert response.status_code not in (500, 501, 502), (case.operation.label, response.text)
        case.validate_response(response, checks=_CHECKS)
        if response.status_code >= 400:
            assert {"error", "trace_id"} <= set(response.json()), (case.operation.label, response.text)

    check()


def test_the_page_of_the_schema_calls_below_the_prefix_that_a_proxy_removed(answering: Any) -> None:
    """The server does not know the prefix: what the page asks for, and the calls that it sends, follow its address."""
    page = "https://example.org/answers/docs"
    with answering.client() as client:
        asked = re.search(r"url: '([^']+)'", client.get("/docs").text)
        assert asked is not None
        schema = urljoin(page, asked[1])
        servers = client.get("/openapi.json").json()["servers"]
    assert schema == "https://example.org/answers/openapi.json"
    assert [urljoin(schema, server["url"]) for server in servers] == ["https://example.org/answers/"]


def test_the_schema_says_which_routes_want_a_key(answering: Any, serve: Any) -> None:
    """As the gate does: the health routes none, the metrics none where they are open, and none without keys at all."""
    for app, is_open in (
        (answering.app, {"/health/live", "/health/ready"}),
        (serve(metrics_open=True).app, {"/health/live", "/health/ready", "/metrics"}),
    ):
        operations = [(path, each) for path, methods in app.openapi()["paths"].items() for each in methods.values()]
        assert {path for path, each in operations if not each.get("security")} == is_open
    assert "security" not in json.dumps(serve(api_keys="").app.openapi()["paths"])


def test_the_schema_says_in_which_forms_a_chat_is_answered(answering: Any) -> None:
    """A client made from it reads a stream, and knows that a model may not be there."""
    responses = answering.app.openapi()["paths"]["/v1/chat/completions"]["post"]["responses"]
    assert set(responses["200"]["content"]) == {"application/json", "text/event-stream"}
    assert responses["404"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ChatProblem"}


@pytest.mark.parametrize("name", [None, "corrective_rag"])
def test_what_a_chat_is_answered_stands_in_the_schema(answering: Any, name: str | None) -> None:
    """Of a name that nobody guesses, too, and in a stream."""
    operation = schemathesis.openapi.from_dict(answering.app.openapi())["/v1/chat/completions"]["POST"]
    messages = [{"role": "user", "content": QUESTION}]
    for stream in (False, True):
        body = {"model": name or "another", "messages": messages, "stream": stream}
        response = operation.Case(body=body, media_type="application/json").call(base_url=answering.url, headers=BEARER)
        assert response.status_code == (404 if name is None else 200)
        operation.Case(body=body, media_type="application/json").validate_response(response, checks=_CHECKS)
