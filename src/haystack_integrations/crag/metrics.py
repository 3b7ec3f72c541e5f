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
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import WeakKeyDictionary

from haystack_integrations.crag.budget import Usage

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter, Observation

METER: Final = "crag"

_LATENCY_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40)
_SCORES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_CALLS: Final = (1, 2, 3, 4, 6, 8)
# The buckets of OpenTelemetry's conventions for generative AI.
_TOKENS: Final = tuple(4**power for power in range(14))
_DURATION_S: Final = tuple(0.01 * 2**power for power in range(14))

_FAILURES: Final = {
    **{
        name: name
        for name in ("content_filter", "context_length", "deadline", "empty", "length", "missing", "template")
    },
    **{"not_json": "not_json", "invalid": "invalid", "array_length": "invalid", "too_long": "length"},
    **dict.fromkeys(("llm_calls", "tokens", "max_llm_calls"), "budget"),
    **{"canary": "canary", "not_ranked": "not_ranked", "no_score": "not_ranked"},
}
"""Why a document has no grade: twelve words, and for all else, which is what a client raised, `model_error`."""


class Breakable(Protocol):
    """What may be left alone after it failed."""

    @property
    def state(self) -> str:
        """`closed` or `half_open` when it may be asked."""


_breakers: "WeakKeyDictionary[Breakable, str]" = WeakKeyDictionary()
_lock = Lock()


@dataclass(frozen=True)
class _Instruments:
    """All instruments; `Any`, since they are there only with OpenTelemetry's API."""

    decisions: Any
    corrections: Any
    answers: Any
    latency: Any
    score: Any
    document_scores: Any
    grader_failures: Any
    grader_calls: Any
    grader_duration: Any
    web_requests: Any
    cache_requests: Any
    tokens: Any
    duration: Any


@cache
def _instruments() -> _Instruments | None:
    """Make the instruments, once; a provider that is configured later is found by them."""
    try:
        from opentelemetry.metrics import get_meter
    except ImportError:
        return None
    meter = get_meter(METER)
    meter.create_observable_gauge(
        "crag.breaker.open", [_open_breakers], "{breaker}", "1 while a provider is left alone after failures"
    )
    return _made(meter)


def _made(meter: "Meter") -> _Instruments:
    def histogram(name: str, unit: str, buckets: Iterable[float], description: str) -> Any:
        return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=[*buckets])

    return _Instruments(
        decisions=meter.create_counter("crag.decisions", "{decision}", "Runs by their last verdict"),
        corrections=meter.create_counter("crag.corrections", "{correction}", "Runs by how they were corrected"),
        answers=meter.create_counter("crag.answers", "{answer}", "Answers by what became of them"),
        latency=histogram("crag.retrieval.latency", "s", _LATENCY_S, "From a question to the last decision"),
        # No unit: with unit 1 Prometheus would call it crag_relevance_score_ratio.
        score=meter.create_gauge("crag.relevance.score", "", "The last aggregate score"),
        document_scores=histogram("crag.document.scores", "", _SCORES, "Grades of documents; failed ones have none"),
        grader_failures=meter.create_counter("crag.grader.failures", "{document}", "Documents that got no grade"),
        grader_calls=histogram("crag.grader.calls", "{call}", _CALLS, "Calls to a chat model for one grading"),
        grader_duration=histogram("crag.grader.duration", "s", _LATENCY_S, "Duration of one grading"),
        web_requests=meter.create_counter("crag.web.requests", "{request}", "Searches, by how they ended"),
        cache_requests=meter.create_counter("crag.cache.requests", "{request}", "Grades looked up in a cache"),
        tokens=histogram("gen_ai.client.token.usage", "{token}", _TOKENS, "Tokens of one call to a chat model"),
        duration=histogram("gen_ai.client.operation.duration", "s", _DURATION_S, "Duration of one call"),
    )


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


def answered(status: str) -> None:
    """
    Count an answer that a model was asked for.

    :param status: An `AnswerStatus`; `none` is not counted.
    """
    if status != "none" and (to := _instruments()) is not None:
        to.answers.add(1, {"status": status})


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
    Count grades looked up in a cache.

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
