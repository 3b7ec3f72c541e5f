"""Where traces and metrics go by OTLP, and how: OpenTelemetry's own variables, a signal's before those of all."""

import os
from typing import Final, Literal

from haystack_integrations.crag.errors import ConfigurationError, unreadable_certificates

Signal = Literal["traces", "metrics"]
Protocol = Literal["grpc", "http/protobuf"]

_PROTOCOLS: Final[dict[str, Protocol]] = {"grpc": "grpc", "http/protobuf": "http/protobuf", "http": "http/protobuf"}


def sends(signal: Signal) -> bool:
    """
    Tell whether something is to be sent: an endpoint is set, and no `OTEL_..._EXPORTER` says otherwise, such as `none`.

    :param signal: What is sent.
    :returns: The answer.
    """
    named = exporters(signal)
    return endpoint(signal)[1] != "" and (not named or "otlp" in named) and not is_off()


def is_off() -> bool:
    """Tell whether OpenTelemetry's SDK is switched off as a whole: it then makes no spans and no figures at all."""
    return os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def exporters(signal: Signal) -> list[str]:
    """
    List the exporters that `OTEL_..._EXPORTER` names.

    :param signal: What is sent.
    :returns: Their names in small letters, such as `otlp` or `none`; empty where it is unset.
    """
    named = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").lower().split(",")
    return [name for part in named if (name := part.strip())]


def endpoint(signal: Signal) -> tuple[str, str]:
    """
    Find the address of the collector.

    :param signal: What is sent to it.
    :returns: The variable that names it, and the address; empty where none does.
    """
    return _found(signal, "ENDPOINT")


def protocol(signal: Signal) -> Protocol:
    """
    Find the protocol to send by.

    :param signal: What is sent.
    :returns: The protocol; that over HTTP where no variable names one.
    :raises ConfigurationError: For one that nothing here speaks: all that is sent would be lost.
    """
    name, value = _found(signal, "PROTOCOL")
    known = _PROTOCOLS.get(value.strip().lower() or "http")
    if known is None:
        msg = f"{name}: got {value!r}, wanted grpc or http/protobuf; correct or unset it"
        raise ConfigurationError(msg)
    return known


def check_authority(signal: Signal) -> None:
    """
    Refuse a file of certificates that cannot be read: a secure connection would fail at it, each time.

    :param signal: What is sent.
    :raises ConfigurationError: When the file cannot be read, or holds no certificate.
    """
    name, file = _found(signal, "CERTIFICATE")
    if not file or endpoint(signal)[1].lower().startswith("http:"):
        return
    if why := unreadable_certificates(file):
        msg = (
            f"{name}: got {file!r}, which is no readable file of certificates ({why}), wanted the PEM "
            "file of the authority that signed the collector's; correct or unset it"
        )
        raise ConfigurationError(msg)


def _found(signal: Signal, what: str) -> tuple[str, str]:
    names = [f"OTEL_EXPORTER_OTLP_{part}{what}" for part in (f"{signal.upper()}_", "")]
    return next(((name, value) for name in names if (value := os.environ.get(name))), (names[-1], ""))
