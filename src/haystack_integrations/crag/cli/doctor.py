"""What `crag doctor` looks at: what works, what is missing, and the way out of each trouble."""

import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any, Final, Literal

from haystack_integrations.crag.chat_model import MODEL_SETTING, URL_SETTING, ChatModel, chat_model
from haystack_integrations.crag.cli.errors import explain
from haystack_integrations.crag.settings import configured

Status = Literal["ok", "warning", "error", "info"]

_PACKAGES: Final = ("haystack-ai", "elasticsearch-haystack", "elasticsearch", "model2vec", "pypdf", "python-docx")
_FOR_DEVELOPERS: Final = frozenset({"dev", "fuzz"})
_OF_AN_EXTRA: Final = re.compile(r"([\w.-]+).*; extra == ['\"]([\w-]+)['\"]")
_PARTIAL: Final = "search.default_allow_partial_results"
_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Check:
    """
    One thing looked at.

    :param name: What.
    :param status: `ok`, `warning`, `error` (something needed is broken) or `info` (optional, and absent).
    :param found: What was found.
    :param fix: What to do about it; empty when nothing is to be done.
    """

    name: str
    status: Status
    found: str
    fix: str = ""

    def to_dict(self) -> dict[str, str]:
        """Give the check as plain JSON."""
        return asdict(self)


def checks(store: Any = None, model: Callable[[], ChatModel | None] = chat_model) -> Iterator[Check]:
    """
    Look at everything, one thing after the other.

    :param store: An ElasticsearchDocumentStore to look at, or None.
    :param model: Finds the chat model; raises ConfigurationError when its settings are unusable.
    :returns: An iterator of checks.
    """
    yield _python()
    yield _packages()
    yield _guarded("static model", _static_model)
    yield _guarded("embedded pipeline", _embedded)
    yield _guarded("settings", _settings)
    yield _guarded("chat model", lambda: _chat_model(model()))
    if store is not None:
        yield from _elasticsearch(store)
    yield from _extras()


def _guarded(name: str, look: Callable[[], Check]) -> Check:
    """Turn whatever goes wrong into a check that says so."""
    try:
        return look()
    except Exception as error:  # a doctor that dies of what it finds is of no use
        found, _, fix = explain(error)[0].partition("; ")
        return Check(name, "error", found, fix)


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
    from haystack_integrations.crag.encoders import load_encoder
    from haystack_integrations.crag.static_model import SHIPPED_MODEL

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
    from haystack_integrations.crag.policy import ITERATIONS_SETTING

    # Built for their checks: each reads its settings and raises on one that is unreadable.
    RulePrefilter()
    CragRouter()
    names = (MAX_ITEMS_SETTING, VECTOR_SCORE_SETTING, ITERATIONS_SETTING)
    found = [
        f"{name}={value} ({'environment' if name in os.environ else '.env'})"
        for name in names
        if (value := configured(name))
    ]
    return Check("settings", "ok", ", ".join(found) or f"none of {', '.join(names)} is set, the defaults hold")


def _chat_model(model: ChatModel | None) -> Check:
    if model is None:
        fix = f"for answers in words set {URL_SETTING} and {MODEL_SETTING} (environment or .env)"
        return Check("chat model", "info", "not configured; `crag ask` shows the sentences that answer", fix)
    from openai import APIStatusError, OpenAI

    place = f"{model.model} at {model.base_url or 'api.openai.com'}"
    started = time.perf_counter()
    with OpenAI(base_url=model.base_url, api_key=model.api_key or "no-key", timeout=_SECONDS, max_retries=0) as client:
        try:
            listed = {one.id for one in client.models.list().data}
        except (APIStatusError, AttributeError) as error:
            # Not every server can list its models; what counts is whether this one replies.
            if getattr(error, "status_code", 0) in (401, 403):
                raise
            message: Any = {"role": "user", "content": "Say yes."}
            client.chat.completions.create(model=model.model, messages=[message], max_completion_tokens=16)
            listed = {model.model}
    took = f"{1000 * (time.perf_counter() - started):.0f} ms"
    if model.model not in listed:
        known = ", ".join(sorted(listed)[:8]) or "none"
        fix = f"set {MODEL_SETTING} to a model that the server has: {known}"
        return Check("chat model", "warning", f"{place} is not among the {len(listed)} models listed there", fix)
    return Check("chat model", "ok", f"{place} answers ({took})")


def _elasticsearch(store: Any) -> Iterator[Check]:
    """Look at the server, then at the index; without the server there is nothing more to say."""
    server = _guarded("elasticsearch", lambda: _server(store))
    yield server
    if server.status == "ok":
        yield _guarded("index", lambda: _index(store))
        yield _guarded("partial results", lambda: _partial_results(store))


def _server(store: Any) -> Check:
    from haystack_integrations.crag.store_profiles import display_url, elasticsearch_client, server_of

    url = display_url(server_of(store).hosts)
    with elasticsearch_client(store) as client:
        number = client.info()["version"]["number"]
    if not number.startswith("8."):
        fix = "the client of this package speaks to Elasticsearch 8: use 8.19, as in docker-compose.yml"
        return Check("elasticsearch", "warning", f"version {number} at {url}", fix)
    return Check("elasticsearch", "ok", f"version {number} at {url}")


def _index(store: Any) -> Check:
    from haystack_integrations.crag.store_profiles import display_url, elasticsearch_client, server_of

    place = server_of(store)
    name, url = place.index, display_url(place.hosts)
    command = f"crag index PATH --store elasticsearch --url {url} --index {name}"
    with elasticsearch_client(store) as client:
        if not client.indices.exists(index=name):
            return Check("index", "error", f"{name!r} does not exist", f"make it with `{command}`")
        mappings = client.indices.get_mapping(index=name).body.values()
        count = client.count(index=name)["count"]
    ours = all((mapping["mappings"].get("_meta") or {}).get("crag") for mapping in mappings)
    if not ours:
        fix = (
            f"index into a new one: `{command.rpartition(' ')[0]} ANOTHER_NAME`; long questions can end the server here"
        )
        return Check("index", "warning", f"{name!r}: {count:,} documents, made without this package's mapping", fix)
    if not count:
        return Check("index", "warning", f"{name!r} is empty", f"fill it with `{command}`")
    return Check("index", "ok", f"{name!r}: {count:,} documents, mapping of this package")


def _partial_results(store: Any) -> Check:
    from haystack_integrations.crag.store_profiles import display_url, elasticsearch_client, server_of

    url = display_url(server_of(store).hosts)
    with elasticsearch_client(store) as client:
        answer = client.cluster.get_settings(flat_settings=True, include_defaults=True)
    values = {**answer.get("defaults", {}), **answer["persistent"], **answer["transient"]}
    if str(values.get(_PARTIAL, "true")).lower() == "false":
        return Check("partial results", "ok", "off: a shard that does not answer is an error, not a shorter list")
    body = json.dumps({"persistent": {_PARTIAL: False}})
    fix = f"curl -X PUT {url}/_cluster/settings -H 'Content-Type: application/json' -d '{body}'"
    return Check("partial results", "warning", "on: a shard that does not answer silently shortens results", fix)


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
