"""
The controls of a load: what a Haystack user serves today, as stock Hayhooks wrappers, on the same store and model.

`plain` is a bare hybrid RAG: BM25 and dense retrieval, reciprocal rank fusion, prompt, generator; one model call.
`ranked` asks the model as often as corrective_rag does, twice: Haystack's own LLMRanker judges before the prompt.
`write_wrappers` writes the folder that `hayhooks run --pipelines-dir` reads.
"""

import os
from pathlib import Path
from typing import Any

from hayhooks import BasePipelineWrapper
from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LLMRanker
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.pipelines.placing import place_on
from haystack_integrations.crag.store_profiles import open_store

PLAIN, RANKED = "plain", "ranked"
_TEMPLATE = "{% for d in documents %}[{{ loop.index }}] {{ d.content }}\n{% endfor %}\nQuestion: {{ question }}"
_WRAPPER = """\
from load_control import Control


class PipelineWrapper(Control):
    ranked = {ranked}
"""


def write_wrappers(folder: Path) -> Path:
    """Write a wrapper for each control."""
    for name in (PLAIN, RANKED):
        (folder / name).mkdir(parents=True)
        (folder / name / "pipeline_wrapper.py").write_text(_WRAPPER.format(ranked=name == RANKED))
    return folder


def _store() -> Any:
    """Open the store that corrective_rag has too: the same index, or the same documents through the same pipeline."""
    if url := os.environ.get("ELASTICSEARCH_URL"):
        return open_store("elasticsearch", url, os.environ["CRAG_INDEX"])
    store = open_store("in_memory", index=f"control-{os.getpid()}-{os.urandom(4).hex()}")
    index([Path(os.environ["CRAG_SERVE_DOCS"])], store)
    return store


def _model() -> OpenAIChatGenerator:
    return OpenAIChatGenerator(
        api_key=Secret.from_token("no-key"),
        model=os.environ["CRAG_LLM_MODEL"],
        api_base_url=os.environ["CRAG_LLM_BASE_URL"],
        timeout=20,
        max_retries=1,
    )


def bare(store: Any, *, ranked: bool) -> Pipeline:
    """Wire it as the documentation of Haystack does."""
    _, parts = place_on(read("baseline_rag"), store, given=set(), changes={})
    pipeline = Pipeline()
    pipeline.add_component("bm25", parts["bm25"])
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("dense", parts["dense"].retriever)
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=10))
    template = [ChatMessage.from_user(_TEMPLATE)]
    pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables=["question", "documents"]))
    pipeline.add_component("generator", _model())
    pipeline.connect("embedder.embedding", "dense.query_embedding")
    pipeline.connect("bm25.documents", "join.documents")
    pipeline.connect("dense.documents", "join.documents")
    last = "join.documents"
    if ranked:
        pipeline.add_component("ranker", LLMRanker(chat_generator=_model()))
        pipeline.connect(last, "ranker.documents")
        last = "ranker.documents"
    pipeline.connect(last, "prompt.documents")
    pipeline.connect("prompt.prompt", "generator.messages")
    return pipeline


class Control(BasePipelineWrapper):
    """A stock wrapper."""

    ranked = False

    def setup(self) -> None:
        """Open the store and wire the pipeline."""
        self.pipeline = bare(_store(), ranked=self.ranked)
        self.last = "ranker" if self.ranked else "join"

    async def run_api_async(self, question: str) -> dict[str, Any]:
        """
        Answer a question.

        :param question: The question.
        """
        asked: dict[str, dict[str, Any]] = {
            "bm25": {"query": question},
            "embedder": {"text": question},
            "prompt": {"question": question},
        }
        if self.ranked:
            asked["ranker"] = {"query": question}
        found = await self.pipeline.run_async(asked, include_outputs_from={self.last})
        documents: list[Document] = found[self.last]["documents"]
        return {
            "answer": found["generator"]["replies"][0].text,
            "evidence": [{"id": one.id, "content": one.content, "score": one.score} for one in documents],
        }
