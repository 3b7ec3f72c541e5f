"""Haystack's filters as Elasticsearch's, without the one that would open the whole index."""

from typing import Any

from haystack.errors import FilterError

from haystack_integrations.crag.searches import is_void


def filter_of(filters: dict[str, Any] | None) -> dict[str, Any]:
    """
    Translate filters.

    :param filters: Haystack filters, or None.
    :returns: The part of a request that restricts it; empty where nothing is restricted.
    :raises FilterError: For filters with an empty list of conditions, or that Haystack does not know.
    """
    from haystack_integrations.document_stores.elasticsearch.filters import _normalize_filters

    if is_void(filters):
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
