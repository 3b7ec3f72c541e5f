"""Document stores: what a shipped pipeline needs on each, read from `stores/*.yml`, and an index that is safe."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import yaml

from haystack_integrations.crag.elasticsearch.analysis import make_index
from haystack_integrations.crag.elasticsearch.tls import no_answer, tls_options
from haystack_integrations.crag.errors import ConfigurationError, StoreError

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

_BETWEEN: Final = re.compile(r",(?!(?:(?!://).)*@)")


@dataclass(frozen=True)
class StoreProfile:
    """
    What a kind of document store needs.

    :param name: `elasticsearch` or `in_memory`.
    :param store: Full class path of the store.
    :param components: Laid over the pipeline's components of the same name.
    :param document_store: Parameters of a store that this package opens itself.
    :param index: Settings and mappings of the index, empty where there is none.
    """

    name: str
    store: str
    components: dict[str, dict[str, Any]]
    document_store: dict[str, Any] = field(default_factory=dict)
    index: dict[str, Any] = field(default_factory=dict)


@cache
def profiles() -> dict[str, StoreProfile]:
    """
    Read the shipped store profiles.

    :returns: The profiles by name.
    """
    folder = files("haystack_integrations.crag") / "stores"
    found = {entry.name.removesuffix(".yml"): entry for entry in folder.iterdir() if entry.name.endswith(".yml")}
    return {name: StoreProfile(name=name, **yaml.safe_load(found[name].read_text("utf-8"))) for name in sorted(found)}


def profile_of(store: object) -> StoreProfile | None:
    """
    Find the profile of a live store.

    :param store: A Haystack document store.
    :returns: Its profile, or None for a store of another kind.
    """
    ancestors = {f"{cls.__module__}.{cls.__name__}" for cls in type(store).__mro__}
    return next((profile for profile in profiles().values() if profile.store in ancestors), None)


def has_index(store: object) -> bool:
    """Tell whether a live store is an index of Elasticsearch; one that no profile is for is taken for none."""
    profile = profile_of(store)
    return profile is not None and bool(profile.index)


def profile_named(word: str) -> str:
    """
    Find a store profile by any of its names.

    :param word: A profile's name, or `memory`.
    :returns: The profile's own name.
    :raises ConfigurationError: For an unknown word.
    """
    name = "in_memory" if word == "memory" else word
    if name not in profiles():
        msg = f"no kind of store is named {word!r}; choose one of {[*profiles(), 'memory']}"
        raise ConfigurationError(msg)
    return name


def store_spec(name: str, url: str | None = None, index: str = "crag") -> dict[str, Any]:
    """
    Describe a store as YAML holds it.

    :param name: A store profile, `elasticsearch` or `in_memory`.
    :param url: Where the server is; needed for a store that has one. Of a cluster all nodes, with commas between.
    :param index: Name of the index.
    :returns: `{"type", "init_parameters"}`.
    :raises ConfigurationError: For an unknown name, a missing URL or one of a store without a server, or an unreadable
        file of certificates.
    """
    profile = profiles()[profile_named(name)]
    parameters = {**profile.document_store, "index": index}
    if url and not profile.index:
        msg = f"got an address for the store {name!r}, which has none; leave it out, or choose the store elasticsearch"
        raise ConfigurationError(msg)
    if profile.index:
        if not (nodes := nodes_of(url or "")):
            msg = f"the store {name!r} needs an address, got none; pass --url http://HOST:PORT or set ELASTICSEARCH_URL"
            raise ConfigurationError(msg)
        parameters.update(hosts=nodes if len(nodes) > 1 else nodes[0], custom_mapping=profile.index["mappings"])
        parameters.update(tls_options(nodes))
    return {"type": profile.store, "init_parameters": parameters}


def nodes_of(url: str) -> list[str]:
    """
    List the servers of an address.

    :param url: One address; of a cluster all of them, with commas between. A comma before an `@` is of a password.
    :returns: The addresses, each once: the client refuses one that it is told twice. Behind a last comma is none.
    """
    return list(dict.fromkeys(node for part in _BETWEEN.split(url) if (node := part.strip())))


def open_store(name: str, url: str | None = None, index: str = "crag") -> Any:
    """
    Open a store with this package's settings; a server is not contacted yet.

    :param name: A store profile, `elasticsearch` or `in_memory`.
    :param url: Where the server is; see `store_spec`.
    :param index: Name of the index.
    :returns: The document store.
    :raises ConfigurationError: For an unknown name or a missing URL.
    """
    from haystack.core.serialization import import_class_by_name

    spec = store_spec(name, url, index)
    return import_class_by_name(spec["type"])(**spec["init_parameters"])


def display_url(url: object) -> str:
    """
    Show an address without its user and password, and without what stands behind a `?`, which may be one, too.

    Up to the last `@` all is taken for them: a password that is not escaped may hold a `#` or `/`, at which an address
    ends its host.

    :param url: A URL, or a list of them as the Elasticsearch client accepts.
    :returns: The address for messages; several of them as `--url` takes them, in one piece.
    """
    if isinstance(url, list):
        return ",".join(display_url(one) for one in url)
    scheme, mark, rest = str(url).partition("://")
    shown = (part.rpartition("@")[2] for part in (scheme, rest))
    return re.split(r"[?#]", mark.join(shown) if mark else next(shown))[0]


@dataclass(frozen=True)
class Server:
    """
    How an ElasticsearchDocumentStore reaches its server.

    :param hosts: As the client takes them.
    :param index: Name of the index.
    :param api_key: The key, resolved; None without one.
    :param options: Further options of the client.
    :param custom_mapping: The mapping that the store's owner wants, or None.
    :param sparse_field: Field for sparse vectors, or None.
    :param ingest_pipeline: Ingest pipeline of writes, or None.
    """

    hosts: Any = field(repr=False)  # they may hold a password
    index: str
    api_key: Any = field(repr=False)
    options: dict[str, Any] = field(repr=False)
    custom_mapping: dict[str, Any] | None
    sparse_field: str | None
    ingest_pipeline: str | None


def server_of(store: Any) -> Server:
    """
    Read how a store reaches its server.

    Not by `to_dict`: that refuses a key given as a token and loses one given as text. The attributes are those of
    elasticsearch-haystack 7, which this package pins; a test reads them from the real class.

    :param store: An ElasticsearchDocumentStore.
    :returns: Its connection.
    """
    return Server(
        hosts=store._hosts,
        index=store._index,
        api_key=store._handle_auth(),
        options={**store._kwargs, "headers": dict(store._headers)},
        custom_mapping=store._custom_mapping,
        sparse_field=store._sparse_vector_field,
        ingest_pipeline=store._ingest_pipeline,
    )


@contextmanager
def elasticsearch_client(store: Any, **options: Any) -> "Iterator[Elasticsearch]":
    """
    Open a client with a store's own address and credentials, beside the store's, and close it afterwards.

    The store makes its index with its own mapping at first contact, so what must come before goes through this.

    :param store: An ElasticsearchDocumentStore.
    :param options: Client options that differ from the store's.
    :returns: The client.
    :raises StoreError: When the server cannot be reached or refuses.
    """
    import elasticsearch

    from haystack_integrations.crag.elasticsearch.reaching import client_for, refusal

    server = server_of(store)
    client = client_for(server.hosts, api_key=server.api_key, **{**server.options, **options})
    try:
        yield client
    except elasticsearch.ApiError as error:
        raise StoreError(refusal(error, f" at {display_url(server.hosts)}", server.index)) from None
    except elasticsearch.TransportError as error:
        raise StoreError(no_answer(error, f" at {display_url(server.hosts)}")) from None
    finally:
        client.close()


def prepare(store: Any, **settings: Any) -> bool:
    """
    Make the index of a store before anyone queries it, with our mapping; an existing index is left as it is.

    Ten first queries at once, a store object spoilt by a failed first contact, vectors in every reply: all come from
    leaving this to the first query.

    :param store: Any document store; one that has no index needs nothing.
    :param settings: Of the new index, such as `number_of_shards` and `number_of_replicas`.
    :returns: True when the index was made now.
    :raises StoreError: When the server cannot be reached.
    """
    profile = profile_of(store)
    if profile is None or not profile.index:
        return False
    server = server_of(store)
    index, mappings = server.index, server.custom_mapping or profile.index["mappings"]
    with elasticsearch_client(store) as client:
        if client.indices.exists(index=index):
            return False
        kind = make_index(client, index, {**profile.index["settings"], **settings}, mappings)
        if kind not in (None, "resource_already_exists_exception"):
            msg = f"Elasticsearch refused to make the index {index!r}: {kind}; choose another name or check the server"
            raise StoreError(msg)
        return kind is None
