"""Open a document store by what a user says of it: the command line and the server share these doors."""

from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from haystack_integrations.crag.chat_model import is_address
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.store_profiles import display_url, open_store

ELASTICSEARCH: Final = "elasticsearch"


def elasticsearch_store(store: str | None, url: str | None, index: str) -> Any:
    """
    Open the store of a server; it is not contacted yet.

    :param store: `elasticsearch`.
    :param url: `http://HOST:PORT`; of a cluster all of them, with commas between.
    :param index: Name of the index.
    :returns: The store.
    :raises ConfigurationError: For another kind of store, or a missing or unusable address.
    """
    if store != ELASTICSEARCH:
        msg = f"got the store {store!r}, wanted one that keeps documents; pass --store {ELASTICSEARCH} --url URL"
        raise ConfigurationError(msg)
    nodes = [node.strip() for node in url.split(",")] if url else []
    if any(not is_address(node) or urlsplit(node).port is None for node in nodes):
        msg = f"got {display_url(nodes)!r} as --url, wanted http://HOST:PORT; the usual port of Elasticsearch is 9200"
        raise ConfigurationError(msg)
    return open_store(store, url, index)


def memory_store() -> Any:
    """
    Open an in-memory store that nobody else shares: Haystack keeps one for each index name and process.

    :returns: The store.
    """
    return open_store("in_memory", index=f"crag-{uuid4().hex}")
