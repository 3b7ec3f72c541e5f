"""docs/record.md names every key of the record that a run gives, every reason that it has, and nothing else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from haystack import Document
from makers import fill, graded

import haystack_integrations.crag as package
from haystack_integrations.crag.components import CragRouter
from haystack_integrations.crag.deciding import records
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.vocabulary import NOT_GRADED, AnswerStatus, GradeStatus, WebStatus

PAGE = (Path(__file__).parents[1] / "docs" / "record.md").read_text("utf-8")
SOURCE = Path(package.__file__).parent


def named(heading: str, table: int = 0) -> list[str]:
    """What the first column of a table under a heading names."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"(?:^\|.*\n?)+", section, re.MULTILINE)[table].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.fixture
def record(in_memory_store: Any) -> dict[str, Any]:
    """Of a run that corrects and abstains."""
    fill(in_memory_store, [Document(content="Bees make honey.")])
    crag: dict[str, Any] = load("corrective_retrieval", store=in_memory_store).run(query="Who repairs bicycles?")[
        "crag"
    ]
    return crag


def test_the_page_names_each_key_once(record: dict[str, Any]) -> None:
    assert sorted(named("Of the run")) == sorted(record)
    assert sorted(named("Of one decision, `trail[i]`")) == sorted(record["trail"][-1])
    assert sorted(named("Coverage")) == sorted(record["coverage"])
    assert sorted(record["coverage"]) == sorted(record["trail"][0]["coverage"])


def reasons_in_code() -> Iterator[str]:
    """What is given as the reason of a dropped document, wherever one is."""
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            is_entry = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dropped_entry"
            if is_entry and isinstance(node, ast.Call) and isinstance(node.args[2], ast.Constant):
                yield str(node.args[2].value)
    yield from (records.REFINED_AWAY, records.REPLACED, records.NOT_AMONG_BEST, records.ABSTAINED, records.NO_ROOM)
    yield NOT_GRADED


def test_the_page_names_each_reason_for_which_a_document_is_left_out() -> None:
    assert sorted(named("Of the run", 1)) == sorted(set(reasons_in_code()))


@pytest.mark.parametrize("words", [AnswerStatus, GradeStatus, WebStatus])
def test_the_page_names_each_state(words: Any) -> None:
    """Of an answer, a grade, the web."""
    assert [word for word in get_args(words) if f"`{word}`" not in PAGE] == []


@pytest.mark.parametrize(
    ("settings", "scores", "rule"),
    [
        ({"enough_documents": 1}, [0.5], "enough_documents"),
        ({"on_incorrect": "web"}, [0.1, None], "grader_partial"),
    ],
)
def test_the_page_names_each_rule_that_is_no_judgement(
    settings: dict[str, Any], scores: list[float | None], rule: str
) -> None:
    """What `judged_by` says, and the limits, have pages of their own."""
    grades = [0.5 if score is None else score for score in scores]
    states = ["failed" if score is None else "graded" for score in scores]
    documents = [graded(f"{n}", grades[n], "Who?", states[n]) for n in range(len(scores))]
    decision = CragRouter(**settings).run(query="Who?", documents=documents)["decision"]
    assert (decision["rule"], f"`{rule}`" in PAGE) == (rule, True)


def test_a_reason_of_the_coverage_is_one_of_the_page(record: dict[str, Any]) -> None:
    known = {name.split(":")[0] for name in named("Coverage", 1)}
    assert {reason.split(":")[0] for reason in record["coverage"]["reasons"]} <= known
    code = "".join(file.read_text("utf-8") for file in SOURCE.rglob("*.py"))
    assert [name for name in known if name.rpartition("_")[0] not in code] == []
