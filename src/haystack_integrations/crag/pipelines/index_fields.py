"""What an Elasticsearch index that somebody made says of its fields: whether it can be searched, and by what scores."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.store_profiles import elasticsearch_client, server_of

Fields = Sequence[dict[str, Any]]
Ask = Callable[[Any], Fields]
"""Reads the fields of a store's index, as `fields_of`, or what it said before."""

_TEXT: Final = "content"
_VECTOR: Final = "embedding"
_SHOWN: Final = 8
# Scored as (1 + cosine) / 2. A distance is scored otherwise, and so is the product of vectors of any length: small
# vectors are all near to each other, and a negative product would read as a high cosine.
_OF_COSINES: Final = frozenset({"cosine", "dot_product"})
COSINE_HALF: Final = "half_cosine"
"""How a joiner is told of such scores."""


def fields_of(store: Any) -> Fields:
    """
    Read the fields of an index.

    :param store: An ElasticsearchDocumentStore.
    :returns: Settings of the fields by name; of each index, where an alias names several.
    :raises StoreError: When the server cannot be reached.
    """
    with elasticsearch_client(store) as client:
        found = client.indices.get_mapping(index=server_of(store).index, ignore_unavailable=True).body.values()
    return [index["mappings"].get("properties", {}) for index in found]


def vectors_of(fields: Fields) -> list[dict[str, Any]]:
    """
    Pick out the field that holds vectors.

    :param fields: What `fields_of` gave.
    :returns: Its settings, of each index that has it.
    """
    return [index[_VECTOR] for index in fields if _VECTOR in index]


def check_text(store: Any, fields: Fields) -> None:
    """
    Refuse documents whose text is in another field than Haystack's: all would be found empty, and nothing answer.

    :param store: The store.
    :param fields: What `fields_of` gave.
    :raises ConfigurationError: Naming the fields that are there.
    """
    if not any(fields) or any(_TEXT in index for index in fields):
        return
    index = server_of(store).index
    with elasticsearch_client(store) as client:
        if not client.count(index=index)["count"]:
            return  # the first document may bring the field
    there = sorted({name for one in fields for name in one})[:_SHOWN]
    msg = (
        f"no document of the index {index!r} has the field {_TEXT!r}, where Haystack keeps a text; its fields are "
        f"{there}; copy the documents into an index with that name for the text, or index their files by `crag index`"
    )
    raise ConfigurationError(msg)


def check_vectors(fields: Fields) -> None:
    """
    Refuse vectors that Elasticsearch keeps without searching them: it would refuse every question.

    :param fields: What `fields_of` gave.
    :raises ConfigurationError: Naming the way out.
    """
    for one in vectors_of(fields):
        if one.get("type") != "dense_vector" or not one.get("index", True):
            msg = (
                f"the field {_VECTOR!r} of this index cannot be searched by vectors, wanted a dense_vector that is "
                f"indexed, but got the type {one.get('type')}; index into another one by `crag index`"
            )
            raise ConfigurationError(msg)


def holds_cosines(fields: Fields) -> bool:
    """
    Tell whether the scores of a search by vectors are cosines, half of them and a half.

    :param fields: What `fields_of` gave.
    :returns: Whether they are; also of an index that has no vectors yet.
    """
    return all(one.get("similarity", "cosine") in _OF_COSINES for one in vectors_of(fields))


def check_index(store: Any, components: Collection[str], given: Collection[str], ask: Ask) -> None:
    """
    Refuse an index that was there before where a pipeline's own retrievers cannot search it.

    :param store: An ElasticsearchDocumentStore.
    :param components: Names of the pipeline's components.
    :param given: Names of those that the caller passes himself.
    :param ask: Reads the fields of the index.
    :raises ConfigurationError: Naming what is wrong with it, and the way out.
    """
    fields, searching = ask(store), set(components) - set(given)
    if "bm25" in searching:
        check_text(store, fields)
    if "dense" in searching:
        check_vectors(fields)
