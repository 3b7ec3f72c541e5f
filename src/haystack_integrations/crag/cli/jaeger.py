"""What Jaeger knows of a trace, and the decisions of each run that can be read from it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final

from haystack_integrations.crag.answer_numbers import MOST_NUMBERS
from haystack_integrations.crag.cli.bounded_get import bounded_get
from haystack_integrations.crag.cli.span_values import read_tags
from haystack_integrations.crag.errors import ConfigurationError, StoreError

UNTRACED: Final = "(the query is content, not traced)"
"""Stands in the place of a query; `HAYSTACK_CONTENT_TRACING_ENABLED=true` where the spans are made shows it."""

_RUN: Final = "haystack.pipeline.run"
_ROUTE: Final = "crag.route"
_RECORD: Final = "crag.record"
_NEEDED: Final = frozenset({"crag.iteration", "crag.decision", "crag.action", "crag.mode"})
_ENDED: Final = frozenset({"crag.iterations", "crag.decision", "crag.action", "crag.mode"})
_MOST_DOCUMENTS: Final = 10_000
_DIGITS: Final = (16, 32)
_THRESHOLDS: Final = ("upper", "lower", "filter", "beside", "second_opinion", "clear_lead", "correct_from")
_SIGNALS: Final = ("absent", "read_as", "language", "asked_alone", "asked_apart", "calibrated")
_LOGIN: Final = "put user and password into it: --jaeger http://USER:PASSWORD@HOST:PORT"
_HINTS: Final = {401: _LOGIN, 403: _LOGIN}


@dataclass(frozen=True)
class Span:
    """
    One span, as Jaeger gives it.

    :param id: Its id.
    :param parent: The id of the span above it; empty at the top.
    :param name: Its operation.
    :param start: When it began, in microseconds.
    :param tags: Its attributes.
    """

    id: str
    parent: str
    name: str
    start: int
    tags: dict[str, Any] = field(default_factory=dict)


def fetch(address: str, trace_id: str) -> list[Span]:
    """
    Read a trace by Jaeger's query API.

    :param address: Where Jaeger's pages are, `http://HOST:16686`.
    :param trace_id: 32 or 16 hexadecimal digits.
    :returns: Its spans, in the order in which they began.
    :raises ConfigurationError: For what is no id or no address, or a trace that Jaeger does not know.
    :raises StoreError: When Jaeger does not answer, or something else answers in its place.
    """
    import httpx

    from haystack_integrations.crag.chat_model import is_address
    from haystack_integrations.crag.cli.errors import through_proxy
    from haystack_integrations.crag.store_profiles import display_url

    identity = trace_id.strip().lower().removeprefix("0x")
    if len(identity) not in _DIGITS or not set(identity) <= set("0123456789abcdef"):
        msg = f"got {trace_id!r} as a trace id, wanted 32 hexadecimal digits; Jaeger, an answer of `crag serve` and "
        msg += "its error bodies show it"
        raise ConfigurationError(msg)
    if not is_address(address):
        msg = f"got {display_url(address)!r} as --jaeger, wanted http://HOST:PORT; the usual port of its pages is 16686"
        raise ConfigurationError(msg)
    place = display_url(address) + through_proxy(address)
    try:
        status, body = bounded_get(f"{address.rstrip('/')}/api/traces/{identity}")
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        msg = f"no answer from Jaeger at {place} ({type(error).__name__}); start it, or pass its address as --jaeger"
        raise StoreError(msg) from None
    if status in _HINTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        hint = _HINTS.get(status, "look at its log, and at the storage behind it")
        msg = f"Jaeger at {place} cannot say: it answers {status}; {hint}"
        raise StoreError(msg)
    try:
        found = _spans(json.loads(body))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        msg = f"what answers at {place} is not Jaeger; pass the address of its pages, usually at port 16686"
        raise StoreError(msg) from None
    if not found:
        msg = f"Jaeger at {place} knows no trace {identity}; spans come a few seconds late, and are not kept for ever"
        raise ConfigurationError(msg)
    return found


def failures(spans: Iterable[Span]) -> list[str]:
    """
    Name what failed in a trace, the innermost first.

    :param spans: The spans of one trace.
    :returns: Component or operation, and the class of the error; each once.
    """
    failed = [span for span in spans if "error.type" in span.tags or span.tags.get("error") is True]
    named = (span.tags.get("haystack.component.name", span.name) for span in reversed(failed))
    kinds = (span.tags.get("error.type") or _stated_kind(span) for span in reversed(failed))
    return list(dict.fromkeys(f"{name}: {kind}" for name, kind in zip(named, kinds, strict=True)))


def _stated_kind(span: Span) -> str:
    """Give the class that begins a status; spans of a client such as Elasticsearch's name it nowhere else."""
    word = str(span.tags.get("otel.status_description", "")).partition(":")[0]
    return word if word.isidentifier() else "error"


def _spans(known: Any) -> list[Span]:
    """Read an answer; a span that was sent twice, since its first delivery was not confirmed in time, is one."""
    _, traces = known["errors"], known["data"]  # every answer of Jaeger's has both
    entries = [span for trace in traces or () for span in trace["spans"]]
    spans = {span.id: span for span in map(_span, entries)}
    return sorted(spans.values(), key=lambda span: span.start)


def _span(entry: Mapping[str, Any]) -> Span:
    above = [one["spanID"] for one in entry.get("references") or () if one.get("refType") == "CHILD_OF"]
    tags = {str(tag["key"]): tag["value"] for tag in entry.get("tags") or ()}
    names = (str(entry["spanID"]), str(above[0]) if above else "", str(entry["operationName"]))
    return Span(*names, int(entry["startTime"]), tags)


def records(spans: Iterable[Span]) -> list[dict[str, Any]]:
    """
    Read the decisions of each run in a trace, in the form of the `crag` record, as far as spans tell.

    :param spans: The spans of one trace.
    :returns: One record for each run that decided something, in order; what is content is not in them.
    :raises ConfigurationError: When a decision lost on the way what it cannot be told without.
    """
    listed = [replace(span, tags=read_tags(span.tags)) for span in sorted(spans, key=lambda span: span.start)]
    if any(span.name == _ROUTE and "error.type" not in span.tags and _NEEDED - span.tags.keys() for span in listed):
        msg = (
            "the trace has decisions (`crag.route`) that lack attributes, wanted all of them; raise "
            "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT where the spans are made (by default 128), or the limit of the collector"
        )
        raise ConfigurationError(msg)
    by_id = {span.id: span for span in listed}
    runs: dict[str, list[Span]] = {}
    for span in listed:
        if span.name in (_ROUTE, _RECORD):
            runs.setdefault(_run_of(span, by_id), []).append(span)
    found = ([span.tags for span in run] for run in runs.values())
    return [_record(run) for run in found if any(map(_is_decision, run))]


def _run_of(span: Span, by_id: Mapping[str, Span]) -> str:
    """Find the run of a pipeline that a span belongs to; what ran without a pipeline belongs to the trace."""
    at: Span | None = span
    seen = set[str]()
    while at is not None and at.name != _RUN:
        seen.add(at.id)  # spans that stand below each other have no run above them
        at = None if at.parent in seen else by_id.get(at.parent)
    return at.id if at is not None else ""


def _is_decision(tags: Mapping[str, Any]) -> bool:
    return tags.keys() >= _NEEDED


def _record(run: list[dict[str, Any]]) -> dict[str, Any]:
    trail = [_decision(tags) for tags in filter(_is_decision, run)]
    last = next((tags for tags in run if "crag.iterations" in tags), run[-1])
    passes = max(last.get("crag.iterations", 0), *(entry["iteration"] for entry in trail))
    # The run's own record has the last word: a collector may have lost the last decision.
    end = _decision(last | {"crag.iteration": passes}) if last.keys() >= _ENDED else trail[-1]
    so_far = last.get("crag.tokens")  # of a decision, where no record was traced; neither: they are not known
    tokens = {"in": last.get("crag.tokens.in", so_far), "out": last.get("crag.tokens.out", so_far and 0)}
    return {
        **{key: end[key] for key in ("verdict", "score", "action", "rule", "mode")},
        **{key: trail[-1][key] for key in ("thresholds", "limit")},
        "strategy": last.get("crag.correction.strategy"),
        "iterations": passes,
        "llm_calls": last.get("crag.llm_calls", 0),
        "tokens": tokens,
        "answer": {
            "status": last.get("crag.answer.status", "none"),
            **{name: last.get(f"crag.answer.{name}", []) for name in ("cited", "cited_unknown")},
            "unsupported_numbers": _numbers(last),
        },
        "milliseconds": last.get("crag.milliseconds", 0.0),
        "coverage": {
            "reasons": last.get("crag.degraded.reasons", []) + ["decisions_not_traced"] * (passes > len(trail))
        },
        "trail": trail,
    }


def _numbers(tags: Mapping[str, Any]) -> list[str]:
    """Give the numbers themselves where content is traced, else as many empty texts."""
    count = min(tags.get("crag.answer.unsupported_numbers", 0), MOST_NUMBERS)
    told: list[str] = tags.get("crag.answer.unsupported_numbers.text", [""] * count)
    return told


def _decision(tags: Mapping[str, Any]) -> dict[str, Any]:
    ids, scores = tags.get("crag.document.ids", []), tags.get("crag.scores", [])
    dropped = (tags.get(f"crag.discarded.{name}", []) for name in ("ids", "scores", "reasons"))
    discarded = [{"id": id_, "score": score, "reason": reason} for id_, score, reason in zip(*dropped, strict=False)]
    gone = {entry["id"] for entry in discarded}
    kept = [{"id": id_, "score": score} for id_, score in zip(ids, scores, strict=False) if id_ not in gone]
    return {
        "iteration": tags["crag.iteration"],
        "max_iterations": tags.get("crag.iteration.max"),
        "strategy": tags.get("crag.retrieval.strategy", ""),
        "query": tags.get("crag.query", UNTRACED),
        "verdict": tags.get("crag.decision"),
        "score": tags.get("crag.score"),
        "rule": tags.get("crag.decision.rule"),
        "judged_by": tags.get("crag.decision.judged_by", tags.get("crag.decision.rule")),
        "action": tags.get("crag.action"),
        "mode": tags.get("crag.mode"),
        "limit": tags.get("crag.decision.limit"),
        "thresholds": _thresholds(tags),
        "kept": _filled(kept, tags.get("crag.documents.kept", 0)),
        "discarded": _filled(discarded, tags.get("crag.documents.discarded", 0)),
        "grading": {"cut": tags.get("crag.documents.cut", 0)},
        "signals": {"set": {name: tags.get(f"crag.decision.{name}") for name in _SIGNALS}},
    }


def _thresholds(tags: Mapping[str, Any]) -> dict[str, float]:
    told = {name: tags.get(f"crag.threshold.{name}") for name in _THRESHOLDS}
    return {name: value for name, value in told.items() if value is not None}


def _filled(entries: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Add what a span had no room for, so that the number is right."""
    missing = max(0, min(count, _MOST_DOCUMENTS) - len(entries))
    more = {**entries[-1], "id": None} if entries else {"id": None, "score": None, "reason": "not_traced"}
    return entries + [more] * missing
