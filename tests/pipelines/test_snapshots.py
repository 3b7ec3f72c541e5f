"""Breakpoints and snapshots: a run that stops anywhere, also amid a correction, goes on as if it had not."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from haystack import Document
from haystack.core.errors import BreakpointException, PipelineRuntimeError
from haystack.dataclasses import ChatMessage
from haystack.dataclasses.breakpoints import Breakpoint, PipelineSnapshot
from makers import fill, grading_by, scripted

from haystack_integrations.crag.components import AnswerGenerator
from haystack_integrations.crag.pipelines import load

QUESTION = "How fast is the car of the museum?"
MOST_VISITS = 4


def loaded(name: str, store: Any, **parts: Any) -> Any:
    """A pipeline whose grader finds all documents about cars half good, so that it corrects."""
    grader = grading_by(lambda text: 0.5 if "car" in text else 0.1)
    return load(name, store=store, **{"grader": grader, "generator": scripted("Fast [1]."), **parts})


def written_and_read(snapshot: Any) -> Any:
    """A snapshot as it comes out of a file."""
    return PipelineSnapshot.from_dict(json.loads(json.dumps(snapshot.to_dict())))


def told(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What a user sees, without what a clock says."""
    answers = [(answer.data, [document.id for document in answer.documents]) for answer in outputs["answers"]]
    return {"answers": answers, **{name: value for name, value in outputs["crag"].items() if name != "milliseconds"}}


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """Documents that half answer, and others."""
    texts = [f"Page {n}: a car is an automobile." for n in range(4)] + [f"Bread {n} is baked daily." for n in range(4)]
    fill(in_memory_store, [Document(content=text, meta={"title": text[:6]}) for text in texts])
    return in_memory_store


@pytest.mark.parametrize("sealed", [False, True], ids=["the YAML's own run", "as load() runs it"])
@pytest.mark.parametrize("name", ["corrective_rag", "cascade_rag"])
def test_a_run_resumes_from_a_snapshot_before_any_visit_of_any_component(name: str, sealed: bool, store: Any) -> None:
    """In another pipeline: all that a run knows is in the snapshot, so answer and record are the same."""
    rag = loaded(name, store)
    asked: dict[str, dict[str, Any]] = rag.arguments({"query": QUESTION})
    for own in asked.values() if not sealed else ():
        own.pop("sealed", None)
    inputs = {part: own for part, own in asked.items() if own}
    want = told(rag.outputs(rag.pipeline.run(inputs, include_outputs_from=rag.last)))
    assert want["corrected"]
    resumed = 0
    for part in rag.pipeline.graph.nodes:
        for visit in range(MOST_VISITS):
            try:
                rag.pipeline.run(inputs, include_outputs_from=rag.last, break_point=Breakpoint(part, visit))
            except BreakpointException as stop:
                again = loaded(name, store)
                results = again.pipeline.run({}, pipeline_snapshot=written_and_read(stop.pipeline_snapshot))
                assert told(again.outputs(results)) == want, (part, visit)
                resumed += visit > 0
            else:
                break
    assert resumed >= 5  # in a second pass


@pytest.mark.parametrize("name", ["corrective_rag", "cascade_rag"])
def test_a_run_that_failed_goes_on_from_the_snapshot_that_its_error_carries(name: str, store: Any) -> None:
    """With a model that works, and nothing graded once more."""

    def fail(messages: list[ChatMessage]) -> str:
        raise ConnectionError

    broken = loaded(name, store, generator=AnswerGenerator(scripted(fail), on_failure="raise"))
    with pytest.raises(PipelineRuntimeError) as caught:
        broken.run(query=QUESTION)
    snapshot: Any = caught.value.pipeline_snapshot
    mended = loaded(name, store)
    found = mended.outputs(mended.pipeline.run({}, pipeline_snapshot=written_and_read(snapshot)))
    assert told(found) == told(loaded(name, store).run(query=QUESTION))
    assert type(found["crag"]) is dict
