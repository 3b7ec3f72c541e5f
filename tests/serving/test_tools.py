"""The pipelines as MCP tools, called by the protocol's own client."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client
from serving.conftest import BEARER, QUESTION

from haystack_integrations.crag import __version__
from haystack_integrations.crag.components import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines.loader import title
from haystack_integrations.crag.serving.choice import query_pipelines


@asynccontextmanager
async def session(running: Any, path: str = "/mcp") -> AsyncIterator[ClientSession]:
    async with (
        httpx.AsyncClient(headers=BEARER) as http,
        streamable_http_client(f"{running.url}{path}", http_client=http) as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        yield client


async def test_every_pipeline_is_a_tool_and_nothing_can_be_deployed(answering: Any) -> None:
    """With the options of its YAML; Hayhooks' own tools are not there."""
    async with session(answering) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == set(query_pipelines())
    assert list(tools["corrective_rag"].inputSchema["properties"]) == ["question", "filters", "top_k", "mode", "budget"]
    assert "question" in (tools["corrective_rag"].description or "")
    # Else the protocol has clients expect that a tool destroys something, and some ask their user at each call.
    assert all(tool.annotations and tool.annotations.readOnlyHint for tool in tools.values())


async def test_a_client_may_write_the_slash_that_hayhooks_has_after_its_path(answering: Any) -> None:
    """It is the same server, which answers there without sending elsewhere."""
    async with session(answering, "/mcp/") as client:
        result = await client.call_tool("corrective_rag", {"question": QUESTION})
    assert not result.isError


async def test_each_tool_says_what_its_pipeline_does(answering: Any) -> None:
    """In the words of its YAML's head, as `crag pipelines list`: a client chooses by them."""
    async with session(answering) as client:
        tools = (await client.list_tools()).tools
    assert all(title(tool.name) in (tool.description or "") for tool in tools)
    assert "hybrid retrieval" in next(tool.description or "" for tool in tools if tool.name == "corrective_rag")


async def test_the_tools_that_give_passages_say_how_to_read_their_verdict(answering: Any) -> None:
    """They show passages for `incorrect`, too, which a model would answer from."""
    async with session(answering) as client:
        told = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    assert {name for name, text in told.items() if "`crag.verdict`" in text} == {
        "corrective_retrieval",
        "heuristic_rag",
    }
    assert "or says that they do not answer" in told["corrective_rag"]


async def test_clients_are_told_the_version_of_this_server(answering: Any) -> None:
    """Not that of the library that speaks the protocol."""
    headers = {"Accept": "application/json, text/event-stream"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    async with httpx.AsyncClient(headers={**BEARER, **headers}) as http:
        told = (await http.post(f"{answering.url}/mcp", json=asked)).json()["result"]["serverInfo"]
    assert (told["name"], told["version"]) == ("crag", __version__)


async def test_a_tool_answers_as_rest_does(answering: Any) -> None:
    async with session(answering) as client:
        result = await client.call_tool("corrective_rag", {"question": QUESTION, "top_k": 3})
    assert not result.isError
    told = json.loads(result.content[0].text)  # type: ignore[union-attr]
    assert told["answer"] == "The answer is in [1]."
    assert told["evidence"][0]["source"] == "emma.md"
    assert (told["crag"]["verdict"], told["crag"]["answer"]["status"]) == ("correct", "written")


async def test_a_model_is_not_made_to_read_the_analysis(answering: Any) -> None:
    """It is four fifths of the record, and each tool call puts it into the model's context."""
    asked = {"question": QUESTION}
    async with session(answering) as client:
        told = (await client.call_tool("corrective_retrieval", asked)).content[0].text  # type: ignore[union-attr]
    with answering.client() as client:
        whole = client.post("/corrective_retrieval/run", json=asked).json()["result"]
    short = json.loads(told)
    assert set(whole["crag"]) - set(short["crag"]) == {"signals", "corrections", "kept", "discarded", "trail"}
    assert short["evidence"] == whole["evidence"]
    assert len(json.dumps(short["crag"])) < len(json.dumps(whole["crag"])) / 3


async def test_a_text_reaches_a_model_in_its_own_letters(serve: Any) -> None:
    """JSON may write each as a number, of six signs: three times the length in Chinese. Half a letter is a sign."""
    store = InMemoryDocumentStore()
    page = Document(content="Größe: 退款在三十天内支付。 A refund is paid.", meta={"source": "\udcfc.md"})
    store.write_documents(StaticDocumentEmbedder().run([page])["documents"])
    async with session(serve(store=store)) as client:
        result = await client.call_tool("corrective_retrieval", {"question": "When is a refund paid?"})
    text = result.content[0].text  # type: ignore[union-attr]
    assert "Größe: 退款在三十天内支付。 A refund is paid." in text
    assert json.loads(text)["evidence"][0]["source"] == "\ufffd.md"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("corrective_rag", {}, "invalid_request"),
        ("corrective_rag", {"question": {"CANARY": 1}}, "invalid_request"),
        ("corrective_rag", {"question": "x", "CANARY": 1}, "invalid_request"),
        ("corrective_rag", {"question": "x", "self": "CANARY"}, "invalid_request"),
        ("corrective_rag", {"question": "CANARY" * 1000}, "invalid_request"),
        ("corrective_rag", {"question": " "}, "invalid_question"),
        ("CANARY", {"question": "x"}, "not_found"),
        ("deploy_pipeline", {"name": "CANARY", "files": {}, "save_files": False, "overwrite": False}, "not_found"),
        ("get_pipeline_status", {"pipeline_name": "CANARY"}, "not_found"),
        ("undeploy_pipeline", {"pipeline_name": "corrective_rag"}, "not_found"),
    ],
)
async def test_a_call_that_fails_is_told_by_its_code(answering: Any, tool: str, arguments: Any, code: str) -> None:
    """Not by what a validator or an exception said, which repeats what was sent."""
    async with session(answering) as client:
        result = await client.call_tool(tool, arguments)
    assert result.isError
    text = result.content[0].text  # type: ignore[union-attr]
    assert json.loads(text)["error"] == code
    assert "CANARY" not in text


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{CANARY", {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}, 400),
        (b'{"CANARY": 1}', {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}, 400),
        (b"{}", {"Accept": "text/html", "Content-Type": "application/json"}, 406),
        (
            rb'{"jsonrpc": "2.0", "id": "CANARY \ud800", "method": "ping"}',  # which no answer can hold
            {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"},
            400,
        ),
    ],
)
def test_a_message_that_is_none_is_refused_by_code(answering: Any, content: bytes, headers: Any, status: int) -> None:
    with answering.client() as client:
        response = client.post("/mcp", content=content, headers=headers)
    assert response.status_code == status
    assert set(response.json()) == {"jsonrpc", "id", "error", "trace_id"}
    assert "CANARY" not in response.text


def test_a_refusal_is_an_error_of_the_protocol(answering: Any) -> None:
    """Of another body, clients tell their users no more than that the server returned an error."""
    headers = {"Accept": "application/json, text/event-stream", "Authorization": "Bearer wrong"}
    with answering.client() as client:
        response = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
    assert response.status_code == 401
    read = types.JSONRPCError.model_validate({**response.json(), "id": 1})
    assert (read.error.code, read.error.message) == (types.INVALID_REQUEST, "unauthorized")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(answering: Any, number: str) -> None:
    """As over REST; MCP's library reads it as null, an option that was left out."""
    call = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "corrective_rag", "arguments": %s}}'
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    with answering.client() as client:
        sent = call % f'{{"question": "{QUESTION}", "top_k": {number}}}'
        assert client.post("/mcp", content=sent, headers=headers).status_code == 400


def test_no_stream_is_kept_open(answering: Any) -> None:
    """A GET would wait for notifications that never come, and hold a place."""
    with answering.client() as client:
        assert client.get("/mcp").status_code == 405
