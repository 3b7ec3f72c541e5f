"""Caches of grades: what a model has judged need not be asked again. YAML names a cache by its own module."""

from haystack_integrations.crag.caching.base import Found, GradeCache, grade_key
from haystack_integrations.crag.caching.flights import ABANDONED, Flights, Landing
from haystack_integrations.crag.caching.memory import MemoryGradeCache
from haystack_integrations.crag.caching.redis_cache import RedisGradeCache

__all__ = [
    "ABANDONED",
    "Flights",
    "Found",
    "GradeCache",
    "Landing",
    "MemoryGradeCache",
    "RedisGradeCache",
    "grade_key",
]
