"""CascadeGate: what it is sure of costs no call, and what it is not loses its cheap grade before the model sees it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from haystack import Document
from makers import graded, grading_by, scripted

from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.cascade_gate import CascadeGate
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, annotate, grade_of, question_id, with_grade
from haystack_integrations.crag.state import CragState, given_in_run, known_grades

QUESTION = "How long is the warranty?"


def docs(*scores: float, status: str = "graded") -> list[Document]:
    """One document for each score, graded by the cheap scorer."""
    return [graded(f"passage {number}", score, QUESTION, status) for number, score in enumerate(scores)]


def told(verdict: str, probability: float) -> dict[str, Any]:
    """A scorer's report with a verdict of this probability."""
    rest = (1 - probability) / 2
    probabilities = {"correct": rest, "ambiguous": rest, "incorrect": rest, verdict: probability}
    return {"set_score": 0.4, "signals": {"set": {}}, "verdict": {"verdict": verdict, "probabilities": probabilities}}


def by_model(score: float) -> Document:
    """A document that the model graded in an earlier pass."""
    grade = Grade(score, "cached", "BatchRelevanceGrader", question_id(QUESTION))
    return with_grade(Document(content="read by the model"), grade)


def test_a_verdict_that_is_sure_enough_stands_whatever_the_documents_score() -> None:
    """All documents keep their grade, and the scorer's report goes on whole."""
    documents = docs(0.6, 0.4)
    result = CascadeGate().run(query=QUESTION, documents=documents, report=told("correct", 0.85))
    assert set(result) == {"decided", "report"}
    assert result["decided"] == documents
    assert result["report"]["verdict"]["verdict"] == "correct"
    assert result["report"]["cascade"] == {"asked": 0, "verdict": "correct", "certainty": 0.85, "calibrated": None}


def test_of_an_unsure_verdict_only_the_documents_between_go_to_the_model() -> None:
    """They have no grade any more, all else stays on them; the verdict that did not stand is gone."""
    documents = [annotate(document, origin="web") for document in docs(0.01, 0.02, 0.89, 0.9)]
    result = CascadeGate().run(query=QUESTION, documents=documents, report=told("correct", 0.84))
    assert set(result) == {"undecided", "report", "state"}
    assert [document.id for document in result["undecided"]] == [document.id for document in documents]
    assert [grade_of(document) is None for document in result["undecided"]] == [False, True, True, False]
    assert all(document.meta["crag"]["origin"] == "web" for document in result["undecided"])
    assert all(grade_of(document) for document in documents), "the given documents stay as they are"
    assert result["report"]["cascade"] == {"asked": 2, "verdict": "correct", "certainty": 0.84, "calibrated": None}
    assert not {"verdict", "set_score"} & set(result["report"])
    assert result["report"]["signals"] == {"set": {}}
    opinions = [document.meta["crag"].get("opinion") for document in result["undecided"]]
    assert opinions == [None, 0.02, 0.89, None], "what the scorer thought of those is told, as no grade"


def test_a_verdict_that_is_not_the_likeliest_is_not_sure() -> None:
    """A calibration that risks little may say `ambiguous` where `correct` is the likeliest: then the model is asked."""
    report = told("correct", 0.9)
    report["verdict"]["verdict"] = "ambiguous"
    result = CascadeGate().run(query=QUESTION, documents=docs(0.8), report=report)
    assert result["report"]["cascade"]["asked"] == 1


@pytest.mark.parametrize(("scores", "asked"), [((0.01, 0.99), 0), ((0.01, 0.5), 1), ((), 0)])
def test_without_a_verdict_the_documents_decide(scores: tuple[float, ...], asked: int) -> None:
    """A scorer that is sure of each of them needs no help; nothing retrieved is nothing to ask about."""
    result = CascadeGate().run(query=QUESTION, documents=docs(*scores), report={"set_score": 0.5})
    assert result["report"]["cascade"] == {"asked": asked, "verdict": None, "certainty": None, "calibrated": None}
    assert ("undecided" in result) == bool(asked)


@pytest.mark.parametrize(
    ("verdict", "certainty"),
    [
        ("correct", None),
        ({"verdict": "correct", "probabilities": {"correct": "high"}}, None),
        ({"verdict": "correct", "probabilities": [0.9]}, None),
        ({"verdict": "correct", "probabilities": {"correct": np.float32(0.75)}}, 0.75),
    ],
)
def test_a_scorers_word_without_a_probability_is_not_sure(verdict: Any, certainty: float | None) -> None:
    """A word alone is a verdict to the router; how sure it is, nobody knows, so the model is asked."""
    result = CascadeGate().run(query=QUESTION, documents=docs(0.5), report={"verdict": verdict, "set_score": 0.9})
    assert result["report"]["cascade"] == {"asked": 1, "verdict": "correct", "certainty": certainty, "calibrated": None}
    assert "undecided" in result


@pytest.mark.parametrize("verdict", [["correct"], {"correct": 1}, None, 1])
def test_a_verdict_that_is_no_word_is_none(verdict: Any) -> None:
    """A scorer of one's own may write anything; the documents decide then, as for the router."""
    report = {"verdict": {"verdict": verdict, "probabilities": {"correct": 0.99}}}
    result = CascadeGate().run(query=QUESTION, documents=docs(0.5), report=report)
    assert result["report"]["cascade"] == {"asked": 1, "verdict": None, "certainty": None, "calibrated": None}


def test_where_no_document_is_between_the_scorers_unsure_verdict_stands() -> None:
    """There is nothing to ask about, and the record shows how sure it was."""
    report = CascadeGate().run(query=QUESTION, documents=docs(0.01), report=told("incorrect", 0.5))["report"]
    assert report["verdict"]["verdict"] == "incorrect"
    assert report["cascade"]["certainty"] == 0.5


def test_a_failed_or_missing_grade_is_never_sure() -> None:
    """A scorer that failed leaves its documents to the model."""
    documents = [*docs(0.5, status="failed"), Document(content="never scored"), *docs(0.99)]
    result = CascadeGate(low=0.6, high=0.7).run(query=QUESTION, documents=documents)
    assert result["report"]["cascade"]["asked"] == 2


def test_of_two_texts_of_one_id_the_model_is_asked_about_the_unsure_one_only() -> None:
    """Two stores may count from one: what the scorer was sure of was asked about as well, and not told."""
    sure, unsure = (replace(one, id="1") for one in docs(0.95, 0.5))
    result = CascadeGate().run(query=QUESTION, documents=[sure, unsure])
    assert result["report"]["cascade"]["asked"] == 1
    assert [grade_of(document) is None for document in result["undecided"]] == [False, True]
    asked: list[Any] = []
    grader = BatchRelevanceGrader(scripted(lambda messages: asked.append(messages) or "[0.2]"))
    graded = grader.run(query=QUESTION, documents=result["undecided"], state=result["state"])
    assert graded["scores"] == [0.95, 0.2]
    assert len(asked) == 1


def test_limits_at_the_ends_leave_only_what_is_certain_to_the_scorer() -> None:
    """Of [0, 1] both ends are limits as well."""
    result = CascadeGate(sure=1.0, low=0.0, high=1.0).run(query=QUESTION, documents=docs(0.0, 0.001, 0.999, 1.0))
    assert [grade_of(document) is None for document in result["undecided"]] == [False, True, True, False]
    assert "decided" in CascadeGate(sure=0.0).run(query=QUESTION, documents=docs(0.5), report=told("correct", 0.0))


def test_the_model_really_grades_what_the_scorer_had_graded_in_an_earlier_pass() -> None:
    """The cheap grade is taken out of the run's memory, too; the sure ones stay there and cost nothing."""
    documents = docs(0.5, 0.01)
    state = CragState.start(QUESTION)
    known = {d.id: {"score": s, "status": "graded", "grader": "test", "question": state.question}
             for d, s in zip(documents, (0.5, 0.01), strict=True)}  # fmt: skip
    result = CascadeGate().run(query=QUESTION, documents=documents, state=replace(state, grades=known))
    grader = BatchRelevanceGrader(grading_by(lambda _: 0.9))
    judged = grader.run(query=QUESTION, documents=result["undecided"], state=result["state"])
    assert judged["scores"] == [0.9, 0.01]
    assert judged["report"]["llm_calls"] == 1
    assert judged["report"]["set_score"] == 0.9
    assert [document.meta["crag"]["status"] for document in judged["documents"]] == ["graded", "cached"]


def test_what_a_run_may_spend_and_has_been_told_goes_on_to_the_model() -> None:
    """Its grader respects the budget, and is not asked again about what it judged before."""
    known = replace(CragState.start(QUESTION, budget=Budget(llm_calls=1)), grades={"seen": {"score": 0.7}})
    state = CascadeGate().run(query=QUESTION, documents=docs(0.5), state=known)["state"]
    assert state.budget == Budget(llm_calls=1)
    assert state.grades == known.grades


def test_a_grader_without_the_gates_state_judges_all_documents() -> None:
    """It costs more, and nothing else: what the documents bring along is not taken for a judgement of this run."""
    gated = CascadeGate().run(query=QUESTION, documents=docs(0.5, 0.01))
    judged = BatchRelevanceGrader(grading_by(lambda _: 0.9)).run(query=QUESTION, documents=gated["undecided"])
    assert (judged["scores"], judged["report"]["llm_calls"]) == ([0.9, 0.9], 1)


def test_a_document_that_the_model_has_graded_is_not_sent_again() -> None:
    """And the verdict of a scorer that does not know what the model said does not count: the grades do."""
    documents = [by_model(0.4), *docs(0.01)]
    result = CascadeGate().run(query=QUESTION, documents=documents, report=told("correct", 0.99))
    assert "decided" in result
    assert "verdict" not in result["report"]
    assert result["report"]["set_score"] == 0.4
    assert result["report"]["cascade"] == {"asked": 0, "verdict": "correct", "certainty": 0.99, "calibrated": None}


def test_a_grader_of_ones_own_in_the_models_place_is_not_asked_twice_either() -> None:
    """Whatever it is called; else what it said would pass for the scorer's opinion, and the scorer's verdict stand."""
    state, asked = CragState.start(QUESTION), docs(0.5)
    gated = CascadeGate().run(query=QUESTION, documents=asked, state=state)
    own = with_grade(gated["undecided"][0], Grade(0.4, "graded", "Own", state.question))
    after = replace(gated["state"], grades=known_grades([own], state.question, gated["state"]))
    again = given_in_run(after, asked[0], state.question)  # as a scorer takes it up in the next pass
    assert again is not None
    documents = [with_grade(asked[0], again)]
    result = CascadeGate().run(query=QUESTION, documents=documents, report=told("correct", 0.99), state=after)
    assert result["decided"] == documents
    assert (result["report"]["set_score"], "verdict" in result["report"]) == (0.4, False)
    assert again.opinion == 0.5


def test_a_small_model_may_be_the_scorer_of_a_large_one_and_both_cost() -> None:
    """Its grades have the large one's name, and are of this pass."""
    small, large = (BatchRelevanceGrader(grading_by(lambda _, score=score: score)) for score in (0.5, 0.9))
    scored = small.run(query=QUESTION, documents=[Document(content="Two years.")])
    gated = CascadeGate().run(query=QUESTION, documents=scored["documents"], report=scored["report"])
    judged = large.run(query=QUESTION, documents=gated["undecided"], state=gated["state"])
    reports = {"scored": gated["report"], "report": judged["report"]}
    decision = CragRouter().run(query=QUESTION, documents=judged["documents"], **reports)["decision"]
    assert [(one["score"], one["opinion"]) for one in decision["kept"]] == [(0.9, 0.5)]
    assert (decision["coverage"]["llm_calls"], decision["coverage"]["tokens"]) == (2, 220)
    alone = CragRouter().run(query=QUESTION, documents=scored["documents"], scored=gated["report"])["decision"]
    assert alone["coverage"]["llm_calls"] == 1


def test_beside_what_the_model_has_graded_no_verdict_by_wording_stands() -> None:
    """However sure the scorer is: what the model has not read yet, it is asked about."""
    result = CascadeGate().run(query=QUESTION, documents=[by_model(0.4), *docs(0.5)], report=told("correct", 0.99))
    assert [grade_of(document) is None for document in result["undecided"]] == [False, True]
    assert "verdict" not in result["report"]


def test_in_mode_off_nothing_is_asked() -> None:
    """The documents pass as they are."""
    state = replace(CragState.start(QUESTION), mode="off")
    result = CascadeGate().run(query=QUESTION, documents=[Document(content="x")], state=state)
    assert result["decided"] == [Document(content="x")]


def route(documents: list[Document], model: Any, **settings: Any) -> dict[str, Any]:
    """Gate, model and router in a row."""
    gated = CascadeGate().run(query=QUESTION, documents=documents, report={"set_score": 0.5})
    judged = BatchRelevanceGrader(model).run(query=QUESTION, documents=gated["undecided"], state=gated["state"])
    router = CragRouter(aggregate="set", **settings)
    arguments = {"documents": judged["documents"], "report": judged["report"], "scored": gated["report"]}
    return dict(router.run(query=QUESTION, **arguments))


def test_the_router_reads_the_models_score_of_the_set_and_records_both() -> None:
    """The trail shows that the model was asked, about how many, and what the scorer measured."""
    decision = route(docs(0.5, 0.01), grading_by(lambda _: 0.8))["decision"]
    assert (decision["verdict"], decision["score"]) == ("correct", 0.8)
    assert decision["cascade"]["asked"] == 1
    assert decision["grading"]["reasks"] == 0


@pytest.mark.parametrize("action", ["re_retrieve", "web", "web_and_refine"])
def test_a_model_that_fails_does_not_turn_doubt_into_incorrect(action: str) -> None:
    """Four sure-low documents are no majority against the one that may answer: ungraded, kept, and never the web."""
    result = route(docs(0.005, 0.01, 0.005, 0.01, 0.5), scripted("no idea"), on_incorrect=action, on_ambiguous=action)
    decision = result["decision"]
    assert (decision["verdict"], decision["rule"], decision["action"]) == ("ungraded", "grader_failed", "generate")
    assert decision["coverage"]["failed"] == 1
    assert decision["coverage"]["reasons"][0].startswith("grader_partial:")
    assert [grade.status for d in result["generate"] if (grade := grade_of(d))] == ["failed"]


def test_a_document_that_certainly_answers_outweighs_a_failure() -> None:
    """What was not judged takes nothing from what was."""
    assert route(docs(0.99, 0.5), scripted("no idea"))["decision"]["verdict"] == "correct"


@pytest.mark.parametrize("settings", [{"sure": 1.1}, {"low": -0.1}, {"high": True}, {"low": 0.9, "high": 0.1}])
def test_unusable_numbers_are_refused_at_construction(settings: dict[str, Any]) -> None:
    """Got and wanted, in one line."""
    with pytest.raises(ConfigurationError, match=r"but got"):
        CascadeGate(**settings)
