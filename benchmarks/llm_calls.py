"""
LLM calls of agent_rag by k: grading is one call whatever k, a rule hit none, an answer one more.

    python benchmarks/llm_calls.py
"""

import uuid

from common import instant_model
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load


def main() -> None:
    """Count and print."""
    store = InMemoryDocumentStore(index=f"calls-{uuid.uuid4().hex}", embedding_similarity_function="cosine")
    documents = [Document(content=f"The battery of the drill, note {number}.") for number in range(30)]
    store.write_documents(StaticDocumentEmbedder().run(documents=documents)["documents"])
    for k in (3, 5, 10, 20):
        rag = load("agent_rag", store=store, generator=instant_model())
        rag.pipeline.get_component("fuse").top_k = k
        graded = rag.run(query="How long does the battery of the drill last?", top_k=k)["crag"]
        approved = rag.run(query="How long does it last?", top_k=k, tool_history=[{"tool": "read_file"}])["crag"]
        print(
            f"k = {k:2}: {graded['documents_before']} documents, {graded['llm_calls']} calls (1 grading, 1 answer); "
            f"with a rule hit {approved['llm_calls']}"
        )


if __name__ == "__main__":
    main()
