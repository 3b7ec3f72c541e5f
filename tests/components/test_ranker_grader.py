"""RankerGrader: scores of any ranker as grades; what it does not score is failed, and shows."""

import asyncio
import logging
import time
from collections import namedtuple
from dataclasses import replace
from decimal import Decimal
from threading import Lock
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.rankers import (
    LLMRanker,
    LostInTheMiddleRanker,
    MetaFieldGroupingRanker,
    MetaFieldRanker,
)
from makers import graded

from haystack_integrations.crag.components.ranker_grader import RankerGrader
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.state import CragState, known_grades

QUESTION = "How long is the warranty?"


@component
class ByNumber:
    """A ranker: the score of a document is the number that it begins with; `-` gives it none, `x` drops it."""

    def __init__(self, failing: bool = False, delay_s: float = 0.0) -> None:
        self.failing, self.delay_s = failing, delay_s
        self.warm = 0

    def warm_up(self) -> None:
        self.warm += 1

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int = 2) -> dict[str, Any]:
        assert query == QUESTION
        time.sleep(self.delay_s)
        if self.failing:
            msg = "secret: the service is down"
            raise ConnectionError(msg)
        rated = []
        for document in documents:
            first = str(document.content).split()[0]
            if first != "x":
                rated.append(replace(document, score=document.score if first == "-" else float(first)))
        return {"documents": sorted(rated, key=lambda document: -(document.score or 0))[:top_k]}


@component
class Sending:
    """A ranker behind a server: what its client cannot write as UTF-8 is not sent."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        assert query == QUESTION
        # With the title, as by `meta_fields_to_embed` of many.
        sent = [(f"{document.meta.get('title')} {document.content}".encode(), document) for document in documents]
        return {"documents": [replace(document, score=float(b"two years" in text)) for text, document in sent]}


@component
class ByNumberAsync:
    """The same, with a door of its own for event loops."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        raise AssertionError

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, documents: list[Document]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"documents": [replace(document, score=0.7) for document in documents]}


def docs(*texts: str) -> list[Document]:
    """Documents with a retriever's score."""
    return [Document(content=text, score=9.0) for text in texts]


def run(*texts: str, asynchronous: bool = False, ranker: Any = None, **settings: Any) -> dict[str, Any]:
    """Grade by one of the doors."""
    grader = RankerGrader(ranker or ByNumber(), **settings)
    arguments: dict[str, Any] = {"query": QUESTION, "documents": docs(*texts)}
    return dict(asyncio.run(grader.run_async(**arguments)) if asynchronous else grader.run(**arguments))


BOTH_DOORS = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@BOTH_DOORS
def test_every_document_keeps_its_place_and_gets_the_rankers_score(asynchronous: bool) -> None:
    """All of them, whatever the ranker's own `top_k`; the retriever's score stays where it was."""
    result = run("0.2 a", "0.9 b", "0.4 c", asynchronous=asynchronous)
    assert result["scores"] == [0.2, 0.9, 0.4]
    assert (result["status"], result["report"]) == ("ok", {"set_score": 0.9, "reasons": []})
    assert [document.score for document in result["documents"]] == [9.0, 9.0, 9.0]
    assert grade_of(result["documents"][0]).grader == "RankerGrader:ByNumber"  # type: ignore[union-attr]


@BOTH_DOORS
@pytest.mark.parametrize("place", ["content", "title"])
def test_half_a_character_in_one_document_costs_no_other_its_grade(place: str, asynchronous: bool) -> None:
    """One that a program cut by UTF-16: no document had a grade, and the retrieval was `ungraded`."""
    told = {"content": "Lamps are bright.", "title": "Lamps", place: "Lamps \ud83d"}
    lamps = Document(id="lamps", content=told["content"], meta={"title": told["title"]})
    arguments: dict[str, Any] = {"query": QUESTION, "documents": [Document(content="It is two years."), lamps]}
    grader = RankerGrader(Sending())
    result = asyncio.run(grader.run_async(**arguments)) if asynchronous else grader.run(**arguments)
    assert (result["scores"], result["status"]) == ([1.0, 0.0], "ok")
    given = result["documents"][1]
    assert {"content": given.content, "title": given.meta["title"]} == told, "the document itself stays as it is"


@BOTH_DOORS
def test_documents_of_one_id_are_scored_each_by_itself(asynchronous: bool) -> None:
    """As splitters that number their pieces anew for each file give them."""
    grader = RankerGrader(ByNumber())
    documents = [Document(id="1", content="0.9 good"), Document(id="1", content="0.1 bad"), Document(content="0.5 so")]
    arguments: dict[str, Any] = {"query": QUESTION, "documents": documents}
    result = asyncio.run(grader.run_async(**arguments)) if asynchronous else grader.run(**arguments)
    assert [(d.id, d.content) for d in result["documents"]] == [(d.id, d.content) for d in documents]
    assert result["scores"] == [0.9, 0.1, 0.5]


def test_what_a_ranker_writes_into_metadata_stays_its_own() -> None:
    @component
    class Marking:
        @component.output_types(documents=list[Document])
        def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
            for document in documents:
                document.meta["tags"].append("ranked")
            return {"documents": [replace(document, score=0.5) for document in documents]}

    page = Document(content="a", meta={"tags": ["mine"]})
    result = RankerGrader(Marking()).run(query=QUESTION, documents=[page])
    assert result["scores"] == [0.5]
    assert page.meta["tags"] == result["documents"][0].meta["tags"] == ["mine"]


def test_metadata_that_nobody_can_copy_ends_no_run() -> None:
    """As Haystack hands on what it cannot copy itself."""
    page = Document(content="0.9 good", meta={"held": Lock(), "place": namedtuple("Place", "page")(3)})
    assert RankerGrader(ByNumber()).run(query=QUESTION, documents=[page])["scores"] == [0.9]


def test_logits_become_grades_on_a_curve() -> None:
    """The middle is 0.5; far ends neither overflow nor leave [0, 1]."""
    result = run("3 a", "5 b", "-1e9 c", "1e9 d", scale="logit", slope=0.5, middle=3.0)
    assert result["scores"] == [0.5, pytest.approx(0.7311), 0.0, 1.0]


@BOTH_DOORS
def test_a_score_beyond_the_unit_scale_names_the_way_out(asynchronous: bool) -> None:
    """Clipping would hide that the scale is another one; a rounding error is none."""
    with pytest.raises(ConfigurationError, match=r"\[0, 1\], but gave 3.5; use scale='logit'"):
        run("3.5 a", asynchronous=asynchronous)
    assert run("1.0000001 a")["scores"] == [1.0]


def test_what_the_ranker_drops_or_does_not_score_is_failed() -> None:
    """Neither is a judgement; a number that is none is no score."""
    result = run("x a", "- b", "nan c", "0.8 d")
    reasons = [grade.reason for d in result["documents"] if (grade := grade_of(d)) and grade.status == "failed"]
    assert reasons == ["not_ranked", "no_score", "no_score"]
    assert result["status"] == "partial"
    assert result["report"]["reasons"] == ["grader_partial:not_ranked", "grader_partial:no_score"]
    assert result["report"]["set_score"] == 0.8


@pytest.mark.parametrize("score", [Decimal("0.9"), np.float32(0.9), np.array(0.9)])
def test_a_score_may_be_a_number_of_another_kind(score: Any) -> None:
    """A ranker of one's own may give a tensor of one as it comes out of its model."""

    @component
    class Strange:
        @component.output_types(documents=list[Document])
        def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
            return {"documents": [replace(document, score=score) for document in documents]}

    assert RankerGrader(Strange()).run(query=QUESTION, documents=docs("a"))["scores"] == [0.9]


@pytest.mark.parametrize("score", ["0.9", True, 10**400, 1j, np.array([0.9, 0.8])])
def test_a_score_that_is_no_number_is_none_and_leaves_the_others_as_they_are(score: Any) -> None:
    """It was a failure of the whole ranking, whatever the others said."""

    @component
    class OneStrange:
        @component.output_types(documents=list[Document])
        def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
            return {"documents": [replace(documents[0], score=0.8), replace(documents[1], score=score)]}

    result = RankerGrader(OneStrange()).run(query=QUESTION, documents=docs("a", "b"))
    assert result["scores"] == [0.8, 0.5]
    assert result["report"] == {"set_score": 0.8, "reasons": ["grader_partial:no_score"]}


@pytest.mark.parametrize("ranker", [LostInTheMiddleRanker(), MetaFieldRanker("year"), MetaFieldGroupingRanker("kind")])
def test_a_ranker_that_reads_no_question_is_refused(ranker: Any) -> None:
    """Of MetaFieldRanker's scores, 1/61 for the best, all documents of every question were irrelevant."""
    with pytest.raises(ConfigurationError, match=f"but got a {type(ranker).__name__}, which takes no query"):
        RankerGrader(ranker)


def test_a_ranker_that_only_chooses_judges_nothing() -> None:
    """It hands on the retriever's scores, which must not pass for its own."""
    chosen = MockChatGenerator('{"documents": [{"index": 2}]}')
    result = run("a", "b", ranker=LLMRanker(chat_generator=chosen))
    assert (result["status"], result["scores"]) == ("failed", [0.5, 0.5])


@BOTH_DOORS
def test_a_pipeline_with_a_ranker_in_it_is_a_ranker(asynchronous: bool) -> None:
    """Haystack's SuperComponent names its inputs as sockets, not as parameters: it was sent no question."""
    pipeline = Pipeline()
    pipeline.add_component("ranker", ByNumber())
    result = run("0.9 a", "0.1 b", "0.2 c", asynchronous=asynchronous, ranker=SuperComponent(pipeline))
    assert (result["status"], result["scores"]) == ("ok", [0.9, 0.1, 0.2])


@BOTH_DOORS
def test_a_ranker_that_fails_leaves_failed_grades_a_warning_and_no_text(
    asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The run goes on; the kind of failure is told, never its message."""
    with caplog.at_level(logging.WARNING, logger="haystack_integrations"):
        result = run("0.9 a", asynchronous=asynchronous, ranker=ByNumber(failing=True))
    assert (result["status"], result["scores"]) == ("failed", [0.5])
    assert result["report"] == {"reasons": ["grader_failed:ConnectionError"]}
    assert "Ranking failed for 1 of 1 documents" in caplog.text
    assert "secret" not in caplog.text


@BOTH_DOORS
def test_a_ranker_that_hangs_is_given_up_at_the_deadline(asynchronous: bool) -> None:
    """Its documents are failed."""
    result = run("0.9 a", asynchronous=asynchronous, ranker=ByNumber(delay_s=3), deadline_s=0.05)
    assert result["report"]["reasons"] == ["grader_failed:deadline"]


def test_a_ranker_with_a_door_for_event_loops_is_awaited() -> None:
    """Not called in a thread."""
    assert run("a", "b", asynchronous=True, ranker=ByNumberAsync())["scores"] == [0.7, 0.7]


def test_grades_of_the_run_stay_and_are_not_paid_for_again() -> None:
    """Only what is new is ranked; a document without text needs no ranker."""
    given, state = graded("x dropped if it were ranked", 0.6, QUESTION), CragState.start(QUESTION)
    state = replace(state, grades=known_grades([given], state.question, state))
    documents = [given, *docs("0.3 new"), Document(content="")]
    result = RankerGrader(ByNumber()).run(query=QUESTION, documents=documents, state=state)
    assert result["scores"] == [0.6, 0.3, 0.0]
    assert [document.meta["crag"]["status"] for document in result["documents"]] == ["cached", "graded", "graded"]


def test_in_mode_off_and_without_documents_nothing_is_ranked() -> None:
    """Documents pass unchanged."""
    off = replace(CragState.start(QUESTION), mode="off")
    result = RankerGrader(ByNumber(failing=True)).run(query=QUESTION, documents=docs("a"), state=off)
    assert (result["status"], result["scores"], result["documents"]) == ("skipped", [], docs("a"))
    assert RankerGrader(ByNumber()).run(query=QUESTION, documents=[])["status"] == "skipped"


def test_warm_up_reaches_the_ranker() -> None:
    """Models are loaded there."""
    ranker = ByNumber()
    RankerGrader(ranker).warm_up()
    assert ranker.warm == 1


def test_the_span_tells_status_and_numbers_and_no_text(exporter: Any) -> None:
    """As the other graders' spans do."""
    run("0.9 canary", "x canary")
    span = next(span for span in exporter.get_finished_spans() if span.name == "crag.grade")
    assert span.attributes["crag.grader.status"] == "partial"
    assert span.attributes["crag.documents.failed"] == 1
    assert span.attributes["crag.score.max"] == 0.9
    assert "canary" not in span.to_json()


@pytest.mark.parametrize(
    "settings",
    [
        {"scale": "percent"},
        {"scale": "logit", "slope": 0},
        {"scale": "logit", "middle": float("nan")},
        {"slope": 2.0},  # they would have no effect
        {"middle": 1.5},
        {"deadline_s": -1},
        {"ranker": "me"},
    ],
)
def test_unusable_settings_are_refused_at_construction(settings: dict[str, Any]) -> None:
    """Got and wanted, in one line."""
    with pytest.raises(ConfigurationError, match=r"but got"):
        RankerGrader(**{"ranker": ByNumber(), **settings})


class Bare:
    """A ranker that no decorator has made a component of Haystack's."""

    def __init__(self, best: str) -> None:
        self.best = best

    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        return {"documents": [replace(each, score=float(self.best in str(each.content))) for each in documents]}


@pytest.mark.parametrize(
    ("ranker", "settings"), [(ByNumber(delay_s=0.1), {"failing": False, "delay_s": 0.1}), (Bare("a"), {"best": "a"})]
)
def test_a_ranker_without_to_dict_is_written_down_by_its_attributes(ranker: Any, settings: dict[str, Any]) -> None:
    written = RankerGrader(ranker, scale="logit", middle=2.0).to_dict()["init_parameters"]
    assert written["ranker"]["init_parameters"] == settings
    assert {**written, "ranker": None} == {
        "ranker": None,
        "scale": "logit",
        "slope": 1.0,
        "middle": 2.0,
        "deadline_s": 20.0,
    }
