"""Logs of a server: one line for each event, on stderr, and no question, document, key or exception's text in any."""

import logging
import re
import time
from asyncio import CancelledError
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TextIO

from hayhooks import log
from hayhooks.server.logger import intercept_stdlib_logging

from haystack_integrations.crag.errors import tls_failure
from haystack_integrations.crag.observing.metrics import telemetry_lost
from haystack_integrations.crag.serving.log_lines import LogLines
from haystack_integrations.crag.texts.steering import as_signs

if TYPE_CHECKING:
    from loguru import Record

OURS: Final = ("haystack_integrations.crag", "uvicorn.error", "asyncio")
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_CREDENTIALS: Final = re.compile(r"//[^/\s]+@")  # up to the last @: who writes addresses may leave one in a password
_TRACEBACK: Final = "Traceback (most recent call last)"
REQUEST: Final = "crag_request"
"""What names its request on a line. Hayhooks adds a `trace_id`, too, and makes one up where nothing is traced."""

SENDERS: Final = ("opentelemetry.exporter", "opentelemetry.sdk")
_QUIET_SECONDS: Final = 600.0
_BY_GRPC: Final = re.compile(r"OPENSSL_internal:(\w+)")  # in its details, why there is no secure connection
_NO_NUMBER: Final = "Unable to parse value for %s"  # the SDK's words for a setting of its queue

logger = logging.getLogger(__name__)


class Undelivered(logging.Handler):
    """Says now and then that traces or metrics are lost; not in OpenTelemetry's words: they hold an address."""

    def __init__(self) -> None:
        """Have said nothing yet."""
        super().__init__(logging.WARNING)
        self._next: dict[str, float] = {}
        self._why: dict[str, str] = {}  # by signal, what failed at the last try: who gives up says no more than that

    def emit(self, record: logging.LogRecord) -> None:
        """Count it, and say it unless that was done a short while ago: a collector that is gone fails all the time."""
        if "sampler" in str(record.msg).lower():
            logger.warning("OTEL_TRACES_SAMPLER or its _ARG cannot be used, so all traces are recorded: correct it.")
            return
        if str(record.msg).startswith(_NO_NUMBER) and isinstance(record.args, tuple):
            logger.warning("%s is no whole number, so its default holds: correct it.", record.args[0])
            return
        signal, name = _lost(record)
        if (failed := _failed(record)) is not None:
            self._why[signal] = failed
        if record.levelno >= logging.ERROR:
            status = _status(record)
            refused = f" ({why})" if (why := status or self._why.pop(signal, "")) else ""
            said = f"{name} could not be sent{refused}: check OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS and their kin."
            news = f"{name} {status}"  # a reason is known of some tries, and of others not
        elif "drop" in str(record.msg).lower():  # other warnings are of what is tried again
            said = f"{name} are dropped, since a collector takes fewer: see OTEL_BSP_MAX_QUEUE_SIZE."
            news = said
        else:
            return
        telemetry_lost(signal)
        if time.monotonic() >= self._next.get(news, 0.0):
            self._next[news] = time.monotonic() + _QUIET_SECONDS
            logger.warning("%s", said)


def _status(record: logging.LogRecord) -> str:
    """Tell the status of a collector that refused: a number of HTTP's, or a word of gRPC's; empty where none came."""
    told = record.args if isinstance(record.args, tuple) else ()
    status = next((str(getattr(one, "name", one)) for one in told if isinstance(one, int | Enum)), "")
    untrusted = next((found[1] for one in told if (found := _BY_GRPC.search(str(one)))), "")
    return ", ".join(filter(None, (status, untrusted)))


def _failed(record: logging.LogRecord) -> str | None:
    """Tell what a client met instead of a collector: why there is no secure connection, or the error's kind."""
    told = record.args if isinstance(record.args, tuple) else ()
    error = next((one for one in told if isinstance(one, Exception)), None)
    return None if error is None else tls_failure(error) or type(error).__name__


def _lost(record: logging.LogRecord) -> tuple[str, str]:
    """Tell which of the two it is: where one of them is refused all the time, a loss of the other would not be seen."""
    where = f"{record.name} {record.args}".lower()
    if "metric" in where:
        return "metrics", "Metrics"
    return ("traces", "Traces") if "trace" in where or "span" in where else ("unknown", "Traces or metrics")


def configure_logs(sink: TextIO | None = None) -> None:
    """
    Send what this package, Hayhooks and uvicorn log through one sink that drops what they say of content.

    :param sink: Where to, at once; None for stderr, without waiting for whoever reads it.
    """
    log.remove()
    # Hayhooks' own sink shows the parameters of a request and, with an exception, the values of variables.
    log.add(sink or LogLines(REQUEST), level="INFO", format=_line, backtrace=False, diagnose=False)
    logging.getLogger().setLevel(logging.CRITICAL)  # other libraries: some of them log what they could not read
    intercept_stdlib_logging(OURS)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.INFO)
        logging.getLogger(name).addFilter(_is_news)
    undelivered = Undelivered()
    for name in SENDERS:
        sender = logging.getLogger(name)
        sender.handlers, sender.propagate = [undelivered], False
        sender.setLevel(logging.WARNING)


def _is_news(record: logging.LogRecord) -> bool:
    """
    Leave out what uvicorn tells of exceptions that are told already.

    An impatient end cancels what runs: uvicorn tells it as errors, and the app's with a traceback. Of a start or end
    that fails it gets the traceback as a text, with that of the exception in it.
    """
    error, said = record.exc_info[1] if record.exc_info else None, str(record.msg).rstrip()
    is_cancelling = isinstance(error, CancelledError) or said.endswith(CancelledError.__name__)
    return not is_cancelling and _TRACEBACK not in said


def _line(record: "Record") -> str:
    # Colours and line breaks are uvicorn's, for a terminal; credentials stand in addresses that libraries name.
    # What a search engine or a file's name says may hold more, which would steer whoever reads the log in a terminal.
    record["message"] = as_signs(" ".join(_CREDENTIALS.sub("//", _COLOURS.sub("", record["message"])).split()))
    exception: Any = record["exception"]
    if exception is not None:
        # Hayhooks puts the exception's text into the message as well.
        kind = getattr(exception.type, "__name__", "exception")
        record["message"] = f"{record['message'].partition(':')[0]}: {kind}"
    record["extra"].setdefault(REQUEST, "")
    return f"{{time:YYYY-MM-DDTHH:mm:ss.SSSZ}} {{level}} {{message}} {{extra[{REQUEST}]}}\n"
