"""What `crag doctor` looks at of OpenTelemetry: whether the collector of traces or metrics takes them."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any, Final

from haystack_integrations.crag.cli.check import Check, waited
from haystack_integrations.crag.observing.otlp import Signal, check_authority, endpoint, protocol, sends
from haystack_integrations.crag.store_profiles import display_url

_SECONDS: Final = 5
_SIGNALS: Final[tuple[Signal, ...]] = ("traces", "metrics")


def collector_checks() -> Iterator[Check]:
    """
    Look at the collectors that OpenTelemetry's variables name; a run goes well without them, and nobody would notice.

    :returns: An iterator of checks, none for what is not sent.
    """
    for signal in _SIGNALS:
        if sends(signal):
            yield waited(signal, partial(_collector, signal))


def _collector(signal: Signal) -> Check:
    """Send nothing, as the server sends what it has: address, protocol, keys and certificates are tried."""
    (variable, address), way = endpoint(signal), "grpc" if protocol(signal) == "grpc" else "http"
    check_authority(signal)
    try:
        exporter, nothing = _exporter(signal, way)
    except ImportError as error:
        found = f"{variable} is set, but {error.name!r} is missing"
        return Check(signal, "error", found, "pip install 'crag-haystack[serve]'")
    try:
        is_taken = exporter.export(nothing).name == "SUCCESS"
    finally:
        exporter.shutdown()
    at = f"{display_url(address)} by {protocol(signal)}"
    if is_taken:
        return Check(signal, "ok", f"taken at {at}")
    way_out = f"start the collector, correct {variable}, its _PROTOCOL or _HEADERS, or send none"
    none = f"OTEL_{signal.upper()}_EXPORTER=none" + ", if it is a Jaeger, which takes no metrics" * (
        signal == "metrics"
    )
    return Check(signal, "error", f"not taken at {at}", f"{way_out}: {none}")


def _exporter(signal: Signal, way: str) -> tuple[Any, Any]:
    package = f"opentelemetry.exporter.otlp.proto.{way}"
    if signal == "traces":
        return import_module(f"{package}.trace_exporter").OTLPSpanExporter(timeout=_SECONDS), []
    from opentelemetry.sdk.metrics.export import MetricsData

    return import_module(f"{package}.metric_exporter").OTLPMetricExporter(timeout=_SECONDS), MetricsData([])
