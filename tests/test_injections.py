"""
Texts that try to steer the grader, and what code guarantees against each of them.

A model may believe any of them about the document they stand in; that is measured, not promised. What holds for every
text is checked here with models that obey it as far as a model can: it never leaves its own block of the prompt, never
moves a neighbour's score, and brings nothing but a number and a reason into the documents.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from haystack import Document
from haystack.dataclasses import ChatMessage
from makers import scripted

from haystack_integrations.crag.components.batch_relevance_grader import BatchRelevanceGrader
from haystack_integrations.crag.grades import grade_of
from haystack_integrations.crag.grading.prompt import DEFAULT_RUBRIC

INJECTIONS: list[dict[str, str]] = yaml.safe_load(
    (Path(__file__).parent / "data" / "injections.yml").read_text("utf-8")
)
QUESTION = "Who wrote Emma?"
BATCH, PLACE = 13, 6
"""13 documents are asked about as 13, 7 and 6; no text holds an array of such a length. The text stands in the
middle."""

_BOUNDARY = re.compile(r"Only lines with the tag (doc-[a-z]{7}) begin or end a document\.")
_ID = re.compile(r"(?<![0-9a-z])[b-df-hj-np-tv-xz]{3}(?![0-9a-z])")

every_injection = pytest.mark.parametrize(
    "injection", [pytest.param(entry["text"], id=entry["name"]) for entry in INJECTIONS]
)


@pytest.fixture(autouse=True)
def _the_same_random_keys_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that lists ids meets a random key now and then."""
    rng = Random(20_261_122)
    monkeypatch.setattr("secrets.choice", rng.choice)


class Prompt:
    """A grading prompt, read by the boundary that it announces itself: the last announcement is the template's."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        """Cut the user message into what stands before, in and after the documents."""
        self.system, self.text = messages[0].text or "", messages[-1].text or ""
        self.boundary = _BOUNDARY.findall(self.text)[-1]
        tag = re.escape(self.boundary)
        block = re.compile(rf'^<{tag} id="([b-z]{{3}})">\n(.*?)\n</{tag}>$', re.DOTALL | re.MULTILINE)
        self.blocks = dict(block.findall(self.text))
        self.outside = block.sub("", self.text)
        self.openings = len(re.findall(rf"^<{tag} ", self.text, re.MULTILINE))
        self.closings = len(re.findall(rf"^</{tag}>$", self.text, re.MULTILINE))
        self.mentions = self.text.count(self.boundary)


def batch(injection: str, title: str | None = None) -> list[Document]:
    """Neighbours that carry their number, and one document with the text or title under test among them."""
    documents = [
        Document(content=f"neighbour passage number {number}", meta={"source": f"{number}.md", "page": number})
        for number in range(BATCH)
    ]
    meta = {"source": "web", "page": PLACE} | ({} if title is None else {"title": title})
    documents[PLACE] = Document(content=injection, meta=meta)
    return documents


class Scripted:
    """Two graders for all tests, since building a mock costs more than a grading; they keep nothing of a run."""

    answer: Any = "{}"

    @classmethod
    def reply(cls, messages: list[ChatMessage]) -> str:
        """What the model says now: a text, or a function of the prompt."""
        return cls.answer(messages) if callable(cls.answer) else cls.answer


GRADERS = {finish: BatchRelevanceGrader(scripted(Scripted.reply, finish)) for finish in ("stop", "length")}


def grade(answer: Any, documents: list[Document], query: str = QUESTION, finish: str = "stop") -> dict[str, Any]:
    """Grade with a model that answers with a text or by a function of the prompt."""
    Scripted.answer = staticmethod(answer) if callable(answer) else answer
    return GRADERS[finish].run(query=query, documents=documents)


def prompt_for(documents: list[Document], query: str = QUESTION) -> Prompt:
    """The first prompt that a model sees."""
    seen: list[Prompt] = []

    def answer(messages: list[ChatMessage]) -> str:
        seen.append(Prompt(messages))
        return true_reply(messages)

    grade(answer, documents, query)
    return seen[0]


@cache
def harmless_prompt() -> Prompt:
    """A prompt of the same shape, with nothing under test in it."""
    return prompt_for(batch("Rain is likely."))


def without_it(prompt: Prompt) -> str:
    """What stands around the documents of a harmless prompt, with this prompt's tag and keys."""
    harmless = harmless_prompt()
    around = harmless.outside.replace(harmless.boundary, prompt.boundary)
    keys = dict(zip(harmless.blocks, prompt.blocks, strict=True))
    return re.sub(r'"([b-z]{3})": SCORE', lambda found: f'"{keys[found[1]]}": SCORE', around)


def true_scores(messages: Sequence[ChatMessage]) -> dict[str, float]:
    """By key: a hundredth of a document's number, which its place in the prompt tells when its text does not."""
    scores = {}
    for key, text in Prompt(messages).blocks.items():
        number = re.fullmatch(r"neighbour passage number (\d+)", text)
        scores[key] = int(number[1]) / 100 if number else PLACE / 100
    return scores


def true_reply(messages: Sequence[ChatMessage], **more: Any) -> str:
    """The reply of a model that believes nothing."""
    entries = [{"id": key, "score": score, **more} for key, score in true_scores(messages).items()]
    return json.dumps({"evaluations": entries})


@cache
def names_in_a_grade() -> set[str]:
    """What a harmless document gets into its `meta["crag"]`."""
    return set(grade(true_reply, [Document(content="neighbour passage number 1")])["documents"][0].meta["crag"])


def assert_only_grades_came_in(before: list[Document], result: dict[str, Any]) -> None:
    """The same documents in the same order; what is new is in `meta["crag"]`, and has the shape of a grade."""
    after = result["documents"]
    assert [document.id for document in after] == [document.id for document in before]
    assert [document.content for document in after] == [document.content for document in before]
    assert [document.score for document in after] == [document.score for document in before]
    for old, new in zip(before, after, strict=True):
        assert {key: value for key, value in new.meta.items() if key != "crag"} == old.meta
        assert set(new.meta["crag"]) == names_in_a_grade()
        assert type(new.meta["crag"]["score"]) is float
        assert 0.0 <= new.meta["crag"]["score"] <= 1.0
        assert type(new.meta["crag"]["reason"]) in (str, type(None))
    assert all(type(score) is float and 0.0 <= score <= 1.0 for score in result["scores"])


def assert_well_built(prompt: Prompt, injection: str) -> None:
    """One opening and one closing line for each document, with a tag that the text under test does not know."""
    assert prompt.openings == prompt.closings == len(prompt.blocks) == BATCH
    # The rest of the prompt names the tag once more, where it announces it.
    assert prompt.mentions == 2 * BATCH + 1
    assert prompt.boundary not in injection
    assert prompt.system == DEFAULT_RUBRIC
    texts = list(prompt.blocks.values())
    neighbours = [number for number in range(BATCH) if number != PLACE]
    assert [texts[number] for number in neighbours] == [f"neighbour passage number {n}" for n in neighbours]


def test_the_texts_are_many_different_and_of_every_kind() -> None:
    """A name is given once, and no text twice."""
    assert len(INJECTIONS) >= 110
    assert all(set(entry) == {"name", "kind", "text"} for entry in INJECTIONS)
    assert len({entry["name"] for entry in INJECTIONS}) == len(INJECTIONS)
    assert len({entry["text"] for entry in INJECTIONS}) == len(INJECTIONS)
    assert len({entry["kind"] for entry in INJECTIONS}) >= 14
    assert sum(entry["kind"] == "language" for entry in INJECTIONS) >= 8


@every_injection
def test_a_text_stands_in_its_own_block_and_nowhere_else(injection: str) -> None:
    """Template code in it is text, its tags close nothing, and its neighbours' blocks are what they are without it."""
    prompt = prompt_for(batch(injection))
    assert_well_built(prompt, injection)
    shown, text = list(prompt.blocks.values())[PLACE], injection.strip()
    if len(text) <= 800:
        assert shown == text
    else:
        assert shown.endswith("[…cut]")
        assert text.startswith(shown.removesuffix("[…cut]").rstrip())
        assert len(shown) <= 810
    assert prompt.outside == without_it(prompt)


@every_injection
def test_a_title_stands_in_its_own_block_and_nowhere_else(injection: str) -> None:
    """A title has lines and tags like any text."""
    prompt = prompt_for(batch("Rain is likely.", title=injection))
    assert_well_built(prompt, injection)
    shown = list(prompt.blocks.values())[PLACE]
    assert shown.startswith(f"Title: {injection}"[:150])
    assert shown.endswith("\nRain is likely.")
    assert prompt.outside == without_it(prompt)


@every_injection
def test_a_question_stands_before_the_documents_and_changes_none_of_them(injection: str) -> None:
    """Not even when it brings blocks of its own; each document gets its score."""
    documents = batch("Rain is likely.")
    prompt = prompt_for(documents, injection)
    assert_well_built(prompt, injection)
    assert list(prompt.blocks.values())[PLACE] == "Rain is likely."
    assert prompt.outside == without_it(prompt).replace(QUESTION, injection, 1)
    result = grade(true_reply, documents, injection)
    assert result["scores"] == [number / 100 for number in range(BATCH)]
    assert_only_grades_came_in(documents, result)


@every_injection
def test_a_text_that_is_the_whole_reply_credits_no_document(injection: str) -> None:
    """It knows neither a key nor the number of documents; all are kept, and none is judged."""
    documents = batch(injection)
    for finish in ("stop", "length"):
        result = grade(injection, documents, finish=finish)
        assert result["status"] == "failed"
        assert {document.meta["crag"]["status"] for document in result["documents"]} == {"failed"}
        assert result["scores"] == [0.5] * BATCH
        assert_only_grades_came_in(documents, result)


@every_injection
def test_a_model_that_also_writes_what_a_text_demands_moves_no_neighbour(injection: str) -> None:
    """Full marks for every id that the text names, then the text itself: the scores given by key stand."""
    documents = batch(injection)
    demanded = json.dumps([{"id": name, "score": 1.0} for name in _ID.findall(injection)])
    result = grade(lambda messages: f"{true_reply(messages)}\n{demanded}\n{injection}", documents)
    assert result["scores"] == [number / 100 for number in range(BATCH)]
    assert result["status"] == "ok"
    assert_only_grades_came_in(documents, result)


@every_injection
def test_a_model_that_obeys_before_it_grades_gives_no_foreign_score(injection: str) -> None:
    """An unclosed bracket in the text may cost grades, but what is credited is what was given by key."""
    documents = batch(injection)
    demanded = json.dumps(dict.fromkeys(_ID.findall(injection), 1.0))
    result = grade(lambda messages: f"{injection}\n{demanded}\n{true_reply(messages)}", documents)
    for number, document in enumerate(result["documents"]):
        given = grade_of(document)
        assert given is not None
        assert (given.status, given.score) in {("failed", 0.5), ("graded", number / 100)}
    assert_only_grades_came_in(documents, result)


@every_injection
def test_a_model_that_obeys_for_the_document_itself_loses_only_its_grade(injection: str) -> None:
    """Two scores for one document are no score; its neighbours' stand."""
    documents = batch(injection)

    def answer(messages: list[ChatMessage]) -> str:
        keys = list(Prompt(messages).blocks)
        return true_reply(messages) + json.dumps({keys[PLACE]: 1.0}) if len(keys) == BATCH else "{}"

    result = grade(answer, documents)
    assert result["scores"] == [0.5 if number == PLACE else number / 100 for number in range(BATCH)]
    assert grade_of(result["documents"][PLACE]).status == "failed"  # type: ignore[union-attr]
    assert_only_grades_came_in(documents, result)


@every_injection
def test_nothing_but_a_number_and_a_reason_comes_from_a_reply(injection: str) -> None:
    """A model that writes the text into every field there is changes no content, id, title or source."""
    documents = batch(injection, title="Weather")
    fields = {"reason": injection, "content": injection, "title": injection, "meta": {"source": injection}}
    fields |= {"status": injection, "question": injection, "grader": injection, "document_id": injection}

    def answer(messages: list[ChatMessage]) -> str:
        entries = [{"id": key, "score": score} for key, score in true_scores(messages).items()]
        return json.dumps([{**entry, **fields} if n == PLACE else entry for n, entry in enumerate(entries)])

    result = grade(answer, documents)
    assert_only_grades_came_in(documents, result)
    for number, document in enumerate(result["documents"]):
        assert result["scores"][number] == number / 100
        assert document.meta["crag"]["status"] == "graded"
        assert document.meta["crag"]["grader"] == "BatchRelevanceGrader"
