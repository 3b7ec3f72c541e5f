"""`crag trace` and what anybody may have sent to Jaeger: a sentence, in time, and never a traceback."""

import json
from typing import Any

import pytest
from cli_runner import crag, refused
from pytest_httpserver import HTTPServer

from haystack_integrations.crag.cli.errors import ExitCode

TRACE = "0" * 31 + "1"
DECISION = {
    "crag.iteration": 1,
    "crag.iteration.max": 3,
    "crag.decision": "correct",
    "crag.decision.rule": "upper_threshold",
    "crag.action": "generate",
    "crag.mode": "enforce",
    "crag.score": 0.9,
    "crag.documents.kept": 1,
    "crag.document.ids": '["a"]',
    "crag.scores": "[0.9]",
}
OF_ANOTHER_KIND: dict[str, list[Any]] = {
    "crag.iteration.max": [[1], "x"],
    "crag.score": ["x", [1], float("nan"), True],
    "crag.decision.judged_by": [[1], 5],
    "crag.decision.limit": [[1], {"a": 1}],
    "crag.threshold.upper": ["x", None, float("inf")],
    "crag.threshold.correct_from": ["x"],
    "crag.retrieval.strategy": [5],
    "crag.query": [5, "\ud800"],
    "crag.document.ids": [5, '"abc"', "null", "[[1]]", "[" * 100_000],
    "crag.scores": ['["x"]', "5"],
    "crag.documents.kept": [-5, "x", 1.5, 10**9],
    "crag.discarded.ids": ["[[1]]"],
    "crag.discarded.scores": ['["x"]'],
    "crag.discarded.reasons": ["[[1]]"],
    "crag.degraded.reasons": ["[1]", "5"],
    "crag.answer.cited_unknown": ["5", '[{"a": 1}]'],
    "crag.answer.unsupported_numbers": [-5, "x", 1.5, 10**12],
    "crag.answer.unsupported_numbers.text": ["5", "[1]", '[{"a": 1}]'],
    "crag.answer.status": [[1]],
    "crag.milliseconds": ["x", [1]],
    "crag.llm_calls": ["x", [1], -1],
    "crag.tokens": ["x"],
}


def span(tags: dict[str, Any], **entries: Any) -> dict[str, Any]:
    """A decision as Jaeger gives it, with other entries where a test wants some."""
    listed = [{"key": name, "value": value} for name, value in tags.items()]
    return {"spanID": "a", "operationName": "crag.route", "startTime": 1, "tags": listed, **entries}


def answered(server: HTTPServer, *spans: Any) -> tuple[str, ...]:
    """Let a server say that these are the trace; gives the command that reads it."""
    body = json.dumps({"errors": None, "data": [{"spans": spans}]})
    server.expect_request(f"/api/traces/{TRACE}").respond_with_data(body, content_type="application/json")
    return ("trace", TRACE, "--jaeger", server.url_for(""))


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in OF_ANOTHER_KIND.items() for value in values]
)
def test_a_value_of_another_kind_is_as_if_it_were_missing(httpserver: HTTPServer, name: str, value: Any) -> None:
    """The decision is told without it, for people and for programs."""
    command = answered(httpserver, span({**DECISION, "crag.llm_calls": 2, name: value}))
    shown, told = crag(*command), crag(*command, "--json")
    assert (shown.exit_code, told.exit_code) == (0, 0), shown.stderr
    assert "correct 0.90" in shown.stdout or name == "crag.score"
    assert "pass 1 of 3" in shown.stdout or (name == "crag.iteration.max" and "pass 1\n" in shown.stdout)
    assert "0.00" not in shown.stdout  # thresholds that nobody knows
    assert json.loads(told.stdout)["runs"][0]["verdict"] == "correct"
    assert len(told.stdout) < 10_000_000


RECORD = {
    "crag.iterations": 2,
    "crag.decision": "incorrect",
    "crag.decision.rule": "lower_threshold",
    "crag.action": "abstain",
    "crag.mode": "enforce",
    "crag.score": 0.1,
}


@pytest.mark.parametrize("arrived", [1, 2])
def test_a_run_that_lost_a_decision_on_the_way_has_the_verdict_of_its_record_and_says_so(
    httpserver: HTTPServer, arrived: int
) -> None:
    """A Jaeger that was started anew has what came after it: the decision of one pass is not that of the run."""
    decision = DECISION if arrived == 1 else DECISION | RECORD | {"crag.iteration": 2}
    record = span(RECORD, spanID="b", operationName="crag.record", startTime=2)
    command = answered(httpserver, span(decision), record)
    result = crag(*command)
    assert "incorrect 0.10 → abstain" in result.stdout
    assert "2 passes" in result.stdout
    assert "some of the decisions are not in this trace" in result.stdout
    (run,) = json.loads(crag(*command, "--json").stdout)["runs"]
    assert (run["verdict"], run["iterations"], len(run["trail"])) == ("incorrect", 2, 1)
    assert run["coverage"]["reasons"] == ["decisions_not_traced"]


def test_a_run_that_lost_all_its_decisions_is_not_said_to_have_made_none(httpserver: HTTPServer) -> None:
    result = crag(*answered(httpserver, span(RECORD, operationName="crag.record")))
    assert result.exit_code == ExitCode.USAGE
    assert "they were lost on the way to Jaeger, or in it" in result.stderr.replace("\n", " ")


@pytest.mark.parametrize("name", ["crag.iteration", "crag.decision", "crag.action", "crag.mode"])
def test_a_decision_without_what_makes_it_one_is_refused(httpserver: HTTPServer, name: str) -> None:
    """As where a limit of attributes has cut it off; a failed one is none."""
    assert "lack attributes" in refused(crag(*answered(httpserver, span({**DECISION, name: [1]}))), ExitCode.USAGE)
    failed = span({**DECISION, name: [1], "error.type": "ValueError"})
    httpserver.clear()
    assert "none of a decision" in refused(crag(*answered(httpserver, failed)), ExitCode.USAGE)


def test_spans_that_stand_below_each_other_are_read(httpserver: HTTPServer) -> None:
    """Each names the other as the one above it: who went up to find their run would go for ever."""
    above = {name: [{"refType": "CHILD_OF", "spanID": name}] for name in ("a", "b")}
    one, other = span(DECISION, references=above["b"]), span({}, spanID="b", operationName="x", references=above["a"])
    assert crag(*answered(httpserver, one, other)).exit_code == 0
    httpserver.clear()
    assert crag(*answered(httpserver, span(DECISION, references=above["a"]))).exit_code == 0


@pytest.mark.parametrize("start", [float("inf"), "x", None])
def test_what_is_no_span_is_not_jaegers(httpserver: HTTPServer, start: Any) -> None:
    command = answered(httpserver, span(DECISION, startTime=start))
    assert "is not Jaeger" in refused(crag(*command), ExitCode.UNREACHABLE)


@pytest.mark.parametrize(
    "body", ["[" * 200_000, "5", '{"errors": null, "data": 5}', '{"errors": null, "data": {"a": 1}}']
)
def test_an_answer_that_is_none_is_not_jaegers(httpserver: HTTPServer, body: str) -> None:
    """Nested without end, too."""
    httpserver.expect_request(f"/api/traces/{TRACE}").respond_with_data(body, content_type="application/json")
    assert "is not Jaeger" in refused(crag("trace", TRACE, "--jaeger", httpserver.url_for("")), ExitCode.UNREACHABLE)
