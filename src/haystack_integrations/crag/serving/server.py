"""Run the app: uvicorn, with limits for clients that neither end their request nor read their answer."""

import asyncio
import errno
import os
import socket
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from haystack import logging
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from haystack_integrations.crag.errors import ConfigurationError, CragError
from haystack_integrations.crag.serving.app import create_app
from haystack_integrations.crag.serving.doubts import doubts
from haystack_integrations.crag.serving.logs import configure_logs
from haystack_integrations.crag.serving.offers import PlainParser
from haystack_integrations.crag.serving.settings import ServeSettings, environment_name, read_settings
from haystack_integrations.crag.serving.workers import end_with_parent, hold_many_connections, run_workers

logger = logging.getLogger(__name__)

_HEAD_SECONDS: Final = 10.0
_HEAD_BYTES: Final = 65_536
_BODY_SECONDS: Final = 90.0  # more than any route gives a body: it is for what is refused before its body is read
_READ_SECONDS: Final = 60.0
_IDLE_SECONDS: Final = 620  # proxies keep a silent connection for 60 to 600: one closed here first fails a request
_WORKER_SECONDS: Final = 60  # a worker that still imports does not answer: after uvicorn's 5 it would be ended
_STARTUP_FAILURE: Final = 3  # what uvicorn exits with
_LOOKUPS: Final = ("UV_THREADPOOL_SIZE", "32")  # uvloop's 4 are all held by one name that no name server answers for
_FACTORY: Final = "haystack_integrations.crag.serving.server:app_from_environment"


class PunctualProtocol(HttpToolsProtocol):
    """
    Closes a connection whose request does not come, or does not end, or whose answer nobody reads.

    uvicorn waits for ever, and keeps as many headers as come: both hold a connection without a key. An answer that is
    longer than the buffers on its way holds a place as well, until its client reads on.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what uvicorn gives its protocols."""
        super().__init__(*args, **kwargs)
        self.parser: Any = PlainParser(self, lambda: (self.url, self.headers))

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._reader: asyncio.TimerHandle | None = None
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        self._stop_reader()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin to wait for the headers of a request; uvicorn's own limit is for a silent connection between two."""
        super().on_message_begin()
        self._begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count headers that come all at once, too: too many are no HTTP to this server, and end as that does."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > _HEAD_BYTES:
            raise ValueError
        if self._in_head:  # behind a body they are no headers: whether uvicorn took them for some would be a race
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to wait for the end of the body, which may be refused and never read by the app."""
        if self.parser.get_method() == b"CONNECT":  # a tunnel: no HTTP to this server, and ends as that does
            raise ValueError
        if self.parser.is_offered:
            return
        self._stop()
        self._wait(_BODY_SECONDS)
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait no more."""
        if self.parser.is_offered:
            return
        self._stop()
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Read, and count what belongs to headers that have not ended."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > _HEAD_BYTES:
            self._close()

    def pause_writing(self) -> None:
        """Begin to wait for a client to read what is there for it; a slow one that goes on reading is let be."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Wait no more."""
        self._stop_reader()
        super().resume_writing()

    def _wait_for_reader(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._reader = self.loop.call_later(_READ_SECONDS, self._let_go, unread)

    def _let_go(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._wait_for_reader()
        else:
            self.transport.abort()  # closed, it would first wait for the client to read the rest

    def _stop_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _begin(self) -> None:
        self._in_head, self._head_bytes, self._header_bytes = True, 0, 0
        self._wait(_HEAD_SECONDS)

    def _wait(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(seconds, self._close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._stop()
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait(_HEAD_SECONDS)  # an answer is still being made or sent
        elif not self.transport.is_closing():
            self.transport.close()


def app_from_environment() -> FastAPI:
    """
    Make the app of a worker process.

    :returns: The app.
    :raises SystemExit: When it cannot be made: the log says why in one line, and the command starts another worker.
    """
    configure_logs()
    end_with_parent()
    try:
        return create_app(read_settings())
    except CragError as error:
        logger.error("A worker could not start: {why}", why=error)
        raise SystemExit(1) from None


def serve(**given: Any) -> None:
    """
    Serve until a signal ends it; running requests may end first.

    :param given: Settings by name, in place of those of the environment.
    :raises ConfigurationError: For settings that cannot work, and a port that is taken.
    :raises StoreError: When the store's server cannot be reached.
    """
    configure_logs()
    os.environ.setdefault(*_LOOKUPS)  # read when the first name is looked up
    hold_many_connections()
    settings = read_settings(**given)
    check_port(settings.host, settings.port)
    app = create_app(settings)  # with workers, too: a mistake ends the command, and not one worker after the other
    for doubt in doubts(settings):
        logger.warning("{doubt}", doubt=doubt)
    options = uvicorn_options(settings)
    try:
        if settings.workers == 1:
            uvicorn.run(app, **options)
            return
        # Worker processes read the environment: what was given goes there.
        os.environ.update({environment_name(name): str(value) for name, value in given.items()})
        run_workers(uvicorn.Config(_FACTORY, factory=True, **options))
    except SystemExit as end:
        # uvicorn's code for a start that failed; of `crag` it says that nothing answers the question.
        raise SystemExit(1 if end.code == _STARTUP_FAILURE else end.code) from end


def check_port(host: str, port: int) -> None:
    """
    Refuse an address that cannot be listened at, before anything is loaded.

    :param host: Address to listen on.
    :param port: Port to listen on; 0 takes a free one.
    :raises ConfigurationError: Another process listens there, or no address of this name is this machine's.
    """
    way_out = "take an address of this machine as --host (127.0.0.1, or 0.0.0.0 for all), or another --port"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        msg = f"the host {host} has no address ({error.strerror}); {way_out}"
        raise ConfigurationError(msg) from None
    failed = []
    for family, kind, protocol, _, address in found:
        try:
            with socket.socket(family, kind, protocol) as trial:
                if os.name == "posix":  # as asyncio does: a port whose last connections still end is free
                    trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trial.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                msg = f"port {port} is taken at {host}; choose another --port, or end what listens there"
                raise ConfigurationError(msg) from None
            failed.append(error.strerror)
    if len(failed) == len(found):  # one of several may be of a family that this machine does not have
        msg = f"cannot listen at {host}, port {port} ({failed[0]}); {way_out}"
        raise ConfigurationError(msg)


def uvicorn_options(settings: ServeSettings) -> dict[str, Any]:
    """
    Write the options of the web server.

    :param settings: The settings.
    :returns: Arguments of `uvicorn.Config`.
    """
    return {
        "host": settings.host,
        "port": settings.port,
        "workers": settings.workers,  # unset, uvicorn reads WEB_CONCURRENCY, which some platforms set for all apps
        "http": PunctualProtocol,
        "ws": "none",
        "access_log": False,  # it holds the path as the client wrote it
        "log_config": None,
        "server_header": False,
        "timeout_keep_alive": _IDLE_SECONDS,
        "timeout_graceful_shutdown": settings.shutdown_seconds,
        "timeout_worker_healthcheck": _WORKER_SECONDS,
    }
