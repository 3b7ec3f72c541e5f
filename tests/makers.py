"""Small makers that several tests share: graded documents, scripted graders, a filled store."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.grades import Grade, question_id, with_grade
from haystack_integrations.crag.state import CragState

_KEY = re.compile(r'<doc-\w+ id="([b-z]{3,4})"[^>]*>\n(.*?)\n</doc-', re.DOTALL)


def graded(content: str, score: float, question: str, status: Any = "graded", **meta: Any) -> Document:
    """A document with a grade for a question."""
    return with_grade(Document(content=content, meta=meta), Grade(score, status, "test", question_id(question)))


def texts(result: dict[str, Any]) -> list[Any]:
    """The texts of the documents that something gave."""
    return [document.content for document in result["documents"]]


def after(action: str, state: CragState) -> CragState:
    """The state as a router leaves it for a correction."""
    return replace(state, action=action, trail=(*state.trail, {"action": action}))


def asked(messages: Sequence[ChatMessage]) -> dict[str, str]:
    """The documents of a grading prompt: text by key."""
    return dict(_KEY.findall(messages[-1].text or ""))


def scripted(text_or_function: Any, finish_reason: str = "stop") -> Any:
    """A chat generator that answers by a function of the messages, or with one text."""

    def respond(messages: list[ChatMessage]) -> ChatMessage:
        text = text_or_function(messages) if callable(text_or_function) else text_or_function
        meta = {"finish_reason": finish_reason, "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
        return ChatMessage.from_assistant(text, meta=meta)

    return MockChatGenerator(response_fn=respond)


def grading_by(score: Callable[[str], float]) -> Any:
    """A chat generator that grades each document by a function of its text."""

    def reply(messages: Sequence[ChatMessage]) -> str:
        entries = [{"id": key, "score": score(text)} for key, text in asked(messages).items()]
        return json.dumps({"evaluations": entries})

    return scripted(reply)


def _says_one(text: str) -> float:
    return 0.9 if "one" in text else 0.1


def _judged(messages: list[ChatMessage]) -> ChatMessage:
    reply: ChatMessage = grading_by(_says_one).run(messages)["replies"][0]
    return reply


def cacheable() -> Any:
    """A chat generator that grades whatever says "one" highest, by a function that has a name: a cache needs one."""
    return MockChatGenerator(response_fn=_judged)


def fill(store: Any, documents: Sequence[Document]) -> None:
    """Embed documents and write them into a store."""
    store.write_documents(StaticDocumentEmbedder().run(documents=list(documents))["documents"])


def grade_by_door(grader: Any, question: str, documents: Sequence[Document], *, asynchronous: bool) -> dict[str, Any]:
    """Grade by `run` or `run_async`, and close the client of that door."""

    async def run() -> dict[str, Any]:
        try:
            return dict(await grader.run_async(query=question, documents=list(documents)))
        finally:
            await grader.close_async()

    try:
        return asyncio.run(run()) if asynchronous else dict(grader.run(query=question, documents=list(documents)))
    finally:
        grader.close()


def run_by_door(pipeline: Any, *, asynchronous: bool, **inputs: Any) -> dict[str, Any]:
    """Run a loaded pipeline by one of its doors, and close what that door opened."""

    async def run() -> Any:
        try:
            return await pipeline.run_async(**inputs)
        finally:
            await pipeline.close_async()

    try:
        return dict(asyncio.run(run()) if asynchronous else pipeline.run(**inputs))
    finally:
        pipeline.close()


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def events(report: Any) -> dict[str, int]:
    """What a report of indexing counts, without what is zero."""
    values = report.to_dict()
    return {key: value for key, value in values.items() if value and key not in {"seconds", "failures"}}


class PartStore:
    """As OpenSearch and Milvus: of those that pass a filter it lists so many, and counts all."""

    def __init__(self, listed: int) -> None:
        self.listed, self.listings, self.inner = listed, 0, InMemoryDocumentStore(index=uuid4().hex)

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        self.listings += 1
        return self.inner.filter_documents(filters)[: self.listed]

    def count_documents(self) -> int:
        return self.inner.count_documents()

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        return self.inner.write_documents(documents, policy)

    def delete_documents(self, document_ids: list[str]) -> None:
        self.inner.delete_documents(document_ids)
