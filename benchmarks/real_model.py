"""
How a real chat model grades, behind any OpenAI-compatible server: the grader, and Haystack's `LLMRanker` with the same.

    llama-server -m MODEL.gguf -c 12000 -np 1 --port 8815
    python benchmarks/real_model.py DATASETS --url http://127.0.0.1:8815/v1 [--model NAME] [--lists 12] [--json FILE]

Grades the first five documents of so many labelled lists of each dataset, the same ones for all, one list at a time.
In the last row the weights that need no model judge the same lists. A list counts as graded where each document got a
grade by the model's word. AUC: how often an answering document has a higher score than another one, over all
documents. Kept: documents with 0.3 and more, as in the shipped pipelines, or that the ranker lists; of them and of the
answering ones. Verdict: by the best score, correct from 0.7, incorrect below 0.3; a ranker's scores are 1 and 0.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import model_at, write_figures
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.rankers import LLMRanker
from sklearn.metrics import f1_score, roc_auc_score

from haystack_integrations.crag.components import BatchRelevanceGrader, HeuristicGrader
from haystack_integrations.crag.evaluation.cases import TOP_K
from haystack_integrations.crag.evaluation.reading import read_dataset

sys.path.insert(0, str(Path(__file__).parent / "peers" / "adapters"))
from haystack_stock import RANKED

SETS = ("popqa", "clapnq", "scifact", "covidqa", "hotpotqa")
ANSWERS, UPPER, KEPT = 2, 0.7, 0.3
VERDICTS = ("correct", "ambiguous", "incorrect")


@dataclass
class Graded:
    """
    What came of one list.

    :param scores: One for each document.
    :param is_whole: Whether each is by the model's word.
    :param spent: Calls, and tokens written where that is told.
    """

    scores: list[float]
    is_whole: bool = True
    spent: Mapping[str, int] = field(default_factory=dict)


Grade = Callable[[str, list[Document]], Graded]


def by_grader(generator: OpenAIChatGenerator, **settings: Any) -> Grade:
    """Grade by `BatchRelevanceGrader`, with as much text as in the shipped pipelines and all the time it takes."""
    grader = BatchRelevanceGrader(generator, max_chars_per_document=2000, deadline_s=900, **settings)

    def grade(query: str, documents: list[Document]) -> Graded:
        result = grader.run(query=query, documents=documents)
        told = result["report"]
        spent = {"calls": told["llm_calls"], "out": told["tokens_out"]}
        return Graded(result["scores"], result["status"] == "ok", spent)

    return grade


def by_ranker(generator: OpenAIChatGenerator) -> Grade:
    """Rank by `LLMRanker`; what it does not list is not relevant to it."""
    ranker = LLMRanker(chat_generator=generator, raise_on_failure=True)

    def grade(query: str, documents: list[Document]) -> Graded:
        shown = [
            Document(id=one.id, content=f"{one.meta['title']}\n{one.content}"[:2000]) for one in documents
        ]  # it shows no titles
        try:
            listed = {one.id for one in ranker.run(query=query, documents=shown)["documents"]}
        except ValueError:
            return Graded([0.0] * len(documents), is_whole=False, spent={"calls": 1})
        return Graded([float(one.id in listed) for one in documents], spent={"calls": 1})

    return grade


def by_weights(query: str, documents: list[Document]) -> Graded:
    """Grade without a model, as `corrective_retrieval` does out of the box, with no statistics of a corpus."""
    return Graded(HeuristicGrader().run(query=query, documents=documents)["scores"])


def lists_of(folder: Path, number: int) -> list[tuple[str, list[Document], list[int], str]]:
    """Draw lists of a dataset, always the same ones: question, documents, grades, label."""
    data = read_dataset(folder, "dev")
    cases = [case for case in data.cases if case.strict and case.fixed is not None and case.fixed.labels]
    drawn = []
    for case in random.Random(7).sample(cases, number):
        ranked = case.fixed
        assert ranked is not None
        assert ranked.labels is not None
        passages = [data.passages[name] for name in ranked.retrieved[:TOP_K]]
        documents = [Document(content=one.text, meta={"title": one.title}) for one in passages]
        drawn.append((case.question, documents, list(case.grades(ranked))[:TOP_K], str(ranked.labels[TOP_K])))
    return drawn


def measured(grade: Grade, lists: list[tuple[str, list[Document], list[int], str]]) -> dict[str, float]:
    """Grade all lists, and compare with their labels."""
    began, found = time.monotonic(), [grade(query, documents) for query, documents, _, _ in lists]
    seconds = time.monotonic() - began
    scores = [score for one in found for score in one.scores]
    truth = [grade for _, _, grades, _ in lists for grade in grades]
    best = [max(one.scores) for one in found]
    said = ["correct" if one >= UPPER else "incorrect" if one < KEPT else "ambiguous" for one in best]
    kept = [score >= KEPT for score in scores]
    return {
        "calls": sum(one.spent.get("calls", 0) for one in found) / len(found),
        "out": sum(one.spent.get("out", 0) for one in found) / len(found),
        "seconds": seconds / len(found),
        "graded": sum(one.is_whole for one in found) / len(found),
        "auc": float(roc_auc_score([one == ANSWERS for one in truth], scores)),
        "kept": sum(kept) / len(kept),
        "answers_kept": sum(k for k, one in zip(kept, truth, strict=True) if one == ANSWERS) / truth.count(ANSWERS),
        "macro_f1": float(f1_score([label for *_, label in lists], said, labels=VERDICTS, average="macro")),
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="model")
    parser.add_argument("--lists", type=int, default=12)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    model = model_at(asked.url, asked.model)
    lists = [one for name in SETS for one in lists_of(asked.datasets / name, asked.lists)]
    arms: dict[str, Grade] = {
        "BatchRelevanceGrader": by_grader(model),
        "BatchRelevanceGrader, asked in words": by_grader(model, structured_output=False),
        "BatchRelevanceGrader, reasons=True": by_grader(model, reasons=True),
        "LLMRanker": by_ranker(model_at(asked.url, asked.model, response_format=RANKED)),
        "HeuristicGrader, no model": by_weights,
    }
    figures = {}
    for name, grade in arms.items():
        figures[name] = measured(grade, lists)
        print(f"{name:38}", *(f"{key} {value:.2f}" for key, value in figures[name].items()), flush=True)
    write_figures(asked.json, {"lists": len(lists), **figures}, {asked.datasets: "DATASETS"})


if __name__ == "__main__":
    main()
