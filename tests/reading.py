"""Reading what a test left in spans and on the Prometheus page."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from cli_runner import environment
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

_OF_SCOPE = "otel_scope_"

_Series = tuple[str, tuple[tuple[str, str], ...]]


def named(spans: InMemorySpanExporter, name: str) -> list[dict[str, Any]]:
    """The attributes of the spans of one name, in the order in which they began; lists are read."""
    found = sorted((s for s in spans.get_finished_spans() if s.name == name), key=lambda s: s.start_time or 0)
    return [attributes(span) for span in found]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """A span's attributes; Haystack writes lists as JSON."""
    values = dict(span.attributes or {})
    return {k: json.loads(v) if isinstance(v, str) and v.startswith("[") else v for k, v in values.items()}


def traces(spans: Iterable[ReadableSpan]) -> dict[int, list[ReadableSpan]]:
    """Spans by trace."""
    found: dict[int, list[ReadableSpan]] = {}
    for span in spans:
        assert span.context is not None
        found.setdefault(span.context.trace_id, []).append(span)
    return found


def orphans(spans: Iterable[ReadableSpan]) -> list[str]:
    """Names of spans whose parent is not in their trace."""
    found = []
    for members in traces(spans).values():
        ids = {span.context.span_id for span in members if span.context}
        found += [span.name for span in members if span.parent is not None and span.parent.span_id not in ids]
    return found


def everything(spans: Iterable[ReadableSpan]) -> str:
    """All that would leave the process with some spans."""
    return "\n".join(span.to_json() for span in spans)


def in_new_process(code: str) -> str:
    """Run a program and give what it printed: OpenTelemetry's providers can be set only once in a process."""
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


class Figures:
    """The page as it is read by Prometheus, less what stood there before the test."""

    def __init__(self, export: Any) -> None:
        self.export, self._now = export, dict[_Series, float]()
        self._before = self._read()

    def freeze(self) -> None:
        """Go by the page as it is now: to read it takes long where many tests have left series on it."""
        self._now = self._read()

    def _read(self) -> dict[_Series, float]:
        if self._now:
            return self._now
        page = self.export.page()[0].decode()
        samples = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
        return {(sample.name, _own(sample.labels)): sample.value for sample in samples}

    def series(self, name: str) -> dict[tuple[tuple[str, str], ...], float]:
        """What was added to the series of one name, by labels; series that did not change are left out."""
        now = {key: value for key, value in self._read().items() if key[0] == name}
        added = {key[1]: value - self._before.get(key, 0.0) for key, value in now.items()}
        return {labels: value for labels, value in added.items() if value}

    def added(self, name: str, **labels: str) -> float:
        """What was added to one series."""
        return self.series(name).get(_own(labels), 0.0)

    def value(self, name: str, **labels: str) -> float:
        """What one series is now."""
        return self._read()[name, _own(labels)]


def _own(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    # To Prometheus an empty label is none.
    return tuple(sorted((name, value) for name, value in labels.items() if value and not name.startswith(_OF_SCOPE)))
