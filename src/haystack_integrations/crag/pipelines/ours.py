"""By which search the documents of given paths are known again in an Elasticsearch index."""

from typing import TYPE_CHECKING, Any, Final

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.contents import PROVENANCE
from haystack_integrations.crag.pipelines.listing import Listing

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

# So many paths fit into a query; with more of them all names are fetched and compared here.
_MAX_PREFIXES: Final = 500
_MAX_NAMES: Final = 10_000


def query_of(client: "Elasticsearch", index: str, scope: Listing) -> dict[str, Any]:
    """
    Write the search.

    :param client: A connected client.
    :param index: Name of the index.
    :param scope: The paths.
    :returns: A query that finds all of their documents, and perhaps others.
    :raises ConfigurationError: For an alias of several indices, or one that takes no writes.
    """
    mapping = client.indices.get_mapping(index=index).body
    if len(mapping) > 1:  # written to one of them, and never deleted in the others
        msg = f"got {index!r}, an alias of {len(mapping)} indices, wanted one to write to; pass the name of it"
        raise ConfigurationError(msg)
    _check_alias(client, index, next(iter(mapping)))
    shown, path = PROVENANCE[:2]
    fields = next(iter(mapping.values()))["mappings"].get("properties", {})
    # Where all names are shown as they are, none of them is a path.
    kinds = {fields.get(shown, {}).get("type"), fields.get(path, {}).get("type", "keyword")}
    few = len(scope.prefixes) <= _MAX_PREFIXES and len(scope.names) <= _MAX_NAMES
    ignored = {"terms": {"_ignored": list(PROVENANCE[:3])}}  # what is longer than the index takes strings
    # A field of another type, in an index made elsewhere, is cut into words: no prefix finds a name there.
    if kinds != {"keyword"} or not few or "" in scope.prefixes:
        return {"bool": {"should": [{"exists": {"field": "source_sha256"}}, ignored]}}
    both, starts = (shown, path), {"", scope.base}  # what was indexed without the base, too
    names = sorted(start + name for start in starts for name in scope.names)
    prefixes = [{"prefix": {f: start + prefix}} for f in both for start in starts for prefix in scope.prefixes]
    return {"bool": {"should": [ignored, *prefixes, *({"terms": {field: names}} for field in both)]}}


def _check_alias(client: "Elasticsearch", index: str, own: str) -> None:
    """Refuse an alias that is for reading: the server would refuse each document, as if something was wrong with it."""
    if own == index:
        return
    told = client.options(ignore_status=404).indices.get_alias(index=own, name=index).body  # 404: <date math> is none
    if told.get(own, {}).get("aliases", {}).get(index, {}).get("is_write_index") is False:
        msg = (
            f"got {index!r}, an alias that takes no writes (is_write_index: false); pass the name of its index, {own!r}"
        )
        raise ConfigurationError(msg)
