"""What `crag doctor` looks at: what works, what is missing, and the way out of each trouble."""

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Final

from haystack_integrations.crag.chat_model import (
    GRADING_MODEL_SETTING,
    MODEL_SETTING,
    URL_SETTING,
    ChatModel,
    chat_model,
)
from haystack_integrations.crag.cli.check import Check, guarded, waited
from haystack_integrations.crag.cli.service_checks import service_checks
from haystack_integrations.crag.settings import configured

_PACKAGES: Final = ("haystack-ai", "elasticsearch-haystack", "elasticsearch", "model2vec", "pypdf", "python-docx")
_FOR_DEVELOPERS: Final = frozenset({"dev", "fuzz"})
_OF_AN_EXTRA: Final = re.compile(r"([\w.-]+).*; extra == ['\"]([\w-]+)['\"]")
_SECONDS: Final = 5.0


def checks(
    store: Callable[[], Any] = lambda: None, model: Callable[[], ChatModel | None] = chat_model
) -> Iterator[Check]:
    """
    Look at everything, one thing after the other.

    :param store: Opens the ElasticsearchDocumentStore to look at; None where there is none, raises ConfigurationError
        when its settings are unusable.
    :param model: Finds the chat model; raises ConfigurationError when its settings are unusable.
    :returns: An iterator of checks.
    """
    yield _python()
    yield _packages()
    yield guarded("static model", _static_model)
    yield guarded("embedded pipeline", _embedded)
    yield guarded("settings", _settings)
    yield waited("chat model", lambda: _chat_model(model()))
    yield from service_checks(store)
    yield from _extras()


def _python() -> Check:
    from haystack_integrations.crag import __version__

    found = f"crag-haystack {__version__}, Python {platform.python_version()} ({sys.executable})"
    usable = sys.version_info >= (3, 11)
    return Check("python", "ok" if usable else "error", found, "" if usable else "install Python 3.11 or newer")


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
    from openai import APIStatusError, OpenAI

    place = f"{model.model} at {model.base_url or 'api.openai.com'}"
    asked = {model.model, (model.judging or model).model}
    started = time.perf_counter()
    with OpenAI(base_url=model.base_url, api_key=model.api_key or "no-key", timeout=_SECONDS, max_retries=0) as client:
        try:
            listed = {one.id for one in client.models.list().data}
        except (APIStatusError, AttributeError, TypeError, ValueError) as error:
            # Not every server can list its models; what counts is whether this one replies.
            if getattr(error, "status_code", 0) in (401, 403):
                raise
            if not _replies(client, model.model):
                fix = f"correct {URL_SETTING} (most end in /v1), and check any proxy before it"
                return Check("chat model", "error", f"{place} does not return a chat completion", fix)
            listed = asked
    took = f"{1000 * (time.perf_counter() - started):.0f} ms"
    if asked - listed:
        place = f"{sorted(asked - listed)[0]} at {model.base_url or 'api.openai.com'}"
        known = ", ".join(sorted(listed)[:8]) or "none"
        name = GRADING_MODEL_SETTING if model.model in listed else MODEL_SETTING
        fix = f"set {name} to a model that the server has: {known}"
        return Check("chat model", "warning", f"{place} is not among the {len(listed)} models listed there", fix)
    return Check("chat model", "ok", f"{place} answers ({took})")


def _replies(client: Any, model: str) -> bool:
    """Tell whether a reply is one: a proxy's page, or an error with status 200, is handed on by the client as it is."""
    message = {"role": "user", "content": "Say yes."}
    try:
        sent = client.chat.completions.create(model=model, messages=[message], max_completion_tokens=16)
    except ValueError:  # no JSON
        return False
    return isinstance(getattr(sent, "choices", None), list)


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
