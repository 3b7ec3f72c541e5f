"""
Own overhead of corrective_rag over the same store's bare hybrid retrieval and generator, k = 10, instant model.

    python benchmarks/overhead.py [--url http://127.0.0.1:9200] [--documents 2000] [--rounds 100]
"""

import argparse
import random
import uuid
from typing import Any

from common import instant_model, p50, paired
from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.placing import place_on
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare

WORDS = "river stone garden market winter letter engine copper island bridge candle forest silver window port".split()


def bare(store: Any) -> Pipeline:
    """What a Haystack user has today: two retrievers, reciprocal rank fusion, prompt, generator."""
    _, parts = place_on(read("baseline_rag"), store, given=set(), changes={})
    template = "{% for d in documents %}{{ d.content }}\n{% endfor %}Question: {{ question }}"
    pipeline = Pipeline()
    pipeline.add_component("bm25", parts["bm25"])
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("dense", parts["dense"].retriever)
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=10))
    pipeline.add_component(
        "prompt", ChatPromptBuilder([ChatMessage.from_user(template)], required_variables=["question", "documents"])
    )
    pipeline.add_component("generator", instant_model())
    for sender, receiver in (
        ("embedder.embedding", "dense.query_embedding"),
        ("bm25.documents", "join.documents"),
        ("dense.documents", "join.documents"),
        ("join.documents", "prompt.documents"),
        ("prompt.prompt", "generator.messages"),
    ):
        pipeline.connect(sender, receiver)
    return pipeline


def documents(count: int) -> list[Document]:
    """Documents of 120 words."""
    rng = random.Random(5)
    words = [f"{word}{number}" for word in WORDS for number in range(40)]
    return [Document(content=" ".join(rng.choices(words, k=120))) for _ in range(count)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    index = f"overhead-{uuid.uuid4().hex[:8]}"
    if options.url:
        store = open_store("elasticsearch", options.url, index)
        prepare(store)
    else:
        store = InMemoryDocumentStore(index=index, embedding_similarity_function="cosine")
    made = StaticDocumentEmbedder().run(documents=documents(options.documents))["documents"]
    store.write_documents(made)
    rag, control = load("corrective_rag", store=store, generator=instant_model()), bare(store)

    def question(number: int) -> str:
        return f"Which {WORDS[number % 15]}{number % 40} stands near the {WORDS[(number * 3 + 1) % 15]}{number % 33}?"

    def corrective(number: int) -> None:
        result = rag.run(query=question(number))
        assert result["crag"]["llm_calls"] == 2, result["crag"]

    def plain(number: int) -> None:
        text = question(number)
        control.run({"bm25": {"query": text}, "embedder": {"text": text}, "prompt": {"question": text}})

    try:
        ours, theirs = paired([corrective, plain], options.rounds)
        differences = [a - b for a, b in zip(ours, theirs, strict=True)]
        print(f"store {type(store).__name__}, {options.documents} documents, k = 10, {options.rounds} pairs")
        print(f"corrective_rag p50 {p50(ours):.1f} ms, bare hybrid p50 {p50(theirs):.1f} ms")
        print(f"overhead p50 {p50(differences):.1f} ms (goal <= 10), ratio {p50(ours) / p50(theirs):.2f}")
    finally:
        if options.url:
            with elasticsearch_client(store) as client:
                client.indices.delete(index=index)
            store.close()


if __name__ == "__main__":
    main()
