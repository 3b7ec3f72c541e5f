"""ranked_rag.yml: the flow, the thresholds and every test case of design 002, on the real pipeline."""

import json
import re
from typing import Any

import pytest
from haystack import Document
from makers import asked, fill, run_by_door, scripted
from metasearch import Metasearch

from haystack_integrations.crag.pipelines import load

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
QUESTION = "What does the test query say?"


def run(
    store: Any, scores: list[int], *, asynchronous: bool = False, web_score: int = 9, **inputs: Any
) -> dict[str, Any]:
    """Run with a model that scores `chunk n` with the n-th number out of ten, and web pages with `web_score`."""

    def reply(messages: Any) -> str:
        entries = []
        for key, text in asked(messages).items():
            number = re.findall(r"chunk (\d+)", text)
            score = scores[int(number[0])] if number else web_score
            entries.append({"id": key, "score": score, "reason": f"because of {score}"})
        return json.dumps({"evaluations": entries})

    rag = load("ranked_rag", store=store, grader=scripted(reply), generator=scripted("An answer [1]."))
    return run_by_door(rag, asynchronous=asynchronous, query=QUESTION, **inputs)


def chunks(store: Any, count: int) -> Any:
    """Fill a store so that chunk 0 is retrieved first, chunk 1 second, and so on."""
    texts = [f"The test query says something, chunk {n}. " + "query " * (count - n) for n in range(count)]
    fill(store, [Document(content=text) for text in texts])
    return store


def first(result: dict[str, Any]) -> dict[str, Any]:
    """The decision about what was retrieved."""
    decision: dict[str, Any] = result["crag"]["trail"][0]
    return decision


def numbers(result: dict[str, Any]) -> list[int]:
    """The chunks among the evidence."""
    return sorted(int(n) for d in result["documents"] for n in re.findall(r"chunk (\d+)", d.content or ""))


@BOTH
def test_high_relevance_is_judged_correct(in_memory_store: Any, asynchronous: bool) -> None:
    """Scores 9 and 8 of 10: above 0.7, one grading call for all."""
    result = run(chunks(in_memory_store, 2), [9, 8], asynchronous=asynchronous)
    assert first(result)["verdict"] == "correct"
    assert first(result)["score"] > 0.7
    assert result["crag"]["llm_calls"] == 2


@BOTH
def test_low_relevance_is_judged_incorrect(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """Scores 2 and 1 of 10: below 0.3."""
    decision = first(run(chunks(in_memory_store, 2), [2, 1], asynchronous=asynchronous))
    assert decision["verdict"] == "incorrect"
    assert decision["score"] < 0.3


@BOTH
def test_mixed_relevance_is_judged_ambiguous(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """Scores 8, 3 and 5: the design's own code calls that correct, its test wants ambiguous."""
    assert first(run(chunks(in_memory_store, 3), [8, 3, 5], asynchronous=asynchronous))["verdict"] == "ambiguous"


@BOTH
def test_no_results_are_judged_incorrect(in_memory_store: Any, asynchronous: bool, metasearch: Metasearch) -> None:
    """Nothing to grade, no grading call for it."""
    decision = first(run(in_memory_store, [], asynchronous=asynchronous))
    assert (decision["verdict"], decision["rule"]) == ("incorrect", "no_documents")
    assert decision["coverage"]["llm_calls"] == 0


@BOTH
def test_correct_results_are_returned_as_they_are(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """All three, marked `keep` with the model's reason; no web."""
    result = run(chunks(in_memory_store, 3), [9, 9, 8], asynchronous=asynchronous)
    assert numbers(result) == [0, 1, 2]
    kept = [entry for entry in result["crag"]["corrections"] if entry["type"] == "keep"]
    assert len(kept) == 3
    assert result["crag"]["kept"][0]["reason"].startswith("because of")
    assert metasearch.queries == []


@BOTH
def test_incorrect_results_are_replaced_by_the_webs(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """The originals are discarded; what the web brings is graded, labelled and answered from."""
    metasearch.finds(["A page that answers."])
    result = run(chunks(in_memory_store, 3), [1, 1, 1], asynchronous=asynchronous)
    assert [document.content for document in result["documents"]] == ["A page that answers."]
    assert numbers(result) == []
    types = {entry["type"] for entry in result["crag"]["corrections"]}
    assert {"discard", "web_search"} <= types
    assert {"type": "web_search", "action": "web", "query": QUESTION} in result["crag"]["corrections"]
    assert result["crag"]["web_used"] is True
    assert metasearch.queries == [QUESTION]


@BOTH
def test_without_a_web_an_incorrect_retrieval_ends_with_an_empty_explained_result(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """Switched off for the run: no request, no documents, a sentence, a reason in the record."""
    result = run(chunks(in_memory_store, 3), [1, 1, 1], asynchronous=asynchronous, web=False)
    assert result["documents"] == []
    assert result["crag"]["action"] == "abstain"
    assert result["crag"]["coverage"]["web"] == "skipped"
    assert {entry["type"] for entry in result["crag"]["corrections"]} == {"discard"}
    assert "do not answer" in result["answers"][0].data
    assert metasearch.queries == []


@BOTH
def test_a_web_that_fails_ends_with_an_empty_explained_result(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """Visible as `failed`."""
    metasearch.status = 500
    result = run(chunks(in_memory_store, 2), [1, 1], asynchronous=asynchronous)
    assert result["documents"] == []
    assert result["crag"]["coverage"]["web"] == "failed"


@BOTH
def test_ambiguous_results_lose_those_below_the_filter(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """Scores 0.7, 0.2, 0.5: the second goes, with score and reason; fewer than 3 remain, so the web is asked."""
    metasearch.finds(["The test query says so on a page."])
    result = run(chunks(in_memory_store, 3), [7, 2, 5], asynchronous=asynchronous)
    assert first(result)["verdict"] == "ambiguous"
    assert numbers(result) == [0, 2]
    dropped = [entry for entry in first(result)["discarded"] if entry["reason"] == "below_filter"]
    assert [entry["score"] for entry in dropped] == [0.2]
    assert "The test query says so on a page." in [document.content for document in result["documents"]]
    assert len(metasearch.queries) == 1


@BOTH
def test_ambiguous_results_with_three_left_need_no_web(
    in_memory_store: Any, asynchronous: bool, metasearch: Metasearch
) -> None:
    """The design's condition reads so; its operators ask the web whatever the options say."""
    result = run(chunks(in_memory_store, 4), [5, 5, 5, 2], asynchronous=asynchronous)
    assert first(result)["verdict"] == "ambiguous"
    assert first(result)["rule"] == "enough_documents"
    assert numbers(result) == [0, 1, 2]
    assert metasearch.queries == []


def test_a_wide_spread_is_ambiguous_also_above_the_middle(in_memory_store: Any, metasearch: Metasearch) -> None:
    """The variance rule: more than 0.1."""
    decision = first(run(chunks(in_memory_store, 4), [10, 1, 10, 1]))
    assert (decision["verdict"], decision["judged_by"]) == ("ambiguous", "variance")


def test_a_middling_score_without_spread_is_correct(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Above 0.5, and nothing below the filter."""
    decision = first(run(chunks(in_memory_store, 3), [6, 6, 6]))
    assert (decision["verdict"], decision["judged_by"]) == ("correct", "middle")


def test_the_first_ranks_weigh_more(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Weights 1, 1/2, 1/3."""
    decision = first(run(chunks(in_memory_store, 3), [9, 5, 5]))
    assert decision["score"] == pytest.approx((0.9 + 0.5 / 2 + 0.5 / 3) / (1 + 1 / 2 + 1 / 3), abs=1e-3)


def test_a_score_of_exactly_the_lower_threshold_is_incorrect(in_memory_store: Any, metasearch: Metasearch) -> None:
    """At most 0.3, as the design has it."""
    assert first(run(chunks(in_memory_store, 1), [3]))["verdict"] == "incorrect"


def test_only_the_top_five_are_graded(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Of seven; each shown with 800 characters."""
    seen: list[dict[str, str]] = []

    def reply(messages: Any) -> str:
        seen.append(asked(messages))
        return json.dumps(dict.fromkeys(asked(messages), 9))

    store = chunks(in_memory_store, 7)
    load("ranked_rag", store=store, grader=scripted(reply), generator=scripted("x")).run(query=QUESTION)
    assert len(seen[0]) == 5
    assert all(len(text) <= 810 for text in seen[0].values())


def test_a_missing_score_is_no_five_of_ten(in_memory_store: Any, metasearch: Metasearch) -> None:
    """It is asked for once more, and then marked failed."""

    def reply(messages: Any) -> str:
        known = {key: 9 for key, text in asked(messages).items() if "chunk 1" not in text}
        return json.dumps(known)

    store = chunks(in_memory_store, 3)
    result = load("ranked_rag", store=store, grader=scripted(reply), generator=scripted("x")).run(query=QUESTION)
    failed = [entry for entry in first(result)["kept"] if entry["status"] == "failed"]
    assert len(failed) == 1
    assert first(result)["coverage"]["failed"] == 1
    assert first(result)["score"] == 0.9


def test_a_reply_that_cannot_be_read_never_goes_to_the_web(in_memory_store: Any, metasearch: Metasearch) -> None:
    """Ungraded, answered with a warning in the record."""
    store = chunks(in_memory_store, 3)
    result = load("ranked_rag", store=store, grader=scripted("Sorry."), generator=scripted("x")).run(query=QUESTION)
    assert first(result)["verdict"] == "ungraded"
    assert metasearch.queries == []
    assert result["crag"]["coverage"]["reasons"]
