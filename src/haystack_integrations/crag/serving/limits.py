"""How much a client may ask of the server: requests at once, bytes and seconds of a body; and who leaves is let go."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haystack_integrations.crag.serving.gate import CLIENT, HEALTH, METRICS
from haystack_integrations.crag.serving.places import Places
from haystack_integrations.crag.serving.problems import problem

_FREE: Final = (*HEALTH, METRICS)
_RETRY: Final = {"Retry-After": "1"}
_LONG: Final = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@dataclass
class Lane:
    """
    The limits of some routes.

    :param places: Places for the requests that run at once.
    :param body_bytes: Longest body.
    :param read_seconds: Longest time for the body to come.
    """

    places: Places
    body_bytes: int
    read_seconds: float


class Limits:
    """
    Reads the body of a request before its route sees it, and ends the run of a client that has gone.

    :param app: What is behind it.
    :param lane: Limits of all routes that have none of their own.
    :param lanes: Limits by path.
    """

    def __init__(self, app: ASGIApp, *, lane: Lane, lanes: Mapping[str, Lane] | None = None) -> None:
        """Stand before an app."""
        self.app, self._lane, self._lanes = app, lane, lanes or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a request, or answer it."""
        if scope["type"] != "http" or scope["path"] in _FREE:
            await self.app(scope, receive, send)
            return
        lane = self._lanes.get(scope["path"], self._lane)
        client = scope[CLIENT]
        if not lane.places.take(client):
            await problem(429, headers=_RETRY)(scope, receive, send)
            return
        with ExitStack() as place:  # left once, by whoever is first to do so
            place.callback(lane.places.leave, client)
            body = await _body(scope, receive, lane)
            if isinstance(body, int):
                place.close()
                # The connection stays: a client that still sends would find it broken, and not read why.
                await _refusal(body, lane)(scope, receive, send)
            elif body is not None:
                await _Exchange(self.app, scope, body, place).run(receive, send)


async def _body(scope: Scope, receive: Receive, lane: Lane) -> bytes | int | None:
    """Read a body; the status of a refusal for one that is too long or too slow, None when the client has gone."""
    declared = Headers(scope=scope).get("content-length", "0")
    if not declared.isdecimal() or int(declared) > lane.body_bytes:
        return _LONG if declared.isdecimal() else 400
    parts, size = [], 0
    try:
        async with asyncio.timeout(lane.read_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > lane.body_bytes:  # also of a body that comes in chunks and does not say how long it is
                    return _LONG
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        return 408


def _refusal(status: int, lane: Lane) -> JSONResponse:
    """Say how long a body may be: whoever reads it in a chat that has grown too long must begin a new one."""
    most = [{"field": None, "rule": "max_bytes", "max_bytes": lane.body_bytes}]
    return problem(status, detail=most if status == _LONG else None)


class _Exchange:
    """One request whose body is there: the run and the watch for the client's leaving."""

    def __init__(self, app: ASGIApp, scope: Scope, body: bytes, place: ExitStack) -> None:
        self._app, self._scope, self._body, self._place = app, scope, body, place
        self._given, self._answered, self._gone = False, False, asyncio.Event()

    async def run(self, receive: Receive, send: Send) -> None:
        """Run until there is an answer, or nobody to read it."""

        async def watched(message: Message) -> None:
            answered = message["type"] == "http.response.body" and not message.get("more_body", False)
            if answered:  # before it is sent: a client that has its answer finds a place for its next request
                self._place.close()
            await send(message)
            self._answered = answered

        async def answer() -> None:
            await self._app(self._scope, self._replay, watched)

        run = asyncio.create_task(answer())
        watch = asyncio.create_task(self._watch(receive))
        try:
            await asyncio.wait({run, watch}, return_when=asyncio.FIRST_COMPLETED)
            if self._answered:  # the end of an answer looks like the leaving of the client, too
                await run
        finally:
            for task in (run, watch):
                task.cancel()
            await asyncio.gather(run, watch, return_exceptions=True)
        if not run.cancelled() and (error := run.exception()) is not None:
            raise error

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone.set()

    async def _replay(self) -> Message:
        if self._given:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        self._given = True
        return {"type": "http.request", "body": self._body, "more_body": False}
