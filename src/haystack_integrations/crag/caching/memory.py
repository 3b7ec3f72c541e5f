"""MemoryGradeCache: grades kept within this process."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import ClassVar

from cachetools import TLRUCache

from haystack_integrations.crag.caching.base import Found, GradeCache, usable
from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.settings import check_whole


@checked
class MemoryGradeCache(GradeCache):
    """
    Keeps grades in memory: bounded in number and time, shared by all threads and event loops of the process.

    ```python
    from haystack_integrations.crag.caching import MemoryGradeCache

    cache = MemoryGradeCache(max_entries=100, ttl_s=60)
    cache.write({"key": 0.9}, seconds=1)
    assert cache.read(["key", "other"], seconds=1).scores == {"key": 0.9}
    ```
    """

    _timer: ClassVar[Callable[[], float]] = time.monotonic

    def __init__(
        self,
        *,
        max_entries: int = 10_000,
        ttl_s: float = 86_400.0,
        jitter: float = 0.1,
        tenant: str = "",
        web: bool = False,
    ) -> None:
        """
        Make an empty cache.

        :param max_entries: Most scores kept; beyond it the one not used for longest goes.
        :param ttl_s: Seconds for which a score is kept.
        :param jitter: How far a lifetime varies, as a share of `ttl_s`.
        :param tenant: Salt of the keys: tenants with different ones never share a grade.
        :param web: Whether grades of documents from the web may be kept too.
        :raises ConfigurationError: For an unusable number, or a setting of another type.
        """
        super().__init__(ttl_s=ttl_s, jitter=jitter, tenant=tenant, web=web)
        check_whole("max_entries", max_entries)
        self.max_entries = max_entries
        self._lock = Lock()
        self._scores: TLRUCache[str, float] = TLRUCache(max_entries, self._expiry, timer=type(self)._timer)

    def read(self, keys: Sequence[str], *, seconds: float) -> Found:  # noqa: ARG002 - memory does not wait
        """
        Look scores up.

        :param keys: Keys.
        :param seconds: The longest wait; this never waits.
        :returns: The scores that are known.
        """
        found: dict[str, float] = {}
        with self._lock:
            for key in keys:
                with suppress(KeyError):  # one that expires between two looks at the clock is none either
                    found[key] = self._scores[key]
        return Found(found)

    def write(self, scores: Mapping[str, float], *, seconds: float) -> None:  # noqa: ARG002 - memory does not wait
        """
        Keep scores. What is no score is left out.

        :param scores: Scores by key.
        :param seconds: The longest wait; this never waits.
        """
        with self._lock:
            self._scores.update(usable(scores))

    async def read_async(self, keys: Sequence[str], *, seconds: float) -> Found:
        """Look scores up; see `read`."""
        return self.read(keys, seconds=seconds)

    async def write_async(self, scores: Mapping[str, float], *, seconds: float) -> None:
        """Keep scores; see `write`."""
        self.write(scores, seconds=seconds)

    def _expiry(self, _key: str, _score: float, now: float) -> float:
        return now + self.lifetime()
