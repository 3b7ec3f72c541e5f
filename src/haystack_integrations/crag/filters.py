"""Filters that restrict nothing or everything, since a list in them is empty, as by somebody without a team."""

from collections.abc import Mapping
from typing import Any

from haystack.errors import FilterError


def is_void(filters: Any) -> bool:
    """
    Tell filters that have an empty list of conditions, as a whole or within; `{}` is one, as some languages write it.

    No document fulfils `OR` of nothing and all `AND` of nothing; Elasticsearch takes either for no restriction. What is
    false to Python, such as an empty list, is void in the place of filters, too.

    :param filters: Haystack filters; None and `{}` are none.
    :returns: Whether there is such a list.
    """
    if not isinstance(filters, Mapping):
        return filters is not None and not filters
    if "conditions" not in filters or "field" in filters:
        return False
    within = filters["conditions"]
    return not (isinstance(within, list | tuple) and within) or any(map(is_void, within))


def refuse_void(filters: Any) -> None:
    """
    Refuse such filters, and what is no mapping, on whatever store: who may see nothing would see all of it.

    :param filters: Haystack filters, or None.
    :raises FilterError: For an empty list of conditions, and for what is no mapping.
    """
    if not isinstance(filters, Mapping | None):
        msg = f"got a {type(filters).__name__} as filters, wanted a mapping, or None for no filters"
        raise FilterError(msg)
    if is_void(filters):
        msg = (
            "got filters with no or an empty list of conditions, wanted at least one; leave out what restricts nothing"
        )
        raise FilterError(msg)
