"""heuristic_rag.yml: the flow, the thresholds and every test case of design 001, on the real pipeline."""

from typing import Any

import pytest
from haystack import Document
from makers import fill, run_by_door
from metasearch import Metasearch

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.components.query_expander import QueryExpander
from haystack_integrations.crag.grades import annotate
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.text import count_tokens

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
QUESTION = "How to optimize React rendering?"
LONG = "To optimize React rendering, memoize components and avoid needless rendering. " * 12
SHORT = "React rendering notes."
OTHER = "The ferry to the island leaves at noon."


def run(store: Any, *, asynchronous: bool, query: str = QUESTION, **parts: Any) -> dict[str, Any]:
    """Run the pipeline by one of the doors."""
    rag = load("heuristic_rag", store=store, **parts)
    return run_by_door(rag, asynchronous=asynchronous, query=query)


def verdicts(result: dict[str, Any]) -> list[str]:
    """The verdict of each pass; the first one is the design's `crag_decision`."""
    return [decision["verdict"] for decision in result["crag"]["trail"]]


def similar(text: str, similarity: float, source: str) -> Document:
    """A chunk with the similarity that its retriever gave it."""
    said = {"dense": {"score": similarity, "rank": 1, "similarity": similarity}}
    return annotate(Document(content=text, meta={"source": source}), retrievers=said)


def test_evaluator_relevant() -> None:
    """A good hit with a high similarity is RELEVANT: above 0.75."""
    chunk = similar("Async patterns in Python use asyncio library for concurrent execution", 0.92, "docs/async.md")
    result = HeuristicGrader(weights="coherence").run(query="Python async patterns", documents=[chunk])
    assert result["set_score"] > 0.75
    assert result["signals"]["set"]["keyword"] > 0.5


def test_evaluator_irrelevant() -> None:
    """A hit about something else with a low similarity is IRRELEVANT: below 0.5."""
    chunk = similar("React components use hooks for state management", 0.35, "docs/frontend.md")
    result = HeuristicGrader(weights="coherence").run(query="Kubernetes deployment strategies", documents=[chunk])
    assert result["set_score"] < 0.5


def test_query_expander() -> None:
    """The words stay, and synonyms of them are added."""
    expanded = QueryExpander(mode="synonyms").run(query="explain async function")["query"]
    assert "async" in expanded
    assert "asynchronous" in expanded or "concurrent" in expanded
    assert "explain" in expanded
    assert "describe" in expanded or "clarify" in expanded


@BOTH
def test_crag_orchestrator_fast_path(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """RELEVANT: returned as it is, no correction, nothing asked outside."""
    fill(in_memory_store, [Document(content=LONG + str(n), meta={"source": f"{n}.md"}) for n in range(3)])
    result = run(in_memory_store, asynchronous=asynchronous)
    record = result["crag"]
    assert verdicts(result) == ["correct"]
    assert record["score"] > 0.75
    assert record["corrected"] is False
    assert record["strategy"] == "none"
    assert len(result["documents"]) == 3
    assert metasearch.queries == []


@BOTH
def test_crag_end_to_end_with_query_expansion(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """PARTIAL: the synonyms find what the question's own words missed; the originals come first."""
    texts = [SHORT, "React rendering guide.", "Enhance and improve a page: memoization."]
    fill(in_memory_store, [Document(content=text, meta={"source": text}) for text in texts])
    result = run(in_memory_store, asynchronous=asynchronous, dense={"top_k": 1})
    record = result["crag"]
    assert verdicts(result)[0] == "ambiguous"
    assert 0.5 < record["trail"][0]["score"] <= 0.75
    assert record["strategy"] == "expand" or record["strategy"] == "refine"
    assert record["corrected"] is True
    assert "improve" in record["queries"][1]
    found = [document.content for document in result["documents"]]
    assert set(found) == set(texts)
    assert metasearch.queries == []


def test_the_expanded_retrieval_does_not_repeat_the_first_one(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Two retrievals in all: the design makes three."""
    texts = [SHORT, "React rendering guide."]
    fill(in_memory_store, [Document(content=text, meta={"source": text}) for text in texts])
    record = run(in_memory_store, asynchronous=False)["crag"]
    assert len(record["queries"]) == 2
    assert len(set(record["queries"])) == 2


def test_merged_evidence_stays_within_the_token_budget(in_memory_store: Any, metasearch: Metasearch) -> None:
    """8,000 tokens by default; here less, so that it shows."""
    texts = [f"React rendering notes, part {n}, and some more words to fill the page." for n in range(8)]
    fill(in_memory_store, [Document(content=text, meta={"source": text}) for text in texts])
    documents = run(in_memory_store, asynchronous=False, fuse={"max_tokens": 60})["documents"]
    assert documents
    assert sum(count_tokens(document.content) for document in documents) <= 60


@BOTH
def test_crag_web_search_fallback(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """IRRELEVANT on an empty index: the web replaces, and the question goes there as it was asked."""
    metasearch.finds(["The newest launch was a success.", "A launch took place in May."])
    question = "latest SpaceX launch updates"
    result = run(in_memory_store, asynchronous=asynchronous, query=question)
    record = result["crag"]
    assert verdicts(result)[0] == "incorrect"
    assert record["web_used"] is True
    assert record["strategy"] == "web"
    assert record["coverage"]["web"] == "ok"
    assert metasearch.queries == [question]
    assert {document.meta["crag"]["origin"] for document in result["documents"]} == {"web"}
    assert [document.meta["url"] for document in result["documents"]]


@BOTH
def test_irrelevant_documents_are_replaced_by_the_webs(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """None of the originals stays."""
    fill(in_memory_store, [Document(content=OTHER)])
    metasearch.finds(["React rendering is optimized by memoization."])
    result = run(in_memory_store, asynchronous=asynchronous)
    assert [document.content for document in result["documents"]] == ["React rendering is optimized by memoization."]
    assert result["crag"]["documents_before"] == 1


@BOTH
@pytest.mark.parametrize("status", [403, 429, 500])
def test_a_web_search_that_fails_leaves_the_originals(
    in_memory_store: Any, asynchronous: bool, status: int, metasearch: Metasearch
) -> None:
    """And the record says that it failed."""
    fill(in_memory_store, [Document(content=OTHER)])
    metasearch.status = status
    result = run(in_memory_store, asynchronous=asynchronous)
    assert [document.content for document in result["documents"]] == [OTHER]
    assert result["crag"]["coverage"]["web"] == "failed"
    assert result["crag"]["web_used"] is False
    assert result["crag"]["signals"] == result["crag"]["trail"][0]["signals"]  # what its score is still made of


def test_correction_can_be_switched_off(in_memory_store: Any, metasearch: Metasearch) -> None:
    """No web for a run, no synonyms: the original artifacts come back."""
    fill(in_memory_store, [Document(content=OTHER)])
    rag = load("heuristic_rag", store=in_memory_store)
    result = rag.run(query=QUESTION, web=False)
    assert [document.content for document in result["documents"]] == [OTHER]
    assert metasearch.queries == []
    assert result["crag"]["coverage"]["web"] == "skipped"


def test_the_record_holds_what_the_design_reports(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Decision, score, its four signals, correction, counts, tokens, time, web, cache."""
    fill(in_memory_store, [Document(content=LONG + str(n), meta={"source": f"{n}.md"}) for n in range(3)])
    record = run(in_memory_store, asynchronous=False)["crag"]
    assert {"keyword", "coherence", "length", "diversity"} <= set(record["signals"]["set"])
    assert record["milliseconds"] > 0
    assert record["documents_before"] == record["documents_after"] == 3
    assert record["evidence_tokens"] == 3 * count_tokens(LONG + "0")
    assert record["cache_hits"] == 0
