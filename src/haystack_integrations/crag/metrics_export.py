"""Where the figures of `metrics` go: a page for Prometheus, and OTLP where an endpoint is set. Both are the SDK's."""

import os
from importlib import import_module
from threading import Lock
from typing import Any, Final

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.observing.otlp import endpoint, protocol, sends
from haystack_integrations.crag.observing.variables import variables_named

_INSTALL: Final = 'pip install "crag-haystack[serve]"'
_EVERY_MILLISECONDS: Final = 15_000
"""As often as Prometheus scrapes. The SDK's minute is as long as the dashboard's windows: no rate would be seen."""

_lock = Lock()
_exports: "list[MetricsExport]" = []


class MetricsExport:
    """The figures of this process: ours, and those of the process itself that Prometheus' client adds."""

    def page(self, accept: str = "") -> tuple[bytes, str]:
        """
        Write the page that Prometheus scrapes.

        :param accept: The request's `Accept` header: Prometheus' text format, or OpenMetrics where that is asked for.
        :returns: The page and its content type.
        """
        from prometheus_client import REGISTRY
        from prometheus_client.exposition import choose_encoder

        try:
            encode, content_type = choose_encoder(accept)
        except (TypeError, ValueError):  # a version that is none, at which Prometheus' client stumbles
            encode, content_type = choose_encoder("")
        return encode(REGISTRY), content_type


def configure_metrics() -> MetricsExport:
    """
    Begin to count, once for a process: a second call gives the same.

    The page is always there; OTLP besides where `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`
    is set, every `OTEL_METRIC_EXPORT_INTERVAL` milliseconds (15,000), by the protocol that
    `OTEL_EXPORTER_OTLP_METRICS_PROTOCOL` or `OTEL_EXPORTER_OTLP_PROTOCOL` names; `OTEL_METRICS_EXPORTER=none` sends
    nothing. An app with a meter provider of its own needs none of this: the meter `crag` reports to whatever is
    configured. Where that is the SDK's own, this adds the page to it and leaves to it what is sent.

    :returns: What gives the page.
    :raises ConfigurationError: When a package is missing, a variable of OpenTelemetry cannot be used, or a meter
        provider of another kind is set already.
    """
    with _lock:
        if not _exports:
            _exports.append(_configured())
        return _exports[0]


@variables_named()
def _configured() -> MetricsExport:
    try:
        from opentelemetry import metrics
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from opentelemetry.sdk.metrics import MeterProvider
    except ImportError as error:
        msg = f"metrics need OpenTelemetry's SDK and Prometheus exporter, but {error.name!r} is missing; run {_INSTALL}"
        raise ConfigurationError(msg) from None
    there = metrics.get_meter_provider()
    if isinstance(there, MeterProvider) and hasattr(there, "add_metric_reader"):
        # As of `opentelemetry-instrument`, which sends what it is told to; two such readers would say all twice.
        if not any(isinstance(reader, PrometheusMetricReader) for reader in getattr(there, "_all_metric_readers", ())):
            there.add_metric_reader(PrometheusMetricReader())
        return MetricsExport()
    provider = MeterProvider([PrometheusMetricReader(), *_otlp()])
    metrics.set_meter_provider(provider)
    if metrics.get_meter_provider() is not provider:
        provider.shutdown()
        msg = (
            "got a process with a meter provider already, wanted to set one; leave configure_metrics() out and give "
            "that provider a reader, for example PrometheusMetricReader: the meter 'crag' reports to it"
        )
        raise ConfigurationError(msg)
    return MetricsExport()


def _otlp() -> list[Any]:
    if not sends("metrics"):
        return []
    try:
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        way = "grpc" if protocol("metrics") == "grpc" else "http"
        exporter: Any = import_module(f"opentelemetry.exporter.otlp.proto.{way}.metric_exporter")
    except ImportError as error:
        msg = f"{endpoint('metrics')[0]} is set, but {error.name!r} is missing; run {_INSTALL}"
        raise ConfigurationError(msg) from None
    every = None if os.environ.get("OTEL_METRIC_EXPORT_INTERVAL") else _EVERY_MILLISECONDS
    return [PeriodicExportingMetricReader(exporter.OTLPMetricExporter(), every)]
