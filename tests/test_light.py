"""Components that stay on the event loop: what they do there is their `run`, also of who inherits them."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.dataclasses import ChatMessage

from haystack_integrations.crag.components import EvidencePromptBuilder

ASKED: dict[str, Any] = {"question": "Who?", "documents": []}


@component
class WithGreeting(EvidencePromptBuilder):
    """One of an app's own, with one method of ours."""

    @component.output_types(prompt=list[ChatMessage])
    def run(self, question: str, documents: list[Document]) -> dict[str, Any]:
        """Write the prompt."""
        written = EvidencePromptBuilder.run(self, question, documents)["prompt"]
        return {"prompt": [ChatMessage.from_system("Greet first."), *written]}


@component
class WithTwoDoors(WithGreeting):
    """One with both, each beside ours."""

    @component.output_types(prompt=list[ChatMessage])
    async def run_async(self, question: str, documents: list[Document]) -> dict[str, Any]:
        """Write the prompt on the event loop."""
        written = (await EvidencePromptBuilder.run_async(self, question, documents))["prompt"]
        return {"prompt": [ChatMessage.from_system("Greet first."), *written]}


@pytest.mark.parametrize("kind", [WithGreeting, WithTwoDoors])
async def test_a_component_that_inherits_ours_does_on_an_event_loop_what_its_own_run_does(kind: Any) -> None:
    """A server runs it there, and did without it what an app's tests have seen."""
    pipeline = Pipeline()
    pipeline.add_component("prompt", kind())
    on_loop, outside = await pipeline.run_async({"prompt": ASKED}), pipeline.run({"prompt": ASKED})
    for result in (on_loop, outside):
        roles = [message.role.value for message in result["prompt"]["prompt"]]
        assert roles == ["system", "system", "user"]


async def test_what_inherits_ours_may_wait_in_its_own_run() -> None:
    """It does not hold the event loop, where its `run` could not begin a loop of its own either."""

    @component
    class Waiting(EvidencePromptBuilder):
        @component.output_types(prompt=list[ChatMessage])
        def run(self, question: str, documents: list[Document]) -> dict[str, Any]:
            asyncio.run(asyncio.sleep(0))
            return EvidencePromptBuilder.run(self, question, documents)

    assert (await Waiting().run_async(**ASKED)).keys() == {"prompt"}
