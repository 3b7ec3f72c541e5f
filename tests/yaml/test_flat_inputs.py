"""Haystack's short form of inputs, by socket alone, sets off no correction before the first retrieval."""

import asyncio
from typing import Any

import pytest
from haystack import Document, component
from makers import fill, grading_by, scripted

from haystack_integrations.crag.components import HeuristicGrader, QueryExpander, WebFallback
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.loader import read

QUESTION = "When is a refund paid?"


@component
class Web:
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        self.asked.append(query)
        return {"documents": [Document(content="A refund is paid.", meta={"url": "https://example.org/1"})]}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("name", ["corrective_rag", "corrective_retrieval", "agent_rag", "strict_rag", "paper_rag"])
def test_one_question_for_all_sockets_is_asked_as_the_yaml_says(
    name: str, asynchronous: bool, in_memory_store: Any
) -> None:
    """The first search is for the question itself, and nothing leaves to the web where the first retrieval answers."""
    texts = ["A refund is paid within 30 days of the return.", "The refund is paid to the card.", "Bread is baked."]
    fill(in_memory_store, [Document(content=text) for text in texts])
    web, declared = Web(), read(name)["components"]
    parts: dict[str, Any] = {"generator": scripted("x [1].")} if "generator" in declared else {}
    parts |= {"web": WebFallback(web)} if "web" in declared else {}
    asks = declared["grader"]["type"].endswith("BatchRelevanceGrader")
    parts |= {"grader": grading_by(lambda _: 0.9) if asks else HeuristicGrader()}
    pipeline = load(name, store=in_memory_store, **parts).pipeline
    inputs = {"query": QUESTION, "question": QUESTION}
    flat: dict[str, Any] = {
        key: value for key, value in inputs.items() if any(key in sockets for sockets in pipeline.inputs().values())
    }
    results = asyncio.run(pipeline.run_async(flat)) if asynchronous else pipeline.run(flat)
    assert results["record"]["crag"]["queries"] == [QUESTION]
    assert (web.asked, results["record"]["crag"]["corrected"]) == ([], False)


@pytest.mark.parametrize("kind", [QueryExpander, lambda: WebFallback(Web())], ids=["expander", "web"])
def test_alone_a_question_is_enough(kind: Any) -> None:
    """And where no state is connected."""
    assert kind().run(query=QUESTION)
    assert asyncio.run(kind().run_async(query=QUESTION))
