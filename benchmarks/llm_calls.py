"""
LLM calls of the pipelines that grade by a model, by how many of the k retrieved documents answer the question.

    python benchmarks/llm_calls.py [--k 5 10 25] [--json FILE]

The model is in this process and grades rightly. Counted: the calls the model got, and what the run ended with.
The documents are short, so that 25 of them fit one prompt, and the evidence's budget of tokens.
"""

import argparse
import uuid
from pathlib import Path
from typing import Any

from common import write_figures
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from model_server import reply_to, topic

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load

PIPELINES = ("corrective_rag", "cascade_rag", "agent_rag")
QUESTION = "How long does the battery of the drill last?"


class Counted:
    """A model in this process that knows which documents answer, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.generator = MockChatGenerator(response_fn=self._reply)

    def _reply(self, messages: list[ChatMessage]) -> ChatMessage:
        self.calls += 1
        return ChatMessage.from_assistant(reply_to(messages[-1].text or "", 0), meta={"finish_reason": "stop"})


def store_of(answering: int, documents: int) -> Any:
    """Make a store where so many of the documents answer; they rank as well as the others."""
    store = InMemoryDocumentStore(index=f"calls-{uuid.uuid4().hex}", embedding_similarity_function="cosine")
    words = [topic(0) if number < answering else "other" for number in range(documents)]
    texts = [f"The battery of the drill, note {number}: {word}." for number, word in enumerate(words)]
    embedded = StaticDocumentEmbedder().run(documents=[Document(content=text) for text in texts])
    store.write_documents(embedded["documents"])
    return store


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", nargs="+", type=int, default=(5, 10, 25))
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    print(f"{'pipeline':16}{'k':>5}{'judged':>8}  calls: action, where so many documents of k answer")
    for name in PIPELINES:
        figures[name] = {}
        for k in options.k:
            found, judged = {}, set()
            for label, answering in (("all", k), ("all but one", k - 1), ("one", 1), ("none", 0)):
                model = Counted()
                rag = load(name, store=store_of(answering, k), generator=model.generator)
                rag.pipeline.get_component("fuse").top_k = k
                record = rag.run(query=QUESTION, top_k=k)["crag"]
                judged.add(record["coverage"]["graded"])
                found[label] = {"calls": model.calls, "action": record["action"]}
            figures[name][str(k)] = found
            told = ", ".join(f"{label} {one['calls']}: {one['action']}" for label, one in found.items())
            print(f"{name:16}{k:>5}{'/'.join(map(str, sorted(judged))):>8}  {told}", flush=True)
    model = Counted()
    rag = load("agent_rag", store=store_of(10, 10), generator=model.generator)
    rag.run(query=QUESTION, tool_history=[{"tool": "read_file"}])
    print(f"agent_rag with a rule hit, which needs no grading: {model.calls}")
    figures["agent_rag"]["rule"] = {"calls": model.calls}
    write_figures(options.json, figures, {})


if __name__ == "__main__":
    main()
