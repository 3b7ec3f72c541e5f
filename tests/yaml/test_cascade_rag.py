"""cascade_rag.yml: the model is asked where the scorer is not sure, once, and nowhere else."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, component
from makers import asked, fill, grading_by, run_by_door, scripted

from haystack_integrations.crag.caching.memory import MemoryGradeCache
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.grades import Grade, grade_of, question_id, with_grade
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.state import CragState, given_in_run

QUESTION = "What are the two moons of Mars called?"
MARS = "The two moons of Mars are called Phobos and Deimos."
OTHERS = ["Jupiter has more than ninety moons.", "Venus has no moons at all.", "Mars is called the red planet."]

Told = Callable[[int], tuple[str, float]]


@component
class Scorer:
    """Grades by a function of the text, with a verdict and its probability for each pass; keeps what was given."""

    def __init__(self, score: Callable[[str], float], verdict: Told | None = None) -> None:
        self.score, self.verdict = score, verdict

    @component.output_types(documents=list[Document], report=dict[str, Any])
    def run(self, query: str, documents: list[Document], state: CragState) -> dict[str, Any]:
        question = question_id(query)
        if state.mode == "off":
            return {"documents": documents, "report": {}}
        graded = [
            with_grade(
                d, given_in_run(state, d, question) or Grade(self.score(d.content or ""), "graded", "s", question)
            )
            for d in documents
        ]
        report: dict[str, Any] = {"signals": {"set": {"told": 1.0}}, "set_score": 0.5}
        if self.verdict is not None:
            verdict, probability = self.verdict(state.iteration)
            report["verdict"] = {"verdict": verdict, "probabilities": {verdict: probability}}
            report["set_score"] = {"correct": 0.9, "ambiguous": 0.5, "incorrect": 0.1}[verdict]
        return {"documents": graded, "report": report}


def always(verdict: str, probability: float) -> Told:
    """The same verdict in every pass."""
    return lambda _: (verdict, probability)


class Asked:
    """A grading model that remembers what it was asked about, in which call."""

    def __init__(self, score: Callable[[str], float]) -> None:
        self.calls: list[list[str]] = []
        model = grading_by(score)

        def reply(messages: Any) -> str:
            self.calls.append(sorted(asked(messages).values()))
            return str(model.run(messages)["replies"][0].text)

        self.model = scripted(reply)


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Four short documents."""
    fill(in_memory_store, [Document(content=text) for text in [MARS, *OTHERS]])
    return in_memory_store


def run(store: Any, scorer: Any, model: Any, *, asynchronous: bool = False, **inputs: Any) -> dict[str, Any]:
    """Run the cascade once."""
    rag = load("cascade_rag", store=store, scorer=scorer, grader=model, generator=scripted("Two [1]."))
    arguments = {"query": QUESTION, **inputs}
    return dict(asyncio.run(rag.run_async(**arguments)) if asynchronous else rag.run(**arguments))


def likely(text: str) -> float:
    """A scorer's opinion: sure of two documents, not of those about Mars."""
    return 0.5 if "Mars" in text else 0.01


ONE = {"llm_calls": 1}
BOTH_DOORS = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@BOTH_DOORS
def test_a_sure_correct_costs_no_grading_call(store: Any, asynchronous: bool) -> None:
    """One call, for the answer; the trail says how sure the scorer was."""
    model = Asked(lambda _: 0.1)
    result = run(store, Scorer(likely, always("correct", 0.9)), model.model, asynchronous=asynchronous)
    assert model.calls == []
    assert (result["crag"]["verdict"], result["crag"]["llm_calls"]) == ("correct", 1)
    assert {document.content for document in result["documents"]} == {MARS, OTHERS[2]}
    assert result["answers"][0].data == "Two [1]."
    assert result["crag"]["trail"][0]["cascade"] == {
        "asked": 0,
        "verdict": "correct",
        "certainty": 0.9,
        "calibrated": None,
    }


@BOTH_DOORS
def test_an_unsure_one_costs_one_call_about_the_unsure_middle(store: Any, asynchronous: bool) -> None:
    """The others keep their grade; the router sees all four, and what the scorer measured stays on record."""
    model = Asked(lambda text: 0.9 if text == MARS else 0.1)
    result = run(store, Scorer(likely, always("incorrect", 0.6)), model.model, asynchronous=asynchronous)
    assert model.calls == [sorted([MARS, OTHERS[2]])]
    decision = result["crag"]["trail"][0]
    assert (decision["verdict"], decision["score"], decision["action"]) == ("correct", 0.9, "generate")
    assert decision["cascade"] == {"asked": 2, "verdict": "incorrect", "certainty": 0.6, "calibrated": None}
    assert decision["signals"] == {"set": {"told": 1.0}}
    assert (decision["coverage"]["graded"], decision["coverage"]["cached"]) == (2, 2)
    assert result["crag"]["llm_calls"] == 2
    assert [grade.grader for d in result["documents"] if (grade := grade_of(d))] == ["BatchRelevanceGrader"]


@BOTH_DOORS
def test_a_sure_incorrect_is_corrected_without_a_grading_call(store: Any, asynchronous: bool) -> None:
    """Both passes cost nothing, and the end is an explained abstention."""
    model = Asked(lambda _: 0.9)
    scorer = Scorer(lambda _: 0.01, always("incorrect", 0.97))
    result = run(store, scorer, model.model, asynchronous=asynchronous)
    assert model.calls == []
    assert [decision["action"] for decision in result["crag"]["trail"]] == ["re_retrieve", "abstain"]
    assert result["crag"]["llm_calls"] == 0
    assert result["answers"][0].data.startswith("The documents do not answer this question.")


@BOTH_DOORS
def test_a_model_that_fails_leaves_failed_grades_and_no_verdict(store: Any, asynchronous: bool) -> None:
    """The cheap grade does not come back in disguise: ungraded, kept, answered from with a warning, no web."""
    scorer = Scorer(likely, always("incorrect", 0.6))
    result = run(store, scorer, scripted("no judgement today"), asynchronous=asynchronous)
    record = result["crag"]
    assert (record["verdict"], record["action"], record["coverage"]["web"]) == ("ungraded", "generate", "off")
    assert record["coverage"]["failed"] == 2
    assert any(reason.startswith("grader_partial:") for reason in record["coverage"]["reasons"])
    assert {(grade.score, grade.status) for d in result["documents"] if (grade := grade_of(d))} == {(0.5, "failed")}


@BOTH_DOORS
def test_a_later_pass_asks_about_what_the_scorer_alone_had_graded(store: Any, asynchronous: bool) -> None:
    """Sure in the first pass, unsure in the second: the run's memory of cheap grades spares no question."""
    model = Asked(lambda text: 0.9 if text == MARS else 0.1)
    scorer = Scorer(likely, lambda iteration: ("incorrect", 0.6 if iteration else 0.9))
    result = run(store, scorer, model.model, asynchronous=asynchronous)
    first, second = result["crag"]["trail"]
    assert (first["action"], first["cascade"]["asked"]) == ("re_retrieve", 0)
    assert (second["verdict"], second["cascade"]["asked"]) == ("correct", 2)
    assert model.calls == [sorted([MARS, OTHERS[2]])]


@BOTH_DOORS
def test_what_the_model_has_said_holds_against_a_scorer_that_is_sure_later(store: Any, asynchronous: bool) -> None:
    """No document is graded twice, and a verdict that does not know the model's grades does not count."""
    model = Asked(lambda _: 0.1)
    scorer = Scorer(likely, lambda iteration: ("correct", 0.99 if iteration else 0.5))
    result = run(store, scorer, model.model, asynchronous=asynchronous)
    assert len(model.calls) == 1
    assert [decision["verdict"] for decision in result["crag"]["trail"]] == ["incorrect", "incorrect"]
    assert result["crag"]["trail"][1]["score"] == 0.1
    assert result["documents"] == []


@BOTH_DOORS
def test_gate_and_router_run_once_for_each_pass(store: Any, exporter: Any, asynchronous: bool) -> None:
    """Whichever branch is taken; the spans say that the cascade asked, in numbers and without text."""
    scorer = Scorer(likely, lambda iteration: ("incorrect", 0.6 if iteration else 0.9))
    result = run(store, scorer, grading_by(lambda _: 0.1), asynchronous=asynchronous)
    spans = sorted(exporter.get_finished_spans(), key=lambda span: span.start_time)
    gates = [span.attributes for span in spans if span.name == "crag.cascade"]
    routes = [span.attributes for span in spans if span.name == "crag.route"]
    assert len(gates) == len(routes) == len(result["crag"]["trail"]) == 2
    assert [gate["crag.cascade.asked"] for gate in gates] == [0, 2]
    assert [route["crag.cascade.asked"] for route in routes] == [0, 2]
    assert [gate["crag.cascade.certainty"] for gate in gates] == [0.9, 0.6]
    assert "moons" not in " ".join(span.to_json() for span in spans if span.name.startswith("crag.")).lower()


def test_observe_changes_nothing_and_records_everything(store: Any) -> None:
    """The first step of a careful team."""
    result = run(store, Scorer(likely, always("incorrect", 0.9)), grading_by(lambda _: 0.9), mode="observe")
    assert result["crag"]["action"] == "re_retrieve"
    assert result["crag"]["corrected"] is False
    assert len(result["documents"]) == 4


def test_off_is_plain_rag_without_a_grading_call(store: Any) -> None:
    """Only the answer is paid for."""
    result = run(store, Scorer(likely, always("incorrect", 0.9)), grading_by(lambda _: 0.9), mode="off")
    assert result["crag"]["llm_calls"] == 1
    assert len(result["documents"]) == 4


def test_a_spent_budget_ends_the_run_and_no_cheap_grade_steps_in(store: Any) -> None:
    """The one call is spent on the first pass; the second cannot be judged, and no third is begun."""
    model = Asked(lambda text: 0.5 if text == MARS else 0.1)
    result = run(store, Scorer(likely, always("incorrect", 0.6)), model.model, budget={"llm_calls": 1})
    assert len(model.calls) == 1
    assert result["crag"]["limit"] == "llm_calls"
    assert [grade.grader for d in result["documents"] if (grade := grade_of(d))] == ["BatchRelevanceGrader"]


@component
class FewWords:
    """A ranker: the fewer words, the better."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        scored = [Document(id=d.id, content=d.content, score=1 / len(str(d.content).split())) for d in documents]
        return {"documents": scored}


def test_a_ranker_can_be_the_scorer(store: Any) -> None:
    """What it is not sure of goes to the model."""
    model = Asked(lambda text: 0.9 if text == MARS else 0.1)
    result = run(store, RankerGrader(FewWords()), model.model)
    assert len(model.calls[0]) == 4
    assert result["crag"]["verdict"] == "correct"


@BOTH_DOORS
def test_a_small_model_can_be_the_scorer_also_where_a_cache_has_its_grades(store: Any, asynchronous: bool) -> None:
    """Whatever brought its grades, the large model is asked, for each question anew; and once in a run."""
    small, large = Asked(lambda _: 0.5), Asked(lambda text: 0.5 if text == MARS else 0.1)
    scorer = BatchRelevanceGrader(small.model, cache=MemoryGradeCache())
    rag = load("cascade_rag", store=store, scorer=scorer, grader=large.model, generator=scripted("Two [1]."))
    records = [run_by_door(rag, asynchronous=asynchronous, query=QUESTION)["crag"] for _ in range(2)]
    assert [(record["verdict"], len(record["trail"])) for record in records] == [("ambiguous", 2)] * 2
    assert [len(one.calls) for one in (small, large)] == [1, 2]


@BOTH_DOORS
def test_what_a_small_model_spent_is_not_left_for_the_large_one(store: Any, asynchronous: bool) -> None:
    """Both ask out of one budget; the large one's failure is told, and the small one's grade takes no place of it."""
    small, large = Asked(lambda _: 0.5), Asked(lambda _: 0.9)
    record = run(store, BatchRelevanceGrader(small.model), large.model, asynchronous=asynchronous, budget=ONE)["crag"]
    assert [len(one.calls) for one in (small, large)] == [1, 0]
    assert (record["verdict"], record["llm_calls"]) == ("ungraded", 2)  # with the one for the answer
    assert record["coverage"]["reasons"] == ["grader_failed:llm_calls"]


@pytest.mark.parametrize("scorer", [None, {"weights": "evidence"}], ids=["calibrated", "preset"])
def test_it_runs_with_the_scorer_that_it_ships(store: Any, scorer: Any) -> None:
    """With a verdict or without one: at most one grading call for each pass, and the cascade on record."""
    result = run(store, scorer, grading_by(lambda text: 0.9 if text == MARS else 0.1))
    assert result["crag"]["llm_calls"] <= 1 + len(result["crag"]["trail"])
    assert all(decision["cascade"] is not None for decision in result["crag"]["trail"])
    assert result["answers"][0].data == "Two [1]."


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_model_that_rejects_the_answer_and_likes_another_loses_no_answer(store: Any, *, asynchronous: bool) -> None:
    """What the scorer thought keeps it in the evidence, and the record shows what both said."""
    scorer = Scorer(lambda text: 0.8 if text == MARS else 0.2, always("ambiguous", 0.6))
    model = Asked(lambda text: 0.1 if text == MARS else 0.9)
    result = run(store, scorer, model.model, asynchronous=asynchronous)
    assert MARS in [document.content for document in result["documents"]]
    (entry,) = [one for one in result["crag"]["kept"] if one["score"] == 0.1]
    assert (entry["opinion"], entry["grader"]) == (0.8, "BatchRelevanceGrader")
    assert len(model.calls) == 1


def test_what_the_scorer_liked_alone_is_no_evidence(store: Any) -> None:
    """The model has the word on the verdict: if it rejects everything, the answer is that there is none."""
    scorer = Scorer(lambda text: 0.8 if text == MARS else 0.2, always("ambiguous", 0.6))
    result = run(store, scorer, Asked(lambda _: 0.1).model)
    assert (result["crag"]["action"], result["documents"]) == ("abstain", [])
