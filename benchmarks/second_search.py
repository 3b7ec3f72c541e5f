"""
Does a second search find what the first one lacks? The documents that a question needs, before and after correction.

    python benchmarks/second_search.py DATASETS [--limit 120] [--sets hotpotqa covidqa]

In memory, over all documents of the set. hotpotqa's questions need two pages, of which the question often names but
one; those of the other sets need one. Each question is asked of

- `corrective_rag`, where a script plays the chat model: it grades a needed document 0.9 if the prompt or the run's
  earlier prompts hold all that is needed, else 0.5, and everything else by its label (0.5 on topic, 0.1);
- `corrective_retrieval`, uncalibrated: no model.

`names` off is the second search as it would be without the names that the evidence has (the question with synonyms
and shared words). Counted are the questions for which all that is needed was in the first search, and in the evidence.
"""

import argparse
import logging
import random
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

from common import embedded_store
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from real_questions import judging

from haystack_integrations.crag.evaluation.cases import Case
from haystack_integrations.crag.evaluation.reading import read_dataset
from haystack_integrations.crag.expansion import rules
from haystack_integrations.crag.pipelines import load

SETS = ("hotpotqa", "covidqa", "scifact", "clapnq")
_TWO_NEEDED = "hotpotqa"
_TITLE = 150  # characters that a title may have
_BEGINNING = 45  # letters and digits by which a document is found again in a prompt


def beginning(text: str) -> str:
    """What a prompt leaves of the beginning of a text, whatever it does to its spaces and marks."""
    return re.sub(r"\W+", "", text)[:_BEGINNING]


class Grader:
    """A chat model that grades by the labels of the question that is asked."""

    def __init__(self, documents: list[Document], *, all_needed: bool) -> None:
        """Learn the documents by heart."""
        self.beginnings = {document.id: beginning(document.content or "") for document in documents}
        self.all_needed, self.gold, self.partial = all_needed, set[str](), set[str]()
        self.shown = set[str]()

    def ask(self, case: Case) -> None:
        """Take up another question."""
        self.gold, self.partial, self.shown = set(case.gold), set(case.partial), set()

    def score(self, text: str) -> float:
        """Grade one document."""
        # A prompt has the title above the text.
        letters = re.sub(r"\W+", "", text[: 2 * _TITLE])
        ids = {id_ for id_, start in self.beginnings.items() if start in letters}
        if ids & self.gold:
            return 0.9 if not self.all_needed or self.gold <= self.shown else 0.5
        return 0.5 if ids & self.partial else 0.1

    def respond(self, messages: list[ChatMessage]) -> ChatMessage:
        """Grade a prompt, or answer."""
        prompt = messages[-1].text or ""
        letters = re.sub(r"\W+", "", prompt)
        self.shown |= {id_ for id_ in self.gold if self.beginnings[id_] in letters}
        text, reason = judging(self.score)([{"content": prompt}])
        return ChatMessage.from_assistant(text, meta={"finish_reason": reason})


def measure(rag: Any, cases: list[Case], grader: Grader) -> str:
    """Ask all questions, and count."""
    first = final = more = calls = words = 0
    for case in cases:
        grader.ask(case)
        result = rag.run(query=case.question)
        trail = result["crag"]["trail"]
        retrieved = {entry["id"] for part in ("kept", "discarded") for entry in trail[0][part]}
        evidence = {document.id for document in result["documents"]}

        def holds(found: set[str], gold: frozenset[str] = frozenset(case.gold)) -> bool:
            return gold <= found if grader.all_needed else bool(gold & found)

        first, final = first + holds(retrieved), final + holds(evidence)
        more, calls = more + (len(trail) > 1), calls + result["crag"]["llm_calls"]
        words += sum(len((document.content or "").split()) for document in result["documents"])
    count = len(cases)
    told = f"first search {first}, evidence {final}; {more} searched again"
    return f"{told}, {calls / count:.2f} calls, {words / count:.0f} words"


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--sets", nargs="+", default=SETS)
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    for name in asked.sets:
        data = read_dataset(asked.datasets / name, "dev")
        documents = [passage.document() for passage in data.passages.values()]
        store = embedded_store(documents)
        cases = [case for case in data.ordered if case.gold]
        random.Random(3).shuffle(cases)
        cases = cases[: asked.limit]
        grader = Grader(documents, all_needed=name == _TWO_NEEDED)
        model = MockChatGenerator(response_fn=grader.respond)
        pipelines = {
            "corrective_rag": load("corrective_rag", store=store, generator=model),
            "corrective_retrieval": load("corrective_retrieval", store=store),
        }
        for pipeline, rag in pipelines.items():
            with patch.object(rules, "names_in", return_value=[]):
                without = measure(rag, cases, grader)
            print(f"{name:8} {pipeline:20} of {len(cases)}: names off: {without}", flush=True)
            print(f"{name:8} {pipeline:20} of {len(cases)}: names on:  {measure(rag, cases, grader)}", flush=True)


if __name__ == "__main__":
    main()
