"""The instruments behind `metrics`: names, units and buckets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

_LATENCY_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40)
_SCORES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_CALLS: Final = (1, 2, 3, 4, 6, 8)
# The buckets of OpenTelemetry's conventions for generative AI.
_TOKENS: Final = tuple(4**power for power in range(14))
_DURATION_S: Final = tuple(0.01 * 2**power for power in range(14))


@dataclass(frozen=True)
class Instruments:
    """All instruments; `Any`, since they are there only with OpenTelemetry's API."""

    decisions: Any
    corrections: Any
    answers: Any
    unsupported_answers: Any
    latency: Any
    score: Any
    document_scores: Any
    grader_failures: Any
    grader_calls: Any
    grader_duration: Any
    searches: Any
    requests: Any
    ready: Any
    web_requests: Any
    cache_requests: Any
    tokens: Any
    duration: Any
    telemetry_losses: Any


def made(meter: "Meter") -> Instruments:
    """
    Make the instruments.

    :param meter: OpenTelemetry's meter.
    :returns: All of them.
    """

    def histogram(name: str, unit: str, buckets: Iterable[float], description: str) -> Any:
        return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=[*buckets])

    return Instruments(
        decisions=meter.create_counter("crag.decisions", "{decision}", "Runs by their last verdict"),
        corrections=meter.create_counter("crag.corrections", "{correction}", "Runs by how they were corrected"),
        answers=meter.create_counter("crag.answers", "{answer}", "Answers by what became of them"),
        unsupported_answers=meter.create_counter(
            "crag.answers.unsupported", "{answer}", "Answers with numbers that neither question nor evidence has"
        ),
        latency=histogram("crag.retrieval.latency", "s", _LATENCY_S, "From a question to the last decision"),
        # No unit: with unit 1 Prometheus would call it crag_relevance_score_ratio.
        score=meter.create_gauge("crag.relevance.score", "", "The last aggregate score"),
        document_scores=histogram("crag.document.scores", "", _SCORES, "Grades of documents; failed ones have none"),
        grader_failures=meter.create_counter("crag.grader.failures", "{document}", "Documents that got no grade"),
        grader_calls=histogram("crag.grader.calls", "{call}", _CALLS, "Calls to a chat model for one grading"),
        grader_duration=histogram("crag.grader.duration", "s", _LATENCY_S, "Duration of one grading"),
        searches=meter.create_counter("crag.searches", "{search}", "Searches of the index, by how much they reached"),
        requests=meter.create_counter("crag.requests", "{request}", "Requests to the server, by how they ended"),
        ready=meter.create_gauge("crag.ready", "", "1 while the store of the server answers"),
        web_requests=meter.create_counter("crag.web.requests", "{request}", "Searches, by how they ended"),
        cache_requests=meter.create_counter("crag.cache.requests", "{request}", "Grades looked up in a cache"),
        tokens=histogram("gen_ai.client.token.usage", "{token}", _TOKENS, "Tokens of one call to a chat model"),
        duration=histogram("gen_ai.client.operation.duration", "s", _DURATION_S, "Duration of one call"),
        telemetry_losses=meter.create_counter(
            "crag.telemetry.losses", "{loss}", "Times that OpenTelemetry said that it lost what was to be sent"
        ),
    )
