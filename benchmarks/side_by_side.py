"""
Refinement beside the web in strict_rag: wall time of both over that of the slower one (goal <= 1.1), asynchronous door.

    python benchmarks/side_by_side.py [--seconds 1.0] [--rounds 5]
"""

import argparse
import asyncio
import json
import re
import statistics
import time
from typing import Any
from uuid import uuid4

from haystack import Document, component
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.web_fallback import WebFallback
from haystack_integrations.crag.pipelines import load

QUESTION = "What is the GDP of France?"
PAGE = "The GDP of France was 2.8 trillion euros. Paris is the capital."


class Model:
    """A chat generator that takes its time only for the sentences."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        raise NotImplementedError

    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
        text = messages[-1].text or ""
        if '"keep"' in text:
            await asyncio.sleep(self.seconds)
            reply = '{"keep": [1]}'
        elif keys := re.findall(r'id="([b-z]{3,4})"', text):
            reply = json.dumps(dict.fromkeys(keys, 0.6))
        else:
            reply = "An answer [1]." if "passage-" in text else "France GDP"
        return {"replies": [ChatMessage.from_assistant(reply, meta={"finish_reason": "stop"})]}


@component
class Search:
    """A web search that takes its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.number = seconds, 0

    def _found(self, query: str) -> dict[str, Any]:
        self.number += 1
        page = {"title": "INSEE", "url": f"https://example.org/{self.number}"}
        return {"documents": [Document(content=f"{query}, table {self.number}.", meta=page)], "links": []}

    @component.output_types(documents=list[Document], links=list[str])
    def run(self, query: str) -> dict[str, Any]:
        time.sleep(self.seconds)
        return self._found(query)

    @component.output_types(documents=list[Document], links=list[str])
    async def run_async(self, query: str) -> dict[str, Any]:
        await asyncio.sleep(self.seconds)
        return self._found(query)


async def seconds(refine: float, web: float, rounds: int) -> float:
    """Median seconds of a run."""
    store = InMemoryDocumentStore(index=uuid4().hex, embedding_similarity_function="cosine")
    store.write_documents(StaticDocumentEmbedder().run([Document(content=PAGE)])["documents"])
    model: Any = Model(refine)
    rag: Any = load("strict_rag", store=store, web=WebFallback(Search(web), query_cooldown_s=0))
    for name in ("grader", "refine", "rewriter", "generator"):
        rag.pipeline.get_component(name).chat_generator = model
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        result = await rag.run_async(query=QUESTION)
        times.append(time.perf_counter() - start)
        assert result["crag"]["strategy"] == "web_and_refine"
    return statistics.median(times[1:])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    slow = options.seconds
    only_web = asyncio.run(seconds(0.0, slow, options.rounds))
    only_refine = asyncio.run(seconds(slow, 0.0, options.rounds))
    both = asyncio.run(seconds(slow, slow, options.rounds))
    print(f"web alone {only_web:.3f} s, sentences alone {only_refine:.3f} s, both {both:.3f} s")
    print(f"both over the slower one: {both / max(only_web, only_refine):.3f} (goal <= 1.1)")


if __name__ == "__main__":
    main()
