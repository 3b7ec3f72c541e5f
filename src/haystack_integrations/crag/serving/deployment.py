"""What a server serves: one store, one cache of grades, and the pipelines that can run with the model there is."""

import gc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from hayhooks.server.pipelines.models import create_pipeline_metadata
from hayhooks.server.pipelines.registry import ImmutablePipelineRegistry, PipelineRegistration
from hayhooks.server.utils.module_loader import create_pipeline_wrapper_instance
from haystack import logging
from haystack.utils import Secret

from haystack_integrations.crag.chat_model import chat_model, has_key
from haystack_integrations.crag.components.answer_generator import AnswerGenerator
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.question_guard import QuestionGuard
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.loader import load, read
from haystack_integrations.crag.pipelines.opening import (
    calibrated_parts,
    elasticsearch_store,
    find_place,
    holds_nothing,
    memory_store,
    model_parts,
)
from haystack_integrations.crag.serving.choice import chosen_pipelines
from haystack_integrations.crag.serving.guarded_store import GuardedMemoryStore
from haystack_integrations.crag.serving.health import reachable
from haystack_integrations.crag.serving.questions import names_in
from haystack_integrations.crag.serving.settings import ServeSettings, environment_name
from haystack_integrations.crag.serving.wrapper import CragWrapper
from haystack_integrations.crag.settings import STORE_SETTING

if TYPE_CHECKING:
    from starlette.types import Scope

    from haystack_integrations.crag.caching import RedisGradeCache
    from haystack_integrations.crag.pipelines.loaded import LoadedPipeline

logger = logging.getLogger(__name__)

_PLACE: Final = ("url", "index")
_MOST_TOLD: Final = 20  # files at the start, each with what is wrong with it
_MOST_KINDS: Final = 5


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

    def accepted(self, scope: "Scope") -> dict[str | None, list[str]]:
        """
        Name what a request may hold.

        :param scope: The request.
        :returns: The names that the pipeline takes that its route runs; empty for other routes.
        """
        wrapper = self.wrappers.get(scope["path"].removeprefix("/").removesuffix("/run"))
        return {} if wrapper is None else names_in(wrapper.question_model)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Make everything ready on this event loop before the first request, and close it after the last."""
        try:
            for wrapper in self.wrappers.values():
                await wrapper.loaded.warm_up_async()
            # The first contact of a client is two requests: not in someone's question. /health/ready goes on asking.
            await reachable(self.store)
            # What is loaded now stays: to look through all of it for garbage held up requests by a fifth of a second.
            gc.collect()
            gc.freeze()
            yield
        finally:
            gc.unfreeze()
            for name, wrapper in self.wrappers.items():
                # Part by part: Haystack's own close stops at the first that fails, and leaves the rest open.
                for part, held in wrapper.loaded.pipeline.walk():
                    await _close(f"{name}.{part}", held)
            await _close("store", self.store)


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
    chosen = chosen_pipelines(settings, model)
    # What a setting forbids is said before files are read and indexed, which may take long.
    parts = {name: calibrated_parts(name, settings.calibration) for name in chosen}
    if settings.calibration and not any(parts.values()):
        way = "serve corrective_retrieval (with a chat model also cascade_rag) as well"
        msg = f"none of the pipelines {chosen} judges by a calibration; leave it out, or {way}"
        raise ConfigurationError(msg)
    store = _store(settings) if store is None else store
    seconds = settings.answer_seconds
    models = None if model is None else (model.generator(seconds), model.judge())
    cache = _cache(settings)
    wrappers = {}
    for name in chosen:
        spec, loaded = read(name), _loaded(name, store, models, seconds, parts[name])
        if cache is not None:
            _share_cache(loaded, cache)
        if "answer_seconds" in settings.model_fields_set:
            _give_time(loaded, seconds)
        chat = {"follow_ups": settings.follow_ups, "cites": settings.sources}
        make = partial(CragWrapper, name, spec, loaded, settings.question_chars, **chat)
        # Hayhooks' own door for wrappers: it finds out by itself which of its methods this one has.
        wrappers[name] = create_pipeline_wrapper_instance(SimpleNamespace(PipelineWrapper=make))
    if not settings.pipelines and not (model or has_key()):
        logger.warning("No chat model is configured: only {names} are served.", names=", ".join(chosen))
    if not settings.uploads and holds_nothing(store):
        logger.warning("Nothing is indexed, so nothing will be found: check --index or --docs, or allow --uploads.")
    registry = ImmutablePipelineRegistry(_registration(name, wrapper) for name, wrapper in wrappers.items())
    return Deployment(store, wrappers, registry)


async def _close(name: str, held: Any) -> None:
    """Release what something holds on this event loop, and what it holds besides; the log says what could not be."""
    for method in ("close_async", "close"):
        try:
            if hasattr(held, method):
                ended = getattr(held, method)()
                if isawaitable(ended):
                    await ended
        except Exception as error:  # whatever it raises: the others are to be closed all the same
            logger.warning("{part} could not be closed: {kind}", part=name, kind=type(error).__name__)


def _loaded(
    name: str, store: Any, models: "tuple[Any, Any] | None", seconds: float, parts: Mapping[str, Any]
) -> "LoadedPipeline":
    """Load a pipeline with one client for answers and one for judging; an answer's time is for all its tries."""
    if models is not None:
        answering, grading = models
        parts = {**model_parts(name, AnswerGenerator(answering, timeout_s=seconds), grading), **parts}
    return load(name, store=store, **parts)


def _store(settings: ServeSettings) -> Any:
    from haystack_integrations.crag.pipelines.indexing import index
    from haystack_integrations.crag.pipelines.listing import shown_whole
    from haystack_integrations.crag.pipelines.sources import shared_folder

    if settings.store == "elasticsearch":
        return elasticsearch_store(find_place(settings.store, settings.url, settings.index))
    for name in () if settings.docs else _PLACE:  # else the server looks well, and has nothing in it
        if name in settings.model_fields_set:
            words = "The store is memory, so {setting} has no effect: set {store}=elasticsearch, or unset it."
            logger.warning(words, setting=environment_name(name), store=STORE_SETTING)
    store = memory_store(GuardedMemoryStore if settings.uploads else None)
    if settings.docs:
        report = index(settings.docs, store, base=(base := shared_folder(settings.docs)))
        kinds = [f"{count} {kind or 'other'}" for kind, count in report.skipped_kinds.items()][:_MOST_KINDS]
        left_out = f"; not read: {', '.join(kinds)}" if kinds else ""
        words = "Indexed: {added} sources, {failed} failures{left_out}"
        logger.info(words, added=report.added, failed=len(report.failures), left_out=left_out)
        told = [f"{one.source} is not indexed: {one.reason}" for one in report.failures]
        told += [f"{one.source}: {one.reason}" for one in (*shown_whole(base), *report.doubts)]
        for what in told[:_MOST_TOLD]:
            logger.warning("{what}", what=what)
        if len(told) > _MOST_TOLD:
            words = "And {more} more; `crag ask QUESTION --docs PATH --json` lists them."
            logger.warning(words, more=len(told) - _MOST_TOLD)
    return store


def _cache(settings: ServeSettings) -> "RedisGradeCache | None":
    if settings.redis_url is None:
        return None
    from haystack_integrations.crag.caching import RedisGradeCache

    return RedisGradeCache(Secret.from_token(settings.redis_url.get_secret_value()))


def _share_cache(loaded: "LoadedPipeline", cache: "RedisGradeCache") -> None:
    for _, part in loaded.pipeline.walk():
        if isinstance(part, BatchRelevanceGrader):
            part.cache = cache


def _give_time(loaded: "LoadedPipeline", seconds: float) -> None:
    """Let an answer take as long as an operator says, and its run, or a budget would end it before."""
    for _, part in loaded.pipeline.walk():
        if isinstance(part, AnswerGenerator):
            part.timeout_s = seconds
            if hasattr(part.chat_generator, "timeout"):  # of the client, which would give up before
                part.chat_generator.timeout = seconds
        if isinstance(part, QuestionGuard) and part.budget and "seconds" in part.budget:
            part.budget = {**part.budget, "seconds": max(seconds, part.budget["seconds"])}


def _registration(name: str, wrapper: Any) -> PipelineRegistration:
    """Describe a wrapper for Hayhooks: by what its YAML accepts, which the signature of its method cannot say."""
    metadata = create_pipeline_metadata(name, wrapper)
    own = {"request_model": wrapper.question_model, "description": wrapper.description}
    return PipelineRegistration(name, wrapper, {**metadata, **own})
