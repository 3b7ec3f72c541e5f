"""RedisGradeCache against a real server, and against servers that are dead, silent, slow or poisoned."""

import asyncio
import gc
import json
import logging
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import redis
from haystack import Pipeline, component
from haystack.utils import Secret
from service_fixtures import own_redis
from waiting import eventually

from haystack_integrations.crag.caching import Found, GradeCache, RedisGradeCache
from haystack_integrations.crag.errors import ConfigurationError

TIMEOUT = 0.1
SLOW = 20
"""How many times longer a wait may take on a busy machine, where each look at the reply comes late."""


@component
class RedisCacheUser:
    """A component that is given a cache."""

    def __init__(self, cache: GradeCache) -> None:
        self.cache = cache

    @component.output_types(scores=dict[str, float])
    def run(self, key: str) -> dict[str, Any]:
        return {"scores": self.cache.read([key], seconds=1).scores}


@pytest.fixture
def prefix() -> str:
    return f"crag-test-{uuid4().hex}:"


@pytest.fixture
def server(redis_url: str, prefix: str) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(redis_url) as client:
        yield client
        if names := client.keys(f"{prefix}*"):
            client.delete(*names)


@pytest.fixture
def cache(server: "redis.Redis", redis_url: str, prefix: str) -> Iterator[RedisGradeCache]:
    """A cache that waits long enough for a busy machine; what is about time sets its own."""
    cache = RedisGradeCache(redis_url, prefix=prefix, timeout_s=2.0)
    yield cache
    cache.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """A Redis of this test alone, which it may hold."""
    with own_redis(tmp_path) as server:
        yield server


def connections(server: "redis.Redis") -> int:
    return len(server.client_list())


class TestRealServer:
    def test_what_was_written_is_read_and_the_rest_is_a_miss(self, cache: RedisGradeCache) -> None:
        cache.write({"a": 0.25, "b": 1, "c": 0}, seconds=2)
        assert cache.read(["b", "missing", "a", "c"], seconds=2) == Found({"b": 1.0, "a": 0.25, "c": 0.0}, None)

    async def test_the_asynchronous_methods_share_what_is_kept_with_the_others(self, cache: RedisGradeCache) -> None:
        await cache.write_async({"a": 0.25}, seconds=2)
        assert cache.read(["a"], seconds=2).scores == {"a": 0.25}
        cache.write({"b": 0.5}, seconds=2)
        assert await cache.read_async(["a", "b", "c"], seconds=2) == Found({"a": 0.25, "b": 0.5}, None)
        await cache.close_async()

    def test_a_batch_of_100_keeps_every_score_to_the_last_digit(self, cache: RedisGradeCache) -> None:
        scores = {f"k{number}": number / 99 for number in range(100)}
        cache.write(scores, seconds=2)
        assert cache.read(list(scores), seconds=2).scores == scores

    def test_nothing_to_ask_asks_nothing(self) -> None:
        dead = RedisGradeCache("redis://127.0.0.1:1/0")
        assert dead.read([], seconds=1) == Found()
        dead.write({"bad": float("nan")}, seconds=1)
        assert dead.read(["k"], seconds=1).error == "ConnectionError"  # it was not left alone, so nothing failed before

    def test_what_is_kept_is_small_json_without_any_text(
        self, cache: RedisGradeCache, server: "redis.Redis", prefix: str
    ) -> None:
        cache.write({"k": 0.83}, seconds=2)
        assert server.get(f"{prefix}k") == b'{"v":1,"s":0.83}'

    def test_what_is_no_score_is_not_kept(self, cache: RedisGradeCache, server: "redis.Redis", prefix: str) -> None:
        bad: dict[str, Any] = {"nan": float("nan"), "big": 1.5, "true": True, "none": None, "text": "0.5"}
        cache.write({**bad, "good": 0.5}, seconds=2)
        assert server.keys(f"{prefix}*") == [f"{prefix}good".encode()]

    def test_a_score_expires(self, server: "redis.Redis", redis_url: str, prefix: str) -> None:
        cache = RedisGradeCache(redis_url, prefix=prefix, timeout_s=2.0, ttl_s=0.1, jitter=0)
        cache.write({"k": 0.5}, seconds=2)
        assert server.pttl(f"{prefix}k") <= 100
        assert eventually(lambda: cache.read(["k"], seconds=2) == Found())
        cache.close()

    def test_what_was_written_together_expires_apart(
        self, cache: RedisGradeCache, server: "redis.Redis", prefix: str
    ) -> None:
        keys = [f"k{number}" for number in range(200)]
        cache.write(dict.fromkeys(keys, 0.5), seconds=2)
        left = [server.pttl(prefix + key) / 1000 for key in keys]
        assert 86_400 * 0.9 - 5 <= min(left) < 86_400 * 0.93
        assert 86_400 * 1.07 < max(left) <= 86_400 * 1.1

    async def test_300_reads_at_once_are_all_answered(self, cache: RedisGradeCache, server: "redis.Redis") -> None:
        """A pool that refuses what is too much would fail most of them."""
        before = connections(server)
        await cache.write_async({"k": 0.5}, seconds=2)
        found = await asyncio.gather(*(cache.read_async(["k"], seconds=2) for _ in range(300)))
        assert found == [Found({"k": 0.5})] * 300
        assert connections(server) - before <= 16
        await cache.close_async()

    def test_one_event_loop_after_another_can_use_it(self, cache: RedisGradeCache) -> None:
        async def turn(score: float) -> dict[str, float]:
            before = (await cache.read_async(["k"], seconds=2)).scores
            await cache.write_async({"k": score}, seconds=2)
            await cache.close_async()
            return before

        assert asyncio.run(turn(0.1)) == {}
        assert asyncio.run(turn(0.2)) == {"k": 0.1}
        assert cache.read(["k"], seconds=2).scores == {"k": 0.2}

    def test_event_loops_in_two_threads_can_use_it_at_once(self, cache: RedisGradeCache) -> None:
        async def work() -> None:
            for _ in range(50):
                assert (await cache.read_async(["k"], seconds=2)).error is None
            await cache.close_async()

        threads = [threading.Thread(target=lambda: results.append(asyncio.run(work()))) for _ in range(2)]
        results: list[None] = []
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [None, None]

    def test_closing_leaves_no_connection_and_no_warning_and_use_after_it_connects_again(
        self, cache: RedisGradeCache, server: "redis.Redis"
    ) -> None:
        async def use() -> None:
            await asyncio.gather(*(cache.read_async(["k"], seconds=2) for _ in range(20)))
            await cache.close_async()
            await cache.close_async()

        before = connections(server)
        for _ in range(2):
            assert cache.read(["k"], seconds=2).error is None
            assert connections(server) > before
            asyncio.run(use())
            cache.close()
            cache.close()
            assert eventually(lambda: connections(server) == before)
        gc.collect()  # a warning about something left open is an error in these tests

    async def test_a_reply_that_came_too_late_never_becomes_the_reply_to_the_next_request(
        self, cache: RedisGradeCache, server: "redis.Redis"
    ) -> None:
        """A server that pauses for a while, on an event loop and in a thread."""
        cache.cooldown_s = 0.05
        scores = {f"k{number}": number / 100 for number in range(100)}
        await cache.write_async(scores, seconds=2)
        for _ in range(3):
            server.execute_command("CLIENT", "PAUSE", "1000", "ALL")
            slow = await asyncio.gather(*(cache.read_async([key], seconds=0.03) for key in scores))
            slow.append(await asyncio.to_thread(cache.read, ["k0"], seconds=0.03))
            assert "TimeoutError" in {found.error for found in slow}
            await asyncio.to_thread(server.ping)  # answered when the pause is over
            await asyncio.sleep(0.1)
            assert await cache.read_async(list(scores), seconds=2) == Found(scores)
            again = await asyncio.gather(*(cache.read_async([key], seconds=2) for key in scores))
            assert again == [Found({key: score}) for key, score in scores.items()]
            assert [cache.read([key], seconds=2) for key in scores] == again
        await cache.close_async()

    async def test_a_password_that_was_exchanged_is_read_anew_once_the_old_one_is_refused(
        self, own_server: tuple[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On an event loop as in a thread, as with the tokens of cloud providers, which hold for an hour."""
        url, _ = own_server

        def exchanged(old: str, new: str) -> None:
            with redis.Redis.from_url(url, password=old or None) as admin:
                admin.config_set("requirepass", new)
                for known in admin.client_list():
                    with suppress(redis.ResponseError):
                        admin.client_kill_filter(_id=known["id"])
            monkeypatch.setenv("CRAG_TEST_URL", url.replace("//", f"//:{new}@"))

        exchanged("", "one")
        cache = RedisGradeCache(Secret.from_env_var("CRAG_TEST_URL"), timeout_s=2.0, cooldown_s=0.01)
        for read in (cache.read_async, lambda *a, **b: asyncio.to_thread(cache.read, *a, **b)):
            assert await read(["k"], seconds=2) == Found()
            exchanged("one", "two")
            assert (await read(["k"], seconds=2)).error == "AuthenticationError"
            await asyncio.sleep(0.02)
            assert await read(["k"], seconds=2) == Found()
            exchanged("two", "one")
            await cache.close_async()
        cache.close()

    @pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
    def test_connections_that_were_reset_while_nothing_was_asked_cost_no_grade(
        self, loop: str, redis_url: str, prefix: str
    ) -> None:
        """As by a firewall that forgot them; uvloop, on which `crag serve` runs, has a word of its own for it."""
        library, reset = pytest.importorskip(loop), threading.Event()

        async def use(url: str) -> list[str | None]:
            cache = RedisGradeCache(url, prefix=prefix, timeout_s=2.0)
            for _ in range(2):
                found = await asyncio.gather(*(cache.read_async(["k"], seconds=2) for _ in range(10)))
                reset.set()
                await asyncio.sleep(0.2)
            await cache.close_async()
            return [one.error for one in found]

        with fake_server(lambda connection: pass_on(connection, redis_url, reset)) as url:
            assert library.run(use(url)) == [None] * 10


def pass_on(connection: socket.socket, redis_url: str, reset: threading.Event) -> None:
    """Be the real server, until it is time to reset what is open; what is opened later stays."""
    at, ends = urlsplit(redis_url), not reset.is_set()
    # ValueError: what is waited for was closed meanwhile, since the test is over.
    with suppress(OSError, ValueError), socket.create_connection((at.hostname or "", at.port or 0)) as server:
        while not (ends and reset.is_set()):
            for ready in select.select([connection, server], [], [], 0.02)[0]:
                data = ready.recv(65536)
                if not data:
                    return
                (server if ready is connection else connection).sendall(data)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


POISON: dict[str, bytes] = {
    "no JSON": b"0.5",
    "empty": b"",
    "cut": b'{"v":1,"s":0.5',
    "text as score": b'{"v":1,"s":"0.5"}',
    "boolean as score": b'{"v":1,"s":true}',
    "no score": b'{"v":1,"s":null}',
    "NaN": b'{"v":1,"s":NaN}',
    "infinite": b'{"v":1,"s":1e999}',
    "above one": b'{"v":1,"s":1.5}',
    "below zero": b'{"v":1,"s":-0.1}',
    "nested": b'{"v":1,"s":{"s":0.5}}',
    "in a list": b'[{"v":1,"s":0.5}]',
    "deep": b"[" * 64,
    "key missing": b'{"s":0.5}',
    "key too many": b'{"v":1,"s":0.5,"x":1}',
    "another version": b'{"v":2,"s":0.5}',
    "boolean as version": b'{"v":true,"s":0.5}',
    "version with a point": b'{"v":1.0,"s":0.5}',
    "long": b'{"v":1,"s":0.5}' + b" " * 60,
    "huge": b'{"v":1,"s":0.5,"x":"' + b"x" * 1_000_000 + b'"}',
    "no UTF-8": b'{"v":1,"s":0.5\xff}',
    "UTF-16": '{"v":1,"s":0.5}'.encode("utf-16"),
    "pickle": pickle.dumps({"v": 1, "s": 0.5}),
    "pickle of a call": b"cposix\nsystem\n(S'exit 1'\ntR.",
}


class TestPoison:
    @pytest.mark.parametrize("value", POISON.values(), ids=POISON)
    def test_a_value_that_is_none_of_ours_is_a_miss_and_the_others_are_read(
        self, value: bytes, cache: RedisGradeCache, server: "redis.Redis", prefix: str
    ) -> None:
        """Who can write to Redis can at most make the model be asked."""
        server.set(f"{prefix}bad", value)
        cache.write({"good": 0.5}, seconds=2)
        assert cache.read(["bad", "good"], seconds=2) == Found({"good": 0.5}, None)

    def test_a_key_that_holds_something_else_than_a_value_is_a_miss_and_can_be_overwritten(
        self, cache: RedisGradeCache, server: "redis.Redis", prefix: str
    ) -> None:
        server.rpush(f"{prefix}k", "0.5")
        assert cache.read(["k"], seconds=2) == Found()
        cache.write({"k": 0.5}, seconds=2)
        assert cache.read(["k"], seconds=2) == Found({"k": 0.5})


@contextmanager
def fake_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server on a free port that does with each connection what it is told."""
    with ExitStack() as held:
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))

        def accept() -> None:
            while True:
                try:
                    connection = held.enter_context(listener.accept()[0])
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        listener.shutdown(socket.SHUT_RDWR)


def hang(connection: socket.socket) -> None:
    """Take everything, answer nothing."""


def drip(connection: socket.socket) -> None:
    """Send a byte every 20 ms, which no time-out between two bytes ever notices."""
    try:
        while True:
            connection.sendall(b"$")
            time.sleep(0.02)
    except OSError:
        return


def babble(reply: bytes) -> Callable[[socket.socket], None]:
    """Answer whatever is said with the same."""

    def serve(connection: socket.socket) -> None:
        try:
            while connection.recv(4096):
                connection.sendall(reply)
        except OSError:
            return

    return serve


@contextmanager
def broken(kind: str) -> Iterator[str]:
    if kind == "dead":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        yield f"redis://127.0.0.1:{port}/0"
    else:
        with fake_server({"hanging": hang, "dripping": drip}[kind]) as url:
            yield url


def calls() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "crag-call"}


@pytest.mark.parametrize("kind", ["dead", "hanging", "dripping"])
class TestBrokenServer:
    def test_a_read_ends_in_time_and_within_the_cool_down_costs_nothing(self, kind: str) -> None:
        """The failure is told apart from a miss; a write is given up in the same way."""
        with broken(kind) as url:
            took, before = [], calls()
            for _ in range(3):  # the best counts: other work on this machine is no delay of ours
                cache = RedisGradeCache(url, timeout_s=TIMEOUT, cooldown_s=30)
                begun = time.perf_counter()
                found = cache.read(["k"], seconds=10)
                took.append(time.perf_counter() - begun)
            assert min(took) < SLOW * TIMEOUT
            assert (found.seconds or 0) < 1.2 * TIMEOUT  # what the server had of it: its time once, and not twice
            assert found.scores == {}
            assert found.error in {"ConnectionError", "TimeoutError"}
            begun = time.perf_counter()
            for _ in range(100):
                assert cache.read(["k"], seconds=10) == Found({}, "cooldown")
                cache.write({"k": 0.5}, seconds=10)
            assert time.perf_counter() - begun < 200 * TIMEOUT / 4
            assert eventually(lambda: calls() <= before)  # the thread that was given up has ended

    async def test_the_same_on_an_event_loop(self, kind: str) -> None:
        with broken(kind) as url:
            took = []
            for _ in range(3):  # the best counts: other work on this machine is no delay of ours
                cache = RedisGradeCache(url, timeout_s=TIMEOUT, cooldown_s=30)
                begun = time.perf_counter()
                found = await cache.read_async(["k"], seconds=10)
                took.append(time.perf_counter() - begun)
                await cache.close_async()
            assert min(took) < SLOW * TIMEOUT
            assert (found.seconds or 0) < 1.2 * TIMEOUT  # what the server had of it: its time once, and not twice
            assert found.scores == {}
            assert found.error in {"ConnectionError", "TimeoutError"}
            begun = time.perf_counter()
            for _ in range(100):
                assert await cache.read_async(["k"], seconds=10) == Found({}, "cooldown")
                await cache.write_async({"k": 0.5}, seconds=10)
            assert time.perf_counter() - begun < 200 * TIMEOUT / 4
            await cache.close_async()

    async def test_a_write_ends_in_time_too(self, kind: str) -> None:
        with broken(kind) as url:
            cache = RedisGradeCache(url, timeout_s=TIMEOUT, cooldown_s=0.001)
            begun = time.perf_counter()
            cache.write({"k": 0.5}, seconds=10)
            assert time.perf_counter() - begun < SLOW * TIMEOUT
            await asyncio.sleep(0.01)
            begun = time.perf_counter()
            await cache.write_async({"k": 0.5}, seconds=10)
            assert time.perf_counter() - begun < SLOW * TIMEOUT
            await cache.close_async()

    def test_the_log_is_told_once_for_each_cool_down_and_only_the_kind_of_failure(
        self, kind: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A URL may hold a password: neither is shown."""
        with broken(kind) as url, caplog.at_level(logging.DEBUG):
            monkeypatch.setenv("CRAG_TEST_URL", url.replace("//", "//user:tell-nobody@"))
            cache = RedisGradeCache(Secret.from_env_var("CRAG_TEST_URL"), timeout_s=TIMEOUT, cooldown_s=1.5)
            readers = [threading.Thread(target=cache.read, args=(["k"],), kwargs={"seconds": 1}) for _ in range(10)]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
            assert len(caplog.records) == 1
            time.sleep(1.6)
            cache.read(["k"], seconds=1)
            assert len(caplog.records) == 2
            assert "Error" in caplog.text
            assert "tell-nobody" not in caplog.text
            assert url.split("//")[1] not in caplog.text


class TestCoolDown:
    def test_after_it_a_single_request_finds_out_and_the_others_go_on_without(self) -> None:
        with broken("hanging") as url:
            cache = RedisGradeCache(url, timeout_s=TIMEOUT, cooldown_s=0.05)
            cache.read(["k"], seconds=1)
            time.sleep(0.1)
            cache.cooldown_s = 60.0
            errors: list[str | None] = []
            readers = [
                threading.Thread(target=lambda: errors.append(cache.read(["k"], seconds=1).error)) for _ in range(10)
            ]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
            assert errors.count("cooldown") == 9

    def test_a_server_that_is_back_is_used_again(self, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        cache = RedisGradeCache(redis_url, timeout_s=2.0, cooldown_s=1.0)
        with monkeypatch.context() as patch:
            patch.setattr(cache, "url", "redis://127.0.0.1:1/0")
            assert cache.read(["k"], seconds=2).error == "ConnectionError"
        assert cache.read(["k"], seconds=2).error == "cooldown"
        time.sleep(1.1)
        assert [cache.read(["k"], seconds=2).error for _ in range(3)] == [None] * 3
        cache.close()

    async def test_the_caller_who_has_no_time_left_is_told_so_and_the_server_is_not_blamed(self) -> None:
        cache = RedisGradeCache("redis://127.0.0.1:1/0")
        assert cache.read(["k"], seconds=0).error == "deadline"
        assert (await cache.read_async(["k"], seconds=-1)).error == "deadline"
        assert cache.read(["k"], seconds=1).error == "ConnectionError"

    async def test_a_name_that_no_name_server_answers_for_is_looked_up_by_one_thread_at_a_time(
        self, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each lookup that was given up would hold one of the few threads that connect to other servers, too."""
        answers, asked, known = threading.Event(), [], socket.getaddrinfo

        def lookup(host: Any, *others: Any, **named: Any) -> Any:
            if host == "redis.test":
                asked.append(host)
                assert answers.wait(60)
            return known("127.0.0.1" if host == "redis.test" else host, *others, **named)

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        cache = RedisGradeCache(redis_url.replace("127.0.0.1", "redis.test"), timeout_s=0.02, cooldown_s=0.02)
        errors = {(await cache.read_async(["k"], seconds=1)).error}
        for _ in range(10):
            await asyncio.sleep(0.025)
            errors.add((await cache.read_async(["k"], seconds=1)).error)
        assert errors == {"TimeoutError", "cooldown"}
        assert len(asked) == 2  # the connection that was given up, and the question whether the name is known
        answers.set()
        cache.timeout_s = 2.0
        end = time.monotonic() + 30
        while (await cache.read_async(["k"], seconds=2)).error is not None:
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        await cache.close_async()

    async def test_a_name_that_is_not_known_is_told_as_a_failure_each_time(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unknown(*_: Any, **__: Any) -> Any:
            raise socket.gaierror(socket.EAI_NONAME, "CANARY")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        cache = RedisGradeCache("redis://redis.test:1/0", timeout_s=2, cooldown_s=0.05)
        for _ in range(2):
            assert (await cache.read_async(["k"], seconds=2)).error in {"ConnectionError", "gaierror"}
            await asyncio.sleep(0.2)
        assert caplog.text.count("Redis failed") == 2
        assert "CANARY" not in caplog.text

    async def test_a_cancelled_read_is_cancelled(self) -> None:
        """The cache keeps failures to itself, but not the caller's own cancellation."""
        with broken("hanging") as url:
            cache = RedisGradeCache(url, timeout_s=5)
            task = asyncio.ensure_future(cache.read_async(["k"], seconds=5))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await cache.close_async()

    @pytest.mark.parametrize(
        "reply", [b":5\r\n", b"$1\r\nx\r\n", b"*0\r\n", b"*-1\r\n", b"HTTP/1.1 400\r\n\r\n", b"-NO\r\n"]
    )
    async def test_a_server_of_another_kind_is_a_miss(self, reply: bytes) -> None:
        with fake_server(babble(reply)) as url:
            cache = RedisGradeCache(url, timeout_s=0.2, cooldown_s=0.001)
            assert cache.read(["k"], seconds=1).scores == {}
            cache.write({"k": 0.5}, seconds=1)
            await asyncio.sleep(0.01)
            assert (await cache.read_async(["k"], seconds=1)).scores == {}
            await cache.close_async()
            cache.close()


@contextmanager
def computing(threads: int = 4) -> Iterator[None]:
    """Threads beside that compute and so hold the interpreter: whoever waits comes to look late."""
    over = threading.Event()

    def compute() -> None:
        while not over.is_set():
            sum(number * number for number in range(1000))

    started = [threading.Thread(target=compute) for _ in range(threads)]
    for thread in started:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in started:
            thread.join()


class TestBesideThreadsThatCompute:
    """A process that is late itself blames no server: one late look would rest it, and lose all hits of a second."""

    async def test_runs_on_an_event_loop_get_what_is_kept(
        self, server: "redis.Redis", redis_url: str, prefix: str
    ) -> None:
        cache = RedisGradeCache(redis_url, prefix=prefix, timeout_s=0.1)
        server.set(f"{prefix}k", b'{"v":1,"s":0.5}')

        async def read(number: int) -> Found:
            await asyncio.sleep(0.02 * number)
            return await cache.read_async(["k"], seconds=1)

        async def compute() -> None:
            while True:
                await asyncio.sleep(0.001)
                time.sleep(0.08)  # as a run that computes on the loop

        with computing(2):  # with more, or more reads, some machines need all of the clock's time
            other = asyncio.ensure_future(compute())
            found = await asyncio.gather(*map(read, range(8)))
            other.cancel()
        await cache.close_async()
        assert found == [Found({"k": 0.5})] * 8

    def test_runs_in_threads_too(self, server: "redis.Redis", redis_url: str, prefix: str) -> None:
        cache = RedisGradeCache(redis_url, prefix=prefix, timeout_s=0.1)
        server.set(f"{prefix}k", b'{"v":1,"s":0.5}')

        def read(number: int) -> Found:
            time.sleep(0.02 * number)
            return cache.read(["k"], seconds=1)

        with computing(), ThreadPoolExecutor(32) as runs:
            found = list(runs.map(read, range(32)))
        assert found == [Found({"k": 0.5})] * 32
        cache.close()

    @pytest.mark.parametrize("threads", [0, 4])
    async def test_a_server_that_truly_hangs_is_given_up_and_left_alone_all_the_same(
        self, own_server: tuple[str, int], threads: int
    ) -> None:
        """A real one, held by SIGSTOP, with its connections open; once it goes on it is used again."""
        url, process = own_server
        cache = RedisGradeCache(url, timeout_s=2.0, cooldown_s=2.0)
        await cache.write_async({"k": 0.5}, seconds=2)
        cache.write({"k": 0.5}, seconds=2)
        cache.timeout_s = 0.05
        with computing(threads):
            for read in (cache.read_async, lambda *a, **b: asyncio.to_thread(cache.read, *a, **b)):
                os.kill(process, signal.SIGSTOP)
                begun = time.perf_counter()
                held = await read(["k"], seconds=600)
                took = time.perf_counter() - begun
                assert held == Found({}, "TimeoutError")
                assert await read(["k"], seconds=600) == Found({}, "cooldown")
                assert took < (5 if not threads else 60)  # a hundred late looks, beside threads that compute
                os.kill(process, signal.SIGCONT)
                end = time.monotonic() + 60
                while (found := await read(["k"], seconds=600)) != Found({"k": 0.5}):
                    assert time.monotonic() < end, found
                    await asyncio.sleep(0.1)
        await cache.close_async()
        cache.close()


class TestSettings:
    @pytest.mark.parametrize(
        "url",
        [
            "redis://:tell-nobody@127.0.0.1/0",
            "redis://127.0.0.1/0?password=tell-nobody",
            "http://:tell-nobody@x",
            "redis://:tell-nobody#x@127.0.0.1:y/0",
            "redis://127.0.0.1:tell-nobody",
            "tell-nobody",
            "redis:///0",
            "unix://",
            "",
        ],
    )
    def test_a_url_that_is_unusable_or_holds_a_password_is_refused_and_not_shown(self, url: str) -> None:
        """It would get into YAML; as a Secret only the name of its variable does."""
        with pytest.raises(ConfigurationError, match="Secret") as caught:
            RedisGradeCache(url)
        assert "tell-nobody" not in str(caught.value)
        assert caught.value.__context__ is None

    @pytest.mark.parametrize("name", ["ttl_s", "timeout_s", "cooldown_s", "jitter"])
    def test_an_unusable_number_is_refused_by_name(self, name: str) -> None:
        with pytest.raises(ConfigurationError, match=name):
            RedisGradeCache(**{name: -1})

    @pytest.mark.parametrize("settings", [{"url": None}, {"prefix": None}, {"tenant": 7}, {"web": "false"}])
    def test_a_setting_of_another_type_is_refused_by_name(self, settings: dict[str, Any]) -> None:
        """A prefix of none ended each run, no address was no Redis, and to Python the text `false` is true."""
        (name,) = settings
        with pytest.raises(ConfigurationError, match=f"RedisGradeCache got .* for {name}"):
            RedisGradeCache(**settings)

    @pytest.mark.parametrize(("url", "told"), [(None, "not set"), ("http://:tell-nobody@x", "redis://127.0.0.1:6379")])
    async def test_a_secret_that_is_not_set_or_no_address_is_a_failure_of_the_cache_whose_log_says_so(
        self, url: str | None, told: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And not of the run. The kind alone would send an operator to look at a server that was never asked."""
        if url:
            monkeypatch.setenv("CRAG_TEST_URL", url)
        cache = RedisGradeCache(Secret.from_env_var("CRAG_TEST_URL"), cooldown_s=0.001)
        assert cache.read(["k"], seconds=1).error == "ConfigurationError"
        time.sleep(0.01)
        assert (await cache.read_async(["k"], seconds=1)).error == "ConfigurationError"
        assert caplog.text.count(told) == 2
        assert "tell-nobody" not in caplog.text

    def test_a_component_keeps_its_cache_with_every_setting_through_yaml_without_the_password(
        self, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With Haystack's default, safe settings."""
        monkeypatch.setenv("CRAG_TEST_URL", redis_url.replace("//", "//:tell-nobody@"))
        settings: dict[str, Any] = {"url": Secret.from_env_var("CRAG_TEST_URL"), "prefix": "p:", "ttl_s": 3.0}
        settings |= {"jitter": 0.5, "timeout_s": 0.2, "cooldown_s": 2.0, "tenant": "a", "web": True}
        pipeline = Pipeline()
        pipeline.add_component("user", RedisCacheUser(RedisGradeCache(**settings)))
        text = pipeline.dumps()
        assert "tell-nobody" not in text
        again = Pipeline.loads(text, allowed_modules=[__name__])  # for the component of this file alone
        loaded = again.get_component("user").cache
        assert isinstance(loaded, RedisGradeCache)
        assert {name: getattr(loaded, name) for name in settings} == settings
        assert again.dumps() == text
        assert "tell-nobody" not in json.dumps(loaded.to_dict()) + repr(loaded) + repr(vars(loaded))

    def test_without_the_package_redis_the_error_says_what_to_install_and_the_other_cache_works(self) -> None:
        """Importing the caches needs no Redis, and does not wait for it where it is installed."""
        program = """
import sys
sys.modules["redis"] = None
from haystack_integrations.crag.caching import MemoryGradeCache, RedisGradeCache
MemoryGradeCache()
try:
    RedisGradeCache()
except ImportError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert 'pip install "crag-haystack[redis]"' in done.stdout
