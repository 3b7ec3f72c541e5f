"""What is not exactly a grade is none: numbers with words around them, lists that disagree, grades from a store."""

import json
from datetime import date
from typing import Any

import numpy as np
import pytest
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from makers import fill

from haystack_integrations.crag.components import CragRouter, RecordBuilder
from haystack_integrations.crag.components.evidence_joiner import EvidenceJoiner
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, grade_of, question_id, with_grade
from haystack_integrations.crag.grading.reply import read_reply
from haystack_integrations.crag.pipelines import load

KEY, QUESTION = "bkt", "When is a refund paid?"


@pytest.mark.parametrize(
    "value",
    ["1 of 10", "1 out of 10", "1:10", "1 - 0.8", "1|0", "1 000", "1e", "~1", "1 (no)", "<0.1", "0. 1", '"1" "0"'],
)
@pytest.mark.parametrize("form", ["{{'{key}': {value}}}", '[{{"id": "{key}", "score": {value}}}]'])
def test_a_number_that_is_only_part_of_what_was_said_is_no_grade(form: str, value: str) -> None:
    """Repair would take the 1 of `1 of 10`: the best grade there is."""
    reply = read_reply(form.format(key=KEY, value=value), [KEY], finish_reason="stop")
    assert (reply.entries, reply.problem is None) == ({}, False)


@pytest.mark.parametrize(
    "text", [f"{{'{KEY}': 0.9}}", f"{{{KEY}: 0.9,}}", f"{{'id': '{KEY}', 'score': 0.9}}", f'{{"{KEY}": "0.9",}}']
)
def test_other_slips_are_still_repaired(text: str) -> None:
    assert read_reply(text, [KEY], finish_reason="stop").entries[KEY].score == 0.9


def test_two_lists_of_one_reply_that_disagree_leave_no_grade() -> None:
    said = {"evaluations": [{"id": KEY, "score": 1}], "scores": [{"id": KEY, "score": 0}]}
    reply = read_reply(json.dumps(said), [KEY], finish_reason="stop")
    assert (reply.entries, reply.conflicting) == ({}, {KEY})


def stored(**grade: Any) -> Document:
    """A document whose metadata in the store claims a grade for the question."""
    said = {"question": question_id(QUESTION), "score": 1.0, "status": "graded", "grader": "x", **grade}
    return Document(content="Bicycles are red, and a refund is not for them.", meta={"crag": said})


def test_a_grade_that_stands_in_the_store_is_not_this_runs(in_memory_store: Any) -> None:
    """It would be taken for one given a pass ago: the grader was never asked, and the verdict was `correct`."""
    fill(in_memory_store, [stored()])
    grader = MockChatGenerator(response_fn=lambda messages: json.dumps([0.0]))
    result = load("corrective_rag", store=in_memory_store, grader=grader, generator=MockChatGenerator("No.")).run(
        query=QUESTION
    )
    assert (result["crag"]["verdict"], result["crag"]["action"]) == ("incorrect", "abstain")
    assert result["crag"]["trail"][0]["coverage"]["cached"] == 0


@pytest.mark.parametrize(
    "grade",
    [{"score": value} for value in (None, "abc", float("nan"), float("inf"), 99, -1, True)]
    + [{"status": value} for value in ("wat", None, [])],
)
def test_metadata_that_no_grader_writes_is_no_grade(grade: dict[str, Any]) -> None:
    assert grade_of(stored(**grade)) is None


def test_metadata_of_retrievers_that_is_no_mapping_ends_no_run() -> None:
    document = Document(content="Bicycles", meta={"crag": {"retrievers": 5}})
    (joined,) = EvidenceJoiner(weights={"bm25": 1.0}).run(bm25=[document])["documents"]
    assert joined.meta["crag"]["retrievers"]["bm25"]["rank"] == 1


@pytest.mark.parametrize("score", [95, -0.1, float("nan"), "0.9", True, None])
def test_a_grade_of_another_scale_cannot_be_made(score: Any) -> None:
    """Read by nobody, it would pass for a document that no grader has seen."""
    with pytest.raises(ConfigurationError, match="wanted a number from 0"):
        Grade(score, "graded", "own", "")


@pytest.mark.parametrize("opinion", [7, -0.1, float("nan"), "0.9", True])
def test_an_opinion_of_another_scale_cannot_be_had(opinion: Any) -> None:
    """It would be read as none, and the document that it speaks for be dropped without a word."""
    with pytest.raises(ConfigurationError, match="for the opinion likewise"):
        Grade(0.2, "graded", "own", "", opinion=opinion)


def test_a_grade_may_be_a_number_of_numpy() -> None:
    grade = Grade(np.float32(0.5), "graded", "own", "", opinion=np.float32(0.25))
    assert (grade.score, type(grade.score)) == (0.5, float)
    assert json.loads(json.dumps(grade.to_dict()))["opinion"] == 0.25


@pytest.mark.parametrize("reason", [date(2026, 11, 27), np.float32(0.5), np.array([1, 2]), {"why": {1}}])
def test_a_reason_that_is_no_text_is_one_on_record(reason: Any) -> None:
    """A grader of one's own may give a number or a date; a record is plain JSON."""
    document = with_grade(Document(content="Emma"), Grade(0.9, "graded", "own", question_id(QUESTION), reason))
    result = CragRouter().run(query=QUESTION, documents=[document])
    record = RecordBuilder().run(outcome=result["outcome"])["crag"]
    assert record["kept"][0]["reason"] == str(reason)
    assert json.loads(json.dumps([record, result["decision"]])) == [record, result["decision"]]


@pytest.mark.parametrize("said", [{"score": 95, "status": "graded"}, {"score": 0.9}])
def test_a_router_says_which_grades_it_cannot_read(said: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    """A grader of somebody's own may write `meta["crag"]` itself."""
    documents = [Document(content="A", meta={"crag": said}), Document(content="B")]
    with caplog.at_level("WARNING"):
        result = CragRouter().run(query="Who?", documents=documents)
    assert f"1 documents have a grade that is none, such as {{'score': {said['score']}, 'status': " in caplog.text
    assert result["decision"]["verdict"] == "ungraded"
