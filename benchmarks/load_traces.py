"""Traces of a load, read back from Jaeger: is one request one trace, and has every span its parent there?"""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from load_servers import ask

_PAGE = 1000  # more traces than a window has
_WINDOW = 5.0  # seconds of traces in one answer of Jaeger
_BATCH = 6.0  # seconds; OpenTelemetry's SDK keeps a batch for 5, so a shorter silence is no end
_PATIENCE_S = 60.0  # for traces that are still to come


@dataclass
class Traces:
    """What Jaeger has of a load."""

    spans: dict[str, int] = field(default_factory=dict)  # by trace
    orphans: int = 0  # spans whose parent is not in their trace
    roots: int = 0

    @property
    def spans_each(self) -> float:
        """Return the mean number of spans of a trace."""
        return sum(self.spans.values()) / max(1, len(self.spans))

    @property
    def sizes(self) -> dict[int, int]:
        """Count the traces by their number of spans."""
        return dict(sorted(Counter(self.spans.values()).items()))

    def add(self, trace: dict[str, Any]) -> None:
        """Count a trace."""
        known = {span["spanID"] for span in trace["spans"]}
        parents = [[to["spanID"] for to in span.get("references") or ()] for span in trace["spans"]]
        self.spans[trace["traceID"]] = len(known)
        self.roots += sum(not above for above in parents)
        self.orphans += sum(not known.issuperset(above) for above in parents)


def traces_of(jaeger: str, service: str, since: float, until: float, wanted: int) -> Traces:
    """
    Read the traces of requests that began between two times of day.

    Spans arrive in batches, so it asks until as many traces as requests are there and nothing changes any more.
    """
    deadline, last = time.monotonic() + _PATIENCE_S, -1
    while True:
        found = _read(jaeger, service, since, until)
        spans = sum(found.spans.values())
        if (len(found.spans) >= wanted and spans == last) or time.monotonic() > deadline:
            return found
        last = spans
        time.sleep(_BATCH)


def _read(jaeger: str, service: str, since: float, until: float) -> Traces:
    found, start = Traces(), since
    while start < until:
        end = min(until, start + _WINDOW)
        asked = {"service": service, "start": int(start * 1e6), "end": int(end * 1e6), "limit": _PAGE}
        for trace in ask(f"{jaeger}/api/traces?{urlencode(asked)}")["data"]:
            if trace["traceID"] not in found.spans:  # one that lies in two windows comes twice
                found.add(trace)
        start = end
    return found
