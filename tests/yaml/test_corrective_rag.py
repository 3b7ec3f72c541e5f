"""corrective_rag.yml and corrective_retrieval.yml: one run for each branch, by both doors."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from haystack import Document
from makers import fill, grading_by, scripted
from scripted_model import NAME, ScriptedModel, judging

from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.pipelines.indexing import index

QUESTION = "What are the two moons of Mars called?"
MARS = "The two moons of Mars are called Phobos and Deimos."
OTHERS = ["Jupiter has more than ninety moons.", "Venus has no moons at all.", "Mars is called the red planet."]


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Four short documents."""
    documents = [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate([MARS, *OTHERS])]
    fill(in_memory_store, documents)
    return in_memory_store


def run(
    store: Any, grader: Any, *, asynchronous: bool = False, parts: dict[str, Any] | None = None, **inputs: Any
) -> dict[str, Any]:
    """Run the recommended pipeline once."""
    rag = load("corrective_rag", store=store, grader=grader, generator=scripted("Two [1]."), **(parts or {}))
    arguments = {"query": QUESTION, **inputs}
    return asyncio.run(rag.run_async(**arguments)) if asynchronous else rag.run(**arguments)


BOTH_DOORS = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@BOTH_DOORS
def test_correct_one_document_that_answers_is_enough(store: Any, asynchronous: bool) -> None:
    """Two calls: one grading, one answer; only what passed the filter reaches the prompt."""
    result = run(store, grading_by(lambda text: 0.9 if text == MARS else 0.1), asynchronous=asynchronous)
    assert result["crag"]["verdict"] == "correct"
    assert result["crag"]["llm_calls"] == 2
    assert [document.content for document in result["documents"]] == [MARS]
    assert result["answers"][0].data == "Two [1]."


@pytest.mark.parametrize("pipeline", ["corrective_rag", "cascade_rag"])
def test_every_passage_that_was_found_is_judged_however_long_they_are(in_memory_store: Any, pipeline: str) -> None:
    """As of a splitter of your own, 2,000 words each: what was left out before it was judged is missed by nobody."""
    texts = [f"Number {n}. " + "The moons of a planet are many. " * 290 for n in range(10)]
    fill(in_memory_store, [Document(content=text) for text in texts])
    grader = grading_by(lambda text: 0.9 if "Number 7." in text else 0.1)
    rag = load(pipeline, store=in_memory_store, grader=grader, generator=scripted("Two [1]."))
    crag = rag.run(query=QUESTION)["crag"]
    assert crag["documents_before"] == 10


@BOTH_DOORS
def test_ambiguous_evidence_is_refined_and_then_answered_from(store: Any, asynchronous: bool) -> None:
    """Evidence on topic is never thrown away; the model has the last word on whether it suffices."""
    result = run(store, grading_by(lambda text: 0.5 if "Mars" in text else 0.1), asynchronous=asynchronous)
    assert result["crag"]["trail"][0]["action"] == "refine"
    assert {document.content for document in result["documents"]} == {MARS, OTHERS[2]}
    assert result["answers"][0].data == "Two [1]."


@BOTH_DOORS
def test_incorrect_in_every_pass_ends_with_the_sentence_that_says_so(store: Any, asynchronous: bool) -> None:
    """No answer is generated; the record explains every document."""
    result = run(store, grading_by(lambda _: 0.1), asynchronous=asynchronous)
    assert result["answers"][0].data.startswith("The documents do not answer this question.")
    assert result["crag"]["action"] == "abstain"
    assert result["documents"] == []
    assert len(result["crag"]["discarded"]) == 4


@BOTH_DOORS
def test_a_correction_that_had_no_other_query_is_none(store: Any, asynchronous: bool) -> None:
    """A question of stop words has no other wording, and there is no other strategy: nothing was searched again."""
    inputs: dict[str, Any] = {"query": "What are the of and?", "parts": {"expander": {"strategies": []}}}
    crag = run(store, grading_by(lambda _: 0.1), asynchronous=asynchronous, **inputs)["crag"]
    assert [decision["action"] for decision in crag["trail"]] == ["re_retrieve", "abstain"]
    assert [decision["after"] for decision in crag["trail"]] == [None, None]
    assert (crag["corrected"], crag["strategy"]) == (False, "none")
    crag = run(store, grading_by(lambda _: 0.1), asynchronous=asynchronous)["crag"]
    assert [decision["after"] for decision in crag["trail"]] == [None, "re_retrieve"]
    assert (crag["corrected"], crag["strategy"]) == (True, "expand")


@BOTH_DOORS
def test_ungraded_evidence_is_answered_from_with_a_visible_warning(store: Any, asynchronous: bool) -> None:
    """An outage of the grader is not irrelevance, and nothing goes to the web."""
    result = run(store, scripted("no judgement today"), asynchronous=asynchronous)
    record = result["crag"]
    assert record["verdict"] == "ungraded"
    assert record["coverage"]["web"] == "off"
    assert any(reason.startswith("grader_failed") for reason in record["coverage"]["reasons"])
    assert len(result["documents"]) == 4
    assert result["answers"][0].data == "Two [1]."


@BOTH_DOORS
def test_observe_changes_nothing_and_records_everything(store: Any, asynchronous: bool) -> None:
    """The first step of a careful team."""
    result = run(store, grading_by(lambda _: 0.1), asynchronous=asynchronous, mode="observe")
    assert result["crag"]["action"] == "re_retrieve"
    assert result["crag"]["corrected"] is False
    assert len(result["documents"]) == 4
    assert result["answers"][0].data == "Two [1]."


def test_off_is_plain_rag_without_a_grading_call(store: Any) -> None:
    """Only the answer is paid for."""
    result = run(store, grading_by(lambda _: 0.1), mode="off")
    assert result["crag"]["llm_calls"] == 1
    assert len(result["documents"]) == 4


def test_a_spent_deadline_ends_with_evidence_and_a_reason(store: Any) -> None:
    """Nothing could be judged in time: the evidence is passed on, ungraded."""
    result = run(store, grading_by(lambda _: 0.9), budget={"seconds": 1e-6})
    assert result["crag"]["verdict"] == "ungraded"
    assert "grader_failed:deadline" in result["crag"]["coverage"]["reasons"]
    assert result["documents"]


def test_concurrent_runs_do_not_mix(store: Any) -> None:
    """One pipeline object, fifty runs at once: each has its own question, trail and documents."""
    rag = load(
        "corrective_rag", store=store, grader=grading_by(lambda t: 0.9 if t == MARS else 0.1), generator=scripted("x")
    )

    async def all_at_once() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(rag.run_async(query=f"{QUESTION} ({n})") for n in range(50))))

    for number, result in enumerate(asyncio.run(all_at_once())):
        assert result["crag"]["queries"] == [f"{QUESTION} ({number})"]
        assert result["crag"]["llm_calls"] == 2


def test_it_works_over_http_with_an_openai_compatible_server(store: Any, scripted_model: ScriptedModel) -> None:
    """The real client, a scripted server: two requests, keys and usage as they travel."""
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    scripted_model.reply = judging(lambda text: 0.9 if text == MARS else 0.1, "Two [1].")
    chat = OpenAIChatGenerator(
        api_key=Secret.from_token("k"), api_base_url=scripted_model.url, model=NAME, timeout=5, max_retries=0
    )
    with_http = load("corrective_rag", store=store, generator=chat)
    result = with_http.run(query=QUESTION)
    assert (scripted_model.calls, scripted_model.gradings) == (2, 1)
    assert result["answers"][0].data == "Two [1]."
    assert result["crag"]["tokens"]["in"] > 0
    scripted_model.status = 503
    failed = load("corrective_retrieval", store=store).run(query=QUESTION)
    assert failed["crag"]["llm_calls"] == 0
    with_http.close()


def test_corrective_retrieval_gives_evidence_and_trail_without_a_model(store: Any) -> None:
    """For a component or an agent's tool."""
    result = load("corrective_retrieval", store=store).run(query=QUESTION)
    assert MARS in [document.content for document in result["documents"]]
    assert result["crag"]["llm_calls"] == 0
    assert result["crag"]["signals"]


def test_corrective_retrieval_says_when_nothing_is_there(store: Any) -> None:
    """A question about something else entirely."""
    result = load("corrective_retrieval", store=store).run(query="Which cheese goes with quince jelly?")
    assert result["documents"] == []
    assert result["crag"]["action"] == "abstain"


@pytest.fixture
def handbook(tmp_path: Path, in_memory_store: Any) -> Any:
    """German words are long: 180 of them are 1,500 characters, and the answer is the last of them."""
    rule = "Unterhaltsverpflichtungen werden gesondert ausgewiesen, sofern Zahlungen vereinbart wurden. "
    pages = [f"Abschnitt {number}. {rule * 16}Mondname: Phobos{number}." for number in range(12)]
    (tmp_path / "handbuch.txt").write_text("\n\n".join(pages), encoding="utf-8")
    index(tmp_path, in_memory_store)
    assert any(len(document.content) > 1500 for document in in_memory_store.filter_documents())
    return in_memory_store


def asked_about_section_three(name: str, store: Any) -> dict[str, Any]:
    """The record of a run with a model that knows the answer when it sees it."""
    grader = grading_by(lambda text: 0.9 if "Phobos3" in text else 0.1)
    rag = load(name, store=store, grader=grader, generator=scripted("Phobos3 [1]."))
    record: dict[str, Any] = rag.run(query="Welcher Mondname steht in Abschnitt 3 bei Unterhaltsverpflichtungen?")[
        "crag"
    ]
    return record


@pytest.mark.parametrize("name", ["corrective_rag", "cascade_rag", "agent_rag", "strict_rag"])
def test_the_model_is_shown_the_whole_of_a_passage_as_crag_index_makes_it(handbook: Any, name: str) -> None:
    """No passage is cut, whatever is decided."""
    assert asked_about_section_three(name, handbook)["trail"][0]["grading"]["cut"] == 0


@pytest.mark.parametrize("name", ["corrective_rag", "cascade_rag"])
def test_an_answer_at_the_end_of_a_passage_is_found_in_one_grading_call(handbook: Any, name: str) -> None:
    """Cut short, the one document that answers would be refused."""
    record = asked_about_section_three(name, handbook)
    assert record["verdict"] == "correct"
    assert record["llm_calls"] <= 2
