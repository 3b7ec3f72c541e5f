"""
Does the filter keep the second of two hops? Lists that stay whole, without `judging/rules/hops.py` and with it.

    python benchmarks/second_hops.py DATASETS [--limit 400]

The first ten documents of the fixed lists, uncalibrated, filtered as `corrective_retrieval` does it: beside a document
of 0.3 those of 0.2 are kept. A list is whole if the filter keeps all needed documents that it has. `needed` and `not`
are the documents that are kept by the rule alone.
"""

import argparse
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from haystack import Document
from short_lists import SETS

from haystack_integrations.crag.encoding.encoders import load_encoder
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.evaluation.training import corpus_statistics
from haystack_integrations.crag.judging import grading, judge
from haystack_integrations.crag.judging.asking import Frequencies
from haystack_integrations.crag.judging.calibration import load_calibration
from haystack_integrations.crag.judging.reading import Reader

_FILTER, _BESIDE, _LISTED = 0.3, 0.2, 10


def main() -> None:
    """Judge each list twice, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=400)
    asked = parser.parse_args()
    calibration, reader = load_calibration(None), Reader(load_encoder())
    for name in SETS:
        data = read_dataset(asked.datasets / name, "dev")
        known, count = corpus_statistics(data), Counter[str]()

        def kept(question: str, documents: list[Document], known: Frequencies = known) -> set[str]:
            graded = grading.grade(question, documents, (), calibration, reader, lambda _: known, "title")
            least = _BESIDE if max(graded.scores) >= _FILTER else 1.1
            return {one.id for one, score in zip(documents, graded.scores, strict=True) if score >= least}

        for case in [case for case in data.ordered if case.fixed and case.gold][: asked.limit]:
            ids = case.fixed.retrieved[:_LISTED]  # type: ignore[union-attr]
            documents = [data.passages[id_].document() for id_ in ids]
            after = kept(case.question, documents)
            with patch.object(judge, "with_hops", lambda likely, *_: likely):
                before = kept(case.question, documents)
            needed = set(case.gold).intersection(ids)
            count["lists"] += 1
            count["before"] += needed <= before
            count["after"] += needed <= after
            count["needed"] += len((after - before) & needed)
            count["not"] += len(after - before - needed)
        told = f"whole {count['before']} -> {count['after']}; by the rule needed {count['needed']}, not {count['not']}"
        print(f"{name:8} of {count['lists']}: {told}", flush=True)


if __name__ == "__main__":
    main()
