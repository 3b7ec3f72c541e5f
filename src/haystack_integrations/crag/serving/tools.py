"""The same wrappers as MCP tools, at `/mcp` of the same server."""

import json
import math
from typing import Any, Final

from hayhooks.server.utils.mcp_utils import create_mcp_server, run_pipeline_as_tool
from mcp import types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from haystack_integrations.crag import __version__
from haystack_integrations.crag.serving.deployment import Deployment
from haystack_integrations.crag.serving.failures import ServeError, no_such_pipeline, translated
from haystack_integrations.crag.serving.problems import MCP, problem, trace_id
from haystack_integrations.crag.serving.questions import checked

_FIRST_ERROR: Final = 400
_ANALYSIS: Final = ("signals", "corrections", "kept", "discarded", "trail")
"""The record's lists of documents and passes: most of an answer's length, and a model reads it at each call."""
_READS: Final = types.ToolAnnotations(
    readOnlyHint=True
)  # else a client must expect that it destroys, and asks its user


class Tools:
    """
    Hayhooks' MCP server as one route: a POST is a call and its answer, nothing is kept between two of them.

    :param deployment: What is served.
    :param body_bytes: Longest body.
    """

    def __init__(self, deployment: Deployment, body_bytes: int) -> None:
        """Make the server; `manager.run()` must be entered before the first call."""
        self.path = MCP
        self._deployment = deployment
        server = create_mcp_server("crag", deployment.registry)
        server.version = __version__  # else clients are shown that of MCP's library
        self._listed = server.request_handlers[types.ListToolsRequest]
        server.request_handlers[types.ListToolsRequest] = self._list
        server.request_handlers[types.CallToolRequest] = self._call
        self.manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=body_bytes
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """
        Answer a request, whose body is here already.

        What MCP's library says of a broken one repeats its text, so a code goes out instead.
        """
        scope["route"] = self  # as FastAPI does of its own routes: the log names it
        if scope["method"] != "POST":
            await problem(405, headers={"Allow": "POST"})(scope, receive, send)
            return
        body = (await receive()).get("body", b"")
        try:
            sent = json.loads(body, parse_constant=_number, parse_float=_number)
            if isinstance(sent, dict):
                str(sent.get("id")).encode()  # it stands in the answer, which a half of a character cannot be in
        except (ValueError, RecursionError):  # the library answers these, and nesting without end, with a 500
            await problem(400)(scope, receive, send)
            return
        refused, given = False, False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def coded(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] >= _FIRST_ERROR:
                refused = True
                await problem(message["status"])(scope, receive, send)
            elif not refused:
                await send(message)

        await self.manager.handle_request(scope, again, coded)

    async def _list(self, request: types.ListToolsRequest) -> types.ServerResult:
        """List the pipelines: not Hayhooks' tools about deployments."""
        result = await self._listed(request)
        tools = result.root.tools if isinstance(result.root, types.ListToolsResult) else []
        own = [
            tool.model_copy(update={"annotations": _READS}) for tool in tools if tool.name in self._deployment.wrappers
        ]
        return types.ServerResult(types.ListToolsResult(tools=own))

    async def _call(self, request: types.CallToolRequest) -> types.ServerResult:
        """Call a tool; a failure is told as over REST, and never by what an exception or a validator said."""
        name, arguments = request.params.name, request.params.arguments or {}
        try:
            if (wrapper := self._deployment.wrappers.get(name)) is None:
                raise no_such_pipeline(self._deployment.wrappers)
            arguments = {"question": None, **arguments}  # one that is missing fails by its rule, not by Python's
            checked(wrapper.question_model, arguments)
            with translated(arguments):
                told = await run_pipeline_as_tool(self._deployment.registry, name, arguments)
        except ServeError as error:
            return _failed(error.code, error.fields)
        return types.ServerResult(types.CallToolResult(content=[_shortened(one) for one in told]))


def _number(written: str) -> float:
    """Read a number; what is none, or is not finite, MCP's library would take for an option that was left out."""
    if not math.isfinite(number := float(written)):
        raise ValueError
    return number


def _shortened(told: types.TextContent) -> types.TextContent:
    answer = json.loads(told.text)
    answer["crag"] = {key: value for key, value in answer["crag"].items() if key not in _ANALYSIS}
    # As it is written, which a model reads better than numbers of letters.
    return types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))


def _failed(code: str, detail: Any = None) -> types.ServerResult:
    body = {"error": code, "trace_id": trace_id(), **({"detail": detail} if detail else {})}
    text = types.TextContent(type="text", text=json.dumps(body))
    return types.ServerResult(types.CallToolResult(content=[text], isError=True))
