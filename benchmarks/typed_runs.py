"""
Whole runs of `corrective_retrieval` for questions as people type them: is the answering document in the final evidence?

    python benchmarks/typed_runs.py DATASETS [--limit 40]

In memory, uncalibrated, over 2,500 documents of each corpus and all of the fixed lists; only questions that the first
five documents of their fixed list answer. Asked as in the data, with courtesies in front and behind, and in some
of the ways of `as_typed.TYPED`. An abstention is wrong for all of them.
"""

import argparse
import random
from collections.abc import Callable, Iterable
from pathlib import Path

from as_typed import FIRST, TYPED, small
from common import embedded_store
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.pipelines import load

SETS = ("covidqa", "clapnq", "popqa")
_CORPUS = 2_500
_FRONT = ("Hi, could you please tell me ", "According to our documents, ")
_BEHIND = (
    " Thanks in advance!",
    "\nExplain step by step, use bullet points and give me the sources.",
    " Answer in one short sentence.",
)
WAYS: dict[str, Callable[[str, random.Random], str]] = {
    "plain": lambda question, _: question,
    "courtesies": lambda question, chance: chance.choice(_FRONT) + small(question) + chance.choice(_BEHIND),
    **{name: TYPED[name] for name in ("chatter", "log above", "mail", "address")},
}


def store_of(data: Dataset, cases: Iterable[Case]) -> InMemoryDocumentStore:
    """Fill a store with some documents of a corpus, and all of the fixed lists of these questions."""
    drawn = random.Random(2).sample(list(data.passages), min(_CORPUS, len(data.passages)))
    wanted = {*drawn, *(id_ for case in cases for id_ in case.fixed.retrieved)}
    documents = [passage.document() for id_, passage in data.passages.items() if id_ in wanted]
    return embedded_store(documents)


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    asked = parser.parse_args()
    for name in SETS:
        data = read_dataset(asked.datasets / name, "dev")
        cases = [c for c in data.ordered if c.strict and c.fixed and data.truth(c, c.fixed, FIRST) == "correct"]
        random.Random(1).shuffle(cases)
        cases = cases[: asked.limit]
        rag = load("corrective_retrieval", store=store_of(data, cases))
        for way, typed in WAYS.items():
            chance, found, abstained, words = random.Random(5), 0, 0, 0
            for case in cases:
                result = rag.run(query=typed(case.question, chance))
                found += not {document.id for document in result["documents"]}.isdisjoint(case.gold)
                abstained += result["crag"]["action"] == "abstain"
                words += sum(len((document.content or "").split()) for document in result["documents"])
            told = f"in the evidence {found}, abstained {abstained}, words {words // len(cases)}"
            print(f"{name:8} {way:10} of {len(cases)}: {told}", flush=True)


if __name__ == "__main__":
    main()
