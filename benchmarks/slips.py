"""
Questions with a slip of the keyboard, searched for by words on Elasticsearch.

    python benchmarks/slips.py DATASETS --url URL [--limit 100]

Questions whose fixed list answers, in 6,000 passages of each corpus and those of the lists: how often a document that
answers is among the first five, and the wall time of a search, without and with a second search for what the index has
in the place of words that it does not have. The slips are those of `as_typed.py`.
"""

import argparse
import random
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from unittest.mock import patch

from as_typed import TYPED
from common import filled
from haystack import Document

from haystack_integrations.crag.components import StopWordRemover
from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.elasticsearch import spelling
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.reading import read_dataset

SETS, WAYS = ("popqa", "clapnq", "covidqa", "scifact"), ("plain", *(way for way in TYPED if "letter" in way))
FIRST, PASSAGES = 5, 6_000


def passages(data: Dataset, cases: Sequence[Case]) -> list[Document]:
    """Choose passages of the corpus, and those of the lists."""
    wanted = {*sorted(data.passages)[:PASSAGES], *(name for case in cases for name in case.fixed.retrieved)}
    return [data.passages[name].document() for name in sorted(wanted)]


def searched(retriever: ReportingBM25Retriever, cases: Sequence[Case], way: str) -> str:
    """Search for all questions; says how many were found, how many were searched for twice, and how long it took."""
    chance, keywords, hits, twice, took = random.Random(3), StopWordRemover(), 0, 0, 0.0
    for case in cases:
        asked = keywords.run(TYPED[way](case.question, chance))["query"]
        began = time.perf_counter()
        found = retriever.run(query=asked)
        took += time.perf_counter() - began
        hits += any(document.id in case.gold for document in found["documents"])
        twice += "respelt" in found["report"]
    return f"found {hits:3} twice {twice:3} {1000 * took / len(cases):4.1f} ms"


def main() -> None:
    """Index, search, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--limit", type=int, default=100)
    asked = parser.parse_args()
    to_the_letter = partial(patch.object, spelling, "_unknown", return_value=[])
    for name in SETS:
        data = read_dataset(asked.datasets / name, "dev")
        able = [case for case in data.ordered if case.strict and case.fixed]
        cases = [case for case in able if data.truth(case, case.fixed, FIRST) == "correct"]
        random.Random(5).shuffle(cases)
        cases = cases[: asked.limit]
        with filled(asked.url, passages(data, cases)) as store:
            retriever = ReportingBM25Retriever(document_store=store, fuzziness="0", top_k=FIRST)
            retriever.warm_up()
            searched(retriever, cases, "plain")  # the server's first searches are slow
            for way in WAYS:
                told = []
                for how in (to_the_letter, nullcontext):
                    with how():
                        told.append(searched(retriever, cases, way))
                print(f"{name:8} {way:17} {told[0]}  ->  {told[1]}  of {len(cases)}", flush=True)


if __name__ == "__main__":
    main()
