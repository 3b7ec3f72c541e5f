"""BranchJoiner and AnswerBuilder: Haystack's own by another door, and back from YAML as what they are."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.components.answer_builder import AnswerBuilder
from haystack_integrations.crag.components.branch_joiner import BranchJoiner
from haystack_integrations.crag.state import CragState


@pytest.mark.parametrize("kind", [str, CragState, list[Document], list[ChatMessage]])
def test_a_joiner_comes_back_from_yaml_with_its_type(kind: Any) -> None:
    """By the module that allows it to be loaded without a setting."""
    pipeline = Pipeline()
    pipeline.add_component("joiner", BranchJoiner(kind))
    joiner: Any = Pipeline.loads(pipeline.dumps()).get_component("joiner")
    assert type(joiner) is BranchJoiner
    assert joiner.type_ == kind


def test_a_joiner_hands_on_one_value_and_refuses_two() -> None:
    """By both doors."""
    joiner: Any = BranchJoiner(str)
    assert asyncio.run(joiner.run_async(value=["a"])) == joiner.run(value=["a"]) == {"value": "a"}
    with pytest.raises(ValueError, match="expects only one input"):
        asyncio.run(joiner.run_async(value=["a", "b"]))


def test_the_builder_keeps_its_settings_and_gives_the_same_by_both_doors() -> None:
    """Haystack's settings are its settings."""
    pipeline = Pipeline()
    pipeline.add_component("answer", AnswerBuilder(pattern="is (.*)"))
    builder: Any = Pipeline.loads(pipeline.dumps()).get_component("answer")
    assert type(builder) is AnswerBuilder
    asked = {"query": "Who?", "replies": [ChatMessage.from_assistant("It is Emma")]}
    answers = [builder.run(**asked), asyncio.run(builder.run_async(**asked))]
    assert [one["answers"][0].data for one in answers] == ["Emma", "Emma"]
