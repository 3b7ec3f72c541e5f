"""RedisGradeCache: grades shared by processes. A Redis that is down, slow or poisoned costs a grade, never a run."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from haystack import logging
from haystack.lazy_imports import LazyImport
from haystack.utils import Secret

from haystack_integrations.crag.caching.base import Found, GradeCache, pack, unpack, usable
from haystack_integrations.crag.caching.lookups import Name
from haystack_integrations.crag.caching.redis_url import checked, resolved
from haystack_integrations.crag.caching.watch import Watch
from haystack_integrations.crag.deadlines import begun
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.inputs import checked as typed
from haystack_integrations.crag.interrupts import let_end
from haystack_integrations.crag.settings import check_positive

logger = logging.getLogger(__name__)

_Access = Literal["read", "write"]
_BOTH: Final[tuple[_Access, ...]] = ("read", "write")
_GIVEN_UP: Final = 5  # times `timeout_s` that a thread may still hold what nobody waits for


class _Reply(NamedTuple):
    value: Any
    error: str | None
    watch: Watch


@typed
class RedisGradeCache(GradeCache):
    """
    Keeps grades in Redis, for all processes that use the same one. Needs `pip install "crag-haystack[redis]"`.

    A value that is none of ours is a miss; so is a failure, with a warning, and Redis is left alone for `cooldown_s`.
    One that answers but keeps nothing, since it is full or a read-only copy, is read from all the same.

    ```python
    from haystack.utils import Secret
    from haystack_integrations.crag.caching import RedisGradeCache

    cache = RedisGradeCache(Secret.from_env_var("REDIS_URL"), tenant="team-a")
    assert cache.to_dict()["init_parameters"]["url"]["env_vars"] == ["REDIS_URL"]
    ```
    """

    def __init__(
        self,
        url: str | Secret = "redis://127.0.0.1:6379/0",
        *,
        prefix: str = "crag:grade:",
        ttl_s: float = 86_400.0,
        jitter: float = 0.1,
        timeout_s: float = 0.05,
        cooldown_s: float = 1.0,
        tenant: str = "",
        web: bool = False,
    ) -> None:
        """
        Set the cache up; the first use connects.

        :param url: `redis://`, `rediss://` or `unix://`. One with a password must be a Secret, read when it connects.
        :param prefix: Before every key in Redis.
        :param ttl_s: Seconds for which a score is kept.
        :param jitter: How far a lifetime varies, as a share of `ttl_s`.
        :param timeout_s: The most seconds that all cache traffic of one grading may take Redis; where this process is
            itself late to look, beside threads that compute, a grading waits longer, and Redis is not blamed for it.
        :param cooldown_s: Seconds for which Redis is not asked after a failure.
        :param tenant: Salt of the keys: tenants with different ones never share a grade.
        :param web: Whether grades of documents from the web may be kept too.
        :raises ConfigurationError: For an unusable number or URL, or a setting of another type.
        :raises ImportError: When the package `redis` is not installed.
        """
        with LazyImport("Run 'pip install \"crag-haystack[redis]\"'") as client:
            import redis.asyncio  # here: who does not use Redis need not wait for its import
        client.check()
        super().__init__(ttl_s=ttl_s, jitter=jitter, tenant=tenant, web=web)
        check_positive({"timeout_s": timeout_s, "cooldown_s": cooldown_s})
        self.url = checked(url, secret=False) if isinstance(url, str) else url
        self.prefix, self.timeout_s, self.cooldown_s = prefix, timeout_s, cooldown_s
        self._redis: Any = redis
        self._client: Any = None
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        # When Redis may be asked again (0: it works), and when the log was last told.
        self._lock, self._told, self._name = Lock(), float("-inf"), Name()
        self._resumes: dict[_Access, float] = dict.fromkeys(_BOTH, 0.0)

    def read(self, keys: Sequence[str], *, seconds: float) -> Found:
        """Look scores up; see `GradeCache.read`. `timeout_s` bounds the wait too."""
        names = [self.prefix + key for key in keys]
        return _found(keys, self._ask("read", seconds, lambda to: to.mget(names))) if names else Found()

    async def read_async(self, keys: Sequence[str], *, seconds: float) -> Found:
        """Look scores up without blocking the event loop; see `read`."""
        names = [self.prefix + key for key in keys]
        return _found(keys, await self._ask_async("read", seconds, lambda to: to.mget(names))) if names else Found()

    def write(self, scores: Mapping[str, float], *, seconds: float) -> str | None:
        """Keep scores; see `GradeCache.write`. `timeout_s` bounds the wait too."""
        kept = usable(scores)
        return self._ask("write", seconds, lambda client: self._setting(client, kept).execute()).error if kept else None

    async def write_async(self, scores: Mapping[str, float], *, seconds: float) -> str | None:
        """Keep scores without blocking the event loop; see `write`."""
        if not (kept := usable(scores)):
            return None
        return (await self._ask_async("write", seconds, lambda client: self._setting(client, kept).execute())).error

    def close(self) -> None:
        """Close the connections of `read` and `write`; the next use opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # what still goes wrong now is of no use to anybody
                client.connection_pool.disconnect()

    async def close_async(self) -> None:
        """Close the connections of this event loop; the next use opens new ones."""
        with self._lock:
            client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            with suppress(Exception):
                await client.connection_pool.disconnect()

    def _ask(self, access: _Access, seconds: float, command: Callable[[Any], Any]) -> _Reply:
        watch = Watch(min(seconds, self.timeout_s or seconds))
        if error := self._refused(access, watch):
            return _Reply(None, error, watch)
        try:
            result = watch.result(begun(lambda: command(self._connected())))
        except Exception as failure:  # whatever a client raises: the grade is just not known
            let_end(failure)
            if not self._is_answer(failure):
                self.close()  # a server that drips would hold the thread that was given up; without its socket it ends
            return _Reply(None, self._failed(access, failure), watch)
        self._resumes[access] = 0.0
        return _Reply(result, None, watch)

    async def _ask_async(
        self, access: _Access, seconds: float, command: Callable[[Any], Coroutine[Any, Any, Any]]
    ) -> _Reply:
        watch = Watch(min(seconds, self.timeout_s or seconds))
        if error := self._refused(access, watch):
            return _Reply(None, error, watch)
        try:
            client = self._connected_async()
            try:
                result = await watch.result_async(command(client))
            except (RuntimeError, AttributeError, self._redis.ConnectionError):
                # The first is uvloop's word for it, the second asyncio's from Python 3.12 on: it has no socket by then.
                result = await watch.result_async(_anew(client, command))
        except Exception as failure:  # not CancelledError, which is the caller's
            if isinstance(failure, self._redis.AuthenticationError):
                await self.close_async()  # the Secret may hold another password by now
            return _Reply(None, self._failed(access, failure), watch)
        self._resumes[access] = 0.0
        return _Reply(result, None, watch)

    def _refused(self, access: _Access, watch: Watch) -> str | None:
        with self._lock:
            now = time.monotonic()
            if watch.left <= 0 or now < self._resumes[access]:
                return "deadline" if watch.left <= 0 else "cooldown"
            if not self._resumes[access]:
                return None
            # After a failure one finds out; the others go on without meanwhile.
            self._resumes[access] = now + self.cooldown_s
        try:
            return None if self._name.is_known() else "cooldown"
        except Exception as failure:
            return self._failed(access, failure)

    def _is_answer(self, failure: Exception) -> bool:
        """Tell whether the server itself refused: it is there, and of use for what it does not refuse."""
        return isinstance(failure, self._redis.ResponseError)

    def _failed(self, access: _Access, failure: Exception) -> str:
        kind, now = type(failure).__name__, time.monotonic()
        stopped = (access,) if self._is_answer(failure) else _BOTH
        with self._lock:
            self._resumes |= dict.fromkeys(stopped, now + self.cooldown_s)
            news = now >= self._told + self.cooldown_s
            self._told = now if news else self._told
        if not self._is_answer(failure):
            self._name.ask()
        if news:  # the kind only: a message that is not ours may hold the URL
            why = str(failure) if isinstance(failure, ConfigurationError) else kind
            what = "cached grades" if "read" in stopped else "grades kept"
            logger.warning("Redis failed ({why}); no {what} for {s} s.", why=why, what=what, s=self.cooldown_s)
        return kind

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._new(self._redis)
            return self._client

    def _connected_async(self) -> Any:
        loop = asyncio.get_running_loop()
        with self._lock:
            for ended in [known for known in self._clients if known.is_closed()]:
                del self._clients[ended]  # its sockets hold it, so the weak reference alone does not let it go
            if loop not in self._clients:
                self._clients[loop] = self._new(self._redis.asyncio)
            return self._clients[loop]

    def _new(self, library: Any) -> Any:
        url = self.url if isinstance(self.url, str) else resolved(self.url)
        self._name.host = urlsplit(url).hostname
        # Who waits ends the waiting; the client's own timers would blame the server for a late process. Only a thread
        # that was given up needs one, to end with its socket.
        seconds = self.timeout_s * _GIVEN_UP if self.timeout_s and library is self._redis else None
        times = dict.fromkeys(("socket_timeout", "socket_connect_timeout", "timeout"), seconds)
        # Few connections: each new one shakes hands first, which makes a burst slower.
        pool = library.BlockingConnectionPool.from_url(url, **times, max_connections=16, protocol=2)
        return library.Redis(connection_pool=pool)

    def _setting(self, client: Any, scores: Mapping[str, float]) -> Any:
        pipeline = client.pipeline(transaction=False)
        for key, score in scores.items():
            pipeline.set(self.prefix + key, pack(score), px=max(1, round(1000 * self.lifetime())))
        return pipeline


async def _anew(client: Any, command: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    """Ask by a new connection: one that was reset while nothing was asked is noticed late, and others are like it."""
    await client.connection_pool.disconnect(inuse_connections=False)
    return await command(client)


def _found(keys: Sequence[str], reply: _Reply) -> Found:
    pairs = zip(keys, reply.value if isinstance(reply.value, list) else (), strict=False)
    return Found(usable({key: unpack(raw) for key, raw in pairs}), reply.error, reply.watch.spent)
