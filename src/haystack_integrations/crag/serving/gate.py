"""Who may come in: the key of a request, and where a server without keys may be called from."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from haystack_integrations.crag.serving.keys import Keys
from haystack_integrations.crag.serving.problems import problem
from haystack_integrations.crag.serving.settings import is_loopback

HEALTH: Final = ("/health/live", "/health/ready")
METRICS: Final = "/metrics"
CLIENT: Final = "crag_client"
"""Of a request's scope: the key by which it came in, empty where none is asked for."""

_HOST: Final = re.compile(r"\[([^\[\]]*)\](?::\d*)?|([^:\[\]]*)(?::\d*)?")
_CHALLENGE: Final[Mapping[str, str]] = {"WWW-Authenticate": "Bearer"}


class Gate:
    """
    Answers 401 to every request without a key, before a route is looked for; the health routes are open.

    :param app: What is behind it.
    :param keys: The keys.
    :param metrics_open: Whether `/metrics` is open, too.
    :param origins: Origins of web pages that may call a server without keys, besides this machine's own.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys, metrics_open: bool = False, origins: Collection[str] = ()) -> None:
        """Stand before an app."""
        self.app, self._keys, self._origins = app, keys, origins
        self._open = (*HEALTH, METRICS) if metrics_open else HEALTH

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http" or scope["path"] in self._open:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        key = next(filter(self._keys.accept, _sent(headers)), None) if self._keys.required else ""
        scope[CLIENT] = key
        if key is None:
            await problem(401, headers=_CHALLENGE)(scope, receive, send)
        elif not self._keys.required and not is_loopback(_name(headers.get("host", "").lower())):
            # A web page could have its own name point here, and a browser on this machine would call for it.
            await problem(403, "forbidden_host")(scope, receive, send)
        elif not self._keys.required and not self._may_call(headers.get("origin")):
            # A browser sends a form, and files with it, for any page, and asks nobody first.
            await problem(403, "forbidden_origin")(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _may_call(self, origin: str | None) -> bool:
        """Tell whether a request is of no web page, or of one that may call."""
        if origin is None or origin in self._origins or "*" in self._origins:
            return True
        return is_loopback(_name(origin.partition("://")[2]))


def _sent(headers: Headers) -> list[str]:
    """List what may be a key: beside an X-API-Key a proxy, or a client that wants some, sends its own Bearer."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    found = [key if scheme.lower() == "bearer" else "", headers.get("x-api-key", "")]
    # Bytes, read as Latin-1; clients write what is not ASCII as they write all text.
    return [one.encode("latin-1").decode("utf-8", "surrogateescape").strip() for one in found if one]


def _name(place: str) -> str:
    """Give a host without its port; empty for what is no host."""
    found = _HOST.fullmatch(place)
    return "" if found is None else found[1] or found[2] or ""
