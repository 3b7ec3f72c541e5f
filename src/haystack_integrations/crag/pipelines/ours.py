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
    :raises ConfigurationError: For an alias of several indices.
    """
    mapping = client.indices.get_mapping(index=index).body
    if len(mapping) > 1:  # written to one of them, and never deleted in the others
        msg = f"got {index!r}, an alias of {len(mapping)} indices, wanted one to write to; pass the name of it"
        raise ConfigurationError(msg)
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
