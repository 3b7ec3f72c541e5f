"""RulePrefilter: which rule speaks when, and that no rule speaks by accident."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline

from haystack_integrations.crag.components.crag_router import CragRouter
from haystack_integrations.crag.components.rule_prefilter import RulePrefilter
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.grades import Grade, annotate, grade_of, question_id, with_grade
from haystack_integrations.crag.state import CragState

QUESTION = "What is the refund period?"


def found(similarity: float | None, retriever: str = "dense", score: float = 0.016) -> Document:
    """A document as EvidenceJoiner gives it: a fused score, and the similarity kept apart."""
    said = {"score": score, "rank": 1} | ({} if similarity is None else {"similarity": similarity})
    return annotate(Document(content=f"{retriever} {similarity} {score}", score=score), retrievers={retriever: said})


def test_read_file_rule_approves_when_all_tool_calls_read_files() -> None:
    """Design 000: all tool calls of the round are `read_file`."""
    history = [{"tool": "read_file"}, {"tool": "read_file"}]
    documents = [Document(content=str(number)) for number in range(5)]
    result = RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)
    assert result["rule_name"] == "read_file"
    assert "documents" not in result


def test_read_file_rule_stays_silent_for_a_mixed_round() -> None:
    """One other tool call is enough to let the grader judge."""
    history = [{"tool": "read_file"}, {"tool": "vector_search", "scores": [0.2] * 5}]
    documents = [Document(content=str(number)) for number in range(5)]
    assert RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)["rule_name"] == ""


@pytest.mark.parametrize(("count", "rule"), [(1, "few_context"), (2, "few_context"), (3, "")])
def test_few_context_rule_counts_documents(count: int, rule: str) -> None:
    """One and two documents are few, three are not."""
    documents = [Document(content=str(number)) for number in range(count)]
    assert RulePrefilter().run(query=QUESTION, documents=documents)["rule_name"] == rule


def test_zero_documents_are_never_approved() -> None:
    """No evidence is not good evidence, whatever the rules say."""
    result = RulePrefilter().run(query=QUESTION, documents=[], tool_history=[{"tool": "read_file"}])
    assert result == {"documents": [], "rule_name": ""}


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_document_without_text_is_never_approved_and_neither_is_what_came_with_it(content: str | None) -> None:
    """It was few, and so the only evidence that an answer was written from."""
    documents = [Document(content="Refunds take 30 days."), Document(content=content, meta={"kind": "image"})]
    rules = {"images": {"field": "meta.kind", "operator": "==", "value": "image"}}
    for given in (documents, documents[1:]):
        result = RulePrefilter(metadata_rules=rules).run(query=QUESTION, documents=given)
        assert result == {"documents": given, "rule_name": ""}


def test_high_vector_score_rule_reads_the_kept_similarity() -> None:
    """Every document's cosine reaches 0.8."""
    result = RulePrefilter().run(query=QUESTION, documents=[found(0.8), found(0.93), found(0.81)])
    assert result["rule_name"] == "high_vector_score"


@pytest.mark.parametrize(
    "said",
    [
        "dense",
        {"dense": 0.9},
        {"dense": {"similarity": "0.9"}},
        {"dense": {"similarity": 1.7}},
        {"dense": {}},
        None,
    ],
)
def test_what_is_no_similarity_in_a_documents_metadata_approves_nothing(said: object) -> None:
    """Metadata is anybody's."""
    documents = [annotate(found(0.9), retrievers=said), found(0.9), found(0.95)]
    assert RulePrefilter().run(query=QUESTION, documents=documents)["rule_name"] == ""


def test_a_fused_score_never_meets_the_similarity_threshold() -> None:
    """A high rank score of a document that vector search did not find approves nothing."""
    documents = [found(0.95), found(0.9), found(None, "bm25", score=0.99)]
    assert RulePrefilter().run(query=QUESTION, documents=documents)["rule_name"] == ""


@pytest.mark.parametrize("kind", ["ids", "items", "scores"])
@pytest.mark.parametrize(("low", "rule"), [(0.8, "high_vector_score"), (0.79, "")])
def test_high_vector_score_rule_reads_the_tool_history(kind: str, low: float, rule: str) -> None:
    """An agent's item scores count, with ids or in order."""
    documents = [Document(content=str(number)) for number in range(3)]
    scores = [0.9, low, 0.85]
    calls = {
        "ids": {"items": [{"id": d.id, "score": s} for d, s in zip(documents, scores, strict=True)]},
        "items": {"items": [{"score": score} for score in scores]},
        "scores": {"scores": scores},
    }
    history = [{"tool": "vector_search", **calls[kind]}]
    assert RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)["rule_name"] == rule


def test_scores_in_order_approve_nothing_beside_items_that_name_their_documents() -> None:
    """Nobody knows which documents they are of, and one that is named may be known to be unlike the question."""
    documents = [Document(id=name, content=name) for name in "abc"]
    named, ordered = {"items": [{"id": "a", "score": 0.1}]}, {"scores": [0.9, 0.9, 0.9]}
    history = [{"tool": "vector_search", **each} for each in (named, ordered)]
    assert RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)["rule_name"] == ""


@pytest.mark.parametrize("order", [1, -1], ids=["higher first", "lower first"])
def test_of_a_document_that_several_searches_found_the_highest_similarity_counts(order: int) -> None:
    """As of several retrievers, whatever the order of the calls."""
    documents = [Document(id=name, content=name) for name in "abc"]
    scores = [{"a": 0.9, "b": 0.9, "c": 0.9}, {"a": 0.1}]
    items = [{"items": [{"id": id_, "score": score} for id_, score in each.items()]} for each in scores[::order]]
    history = [{"tool": "vector_search", **each} for each in items]
    result = RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)
    assert result["rule_name"] == "high_vector_score"


def test_documents_of_another_tool_are_not_approved_by_vector_scores() -> None:
    """All items must originate from vector search."""
    documents = [Document(content=str(number)) for number in range(3)]
    history = [{"tool": "vector_search", "scores": [0.9, 0.9, 0.9]}, {"tool": "keyword_search"}]
    assert RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)["rule_name"] == ""


def test_approved_documents_have_full_marks_and_name_the_rule(caplog: pytest.LogCaptureFixture) -> None:
    """Score 1.0, status `approved`, and a `fast_path_hit` log record."""
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        result = RulePrefilter().run(query=QUESTION, documents=[Document(content="30 days")])
    grade = grade_of(result["approved"][0], question_id(QUESTION))
    assert grade is not None
    assert (grade.score, grade.status, grade.grader) == (1.0, "approved", "rule:few_context")
    assert "fast_path_hit" in caplog.text
    assert "few_context" in caplog.text


def test_rules_are_tried_in_the_order_given_and_can_be_switched_off() -> None:
    """The first match speaks; an empty list means no rule at all."""
    documents = [found(0.9)]
    assert RulePrefilter(rules=["high_vector_score", "few_context"]).run(query=QUESTION, documents=documents)[
        "rule_name"
    ] == ("high_vector_score")
    assert RulePrefilter(rules=[]).run(query=QUESTION, documents=documents)["rule_name"] == ""


def test_a_metadata_rule_uses_haystacks_filter_syntax() -> None:
    """A team's own rule approves when every document matches."""
    rule = {"handbook": {"field": "meta.kind", "operator": "==", "value": "handbook"}}
    prefilter = RulePrefilter(rules=[], metadata_rules=rule)
    handbook, other = Document(content="a", meta={"kind": "handbook"}), Document(content="b", meta={"kind": "mail"})
    assert prefilter.run(query=QUESTION, documents=[handbook])["rule_name"] == "handbook"
    assert prefilter.run(query=QUESTION, documents=[handbook, other])["rule_name"] == ""


def test_of_several_metadata_rules_a_pipeline_read_from_yaml_tells_the_same_one() -> None:
    """They are tried in the order of their names: Haystack sorts mappings where it writes them down."""
    kind = {"field": "meta.kind", "operator": "==", "value": "handbook"}
    pipeline = Pipeline()
    pipeline.add_component("rules", RulePrefilter(rules=[], metadata_rules={"zone": kind, "handbook": kind}))
    documents = [Document(content="Opening hours", meta={"kind": "handbook"})]
    for made in (pipeline, Pipeline.loads(pipeline.dumps())):
        assert made.run({"rules": {"query": "When?", "documents": documents}})["rules"]["rule_name"] == "handbook"


@pytest.mark.parametrize("year", ["2021 or so", [2021], {"of": 2021}, np.array([2021, 2022])], ids=type)
def test_a_document_that_a_metadata_rule_cannot_compare_is_not_approved_and_ends_no_run(
    year: object, caplog: pytest.LogCaptureFixture
) -> None:
    """Metadata is anybody's: one file may have its year in words."""
    prefilter = RulePrefilter(rules=[], metadata_rules={"new": {"field": "meta.year", "operator": ">=", "value": 2020}})
    documents = [Document(content="a", meta={"year": 2021}), Document(content="b", meta={"year": year})]
    assert prefilter.run(query=QUESTION, documents=documents)["documents"] == documents
    assert "rule new" in caplog.text
    assert prefilter.run(query=QUESTION, documents=documents[:1])["rule_name"] == "new"


YEAR = {"field": "meta.year", "operator": "==", "value": 2020}


@pytest.mark.parametrize(
    "conditions",
    [
        {**YEAR, "operator": "=>"},
        {"field": "meta.y"},
        {"operator": "AND"},
        {"operator": "AND", "conditions": []},
        {},
        {"operator": "AND", "conditions": [YEAR, {"field": "meta.kind", "operator": "=", "value": "page"}]},
        {"operator": "NOT", "conditions": (YEAR, {"operator": "OR", "conditions": [YEAR, {"operator": "XOR"}]})},
    ],
)
def test_a_metadata_rule_that_cannot_be_read_is_refused_at_construction(conditions: dict[str, Any]) -> None:
    """And not by the first question, or by the first one that comes to a condition behind others."""
    with pytest.raises(ConfigurationError, match="the metadata rule 'new' cannot be read"):
        RulePrefilter(metadata_rules={"new": conditions})


def test_thresholds_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both settings of design 000."""
    monkeypatch.setenv("KB_AGENT_AUTO_APPROVE_MAX_ITEMS", "3")
    monkeypatch.setenv("KB_AGENT_VECTOR_SCORE_THRESHOLD", "0.5")
    three = [Document(content=str(number)) for number in range(3)]
    assert RulePrefilter().run(query=QUESTION, documents=three)["rule_name"] == "few_context"
    four = [found(0.6), found(0.7), found(0.8), found(0.55)]
    assert RulePrefilter().run(query=QUESTION, documents=four)["rule_name"] == "high_vector_score"


def test_thresholds_come_from_a_dotenv_file(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `.env` in the working directory counts; the environment wins over it."""
    (tmp_path / ".env").write_text("KB_AGENT_AUTO_APPROVE_MAX_ITEMS=4\n")  # type: ignore[operator]
    four = [Document(content=str(number)) for number in range(4)]
    assert RulePrefilter().run(query=QUESTION, documents=four)["rule_name"] == "few_context"
    monkeypatch.setenv("KB_AGENT_AUTO_APPROVE_MAX_ITEMS", "1")
    assert RulePrefilter().run(query=QUESTION, documents=four)["rule_name"] == ""


def test_a_working_directory_that_was_removed_has_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an update leaves a program that goes on: it failed at the next part that reads one."""
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert RulePrefilter().run(query=QUESTION, documents=[Document(content="1")])["rule_name"] == "few_context"


@pytest.mark.parametrize("value", ["high", "1.5", "-1", "nan"])
def test_an_unreadable_setting_is_refused_at_construction(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the setting, what was got and the default."""
    monkeypatch.setenv("KB_AGENT_VECTOR_SCORE_THRESHOLD", value)
    with pytest.raises(ConfigurationError, match=rf"KB_AGENT_VECTOR_SCORE_THRESHOLD.*{value}.*default 0.8"):
        RulePrefilter()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda: RulePrefilter(max_items=-1),
            "max_items must be a whole number from 0 to 10000, but got -1; correct it",
        ),
        (lambda: RulePrefilter(vector_score=1.5), "vector_score must be a number from 0 to 1, but got 1.5; correct it"),
        (
            lambda: CragRouter(max_iterations=0),
            "max_iterations must be a whole number from 1 to 20, but got 0; correct it",
        ),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named_by_its_own_name(made: Callable[[], Any], said: str) -> None:
    """Not by the variable that would hold without it: who wrote it into a YAML has set none."""
    with pytest.raises(ConfigurationError, match=f"^{said}"):
        made()


def test_an_unknown_rule_is_refused_with_the_known_ones() -> None:
    """Got, wanted, way out."""
    with pytest.raises(ConfigurationError, match=r"unknown rules.*read_file"):
        RulePrefilter(rules=["few"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "call",
    [
        {"items": None},
        {"items": 3},
        {"items": [{"id": "1", "score": None}, {"score": "high"}, None]},
        {"scores": [None, True]},
        {"items": [{"id": ["1"], "score": 0.9}]},
        {"scores": [12.4, 7.1, 6.9]},
        {"items": [{"id": str(n), "score": 1.7} for n in range(3)]},
    ],
    ids=["none", "a number", "no numbers", "a truth", "a list as id", "of words", "dot products"],
)
def test_a_tools_odd_scores_approve_nothing(call: dict[str, Any]) -> None:
    """An agent's tool may write anything into its history."""
    history = [{"tool": "vector_search", **call}]
    documents = [Document(id=str(n), content=str(n)) for n in range(3)]
    assert RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)["rule_name"] == ""


def test_bare_numbers_among_the_items_are_scores() -> None:
    """In the order of the documents."""
    documents = [Document(content=str(n)) for n in range(3)]
    for scores, rule in (([0.9, 0.95, 0.8], "high_vector_score"), ([0.9, 0.95, 0.7], "")):
        history = [{"tool": "vector_search", "items": scores}]
        assert RulePrefilter().run(query=QUESTION, documents=documents, tool_history=history)["rule_name"] == rule


def test_what_a_grader_has_judged_in_this_run_is_not_approved_for_being_few() -> None:
    """Three documents that do not answer; another retrieval finds two of them again."""
    documents = [Document(content=str(number)) for number in range(3)]
    judged = [with_grade(one, Grade(0.1, "graded", "test", question_id(QUESTION))) for one in documents]
    state = CragRouter().run(query=QUESTION, documents=judged)["re_retrieve"]
    again = RulePrefilter().run(query=QUESTION, documents=documents[:2], state=state)
    assert again == {"documents": documents[:2], "rule_name": ""}
    assert RulePrefilter().run(query=QUESTION, documents=[documents[0], found(0.9)], state=state)["rule_name"] == ""
    assert RulePrefilter().run(query=QUESTION, documents=[found(0.9)], state=state)["rule_name"] == "few_context"


def test_a_document_that_was_graded_low_is_not_approved_where_another_text_has_its_id() -> None:
    """Two stores that both count from one: each text keeps the grade that it was given."""
    pair = [Document(id="1", content=text) for text in ("of one store", "of the other")]
    judged = [with_grade(one, Grade(0.1, "graded", "test", question_id(QUESTION))) for one in pair]
    state = CragRouter().run(query=QUESTION, documents=judged)["re_retrieve"]
    for document in pair:
        assert RulePrefilter().run(query=QUESTION, documents=[document], state=state)["rule_name"] == ""


def test_what_a_rule_has_approved_may_be_approved_again() -> None:
    state = CragState.start(QUESTION)
    approved = RulePrefilter().run(query=QUESTION, documents=[found(0.9)], state=state)["approved"]
    router = CragRouter(upper=1.0, strict=["upper"])
    state = router.run(query=QUESTION, documents=approved, state=state)["refine"]
    assert RulePrefilter().run(query=QUESTION, documents=[found(0.9)], state=state)["rule_name"] == "few_context"


def test_similarities_in_numbers_of_numpys_count_and_ids_may_be_numbers() -> None:
    """A store of one's own computes in them; only what is no number meets no threshold."""
    documents: list[Any] = [Document(id=n, content=f"text {n}") for n in (1, 2, 3)]  # type: ignore[arg-type]
    items = [{"id": n, "score": np.float32(0.95)} for n in (1, 2, 3)]
    result = RulePrefilter(rules=["high_vector_score"]).run(
        query="x", documents=documents, tool_history=[{"tool": "vector_search", "items": items}]
    )
    assert result["rule_name"] == "high_vector_score"
