"""
Questions that name something with marks (Rašín, Müller), typed without them (Rasin) and spelt out (Mueller).

    python benchmarks/marks.py DATASETS --url URL

Judged uncalibrated, popqa and hotpotqa, the first five documents of the fixed lists with the statistics of their
corpus: how many verdicts are other ones than with the marks, and how many questions that their documents answer became
`incorrect`. Searched by words on Elasticsearch, popqa, in 4,000 passages and those of the lists: how often a document
that answers is among the first five, in an index as `crag index` makes it and in one without its analysis.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from common import filled
from several_questions import grading_of

from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.evaluation.cases import Case, Dataset
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.texts.languages.spelling import one_spelling

FIRST, AROUND = 5, 4_000
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "ø": "oe"})


def bare(question: str) -> str:
    """Leave the marks out; capitals stay."""
    return "".join(one_spelling(sign.lower()).upper() if sign.isupper() else one_spelling(sign) for sign in question)


WAYS: dict[str, Callable[[str], str]] = {
    "with marks": str,
    "without": bare,
    "spelt out": lambda question: bare(question.translate(_SPELT_OUT)),
}


def judged(data: Dataset, cases: Sequence[Case]) -> None:
    """Print what becomes of the verdicts."""
    grade, found = grading_of(data), dict[str, list[str]]()
    for name, way in WAYS.items():
        reports = (grade(way(case.question), case.fixed.retrieved[:FIRST]).report for case in cases)
        found[name] = [report["verdict"]["verdict"] for report in reports]
    labels = [data.truth(case, case.fixed, FIRST) for case in cases]
    for name, verdicts in found.items():
        pairs = list(zip(labels, found["with marks"], verdicts, strict=True))
        changed = sum(one != other for _, one, other in pairs)
        lost = sum(label == "correct" and one != "incorrect" == other for label, one, other in pairs)
        print(f"  {name:10} other verdicts {changed} of {len(cases)}, answered ones `incorrect` now {lost}", flush=True)


def searched(data: Dataset, cases: Sequence[Case], url: str, **settings: Any) -> None:
    """Print how often what answers is found."""
    wanted = {*random.Random(2).sample(sorted(data.passages), AROUND)}
    wanted.update(name for case in cases for name in (*case.fixed.retrieved, *case.gold))
    with filled(url, [data.passages[name].document() for name in sorted(wanted)], **settings) as store:
        retriever = ReportingBM25Retriever(document_store=store, fuzziness="0", top_k=FIRST)
        for name, way in WAYS.items():
            lists = [retriever.run(query=way(case.question))["documents"] for case in cases]
            pairs = zip(lists, cases, strict=True)
            hits = sum(any(one.id in case.gold for one in documents) for documents, case in pairs)
            print(f"  {name:10} found {hits} of {len(cases)}", flush=True)


def main() -> None:
    """Judge, search, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--url", required=True)
    asked = parser.parse_args()
    for name in ("popqa", "hotpotqa"):
        data = read_dataset(asked.datasets / name, "dev")
        cases = [case for case in data.ordered if case.fixed and bare(case.question) != case.question]
        print(f"{name}, judged:", flush=True)
        judged(data, cases)
        if name == "popqa":
            answered = [case for case in cases if case.gold]
            for title, settings in (("as `crag index` makes it", {}), ("without its analysis", {"analysis": {}})):
                print(f"{name}, searched, {title}:", flush=True)
                searched(data, answered, asked.url, **settings)


if __name__ == "__main__":
    main()
