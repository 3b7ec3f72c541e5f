"""The end of a server: whatever it opened is closed, whoever of it fails."""

import logging
from typing import Any

import pytest
from hayhooks.server.pipelines.registry import ImmutablePipelineRegistry
from haystack import Document, Pipeline, SuperComponent, component
from serving.conftest import DOCUMENTS

from haystack_integrations.crag.serving.deployment import Deployment


@component
class Holding:
    """Holds a connection, and may fail to let it go."""

    def __init__(self, closed: list[str], name: str, *, fails: bool = False) -> None:
        """Open it."""
        self.closed, self.name, self.fails = closed, name, fails

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Give something."""
        return {"documents": DOCUMENTS, "query": query}

    def close(self) -> None:
        """Let it go."""
        self._let_go(self.name)

    async def close_async(self) -> None:
        """Let it go on the event loop."""
        self._let_go(f"{self.name} async")

    def _let_go(self, word: str) -> None:
        self.closed.append(word)
        if self.fails:
            msg = "CANARY"
            raise ConnectionError(msg)


class Wrapped:
    """What a deployment knows of a pipeline."""

    def __init__(self, *parts: Any) -> None:
        """Take its parts."""
        pipeline = Pipeline()
        for part in parts:
            pipeline.add_component(part.name, part)
        mapping = {"query": [f"{part.name}.query" for part in parts]}
        self.loaded = SuperComponent(pipeline, mapping, {f"{part.name}.documents": part.name for part in parts})


async def test_a_part_that_cannot_be_closed_leaves_no_other_open(caplog: pytest.LogCaptureFixture) -> None:
    """The log names each that failed, by its kind alone."""
    closed: list[str] = []
    wrappers: Any = {
        "one": Wrapped(Holding(closed, "a", fails=True), Holding(closed, "b")),
        "two": Wrapped(Holding(closed, "c")),
    }
    store = Holding(closed, "store")
    with caplog.at_level(logging.WARNING):
        async with Deployment(store, wrappers, ImmutablePipelineRegistry(())).running():
            assert not closed
    assert sorted(closed) == sorted(f"{name}{door}" for name in ("a", "b", "c", "store") for door in ("", " async"))
    told = [record.getMessage() for record in caplog.records if "could not be closed" in record.getMessage()]
    assert told == ["one.a could not be closed: ConnectionError"] * 2
    assert "CANARY" not in caplog.text
