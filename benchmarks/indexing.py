"""Documents per second into Elasticsearch: `crag index` beside `elasticsearch.helpers.parallel_bulk`, in one run.

    python benchmarks/indexing.py --url http://127.0.0.1:9200 --documents 20000 corpus.jsonl

`parallel_bulk` gets the same documents ready made, vectors included, as a list of actions; `index` starts from the
JSON Lines file and also reads, hashes, embeds, and asks what is there already. Each contender writes into a fresh index
with the same mapping and ends with a refresh. The order turns by one from round to round, so that none of them always
meets the server cold or busy with merging.
"""

import argparse
import gc
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from uuid import uuid4

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk
from elasticsearch.serializer import OrjsonSerializer

from haystack_integrations.crag.pipelines.contents import Source
from haystack_integrations.crag.pipelines.conversion import Converter
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.sources import find, read
from haystack_integrations.crag.store_profiles import open_store, prepare


def ready_actions(corpus: Path) -> list[dict]:
    """Give the actions that `ElasticsearchDocumentStore.write_documents` would make, vectors included."""
    sources = [found for found in read(find(corpus, corpus.parent)) if isinstance(found, Source)]
    actions = []
    for result in Converter("indexing", None).records(sources):
        fields = result[0].to_dict()
        fields = {name: value for name, value in fields.items() if value is not None or name == "content"}
        actions.append({"_op_type": "index", "_id": fields["id"], "_source": fields})
    return actions


@contextmanager
def fresh_store(url: str) -> Iterator:
    """Give a store whose index is empty and has our mapping, and delete the index afterwards."""
    store = open_store("elasticsearch", url, f"crag-benchmark-{uuid4().hex}")
    prepare(store)
    try:
        yield store
    finally:
        with Elasticsearch(url) as client:
            client.indices.delete(index=store.to_dict()["init_parameters"]["index"])
        store.close()


def with_index(url: str, corpus: Path) -> tuple[int, float]:
    """Measure `index`."""
    with fresh_store(url) as store:
        started = time.perf_counter()
        report = index(corpus, store, base=corpus.parent)
        return report.documents_written, time.perf_counter() - started


def with_parallel_bulk(url: str, actions: list[dict], *, orjson: bool) -> tuple[int, float]:
    """Measure `parallel_bulk` with its default threads and chunks."""
    options = {"serializer": OrjsonSerializer()} if orjson else {}
    with fresh_store(url) as store, Elasticsearch(url, request_timeout=60, **options) as client:
        name = store.to_dict()["init_parameters"]["index"]
        started = time.perf_counter()
        written = sum(ok for ok, _ in parallel_bulk(client, actions, index=name))
        client.indices.refresh(index=name)
        return written, time.perf_counter() - started


def measure(
    contenders: dict[str, Callable[[], tuple[int, float]]], rounds: int, expected: int
) -> dict[str, list[float]]:
    """Run all contenders in each round, in an order that turns; gives documents per second."""
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            written, seconds = contenders[name]()
            if written != expected:
                msg = f"{name} wrote {written} documents instead of {expected}; the figures would compare nothing"
                raise SystemExit(msg)
            rates[name].append(written / seconds)
            print(f"round {number + 1}  {name:<28} {rates[name][-1]:8.0f} documents/s", flush=True)
    return rates


def main() -> None:
    """Measure, and print the medians and their ratios."""
    parser = argparse.ArgumentParser(description="Documents per second: `crag index` beside `parallel_bulk`.")
    parser.add_argument("corpus", type=Path, help="JSON Lines file with id, title and text")
    parser.add_argument("--url", default=os.environ.get("ELASTICSEARCH_URL"), help="Elasticsearch server")
    parser.add_argument("--documents", type=int, default=20_000, help="how many of the corpus to write")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print the result as JSON too")
    options = parser.parse_args()
    if not options.url:
        parser.error("no server: pass --url http://HOST:PORT, or set ELASTICSEARCH_URL")
    with tempfile.TemporaryDirectory() as folder, options.corpus.open("rb") as lines:
        corpus = Path(folder, "corpus.jsonl")
        corpus.write_bytes(b"".join(islice(lines, options.documents)))
        actions = ready_actions(corpus)  # also loads the model, which no contender is charged for
        gc.freeze()  # nor for the garbage collector's walks through the other's documents
        contenders = {
            "index()": lambda: with_index(options.url, corpus),
            "parallel_bulk": lambda: with_parallel_bulk(options.url, actions, orjson=False),
            "parallel_bulk, orjson": lambda: with_parallel_bulk(options.url, actions, orjson=True),
        }
        rates = measure(contenders, options.rounds, len(actions))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"\n{len(actions)} documents, {options.rounds} rounds, {machine}")
    for name, rate in medians.items():
        ratio = medians["index()"] / rate
        print(f"{name:<28} {rate:8.0f} documents/s (median)   index() / this: {ratio:.2f}")
    if options.json:
        print(json.dumps({"documents": len(actions), "rates": rates, "medians": medians}))


if __name__ == "__main__":
    main()
