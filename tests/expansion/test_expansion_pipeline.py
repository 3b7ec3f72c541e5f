"""Several queries in one pass: our expander in front of Haystack's own retrievers for many queries."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
    MultiQueryEmbeddingRetriever,
    MultiQueryTextRetriever,
)
from makers import fill, grading_by, scripted

from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.pipelines import load

QUESTION = "Is the Thames longer than the Seine?"
TEXTS = [
    "The Thames flows for 346 kilometres through southern England.",
    "The Seine is 777 kilometres long and ends at Le Havre.",
    "Is it longer, the film asks, and the answer is longer still.",
    "Bakers get up early.",
    "The ferry leaves at noon.",
]


def pipeline(store: Any, expander: QueryExpander) -> Pipeline:
    """Expander, both of Haystack's retrievers for many queries, and our joiner."""
    made = Pipeline()
    made.add_component("expander", expander)
    made.add_component("bm25", MultiQueryTextRetriever(retriever=InMemoryBM25Retriever(store, top_k=2)))
    dense = InMemoryEmbeddingRetriever(store, top_k=1)
    made.add_component("dense", MultiQueryEmbeddingRetriever(retriever=dense, query_embedder=StaticTextEmbedder()))
    made.add_component("joiner", EvidenceJoiner(weights={"bm25": 1.0, "dense": 0.3}, similarity={"dense": "cosine"}))
    made.connect("expander.queries", "bm25.queries")
    made.connect("expander.queries", "dense.queries")
    made.connect("expander.state", "joiner.state")
    made.connect("bm25.documents", "joiner.bm25")
    made.connect("dense.documents", "joiner.dense")
    return made


def documents(made: Pipeline, question: str, *, asynchronous: bool) -> list[Document]:
    """What the joiner gives, by one of the doors."""
    data, include = {"expander": {"query": question}}, {"expander"}

    async def run() -> dict[str, Any]:
        result: dict[str, Any] = await made.run_async(data, include_outputs_from=include)
        return result

    result = asyncio.run(run()) if asynchronous else made.run(data, include_outputs_from=include)
    assert result["expander"]["queries"][0] == question
    found: list[Document] = result["joiner"]["documents"]
    return found


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize(
    "expander",
    [
        {"mode": "decompose"},
        {"mode": "decompose", "chat_generator": scripted("How long is the Thames\nHow long is the Seine")},
        {"mode": "multi", "chat_generator": scripted("length of the Thames\nlength of the Seine")},
    ],
    ids=["decompose-rules", "decompose-model", "multi-model"],
)
def test_each_query_of_a_pass_is_retrieved_and_fused(
    expander: dict[str, Any], asynchronous: bool, in_memory_store: Any
) -> None:
    """Both rivers are found, each document once, with what each retriever said."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    made = pipeline(in_memory_store, QueryExpander(**expander))
    found = documents(made, QUESTION, asynchronous=asynchronous)
    texts = [document.content for document in found]
    assert {TEXTS[0], TEXTS[1]} <= set(texts)
    assert len(texts) == len(set(texts))
    assert all(document.meta["crag"]["retrievers"] for document in found)


def test_a_question_without_parts_is_retrieved_as_it_is(in_memory_store: Any) -> None:
    """In front of the retrievers nothing is swallowed."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    found = documents(pipeline(in_memory_store, QueryExpander(mode="decompose")), "bakers", asynchronous=False)
    assert TEXTS[3] in [document.content for document in found]


def test_such_a_pipeline_survives_yaml(in_memory_store: Any) -> None:
    """As every pipeline of ours."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    made = Pipeline.loads(pipeline(in_memory_store, QueryExpander(mode="decompose", n=2)).dumps())
    assert {TEXTS[0], TEXTS[1]} <= {document.content for document in documents(made, QUESTION, asynchronous=False)}


@pytest.mark.parametrize("settings", [{"mode": "multi"}, {"mode": "decompose"}, {"mode": "llm", "keep_original": True}])
def test_of_several_queries_only_what_is_searched_for_counts_as_tried(
    settings: dict[str, Any], in_memory_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The shipped pipelines search for one query in a pass; what an abstention says was looked for was looked for."""
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    expander = QueryExpander(**settings, chat_generator=scripted("length of the Thames\nlength of the Seine"))
    rag = load(
        "corrective_rag",
        store=in_memory_store,
        grader=grading_by(lambda _: 0.0),
        generator=scripted("Yes."),
        expander=expander,
    )
    assert caplog.text.count("queries leads nowhere") == 1
    record = rag.run(query=QUESTION)["crag"]
    assert [one["query"] for one in record["abstention"]["looked_for"]] == record["queries"]
    assert len(record["queries"]) == len(record["trail"]) == 2
    rag.run(query=QUESTION)
    assert caplog.text.count("queries leads nowhere") == 1  # of the pipeline, and so said once, when it is loaded
