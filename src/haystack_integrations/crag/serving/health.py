"""Health: whether the process lives, and whether its store answers. Open to all, so they say nothing else."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import APIRouter
from haystack import logging
from starlette.responses import JSONResponse, Response

from haystack_integrations.crag.observing import metrics
from haystack_integrations.crag.serving.failures import what_failed
from haystack_integrations.crag.serving.gate import HEALTH
from haystack_integrations.crag.serving.problems import problem
from haystack_integrations.crag.serving.spans import untraced

logger = logging.getLogger(__name__)

_CACHED_SECONDS: Final = 2.0
_WATCHED_SECONDS: Final = 15.0
_METHODS: Final = ["GET", "HEAD"]


async def reachable(store: Any, seconds: float | None = None) -> bool:
    """
    Ask a store for a sign of life.

    :param store: A document store.
    :param seconds: Longest wait for it; None waits as long as its client does.
    :returns: Whether it answers; the log says how it does not.
    """
    try:
        with untraced():
            if hasattr(store, "count_documents_async"):
                await asyncio.wait_for(store.count_documents_async(), seconds)
            else:
                store.count_documents()
    except Exception as error:  # whatever a store raises
        logger.warning("The store does not answer: {what}", what=what_failed(error))
        return False
    return True


class Readiness:
    """
    Whether the store answers: asked once for all who want to know within two seconds.

    :param store: The document store.
    :param seconds: Longest wait for it.
    """

    def __init__(self, store: Any, seconds: float) -> None:
        """Ask nothing yet."""
        self._store, self._seconds = store, seconds
        self._asked, self._answer = float("-inf"), False
        self._lock = asyncio.Lock()

    async def __call__(self) -> bool:
        """Tell whether the store has answered just now."""
        async with self._lock:
            if time.monotonic() >= self._asked + _CACHED_SECONDS:
                self._answer = await reachable(self._store, self._seconds)
                # Nobody asks an app that is not ready, so no other figure would tell of it.
                metrics.store_answered(self._answer)
                self._asked = time.monotonic()
        return self._answer

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Ask every 15 seconds besides: a probe may never come, or not back to the worker that told of a failure."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self) -> None:
        while True:
            await self()
            await asyncio.sleep(_WATCHED_SECONDS)


def health_router(readiness: Readiness) -> APIRouter:
    """
    Make the routes.

    :param readiness: Whether the store answers.
    :returns: A router with `/health/live` and `/health/ready`.
    """
    router = APIRouter(tags=["health"])
    live, ready = HEALTH

    # Load balancers ask by HEAD as well. Who asks by another method is told those of the route that was added first.
    @router.get(live)
    @router.api_route(live, methods=_METHODS, include_in_schema=False)
    async def is_live() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "live"}

    @router.get(ready)
    @router.api_route(ready, methods=_METHODS, include_in_schema=False)
    async def is_ready() -> Response:
        """Tell whether requests can be answered: 200, or 503."""
        return JSONResponse({"status": "ready"}) if await readiness() else problem(503, "not_ready")

    return router
