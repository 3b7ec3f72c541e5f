"""Run the app: uvicorn, at an address that can be listened at, in one process or several."""

import errno
import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from haystack import logging
from pydantic import SecretStr

from haystack_integrations.crag.errors import ConfigurationError, CragError
from haystack_integrations.crag.serving.app import create_app
from haystack_integrations.crag.serving.doubts import doubts
from haystack_integrations.crag.serving.logs import configure_logs
from haystack_integrations.crag.serving.punctual import PunctualProtocol
from haystack_integrations.crag.serving.settings import ServeSettings, environment_name, read_settings
from haystack_integrations.crag.serving.workers import end_with_parent, hold_many_connections, run_workers

logger = logging.getLogger(__name__)

_IDLE_SECONDS: Final = 620  # proxies keep a silent connection for 60 to 600: one closed here first fails a request
_WORKER_SECONDS: Final = 60  # a worker that still imports does not answer: after uvicorn's 5 it would be ended
_STARTUP_FAILURE: Final = 3  # what uvicorn exits with
_LOOKUPS: Final = ("UV_THREADPOOL_SIZE", "32")  # uvloop's 4 are all held by one name that no name server answers for
_FACTORY: Final = "haystack_integrations.crag.serving.server:app_from_environment"


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
            _run_alone(uvicorn.Config(app, **options))
            return
        os.environ.update(as_variables(settings, given))  # which worker processes read
        run_workers(uvicorn.Config(_FACTORY, factory=True, **options))
    except SystemExit as end:
        # uvicorn's code for a start that failed; of `crag` it says that nothing answers the question.
        raise SystemExit(1 if end.code == _STARTUP_FAILURE else end.code) from end


def as_variables(settings: ServeSettings, names: Iterable[str]) -> dict[str, str]:
    """
    Write settings down as variables of the environment.

    :param settings: The settings, as they were read: they come as lists, sets, texts and more.
    :param names: Which of them; names of no setting are ignored, as `read_settings` does.
    :returns: The values by variable, keys in clear.
    :raises ConfigurationError: For one of several values that has a comma, which would be read as two.
    """
    found = dict[str, str]()
    for name in settings.model_fields_set.intersection(names):
        value = getattr(settings, name)
        if isinstance(value, tuple) and any("," in _plain(one) for one in value):
            msg = f"got a comma in a value of {name}, wanted none: several workers read {environment_name(name)}"
            raise ConfigurationError(msg)
        found[environment_name(name)] = ",".join(map(_plain, value if isinstance(value, tuple) else [value]))
    return found


def _plain(value: Any) -> str:
    shown = value.get_secret_value() if isinstance(value, SecretStr) else value
    return "" if shown is None else str(shown)


def _run_alone(config: uvicorn.Config) -> None:
    """Serve by this process, at `::` for IPv4 as well: uvicorn's socket of several workers is, one of asyncio's not."""
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):
        server.run([config.bind_socket()] if _is_any(config.host) else None)
    if not server.started:
        raise SystemExit(_STARTUP_FAILURE)


def _is_any(host: str) -> bool:
    """Tell whether a host is IPv6's address for all, `::`."""
    return ":" in host and not host.strip(":0")


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
                    trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not _is_any(host))
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
