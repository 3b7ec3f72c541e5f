"""HeuristicGrader: grades without a language model, on the sockets of the batch grader."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from haystack import Document, Pipeline
from haystack.components.generators.chat import MockChatGenerator
from judging_texts import calibration
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import grade_of, question_id
from haystack_integrations.crag.observing.telemetry import traced_id
from haystack_integrations.crag.state import CragState

QUESTION = "When was the iron tower of Paris opened to the public?"
ANSWER = Document(id="answer", content="The iron tower of Paris was opened to the public on 15 May 1889.", score=7.5)
TOPIC = Document(id="topic", content="The tower is repainted every seven years.", meta={"title": "Iron tower"})
OTHER = Document(id="other", content="Bees collect nectar from flowers and make honey.")


def grade(*documents: Document, query: str = QUESTION, **settings: Any) -> dict[str, Any]:
    """Grade documents by a fresh grader."""
    return HeuristicGrader(**settings).run(query=query, documents=list(documents))


def test_an_answer_the_topic_and_something_else_get_three_verdicts() -> None:
    """On the router's thresholds: 0.7 and above, between, below 0.3."""
    near = Document(content="Each year millions of people visit the iron tower of Paris.", meta=TOPIC.meta)
    answer, topic, other = grade(ANSWER, near, OTHER)["scores"]
    assert answer >= 0.7 > topic >= 0.3 > other


def test_each_document_carries_its_grade_and_keeps_the_rest() -> None:
    """Same ids, order, content and retrieval score; scores repeat the grades."""
    result = grade(OTHER, ANSWER)
    assert [document.id for document in result["documents"]] == ["other", "answer"]
    for document, score in zip(result["documents"], result["scores"], strict=True):
        given = grade_of(document, question_id(QUESTION))
        assert given is not None
        assert (given.score, given.status, given.grader) == (score, "graded", "HeuristicGrader:default")
        assert given.reason is not None
        assert given.reason.startswith("answers 0.")
    assert result["documents"][1].score == 7.5
    assert "crag" not in ANSWER.meta


def test_every_signal_is_told_as_plain_json() -> None:
    """Of the set and of each document; the report for the router has the main ones only, and a verdict."""
    result = grade(ANSWER, OTHER)
    signals, report = result["signals"], result["report"]
    assert json.loads(json.dumps(result["report"])) == report
    assert set(signals["documents"]) == {"answer", "other"}
    assert signals["documents"]["answer"]["covered"] == 1.0
    assert len(signals["documents"]["answer"]) > 100
    assert 0 < len(report["signals"]["documents"]["answer"]) < 10
    assert signals["set"]["statistics"] == "retrieved"
    assert signals["set"]["calibrated"] is report["calibrated"] is False
    chances = report["verdict"]["probabilities"]
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-3)
    assert result["set_score"] == report["set_score"] == chances["correct"]
    assert report["verdict"]["verdict"] == max(chances, key=chances.get)
    assert result["status"] == "ok"


def test_by_weights_every_signal_is_told_too() -> None:
    """And the best document's score is that of the set."""
    result = grade(ANSWER, OTHER, weights="evidence")
    assert json.loads(json.dumps(result["report"])) == {"signals": result["signals"], "set_score": result["set_score"]}
    assert result["signals"]["documents"]["answer"]["keyword"] == 1.0
    assert result["set_score"] == max(result["scores"])
    assert result["documents"][0].meta["crag"]["reason"].startswith("keyword ")


def test_without_documents_nothing_is_graded() -> None:
    """That is no failure."""
    result = grade()
    assert (result["documents"], result["scores"], result["status"], result["set_score"]) == ([], [], "skipped", 0.0)


def test_in_mode_off_documents_pass_unchanged() -> None:
    """Not even copied."""
    result = HeuristicGrader().run(query=QUESTION, documents=[ANSWER], state=CragState(mode="off"))
    assert result["status"] == "skipped"
    assert result["documents"][0] is ANSWER
    assert HeuristicGrader().run(query=QUESTION, documents=[ANSWER], state=CragState())["status"] == "ok"


@pytest.mark.parametrize("query", ["?", "?!", "who was it", "\u6771\u4eac"])
@pytest.mark.parametrize("content", ["", None, "\U0001f916", "word", "\u6771\u4eac\u30bf\u30ef\u30fc"])
def test_strange_questions_and_documents_still_get_a_score(query: str, content: str | None) -> None:
    """In [0, 1], whatever is missing."""
    result = grade(Document(content=content), query=query)
    assert 0 <= result["scores"][0] <= 1


def test_a_question_of_one_word_is_never_answered_for_sure() -> None:
    """A single word is met by accident too often: on topic at most."""
    score = grade(Document(content="Photosynthesis turns light into sugar."), query="What is photosynthesis?")[
        "scores"
    ][0]
    assert 0.3 <= score < 0.7


def test_a_published_preset_scores_documents_and_set_by_its_formula() -> None:
    """The set's score is not the best document's."""
    result = grade(ANSWER, OTHER, weights="coherence")
    signals = result["signals"]["documents"]["answer"]
    expected = 0.3 * signals["keyword"] + 0.4 * signals["semantic"] + 0.15 * signals["length"] + 0.15
    assert result["scores"][0] == pytest.approx(expected, abs=1e-3)
    of_set = result["signals"]["set"]
    whole = 0.3 * of_set["keyword"] + 0.4 * of_set["coherence"] + 0.15 * of_set["length"] + 0.15 * of_set["diversity"]
    assert result["set_score"] == pytest.approx(whole, abs=1e-3)
    assert grade_of(result["documents"][0]).grader == "HeuristicGrader:coherence"  # type: ignore[union-attr]


def test_a_reranker_counts_where_it_spoke() -> None:
    """And where it did not, the other two signals share its weight."""
    spoken = Document(content=ANSWER.content, meta={"crag": {"rerank": 0.0}})
    with_rerank, without = grade(spoken, ANSWER, weights="rerank")["scores"]
    assert with_rerank == pytest.approx(0.6 * without, abs=1e-3)


def test_own_weights_are_a_weighted_mean() -> None:
    """Of the signals named, nothing else."""
    result = grade(ANSWER, OTHER, weights={"keyword": 3.0, "diversity": 1.0})
    assert result["scores"][0] == pytest.approx(1.0)
    assert result["scores"][1] == pytest.approx(0.25, abs=0.01)
    assert result["documents"][0].meta["crag"]["grader"] == "HeuristicGrader:custom"


def test_titles_are_read_from_the_field_asked_for() -> None:
    """Or not at all."""
    page = Document(content="It opened on 15 May 1889.", meta={"headline": "The iron tower of Paris"})
    named = grade(page, title_field="headline")["scores"][0]
    assert named > grade(page)["scores"][0]
    assert grade(page, title_field=None)["scores"] == grade(page)["scores"]


def test_unusable_settings_are_refused_at_construction() -> None:
    """Before any pipeline runs."""
    with pytest.raises(ConfigurationError, match="choose from"):
        HeuristicGrader(weights={"magic": 1.0})
    with pytest.raises(ConfigurationError, match="min_tokens must be a finite number > 0, but got 0"):
        HeuristicGrader(min_tokens=0)
    with pytest.raises(ConfigurationError, match="is no folder"):
        HeuristicGrader(model="/nowhere").warm_up()


def test_it_takes_the_place_of_the_batch_grader() -> None:
    """Every socket that the batch grader has, this one has with the same type."""
    ours = HeuristicGrader().__haystack_output__  # type: ignore[attr-defined]
    theirs = BatchRelevanceGrader(MockChatGenerator("[]")).__haystack_output__  # type: ignore[attr-defined]
    for name in ("documents", "scores", "status", "report"):
        assert getattr(ours, name).type == getattr(theirs, name).type


@pytest.mark.parametrize(
    ("documents", "verdict"),
    [([ANSWER, OTHER], "correct"), ([TOPIC, OTHER], "ambiguous"), ([OTHER], "incorrect")],
)
def test_the_router_decides_from_its_grades(documents: list[Document], verdict: str) -> None:
    """In a pipeline, with the aggregate that the preset is made for."""
    pipeline = Pipeline()
    pipeline.add_component("grader", HeuristicGrader())
    pipeline.add_component("router", CragRouter(aggregate="max"))
    pipeline.connect("grader.documents", "router.documents")
    pipeline.connect("grader.report", "router.report")
    result = pipeline.run({"grader": {"query": QUESTION, "documents": documents}, "router": {"query": QUESTION}})
    assert result["router"]["decision"]["verdict"] == verdict
    assert result["router"]["decision"]["signals"]["set"]["statistics"] == "retrieved"


def test_settings_survive_yaml() -> None:
    """With values that are not the defaults."""
    settings = {"weights": {"keyword": 0.5, "agreement": 0.5}, "model": "m", "title_field": None, "min_tokens": 5}
    pipeline = Pipeline()
    pipeline.add_component("grader", HeuristicGrader(**settings))
    loaded = Pipeline.loads(pipeline.dumps()).get_component("grader")
    assert {name: getattr(loaded, name) for name in settings} == settings


def test_the_span_tells_scores_and_no_content(exporter: InMemorySpanExporter) -> None:
    """Status, counts, every score by document; not a word of question or document."""
    result = grade(ANSWER, OTHER)
    span = exporter.get_finished_spans()[0]
    attributes = dict(span.attributes or {})
    assert span.name == "crag.grade"
    assert (attributes["crag.grader.status"], attributes["crag.documents.in"]) == ("ok", 2)
    assert json.loads(str(attributes["crag.scores"])) == result["scores"]
    assert json.loads(str(attributes["crag.document.ids"])) == [traced_id("answer"), traced_id("other")]
    assert "tower" not in json.dumps(attributes)


def test_importing_it_does_not_load_model2vec() -> None:
    """The package stays quick to import; the model is read at warm-up."""
    code = (
        "import sys\n"
        "from haystack_integrations.crag.components.heuristic_grader import HeuristicGrader\n"
        "HeuristicGrader()\n"
        "assert 'model2vec' not in sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=False, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr


def test_a_grade_given_in_an_earlier_pass_stays() -> None:
    """Scores depend a little on the company: good evidence of one pass is not lost in the next."""
    question = "Which river flows through Vienna?"
    vienna = Document(content="The river Danube flows through Vienna.")
    first = HeuristicGrader().run(query=question, documents=[vienna])
    state = CragState.start(question, grades={vienna.id: {**_grade(first["documents"][0]), "score": 0.61}})
    again = HeuristicGrader().run(query=question, documents=[vienna, Document(content="Rain.")], state=state)
    assert again["scores"][0] == 0.61
    assert again["documents"][0].meta["crag"]["status"] == "cached"
    other = HeuristicGrader().run(query="Which river flows through Linz?", documents=[vienna], state=state)
    assert other["documents"][0].meta["crag"]["status"] == "graded"


def _grade(document: Document) -> dict[str, object]:
    meta = document.meta["crag"]
    return {name: meta[name] for name in ("score", "status", "grader", "question", "reason")}


def test_a_correction_that_brought_nothing_to_grade_leaves_the_last_verdict() -> None:
    """The report has no word on the set then, so that the router keeps what it knew."""
    grader, router = HeuristicGrader(weights="evidence"), CragRouter(aggregate="set", upper=1.0, max_iterations=2)
    graded = grader.run(query=QUESTION, documents=[ANSWER])
    first = router.run(query=QUESTION, documents=graded["documents"], report=graded["report"])["state"]
    nothing = grader.run(query=QUESTION, documents=[], state=first)
    assert "set_score" not in nothing["report"]
    after = router.run(query=QUESTION, documents=[], report=nothing["report"], state=first)["outcome"]
    before, last = after.trail
    assert (last["verdict"], last["score"]) == (before["verdict"], before["score"])


@pytest.mark.parametrize("weights", [None, "evidence"])
@pytest.mark.parametrize(
    ("question", "reasons"),
    [
        ("返金はいつ支払われますか?", 1),
        ("เงินคืนจะจ่ายเมื่อไหร่", 1),
        ("退款 refund?", 0),
        ("Who wrote 羅生門?", 0),
        ("?", 0),
    ],
)
def test_a_question_whose_words_cannot_be_told_apart_is_marked(weights: Any, question: str, reasons: int) -> None:
    """Right answers are refused there and wrong ones kept: the record says that it is not to be relied on."""
    report = HeuristicGrader(weights=weights).run(query=question, documents=[Document(content="A refund is paid.")])
    assert report["report"].get("reasons", []) == ["unspaced_question"] * reasons


def test_a_calibration_on_questions_of_ones_own_is_taken_to_know_their_script(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_bytes(orjson.dumps(calibration().to_dict()))
    graded = HeuristicGrader(calibration=str(file)).run(query="返金はいつ", documents=[Document(content="返金")])
    assert "reasons" not in graded["report"]
