"""
Whether a title before each passage helps to find it: hit@k of BM25 in memory, as `crag index` writes files.

    python benchmarks/passage_titles.py /path/to/datasets [--questions 300]

Text alone, and below its title (`PassageTitler`), of the public sets whose documents have titles.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components import PassageTitler
from haystack_integrations.crag.evaluation.cases import Case
from haystack_integrations.crag.evaluation.reading import read_dataset

SETS = ("popqa", "hotpotqa", "clapnq", "scifact", "covidqa")
KS = (1, 5, 10)


def hits(documents: Sequence[Document], cases: Sequence[Case]) -> list[float]:
    """Tell for each k the share of questions with a document that answers among the first k."""
    store = InMemoryDocumentStore()
    store.write_documents(list(documents))
    found = [[one.meta["key"] for one in store.bm25_retrieval(case.question, top_k=max(KS))] for case in cases]
    return [
        sum(not set(case.gold).isdisjoint(keys[:k]) for case, keys in zip(cases, found, strict=True)) / len(cases)
        for k in KS
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    for name in SETS:
        data = read_dataset(options.datasets / name, "dev")
        passages = [one for one in data.passages.values() if one.title]
        plain = [Document(content=one.text, meta={"title": one.title, "key": one.id}) for one in passages]
        cases = [case for case in data.ordered if case.gold][: options.questions]
        for how, documents in (("text alone", plain), ("below its title", PassageTitler().run(plain)["documents"])):
            shares = ", ".join(f"hit@{k} {share:.3f}" for k, share in zip(KS, hits(documents, cases), strict=True))
            print(f"{name:9} n={len(cases)} {how:16} {shares}", flush=True)


if __name__ == "__main__":
    main()
