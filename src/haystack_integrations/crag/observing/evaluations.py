"""
What is told of a grading: attributes of its span, and one log event for each judged document.

The events are opt-in, in the words of OpenTelemetry's conventions for generative AI.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from haystack import Document
from haystack.tracing.tracer import Span, tracer

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import crag_meta
from haystack_integrations.crag.observing.telemetry import GRADING, MOST_ON_A_SPAN, set_tags, traced_id

EVENT: Final = "gen_ai.evaluation.result"

_loggers: Final[list[Any]] = []  # none where nobody asked for events


def enable_evaluation_events() -> None:
    """
    Begin to send events, to the logger provider that is configured.

    :raises ConfigurationError: When OpenTelemetry is missing or too old for events, or no logger provider is set.
    """
    try:
        from opentelemetry._logs import Logger, NoOpLoggerProvider, get_logger, get_logger_provider
    except ImportError as error:
        msg = f'events need OpenTelemetry, but {error.name!r} is missing; run pip install "crag-haystack[trace]"'
        raise ConfigurationError(msg) from None
    provider = get_logger_provider()
    if isinstance(provider, NoOpLoggerProvider) or type(provider).__name__ == "ProxyLoggerProvider":
        msg = (
            "events need an OpenTelemetry logger provider, but none is configured; call "
            "opentelemetry._logs.set_logger_provider(...) first, with an exporter to your collector"
        )
        raise ConfigurationError(msg)
    if "event_name" not in (Logger.emit.__kwdefaults__ or {}):
        msg = "events need an opentelemetry-api whose loggers emit by event_name; upgrade it to 1.45"
        raise ConfigurationError(msg)
    _loggers[:] = [get_logger("crag")]


def tell_grading(
    span: Span, documents: Sequence[Document], scores: Iterable[tuple[str, float]], tags: Mapping[str, Any]
) -> None:
    """
    Put a grading into attributes of its span, and into events where they are asked for.

    What a grader says why may quote the document: an event tells it with Haystack's content switch only.

    :param span: The span of the grading, which is the current one.
    :param documents: Documents after their grading; an event each for the first 50 that have a grade.
    :param scores: Id and score of each document that was judged, in document order.
    :param tags: Further attributes.
    """
    set_tags(span, {**GRADING, **_score_tags(scores), **tags})
    for logger in _loggers:
        judged = (document for document in documents if "status" in crag_meta(document))
        for document in islice(judged, MOST_ON_A_SPAN):
            with suppress(Exception):  # who watches must not hurt
                logger.emit(event_name=EVENT, attributes=_attributes(document))


def _score_tags(scores: Iterable[tuple[str, float]]) -> dict[str, Any]:
    """Give ids and scores of the first 50, and the best and the mean of all; None where none was judged."""
    found = list(scores)
    values = [score for _, score in found]
    return {
        "crag.scores": [round(score, 4) for score in values[:MOST_ON_A_SPAN]] or None,
        "crag.document.ids": [traced_id(id_) for id_, _ in found[:MOST_ON_A_SPAN]] or None,
        "crag.score.max": max(values, default=None),
        "crag.score.mean": round(sum(values) / len(values), 4) if values else None,
    }


def _attributes(document: Document) -> dict[str, Any]:
    grade = crag_meta(document)
    failed, reason = grade["status"] == "failed", grade.get("reason")
    told = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": None if failed else float(grade["score"]),
        "gen_ai.evaluation.explanation": reason if tracer.is_content_tracing_enabled and not failed else None,
        "error.type": (reason or "failed") if failed else None,
        "crag.document.id": traced_id(document.id),
        "crag.grade.status": grade["status"],
        "crag.grade.grader": grade.get("grader"),
    }
    return {name: value for name, value in told.items() if value is not None}
