"""What `crag doctor` looks at: what works, what is missing, and the way out of each trouble."""

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Final

from haystack_integrations.crag.chat_model import (
    GRADING_MODEL_SETTING,
    GRADING_SECONDS,
    MODEL_SETTING,
    URL_SETTING,
    ChatModel,
)
from haystack_integrations.crag.cli.check import Check, failure, guarded, waited
from haystack_integrations.crag.cli.collector_checks import collector_checks
from haystack_integrations.crag.cli.service_checks import service_checks
from haystack_integrations.crag.settings import configured
from haystack_integrations.crag.store_profiles import display_url

_PACKAGES: Final = ("haystack-ai", "elasticsearch-haystack", "elasticsearch", "model2vec", "pypdf", "python-docx")
_FOR_DEVELOPERS: Final = frozenset({"dev", "fuzz"})
_OF_AN_EXTRA: Final = re.compile(r"([\w.-]+).*; extra == ['\"]([\w-]+)['\"]")
_SECONDS: Final = 5.0
_SLOW: Final = f"look at its load, or set another {MODEL_SETTING}"


def checks(store: Callable[[], Any], model: Callable[[], ChatModel | None], calibration: str | None) -> Iterator[Check]:
    """
    Look at everything, one thing after the other.

    :param store: Opens the ElasticsearchDocumentStore to look at; None where there is none, raises ConfigurationError
        when its settings are unusable.
    :param model: Finds the chat model; raises ConfigurationError when its settings are unusable.
    :param calibration: File of `crag calibrate`; None takes that of the settings, if they name one.
    :returns: An iterator of checks.
    """
    yield _python()
    yield _packages()
    yield guarded("static model", _static_model)
    yield guarded("embedded pipeline", _embedded)
    yield guarded("settings", _settings)
    yield waited("chat model", lambda: _chat_model(model()))
    yield from service_checks(store, calibration)
    yield from collector_checks()
    yield from _extras()


def _python() -> Check:
    from haystack_integrations.crag import __version__

    found = f"crag-haystack {__version__}, Python {platform.python_version()} ({sys.executable})"
    return Check("python", "ok", found)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _packages() -> Check:
    found = {name: _installed(name) for name in _PACKAGES}
    missing = [name for name, number in found.items() if number is None]
    fix = f"pip install {' '.join(missing)}" if missing else ""
    text = ", ".join(f"{name} {number or 'missing'}" for name, number in found.items())
    return Check("packages", "error" if missing else "ok", text, fix)


def _static_model() -> Check:
    from haystack_integrations.crag.encoding.encoders import load_encoder
    from haystack_integrations.crag.encoding.static_model import SHIPPED_MODEL

    started = time.perf_counter()
    encoder = load_encoder()
    encoder.encode(["a sentence"])
    took = 1000 * (time.perf_counter() - started)
    return Check("static model", "ok", f"{SHIPPED_MODEL}: {encoder.dimension} dimensions, loaded in {took:.0f} ms")


def _embedded() -> Check:
    from haystack import Document

    from haystack_integrations.crag.cli.ask import WITHOUT_MODEL
    from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
    from haystack_integrations.crag.pipelines.loader import load
    from haystack_integrations.crag.pipelines.opening import memory_store

    store = memory_store()
    text = "A finally clause always runs, whether an exception occurred or not."
    store.write_documents(StaticDocumentEmbedder().run(documents=[Document(content=text)])["documents"])
    started = time.perf_counter()
    crag = load(WITHOUT_MODEL, store=store).run(query="When does a finally clause run?")["crag"]
    took = 1000 * (time.perf_counter() - started)
    found = f"{WITHOUT_MODEL}: 1 document indexed, found and judged {crag['verdict']!r} in {took:.0f} ms"
    return Check("embedded pipeline", "ok", found)


def _settings() -> Check:
    from haystack_integrations.crag.components.crag_router import CragRouter
    from haystack_integrations.crag.components.rule_prefilter import (
        MAX_ITEMS_SETTING,
        VECTOR_SCORE_SETTING,
        RulePrefilter,
    )
    from haystack_integrations.crag.deciding.policy import ITERATIONS_SETTING

    # Built for their checks: each reads its settings and raises on one that is unreadable.
    RulePrefilter()
    CragRouter()
    names = (MAX_ITEMS_SETTING, VECTOR_SCORE_SETTING, ITERATIONS_SETTING)
    found = [
        f"{name}={value} ({'environment' if name in os.environ else '.env'})"
        for name in names
        if (value := configured(name))
    ]
    said = ", ".join(found) or f"the defaults ({', '.join(names)} would change them)"
    return Check("settings", "ok", f"for agent_rag, and for parts of yours that leave them open: {said}")


def _chat_model(model: ChatModel | None) -> Check:
    if model is None:
        fix = f"to get written answers, set {URL_SETTING} and {MODEL_SETTING} (environment or .env)"
        return Check("chat model", "info", "not configured; `crag ask` shows the sentences that answer", fix)
    judging, server = model.judging or model, display_url(model.base_url or "api.openai.com")
    listed, started = _listed(model), time.perf_counter()
    for one in (model, judging) if (model.model, model.options) != (judging.model, judging.options) else (model,):
        if (trouble := _trouble(one, f"{one.model} at {server}")) is not None:
            name = MODEL_SETTING if one.model == model.model else GRADING_MODEL_SETTING
            return trouble if _lists(listed, one.model) else _with_others(trouble, name, listed or set())
    took = f"{1000 * (time.perf_counter() - started):.0f} ms"
    unknown = [name for name in dict.fromkeys((model.model, judging.model)) if not _lists(listed, name)]
    # No fault by itself: proxies take aliases and patterns, and some servers answer to any name.
    doubt = f"; not among the models listed there: {', '.join(unknown)}" if unknown else ""
    return Check("chat model", "ok", f"{model.model} at {server} answers ({took}){doubt}")


def _lists(listed: set[str] | None, name: str) -> bool:
    """Tell whether a server has a model by its own list, also when it gives none."""
    return listed is None or name in listed or name in map(_short, listed)


def _with_others(trouble: Check, name: str, listed: set[str]) -> Check:
    known = ", ".join(sorted(listed)[:8]) or "none"
    found = f"{trouble.found} (not among the {len(listed)} models listed there)"
    return replace(trouble, found=found, fix=f"set {name} to a model that the server has: {known}; else {trouble.fix}")


def _listed(model: ChatModel) -> set[str] | None:
    """Give the models that a server lists; None where it lists none, as many small ones."""
    from openai import APIStatusError, OpenAI

    with OpenAI(base_url=model.base_url, api_key=model.api_key or "no-key", timeout=_SECONDS, max_retries=0) as client:
        try:
            return {one.id for one in client.models.list().data if isinstance(one.id, str)}
        except (APIStatusError, AttributeError, TypeError, ValueError):
            return None


def _short(name: str) -> str:
    """Give the name that is asked for: Ollama lists it with its tag, Google with its kind, and both take it without."""
    return name.removeprefix("models/").removesuffix(":latest")


def _trouble(model: ChatModel, place: str) -> Check | None:
    """Ask for a word, as questions do: a server lists its models to an account without credit, too."""
    from haystack.dataclasses import ChatMessage

    from haystack_integrations.crag.chat import NoCompletionError, ask

    generator = model.generator(GRADING_SECONDS)
    generator.warm_up()
    try:
        replies = ask(generator, [ChatMessage.from_user("Say yes.")], GRADING_SECONDS)["replies"]
    except TimeoutError:
        return Check("chat model", "error", f"{place} has not answered within {GRADING_SECONDS:.0f} s", _SLOW)
    except NoCompletionError:
        replies = []
    except Exception as error:  # told with its model: one of two may be what is refused
        told = failure("chat model", error)
        return replace(told, found=f"{model.model}: {told.found}")
    finally:
        generator.close()
    if not replies:
        fix = f"correct {URL_SETTING} (most end in /v1), and check any proxy before it"
        return Check("chat model", "error", f"{place} does not return a chat completion", fix)
    return None


def _extras() -> Iterator[Check]:
    try:
        asked = filter(None, map(_OF_AN_EXTRA.fullmatch, requires("crag-haystack") or ()))
    except PackageNotFoundError:  # run from its source, without an installation that knows the extras
        return
    extras: dict[str, dict[str, str | None]] = {}
    for one in asked:
        if one[2] not in _FOR_DEVELOPERS:
            extras.setdefault(one[2], {})[one[1]] = _installed(one[1])
    for extra, found in extras.items():
        if all(found.values()):
            text = ", ".join(f"{name} {number}" for name, number in found.items())
            yield Check(f"extra {extra}", "ok", text)
        else:
            fix = f"when needed: pip install 'crag-haystack[{extra}]'"
            yield Check(f"extra {extra}", "info", "not installed", fix)
