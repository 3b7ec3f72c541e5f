"""What an Elasticsearch index that somebody made says of its fields: whether it can be searched, and by what scores."""

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from haystack import logging

from haystack_integrations.crag.elasticsearch.requests import OF_WORDS, TEXT
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.contents import PROVENANCE
from haystack_integrations.crag.store_profiles import elasticsearch_client, has_index, prepare, server_of

logger = logging.getLogger(__name__)

Fields = Sequence[dict[str, Any]]
Ask = Callable[[Any], Fields]
"""Reads the fields of a store's index, as `fields_of`, or what it said before."""

VECTOR: Final = "embedding"
"""The field in which Haystack keeps a document's vector."""

_SHOWN: Final = 8
_SOUGHT: Final = frozenset(PROVENANCE[:3])
_ANEW: Final = (
    f"copy the documents into an index that has their text as {TEXT!r}, or index their files into another one by "
    "`crag index`"
)
# Scored as (1 + cosine) / 2. A distance is scored otherwise, and so is the product of vectors of any length: small
# vectors are all near to each other, and a negative product would read as a high cosine.
_OF_COSINES: Final = frozenset({"cosine", "dot_product"})
_OF_WHOLE_NUMBERS: Final = frozenset({"byte", "bit"})
COSINE_HALF: Final = "half_cosine"
"""How a joiner is told of such scores."""


def fields_of(store: Any) -> Fields:
    """
    Read the fields of an index.

    :param store: An ElasticsearchDocumentStore.
    :returns: Settings of the fields by name; of each index, where an alias names several.
    :raises StoreError: When the server cannot be reached.
    """
    return [one.get("properties", {}) for one in mappings_of(store)]


def mappings_of(store: Any) -> Fields:
    """
    Read the mapping of an index.

    :param store: An ElasticsearchDocumentStore.
    :returns: The mapping; of each index, where an alias names several.
    :raises StoreError: When the server cannot be reached.
    """
    with elasticsearch_client(store) as client:
        found = client.indices.get_mapping(index=server_of(store).index, ignore_unavailable=True).body.values()
    return [index["mappings"] for index in found]


def vectors_of(fields: Fields) -> list[dict[str, Any]]:
    """
    Pick out the field that holds vectors.

    :param fields: What `fields_of` gave.
    :returns: Its settings, of each index that has it.
    """
    return [index[VECTOR] for index in fields if VECTOR in index]


def make_ready(store: Any) -> None:
    """
    Make a store ready to be written: its index is made, unless it is there; one that hides texts is refused.

    :param store: Any document store.
    :raises ConfigurationError: When no search by words would find what is written, or none by its source.
    :raises StoreError: When the server cannot be reached.
    """
    if not prepare(store) and has_index(store):
        mappings = mappings_of(store)
        _check_type(store, [one.get("properties", {}) for one in mappings])
        _check_provenance(store, mappings)
        _check_kept(store, mappings)


def check_text(store: Any, fields: Fields) -> None:
    """
    Refuse documents whose text no search by words finds, or that come back without it: nothing would seem to answer.

    :param store: The store.
    :param fields: What `fields_of` gave.
    :raises ConfigurationError: Naming the field as it is, or those that are there.
    """
    _check_type(store, fields)
    _check_one(store, fields)
    named = [index for index in fields if index]
    if lacking := sum(TEXT not in index for index in named):
        text = (
            "{lacking} of the {all} indices of {index} lack the field {field}: their documents are not found by words."
        )
        logger.warning(text, lacking=lacking, all=len(named), index=repr(server_of(store).index), field=repr(TEXT))


def _check_type(store: Any, fields: Fields) -> None:
    for one in (index[TEXT] for index in fields if TEXT in index):
        if (kind := one.get("type", "object")) not in OF_WORDS or not one.get("index", True):
            got = kind if kind not in OF_WORDS else f"{kind} that is not indexed"
            msg = (
                f"the field {TEXT!r} of the index {server_of(store).index!r} cannot be searched by words, wanted the "
                f"type text, but got {got}; {_ANEW}"
            )
            raise ConfigurationError(msg)


def _check_provenance(store: Any, mappings: Fields) -> None:
    """Refuse an index that keeps fields without searching them: what is old would be found for ever."""
    for one in mappings:
        fields = one.get("properties", {})
        is_closed = "false" in (str(one.get(name)).lower() for name in ("dynamic", "enabled"))
        lacking = sorted(_SOUGHT.difference(fields)) if is_closed else []
        own = {name: fields[name] for name in _SOUGHT & fields.keys()}
        # Values alone are enough to go by; of text, which is cut into words, nothing is asked.
        hidden = sorted(
            name for name in own if own[name].get("index", True) is own[name].get("doc_values", True) is False
        )
        if lacking or hidden:
            got = f"lacks {lacking}" if lacking else f"does not index {hidden}"
            msg = (
                f"the index {server_of(store).index!r} does not search by fields that its mapping leaves out, and it "
                f"{got}, by which an older version of a file is found and removed; index into another one"
            )
            raise ConfigurationError(msg)


def _check_kept(store: Any, mappings: Fields) -> None:
    """Refuse an index that does not give back what is written: no question could be asked, and no source compared."""
    for source in (one.get("_source", {}) for one in mappings):
        lost = [name for name in (TEXT, *sorted(_SOUGHT)) if not _is_kept(name, source)]
        if lost:
            msg = (
                f"the index {server_of(store).index!r} does not give back {lost}, which its mapping keeps out of "
                "`_source`; index into another one"
            )
            raise ConfigurationError(msg)


def _is_kept(name: str, source: dict[str, Any]) -> bool:
    kept, left_out = source.get("includes") or ["*"], source.get("excludes") or []
    is_on = str(source.get("enabled", True)).lower() != "false"
    return is_on and _fits(name, kept) and not _fits(name, left_out)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _check_one(store: Any, fields: Fields) -> None:
    """Look at one document: a text may be under another name, a list, or not be among what the server gives back."""
    index = server_of(store).index
    asked: dict[str, Any] = {"query": {"exists": {"field": TEXT}}, "size": 1, "source_includes": TEXT}
    with elasticsearch_client(store) as client:
        # Of shards that are not there nothing is known; a question says so, too, and is answered from the others.
        answer = client.options(ignore_status=503).search(index=index, allow_partial_search_results=True, **asked)
    found = answer.get("hits", {}).get("hits")
    if not found and (answer.get("_shards", {}).get("failed", 1) or not holds_documents(store)):
        return  # the first document may bring the field
    if not found:
        there = sorted({name for one in fields for name in one})[:_SHOWN]
        msg = (
            f"no document of the index {index!r} has the field {TEXT!r}, where Haystack keeps a text; its fields are "
            f"{there}; {_ANEW}"
        )
        raise ConfigurationError(msg)
    if not isinstance(text := found[0].get("_source", {}).get(TEXT), str):
        got = "nothing (its mapping keeps the text out of `_source`)" if text is None else f"a {type(text).__name__}"
        msg = f"the index {index!r} gives {got} as {TEXT!r} of a document, wanted a string; {_ANEW}"
        raise ConfigurationError(msg)


def holds_documents(store: Any) -> bool:
    """
    Tell whether an index holds any document.

    :param store: An ElasticsearchDocumentStore.
    :returns: Whether it does.
    :raises StoreError: When the server cannot be reached.
    """
    with elasticsearch_client(store) as client:
        return bool(client.count(index=server_of(store).index, terminate_after=1)["count"])


def check_vectors(fields: Fields) -> None:
    """
    Refuse vectors that Elasticsearch keeps without searching them: it would refuse every question.

    :param fields: What `fields_of` gave.
    :raises ConfigurationError: Naming the way out.
    """
    for one in vectors_of(fields):
        if one.get("type") != "dense_vector" or not one.get("index", True):
            msg = (
                f"the field {VECTOR!r} of this index cannot be searched by vectors, wanted a dense_vector that is "
                f"indexed, but got the type {one.get('type')}; index into another one by `crag index`"
            )
            raise ConfigurationError(msg)


def check_numbers(fields: Fields) -> None:
    """
    Refuse vectors of whole numbers where the question's has fractions: Elasticsearch would refuse every question.

    :param fields: What `fields_of` gave.
    :raises ConfigurationError: Naming the way out.
    """
    for one in vectors_of(fields):
        if (kind := one.get("element_type", "float")) in _OF_WHOLE_NUMBERS:
            msg = (
                f"the field {VECTOR!r} of this index holds vectors of the element_type {kind}, and the question's has "
                'fractions; name an embedder that gives whole numbers, by dense={"text_embedder": ...} of `load`, or '
                "index the documents anew with `crag index`"
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
