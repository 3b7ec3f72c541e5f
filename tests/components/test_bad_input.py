"""A wrong input of any component: one clear error that names it, and never a word of what was sent."""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.generators.chat import LLM, FallbackChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import scripted

import haystack_integrations.crag.components as all_components
from haystack_integrations.crag.components.elasticsearch_retrievers import (
    ReportingBM25Retriever,
    ReportingEmbeddingRetriever,
)
from haystack_integrations.crag.components.follow_up_rewriter import FollowUpRewriter
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.errors import ConfigurationError, QuestionError
from haystack_integrations.crag.inputs import check_input, checked
from haystack_integrations.crag.state import CragState
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

CANARY = "CANARY-7f3a"
QUESTION = "Who wrote Emma?"
# Its checks are its own: it tells the asker in its words.
OWN = {"QuestionGuard"}
# Haystack's embedders raise a TypeError, and theirs names the embedder that was meant.
ERRORS = {"StaticDocumentEmbedder": TypeError, "StaticTextEmbedder": TypeError}
WRONG: dict[str, list[Any]] = {
    "text": [None, True, 5, b"x", [CANARY], {CANARY: 1}],
    "documents": [None, True, 5, CANARY, [CANARY], [None], [True], {CANARY: 1}, [Document(content="x"), CANARY]],
    "state": [None, True, 5, CANARY, [], {}],
    "mapping": [True, 5, CANARY, [CANARY]],
    "number": [True, 0, -1, 1.5, "5", [5]],
    "switch": [0, 1, "no", []],
    "name": [True, 5, b"x", [CANARY]],
    "vector": [None, True, 5, CANARY, {}],
    "callback": [True, 5, CANARY, [CANARY]],
    "histories": [True, 5, CANARY, [CANARY], [None]],
    "sources": [None, True, 5, CANARY, {CANARY: 1}, [None], [5], [CANARY, True]],
    "metas": [True, 5, CANARY, [CANARY], [None]],
}
KINDS = {
    "query": "text",
    "text": "text",
    "question": "text",
    "documents": "documents",
    "replies": "documents",
    "messages": "documents",
    "streaming_callback": "callback",
    "bm25": "documents",
    "state": "state",
    "outcome": "state",
    "refined_state": "state",
    "report": "mapping",
    "bm25_report": "mapping",
    "scored": "mapping",
    "retrieval": "mapping",
    "filters": "mapping",
    "top_k": "number",
    "enabled": "switch",
    "sealed": "switch",
    "mode": "name",
    "tool_history": "histories",
    "query_embedding": "vector",
    "sources": "sources",
    "meta": "metas",
}


@component
class Search:
    """Finds nothing."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """Find nothing."""
        return {"documents": []}


@component
class Ranker:
    """Keeps the order."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Give them back."""
        return {"documents": documents}


def store() -> Any:
    """One that is not there."""
    return ElasticsearchDocumentStore(hosts="http://127.0.0.1:9", max_retries=0)


def parts() -> dict[str, Any]:
    """Every component, built as simply as can be."""
    by_vector = ReportingEmbeddingRetriever(document_store=store())
    made = {
        "AnswerGenerator": lambda kind: kind(scripted("x")),
        "BatchRelevanceGrader": lambda kind: kind(scripted("x")),
        "EvidenceJoiner": lambda kind: kind(weights={"bm25": 1.0}),
        "FollowUpRewriter": lambda kind: kind(scripted("x")),
        "RankerGrader": lambda kind: kind(Ranker()),
        "ReportingRetriever": lambda kind: kind(InMemoryBM25Retriever(InMemoryDocumentStore())),
        "ReportingTextEmbeddingRetriever": lambda kind: kind(retriever=by_vector, text_embedder=StaticTextEmbedder()),
        "SearXNGWebSearch": lambda kind: kind(url="http://127.0.0.1:9"),
        "WebFallback": lambda kind: kind(Search()),
    }
    built = {
        name: made.get(name, lambda kind: kind())(getattr(all_components, name)) for name in all_components.__all__
    }
    return built | {
        "ReportingBM25Retriever": ReportingBM25Retriever(document_store=store()),
        "ReportingEmbeddingRetriever": by_vector,
    }


def wrong() -> Iterator[Any]:
    """Every input of every component, with each value that is none."""
    for name, part in parts().items():
        if name in OWN:
            continue
        sockets = part.__haystack_input__._sockets_dict
        good: dict[str, Any] = {"query": QUESTION, "question": QUESTION, "text": QUESTION, "query_embedding": [0.0]}
        good |= {
            "documents": [Document(content=CANARY)],
            "bm25": [],
            "sources": [],
            "messages": [ChatMessage.from_user("?")],
            "outcome": CragState.start(QUESTION),
        }
        mandatory = {socket: good[socket] for socket, told in sockets.items() if told.is_mandatory}
        for socket, told in sockets.items():
            for value in WRONG[KINDS[socket]]:
                if value is not None or told.is_mandatory:
                    yield pytest.param(name, socket, {**mandatory, socket: value}, id=f"{name}-{socket}-{value!r:.20}")


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    """The components, once for all."""
    return parts()


@pytest.mark.parametrize(("name", "socket", "inputs"), list(wrong()))
def test_a_wrong_input_is_named_and_its_text_is_not(
    name: str, socket: str, inputs: dict[str, Any], built: dict[str, Any]
) -> None:
    """What was got, what was wanted; by both doors the same."""
    part = built[name]
    with pytest.raises(ERRORS.get(name, ConfigurationError), match=rf"(?s){socket}\b.*(wanted|must be)") as caught:
        part.run(**inputs)
    assert CANARY not in str(caught.value)
    if hasattr(part, "run_async"):
        with pytest.raises(type(caught.value)) as again:
            asyncio.run(part.run_async(**inputs))
        assert str(again.value) == str(caught.value)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("RankerGrader", {"ranker": Ranker}),
        ("StripRefiner", {"scorer": "ranker", "ranker": Ranker}),
        ("HeuristicGrader", {"document_store": InMemoryDocumentStore}),
        ("HeuristicGrader", {"document_store": InMemoryBM25Retriever(InMemoryDocumentStore())}),
        ("HeuristicGrader", {"document_store": "handbook"}),
    ],
)
def test_a_class_or_another_part_in_a_parts_place_is_refused_when_it_is_set(
    name: str, settings: dict[str, Any]
) -> None:
    """Each question failed, or was judged by less, and its error or nothing named what was at fault."""
    *_, given = settings.values()
    got = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    with pytest.raises(ConfigurationError, match=f"but got {got}"):
        getattr(all_components, name)(**settings)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("BatchRelevanceGrader", "rubric", None),
        ("BatchRelevanceGrader", "template", 5),
        ("BatchRelevanceGrader", "shuffle", 5),
        ("BatchRelevanceGrader", "cache", True),
        ("CragRouter", "abstention", True),
        ("CragRouter", "keep_good", "no"),
        ("CragRouter", "strict", 5),
        ("EvidenceJoiner", "fusion", [1]),
        ("EvidenceJoiner", "max_tokens", True),
        ("EvidenceJoiner", "top_k", None),
        ("EvidenceJoiner", "weights", [1]),
        ("EvidencePromptBuilder", "system", True),
        ("HeuristicGrader", "calibration", True),
        ("HeuristicGrader", "weights", True),
        ("QueryExpander", "template", 5),
        ("QueryExpander", "strategies", True),
        ("RecordBuilder", "abstention", True),
        ("SearXNGWebSearch", "safe_search", True),
        ("WebFallback", "query_cooldown_s", None),
    ],
)
def test_a_setting_of_another_type_is_named_when_it_is_set(name: str, setting: str, value: Any) -> None:
    """Not by an error of Python's, and not by the first question that meets it."""
    given: dict[str, Any] = {
        "BatchRelevanceGrader": {"chat_generator": scripted("x")},
        "EvidenceJoiner": {"weights": {"bm25": 1.0}},
        "WebFallback": {"websearch": Search()},
    }
    with pytest.raises(ConfigurationError, match=rf"{setting}\b"):
        getattr(all_components, name)(**{**given.get(name, {}), setting: value})


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("CragRouter", "strict", "upper"),
        ("RulePrefilter", "rules", "few_context"),
        ("QueryExpander", "strategies", {"name": "words", "weights": {"bm25": 1.0}}),
        ("WebFallback", "allow_domains", "example.org"),
        ("WebFallback", "redact", "\\d+"),
    ],
)
def test_a_text_or_a_mapping_in_a_lists_place_is_told_as_that(name: str, setting: str, value: Any) -> None:
    """Not as its letters or names, one of which is always none of what is wanted."""
    given: dict[str, Any] = {"WebFallback": {"websearch": Search()}}
    with pytest.raises(ConfigurationError, match=rf"{name} got a {type(value).__name__} for {setting}, wanted a list"):
        getattr(all_components, name)(**{**given.get(name, {}), setting: value})


def test_every_component_takes_part() -> None:
    """Those with checks of their own aside."""
    tried = {param.values[0] for param in wrong()}
    assert tried | OWN == set(parts())


def test_the_error_says_what_was_got_what_was_wanted_and_the_way_out() -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_input("HeuristicGrader", "documents", [CANARY, 5], list[Document])
    assert str(caught.value) == (
        "HeuristicGrader got a list with a str and a int for documents, wanted a list of Document; pass one, "
        "or connect an output of that type"
    )


@pytest.mark.parametrize("question", ["", " \n", "\u200b"])
@pytest.mark.parametrize("name", ["BatchRelevanceGrader", "HeuristicGrader", "QuestionGuard", "RankerGrader"])
def test_an_empty_question_is_refused_by_every_grader_as_at_the_door(
    name: str, question: str, built: dict[str, Any]
) -> None:
    """A pipeline of one's own may have no door: documents were graded for nothing, and a model was paid for it."""
    part, given = built[name], {} if name in OWN else {"documents": [Document(content="Emma is by Jane Austen.")]}
    with pytest.raises(QuestionError, match=r"the question is empty.*; ask one with at least one word"):
        part.run(query=question, **given)
    if hasattr(part, "run_async"):
        with pytest.raises(QuestionError, match="the question is empty"):
            asyncio.run(part.run_async(query=question, **given))


def test_a_check_changes_no_signature_that_haystack_reads() -> None:
    """Sockets, types and defaults stay what they were, and what fits passes."""

    class Plain:
        @component.output_types(found=int)
        def run(self, top_k: int | None = None, share: float = 1.0) -> dict[str, Any]:
            """Count."""
            return {"found": top_k or 0}

    before = inspect.signature(Plain.run)
    kind: Any = component(checked(Plain))
    assert inspect.signature(kind.run) == before
    assert [kind().run(given)["found"] for given in (3, None)] == [3, 0]
    with pytest.raises(TypeError, match="unexpected keyword"):
        kind().run(other=1)


ASKING: dict[str, dict[str, Any]] = {
    "AnswerGenerator": {},
    "BatchRelevanceGrader": {},
    "FollowUpRewriter": {},
    "QueryExpander": {"mode": "llm"},
    "StripRefiner": {"scorer": "llm"},
}


@pytest.mark.parametrize("name", ASKING)
def test_what_asks_a_chat_generator_and_is_none_is_refused_at_once(name: str) -> None:
    """An agent, and Haystack's LLM, give a conversation: each call was paid for, and its reply read as empty."""
    made, model = getattr(all_components, name), scripted("x")
    for other in (Agent(chat_generator=model), LLM(chat_generator=model)):
        with pytest.raises(ConfigurationError, match=rf"got {type(other).__name__}, .* its chat_generator"):
            made(chat_generator=other, **ASKING[name])
    with pytest.raises(ConfigurationError, match="got the class Agent"):
        made(chat_generator=Agent, **ASKING[name])
    pipeline = Pipeline()
    pipeline.add_component("model", model)
    assert made(chat_generator=SuperComponent(pipeline), **ASKING[name])
    assert made(chat_generator=FallbackChatGenerator([model]), **ASKING[name])


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize(
    ("kind", "name", "others"),
    [
        (all_components.BatchRelevanceGrader, "rubric", [scripted("x")]),
        (FollowUpRewriter, "system", [scripted("x")]),
        (all_components.EvidencePromptBuilder, "system", []),
        (all_components.AnswerGenerator, "apology", [scripted("x")]),
    ],
)
def test_what_a_model_or_an_asker_is_told_cannot_be_blank(kind: Any, name: str, others: list[Any], text: str) -> None:
    """As of a setting that was left empty: a model without a task invents one."""
    with pytest.raises(ConfigurationError, match=f"^{name} must be a text with words in it"):
        kind(*others, **{name: text})
