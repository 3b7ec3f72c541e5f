"""Three Elasticsearch nodes on loopback: searches with shards, copies and a lost node; indexing by several processes.

    python benchmarks/cluster.py search            # queries per second, p50, p95; before and after a kill
    python benchmarks/cluster.py index             # documents per second, one process beside two
    python benchmarks/cluster.py index --files     # the same from HTML files, where conversion costs most

The nodes and the questioners share one machine, so the figures compare set-ups with each other; they are no one's
capacity. A question is what a pipeline asks of the store: one search by words and one by vector. Texts are made up
from 5,000 words with a Zipf distribution, the same in every run.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from cluster import Cluster, start_cluster
from haystack import Document

from haystack_integrations.crag.components.elasticsearch_retrievers import (
    ReportingBM25Retriever,
    ReportingEmbeddingRetriever,
)
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.pipelines.bulk import open_bulk
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare

_WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ru", "te") for b in "bdfghjklmn" for c in map(str, range(100))]
_LENGTH = 120
_WORST = ["ok", "incomplete", "failed"]


def text(chance: random.Random, length: int = _LENGTH) -> str:
    """Give a text of so many words, the first of the list most often."""
    picked = chance.choices(_WORDS, weights=[1 / (rank + 3) for rank in range(len(_WORDS))], k=length)
    return " ".join(picked)


@contextmanager
def fresh_store(nodes: Cluster, shards: int, replicas: int) -> Iterator[Any]:
    """Give a store on an empty index, and delete the index afterwards."""
    store = open_store("elasticsearch", ",".join(nodes.urls), f"crag-benchmark-{uuid4().hex}")
    prepare(store, number_of_shards=shards, number_of_replicas=replicas)
    try:
        yield store
    finally:
        with elasticsearch_client(store, request_timeout=60) as client:
            client.indices.delete(index=store._index)
        store.close()


def search(nodes: Cluster, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure each set-up, whole and with a node killed."""
    chance = random.Random(7)
    documents = [Document(id=str(number), content=text(chance)) for number in range(options.documents)]
    documents = StaticDocumentEmbedder().run(documents=documents)["documents"]
    questions = [text(chance, 8) for _ in range(200)]
    vectors = [StaticTextEmbedder().run(text=one)["embedding"] for one in questions]
    rows = []
    for shards, replicas in ((1, 0), (1, 1), (3, 0), (3, 1)):
        with fresh_store(nodes, shards, replicas) as store:
            with open_bulk(store) as bulk:
                for start in range(0, len(documents), 512):
                    bulk.write(documents[start : start + 512]).result()
                bulk.finish()
            nodes.wait(len(nodes.nodes), "green")
            setup = {"shards": shards, "replicas": replicas, "megabytes": size_of(store)}
            load(store, questions, vectors, options.threads, options.seconds)  # warm
            rows.append({**setup, "nodes": 3, **load(store, questions, vectors, options.threads, options.seconds)})
            holder_of_a_shard(nodes, store).kill()  # a node without any would prove nothing
            rows.append({**setup, "nodes": 2, **load(store, questions, vectors, options.threads, options.seconds)})
            print(*map(json.dumps, rows[-2:]), sep="\n", flush=True)
            nodes.heal()
    return rows


def size_of(store: Any) -> float:
    """Tell what the index takes on disks, without copies: theirs is known some seconds later only."""
    with elasticsearch_client(store) as client:
        own = client.indices.stats(index=store._index, metric="store")["_all"]["primaries"]
    return round(own["store"]["size_in_bytes"] / 1e6, 1)


def holder_of_a_shard(nodes: Cluster, store: Any) -> Any:
    """Find a node that holds a primary shard of the index."""
    with elasticsearch_client(store) as client:
        holders = {one["node"] for one in client.cat.shards(index=store._index, format="json") if one["prirep"] == "p"}
    return next(node for node in nodes.nodes if node.name in holders)


def load(store: Any, questions: list[str], vectors: list[Any], threads: int, seconds: float) -> dict[str, Any]:
    """Ask with so many threads at once, each the next question as soon as the last is answered."""
    by_words = ReportingBM25Retriever(document_store=store)
    by_vector = ReportingEmbeddingRetriever(document_store=store)
    ends = time.perf_counter() + seconds

    def ask(first: int) -> tuple[list[float], Counter[str]]:
        times, statuses, number = [], Counter[str](), first
        while (start := time.perf_counter()) < ends:
            which = number % len(questions)
            found = [by_words.run(query=questions[which]), by_vector.run(query_embedding=vectors[which])]
            times.append(1000 * (time.perf_counter() - start))
            statuses[max((one["report"]["status"] for one in found), key=_WORST.index)] += 1
            number += threads
        return times, statuses

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(ask, range(threads)))
    times = sorted(time_ for part, _ in parts for time_ in part)
    statuses = sum((part for _, part in parts), Counter[str]())
    cuts = statistics.quantiles(times, n=100)
    rate = {"per_second": round(len(times) / seconds, 1), "p50_ms": round(cuts[49], 1), "p95_ms": round(cuts[94], 1)}
    return {**rate, **statuses}


def indexing(nodes: Cluster, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one process and several, each on an empty index, in turn."""
    rates: dict[int, list[float]] = {1: [], options.workers: []}
    with tempfile.TemporaryDirectory() as folder:
        count = corpus(Path(folder), options)
        for _ in range(options.rounds):
            for workers, found in rates.items():
                with fresh_store(nodes, 3, 0) as store:
                    written, seconds = run_workers(nodes, store, folder, workers)
                    assert written == count, f"{workers} workers wrote {written} of {count} documents"
                    found.append(written / seconds)
                    print(f"{workers} processes: {written / seconds:.0f} documents/s", flush=True)
    medians = {workers: statistics.median(values) for workers, values in rates.items()}
    print(f"{count} documents; medians {medians}; ratio {medians[options.workers] / medians[1]:.2f}")
    return [{"workers": workers, "documents_per_second": round(rate)} for workers, rate in medians.items()]


def corpus(folder: Path, options: argparse.Namespace) -> int:
    """Write records, or pages of HTML of two passages each; gives the number of documents that they become."""
    chance = random.Random(7)
    if options.files:
        for number in range(options.documents // 2):
            noise = "<nav>" + "<a href='/x'>home</a>" * 40 + "</nav>"
            parts = "".join(f"<p>{text(chance, 150)}</p>" for _ in range(2))
            (folder / f"{number}.html").write_text(f"<html><body>{noise}<main>{parts}</main></body></html>")
        return options.documents // 2 * 2
    lines = (json.dumps({"id": str(number), "text": text(chance)}) for number in range(options.documents))
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    return int(options.documents)


def run_workers(nodes: Cluster, store: Any, folder: str, workers: int) -> tuple[int, float]:
    """Index as a user would; the time is that of the slowest worker, without starting Python."""
    base = [str(Path(sys.executable).with_name("crag")), "index", folder, "--store", "elasticsearch", "--base", folder]
    base += ["--url", ",".join(nodes.urls), "--index", store._index, "--json"]
    started = [
        subprocess.Popen([*base, "--shard", f"{number}/{workers}"], stdout=subprocess.PIPE, text=True)
        for number in range(1, workers + 1)
    ]
    reports = [json.loads(process.communicate()[0]) for process in started]
    return sum(report["documents_written"] for report in reports), max(report["seconds"] for report in reports)


def main() -> None:
    """Start the nodes, measure, and print a row for each set-up."""
    parser = argparse.ArgumentParser(description="Searches and indexing on three Elasticsearch nodes.")
    parser.add_argument("what", choices=["search", "index"])
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--seconds", type=float, default=15, help="of each measurement of searches")
    parser.add_argument("--threads", type=int, default=4, help="questions at a time")
    parser.add_argument("--workers", type=int, default=2, help="processes beside one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", action="store_true", help="index HTML files instead of records")
    options = parser.parse_args()
    with start_cluster() as nodes:
        rows = search(nodes, options) if options.what == "search" else indexing(nodes, options)
    print(json.dumps({"cores": os.cpu_count(), "load": os.getloadavg(), "rows": rows}))


if __name__ == "__main__":
    main()
