"""
Hybrid retrieval on Elasticsearch at two sizes, beside ElasticsearchHybridRetriever with its stock settings, in one run.

    python benchmarks/hybrid_retrieval.py --url http://127.0.0.1:9200 CORPUS.jsonl... [--small 20000] [--large 100000]

The texts are passages of the corpora, repeated with other words mixed in until there are enough of them; the questions
come from the questions files beside the corpora (`dev/queries.jsonl`). The stock side has the stock mapping, stock
retrievers and the same embeddings; both sides are timed in turn, question by question.
"""

import argparse
import itertools
import random
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import corpus, p50, paired, questions
from elasticsearch import helpers
from elasticsearch.serializer import OrjsonSerializer
from haystack import Document, Pipeline

from haystack_integrations.components.retrievers.elasticsearch import ElasticsearchHybridRetriever
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.components.stop_word_remover import StopWordRemover
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.placing import place_on
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore


def passages(paths: list[Path], count: int) -> Iterator[Document]:
    """As many passages as asked for; repeats have a fifth of their words taken from another passage."""
    originals = [document for path in paths for document in corpus(path)]
    rng = random.Random(7)
    yield from originals[:count]
    for number in range(max(0, count - len(originals))):
        text, other = (rng.choice(originals).content.split() for _ in range(2))
        mixed = [rng.choice(other) if rng.random() < 0.2 else word for word in text]
        yield Document(id=f"mixed-{number}", content=" ".join(mixed), meta={"title": "mixed"})


def batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    """Embedded documents in batches."""
    embedder = StaticDocumentEmbedder()
    while batch := list(itertools.islice(documents, 2000)):
        yield embedder.run(documents=batch)["documents"]


def fill(stores: list[Any], paths: list[Path], count: int) -> None:
    """Write the same documents into each store's index."""
    for batch in batches(passages(paths, count)):
        for store in stores:
            index = store.to_dict()["init_parameters"]["index"]
            with elasticsearch_client(store, request_timeout=120, serializer=OrjsonSerializer()) as client:
                actions = (
                    {"_index": index, "_id": d.id, "_source": {k: v for k, v in d.to_dict().items() if v is not None}}
                    for d in batch
                )
                helpers.bulk(client, actions, refresh=False)
    for store in stores:
        index = store.to_dict()["init_parameters"]["index"]
        with elasticsearch_client(store, request_timeout=300) as client:
            client.indices.refresh(index=index)
            client.indices.forcemerge(index=index, max_num_segments=1)


def ours(store: Any) -> Pipeline:
    """The retrieval leg of the shipped pipelines."""
    spec, parts = place_on(read("corrective_rag"), store, given=set(), changes={})
    pipeline = Pipeline()
    pipeline.add_component("keywords", StopWordRemover())
    pipeline.add_component("bm25", parts["bm25"])
    pipeline.add_component("dense", parts["dense"])
    pipeline.add_component("fuse", EvidenceJoiner(**spec["components"]["fuse"]["init_parameters"]))
    pipeline.connect("keywords.query", "bm25.query")
    pipeline.connect("bm25.documents", "fuse.bm25")
    pipeline.connect("dense.documents", "fuse.dense")
    return pipeline


def measure(url: str, paths: list[Path], count: int, asked: list[str], rounds: int) -> tuple[float, float]:
    """Index `count` documents twice and time both retrievals; gives both medians in milliseconds."""
    name = f"hybrid-{uuid.uuid4().hex[:8]}"
    mine = open_store("elasticsearch", url, name)
    prepare(mine)
    stock = ElasticsearchDocumentStore(hosts=url, index=f"{name}-stock", request_timeout=120)
    stock.count_documents()
    try:
        start = time.perf_counter()
        fill([mine, stock], paths, count)
        print(f"{count} documents indexed twice in {time.perf_counter() - start:.0f} s", flush=True)
        pipeline, hybrid = ours(mine), ElasticsearchHybridRetriever(stock, embedder=StaticTextEmbedder())
        hybrid.warm_up()

        def our_way(number: int) -> None:
            text = asked[number % len(asked)]
            assert pipeline.run({"keywords": {"query": text}, "dense": {"query": text}})["fuse"]["documents"]

        def stock_way(number: int) -> None:
            assert hybrid.run(query=asked[number % len(asked)])["documents"]

        a, b = paired([our_way, stock_way], rounds, warm=30)
        return p50(a), p50(b)
    finally:
        with elasticsearch_client(mine) as client:
            client.options(ignore_status=404).indices.delete(index=[name, f"{name}-stock"])
        mine.close()
        stock.close()


def main() -> None:
    """Measure both sizes and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--small", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    asked = [q["question"] for path in options.corpora for q in questions(path.parent / "dev" / "queries.jsonl")]
    random.Random(3).shuffle(asked)
    small = measure(options.url, options.corpora, options.small, asked, options.rounds)
    large = measure(options.url, options.corpora, options.large, asked, options.rounds)
    for count, (mine, stock) in ((options.small, small), (options.large, large)):
        print(
            f"{count} documents: ours p50 {mine:.1f} ms, stock hybrid p50 {stock:.1f} ms, {stock / mine:.1f} x faster"
        )
    print(f"growth {large[0] / small[0]:.2f} (goal <= 1.3); faster than stock {large[1] / large[0]:.1f} x (goal >= 3)")


if __name__ == "__main__":
    main()
