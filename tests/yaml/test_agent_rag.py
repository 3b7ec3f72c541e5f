"""agent_rag.yml: every scenario of design 000, on the real pipeline with scripted model words."""

import asyncio
import logging
from typing import Any

import pytest
from haystack import Document
from makers import asked, fill, grading_by, scripted

from haystack_integrations.crag.pipelines import load

QUESTION = "How long does the battery of the drill last?"
DRILL = [f"Battery of the drill, note {n}: the drill lasts long on one battery charge." for n in range(4)]
SAW = [f"The circular saw, note {n}: blades and guides for the wood shop." for n in range(4)]
POWER = [f"An accumulator pack {n}: duration per charging cycle." for n in range(4)]


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """A small shop's manual."""
    documents = [Document(content=text, meta={"source": f"{text.split(',')[0]}.md"}) for text in DRILL + SAW + POWER]
    fill(in_memory_store, documents)
    return in_memory_store


def run(store: Any, score: Any, *, asynchronous: bool = False, **inputs: Any) -> dict[str, Any]:
    """Run the pipeline with a grader that scores by a function of the text (or answers with a fixed text)."""
    grader = grading_by(score) if callable(score) else scripted(score)
    rag = load("agent_rag", store=store, grader=grader, generator=scripted("About an hour [1]."))
    arguments = {"query": QUESTION, **inputs}
    return asyncio.run(rag.run_async(**arguments)) if asynchronous else rag.run(**arguments)


def actions(result: dict[str, Any]) -> list[str]:
    """The action of each pass."""
    return [decision["action"] for decision in result["crag"]["trail"]]


BOTH_DOORS = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@BOTH_DOORS
def test_rule_read_file_results_auto_approve(store: Any, asynchronous: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Scores 1.0, action GENERATE, no grading call, `fast_path_hit` with the rule's name."""
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        result = run(store, lambda _: 0.1, asynchronous=asynchronous, tool_history=[{"tool": "read_file"}])
    assert actions(result) == ["generate"]
    assert {entry["score"] for entry in result["crag"]["kept"]} == {1.0}
    assert result["crag"]["rule"] == "rule:read_file"
    assert result["crag"]["llm_calls"] == 1  # the answer
    assert "fast_path_hit: rule_name=read_file" in caplog.text


@BOTH_DOORS
def test_rule_few_context_items_auto_approve(store: Any, asynchronous: bool) -> None:
    """Two documents or fewer are approved without a grading call."""
    result = run(store, lambda _: 0.1, asynchronous=asynchronous, top_k=2)
    assert result["crag"]["rule"] == "rule:few_context"
    assert result["crag"]["llm_calls"] == 1
    assert len(result["documents"]) == 2


@BOTH_DOORS
def test_rule_high_vector_score_auto_approve(store: Any, asynchronous: bool) -> None:
    """All items come from vector search and reach the threshold."""
    history = [{"tool": "vector_search", "scores": [0.9] * 10}]
    result = run(store, lambda _: 0.1, asynchronous=asynchronous, tool_history=history)
    assert result["crag"]["rule"] == "rule:high_vector_score"
    assert result["crag"]["llm_calls"] == 1


@BOTH_DOORS
@pytest.mark.parametrize("call", [{"tool": "read_file"}, {"tool": "vector_search", "scores": [0.9] * 10}])
def test_what_an_agent_found_before_approves_nothing_that_a_correction_finds(
    store: Any, call: dict[str, Any], asynchronous: bool
) -> None:
    """No word of the question is in the index, so the first search finds nothing, and vectors find anything."""
    asked = {"query": "Who repairs bicycles?", "tool_history": [call]}
    result = run(store, lambda _: 0.1, asynchronous=asynchronous, **asked)["crag"]
    assert [decision["coverage"]["documents_in"] > 0 for decision in result["trail"]][:2] == [False, True]
    assert (result["verdict"], result["coverage"]["approved"]) == ("incorrect", 0)


@BOTH_DOORS
def test_no_rule_matched_all_items_are_graded_in_a_single_batch_call(store: Any, asynchronous: bool) -> None:
    """N documents, one call, N scores on record."""
    result = run(store, lambda _: 0.9, asynchronous=asynchronous)
    assert result["crag"]["coverage"]["llm_calls"] == 2  # one grading, one answer
    assert result["crag"]["coverage"]["graded"] == result["crag"]["documents_before"] > 2
    assert {entry["score"] for entry in result["crag"]["kept"]} == {0.9}


def test_a_json_array_of_scores_is_understood(store: Any) -> None:
    """The design's own reply form: an array of N floats."""
    result = run(store, lambda _: 0.9)
    count = result["crag"]["documents_before"]
    again = run(store, str([0.8] * count))
    assert {entry["score"] for entry in again["crag"]["kept"]} == {0.8}


@BOTH_DOORS
def test_parse_failure_gives_every_item_half_marks_and_a_warning(
    store: Any, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """0.5 for all, visible as failed, and handled as mixed evidence: never as irrelevant."""
    with caplog.at_level(logging.WARNING, logger="haystack_integrations"):
        result = run(store, "I am not sure.", asynchronous=asynchronous)
    first = result["crag"]["trail"][0]
    assert {entry["score"] for entry in first["kept"]} == {0.5}
    assert first["verdict"] == "ungraded"
    assert first["action"] == "refine"
    assert result["answers"][0].data == "About an hour [1]."
    assert "score 0.5" in caplog.text


@BOTH_DOORS
def test_low_score_evidence_is_removed_and_on_record(store: Any, asynchronous: bool) -> None:
    """A document below 0.3 does not reach the answer."""
    result = run(store, lambda text: 0.2 if "note 3" in text else 0.9, asynchronous=asynchronous)
    assert not any("note 3" in (document.content or "") for document in result["documents"])
    assert {entry["reason"] for entry in result["crag"]["discarded"]} == {"below_filter"}


@BOTH_DOORS
def test_all_evidence_below_threshold_triggers_re_retrieve(store: Any, asynchronous: bool) -> None:
    """Instead of an answer from nothing, the next pass uses another retrieval strategy."""
    result = run(store, lambda _: 0.1, asynchronous=asynchronous)
    assert actions(result) == ["re_retrieve", "re_retrieve", "generate"]
    assert result["crag"]["retrieval"] == ["bm25", "dense", "expanded_hybrid"]
    assert result["crag"]["strategy"] == "expand"
    expanded = [entry["strategy"] for entry in result["crag"]["corrections"] if entry["type"] == "expand"]
    assert expanded == ["dense", "expanded_hybrid"]


@BOTH_DOORS
@pytest.mark.parametrize("score", [0.7, 0.95])
def test_high_quality_evidence_triggers_generate(store: Any, score: float, asynchronous: bool) -> None:
    """The mean of the filtered evidence is at least 0.7."""
    result = run(store, lambda _: score, asynchronous=asynchronous)
    assert actions(result) == ["generate"]
    assert result["crag"]["verdict"] == "correct"
    assert result["crag"]["corrected"] is False


@BOTH_DOORS
@pytest.mark.parametrize("score", [0.3, 0.69])
def test_mixed_quality_evidence_triggers_refine_and_keeps_what_scored(
    store: Any, score: float, asynchronous: bool
) -> None:
    """Kept documents stay, and the search goes on with refined keywords."""
    result = run(store, lambda text: score if "drill" in text else 0.1, asynchronous=asynchronous)
    trail = result["crag"]["trail"]
    assert trail[0]["action"] == "refine"
    assert trail[1]["query"] != trail[0]["query"] == QUESTION
    assert {entry["id"] for entry in trail[0]["kept"]} <= {entry["id"] for entry in trail[1]["kept"]}


@BOTH_DOORS
def test_poor_evidence_tries_a_different_retrieval_strategy_until_it_finds(store: Any, asynchronous: bool) -> None:
    """BM25 cannot find other words for a battery; the dense pass can: the strategies really differ."""

    def only_power(text: str) -> float:
        return 0.9 if "accumulator" in text else 0.0

    result = run(store, only_power, asynchronous=asynchronous)
    assert actions(result)[0] == "re_retrieve"
    assert result["crag"]["verdict"] == "correct"
    assert {"accumulator" in (document.content or "") for document in result["documents"]} == {True}


@BOTH_DOORS
def test_max_iterations_reached_answers_from_the_best_evidence_there_is(
    store: Any, asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KB_AGENT_MAX_ITERATIONS passes, then an answer even from low-scored evidence."""
    monkeypatch.setenv("KB_AGENT_MAX_ITERATIONS", "2")
    result = run(store, lambda text: 0.2 if "drill" in text else 0.1, asynchronous=asynchronous)
    assert result["crag"]["iterations"] == 2
    assert result["crag"]["limit"] == "max_iterations"
    assert result["answers"][0].data == "About an hour [1]."
    assert "drill" in (result["documents"][0].content or "")


def test_thresholds_come_from_the_environment(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """KB_AGENT_AUTO_APPROVE_MAX_ITEMS and KB_AGENT_VECTOR_SCORE_THRESHOLD, with the defaults 2 and 0.8."""
    monkeypatch.setenv("KB_AGENT_AUTO_APPROVE_MAX_ITEMS", "10")
    assert run(store, lambda _: 0.1)["crag"]["rule"] == "rule:few_context"
    monkeypatch.setenv("KB_AGENT_AUTO_APPROVE_MAX_ITEMS", "2")
    monkeypatch.setenv("KB_AGENT_VECTOR_SCORE_THRESHOLD", "0.95")
    history = [{"tool": "vector_search", "scores": [0.9] * 10}]
    assert run(store, lambda _: 0.9, tool_history=history)["crag"]["rule"] == "upper_threshold"


@pytest.mark.parametrize("k", [3, 5, 10, 20])
def test_grading_costs_one_call_whatever_k(in_memory_store: Any, k: int) -> None:
    """k documents: one grading call and one answer."""
    fill(in_memory_store, [Document(content=f"the drill battery, note {n}") for n in range(25)])
    rag = load("agent_rag", store=in_memory_store, grader=grading_by(lambda _: 0.9), generator=scripted("An hour."))
    rag.pipeline.get_component("fuse").top_k = k
    result = rag.run(query=QUESTION, top_k=k)
    assert result["crag"]["documents_before"] == k
    assert result["crag"]["llm_calls"] == 2


def test_a_document_is_graded_once_in_a_run(store: Any) -> None:
    """Grades survive the loop: later passes ask about new documents only."""
    seen: list[str] = []

    def reply(messages: Any) -> str:
        texts = asked(messages)
        seen.extend(texts.values())
        return str(dict.fromkeys(texts, 0.1)).replace("'", '"')

    rag = load("agent_rag", store=store, grader=scripted(reply), generator=scripted("No."))
    result = rag.run(query=QUESTION)
    assert len(seen) == len(set(seen))
    assert result["crag"]["coverage"]["cached"] > 0
    assert result["crag"]["cache_hits"] == 0  # the run knew them; there is no cache


def test_an_empty_store_ends_with_a_reason_and_without_an_invented_answer(in_memory_store: Any) -> None:
    """No document in any pass: the router abstains and no model is asked."""
    result = run(in_memory_store, lambda _: 0.9)
    assert result["answers"][0].data.startswith("The documents do not answer this question.")
    assert result["crag"]["action"] == "abstain"
    assert result["crag"]["llm_calls"] == 0
    assert result["documents"] == []


@BOTH_DOORS
def test_a_model_that_never_grades_is_asked_six_times_and_the_run_still_ends_in_an_answer(
    store: Any, asynchronous: bool
) -> None:
    """Three gradings, each asked for once more; that this ended the run is on record."""
    calls: list[str] = []

    def reply(messages: Any) -> str:
        calls.append(messages[-1].text)
        return "All of them look quite good to me."

    rag = load("agent_rag", store=store, grader=scripted(reply), generator=scripted("About an hour [1]."))
    arguments = {"query": QUESTION}
    result = asyncio.run(rag.run_async(**arguments)) if asynchronous else rag.run(**arguments)
    crag = result["crag"]
    assert (len(calls), crag["llm_calls"]) == (6, 7)
    assert (crag["verdict"], crag["limit"], crag["action"]) == ("ungraded", "llm_calls", "generate")
    assert "limit:llm_calls" in crag["coverage"]["reasons"]
    assert (result["answers"][0].data, crag["answer"]["status"]) == ("About an hour [1].", "written")


def test_a_caller_may_allow_more_gradings(store: Any) -> None:
    """The budget of a run takes the place of the file's."""
    rag = load("agent_rag", store=store, grader=scripted("No idea."), generator=scripted("About an hour [1]."))
    assert rag.run(query=QUESTION, budget={"llm_calls": 20})["crag"]["llm_calls"] > 7
