"""CragRouter: verdicts, ladders, limits, modes; and properties that hold for any grades."""

import logging
from dataclasses import replace
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.joiners import BranchJoiner
from hypothesis import given
from hypothesis import strategies as st
from makers import graded, grading_by

from haystack_integrations.crag.budget import Budget
from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import annotate, grade_of, question_id, without_grade
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.state import CragState, given_in_run
from haystack_integrations.crag.vocabulary import ACTIONS

QUESTION = "How long is the warranty?"


def docs(*scores: float, status: str = "graded", tag: str = "") -> list[Document]:
    """One document for each score."""
    return [graded(f"{tag}passage {i}", s, QUESTION, status) for i, s in enumerate(scores)]


def route(documents: list[Document], state: CragState | None = None, **settings: Any) -> dict[str, Any]:
    """Run a router once."""
    return CragRouter(**settings).run(query=QUESTION, documents=documents, state=state)


@pytest.mark.parametrize(
    ("scores", "verdict", "branch"),
    [
        ((0.7, 0.7), "correct", "generate"),
        ((0.69, 0.7), "ambiguous", "refine"),
        ((0.3,), "ambiguous", "refine"),
        ((0.29, 0.1), "incorrect", "re_retrieve"),
        ((0.9, 0.1), "correct", "generate"),
        ((), "incorrect", "re_retrieve"),
    ],
)
def test_the_mean_of_the_kept_decides(scores: tuple[float, ...], verdict: str, branch: str) -> None:
    """Filter 0.3, upper 0.7, lower 0.3: the documents below the filter do not pull the mean down."""
    result = route(docs(*scores))
    assert result["decision"]["verdict"] == verdict
    assert branch in result
    assert {key for key in result if key in ACTIONS} == {branch}


@pytest.mark.parametrize(
    ("aggregate", "score"),
    [("mean", 0.6), ("max", 0.9), ("min", 0.3), ("rank_weighted", (0.3 + 0.9 / 2 + 0.6 / 3) / (1 + 1 / 2 + 1 / 3))],
)
def test_aggregates(aggregate: str, score: float) -> None:
    """Each aggregate over 0.3, 0.9, 0.6 in this order."""
    decision = route(docs(0.3, 0.9, 0.6), aggregate=aggregate)["decision"]
    assert decision["score"] == pytest.approx(score, abs=1e-4)


def test_the_set_aggregate_is_the_graders_own_score() -> None:
    """It comes with the grader's report; without one the message says what to connect, or how one's own makes it."""
    router = CragRouter(aggregate="set")
    result = router.run(query=QUESTION, documents=docs(0.4), report={"set_score": 0.8})
    assert result["decision"]["score"] == 0.8
    with pytest.raises(ConfigurationError, match=r"set_score_of makes one.* connect .* or choose aggregate='max'"):
        router.run(query=QUESTION, documents=docs(0.4), report={"signals": {}})


def test_the_graders_own_verdict_on_the_set_holds_whatever_the_thresholds() -> None:
    """Only where the router reads the set; and a pass that had nothing to grade keeps the last one."""
    report = {"set_score": 0.9, "verdict": {"verdict": "ambiguous", "probabilities": {"ambiguous": 0.6}}}
    router = CragRouter(aggregate="set", on_ambiguous="refine")
    first = router.run(query=QUESTION, documents=docs(0.9), report=report)
    assert (first["decision"]["verdict"], first["decision"]["score"]) == ("ambiguous", 0.9)
    second = router.run(query=QUESTION, documents=[], state=first["state"])
    assert (second["decision"]["verdict"], second["decision"]["judged_by"]) == ("ambiguous", "set_verdict")
    by_mean = CragRouter().run(query=QUESTION, documents=docs(0.9), report=report)
    assert by_mean["decision"]["verdict"] == "correct"


def test_a_pass_that_had_nothing_to_grade_stays_ungraded_where_the_last_one_was() -> None:
    """There is no last score of the set to go by, and no mistake of whoever connected the grader."""
    router = CragRouter(aggregate="set", on_ungraded=["refine", "generate"])
    unsearched = {"retrievers": {"bm25": {"status": "incomplete"}}}
    first = router.run(query=QUESTION, documents=docs(0.4), report={"set_score": 0.1}, retrieval=unsearched)
    assert (first["decision"]["verdict"], first["decision"]["action"]) == ("ungraded", "refine")
    second = router.run(query=QUESTION, documents=[], state=first["state"], report={"signals": {}})["decision"]
    assert (second["verdict"], second["judged_by"], len(second["kept"])) == ("ungraded", "retrieval_incomplete", 1)


def test_what_a_rule_approved_needs_no_word_of_a_grader_on_the_set() -> None:
    """No grader was asked, so there is no report; and what one said of an earlier pass is about other documents."""
    approved = docs(1.0, status="approved")
    first = route(approved, aggregate="set")["decision"]
    assert (first["verdict"], first["score"], first["judged_by"]) == ("correct", 1.0, "test")
    router = CragRouter(aggregate="set")
    report = {"set_score": 0.1, "verdict": "incorrect"}
    before = router.run(query=QUESTION, documents=docs(0.1, tag="other "), report=report)["state"]
    assert router.run(query=QUESTION, documents=approved, state=before)["generate"] == approved
    failed = router.run(query=QUESTION, documents=docs(0.5, status="failed"), state=before)["state"]
    assert failed.trail[-1]["score"] is None
    after = router.run(query=QUESTION, documents=docs(1.0, status="approved", tag="new "), state=failed)
    assert after["decision"]["verdict"] == "correct"


def test_dropped_documents_are_on_record_with_score_and_reason() -> None:
    """Nothing disappears silently."""
    documents = [*docs(0.9, 0.1), Document(content="never graded")]
    decision = route(documents)["decision"]
    assert [entry["reason"] for entry in decision["discarded"]] == ["below_filter", "not_graded"]
    assert {entry["id"] for entry in decision["kept"] + decision["discarded"]} == {d.id for d in documents}


def test_beside_a_document_that_passes_the_filter_less_is_enough_to_be_kept() -> None:
    """What is kept beside another speaks neither for the verdict, nor for an answer where none passes the filter."""
    settings: dict[str, Any] = {"keep_beside": 0.2, "on_limit": "generate_relevant", "max_iterations": 1}
    result = route(docs(0.1, 0.2, 0.9, 0.29), **settings)
    assert [document.content for document in result["generate"]] == ["passage 1", "passage 2", "passage 3"]
    assert (result["decision"]["score"], result["decision"]["thresholds"]["beside"]) == (0.9, 0.2)
    assert [entry["score"] for entry in result["decision"]["discarded"]] == [0.1]
    doubted = route(docs(0.1, 0.2, 0.5, 0.29), **settings)
    assert doubted["decision"]["limit"] == "max_iterations"
    assert sorted(grade_of(d).score for d in doubted["generate"]) == [0.2, 0.29, 0.5]  # type: ignore[union-attr]
    assert "abstain" in route(docs(0.1, 0.2, 0.29), **settings)
    assert "beside" not in route(docs(0.9))["decision"]["thresholds"]


@pytest.mark.parametrize("value", [0.31, -0.1, "0.2", float("nan")])
def test_what_is_enough_beside_another_is_not_more_than_the_filter(value: Any) -> None:
    """It would drop what the filter keeps."""
    with pytest.raises(ConfigurationError, match=r"keep_beside must be a number between 0 and the filter, 0\.3"):
        CragRouter(keep_beside=value)


def with_opinion(document: Document, opinion: Any) -> Document:
    """What a cascade's gate leaves of the scorer's grade."""
    return annotate(document, opinion=opinion)


def test_a_document_that_the_model_rejects_stays_beside_another_if_the_scorer_liked_it() -> None:
    """It is evidence, and on record with both scores; the verdict is the model's alone, and alone it is nothing."""
    settings: dict[str, Any] = {"second_opinion": 0.6, "aggregate": "max", "on_limit": "generate_relevant"}
    liked, other, passing = docs(0.1, 0.1, 0.9)
    found = [with_opinion(liked, 0.6), with_opinion(other, 0.59), passing]
    result = route(found, **settings)
    assert [document.content for document in result["generate"]] == ["passage 0", "passage 2"]
    decision = result["decision"]
    assert [(entry["score"], entry.get("opinion")) for entry in decision["kept"]] == [(0.1, 0.6), (0.9, None)]
    assert [entry["reason"] for entry in decision["discarded"]] == ["below_filter"]
    assert (decision["verdict"], decision["score"]) == ("correct", 0.9)
    assert decision["thresholds"]["second_opinion"] == 0.6
    assert "abstain" in route(found[:2], **settings, max_iterations=1)
    doubted = route([found[0], *docs(0.5, tag="other ")], **settings, max_iterations=1)
    assert sorted(grade_of(d).score for d in doubted["generate"]) == [0.1, 0.5]  # type: ignore[union-attr]
    assert len(route(found)["generate"]) == 1, "without the setting the model has the last word"


def test_an_opinion_is_known_in_later_passes_and_is_of_one_question() -> None:
    """A document that is retrieved again has no more of it than the run remembers."""
    settings: dict[str, Any] = {"second_opinion": 0.6, "aggregate": "max"}
    state = route([with_opinion(docs(0.1)[0], 0.7), *docs(0.5, tag="other ")], **settings)["refine"]
    known = given_in_run(state, docs(0.1)[0], question_id(QUESTION))
    assert known is not None
    assert (known.score, known.opinion, known.status) == (0.1, 0.7, "cached")
    assert without_grade(with_opinion(docs(0.1)[0], 0.7)).meta.get("crag", {}) == {}


def test_a_document_that_could_not_be_judged_is_none_to_stay_beside() -> None:
    """Its 0.5 is no judgement: neither an opinion nor a lower score makes evidence beside it."""
    unjudged = docs(0.5, status="failed", tag="other ")
    for rejected in (with_opinion(docs(0.1)[0], 0.9), docs(0.25)[0]):
        decision = route([rejected, *unjudged], second_opinion=0.6, keep_beside=0.2)["decision"]
        assert [entry["status"] for entry in decision["kept"]] == ["failed"]


@pytest.mark.parametrize("opinion", ["0.9", True, float("nan"), 1.1, None, [0.9]])
def test_an_opinion_that_is_none_does_not_count(opinion: Any) -> None:
    """Metadata is anybody's."""
    found = [with_opinion(docs(0.1)[0], opinion), *docs(0.9, tag="other ")]
    decision = route(found, second_opinion=0.0)["decision"]
    assert [entry["score"] for entry in decision["kept"]] == [0.9]


@pytest.mark.parametrize("value", [1.1, -0.1, "0.6", True, float("nan")])
def test_a_second_opinion_is_a_score(value: Any) -> None:
    """With what was got and what is wanted."""
    with pytest.raises(ConfigurationError, match="second_opinion must be a number between 0 and 1, or null, but got"):
        CragRouter(second_opinion=value)


def found_first(document: Document, lead: Any) -> Document:
    """What EvidenceJoiner tells of a document that a retriever put first."""
    return annotate(document, retrievers={"bm25": {"score": 8.8, "rank": 1, "lead": lead}, "dense": {"rank": 3}})


def test_a_document_that_the_model_rejects_stays_beside_another_if_the_search_clearly_put_it_first() -> None:
    """It is evidence, and on record with its lead; the verdict is the model's alone, and alone it is nothing."""
    settings: dict[str, Any] = {"clear_lead": 1.1, "aggregate": "max", "on_limit": "generate_relevant"}
    rejected, other, passing = docs(0.1, 0.1, 0.9)
    found = [found_first(rejected, 1.1), other, passing]
    result = route(found, **settings)
    assert [document.content for document in result["generate"]] == ["passage 0", "passage 2"]
    decision = result["decision"]
    assert [(entry["score"], entry.get("lead")) for entry in decision["kept"]] == [(0.1, 1.1), (0.9, None)]
    assert (decision["verdict"], decision["score"], decision["thresholds"]["clear_lead"]) == ("correct", 0.9, 1.1)
    assert len(route([found_first(rejected, 1.09), passing], **settings)["generate"]) == 1, "nearly as good a hit came"
    assert "abstain" in route(found[:2], **settings, max_iterations=1)
    doubted = route([found[0], *docs(0.5, tag="other ")], **settings, max_iterations=1)
    assert sorted(grade_of(d).score for d in doubted["generate"]) == [0.1, 0.5]  # type: ignore[union-attr]
    assert len(route(found)["generate"]) == 1, "without the setting the model has the last word"
    unjudged = route([found[0], *docs(0.5, status="failed", tag="other ")], **settings)["decision"]
    assert [entry["status"] for entry in unjudged["kept"]] == ["failed"]


@pytest.mark.parametrize("lead", ["9", True, float("nan"), float("inf"), None, [2.0]])
def test_a_lead_that_is_none_does_not_count(lead: Any) -> None:
    """Metadata is anybody's."""
    found = [found_first(docs(0.1)[0], lead), *docs(0.9, tag="other ")]
    for retrievers in (found[0].meta["crag"]["retrievers"], "bm25", ["bm25"], {"bm25": 2.0}):
        decision = route([annotate(found[0], retrievers=retrievers), found[1]], clear_lead=1.0)["decision"]
        assert [entry["score"] for entry in decision["kept"]] == [0.9]


@pytest.mark.parametrize("value", [0.9, "1.1", True, float("nan"), float("inf")])
def test_a_clear_lead_is_a_number_from_1_on(value: Any) -> None:
    """With what was got and what is wanted."""
    with pytest.raises(ConfigurationError, match="clear_lead must be a number from 1 on, or null, but got"):
        CragRouter(clear_lead=value)


def test_a_filter_below_the_shipped_keep_beside_is_refused_with_the_way_out() -> None:
    """The setting that is in the way stands in the pipeline's file, and nobody has named it."""
    with pytest.raises(ConfigurationError, match=r"0\.1, but got 0\.2; set it beside filter_threshold"):
        load("corrective_retrieval", router={"filter_threshold": 0.1})
    load("corrective_retrieval", router={"filter_threshold": 0.1, "keep_beside": None})


def test_dropped_documents_and_the_decision_are_logged_without_text(caplog: pytest.LogCaptureFixture) -> None:
    """Design 000: the removal is logged; ids and scores, never what a document says."""
    documents = docs(0.9, 0.1, tag="secret ")
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        route(documents)
    assert f"evidence dropped: id={documents[1].id}, score=0.1, reason=below_filter" in caplog.text
    assert "decision: verdict=correct" in caplog.text
    assert "secret" not in caplog.text


def test_the_log_of_observe_says_of_no_document_that_it_was_dropped(caplog: pytest.LogCaptureFixture) -> None:
    """It is passed on: whoever reads the log would look for what took it."""
    documents = docs(0.9, 0.1)
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        assert route(documents, mode="observe")["generate"] == documents
    assert f"evidence that enforce would drop: id={documents[1].id}, score=0.1" in caplog.text
    assert "evidence dropped" not in caplog.text


@pytest.mark.parametrize(
    ("connected", "warned"),
    [((), False), (("generate",), True), (("outcome",), True), (("generate", "refine"), False)],
)
def test_a_correction_that_leads_nowhere_is_warned_of(
    caplog: pytest.LogCaptureFixture, connected: tuple[str, ...], warned: bool
) -> None:
    """In a pipeline of one's own it would end without an answer and without a word; alone, a router is just read."""
    pipeline = Pipeline()
    pipeline.add_component("router", CragRouter())
    for output in connected:
        kind = list[Document] if output == "generate" else CragState
        pipeline.add_component(output, BranchJoiner(kind))
        pipeline.connect(f"router.{output}", output)
    pipeline.run({"router": {"query": QUESTION, "documents": docs(0.5)}})
    assert ("the action refine leads nowhere" in caplog.text) == warned
    assert ("on_ambiguous='generate'" in caplog.text) == warned


@pytest.mark.parametrize("said", ["verdict", "mapping"])
def test_a_graders_verdict_is_followed_where_it_gives_no_score_of_the_set(said: str) -> None:
    """In each pass its own; on record stands the score of the best document."""
    router, state = CragRouter(aggregate="set", max_iterations=3), CragState.start(QUESTION)
    for verdict, scores in (("ambiguous", (0.9, 0.4)), ("incorrect", (0.8,)), ("correct", (0.6, 0.5))):
        report = {"verdict": verdict if said == "verdict" else {"verdict": verdict}}
        result = router.run(query=QUESTION, documents=docs(*scores), state=state, report=report)
        decision, state = result["decision"], result["state"]
        assert (decision["verdict"], decision["judged_by"]) == (verdict, "set_verdict")
    assert state.trail[0]["score"] == 0.9
    assert result["generate"]


@pytest.mark.parametrize(("mode", "warned"), [("enforce", True), ("observe", True), ("off", False)])
def test_grades_for_another_question_are_warned_of(caplog: pytest.LogCaptureFixture, mode: str, warned: bool) -> None:
    """A grader that is asked the search query of a pass: each run looked like one whose grader was down."""
    other = [graded(f"text {score}", score, "wrote emma") for score in (0.9, 0.1)]
    result = CragRouter().run(query=QUESTION, documents=other, mode=mode)
    assert ("all 2 documents were graded for another question than the router's" in caplog.text) == warned
    assert result["decision"]["verdict"] == "ungraded"
    assert "wrote emma" not in caplog.text
    caplog.clear()
    CragRouter().run(query=QUESTION, documents=[*other, *docs(0.9)], mode=mode)
    CragRouter().run(query=QUESTION, documents=[Document(content="not graded"), *other], mode=mode)
    assert "another question" not in caplog.text


@pytest.mark.parametrize(("mode", "warned"), [("enforce", True), ("observe", True), ("off", False)])
def test_documents_that_no_grader_has_seen_are_warned_of(
    caplog: pytest.LogCaptureFixture, mode: str, warned: bool
) -> None:
    """As where a retriever is connected with the router, or a grader of one's own attaches no grades."""
    ungraded = [Document(content="a"), Document(content="b")]
    CragRouter().run(query=QUESTION, documents=ungraded, mode=mode)
    assert ("none of the 2 documents has a grade" in caplog.text) == warned
    caplog.clear()
    CragRouter().run(query=QUESTION, documents=[*ungraded, *docs(0.9)], mode=mode)
    CragRouter().run(query=QUESTION, documents=[], mode=mode)
    assert "has a grade" not in caplog.text


def test_a_document_that_came_past_the_grader_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """A joiner behind the grader took the version without the grade, and the question seemed to have no answer."""
    past, said = Document(content="a"), "1 of 2 documents have no grade and stand before others that have one"
    CragRouter().run(
        query=QUESTION, documents=[*docs(0.1), past]
    )  # the last, as a grader with `max_documents` leaves it
    assert said not in caplog.text
    CragRouter().run(query=QUESTION, documents=[past, *docs(0.1)])
    assert said in caplog.text


def test_a_ranker_behind_a_grader_of_the_first_documents_brings_nothing_past_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The grader says how many it left out, and the ranker puts one of these first; a joiner's document is one more."""
    grader = BatchRelevanceGrader(grading_by(lambda _: 0.9), max_documents=2)
    texts = [Document(content=text) for text in ("Emma is by Jane Austen.", "Emma was out in 1815.", "Emma is long.")]
    result = grader.run(query=QUESTION, documents=texts)
    assert result["report"]["not_asked"] == 1
    ranked = result["documents"][::-1]
    CragRouter().run(query=QUESTION, documents=ranked, report=result["report"])
    assert "have no grade" not in caplog.text
    CragRouter().run(query=QUESTION, documents=[Document(content="a"), *ranked], report=result["report"])
    assert "2 of 4 documents have no grade and stand before others" in caplog.text


def test_a_state_that_no_run_began_with_is_refused() -> None:
    """Made by hand, it has no query that a decision could name."""
    with pytest.raises(ConfigurationError, match=r"make it by CragState.start\(question\)"):
        CragRouter().run(query=QUESTION, documents=docs(0.9), state=CragState(query=QUESTION))


def test_the_line_about_dropped_documents_does_not_grow_without_end(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        route(docs(0.9, *[0.1] * 500))
    assert "; and 480 more, iteration=1" in caplog.text
    assert caplog.text.count("id=") == 20


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ((0.3, 1.0, 0.3, 1.0), "ambiguous"),
        ((0.34, 0.98), "ambiguous"),
        ((0.35, 0.97), "correct"),
        ((0.6, 0.6), "correct"),
        ((0.51, 0.51), "correct"),
        ((0.5, 0.5), "ambiguous"),
        ((0.45, 0.45), "ambiguous"),
    ],
)
def test_the_variance_rule_decides_between_the_thresholds(scores: tuple[float, ...], verdict: str) -> None:
    """Variance above 0.1 is doubt; otherwise above 0.5 is good enough."""
    assert route(docs(*scores), variance_rule=True)["decision"]["verdict"] == verdict


def test_failed_grades_do_not_enter_the_aggregate() -> None:
    """Half of the documents judged is enough to decide; the failed ones stay, marked."""
    documents = [*docs(0.9, 0.8), *docs(0.5, 0.5, status="failed", tag="failed ")]
    result = route(documents)
    assert result["decision"]["score"] == 0.85
    assert len(result["generate"]) == 4
    assert result["decision"]["coverage"]["failed"] == 2
    documents = [*docs(0.9, 0.1), *docs(0.5, 0.5, status="failed", tag="failed ")]
    assert [entry["reason"] for entry in route(documents)["decision"]["discarded"]] == ["below_filter"]


def test_fewer_than_half_judged_is_ungraded_and_keeps_everything() -> None:
    """An outage is not irrelevance."""
    documents = [*docs(0.1), *docs(0.5, 0.5, status="failed", tag="failed ")]
    result = route(documents)
    assert result["decision"]["verdict"] == "ungraded"
    assert [document.id for document in result["generate"]] == [document.id for document in documents]


@pytest.mark.parametrize("action", ["web", "web_and_refine"])
def test_a_failed_grade_never_leads_to_a_web_search(action: str) -> None:
    """Neither when all failed nor when the judged ones are all irrelevant; opting in is explicit."""
    some_failed = [*docs(0.1, 0.2), *docs(0.5, status="failed", tag="failed ")]
    all_failed = docs(0.5, 0.5, status="failed")
    for documents in (some_failed, all_failed):
        result = route(documents, on_incorrect=action, on_ambiguous=action)
        assert not {"web", "web_and_refine"} & set(result)
    assert "web" in route(all_failed, on_ungraded="web")


@pytest.mark.parametrize("action", ["web", "web_and_refine"])
@pytest.mark.parametrize(
    ("failed", "verdict", "said"),
    [(1, "incorrect", "The documents do not answer"), (3, "ungraded", "Too few of the documents could be judged")],
)
@pytest.mark.parametrize("scores", [(0.1, 0.2), ()])
def test_a_grade_that_failed_in_an_earlier_pass_keeps_the_web_out_of_later_ones(
    action: str, failed: int, verdict: str, said: str, scores: tuple[float, ...]
) -> None:
    """What could not be judged may answer, also where the next search does not bring it again, until it is judged."""
    first_pass = [*docs(*[0.5] * failed, status="failed", tag="failed "), *docs(0.1, 0.2, tag="first ")]
    ladder: Any = ["re_retrieve", action]
    router = CragRouter(on_incorrect=ladder, on_ambiguous=ladder, on_ungraded=["re_retrieve", "abstain"])
    state = router.run(query=QUESTION, documents=first_pass)["re_retrieve"]
    result = router.run(query=QUESTION, documents=docs(*scores), state=state)
    assert result["decision"]["verdict"] == verdict
    assert result["abstain"].startswith(said)
    assert f"{failed} could not be judged and may answer after all." in result["abstain"]
    again = [*docs(0.1, tag="new "), *docs(*[0.1] * failed, tag="failed ")]
    assert action in router.run(query=QUESTION, documents=again, state=state)


def test_an_ungraded_retrieval_is_answered_from_what_may_answer_and_not_from_what_was_found_in_its_place() -> None:
    """Generating from what could not be judged was asked for; generating from what is known to be poor was not."""
    failed = docs(0.5, 0.5, status="failed", tag="failed ")
    router = CragRouter(on_ungraded=["re_retrieve", "generate"])
    state = router.run(query=QUESTION, documents=failed)["re_retrieve"]
    result = router.run(query=QUESTION, documents=docs(0.1, 0.2), state=state)
    assert [document.id for document in result["generate"]] == [document.id for document in failed]


def test_in_the_place_of_the_web_what_may_answer_is_answered_from_and_not_what_is_known_to_be_poor() -> None:
    """Where a document of an earlier pass was never judged, a verdict `incorrect` leads to an answer from that one."""
    failed = docs(0.5, status="failed", tag="failed ")
    router = CragRouter(on_incorrect=["re_retrieve", "web"], on_ungraded="generate")
    state = router.run(query=QUESTION, documents=[*failed, *docs(0.1, 0.2, tag="first ")])["re_retrieve"]
    result = router.run(query=QUESTION, documents=docs(0.1, 0.2), state=state)
    assert result["decision"]["rule"] == "grader_partial"
    assert [document.id for document in result["generate"]] == [document.id for document in failed]


@pytest.mark.parametrize("action", ["web", "web_and_refine"])
@pytest.mark.parametrize("scores", [(0.5,), (0.1,), ()])
def test_what_was_not_searched_never_leads_to_a_web_search(action: str, scores: tuple[float, ...]) -> None:
    """It may be the answer, whether what was found is ambiguous, irrelevant or nothing."""
    router = CragRouter(on_incorrect=action, on_ambiguous=action, on_ungraded="refine")
    said = {"status": "incomplete", "retrievers": {"bm25": {"status": "failed"}, "dense": {"status": "ok"}}}
    result = router.run(query=QUESTION, documents=docs(*scores), retrieval=said)
    assert result["decision"]["rule"] == "retrieval_incomplete"
    assert "refine" in result


def test_at_a_limit_no_answer_is_made_of_poor_documents_where_others_were_not_searched() -> None:
    """`on_limit='generate'` takes the best there is; where a search failed, nobody knows what the best would be."""
    router = CragRouter(on_ungraded="re_retrieve", on_limit="generate", max_iterations=1)
    said = {"status": "incomplete", "retrievers": {"bm25": {"status": "failed"}, "dense": {"status": "ok"}}}
    assert "abstain" in router.run(query=QUESTION, documents=docs(0.1, 0.2), retrieval=said)
    assert "generate" in router.run(query=QUESTION, documents=docs(0.1, 0.2, tag="other "), retrieval=None)


def test_many_documents_are_enough_only_where_they_may_answer() -> None:
    """Three that nobody could judge, or that together do not answer, are not answered from for being three."""
    router = CragRouter(aggregate="set", enough_documents=3, on_ungraded="abstain", on_incorrect="abstain")
    report = {"set_score": 0.1, "verdict": "incorrect"}
    assert "abstain" in router.run(query=QUESTION, documents=docs(0.4, 0.4, 0.4), report=report)
    assert "abstain" in router.run(query=QUESTION, documents=docs(0.5, 0.5, 0.5, status="failed"))


@pytest.mark.parametrize("asked", ["web", "web_and_refine"])
@pytest.mark.parametrize("instead", ["refine", "re_retrieve"])
def test_what_goes_along_is_chosen_by_what_is_done_in_place_of_the_web(asked: Any, instead: Any) -> None:
    """A refinement takes the kept along, another retrieval drops all, whatever the web would have kept."""
    documents = [*docs(0.35, tag="weak "), *docs(0.5, status="failed")]
    result = route(documents, on_ambiguous=asked, on_ungraded=instead)
    assert result["decision"]["rule"] == "grader_partial"
    assert list(result[instead].kept) == (documents if instead == "refine" else [])


def test_a_failed_grade_is_no_irrelevant_one_where_the_filter_is_high() -> None:
    """Its 0.5 is below a filter of 0.6; what was not judged is evidence at the limit all the same."""
    documents = docs(0.5, 0.5, status="failed")
    settings = {"filter_threshold": 0.6, "on_limit": "generate_relevant", "on_ungraded": "refine"}
    assert route(documents, **settings, max_iterations=1)["generate"] == documents
    assert route([*documents, *docs(0.4, tag="low ")], **settings, max_iterations=1)["generate"] == documents


@pytest.mark.parametrize(("action", "web"), [("web", "failed"), ("web", "empty"), ("re_retrieve", "off")])
@pytest.mark.parametrize("settings", [{"on_incorrect": "generate"}, {"on_incorrect": "refine", "max_iterations": 2}])
def test_a_correction_that_brought_nothing_takes_back_no_promise_of_few_wrong_answers(
    action: str, web: Any, settings: dict[str, Any]
) -> None:
    """What is answered from only where it is correct is not answered from because nothing more was found."""
    router = CragRouter(aggregate="set", on_ambiguous=[action, "generate"], **settings)
    verdict = {"verdict": "ambiguous", "correct_from": 0.9}
    first = router.run(query=QUESTION, documents=docs(0.5), report={"set_score": 0.5, "verdict": verdict})[action]
    assert "abstain" in router.run(query=QUESTION, documents=[], state=replace(first, web=web))


def test_a_verdict_on_the_set_that_is_not_correct_keeps_nothing_below_the_filter() -> None:
    """Only what is called correct needs evidence."""
    report = {"set_score": 0.5, "verdict": "ambiguous"}
    decision = CragRouter(aggregate="set").run(query=QUESTION, documents=docs(0.1), report=report)["decision"]
    assert (decision["kept"], len(decision["discarded"])) == ([], 1)


def test_of_a_document_that_comes_again_the_version_of_this_pass_counts() -> None:
    """Not beside what a refinement left of it, which would count twice."""
    whole = docs(0.9)
    left = replace(whole[0], content="passage")
    assert route(whole, CragState.start(QUESTION, kept=(left,)))["generate"] == whole


def test_a_ladder_names_an_action_for_each_pass() -> None:
    """The last rung stays."""
    router = CragRouter(on_ambiguous=["refine", "re_retrieve", "web"], max_iterations=9)
    state: CragState | None = None
    taken = []
    for number in range(4):
        result = router.run(query=QUESTION, documents=docs(0.5, tag=f"{number} "), state=state)
        taken.append(result["decision"]["action"])
        state = result["state"]
    assert taken == ["refine", "re_retrieve", "web", "web"]


def test_refine_carries_the_kept_and_re_retrieve_drops_all() -> None:
    """What `refine` keeps is part of the next judgement even when it is not retrieved again."""
    first = route(docs(0.6, 0.1))
    assert [grade_of(d).score for d in first["refine"].kept] == [0.6]  # type: ignore[union-attr]
    second = route(docs(0.9, tag="new "), first["state"])
    assert len(second["generate"]) == 2
    assert route(docs(0.1))["re_retrieve"].kept == ()


def test_the_last_pass_generates_from_the_best_evidence_of_any_pass() -> None:
    """KB_AGENT_MAX_ITERATIONS: a good document of the first pass is not lost by a worse last one."""
    router = CragRouter(max_iterations=2, on_ambiguous="re_retrieve")
    first = router.run(query=QUESTION, documents=docs(0.6, 0.1))
    second = router.run(query=QUESTION, documents=docs(0.2, 0.1, tag="worse "), state=first["state"])
    assert [document.content for document in second["generate"]] == ["passage 0"]
    assert second["decision"]["limit"] == "max_iterations"
    assert second["outcome"].evidence[0].content == "passage 0"


def test_of_a_document_that_two_passes_judged_the_newest_grade_counts() -> None:
    """A cascade's model may think less of it than the scorer did that read it first: others are better now."""
    first = route(docs(0.6, 0.4), on_ambiguous="re_retrieve")
    (doubted,) = docs(0.35)
    last = route([doubted, *docs(0.2, tag="other ")], first["re_retrieve"], max_iterations=2)
    assert last["decision"]["limit"] == "max_iterations"
    assert [(d.content, grade_of(d).score) for d in last["generate"]] == [  # type: ignore[union-attr]
        ("passage 1", 0.4),
        ("passage 0", 0.35),
    ]


def test_the_last_pass_uses_even_low_scored_evidence_when_there_is_no_other() -> None:
    """Design 000: whatever is available."""
    result = route(docs(0.2, 0.1), max_iterations=1)
    assert [grade_of(d).score for d in result["generate"]] == [0.2, 0.1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("on_limit", "given"),
    [("generate", {0.5: [0.5], 0.2: [0.2]}), ("generate_relevant", {0.5: [0.5], 0.2: []}), ("abstain", {})],
)
@pytest.mark.parametrize("score", [0.5, 0.2])
def test_the_policy_says_what_a_run_ends_with_at_its_limit(
    on_limit: str, given: dict[float, list[float]], score: float
) -> None:
    """The best there is, what passed the filter, or nothing whatever was found."""
    result = route(docs(score), max_iterations=1, on_limit=on_limit)
    assert [grade_of(d).score for d in result.get("generate", [])] == given.get(score, [])  # type: ignore[union-attr]
    assert ("abstain" in result) is not bool(given.get(score))


def test_the_last_pass_answers_from_what_nobody_graded_when_there_is_no_other() -> None:
    """A grader that gives no grade at all costs no evidence at a limit, as it costs none before."""
    ungraded = [Document(content="passage 1"), Document(content="passage 2")]
    settings: dict[str, Any] = {"on_ungraded": "refine", "max_iterations": 1}
    assert route(ungraded, **settings)["generate"] == ungraded
    assert route(ungraded, **settings, max_evidence=1)["generate"] == ungraded[:1]
    assert "abstain" in route(ungraded, **settings, on_limit="generate_relevant")
    router = CragRouter(on_ungraded="web")
    first = router.run(query=QUESTION, documents=ungraded)["web"]
    assert router.run(query=QUESTION, documents=[], state=replace(first, web="failed"))["generate"] == ungraded


def test_the_last_pass_abstains_when_the_policy_says_so() -> None:
    """No document passed the filter in any pass: the router says that the documents do not answer."""
    settings: dict[str, Any] = {"max_iterations": 1, "on_limit": "generate_relevant", "abstention": "No idea."}
    result = route(docs(0.2), **settings)
    assert result["abstain"].startswith("No idea.\n\nLooked for: ")
    assert result["outcome"].evidence == ()
    assert route(docs(0.2), **settings, explain_abstention=False)["abstain"] == "No idea."


def test_the_number_of_passes_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """KB_AGENT_MAX_ITERATIONS, 3 when unset; an unreadable one is refused."""
    assert route(docs(0.5))["decision"]["max_iterations"] == 3
    monkeypatch.setenv("KB_AGENT_MAX_ITERATIONS", "1")
    assert "generate" in route(docs(0.5))
    monkeypatch.setenv("KB_AGENT_MAX_ITERATIONS", "many")
    with pytest.raises(ConfigurationError, match="KB_AGENT_MAX_ITERATIONS"):
        CragRouter()


def test_a_correction_that_brings_nothing_new_ends_the_run() -> None:
    """The same documents again are no reason for a third pass."""
    router = CragRouter(max_iterations=5)
    first = router.run(query=QUESTION, documents=docs(0.5))
    second = router.run(query=QUESTION, documents=docs(0.5), state=first["state"])
    assert second["decision"]["limit"] == "nothing_new"
    assert "generate" in second


@pytest.mark.parametrize(
    ("budget", "spent", "limit"),
    [
        (Budget(llm_calls=2), {"llm_calls": 2}, "llm_calls"),
        (Budget(tokens=100), {"tokens_in": 90, "tokens_out": 10}, "tokens"),
        (Budget(seconds=1e-9), {}, "deadline"),
    ],
)
def test_a_spent_budget_ends_the_run_with_what_there_is(budget: Budget, spent: dict[str, int], limit: str) -> None:
    """No exception, and the record names the limit."""
    state = CragState.start(QUESTION, budget=budget)
    result = CragRouter().run(query=QUESTION, documents=docs(0.5), state=state, report=spent)
    assert result["decision"]["limit"] == limit
    assert result["generate"]
    assert result["decision"]["coverage"]["deadline_hit"] == (limit == "deadline")


@pytest.mark.parametrize(("reason", "hit"), [("grader_partial:deadline", True), ("grader_partial:empty", False)])
def test_a_grading_that_ran_out_of_time_is_a_deadline_that_was_hit(reason: str, hit: bool) -> None:
    """The budget may have time left: the grader has a deadline of its own."""
    decision = CragRouter().run(query=QUESTION, documents=docs(0.9), report={"reasons": [reason]})["decision"]
    assert decision["coverage"]["deadline_hit"] is hit


def test_observe_decides_and_records_but_changes_nothing() -> None:
    """How a team tries this in production without risk."""
    documents = docs(0.1, 0.2)
    result = route(documents, mode="observe")
    assert result["decision"]["action"] == "re_retrieve"
    assert [document.id for document in result["generate"]] == [document.id for document in documents]


def test_off_passes_everything_on_and_a_run_can_ask_for_another_mode() -> None:
    """The mode of the run wins over that of the construction."""
    documents = docs(0.1)
    off = route(documents, mode="off")
    assert off["decision"]["rule"] == "mode_off"
    assert {entry["reason"] for entry in off["decision"]["corrections"]} == {"mode_off"}
    assert off["generate"] == documents
    state = replace(CragState.start(QUESTION), mode="enforce")
    assert "re_retrieve" in route(documents, state, mode="off")


@pytest.mark.parametrize(
    "settings",
    [
        {"upper": 1.1},
        {"lower": 0.8},
        {"lower": -0.1},
        {"filter_threshold": True},
        {"preset": "reckless"},
        {"preset": ["balanced"]},
        {"strict": ["middle"]},
        {"aggregate_over": "some"},
        {"enough_documents": 0},
        {"preset": "conservative", "upper": 0.3},
        {"aggregate": "median"},
        {"on_ambiguous": "give_up"},
        {"on_incorrect": []},
        {"on_limit": "refine"},
        {"mode": "watch"},
        {"max_iterations": 0},
        {"max_evidence": 0},
        {"abstention": " ", "explain_abstention": False},
    ],
)
def test_unusable_settings_are_refused_at_construction(settings: dict[str, Any]) -> None:
    """Got and wanted, in one line."""
    with pytest.raises(ConfigurationError, match=r"but got|must not be above"):
        CragRouter(**settings)


@pytest.mark.parametrize("name", ["on_ambiguous", "on_incorrect", "on_ungraded"])
def test_a_ladder_that_cannot_be_used_is_named(name: str) -> None:
    """Three of them take the same words."""
    with pytest.raises(ConfigurationError, match=f"^{name} must be one of"):
        CragRouter(**{name: ["refine", "give_up"]})


def test_what_a_document_must_score_beside_another_may_be_as_much_as_alone() -> None:
    """Then it changes nothing."""
    assert len(route(docs(0.9, 0.3, 0.29), keep_beside=0.3, on_ambiguous="generate")["generate"]) == 2


def test_an_ungraded_retrieval_that_goes_to_the_web_says_that_grading_failed() -> None:
    """It was sent there by its own ladder, and not in the place of another one."""
    decision = route(docs(0.5, status="failed"), on_ungraded="web")["decision"]
    assert (decision["action"], decision["rule"]) == ("web", "grader_failed")


@pytest.mark.parametrize(
    ("over", "scores", "verdict"),
    [("kept", (0.6, 0.1), "correct"), ("all", (0.6, 0.5, 0.6), "correct"), ("all", (0.7, 0.7, 0.2), "ambiguous")],
)
def test_what_is_left_out_counts_against_the_middle_only_where_all_count(
    over: str, scores: tuple[float, ...], verdict: str
) -> None:
    """Of what was kept, nothing is below the filter."""
    decision = route(docs(*scores), variance_rule=True, aggregate_over=over)["decision"]
    assert (decision["verdict"], decision["rule"]) == (verdict, "middle")


def test_a_decision_says_of_each_document_what_became_of_it_and_why() -> None:
    """In the form of the published design; a source is named where there is one."""
    kept, dropped = docs(0.9, 0.1)
    assert route([kept, dropped], on_incorrect="abstain")["decision"]["corrections"] == [
        {"type": "keep", "id": kept.id, "reason": "graded"},
        {"type": "discard", "id": dropped.id, "reason": "below_filter"},
    ]
    decision = route([kept, dropped])["decision"]
    assert decision["kept"] == [{"id": kept.id, "score": 0.9, "status": "graded", "grader": "test"}]
    assert decision["discarded"] == [{"id": dropped.id, "score": 0.1, "reason": "below_filter"}]


def test_a_document_that_nobody_graded_is_never_the_best_of_a_set() -> None:
    """One that a verdict on the set keeps for want of a better one."""
    report = {"set_score": 0.9, "verdict": "correct"}
    documents = [Document(content="not graded"), *docs(0.0, 0.1)]
    result = CragRouter(aggregate="set").run(query=QUESTION, documents=documents, report=report)
    assert [document.content for document in result["generate"]] == ["passage 1"]


@pytest.mark.parametrize(
    ("action", "has_kept"), [("refine", False), ("re_retrieve", False), ("web", True), ("web_and_refine", True)]
)
def test_what_is_kept_beside_the_web_leaves_by_a_socket_of_its_own_and_else_by_none(
    action: str, has_kept: bool
) -> None:
    """Another correction carries it in the state; here it would come to the joiner twice."""
    assert ("kept" in route(docs(0.5), on_ambiguous=action)) is has_kept


def test_what_no_pass_could_judge_keeps_the_run_open_whatever_came_between() -> None:
    """It may answer: what the third pass brought in its place is no proof that nothing does."""
    actions = dict.fromkeys(("on_ambiguous", "on_incorrect", "on_ungraded"), "re_retrieve")
    router, state = CragRouter(**actions, max_iterations=9), None
    verdicts = []
    for tag, score, status in (("a ", 0.5, "failed"), ("b ", 0.5, "graded"), ("c ", 0.1, "graded")):
        result = router.run(query=QUESTION, documents=docs(score, tag=tag, status=status), state=state)
        verdicts.append(result["decision"]["verdict"])
        state = result["state"]
    assert verdicts == ["ungraded", "ambiguous", "ungraded"]


def test_an_incorrect_retrieval_that_is_answered_from_all_the_same_has_all_of_it() -> None:
    """No document reaches the filter, and no limit is met."""
    assert len(route(docs(0.1, 0.2), on_incorrect="generate")["generate"]) == 2


@pytest.mark.parametrize(
    ("settings", "upper", "lower"),
    [
        ({}, 0.7, 0.3),
        ({"preset": "conservative"}, 0.8, 0.4),
        ({"preset": "aggressive"}, 0.6, 0.2),
        ({"preset": "conservative", "lower": 0.1}, 0.8, 0.1),
    ],
)
def test_a_preset_sets_the_thresholds_that_nobody_else_set(
    settings: dict[str, Any], upper: float, lower: float
) -> None:
    """The record says which held."""
    thresholds = route(docs(0.75, 0.75), **settings)["decision"]["thresholds"]
    assert (thresholds["upper"], thresholds["lower"]) == (upper, lower)


@pytest.mark.parametrize(
    ("preset", "verdict"), [("conservative", "ambiguous"), ("balanced", "ambiguous"), ("aggressive", "correct")]
)
def test_the_aggressive_preset_answers_where_the_others_correct(preset: str, verdict: str) -> None:
    """An aggregate of 0.65."""
    assert route(docs(0.65, 0.65), preset=preset)["decision"]["verdict"] == verdict


def test_the_budgets_passes_hold_beside_the_routers_own() -> None:
    """Whichever is less."""
    state = CragState.start(QUESTION, budget=Budget(iterations=1))
    decision = route(docs(0.5), state=state, max_iterations=3)["decision"]
    assert (decision["action"], decision["limit"]) == ("generate", "max_iterations")


def test_a_budget_that_kept_the_grader_from_asking_ends_the_run() -> None:
    """Another pass could not be graded either."""
    report = {"limit": "tokens", "reasons": ["grader_partial:tokens"]}
    documents = [*docs(0.5, 0.5), *docs(0.5, status="failed", tag="unasked ")]
    decision = CragRouter().run(query=QUESTION, documents=documents, report=report)["decision"]
    assert (decision["action"], decision["limit"]) == ("generate", "tokens")
    assert decision["coverage"]["reasons"] == ["grader_partial:tokens", "limit:tokens"]


@pytest.mark.parametrize(
    ("score", "strict", "verdict"),
    [
        (0.7, [], "correct"),
        (0.7, ["upper"], "ambiguous"),
        (0.3, [], "ambiguous"),
        (0.3, ["lower"], "incorrect"),
        (0.31, ["upper", "lower"], "ambiguous"),
    ],
)
def test_a_strict_threshold_must_be_exceeded(score: float, strict: list[str], verdict: str) -> None:
    """Designs differ in what exactly the threshold means."""
    assert route(docs(score), strict=strict)["decision"]["verdict"] == verdict


def test_the_worst_of_all_judged_documents_can_decide() -> None:
    """Also one that the filter drops."""
    kept = route(docs(0.9, 0.1), aggregate="min")["decision"]
    judged = route(docs(0.9, 0.1), aggregate="min", aggregate_over="all")["decision"]
    assert (kept["verdict"], kept["score"]) == ("correct", 0.9)
    assert (judged["verdict"], judged["score"]) == ("incorrect", 0.1)


def test_an_ambiguous_retrieval_with_enough_left_is_answered_from() -> None:
    """With fewer the correction goes on."""
    settings: dict[str, Any] = {"on_ambiguous": "web_and_refine", "enough_documents": 3}
    assert "generate" in route(docs(0.5, 0.5, 0.5, 0.1), **settings)
    assert "web_and_refine" in route(docs(0.5, 0.5, 0.1), **settings)


def test_good_documents_can_stay_beside_what_the_web_was_to_replace() -> None:
    """Those that reach the upper threshold, and no others."""
    settings: dict[str, Any] = {"aggregate": "min", "aggregate_over": "all", "on_incorrect": "web"}
    spared = route(docs(0.9, 0.7, 0.5, 0.1), keep_good=True, **settings)["web_and_refine"]
    assert [grade.score for d in spared.kept if (grade := grade_of(d))] == [0.9, 0.7]
    assert route(docs(0.9, 0.5, 0.1), **settings)["web"].kept == ()
    assert route(docs(0.5, 0.1), keep_good=True, **settings)["web"].kept == ()
    unasked = [Document(content="never graded")]
    assert route(unasked, keep_good=True, on_ungraded="web")["web"].kept == ()


def test_what_the_web_replaced_is_not_taken_up_again_unless_the_web_brought_nothing() -> None:
    """The last pass ends the run at its limit."""
    settings: dict[str, Any] = {"on_incorrect": "web", "max_iterations": 2, "filter_threshold": 0.0}
    first = route(docs(0.2, 0.1), **settings)["web"]
    web = docs(0.15, tag="web ")
    assert route(web, state=first, **settings)["generate"] == web
    assert [d.content for d in route([], state=first, **settings)["generate"]] == ["passage 0", "passage 1"]


def test_the_router_makes_its_own_state_when_none_comes() -> None:
    """A pipeline without guard works; a router keeps nothing between runs."""
    router = CragRouter(max_iterations=2)
    assert [router.run(query=QUESTION, documents=docs(0.5))["decision"]["iteration"] for _ in range(3)] == [1, 1, 1]


statuses = st.sampled_from(["graded", "cached", "approved", "failed"])
batches = st.lists(st.lists(st.tuples(st.floats(0, 1), statuses), max_size=6), min_size=1, max_size=6)


@given(batches=batches, aggregate=st.sampled_from(["mean", "max", "min", "rank_weighted"]), data=st.data())
def test_any_run_ends_in_time_with_a_reason_and_loses_no_document(
    batches: list[list[tuple[float, str]]], aggregate: Any, data: st.DataObject
) -> None:
    """For any grades and any policy: one branch a pass, at most max_iterations passes, every document on record."""
    actions = st.sampled_from(sorted(ACTIONS))
    router = CragRouter(
        aggregate=aggregate,
        on_ambiguous=data.draw(st.lists(actions, min_size=1, max_size=3)),
        on_incorrect=data.draw(st.lists(actions, min_size=1, max_size=3)),
        on_limit=data.draw(st.sampled_from(["generate", "generate_relevant", "abstain"])),
        max_iterations=data.draw(st.integers(1, 4)),
    )
    state: CragState | None = None
    for turn in range(5):
        documents = [
            graded(f"{turn} {i}", score, QUESTION, status)
            for i, (score, status) in enumerate(batches[turn % len(batches)])
        ]
        result = router.run(query=QUESTION, documents=documents, state=state)
        taken = [key for key in result if key in ACTIONS]
        decision = result["decision"]
        assert len(taken) == 1
        recorded = {entry["id"] for entry in decision["kept"] + decision["discarded"]}
        assert {document.id for document in documents} <= recorded
        assert not {"web", "web_and_refine"} & set(taken) or decision["coverage"]["failed"] == 0
        state = result["state"]
        if "outcome" in result:
            assert "generate" not in result or result["generate"]
            break
    else:
        pytest.fail("the run did not end")
    assert len(state.trail) <= decision["max_iterations"]


@pytest.mark.parametrize("status", ["failed", "cooldown"])
def test_a_web_that_is_down_makes_no_retrieval_incorrect(status: Any) -> None:
    """The last verdict holds, and the record names what did not work."""
    router = CragRouter(on_ambiguous=["web", "generate"], max_iterations=3)
    first = router.run(query=QUESTION, documents=docs(0.5))
    assert (first["state"].trail[-1]["verdict"], first["state"].action) == ("ambiguous", "web")
    after = router.run(query=QUESTION, documents=[], state=replace(first["state"], web=status))["outcome"]
    assert [decision["verdict"] for decision in after.trail] == ["ambiguous", "ambiguous"]
    assert after.trail[-1]["judged_by"] == f"web_{status}"
    coverage = after.trail[-1]["coverage"]
    assert (coverage["reasons"][0], coverage["degraded"]) == (f"web_{status}", True)
    assert after.evidence


def test_a_web_that_answered_nothing_leaves_nothing_to_answer_from() -> None:
    """It was asked, and there is nothing: that is a judgement."""
    router = CragRouter(on_ambiguous=["web", "generate"], max_iterations=3)
    first = router.run(query=QUESTION, documents=docs(0.5))["state"]
    after = router.run(query=QUESTION, documents=[], state=replace(first, web="empty"))["outcome"]
    assert after.trail[-1]["judged_by"] == "no_documents"


@pytest.mark.parametrize(("status", "rule"), [("empty", "web_empty"), ("denied", "web_denied"), ("ok", "nothing_new")])
def test_a_web_that_brings_nothing_new_makes_what_was_refined_no_better(status: Any, rule: str) -> None:
    """Its best part alone would pass for correct. `ok`: it found what was there already."""
    router = CragRouter(aggregate="min", on_ambiguous="web_and_refine", max_iterations=4)
    good, weak = docs(0.9), docs(0.5, tag="weak ")
    first = router.run(query=QUESTION, documents=[*good, *weak])["state"]
    after = router.run(query=QUESTION, documents=good, state=replace(first, kept=(), web=status))["decision"]
    assert (after["verdict"], after["judged_by"], after["rule"]) == ("ambiguous", rule, "nothing_new")


def test_a_web_that_was_down_earlier_excuses_no_later_search_of_the_store() -> None:
    """What judges a pass is the correction that led to it."""
    router = CragRouter(on_ambiguous=["re_retrieve", "generate"], max_iterations=3)
    first = router.run(query=QUESTION, documents=docs(0.5))["state"]
    after = router.run(query=QUESTION, documents=[], state=replace(first, web="failed"))["outcome"]
    assert after.trail[-1]["judged_by"] == "no_documents"


def test_two_texts_of_one_id_are_two_documents() -> None:
    """Two stores may count from one, both: the answer of the second is not lost for what the first has there."""
    first, second = (replace(document, id="1") for document in docs(0.1, 0.9))
    result = route([first, second, replace(second, score=0.5)])
    decision = result["decision"]
    assert result["generate"] == [second]
    assert [entry["score"] for entry in decision["kept"]] == [0.9]
    assert [(entry["id"], entry["score"]) for entry in decision["discarded"]] == [("1", 0.1)]
    assert decision["coverage"]["documents_in"] == 2
    known = [given_in_run(result["state"], replace(one, meta={}), question_id(QUESTION)) for one in (first, second)]
    assert [grade and grade.score for grade in known] == [0.1, 0.9]
    report = {"set_score": 0.9, "verdict": "correct"}
    weak = [first, replace(second, meta=docs(0.2)[0].meta)]
    decision = CragRouter(aggregate="set").run(query=QUESTION, documents=weak, report=report)["decision"]
    assert [entry["score"] for entry in (*decision["kept"], *decision["discarded"])] == [0.2, 0.1]


def test_a_grade_is_that_of_a_text_and_not_of_whatever_bears_its_id_later() -> None:
    """A second store that counts from one, too; what a refinement left of a document is still that document."""
    question = question_id(QUESTION)
    first = graded("weak", 0.4, QUESTION)
    state = route([first])["refine"]
    again = given_in_run(state, replace(first, meta={}), question)
    assert again is not None
    assert (again.score, again.status) == (0.4, "cached")
    other = Document(id=first.id, content="another text")
    assert given_in_run(state, other, question) is None
    later = replace(graded("another text", 0.5, QUESTION), id=first.id)
    both = route([later], state=replace(state, kept=()))["state"]
    found = [given_in_run(both, replace(one, meta={}), question) for one in (first, other)]
    assert [grade and grade.score for grade in found] == [0.4, 0.5]
    refined = annotate(replace(first, content="we"), strips=[{"start": 0, "end": 2, "score": 1.0}])
    state = route([refined, *docs(0.5)], state=replace(state, kept=()))["refine"]
    assert given_in_run(state, refined, question) is not None
    assert given_in_run(state, replace(first, meta={}), question) is not None
    better = replace(refined, meta={"crag": {**refined.meta["crag"], "score": 0.9}})
    state = route([better], state=replace(state, kept=()))["state"]
    found = [given_in_run(state, replace(one, meta={}), question) for one in (first, refined)]
    assert [grade and grade.score for grade in found] == [0.4, 0.9]


def test_a_grade_that_names_no_question_is_taken_for_the_one_at_hand() -> None:
    """As somebody's own grader may write it; one that was given for another question stays without effect."""
    said = {"score": 0.9, "status": "graded", "grader": "mine"}
    open_one, foreign = (Document(content="a", meta={"crag": {**said, **own}}) for own in ({}, {"question": "other"}))
    result = route([open_one])
    assert result["decision"]["verdict"] == "correct"
    assert grade_of(result["generate"][0], question_id(QUESTION)) is not None
    decision = route([foreign])["decision"]
    assert (decision["verdict"], decision["coverage"]["reasons"]) == ("ungraded", ["not_graded"])
    entry = decision["kept"][0]
    entry = decision["kept"][0]
    assert (entry["score"], entry["status"], entry["reason"]) == (0.5, "failed", "not_graded")


@pytest.mark.parametrize(
    ("statuses", "reasons"), [("fff", ["grader_failed"]), ("ggf", ["grader_partial"]), ("ggg", [])]
)
def test_failed_grades_degrade_the_coverage_without_a_report(statuses: str, reasons: list[str]) -> None:
    """A fault changes coverage, whether the grader's report is connected or not."""
    kinds = {"f": "failed", "g": "graded"}
    documents = [graded(f"passage {n}", 0.5, QUESTION, kinds[s]) for n, s in enumerate(statuses)]
    coverage = route(documents)["decision"]["coverage"]
    assert (coverage["degraded"], coverage["reasons"]) == (bool(reasons), reasons)


@pytest.mark.parametrize("count", range(1, 30))
def test_a_mean_at_the_threshold_is_at_the_threshold_whatever_floats_make_of_it(count: int) -> None:
    assert route(docs(*[0.7] * count))["decision"]["verdict"] == "correct"


@pytest.mark.parametrize(("score", "verdict"), [(0.69996, "ambiguous"), (0.29997, "incorrect"), (0.70004, "correct")])
def test_the_score_on_record_is_on_the_side_of_the_thresholds_that_the_verdict_says(score: float, verdict: str) -> None:
    """Rounded to four decimals, 0.69996 would be an ambiguous 0.7."""
    decision = route(docs(score), filter_threshold=0.0)["decision"]
    assert decision["verdict"] == verdict
    assert decision["score"] == score
    assert route(docs(0.123456), filter_threshold=0.0)["decision"]["score"] == 0.1235


@pytest.mark.parametrize("score", [85, -0.1, float("nan"), float("inf"), True, "0.9"])
def test_a_score_of_the_set_on_another_scale_is_refused(score: Any) -> None:
    router = CragRouter(aggregate="set")
    with pytest.raises(ConfigurationError, match="wanted a number from 0 to 1"):
        router.run(query=QUESTION, documents=docs(0.4), report={"set_score": score})


@pytest.mark.parametrize(("failed", "verdict"), [(0, "incorrect"), (1, "incorrect"), (2, "ungraded")])
def test_a_cascade_whose_model_failed_at_more_than_half_of_what_it_was_asked_is_no_verdict(
    failed: int, verdict: str
) -> None:
    """What the scorer was sure of is no majority against the documents that may answer; half of these still is."""
    documents = docs(*[0.1] * (5 - failed)) + docs(*[0.5] * failed, status="failed", tag="asked ")
    report = {"cascade": {"asked": 3}} if failed == 2 else {"cascade": {"asked": 2}}
    decision = CragRouter().run(query=QUESTION, documents=documents, report=report)["decision"]
    assert (decision["verdict"], decision["judged_by"]) == (
        verdict,
        "grader_failed" if verdict == "ungraded" else "lower_threshold",
    )


def test_what_a_pass_did_not_judge_is_no_evidence_beside_what_it_did() -> None:
    """Where nobody gave a grade, nobody called one of them worse than another; else the judged ones are the best."""
    open_one, judged = Document(content="nobody judged this"), docs(0.4)
    for documents, evidence in (([open_one], [open_one]), ([open_one, *judged], judged)):
        state = route(documents, on_ambiguous="generate")["state"]
        assert [document.content for document in state.best] == [document.content for document in evidence]
