"""One request of a command to a server, which may be anybody's: bounded in time and size."""

from collections.abc import Iterable, Iterator
from typing import Final

from haystack_integrations.crag.deadlines import call_within

_SECONDS: Final = 10.0  # without a byte
MOST_SECONDS: Final = 60.0
"""For how long a whole answer is waited for: who sends a byte now and then would keep a reader for ever."""

_MOST_BYTES: Final = 100_000_000


def bounded_get(url: str, seconds: float = MOST_SECONDS) -> tuple[int, bytes]:
    """
    Get a page.

    :param url: Its address.
    :param seconds: The longest wait for all of it.
    :returns: Status and body; of a body beyond 100 MB the beginning, which is no JSON.
    :raises TimeoutError: When the answer has not ended in time. What httpx raises is raised as it is.
    """
    return call_within(seconds, lambda: _read(url))


def _read(url: str) -> tuple[int, bytes]:
    import httpx

    with httpx.stream("GET", url, timeout=_SECONDS) as answer:
        return answer.status_code, b"".join(_bounded(answer.iter_bytes()))


def _bounded(parts: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for part in parts:
        yield part
        size += len(part)
        if size > _MOST_BYTES:
            return
