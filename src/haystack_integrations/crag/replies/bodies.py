"""
The body of a model server's reply as it comes: unpacked here, and read to a limit, whatever it says of its length.

HTTP clients read a reply whole and unpack it without a limit, and go on with one that nobody waits for any longer: a
server, or a proxy before it, that sends two kilobytes packed twice, or does not stop, takes all memory.
"""

import zlib
from collections.abc import AsyncIterator, Iterator
from functools import cache
from sys import modules
from typing import Any, Final

from haystack_integrations.crag.closing import opened
from haystack_integrations.crag.deadlines import time_left
from haystack_integrations.crag.homes import asked_by
from haystack_integrations.crag.retry_after import seconds_to_wait

MOST_BYTES: Final = 1 << 24
"""The most that is read of a reply, unpacked: 32,000 tokens as a stream are ten million bytes."""

_CLIENTS: Final = ("client", "async_client", "_client", "_async_client")  # the latter are Ollama's
_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = 31  # zlib's number for it


def read_to_a_limit(generator: Any) -> None:
    """
    Let a chat generator's HTTP clients read replies to a limit only; what is beyond it is not read.

    A server that refuses and asks to be left alone longer than the caller waits is not asked again.

    ```python
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret
    from haystack_integrations.crag.replies.bodies import read_to_a_limit

    generator = OpenAIChatGenerator(api_key=Secret.from_token("no-key"))
    generator.warm_up()
    read_to_a_limit(generator)
    assert generator.client._client.headers["Accept-Encoding"] == "gzip"
    ```

    :param generator: A chat generator after its warm-up, or several as `chat_generators`. One whose client is not of
        the family of OpenAI's, Anthropic's and Ollama's stays as it is.
    """
    for each in asked_by(generator):
        for http in (getattr(getattr(each, name, None), "_client", None) for name in _CLIENTS):
            hooks = getattr(http, "event_hooks", None)
            hook = _cut_async if hasattr(http, "aclose") else _cut
            if http is None or not isinstance(hooks, dict) or hook in hooks.get("response", ()):
                continue
            http.headers["Accept-Encoding"] = "gzip"  # what can be unpacked to a limit
            http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), hook]}


class _Body:
    """The parts of one body, unpacked, until the limit. A body that was cut is no JSON, and found out as such."""

    def __init__(self, stream: Any, packed: str) -> None:
        self._stream = stream
        self._unpacker = None if packed in _PLAIN else zlib.decompressobj(_GZIP)
        # Another packing, or several, was not asked for.
        self._left = MOST_BYTES if packed in {*_PLAIN, "gzip"} else 0

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield self._read(part)
            if not self._left:
                return

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield self._read(part)
            if not self._left:
                return

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _read(self, part: bytes) -> bytes:
        if not self._left:  # for zlib no limit at all
            return b""
        try:
            read = part[: self._left] if self._unpacker is None else self._unpacker.decompress(part, self._left)
        except zlib.error:  # the end of the body, as far as it can be read
            read, self._left = b"", 0
        self._left = max(0, self._left - max(len(part), len(read)))  # endless packed nothings count as well
        return read


def _cut(response: Any) -> None:
    opened(response)
    packed = response.headers.pop("content-encoding", "").strip().lower()
    response.stream = _body_of(type(response).__module__.partition(".")[0])(response.stream, packed)
    if (seconds_to_wait(response.headers.get("retry-after")) or 0.0) > time_left():
        # The client would wait as long as the server asks for. Nobody would be there any more, and what was refused,
        # such as a rate limit, would look like a server that hangs.
        response.headers["x-should-retry"] = "false"


async def _cut_async(response: Any) -> None:
    _cut(response)


@cache
def _body_of(client: str) -> type[_Body]:
    """Give the class of a body for a client's package, which takes its own kind only: httpx, or OpenAI's httpx2."""
    package = modules[client]
    return type("Body", (_Body, package.SyncByteStream, package.AsyncByteStream), {})
