"""MemoryGradeCache: bounded in number and time, and written down in YAML."""

import math
import threading
from typing import Any

import pytest
from haystack import Pipeline, component
from makers import Clock

from haystack_integrations.crag.caching import Found, GradeCache, MemoryGradeCache
from haystack_integrations.crag.errors import ConfigurationError


@component
class MemoryCacheUser:
    """A component that is given a cache."""

    def __init__(self, cache: GradeCache | None = None) -> None:
        self.cache = cache

    @component.output_types(known=bool)
    def run(self, key: str) -> dict[str, Any]:
        assert self.cache is not None
        return {"known": key in self.cache.read([key], seconds=1).scores}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(MemoryGradeCache, "_timer", clock)
    return clock


def known(cache: GradeCache, *keys: str) -> dict[str, float]:
    return cache.read(keys, seconds=1).scores


def test_what_was_written_is_read_and_the_rest_is_a_miss() -> None:
    """A miss is no error."""
    cache = MemoryGradeCache()
    cache.write({"a": 0.25, "b": 1}, seconds=1)
    assert cache.read(["a", "b", "c"], seconds=1) == Found({"a": 0.25, "b": 1.0}, None)


async def test_threads_and_event_loops_share_it() -> None:
    """The asynchronous methods do the same."""
    cache = MemoryGradeCache()
    await cache.write_async({"a": 0.5}, seconds=1)
    cache.write({"b": 0.6}, seconds=1)
    assert (await cache.read_async(["a", "b", "c"], seconds=1)).scores == {"a": 0.5, "b": 0.6}
    await cache.close_async()
    cache.close()


def test_it_keeps_at_most_so_many_and_forgets_the_one_not_used_for_longest() -> None:
    """Memory is bounded, also when one batch is larger than the cache."""
    cache = MemoryGradeCache(max_entries=3)
    cache.write({"a": 0.1, "b": 0.2, "c": 0.3}, seconds=1)
    assert known(cache, "a")
    cache.write({"d": 0.4}, seconds=1)
    assert set(known(cache, "a", "b", "c", "d")) == {"a", "c", "d"}
    cache.write({str(number): 0.5 for number in range(100)}, seconds=1)
    assert len(known(cache, *map(str, range(100)))) == 3


def test_a_score_expires(clock: Clock) -> None:
    """After its time, and not before; writing it again begins anew."""
    cache = MemoryGradeCache(ttl_s=60, jitter=0)
    cache.write({"a": 0.1}, seconds=1)
    clock.now += 59.9
    assert known(cache, "a") == {"a": 0.1}
    cache.write({"a": 0.2}, seconds=1)
    clock.now += 59.9
    assert known(cache, "a") == {"a": 0.2}
    clock.now += 0.2
    assert known(cache, "a") == {}


def test_what_was_written_together_expires_apart(clock: Clock) -> None:
    """Within the share `jitter` of the lifetime, spread over all of it."""
    cache = MemoryGradeCache(ttl_s=100, jitter=0.1)
    keys = [str(number) for number in range(1000)]
    cache.write(dict.fromkeys(keys, 0.5), seconds=1)
    left = []
    for seconds in (89.9, 5.1, 5, 5, 5.1):
        clock.now += seconds
        left.append(len(known(cache, *keys)))
    assert left[0] == 1000
    assert 650 < left[1] < 850
    assert 400 < left[2] < 600
    assert 150 < left[3] < 350
    assert left[4] == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.01, 1.01, True, None, "0.5", 10**400])
def test_what_is_no_score_is_not_kept(bad: Any) -> None:
    """The rest of the batch is."""
    cache = MemoryGradeCache()
    cache.write({"bad": bad, "good": 0.5}, seconds=1)
    assert known(cache, "bad", "good") == {"good": 0.5}


def test_many_threads_at_once_do_no_harm() -> None:
    """Reading moves entries, so it is locked too."""
    cache, errors = MemoryGradeCache(max_entries=50), []

    def work(number: int) -> None:
        try:
            for turn in range(300):
                cache.write({f"{(number * 7 + turn) % 90}": 0.5}, seconds=1)
                assert set(known(cache, *map(str, range(90))).values()) <= {0.5}
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize(
    "unusable",
    [
        *({"max_entries": bad} for bad in (0, -1, 2.5, True)),
        *({"jitter": bad} for bad in (1, -0.1, math.nan, True)),
        *({"ttl_s": bad} for bad in (0, "1", math.inf, math.nan)),
        {"tenant": None},
        {"web": "false"},
    ],
)
def test_an_unusable_setting_is_refused_by_name(unusable: dict[str, Any]) -> None:
    """At once, not at the first grading."""
    with pytest.raises(ConfigurationError, match=next(iter(unusable))):
        MemoryGradeCache(**unusable)


def test_a_component_keeps_its_cache_with_every_setting_through_yaml() -> None:
    """With Haystack's default, safe settings; the contents stay behind."""
    settings = {"max_entries": 7, "ttl_s": 3.0, "jitter": 0.5, "tenant": "a", "web": True}
    cache = MemoryGradeCache(**settings)  # type: ignore[arg-type]
    cache.write({"k": 0.5}, seconds=1)
    pipeline = Pipeline()
    pipeline.add_component("user", MemoryCacheUser(cache))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=[__name__])  # for the component of this file alone
    loaded = again.get_component("user").cache
    assert isinstance(loaded, MemoryGradeCache)
    assert {name: getattr(loaded, name) for name in settings} == settings
    assert again.dumps() == pipeline.dumps()
    assert pipeline.run({"user": {"key": "k"}})["user"]["known"]
    assert not again.run({"user": {"key": "k"}})["user"]["known"]
    assert loaded.timeout_s is None
