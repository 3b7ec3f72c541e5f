"""`crag demo`: three questions whose verdicts come out of the pipeline itself."""

import json

from cli_runner import in_process


def test_the_verdicts_are_the_pipelines_own() -> None:
    """One question is answered, one half answered, one not at all; no key, no network, no model call."""
    result = in_process("demo", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    demo = json.loads(result.stdout)
    records = [one["crag"] for one in demo["questions"]]
    assert [record["verdict"] for record in records] == ["correct", "ambiguous", "incorrect"]
    assert records[2]["action"] == "abstain"
    assert [one["answered"] for one in demo["questions"]] == [True, True, False]
    assert all(record["llm_calls"] == 0 for record in records)
    assert all(record["rule"] for record in records)


def test_people_see_question_evidence_and_trail() -> None:
    """The three questions with their sources, sentences and decisions; without colours when piped."""
    result = in_process("demo")
    assert result.returncode == 0
    assert result.stdout.count("Decision trail") == 3
    assert "\x1b" not in result.stdout
    assert "The documents do not answer this question." in result.stdout
