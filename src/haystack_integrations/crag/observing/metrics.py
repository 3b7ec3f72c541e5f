"""
Figures for operators, by OpenTelemetry's meter `crag`: names, units, labels and buckets are in docs/observability.md.

Components call these functions once for each run or call. Without OpenTelemetry's API they do nothing; without a
`MeterProvider` (see `metrics_export`) next to nothing. Labels are words of this package, names of classes and of
models: never a question, an id, an address or a domain.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakKeyDictionary

from haystack_integrations.crag.budget import Usage
from haystack_integrations.crag.observing.instruments import Instruments, made

if TYPE_CHECKING:
    from opentelemetry.metrics import Observation

METER: Final = "crag"

_FAILURES: Final = {
    **{name: name for name in ("canary", "content_filter", "context_length", "deadline", "empty", "invalid", "length")},
    **{name: name for name in ("missing", "not_json", "not_ranked", "template")},
    **{"array_length": "invalid", "no_score": "not_ranked", "too_long": "length"},
    **dict.fromkeys(("llm_calls", "tokens", "max_llm_calls"), "budget"),
}
"""Why a document has no grade: twelve words, and for all else, which is what a client raised, `model_error`."""


class Breakable(Protocol):
    """What may be left alone after it failed."""

    @property
    def state(self) -> str:
        """`closed` or `half_open` when it may be asked."""


_breakers: "WeakKeyDictionary[Breakable, str]" = WeakKeyDictionary()
_lock = Lock()


@cache
def _instruments() -> Instruments | None:
    """Make the instruments, once; a provider that is configured later is found by them."""
    try:
        from opentelemetry.metrics import get_meter
    except ImportError:
        return None
    meter = get_meter(METER)
    meter.create_observable_gauge(
        "crag.breaker.open", [_open_breakers], "{breaker}", "1 while a provider is left alone after failures"
    )
    return made(meter)


def run_decided(verdict: str, strategy: str, score: float | None, seconds: float | None) -> None:
    """
    Count a run whose last decision has been made.

    :param verdict: The last verdict.
    :param strategy: The corrections of the run in one word, or `none`.
    :param score: The last aggregate, or None where nothing could be aggregated.
    :param seconds: Time since the question came in, without writing the answer; None where nobody took the time.
    """
    if (to := _instruments()) is None:
        return
    to.decisions.add(1, {"category": verdict})
    to.corrections.add(1, {"strategy": strategy})
    if score is not None:
        to.score.set(score)
    if seconds is not None:
        to.latency.record(seconds, {"decision": verdict, "correction_strategy": strategy})


def answered(status: str, *, unsupported: bool = False) -> None:
    """
    Count an answer that a model was asked for.

    :param status: An `AnswerStatus`; `none` is not counted.
    :param unsupported: Whether it has numbers that neither question nor evidence has.
    """
    if status != "none" and (to := _instruments()) is not None:
        to.answers.add(1, {"status": status})
        if unsupported:
            to.unsupported_answers.add(1)


def documents_scored(scores: Iterable[tuple[float, str]]) -> None:
    """
    Count grades given in one pass.

    :param scores: Score and origin (`index` or `web`) of each document that was judged.
    """
    if (to := _instruments()) is not None:
        for score, source in scores:
            to.document_scores.record(score, {"source": "web" if source == "web" else "index"})


def grading_ended(failures: Iterable[str | None], calls: int | None = None) -> None:
    """
    Count a grading.

    :param failures: Why, for each document that got no grade.
    :param calls: Calls to a chat model; None where none is asked.
    """
    if (to := _instruments()) is None:
        return
    if calls is not None:
        to.grader_calls.record(calls)
    for reason, count in Counter(_FAILURES.get(why or "missing", "model_error") for why in failures).items():
        to.grader_failures.add(count, {"reason": reason})


@contextmanager
def timed_grading(grader: str) -> Iterator[None]:
    """
    Take the time of one grading, a chat model's own included.

    :param grader: The class of the grader.
    """
    begun = time.monotonic()
    yield
    if (to := _instruments()) is not None:
        to.grader_duration.record(time.monotonic() - begun, {"grader": grader})


def index_searched(status: str) -> None:
    """
    Count a search of the index.

    :param status: A `ReportStatus`.
    """
    if (to := _instruments()) is not None:
        to.searches.add(1, {"status": status})


def request_ended(route: str, status: int) -> None:
    """
    Count a request to the server.

    :param route: A route of the server, or `-` where none was reached.
    :param status: The HTTP status; 0 where the client left before there was one.
    """
    if (to := _instruments()) is not None:
        to.requests.add(1, {"route": route, "status": str(status)})


def store_answered(answers: bool) -> None:
    """
    Tell whether the server can be asked.

    :param answers: Whether its store answered when readiness was asked for.
    """
    if (to := _instruments()) is not None:
        to.ready.set(int(answers))


def telemetry_lost(signal: str) -> None:
    """
    Count that the SDK of OpenTelemetry could not send something, or dropped it.

    :param signal: `traces`, `metrics`, or `unknown` where it does not say.
    """
    if (to := _instruments()) is not None:
        to.telemetry_losses.add(1, {"signal": signal})


def web_searched(provider: str, status: str) -> None:
    """
    Count a search.

    :param provider: The class of the web search.
    :param status: `ok`, `empty`, `failed`, `cooldown`, `denied`, or `skipped` for one that is not set up.
    """
    if (to := _instruments()) is not None:
        to.web_requests.add(1, {"provider": provider, "status": status})


def watch(target: str, breaker: Breakable) -> None:
    """
    Tell of a breaker, for as long as it lives, whether it is open.

    :param target: Whom it guards.
    :param breaker: The breaker.
    """
    with _lock:
        _breakers[breaker] = target


def _open_breakers(_: object) -> "Iterable[Observation]":
    from opentelemetry.metrics import Observation

    with _lock:
        known = list(_breakers.items())
    worst: dict[str, int] = {}
    for breaker, target in known:
        worst[target] = max(worst.get(target, 0), int(breaker.state not in ("closed", "half_open")))
    return [Observation(value, {"target": target}) for target, value in worst.items()]


def cache_asked(asked: int, hits: int, *, failed: bool) -> None:
    """
    Count grades looked up in a cache, or that it was to keep and could not.

    :param asked: How many.
    :param hits: How many were there.
    :param failed: Whether the cache could not answer.
    """
    if (to := _instruments()) is None:
        return
    counts: Mapping[str, int] = {"hit": hits, "error" if failed else "miss": asked - hits}
    for result, count in counts.items():
        if count:
            to.cache_requests.add(count, {"result": result})


def model_asked(model: str | None, provider: str, seconds: float, usage: Usage | None, error: str | None) -> None:
    """
    Count one call to a chat model, in the words of OpenTelemetry's conventions.

    :param model: Its name, where the generator tells one.
    :param provider: Who is asked: `openai`, or the class of the generator.
    :param seconds: How long it took.
    :param usage: What the reply says it cost; None without a reply.
    :param error: The kind of failure, or None.
    """
    if (to := _instruments()) is None:
        return
    labels = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider}
    labels |= {"gen_ai.request.model": model} if model else {}
    to.duration.record(seconds, {**labels, **({"error.type": error} if error else {})})
    for kind, count in (("input", usage.tokens_in), ("output", usage.tokens_out)) if usage else ():
        if count:
            to.tokens.record(count, {**labels, "gen_ai.token.type": kind})
