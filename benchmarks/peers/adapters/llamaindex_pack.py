"""
LlamaIndex: its corrective pack, the packaged code itself, run through its own workflow class.

The package is `llama-index-packs-corrective-rag` 0.3.1, its newest. Its prompts and steps are imported, not written
again. The documented entrance, `CorrectiveRAGPack(documents, key)`, raises "no running event loop" in a plain program
with this release, so the workflow behind it is run as workflows are documented: `await workflow.run(...)`, first to
load, then to ask with the same context. The core is 0.12.42; with the newest that pip would choose (0.12.52) the
workflow fails too: "'Context' object has no attribute 'data'".

What differs from the pack's documentation, and why:
- the first run, which loads documents, gets none; then the index in the context is replaced by one whose
  `as_retriever` asks the comparison's retriever, and the Tavily tool by one whose `search` asks the comparison's web
  (5 results, as the pack asks). Both stand where the pack looks for them; no class is patched;
- `MockEmbedding` is the embedding model: nothing is embedded, but the index asks for one;
- each question has a context of its own, so that none sees what a failed one left behind; that takes 3 ms.

The defaults stand: gpt-4 grades, which the pack fixes, and gpt-3.5-turbo answers, which is LlamaIndex's default; its
window of 16,384 tokens decides when a long context is answered in two calls. The workflow's time limit of 10 seconds
never ends a question: the steps call the model without giving way to the event loop.
"""

import asyncio
from typing import Any

from llama_index.core import MockEmbedding, Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode
from llama_index.core.workflow import Context
from llama_index.packs.corrective_rag.base import CorrectiveRAGWorkflow
from worker import Answer, search, serve, url, web

PACKAGES = ("llama-index-packs-corrective-rag", "llama-index-core", "llama-index-llms-openai", "openai")


class WorldRetriever(BaseRetriever):
    """The comparison's retriever, in the form that LlamaIndex documents for an own one."""

    def __init__(self, similarity_top_k: int) -> None:
        super().__init__()
        self._top_k = similarity_top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = search(query_bundle.query_str, self._top_k)
        return [NodeWithScore(node=TextNode(id_=one["id"], text=one["text"])) for one in found]


class WorldIndex:
    """What the pack asks of an index: a retriever."""

    def as_retriever(self, similarity_top_k: int) -> WorldRetriever:
        """Give a retriever of so many documents."""
        return WorldRetriever(similarity_top_k)


class WorldWeb:
    """What the pack asks of its Tavily tool: a search."""

    def __init__(self) -> None:
        self.asked = False

    def search(self, query: str, max_results: int) -> list[Document]:
        """Search the comparison's web."""
        self.asked = True
        return [Document(text=found["text"], metadata={"url": found["url"]}) for found in web(query, max_results)]


async def loaded(workflow: CorrectiveRAGWorkflow) -> Context:
    """Run the pack's loading step, and put the comparison's index and web into its context."""
    loading = workflow.run(documents=[], tavily_ai_apikey="none")
    await loading
    loading.ctx.data.update(index=WorldIndex(), tavily_tool=WorldWeb())
    return loading.ctx


async def ask(workflow: CorrectiveRAGWorkflow, context: Context, question: str, k: int) -> dict[str, Any]:
    """Ask the workflow one question."""
    reply = await workflow.run(ctx=context, query_str=question, retriever_kwargs={"similarity_top_k": k})
    said = zip(context.data["retrieved_nodes"], context.data["relevancy_results"], strict=True)
    route = "web" if context.data["tavily_tool"].asked else "generate"
    return {"answer": str(reply), "route": route, "kept": [one.node_id for one, relevant in said if relevant == "yes"]}


def prepare() -> Answer:
    """Name the model's place, and give a function that asks the pack."""
    url()
    Settings.embed_model = MockEmbedding(embed_dim=8)

    async def run(question: str, k: int) -> dict[str, Any]:
        workflow = CorrectiveRAGWorkflow()
        return await ask(workflow, await loaded(workflow), question, k)

    return lambda question, k: asyncio.run(run(question, k))


if __name__ == "__main__":
    serve(prepare(), PACKAGES)
