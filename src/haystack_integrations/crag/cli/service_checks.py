"""What `crag doctor` looks at of the settings of `crag serve`: its store, its grades, its web; each where it is set."""

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Final

from haystack_integrations.crag.cli.check import Check, failure, guarded, waited
from haystack_integrations.crag.cli.store_checks import store_checks
from haystack_integrations.crag.errors import OWN_AUTHORITY, ConfigurationError, tls_failure
from haystack_integrations.crag.settings import (
    CALIBRATION_SETTING,
    INDEX_SETTING,
    REDIS_SETTING,
    STORE_SETTING,
    STORE_URL_SETTING,
    configured,
    named,
)
from haystack_integrations.crag.store_profiles import display_url
from haystack_integrations.crag.web.searxng import URL_SETTING

_SECONDS: Final = 5.0
_QUESTION: Final = "weather"
# Among the grades: a user's rights may be for these alone. Two, as a cluster gives each alone and refuses both at once.
_KEYS: Final = ("crag:grade:doctor", "crag:grade:doctors")
_NO_CLUSTER: Final = f"it is a part of a Redis Cluster: name a Redis that is none in {REDIS_SETTING}"
_REFUSED: Final = {
    "OutOfMemoryError": "its memory is full: set its maxmemory-policy to allkeys-lru, or a larger maxmemory",
    "ReadOnlyError": f"it is a read-only replica: name its primary in {REDIS_SETTING}",
    "AuthenticationError": f"put its user and password into {REDIS_SETTING} (redis://USER:PASSWORD@HOST:PORT/0)",
    **dict.fromkeys(("ClusterCrossSlotError", "MovedError", "ClusterDownError"), _NO_CLUSTER),
    "NoPermissionError": "let its user GET, MGET and SET the keys crag:grade:*",
}
_UNREACHED: Final = f"start it, or correct {REDIS_SETTING} (redis://HOST:PORT/0; rediss:// where it speaks TLS)"
_NO_DATABASE: Final = f"name a database that it has at the end of {REDIS_SETTING}, mostly /0; else see its own log"
_SECURED: Final = (
    f"name in {REDIS_SETTING} the address that its certificate is for (redis:// where it speaks no TLS); "
    f"{OWN_AUTHORITY}"
)


def service_checks(opened: Callable[[], Any], calibration: str | None) -> Iterator[Check]:
    """
    Look at what a server would use.

    :param opened: Opens the ElasticsearchDocumentStore of the options or the settings; None where they name none.
    :param calibration: File of `crag calibrate`; None takes that of the settings, if they name one.
    :returns: An iterator of checks.
    """
    try:
        store = opened()
        yield from _unused() if store is None else store_checks(store)
    except ConfigurationError as error:
        yield failure("store", error)
    if file := calibration or configured(CALIBRATION_SETTING):
        yield guarded("calibration", lambda: _calibration(file))
    if configured(REDIS_SETTING):
        yield waited("redis", _redis)
    if configured(URL_SETTING):
        yield waited("searxng", _searxng)
    if find_spec("pydantic_settings") is not None and any(name.upper().startswith("CRAG_SERVE_") for name in named()):
        yield guarded("serve settings", _serving)


def _unused() -> Iterator[Check]:
    """Name what is set of a server that no command asks without being told: all would look well."""
    if names := [name for name in (STORE_URL_SETTING, INDEX_SETTING) if configured(name)]:
        found = f"no server is asked, so {' and '.join(names)} {'has' if len(names) == 1 else 'have'} no effect"
        yield Check(
            "store", "warning", found, f"set {STORE_SETTING}=elasticsearch, pass --store elasticsearch, or unset it"
        )


def _calibration(file: str) -> Check:
    from haystack_integrations.crag.encoding.encoders import model_name
    from haystack_integrations.crag.judging.calibration import load_calibration

    fitted = load_calibration(file)
    if fitted.encoder != (ours := model_name(None)):
        found = (
            f"{file!r} was made with the embeddings of {fitted.encoder!r}, and the shipped pipelines judge by {ours!r}"
        )
        fix = "name file and model in the grader of a YAML of your own, or run `crag calibrate` without --model"
        return Check("calibration", "error", found, fix)
    on = fitted.notes.get("trained_on") or {}
    # Other people's questions, or those of another index, are no fault that could be seen in the file itself.
    found = f"{file!r}: fitted on {on.get('questions')} questions of {on.get('dataset')!r}, split {on.get('split')!r}"
    return Check("calibration", "ok", found)


def _redis() -> Check:
    from redis import Redis, RedisError, ResponseError

    from haystack_integrations.crag.caching.redis_url import is_redis

    url = configured(REDIS_SETTING) or ""
    started = time.perf_counter()
    try:
        if not is_redis(url):
            raise ValueError
        opened = Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
    except ValueError:  # its text may hold a part of the address
        way = f"correct {REDIS_SETTING}, wanted redis://HOST:PORT/0, rediss:// or unix://"
        return Check("redis", "error", f"what {REDIS_SETTING} holds is no address of a Redis", way)
    with opened as client:
        try:
            client.ping()
        except RedisError as error:
            return _unreached(url, error)
        told = f"{display_url(url)} answers ({1000 * (time.perf_counter() - started):.0f} ms)"
        doing = "cannot read grades"
        try:
            client.mget(_KEYS)
            doing = "cannot store grades"
            client.set(_KEYS[0], b"", px=1000)
        except ResponseError as refusal:  # nothing fails for it, so nobody would notice what is paid for twice
            kind = type(refusal).__name__
            return Check("redis", "warning", f"{told}, but {doing} ({kind})", _REFUSED.get(kind, "see its own log"))
    return Check("redis", "ok", f"{told}, reads and writes")


def _unreached(url: str, error: Exception) -> Check:
    """Tell why Redis cannot be used by the kind of its error: the text may hold what was sent."""
    kind, at = type(error).__name__, display_url(url)
    if (why := tls_failure(error)) is not None:
        return Check("redis", "error", f"no secure connection to Redis at {at} ({why})", _SECURED)
    way = _NO_DATABASE if kind == "ResponseError" else _REFUSED.get(kind, _UNREACHED)
    return Check("redis", "error", f"no answer from Redis at {at} ({kind})", way)


def _searxng() -> Check:
    from haystack_integrations.crag.components.searxng_web_search import SearXNGWebSearch

    # A search, since that it runs does not tell whether it gives JSON, nor whether its engines answer.
    found = len(SearXNGWebSearch(timeout=_SECONDS).run(query=_QUESTION)["documents"])
    told = f"{found} results for {_QUESTION!r} at {display_url(configured(URL_SETTING))}"
    if not found:
        return Check("searxng", "warning", told, "see its /stats page: none of its engines finds anything")
    return Check("searxng", "ok", told)


def _serving() -> Check:
    from haystack_integrations.crag.chat_model import chat_model
    from haystack_integrations.crag.serving.choice import chosen_pipelines
    from haystack_integrations.crag.serving.doubts import doubts
    from haystack_integrations.crag.serving.keys import Keys
    from haystack_integrations.crag.serving.settings import read_settings

    settings = read_settings()
    Keys(file=settings.api_keys_file)  # built for its check
    chosen_pipelines(settings, chat_model())
    if missing := [place for place in settings.docs if not os.path.exists(place)]:
        return Check("serve settings", "error", f"no file or folder at {missing}", "correct CRAG_SERVE_DOCS")
    told = doubts(settings)
    if told:
        return Check("serve settings", "warning", "; ".join(told), "see docs/server-settings.md")
    return Check("serve settings", "ok", "all are known and usable")
