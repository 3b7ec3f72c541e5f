"""What a client is told when something fails: a code, the trace to look at, and nothing else."""

import json
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any, Final

from hayhooks.server.tracing import get_trace_log_context
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

_CODES: Final = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    408: "request_timeout",
    413: "body_too_large",
    415: "unsupported_media_type",
    422: "invalid_request",
    429: "too_many_requests",
    501: "not_supported",
    503: "unavailable",
}
_INVALID_REQUEST: Final = -32600  # of JSON-RPC
_INTERNAL_ERROR: Final = -32603
_NO_TRACE: Final = "0" * 32
OPENAI: Final = "/v1/"
"""How the paths of the OpenAI-compatible routes begin."""

CHAT: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
MCP: Final = "/mcp"
_ENDS: Final = ("/completions", "/models", "/embeddings", "/responses")
"""What a client of OpenAI asks for whose base URL lacks `/v1`: else it shows the status and no more."""

_path: ContextVar[str] = ContextVar("crag_failures_at", default="")


class Problem(BaseModel):
    """The body of every answer that is none."""

    error: str = Field(description="What went wrong, in a word that does not change.")
    trace_id: str | None = Field(description="The trace of the request, when tracing is on.")
    detail: list[dict[str, Any]] | None = Field(
        default=None,
        description="With 400, 415 and 422: each field that is wrong and the rule that it breaks, never its value. "
        "With 404: the pipelines or routes that there are. With 413: the most bytes.",
    )


class ChatError(BaseModel):
    """What went wrong, as clients of OpenAI read it."""

    message: str = Field(description="The code, and the fields, rules and names that `detail` has.")
    type: str = Field(description="`invalid_request_error` or `server_error`.")
    param: None = None
    code: str = Field(description="What `error` is at the other routes.")


class ChatProblem(Problem):
    """The same at the OpenAI-compatible routes: their clients show `error.message`, and nothing of another form."""

    error: ChatError  # type: ignore[assignment]


def trace_id() -> str | None:
    """
    Name the trace of the running request.

    :returns: 32 hexadecimal digits, or None without tracing.
    """
    known = get_trace_log_context().get("trace_id")
    return None if known == _NO_TRACE else known


def problem(status: int, code: str | None = None, detail: Any = None, headers: Any = None) -> JSONResponse:
    """
    Write the answer of a failure.

    :param status: HTTP status.
    :param code: The word for it; None takes that of the status.
    :param detail: Fields and rules.
    :param headers: Further headers.
    :returns: The response.
    """
    word = code or _CODES.get(status) or ("internal_error" if _is_ours(status) else _CODES[400])
    body: dict[str, Any] = {**_said(_path.get(), status, word, detail), "trace_id": trace_id()}
    if detail:
        body["detail"] = list(detail)
    return JSONResponse(body, status, headers=headers)


def told_at(path: str) -> None:
    """
    Let the failures of the running request be told in the form that its route has.

    :param path: The path of the request.
    """
    _path.set(path)


def _said(path: str, status: int, code: str, detail: Any) -> dict[str, Any]:
    """Say it in the only form that the clients of a path show: of another one they tell no more than that it failed."""
    message = f"{code}: {json.dumps(list(detail))}" if detail else code
    if path.startswith(OPENAI) or path.endswith(_ENDS):
        kind = "server_error" if _is_ours(status) else "invalid_request_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}
    if path.removesuffix("/") == MCP:
        number = _INTERNAL_ERROR if _is_ours(status) else _INVALID_REQUEST
        return {"jsonrpc": "2.0", "id": None, "error": {"code": number, "message": message}}
    return {"error": code}


def _is_ours(status: int) -> bool:
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR
