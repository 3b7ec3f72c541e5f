"""What was measured of a document, kept for as much text as memory has room for."""

from collections.abc import Callable
from functools import wraps
from operator import itemgetter
from threading import Lock
from typing import Any, Final, TypeVar

from cachetools import LRUCache, cached

from haystack_integrations.crag.judging.reading import MOST_READINGS

F = TypeVar("F", bound=Callable[..., Any])

_EACH: Final = 3  # beside the text itself: so about 500 of usual length are kept


def kept(measure: F) -> F:
    """
    Keep what a function finds of the last readings that it was given.

    A key keeps its reading alive, whatever its reader has forgotten: 512 records of a megabyte were gigabytes. So they
    are counted by their size, as the reader counts them.

    :param measure: Its last argument is a reading.
    :returns: The same, with `cache_info` and `cache_clear` as those of `functools.lru_cache`.
    """

    @cached(LRUCache(MOST_READINGS, getsizeof=itemgetter(0)), lock=Lock(), info=True)
    def sized(*given: Any) -> tuple[int, Any]:
        return min(MOST_READINGS, _EACH + given[-1].size), measure(*given)

    @wraps(measure)
    def found(*given: Any) -> Any:
        return sized(*given)[1]

    found.cache_info, found.cache_clear = sized.cache_info, sized.cache_clear  # type: ignore[attr-defined]
    return found  # type: ignore[return-value]
