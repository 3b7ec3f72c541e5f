"""An answer whose passages are too many for the model's context: written from fewer, and the record says so."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from hypothesis import given
from hypothesis import strategies as st
from makers import graded, run_by_door
from model_faults import completion, keyed
from pytest_httpserver import HTTPServer
from scripted_model import documents_in
from werkzeug import Request, Response

from haystack_integrations.crag.answer_prompt import AnswerPrompt
from haystack_integrations.crag.components import AnswerGenerator, CragRouter, EvidencePromptBuilder, RecordBuilder
from haystack_integrations.crag.components.evidence_prompt_builder import DEFAULT_TEMPLATE
from haystack_integrations.crag.grades import Grade, with_grade, without_grade
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.vocabulary import ANSWER_FAILED, FEWER

QUESTION = "Who wrote Emma?"
REFUSED = {"error": {"message": "the request exceeds the available context size", "code": 400}}


class ShortContext:
    """A server whose context holds `most` passages: it refuses a longer prompt, or `cuts` it as Ollama does."""

    def __init__(self, server: HTTPServer) -> None:
        """Answer what is asked."""
        self.breaks = self.fails = False
        self.most, self.cuts, self.shown, self.texts = 7, False, list[int](), list[str]()
        self.url = server.url_for("/v1")
        server.expect_request("/v1/chat/completions").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        """Tell the number of passages it saw."""
        text = request.json["messages"][-1]["content"]
        self.texts.append(text)
        if keys := list(documents_in(request.json["messages"])):
            return completion(keyed(keys))
        self.shown.append(passages := text.count(' number="'))
        if passages > self.most and not self.cuts and not self.breaks:
            return Response(json.dumps(REFUSED), 400, content_type="application/json")
        if self.fails and passages <= self.most:
            return Response("{}", 500, content_type="application/json")
        read = len(text.split()) * 2 if passages <= self.most else 300
        usage = {"prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5}
        base = {"id": "c", "created": 0, "model": "m"}
        if not request.json.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "Austen [1]."}, "finish_reason": "stop"}
            body = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
            return Response(json.dumps(body), content_type="application/json")
        deltas = [{"content": "Austen "}, {"content": "[1]."}, {}]
        parts: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]} for delta in deltas
        ]
        parts.append({"choices": [], "usage": usage})
        lines = [json.dumps({**base, "object": "chat.completion.chunk", **part}) for part in parts]
        if self.breaks:
            lines = [lines[0], json.dumps(REFUSED)]
        return Response("".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]), content_type="text/event-stream")


@pytest.fixture
def server(httpserver: HTTPServer) -> ShortContext:
    """A model with a short context."""
    return ShortContext(httpserver)


@pytest.fixture
def generator(server: ShortContext) -> Iterator[AnswerGenerator]:
    """What writes answers with it."""
    model = OpenAIChatGenerator(api_key=Secret.from_token("k"), api_base_url=server.url, max_retries=0, timeout=30)
    generator = AnswerGenerator(model)
    yield generator
    generator.close()


def evidence(count: int) -> list[Document]:
    """Graded passages, best first."""
    documents = (Document(content=f"Passage {n} " + "emma " * 60, id=f"d{n}") for n in range(1, count + 1))
    return [with_grade(one, Grade(0.9, "graded", "test", None, None)) for one in documents]


def prompt(count: int) -> list[ChatMessage]:
    """The prompt with so many passages."""
    written: list[ChatMessage] = EvidencePromptBuilder().run(question=QUESTION, documents=evidence(count))["prompt"]
    return written


def recorded(replies: list[ChatMessage], count: int) -> dict[str, Any]:
    """The end of a run with so many passages."""
    outcome = CragRouter().run(query=QUESTION, documents=evidence(count))["outcome"]
    return dict(RecordBuilder().run(outcome=outcome, replies=replies))


def test_a_refused_prompt_is_asked_again_with_the_best_passages(
    server: ShortContext, generator: AnswerGenerator
) -> None:
    """An answer from seven of ten passages is better than none; which ones, and why no more, stands in the record."""
    replies = generator.run(messages=prompt(10))["replies"]
    result = recorded(replies, 10)
    assert replies[0].text == "Austen [1]."
    assert server.shown == [10, 7]
    best, record = [f"d{n}" for n in range(1, 8)], result["crag"]
    assert [document.id for document in result["documents"]] == [one["id"] for one in record["kept"]] == best
    assert {one["id"]: one["reason"] for one in record["discarded"]} == dict.fromkeys(("d8", "d9", "d10"), "no_room")
    assert (record["documents_after"], record["llm_calls"]) == (7, 2)
    assert record["coverage"]["degraded"]
    assert record["coverage"]["reasons"] == ["evidence_cut:context_length"]
    assert (record["answer"]["status"], record["answer"]["cited"]) == ("written", [1])


def test_the_passages_with_the_best_grades_stay_and_are_numbered_anew(
    server: ShortContext, generator: AnswerGenerator
) -> None:
    """Evidence stands in the order of the retrieval, and the answer may stand in its last passage."""
    documents = [*evidence(9), with_grade(evidence(10)[9], Grade(1.0, "graded", "test", None, None))]
    messages = EvidencePromptBuilder().run(question=QUESTION, documents=documents)["prompt"]
    replies = generator.run(messages=messages)["replies"]
    assert replies[0].meta[FEWER]["shown"] == [1, 2, 3, 4, 5, 6, 10]
    outcome = CragRouter().run(query=QUESTION, documents=documents)["outcome"]
    result = RecordBuilder().run(outcome=outcome, replies=replies)
    assert [document.id for document in result["documents"]] == ["d1", "d2", "d3", "d4", "d5", "d6", "d10"]
    sent = server.texts[-1]
    assert sent.index(' number="7"') < sent.index("Passage 10") < sent.index("Only lines")
    assert ' number="10"' not in sent


@pytest.mark.parametrize("mode", ["observe", "off"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_a_run_that_only_observes_leaves_out_the_last_passages_whatever_their_grades(
    mode: Any, asynchronous: bool, generator: AnswerGenerator
) -> None:
    """Its answer is that of an app that grades nothing, also where the context has no room for all."""
    documents = [*evidence(9), with_grade(evidence(10)[9], Grade(1.0, "graded", "test", None, None))]
    messages = EvidencePromptBuilder().run(question=QUESTION, documents=documents)["prompt"]
    outcome = CragRouter().run(query=QUESTION, documents=documents, mode=mode)["outcome"]
    replies = run_by_door(generator, asynchronous=asynchronous, messages=messages, state=outcome)["replies"]
    result = RecordBuilder().run(outcome=outcome, replies=replies)
    assert [document.id for document in result["documents"]] == [f"d{n}" for n in range(1, 8)]


def test_passages_that_a_template_numbers_in_its_own_way_go_from_the_end(generator: AnswerGenerator) -> None:
    """Numbers within a text cannot be told from the text's own."""
    template = """{% for passage in passages %}<{{ boundary }} x=' number="'>{{ passage.number }}. {{ passage.text }}
{{ passage.title }}{{ passage.origin }}{{ passage.source }}</{{ boundary }}>{% endfor %}{{ question }}"""
    documents = [*evidence(9), with_grade(evidence(10)[9], Grade(1.0, "graded", "test", None, None))]
    messages = EvidencePromptBuilder(template=template).run(question=QUESTION, documents=documents)["prompt"]
    (reply,) = generator.run(messages=messages)["replies"]
    assert reply.meta[FEWER]["shown"] == [1, 2, 3, 4, 5, 6, 7]


def test_a_shipped_pipeline_answers_from_what_the_model_can_read(
    server: ShortContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer, evidence and record agree on which passages there are."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=f"Emma was written in house {n}. " * 10, id=f"d{n}") for n in range(10)])
    rag = load("corrective_rag", store=store)
    try:
        result = rag.run(query=QUESTION)
    finally:
        rag.close()
    assert result["answers"][0].data == "Austen [1]."
    assert len(result["documents"]) == len(result["crag"]["kept"]) == len(result["answers"][0].documents) == 7
    assert result["crag"]["coverage"]["reasons"] == ["evidence_cut:context_length"]
    assert [one["reason"] for one in result["crag"]["discarded"]] == ["no_room"] * 3


def test_later_prompts_are_as_long_as_the_context_allows(server: ShortContext, generator: AnswerGenerator) -> None:
    """Not every question finds it out anew; a short prompt is left as it is."""
    generator.run(messages=prompt(10))
    again = generator.run(messages=prompt(10))["replies"]
    short = generator.run(messages=prompt(2))["replies"]
    assert server.shown == [10, 7, 7, 2]
    assert recorded(again, 10)["crag"]["coverage"]["reasons"] == ["evidence_cut:context_length"]
    assert recorded(again, 10)["crag"]["llm_calls"] == 1
    assert recorded(short, 2)["crag"]["coverage"]["reasons"] == []


def test_a_context_that_has_become_shorter_is_found_out_once(server: ShortContext, generator: AnswerGenerator) -> None:
    """A server that is started anew with less, or another model behind a proxy, does not refuse each later prompt."""
    generator.run(messages=prompt(10))
    server.most = 3
    generator.run(messages=prompt(10))
    generator.run(messages=prompt(10))
    *before, last, again = server.shown
    assert before[:3] == [10, 7, 7]
    assert len(before) == 4  # how far a prompt is cut at once depends on its length
    assert last == again
    assert 2 <= last <= 3


def test_what_was_learned_of_a_context_is_forgotten_after_ten_minutes(
    server: ShortContext, generator: AnswerGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A smaller model behind a proxy for a while does not cost all later questions a part of their passages."""
    generator.run(messages=prompt(10))
    server.most = 10
    generator.run(messages=prompt(10))
    assert server.shown == [10, 7, 7]
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 601)
    monkeypatch.setattr("haystack_integrations.crag.chat.room.time", later)
    again = generator.run(messages=prompt(10))["replies"]
    assert server.shown == [10, 7, 7, 10]
    assert recorded(again, 10)["crag"]["coverage"]["reasons"] == []


def test_what_a_prompt_cost_that_was_cut_in_silence_is_counted(
    server: ShortContext, generator: AnswerGenerator
) -> None:
    """Ollama replies to what is left of a prompt, with status 200."""
    server.cuts = True
    replies = generator.run(messages=prompt(10))["replies"]
    record = recorded(replies, 10)["crag"]
    assert server.shown == [10, 4]
    assert record["llm_calls"] == 2
    assert record["tokens"]["in"] == 300 + replies[0].meta["usage"]["prompt_tokens"]
    assert record["tokens"]["out"] == 10


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
@pytest.mark.parametrize("cuts", [False, True], ids=["refused", "cut in silence"])
def test_what_prompts_in_vain_cost_is_counted_where_no_answer_came_at_all(
    server: ShortContext, generator: AnswerGenerator, cuts: bool, asynchronous: bool
) -> None:
    """A run is not cheaper for a server that fails at the last of several requests."""
    server.fails, server.cuts = True, cuts
    replies = run_by_door(generator, asynchronous=asynchronous, messages=prompt(10))["replies"]
    record = recorded(replies, 10)["crag"]
    assert record["coverage"]["reasons"] == ["answer_failed:InternalServerError"]
    assert record["llm_calls"] == len(server.shown) == 2
    assert record["tokens"] == ({"in": 300, "out": 5} if cuts else {"in": 0, "out": 0})
    assert record["documents_after"] == 10


def test_a_streamed_answer_comes_once(server: ShortContext, generator: AnswerGenerator) -> None:
    """A refusal comes before any part of the answer, by the status."""
    parts = list[StreamingChunk]()
    replies = generator.run(messages=prompt(10), streaming_callback=parts.append)["replies"]
    assert "".join(part.content for part in parts) == "Austen [1]."
    assert server.shown == [10, 7]
    assert recorded(replies, 10)["crag"]["documents_after"] == 7


def test_a_cut_that_shows_after_parts_were_heard_is_a_failure(server: ShortContext, generator: AnswerGenerator) -> None:
    """A second answer behind the first would be read as one; the next question fits."""
    server.cuts = True
    parts = list[StreamingChunk]()
    (first,) = generator.run(messages=prompt(10), streaming_callback=parts.append)["replies"]
    (second,) = generator.run(messages=prompt(10), streaming_callback=parts.append)["replies"]
    assert first.meta[ANSWER_FAILED] == "context_length"
    assert recorded([first], 10)["crag"]["documents_after"] == 10
    assert second.text == "Austen [1]."
    assert server.shown == [10, 4]


def test_an_error_within_a_stream_is_a_failure_though_it_names_the_context(
    server: ShortContext, generator: AnswerGenerator
) -> None:
    """As vLLM tells what goes wrong once it has begun: with a code, and behind parts that were heard."""
    server.breaks = True
    parts = list[StreamingChunk]()
    (reply,) = generator.run(messages=prompt(10), streaming_callback=parts.append)["replies"]
    assert reply.meta[ANSWER_FAILED] == "context_length"
    assert "".join(part.content for part in parts) == "Austen "
    assert server.shown == [10]


def test_an_event_loop_asks_again_as_well(server: ShortContext, generator: AnswerGenerator) -> None:
    """Chats are served by `run_async`."""
    (reply,) = asyncio.run(generator.run_async(messages=prompt(10)))["replies"]
    assert (reply.text, server.shown) == ("Austen [1].", [10, 7])


@pytest.mark.parametrize(
    "messages",
    [prompt(1), [ChatMessage.from_user(f"{QUESTION} " + ' number="1"' * 9)]],
    ids=["one passage", "a prompt of the user's own"],
)
def test_a_prompt_without_passages_to_leave_out_fails_at_once(
    messages: list[ChatMessage], server: ShortContext, generator: AnswerGenerator
) -> None:
    """The same prompt again would be refused again."""
    server.most = 0
    (reply,) = generator.run(messages=messages)["replies"]
    assert reply.meta[ANSWER_FAILED] == "context_length"
    assert len(server.shown) == 1


def faked(text: str) -> str:
    """A text that closes a block of its own."""
    return f'<passage-abcdefg number="1">{text}</passage-abcdefg>'


TEXTS = st.text(st.sampled_from("ab \n<>/é語")).map(faked)


@given(st.lists(TEXTS, min_size=2, max_size=6), st.floats(0, 100))
def test_what_is_left_out_is_whole_passages_from_the_end(texts: list[str], most: float) -> None:
    """Whatever stands in them: tags with a name of their own end none."""
    documents = [Document(content=text) for text in texts]
    messages = EvidencePromptBuilder().run(question=QUESTION, documents=documents)["prompt"]
    shorter = AnswerPrompt(messages).shorter(most)
    assert shorter is not None
    assert shorter.shown is not None
    assert list(shorter.shown) == list(range(1, len(shorter.shown) + 1))
    assert len(shorter.shown) < len(texts)
    shown, whole = shorter.messages[-1].text or "", messages[-1].text
    end = whole.index("Only lines with the tag")
    assert shown.endswith("\n" + whole[end:])
    assert whole.startswith(shown[: shown.rindex("Only lines with the tag")].rstrip("\n"))
    tag = whole[end:].split()[5]
    assert shown.count(f"<{tag} ") == shown.count(f"</{tag}>") == len(shorter.shown)
    assert len(shorter.shown) == 1 or shorter.size <= most


def shortened(template: str, *, unscored: bool = False) -> tuple[list[int], list[tuple[str, str]]]:
    """Which of three passages a prompt of one's own shows where two fit, and the number and letter of each in it."""
    documents = [
        graded(f"{letter} is it.", score, QUESTION) for letter, score in zip("ABC", (0.9, 0.3, 0.6), strict=True)
    ]
    documents = [without_grade(one) for one in documents] if unscored else documents
    whole = AnswerPrompt(EvidencePromptBuilder(template=template).run(question=QUESTION, documents=documents)["prompt"])
    shorter = whole.shorter(whole.size - 1)
    assert shorter is not None
    assert shorter.shown is not None
    return list(shorter.shown), re.findall(r'number="(\d)"[^>]*>\n(\w)', shorter.messages[-1].text or "")


def test_a_prompt_that_shows_the_best_passage_last_keeps_it_and_its_place_in_the_record() -> None:
    """The record takes the numbers for places among the documents, and a citation for one of them."""
    turned = DEFAULT_TEMPLATE.replace("in passages ", "in passages|reverse ")
    assert turned != DEFAULT_TEMPLATE
    assert shortened(DEFAULT_TEMPLATE) == ([1, 3], [("1", "A"), ("2", "C")])
    assert shortened(turned) == ([1, 3], [("2", "C"), ("1", "A")])
    assert shortened(turned, unscored=True) == ([1, 2], [("2", "B"), ("1", "A")])


def test_a_prompt_that_numbers_in_its_own_way_keeps_its_first_passages_and_their_numbers() -> None:
    """What the numbers of such a prompt count nobody knows."""
    from_zero = DEFAULT_TEMPLATE.replace("{{ passage.number }}", "{{ passage.number - 1 }}")
    assert shortened(from_zero) == ([1, 2], [("0", "A"), ("1", "B")])


def test_a_number_in_the_text_of_a_passage_is_left_alone() -> None:
    """In a prompt of the user's own, whose tags have none; and no text of signs is looked through for one."""
    texts = ['Look at <part number="7">.', "< " * 100_000]
    shown = "".join(f"<passage-abcdefg>{text}</passage-abcdefg>\n" for text in texts)
    for one, other in ((0, 1), (1, 0)):
        prompt = AnswerPrompt([ChatMessage.from_user(shown)], shown=[one + 1])
        assert prompt.messages[0].text == f"<passage-abcdefg>{texts[one]}</passage-abcdefg>\n"
        assert texts[other] not in (prompt.messages[0].text or "")


class Remembering:
    """A chat generator that keeps its answer, as a cache of answers before a model does; its server refuses once."""

    def __init__(self) -> None:
        """Have the answer."""
        self.answer, self.refuses = ChatMessage.from_assistant("Austen [1]."), True

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Refuse the first prompt as too long, then give the very same message each time."""
        if self.refuses:
            self.refuses = False
            raise RuntimeError(REFUSED["error"]["message"])
        return {"replies": [self.answer]}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])
def test_what_a_run_notes_on_an_answer_is_not_in_the_generators_memory(asynchronous: bool) -> None:
    """Else each later run that gets it would count the refused call again, and name passages it did not leave out."""
    remembering = Remembering()
    generator = AnswerGenerator(remembering)
    messages = EvidencePromptBuilder().run(question=QUESTION, documents=evidence(2))["prompt"]
    (reply,) = run_by_door(generator, asynchronous=asynchronous, messages=messages)["replies"]
    assert reply.meta[FEWER]["shown"] == [1]
    assert remembering.answer.meta == {}
