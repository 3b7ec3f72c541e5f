"""The app of `crag serve`: parts of Hayhooks, and only the routes that are wanted, behind keys and limits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Final

from fastapi import APIRouter, Depends, FastAPI, Request, params
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import iter_route_contexts
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi_openai_compat import ModelObject
from hayhooks.server.routers import create_openai_router
from hayhooks.server.utils.deploy_utils import create_run_endpoint_handler
from haystack import logging
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from haystack_integrations.crag import __version__
from haystack_integrations.crag.errors import CragError
from haystack_integrations.crag.metrics_export import configure_metrics
from haystack_integrations.crag.serving.answers import RunResult
from haystack_integrations.crag.serving.deployment import Deployment, deploy
from haystack_integrations.crag.serving.envelope import DOCS, Envelope, LastWord
from haystack_integrations.crag.serving.failures import add_handlers, no_such_pipeline, what_failed
from haystack_integrations.crag.serving.gate import METRICS, Gate
from haystack_integrations.crag.serving.health import Readiness, health_router
from haystack_integrations.crag.serving.keys import Keys
from haystack_integrations.crag.serving.limits import Lane, Limits
from haystack_integrations.crag.serving.places import Places
from haystack_integrations.crag.serving.problems import CHAT, MCP, MODELS, ChatProblem, Problem
from haystack_integrations.crag.serving.settings import ServeSettings
from haystack_integrations.crag.serving.spans import send_rest, trace_requests, trace_runs
from haystack_integrations.crag.serving.streams import StreamEnd
from haystack_integrations.crag.serving.tools import Tools
from haystack_integrations.crag.serving.uploads import PATH as UPLOADS
from haystack_integrations.crag.serving.uploads import uploads_router
from haystack_integrations.crag.serving.workers import end_with_loop

logger = logging.getLogger(__name__)

_CHAT: Final = (CHAT, MODELS)
_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem} for status in (400, 401, 403, 408, 413, 422, 429, 500, 503)
}
# For the schema only: keys are checked by the Gate, before a route is looked for.
_KEYS: Final = [Depends(HTTPBearer(auto_error=False)), Depends(APIKeyHeader(name="X-API-Key", auto_error=False))]
_TEXT: Final = {"schema": {"type": "string"}}
_STREAMED: Final = {"content": {"text/event-stream": {}}, "description": "The answer; with `stream`, its parts."}
_UPLOAD_SECONDS: Final = 60.0
_LAST_WORDS_SECONDS: Final = 1.0


def create_app(settings: ServeSettings, *, store: Any = None) -> FastAPI:
    """
    Make the app.

    :param settings: The settings.
    :param store: A document store in place of the one in the settings.
    :returns: The app; `app.state.deployment` is what it serves.
    :raises ConfigurationError: For settings that cannot work.
    :raises StoreError: When the store's server cannot be reached.
    """
    keys = Keys((key.get_secret_value() for key in settings.api_keys), settings.api_keys_file)
    trace_runs()
    deployment = deploy(settings, store)
    tools = Tools(deployment, settings.body_bytes)
    readiness = Readiness(deployment.store, settings.ready_seconds)
    running: set[asyncio.Task[Any]] = set()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            with _failures_told():
                async with deployment.running(), tools.manager.run(), readiness.watched():
                    end_with_loop()
                    yield
                    # Requests that were ended have a last word for their clients: behind this the process is killed.
                    if running:
                        await asyncio.wait(running, timeout=_LAST_WORDS_SECONDS)
        finally:
            await send_rest()

    app = _bare_app(lifespan)
    app.state.deployment = deployment
    app.include_router(health_router(readiness))
    _add_routes(app, deployment, settings, _KEYS if keys.required else [])
    for path in (MCP, f"{MCP}/"):  # the latter is Hayhooks' own
        app.router.routes.append(Route(path, endpoint=tools, include_in_schema=False))
    add_handlers(app, deployment.accepted, deployment.wrappers, [UPLOADS] if settings.uploads else [])
    _add_layers(app, keys, settings)
    app.add_middleware(Envelope, running=running)
    trace_requests(app)
    return app


@contextmanager
def _failures_told() -> Iterator[None]:
    """Say why a server does not start, or end; uvicorn would say it by a traceback, which the log leaves out."""
    try:
        yield
    except Exception as error:
        why = str(error) if isinstance(error, CragError) else what_failed(error)
        logger.error("The server cannot start, or end: {why}", why=why)
        raise


def _bare_app(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]]) -> FastAPI:
    """Make an app with nothing but the page of its schema; a proxy may have removed a prefix, so paths are relative."""

    async def page(_: Request) -> HTMLResponse:
        return get_swagger_ui_html(openapi_url="openapi.json", title=app.title)

    app = FastAPI(
        title="crag",
        description="Corrective RAG: answers with evidence, or the word that there is none.",
        version=__version__,
        lifespan=lifespan,
        servers=[{"url": "."}],
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=_FAILURES,
    )
    app.add_route(DOCS, page, include_in_schema=False)
    return app


def _add_routes(app: FastAPI, deployment: Deployment, settings: ServeSettings, keys: Sequence[params.Depends]) -> None:
    for name, wrapper in deployment.wrappers.items():
        run = create_run_endpoint_handler(wrapper, name, wrapper.question_model, RunResult, requires_files=False)
        told: dict[str, Any] = {"summary": name, "description": wrapper.description, "tags": ["pipelines"]}
        told |= {"response_model": RunResult, "dependencies": keys}
        app.add_api_route(f"/{name}/run", run, methods=["POST"], name=name, **told)
    _add_chat(app, deployment, keys)
    app.include_router(_metrics_router(), dependencies=[] if settings.metrics_open else keys)
    if settings.uploads:
        app.include_router(uploads_router(deployment.store), dependencies=keys)


def _add_chat(app: FastAPI, deployment: Deployment, keys: Sequence[params.Depends]) -> None:
    """Take of Hayhooks' OpenAI routes those that are documented here: not files, responses, nor second names."""

    async def known(request: Request) -> None:
        # Before Hayhooks opens a span with the name in it.
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            return  # no JSON: the route itself says so
        if not isinstance(body, dict):
            return
        if isinstance(body.get("model"), str) and body["model"] not in deployment.wrappers:
            raise no_such_pipeline(deployment.wrappers)
        if body.get("stream", False) is None:  # OpenAI takes it for unset; the route is given this very object
            del body["stream"]

    for route in iter_route_contexts(create_openai_router(deployment.registry).routes):
        if route.path in _CHAT and route.endpoint is not None:
            told: dict[str, Any] = {"summary": route.summary, "response_model": route.response_model}
            told["dependencies"] = [*keys, Depends(known)]
            told["responses"] = {status: {"model": ChatProblem} for status in _FAILURES}
            if route.path == CHAT:
                told["responses"] |= {200: _STREAMED, 404: {"model": ChatProblem}}
            app.add_api_route(route.path, route.endpoint, methods=list(route.methods or ()), tags=["chat"], **told)
            if route.path == MODELS:
                _add_model(app, deployment, route.endpoint, told)


def _add_model(app: FastAPI, deployment: Deployment, listed: Callable[..., Any], told: Mapping[str, Any]) -> None:
    """Add the route of a single model, which clients of OpenAI ask whether it exists; Hayhooks only lists them."""

    async def model_named(name: str) -> ModelObject:
        if name not in deployment.wrappers:
            raise no_such_pipeline(deployment.wrappers)
        return next(model for model in (await listed()).data if model.id == name)

    told = {**told, "summary": "Retrieve a model", "response_model": ModelObject}
    told["responses"] = {**told["responses"], 404: {"model": ChatProblem}}
    app.add_api_route(MODELS + "/{name}", model_named, methods=["GET"], tags=["chat"], **told)


def _metrics_router() -> APIRouter:
    metrics = configure_metrics()
    router = APIRouter(tags=["metrics"])

    @router.get(METRICS, response_class=Response, responses={200: {"content": {"text/plain": _TEXT}}})
    def page(request: Request) -> Response:
        """Give the metrics in Prometheus' format."""
        content, media_type = metrics.page(request.headers.get("accept", ""))
        return Response(content, media_type=media_type)

    return router


def _add_layers(app: FastAPI, keys: Keys, settings: ServeSettings) -> None:
    """Add from the inside to the outside: limits, keys, the last word, what browsers ask about origins."""
    lane = Lane(Places(settings.concurrent), settings.body_bytes, settings.read_seconds)
    lanes = {UPLOADS: Lane(Places(1), settings.upload_bytes, _UPLOAD_SECONDS)} if settings.uploads else {}
    app.add_middleware(StreamEnd)
    app.add_middleware(Limits, lane=lane, lanes=lanes)
    app.add_middleware(Gate, keys=keys, metrics_open=settings.metrics_open, origins=settings.cors_origins)
    app.add_middleware(LastWord)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["*"],  # clients of OpenAI and of MCP send some of their own
            allow_private_network=True,  # Chrome asks where a public page calls a server at home
            expose_headers=["Retry-After", "X-Request-Id", "X-Trace-Id"],
        )
