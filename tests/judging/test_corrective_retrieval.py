"""corrective_retrieval.yml end to end: verdicts by the shipped model, without a language model."""

from typing import Any

import orjson
import pytest
from haystack import Document
from haystack.core.errors import PipelineRuntimeError
from judging_texts import calibration
from makers import fill, run_by_door, scripted

from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.pipelines import load

QUESTION = "What are the two moons of Mars called?"
MOONS = "The two moons of Mars are called Phobos and Deimos."
OTHERS = ["Jupiter has more than ninety moons.", "Venus has no moons at all.", "Mars is called the red planet."]
STRANGE = "Which cheese goes with quince jelly?"

BOTH_DOORS = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Four short documents."""
    fill(in_memory_store, [Document(content=text) for text in (MOONS, *OTHERS)])
    return in_memory_store


def ask(store: Any, query: str = QUESTION, *, asynchronous: bool = False, **inputs: Any) -> dict[str, Any]:
    """Run the pipeline as it is shipped."""
    return run_by_door(load("corrective_retrieval", store=store), asynchronous=asynchronous, query=query, **inputs)


@BOTH_DOORS
def test_the_shipped_models_verdict_decides(store: Any, asynchronous: bool) -> None:
    """One pass for evidence that answers; the record has the verdict's probabilities."""
    record = ask(store, asynchronous=asynchronous)["crag"]
    assert (record["verdict"], record["rule"], len(record["trail"])) == ("correct", "set_verdict", 1)
    chances = record["signals"]["set"]
    assert record["score"] == chances["probability_correct"] > chances["probability_incorrect"]
    assert chances["calibrated"] is False
    assert MOONS in [document.content for document in ask(store)["documents"]]


@BOTH_DOORS
def test_a_question_that_nothing_answers_ends_without_evidence(store: Any, asynchronous: bool) -> None:
    """After a correction, with the account of what was looked for."""
    result = ask(store, STRANGE, asynchronous=asynchronous)
    record = result["crag"]
    assert (record["verdict"], record["action"], result["documents"]) == ("incorrect", "abstain", [])
    assert record["trail"][0]["action"] == "re_retrieve"
    assert record["abstention"]
    assert record["llm_calls"] == 0


@BOTH_DOORS
def test_observe_says_what_it_would_do_and_passes_everything_on(store: Any, asynchronous: bool) -> None:
    """One pass, all four documents."""
    result = ask(store, STRANGE, asynchronous=asynchronous, mode="observe")
    assert (result["crag"]["verdict"], result["crag"]["action"]) == ("incorrect", "re_retrieve")
    assert result["crag"]["corrected"] is False
    assert len(result["documents"]) == 4


def test_off_judges_nothing(store: Any) -> None:
    """Plain retrieval."""
    result = ask(store, STRANGE, mode="off")
    assert (result["crag"]["verdict"], len(result["documents"])) == ("ungraded", 4)


def test_a_calibration_of_this_pipelines_retrievers_takes_its_lists(store: Any, tmp_path: Any) -> None:
    """And one of others is refused."""
    file = tmp_path / "own.json"
    for retrievers in (("bm25", "dense"), ("web",)):
        file.write_bytes(orjson.dumps(calibration(retrievers=retrievers).to_dict()))
        rag = load("corrective_retrieval", store=store, grader=HeuristicGrader(calibration=str(file)))
        if "web" in retrievers:
            with pytest.raises(PipelineRuntimeError, match=r"\['web'\], but these documents come from"):
                rag.run(query=QUESTION)
        else:
            assert rag.run(query=QUESTION)["crag"]["signals"]["set"]["calibrated"] is True


@pytest.mark.parametrize("name", ["corrective_retrieval", "paper_rag"])
def test_the_grader_asks_the_store_that_is_searched_for_the_words_frequencies(store: Any, name: str) -> None:
    """As a calibration met them: those of ten retrieved documents cost scifact a tenth of its macro-F1."""
    rag = load(name, store=store, generator=scripted("An answer [1]."))
    assert rag.run(query=QUESTION)["crag"]["signals"]["set"]["statistics"] == "store"
    rag.close()


def test_the_scorer_of_a_cascade_asks_the_store_too(store: Any) -> None:
    """It is calibrated like any other."""
    rag = load("cascade_rag", store=store, generator=scripted("An answer [1]."))
    assert rag.pipeline.get_component("scorer").document_store is store
    rag.close()


def test_without_a_store_the_retrieved_documents_have_to_do(store: Any) -> None:
    """A grader of one's own that is given none."""
    rag = load("corrective_retrieval", store=store, grader=HeuristicGrader())
    assert rag.run(query=QUESTION)["crag"]["signals"]["set"]["statistics"] == "retrieved"
    rag.close()


def test_a_calibration_for_few_wrong_answers_holds_for_the_whole_run(store: Any, tmp_path: Any) -> None:
    """A second search is no way around it: without the limit the last pass is answered from what passed the filter."""
    file, given = tmp_path / "own.json", []
    for limit in (None, 0.999):
        file.write_bytes(orjson.dumps(calibration(correct_from=limit).to_dict()))
        rag = load("corrective_retrieval", store=store, grader=HeuristicGrader(calibration=str(file)))
        given.append(rag.run(query="Which planet has more than ninety moons, and is it called red?"))
    free, bound = (result["crag"] for result in given)
    assert (free["action"], bound["action"], bound["thresholds"]["correct_from"]) == ("generate", "abstain", 0.999)
    assert bound["verdict"] != "correct"
    assert given[1]["documents"] == []
