"""What `crag doctor` looks at on Elasticsearch."""

import json
from collections.abc import Iterator
from typing import Any, Final

from haystack_integrations.crag.cli.check import Check, waited
from haystack_integrations.crag.elasticsearch.reaching import WITHOUT_SHARDS
from haystack_integrations.crag.elasticsearch.requests import OF_WORDS, TEXT
from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.pipelines.contents import MADE_BY
from haystack_integrations.crag.pipelines.identity import identity_of
from haystack_integrations.crag.pipelines.index_fields import VECTOR, check_text, check_vectors, fields_of
from haystack_integrations.crag.pipelines.vectors import BY_WORDS_ONLY, size_of, without_vectors
from haystack_integrations.crag.store_profiles import display_url, elasticsearch_client, server_of

_ALIKE: Final = 0.75  # of 0 to 1, as Elasticsearch scores; vectors of two models are at 0.5, also to the same text
_BLOCKS: Final = "index.blocks."
_OTHER_MODEL: Final = (
    "name the text embedder that wrote the documents in a YAML of your own, as `crag pipelines export` writes one, or "
    "index anew with `crag index` into another index"
)
_NUMBERS: Final = ("byte", "short", "integer", "long", "unsigned_long", "half_float", "float", "double", "scaled_float")
_WHOLE: Final = ("constant_keyword", "wildcard")
# Types that a filter compares alike, by one of them.
_FAMILIES: Final = {
    **dict.fromkeys(_NUMBERS, "number"),
    **dict.fromkeys(_WHOLE, "keyword"),
    **dict.fromkeys(OF_WORDS, "text"),
}
_PARTIAL: Final = "search.default_allow_partial_results"


def store_checks(store: Any) -> Iterator[Check]:
    """
    Look at the server, then at the index; without the server there is nothing more to say.

    :param store: An ElasticsearchDocumentStore.
    :returns: An iterator of checks.
    """
    server = waited("elasticsearch", lambda: _server(store))
    yield server
    if server.status == "ok":
        yield waited("index", lambda: _index(store))
        passages = waited("passages", lambda: _passages(store))
        if passages.status == "info":  # what the server refuses, the other checks tell
            yield passages
        yield waited("vectors", lambda: _vectors(store))
        yield waited("partial results", lambda: _partial_results(store))


def _server(store: Any) -> Check:
    url = display_url(server_of(store).hosts)
    with elasticsearch_client(store) as client:
        number = client.info()["version"]["number"]
    if not number.startswith("8."):
        fix = "this package's client supports Elasticsearch 8: use 8.19, as in docker-compose.yml"
        return Check("elasticsearch", "warning", f"version {number} at {url}", fix)
    return Check("elasticsearch", "ok", f"version {number} at {url}")


def _index(store: Any) -> Check:
    place = server_of(store)
    name, url = place.index, display_url(place.hosts)
    command = f"crag index PATH --store elasticsearch --url {url} --index {name}"
    with elasticsearch_client(store) as client:
        if not client.indices.exists(index=name):
            return Check("index", "error", f"{name!r} does not exist", f"make it with `{command}`")
        found = client.indices.get_mapping(index=name).body
        settings = client.indices.get_settings(index=name, name=f"{_BLOCKS}*", flat_settings=True).body
        counted = client.count(index=name)
    mappings, held, count, shards = found.values(), f"{name!r}", counted["count"], counted["_shards"]
    if [*found] != [name]:
        held += f" (alias of {', '.join(sorted(found))})"
    ours = all((mapping["mappings"].get("_meta") or {}).get("crag") for mapping in mappings)
    check_text(store, [mapping["mappings"].get("properties", {}) for mapping in mappings])
    if shards["failed"]:
        lost = f"{held}: {shards['failed']} of {shards['total']} shards do not answer"
        return Check("index", "error", lost, WITHOUT_SHARDS)
    blocks = {block for index in settings.values() for block, on in index["settings"].items() if str(on) == "true"}
    if blocks:
        lost = f"{held}: {count:,} documents, and takes no more ({min(blocks)})"
        return Check("index", "warning", lost, _lifting(blocks, f"{_node(url)}/{name}"))
    if unlike := _unlike([mapping["mappings"].get("properties", {}) for mapping in mappings]):
        fix = "index them anew under one mapping: filters on these fields miss documents of one index, or let them pass"
        return Check("index", "warning", f"{held}: {count:,} documents, whose fields {unlike} differ in type", fix)
    if not ours:
        fix = (
            f"index into a new one: `{command.rpartition(' ')[0]} ANOTHER_NAME`; here each document found comes with "
            "its vector, which takes time, and Haystack's own retrievers search metadata, too"
        )
        return Check("index", "warning", f"{held}: {count:,} documents, made without this package's mapping", fix)
    if not count:
        return Check("index", "warning", f"{held} is empty", f"fill it with `{command}`")
    return Check("index", "ok", f"{held}: {count:,} documents, mapping of this package")


def _node(url: str) -> str:
    """Give the address to ask of a cluster, whose nodes stand in it with commas between: any of them will do."""
    return url.partition(",")[0]


def _unlike(fields: list[dict[str, Any]]) -> list[str]:
    """Name the fields that an alias's indices compare in different ways: no filter is right for all of them."""
    kinds: dict[str, set[str]] = {}
    for name, one in (field for index in fields for field in index.items()):
        kind = one.get("type", "object")
        kinds.setdefault(name, set()).add(_FAMILIES.get(kind, kind))
    return sorted(name for name, those in kinds.items() if len(those) > 1)


def _passages(store: Any) -> Check:
    """Count what another version of `crag index` made of files: after an upgrade nothing else asks to index again."""
    of_files, ours = {"exists": {"field": "source_sha256"}}, {"match": {MADE_BY: identity_of("indexing")}}
    query = {"bool": {"filter": [of_files], "must_not": [ours]}}
    with elasticsearch_client(store) as client:
        others = client.count(index=server_of(store).index, query=query, ignore_unavailable=True)["count"]
    if not others:
        return Check("passages", "ok", "as `crag index` of this version makes them")
    fix = (
        "run `crag index` over the same files again, and upload again what was uploaded; those of an indexing "
        "pipeline of your own count here, too, and need neither"
    )
    return Check("passages", "info", f"{others:,} are not as `crag index` of this version makes them", fix)


def _lifting(blocks: set[str], place: str) -> str:
    body = json.dumps(dict.fromkeys(sorted(blocks)))
    return (
        "free disk space on the server, which blocks writing when short of it; else lift it by `curl -X PUT "
        f"{place}/_settings -H 'Content-Type: application/json' -d '{body}'`"
    )


def _vectors(store: Any) -> Check:
    fields = fields_of(store)
    if not fields:
        return Check("vectors", "info", "none: there is no index yet")
    check_vectors(fields)
    stored, asked = size_of(fields), load_encoder().dimension
    if stored is None:
        return Check("vectors", "info", "no document has one, so documents are found by keywords only")
    if stored != asked:
        found = f"of {stored} dimensions, but the shipped pipelines search with {asked}"
        return Check("vectors", "warning", found, _OTHER_MODEL)
    if not _are_ours(store):
        found = f"of {stored} dimensions, but of another model than the one with which the shipped pipelines search"
        return Check("vectors", "warning", found, _OTHER_MODEL)
    lacking, documents = without_vectors(store)
    if lacking:
        return Check("vectors", "warning", f"{lacking:,} of {documents:,} documents have none", BY_WORDS_ONLY)
    return Check("vectors", "ok", f"of {stored} dimensions, as in the shipped pipelines")


def _are_ours(store: Any) -> bool:
    """Ask by the texts of three documents: their own vectors are next to ours where one model wrote both."""
    index, kept = server_of(store).index, [{"exists": {"field": name}} for name in (TEXT, VECTOR)]
    scores = []
    with elasticsearch_client(store) as client:
        asked = dict[str, Any](index=index, size=3, source={"includes": [TEXT]}, query={"bool": {"filter": kept}})
        hits = client.search(**asked)["hits"]["hits"]
        texts = {hit["_id"]: text for hit in hits if isinstance(text := hit.get("_source", {}).get(TEXT), str)}
        for found, vector in zip(texts, load_encoder().encode([*texts.values()]), strict=True):
            knn = {"field": VECTOR, "query_vector": vector.tolist(), "k": 1, "num_candidates": 10}
            knn["filter"] = {"ids": {"values": [found]}}
            if vector.any():  # of a text without a known word there is none
                scores += [one["_score"] for one in client.search(index=index, knn=knn, source=False)["hits"]["hits"]]
    return not scores or max(scores) >= _ALIKE


def _partial_results(store: Any) -> Check:
    url = display_url(server_of(store).hosts)
    with elasticsearch_client(store) as client:
        answer = client.cluster.get_settings(flat_settings=True, include_defaults=True)
    values = {**answer.get("defaults", {}), **answer["persistent"], **answer["transient"]}
    if str(values.get(_PARTIAL, "true")).lower() == "false":
        return Check("partial results", "ok", "off: a shard that does not answer is an error, not a shorter list")
    body = json.dumps({"persistent": {_PARTIAL: False}})
    fix = f"curl -X PUT {_node(url)}/_cluster/settings -H 'Content-Type: application/json' -d '{body}'"
    return Check("partial results", "warning", "on: a shard that does not answer silently shortens results", fix)
