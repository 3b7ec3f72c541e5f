"""Haystack's filters as Elasticsearch's, without the one that would open the whole index."""

from typing import Any

from haystack.errors import FilterError


def filter_of(filters: dict[str, Any] | None) -> dict[str, Any]:
    """
    Translate filters.

    :param filters: Haystack filters, or None.
    :returns: The part of a request that restricts it; empty where nothing is restricted.
    :raises FilterError: For filters with an empty list of conditions, or that Haystack does not know.
    """
    from haystack_integrations.document_stores.elasticsearch.filters import _normalize_filters

    if _is_void(filters):
        msg = (
            "got filters with no or an empty list of conditions, wanted at least one; leave out what restricts nothing"
        )
        raise FilterError(msg)
    try:
        return {"filter": _normalize_filters(filters)} if filters else {}
    except KeyError as error:
        # An operator is looked up in a table: for one that it does not hold, a bare KeyError is all that comes.
        msg = "got filters with an operator that is none, wanted one of ==, !=, >, >=, <, <=, in, not in, AND, OR, NOT"
        raise FilterError(msg) from error
    except (AttributeError, TypeError) as error:
        msg = "got filters with a field that is no text, wanted its name, such as meta.year, in each comparison"
        raise FilterError(msg) from error


def _is_void(filters: Any) -> bool:
    """
    Find `OR` of nothing: no document fulfils it, but Elasticsearch takes it for no restriction and finds all.

    Nothing is also `{}`, as which some languages write an empty list.
    """
    if not isinstance(filters, dict) or "conditions" not in filters or "field" in filters:
        return False
    within = filters["conditions"]
    return not (isinstance(within, list | tuple) and within) or any(map(_is_void, within))
