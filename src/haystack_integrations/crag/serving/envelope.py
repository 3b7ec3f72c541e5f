"""Around every answer: headers for browsers, the request's name, one line in the log, and a word where all failed."""

import asyncio
import time
from secrets import token_hex
from typing import Any, Final

from hayhooks import log
from haystack import logging
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.serving.gate import HEALTH, METRICS
from haystack_integrations.crag.serving.logs import REQUEST
from haystack_integrations.crag.serving.problems import problem, told_at, trace_id

logger = logging.getLogger(__name__)

DOCS: Final = "/docs"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"


class Envelope:
    """
    The outermost layer of ours.

    :param app: What is inside.
    :param running: Takes the task of each request, until its last word is said.
    """

    def __init__(self, app: ASGIApp, *, running: set[Any] | None = None) -> None:
        """Wrap an app."""
        self.app, self._running = app, set() if running is None else running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told_at(scope["path"])
        started, status, whole, task = time.monotonic(), 0, False, asyncio.current_task()
        self._running.add(task)

        async def enveloped(message: Message) -> None:
            nonlocal status, whole
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"] != DOCS:  # a page with scripts
                    headers.setdefault("Content-Security-Policy", _POLICY)
                headers.setdefault(header, known)
            await send(message)
            whole = message["type"] == "http.response.body" and not message.get("more_body", False)

        header, word, known = _named()
        with log.contextualize(**{REQUEST: f"{word}={known}"}):  # on every line that is logged on the way
            try:
                await self.app(scope, receive, enveloped)
            finally:
                if scope["path"] not in HEALTH:
                    _tell(scope, status, started, whole=whole)
                self._running.discard(task)


class LastWord:
    """
    Says that a request failed, and nothing of an exception. It stands below what lets web pages read answers.

    :param app: What is inside.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an app."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that nobody answers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except asyncio.CancelledError:  # the time for running requests to end is over
            if not begun:
                await problem(503)(scope, receive, send)
            raise
        except Exception as error:  # the last boundary: a server would log its text
            logger.error("A request failed: {kind}", kind=type(error).__name__)
            if not begun:
                await problem(500)(scope, receive, send)


def _named() -> tuple[str, str, str]:
    """Name the request by its trace; without one by an id of its own, which nobody will look for among traces."""
    trace = trace_id()
    return ("X-Trace-Id", "trace_id", trace) if trace else ("X-Request-Id", "request_id", token_hex(8))


def _tell(scope: Scope, status: int, started: float, *, whole: bool) -> None:
    """Log and count the route, not the path: a path is what the client wrote."""
    route = getattr(scope.get("route"), "path", "-")
    if scope["path"] != METRICS:
        metrics.request_ended(route, status)
    milliseconds = round(1000 * (time.monotonic() - started))
    # A client left before there was an answer (status 0) or before its end, or the server had to end.
    message = "{method} {route} {status} {ms} ms" if whole else "{method} {route} {status} {ms} ms, cancelled"
    logger.info(message, method=scope["method"], route=route, status=status, ms=milliseconds)
