"""What a server serves: one store, one cache of grades, and the pipelines that can run with the model there is."""

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from hayhooks.server.pipelines.models import create_pipeline_metadata
from hayhooks.server.pipelines.registry import ImmutablePipelineRegistry, PipelineRegistration
from hayhooks.server.utils.module_loader import create_pipeline_wrapper_instance
from haystack import logging
from haystack.utils import Secret

from haystack_integrations.crag.chat_model import (
    KEY_SETTING,
    MODEL_SETTING,
    URL_SETTING,
    ChatModel,
    chat_model,
    has_key,
)
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.loader import load, names, read
from haystack_integrations.crag.pipelines.opening import elasticsearch_store, memory_store
from haystack_integrations.crag.serving.settings import ServeSettings
from haystack_integrations.crag.serving.wrapper import CragWrapper

if TYPE_CHECKING:
    from haystack import SuperComponent
    from starlette.types import Scope

    from haystack_integrations.crag.caching import RedisGradeCache

logger = logging.getLogger(__name__)

_GRADING_SECONDS: Final = 20.0
_CHAT_GENERATOR: Final = "chat_generator"


@dataclass(frozen=True)
class Deployment:
    """
    What is served.

    :param store: The document store of all pipelines.
    :param wrappers: The pipelines by name.
    :param registry: The same, as Hayhooks looks them up; fixed, so nothing can be deployed into it.
    """

    store: Any
    wrappers: dict[str, CragWrapper]
    registry: ImmutablePipelineRegistry

    def accepted(self, scope: "Scope") -> list[str]:
        """
        Name what a request may hold.

        :param scope: The request.
        :returns: The fields of the pipeline that its route runs; empty for other routes.
        """
        wrapper = self.wrappers.get(scope["path"].removeprefix("/").removesuffix("/run"))
        return [] if wrapper is None else list(wrapper.question_model.model_fields)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Make everything ready on this event loop before the first request, and close it after the last."""
        try:
            for wrapper in self.wrappers.values():
                await wrapper.loaded.warm_up_async()
            try:
                await reachable(self.store)  # the first contact of a client is two requests: not in someone's question
            except Exception as error:  # whatever a store raises; /health/ready goes on asking
                logger.warning("The store does not answer: {kind}", kind=type(error).__name__)
            # What is loaded now stays: to look through all of it for garbage held up requests by a fifth of a second.
            gc.collect()
            gc.freeze()
            yield
        finally:
            gc.unfreeze()
            for wrapper in self.wrappers.values():
                await wrapper.loaded.close_async()
                wrapper.loaded.close()
            if hasattr(self.store, "close_async"):
                await self.store.close_async()


def deploy(settings: ServeSettings, store: Any = None) -> Deployment:
    """
    Load what is served.

    :param settings: The settings.
    :param store: A document store in place of the one in the settings.
    :returns: The pipelines, on their store.
    :raises ConfigurationError: For a pipeline that is unknown, is none for questions, or needs a chat model.
    :raises StoreError: When the store's server cannot be reached; its index is made here, before the first request.
    """
    model = chat_model()
    chosen = _chosen(settings, has_model=model is not None or has_key())
    store = _store(settings) if store is None else store
    chat = None if model is None else _Chat(model, settings.answer_seconds)
    cache = _cache(settings)
    wrappers = {}
    for name in chosen:
        spec, loaded = read(name), _loaded(name, store, chat)
        if cache is not None:
            for part in _graders(loaded):
                part.cache = cache
        make = partial(CragWrapper, name, spec, loaded, settings.question_chars)
        # Hayhooks' own door for wrappers: it finds out by itself which of its methods this one has.
        wrappers[name] = create_pipeline_wrapper_instance(SimpleNamespace(PipelineWrapper=make))
    if not (model or has_key()) and not settings.pipelines:
        logger.warning("No chat model is configured: only {names} are served.", names=", ".join(chosen))
    registry = ImmutablePipelineRegistry(_registration(name, wrapper) for name, wrapper in wrappers.items())
    return Deployment(store, wrappers, registry)


def query_pipelines() -> dict[str, bool]:
    """
    List the shipped pipelines that answer questions.

    :returns: By name, whether one asks a chat model.
    """
    found = {name: read(name) for name in names()}
    asked = {name: spec for name, spec in found.items() if "query" in spec["inputs"] and "crag" in spec["outputs"]}
    return {
        name: any(_CHAT_GENERATOR in (part.get("init_parameters") or {}) for part in spec["components"].values())
        for name, spec in asked.items()
    }


async def reachable(store: Any) -> None:
    """
    Ask a store for a sign of life.

    :param store: A document store.
    :raises Exception: Whatever the store raises when it does not answer.
    """
    if hasattr(store, "count_documents_async"):
        await store.count_documents_async()
    else:
        store.count_documents()


class _Chat:
    """The chat model of all pipelines: one client for answers, one for judging."""

    def __init__(self, model: ChatModel, seconds: float) -> None:
        self.answering, self.grading, self.seconds = (
            model.generator(seconds),
            model.generator(_GRADING_SECONDS),
            seconds,
        )

    def parts(self, name: str) -> dict[str, Any]:
        """Give what a pipeline is to be loaded with; the answer may take as long as all its retries."""
        spec = read(name)["components"]
        parts: dict[str, Any] = {}
        if "generator" in spec:
            parts["generator"] = AnswerGenerator(self.answering, timeout_s=self.seconds)
        if _CHAT_GENERATOR in (spec.get("grader", {}).get("init_parameters") or {}):
            parts["grader"] = self.grading
        return parts


def _loaded(name: str, store: Any, chat: _Chat | None) -> "SuperComponent":
    return load(name, store=store, **({} if chat is None else chat.parts(name)))


def _chosen(settings: ServeSettings, *, has_model: bool) -> list[str]:
    known = query_pipelines()
    unknown = sorted(set(settings.pipelines) - set(known))
    if unknown:
        msg = f"got the pipelines {unknown}, wanted some of {list(known)}; correct --pipelines"
        raise ConfigurationError(msg)
    able = [name for name, asks in known.items() if has_model or not asks]
    unable = sorted(set(settings.pipelines) - set(able))
    if unable:
        msg = (
            f"the pipelines {unable} ask a chat model, but none is configured; set {URL_SETTING} and {MODEL_SETTING} "
            f"(and {KEY_SETTING} where it needs one), or serve only {able}"
        )
        raise ConfigurationError(msg)
    return [name for name in able if name in settings.pipelines or not settings.pipelines]


def _store(settings: ServeSettings) -> Any:
    from haystack_integrations.crag.pipelines.indexing import index

    if settings.store == "elasticsearch":
        return elasticsearch_store("elasticsearch", settings.url, settings.index)
    store = memory_store()
    if settings.docs:
        report = index(settings.docs, store)
        logger.info("Indexed: {added} sources, {failed} failures", added=report.added, failed=len(report.failures))
    return store


def _cache(settings: ServeSettings) -> "RedisGradeCache | None":
    if settings.redis_url is None:
        return None
    from haystack_integrations.crag.caching import RedisGradeCache

    return RedisGradeCache(Secret.from_token(settings.redis_url.get_secret_value()))


def _graders(loaded: "SuperComponent") -> Iterator[BatchRelevanceGrader]:
    return (part for _, part in loaded.pipeline.walk() if isinstance(part, BatchRelevanceGrader))


def _registration(name: str, wrapper: Any) -> PipelineRegistration:
    """Describe a wrapper for Hayhooks: by what its YAML accepts, which the signature of its method cannot say."""
    metadata = create_pipeline_metadata(name, wrapper)
    own = {"request_model": wrapper.question_model, "description": wrapper.description}
    return PipelineRegistration(name, wrapper, {**metadata, **own})
