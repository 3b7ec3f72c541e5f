"""signals_rag.yml: signals, paths and acceptance criteria of design 003, on the real pipeline."""

import time
from typing import Any

import pytest
from haystack import Document
from makers import fill, run_by_door, scripted, texts
from metasearch import Metasearch

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.grades import annotate
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.texts.text import count_tokens

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
QUESTION = "When was the bridge over the river opened?"
GOOD = "The bridge over the river was opened in 1901. Bread is baked daily."
GOOD_TOO = "In 1901 the bridge over the river was opened by the mayor. Cats sleep a lot."
PART = "The bridge is painted green every ten years. Bread is baked daily."
OTHER = "Quarterly figures of the dairy are published on Mondays."


def run(store: Any, *, asynchronous: bool, **parts: Any) -> dict[str, Any]:
    """Run the pipeline by one of the doors."""
    rag = load("signals_rag", store=store, generator=scripted("In 1901 [1]."), **parts)
    return run_by_door(rag, asynchronous=asynchronous, query=QUESTION)


def test_the_signals_are_weighted_as_the_design_says() -> None:
    """0.4 reranker (mean of the first three), 0.3 coverage, 0.3 agreement."""
    documents = [annotate(Document(content=text), rerank=score) for text, score in ((GOOD, 0.9), (GOOD_TOO, 0.7))]
    result = HeuristicGrader(weights="rerank").run(query=QUESTION, documents=documents)
    signals = result["signals"]["set"]
    assert signals["rerank"] == pytest.approx(0.8)
    expected = 0.4 * signals["rerank"] + 0.3 * signals["keyword"] + 0.3 * signals["agreement"]
    assert result["set_score"] == pytest.approx(expected, abs=1e-3)


def test_evaluation_adds_less_than_300_ms() -> None:
    """Ten documents of 200 words; in fact a few milliseconds."""
    documents = [Document(content=f"{GOOD} " * 15 + str(n)) for n in range(10)]
    grader = HeuristicGrader(weights="rerank")
    grader.warm_up()
    start = time.thread_time()
    grader.run(query=QUESTION, documents=documents)
    assert time.thread_time() - start < 0.3


@BOTH
def test_correct_the_documents_are_refined_and_used(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """No web, one LLM call for the answer."""
    fill(in_memory_store, [Document(content=text) for text in (GOOD, GOOD_TOO)])
    result = run(in_memory_store, asynchronous=asynchronous)
    assert result["crag"]["verdict"] == "correct"
    assert result["crag"]["score"] >= 0.7
    assert texts(result)
    assert any("opened" in text for text in texts(result))
    assert metasearch.queries == []
    assert result["crag"]["llm_calls"] == 1


@BOTH
def test_ambiguous_strips_beside_the_web(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """Refined documents and web results together."""
    fill(in_memory_store, [Document(content=PART)])
    metasearch.finds(["The bridge over the river was opened in 1901."])
    result = run(in_memory_store, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "ambiguous"
    assert result["crag"]["strategy"] == "web_and_refine"
    assert "The bridge over the river was opened in 1901." in texts(result)
    assert {document.meta["crag"]["origin"] for document in result["documents"]} <= {"web", "index"}


@BOTH
def test_incorrect_the_web_replaces(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """Intentionally bad retrieval: none of it remains."""
    fill(in_memory_store, [Document(content=OTHER)])
    metasearch.finds(["The bridge over the river was opened in 1901."])
    result = run(in_memory_store, asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["verdict"] == "incorrect"
    assert texts(result) == ["The bridge over the river was opened in 1901."]


@BOTH
def test_a_web_that_fails_adds_nothing_and_says_so(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """The design would add an empty text."""
    fill(in_memory_store, [Document(content=PART)])
    metasearch.status = 500
    result = run(in_memory_store, asynchronous=asynchronous)
    assert result["crag"]["coverage"]["web"] == "failed"
    assert texts(result)
    assert all(texts(result))


def test_the_web_is_left_alone_after_a_failure(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Over-correction is the design's own first risk: a cool-down."""
    fill(in_memory_store, [Document(content=OTHER)])
    metasearch.status = 429
    rag = load("signals_rag", store=in_memory_store, generator=scripted("x"))
    statuses = [rag.run(query=f"{QUESTION} {n}")["crag"]["coverage"]["web"] for n in range(3)]
    rag.close()
    assert statuses == ["failed", "cooldown", "cooldown"]
    assert len(metasearch.queries) == 1


@BOTH
def test_the_web_has_a_timeout(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """A slow search does not hold the answer."""
    fill(in_memory_store, [Document(content=PART)])
    metasearch.delay = 60
    started = time.monotonic()
    result = run(in_memory_store, asynchronous=asynchronous, web={"timeout_s": 0.5})
    assert time.monotonic() - started < 15
    assert result["crag"]["coverage"]["web"] == "failed"


def test_a_chunk_that_is_half_as_relevant_as_the_best_is_left_out(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Chunks above 0.5 stay whole."""
    fill(in_memory_store, [Document(content=text) for text in (GOOD, GOOD_TOO, "Ducks swim on ponds, they say.")])
    found = texts(run(in_memory_store, asynchronous=False, router={"upper": 0.1, "lower": 0.0}))
    assert GOOD in found
    assert "Ducks swim on ponds, they say." not in found


def test_a_chunk_that_answers_in_fewer_of_the_words_is_kept(in_memory_store: Any, metasearch: Metasearch) -> None:
    """By shared words it had less than half of the best one's relevance, and the answer was lost."""
    pages = [
        "The bridge over the river is the longest of the county.",
        "The river was wide, and a bridge over it was wanted when trade grew.",
        "It opened in 1901: that year the mayor and a band walked over the bridge.",
        "Ducks swim on ponds, they say.",
    ]
    fill(in_memory_store, [Document(content=text) for text in pages])
    found = texts(run(in_memory_store, asynchronous=False, router={"upper": 0.1, "lower": 0.0}))
    assert pages[2] in found
    assert pages[3] not in found


def test_strips_stay_within_the_token_budget(in_memory_store: Any, metasearch: Metasearch) -> None:
    """4,096 tokens by default; here less, so that it shows."""
    pages = [f"{GOOD} The bridge over the river was opened again in {1902 + n}." for n in range(6)]
    fill(in_memory_store, [Document(content=text) for text in pages])
    result = run(in_memory_store, asynchronous=False, strips={"max_tokens": 40})
    assert texts(result)
    assert sum(count_tokens(text) for text in texts(result)) <= 40
