"""Spans: what a trace shows of a run, and what it must not show."""

import json
from typing import Any

import opentelemetry.trace
from haystack import Document
from makers import fill, grading_by, scripted
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.components.rule_prefilter import RulePrefilter
from haystack_integrations.crag.pipelines import load

QUESTION = "Where do canary birds sing?"


def spans(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    """Finished spans of one name."""
    return [span for span in exporter.get_finished_spans() if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """A span's attributes."""
    return dict(span.attributes or {})


def test_one_run_is_one_trace_that_explains_each_decision(exporter: InMemorySpanExporter, in_memory_store: Any) -> None:
    """Verdict, score, rule, thresholds, every document's score and fate, for each pass."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    rag = load("agent_rag", store=in_memory_store, grader=grading_by(lambda _: 0.1), generator=scripted("In cages."))
    result = rag.run(query=QUESTION)
    assert len({span.context.trace_id for span in exporter.get_finished_spans() if span.context}) == 1
    routes = [attributes(span) for span in spans(exporter, "crag.route")]
    assert [route["crag.action"] for route in routes] == [d["action"] for d in result["crag"]["trail"]]
    first = routes[0]
    assert first["crag.decision"] == "incorrect"
    assert first["crag.threshold.upper"] == 0.7
    assert json.loads(first["crag.scores"]) == [0.1] * 5
    assert json.loads(first["crag.discarded.reasons"]) == ["below_filter"] * 5
    assert len(json.loads(first["crag.document.ids"])) == 5
    grades = attributes(spans(exporter, "crag.grade")[0])
    assert grades["crag.grader.calls"] == 1
    assert grades["gen_ai.usage.input_tokens"] == 100


def test_our_spans_hold_no_text_of_question_document_or_reply(
    exporter: InMemorySpanExporter, in_memory_store: Any
) -> None:
    """By default; Haystack's own pipeline span does carry the question (see the README)."""
    fill(in_memory_store, [Document(content=f"Canary birds sing in cage {n}") for n in range(5)])
    rag = load("agent_rag", store=in_memory_store, grader=scripted("canary"), generator=scripted("canary"))
    rag.run(query=QUESTION)
    ours = [span for span in exporter.get_finished_spans() if span.name.startswith("crag.")]
    assert ours
    assert "canary" not in " ".join(span.to_json() for span in ours).lower()


def test_windows_graded_in_threads_stay_in_the_trace(exporter: InMemorySpanExporter) -> None:
    """A plain thread pool would start a trace for each window."""
    grader = BatchRelevanceGrader(grading_by(lambda _: 0.5), max_prompt_tokens=700)
    with opentelemetry.trace.use_span(opentelemetry.trace.INVALID_SPAN):
        grader.run(query=QUESTION, documents=[Document(content=f"passage {n}") for n in range(40)])
    calls = spans(exporter, "crag.grade.call")
    assert len(calls) > 1
    parent = spans(exporter, "crag.grade")[0].context
    assert parent is not None
    assert {call.parent.span_id for call in calls if call.parent} == {parent.span_id}


def test_a_rule_hit_is_a_tag(exporter: InMemorySpanExporter) -> None:
    """`fast_path_hit` with the rule's name."""
    RulePrefilter().run(query=QUESTION, documents=[Document(content="x")])
    tags = attributes(spans(exporter, "crag.prefilter")[0])
    assert tags["crag.fast_path_hit"] is True
    assert tags["crag.rule_name"] == "few_context"
