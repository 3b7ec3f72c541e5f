"""Apps of other shapes than the example's, adopted as docs/app-shapes.md says: nothing is lost where it watches."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.preprocessors import HierarchicalDocumentSplitter
from haystack.components.rankers import MetaFieldRanker
from haystack.components.retrievers import AutoMergingRetriever, MultiQueryTextRetriever, SentenceWindowRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.routers import MetadataRouter
from haystack.dataclasses import ChatMessage, ChatRole
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from haystack_integrations.crag.components import CragRouter, HeuristicGrader, WebFallback
from haystack_integrations.crag.pipelines import CorrectiveRetriever, load
from haystack_integrations.crag.vocabulary import META_KEY

ANSWERED, UNANSWERED = "When is a refund paid?", "Can I pay with Bitcoin?"
PAGES: Final = [
    "A refund is paid within 14 days after the returned goods have arrived.",
    "Goods can be returned within 30 days. Each parcel needs a label.",
    "Standard delivery takes three working days.",
    "Your password can be reset on the sign-in page.",
]
Parts = dict[str, Any]
Shape = Callable[[InMemoryDocumentStore], tuple[Parts, list[tuple[str, str]], str, Callable[[str], Parts]]]
"""Its components, their connections, the socket that gives the documents, and what a run takes for a question."""


def by_words(store: InMemoryDocumentStore) -> InMemoryBM25Retriever:
    return InMemoryBM25Retriever(store, top_k=3)


def joined(store: InMemoryDocumentStore) -> Any:
    """Words and vectors, joined and ranked by a field of the metadata."""
    store.write_documents(MockDocumentEmbedder().run(store.filter_documents())["documents"], DuplicatePolicy.OVERWRITE)
    parts = {
        "bm25": by_words(store),
        "embedder": MockTextEmbedder(),
        "dense": InMemoryEmbeddingRetriever(store, top_k=3),
        "joiner": DocumentJoiner("reciprocal_rank_fusion"),
        "ranker": MetaFieldRanker("year", weight=0.3),
    }
    wires = [
        ("embedder.embedding", "dense.query_embedding"),
        ("bm25.documents", "joiner.documents"),
        ("dense.documents", "joiner.documents"),
        ("joiner.documents", "ranker.documents"),
    ]
    return (
        parts,
        wires,
        "ranker.documents",
        lambda question: {"bm25": {"query": question}, "embedder": {"text": question}},
    )


def routed(store: InMemoryDocumentStore) -> Any:
    """Only what is early, by the metadata."""
    rules: Any = {"early": {"field": "meta.year", "operator": "<", "value": 2003}}
    parts = {"bm25": by_words(store), "early": MetadataRouter(rules, output_type=list[Document])}
    return (
        parts,
        [("bm25.documents", "early.documents")],
        "early.early",
        lambda question: {"bm25": {"query": question}},
    )


def windowed(store: InMemoryDocumentStore) -> Any:
    """Each sentence with its neighbours."""
    parts = {"bm25": by_words(store), "window": SentenceWindowRetriever(store, window_size=1)}
    wires = [("bm25.documents", "window.retrieved_documents")]
    return parts, wires, "window.context_documents", lambda question: {"bm25": {"query": question}}


def merged(store: InMemoryDocumentStore) -> Any:
    """Parts of a text, or the whole where most of its parts were found."""
    parents = InMemoryDocumentStore(shared=False)
    pieces = HierarchicalDocumentSplitter({12, 6}, split_overlap=0, split_by="word").run(store.filter_documents())
    store.delete_all_documents()
    for piece in pieces["documents"]:
        (parents if piece.meta["__children_ids"] else store).write_documents([piece])
    parts = {"bm25": by_words(store), "merge": AutoMergingRetriever(parents, threshold=0.5)}
    wires = [("bm25.documents", "merge.documents")]
    return parts, wires, "merge.documents", lambda question: {"bm25": {"query": question}}


def many(store: InMemoryDocumentStore) -> Any:
    """Several wordings, one list."""
    parts = {"search": MultiQueryTextRetriever(retriever=by_words(store))}
    return parts, [], "search.documents", lambda question: {"search": {"queries": [question, question.lower()]}}


def adopted(shape: Shape, store: InMemoryDocumentStore, mode: Any) -> tuple[Pipeline, Callable[[str], Parts], str]:
    """The app as it was (None), or with grader and router behind what gives it documents."""
    parts, wires, last, asked = shape(store)
    pipeline = Pipeline()
    for name, part in parts.items():
        pipeline.add_component(name, part)
    for sender, receiver in wires:
        pipeline.connect(sender, receiver)
    if mode is None:
        return pipeline, asked, last
    watch(pipeline, last, mode)
    questions = lambda question: {name: {"query": question} for name in ("grader", "router")}  # noqa: E731
    return pipeline, lambda question: asked(question) | questions(question), "router.generate"


def watch(pipeline: Pipeline, last: str, mode: Any, on_incorrect: Any = "abstain") -> None:
    pipeline.add_component("grader", HeuristicGrader())
    settings: Any = {"aggregate": "set", "on_ambiguous": "generate", "on_incorrect": on_incorrect}
    pipeline.add_component("router", CragRouter(mode=mode, **settings))
    pipeline.connect(last, "grader.documents")
    pipeline.connect("grader.documents", "router.documents")
    pipeline.connect("grader.report", "router.report")


def filled(name: str) -> InMemoryDocumentStore:
    store = InMemoryDocumentStore(index=name, shared=False)
    metas = [{"year": 2000 + at, "source_id": "handbook", "split_id": at, "tags": ["a"]} for at in range(len(PAGES))]
    store.write_documents([Document(content=page, meta=meta) for page, meta in zip(PAGES, metas, strict=True)])
    return store


def given(pipeline: Pipeline, data: Parts, socket: str) -> list[Document]:
    """What stands at a socket after a run, by both doors."""
    name, output = socket.split(".")
    first = pipeline.run(data, include_outputs_from={name})[name].get(output, [])
    again = asyncio.run(pipeline.run_async(data, include_outputs_from={name}))[name].get(output, [])
    assert first == again
    return list(first)


@pytest.mark.parametrize("shape", [joined, routed, windowed, merged, many], ids=lambda shape: shape.__name__)
def test_an_app_that_is_watched_reads_what_it_read(shape: Shape) -> None:
    """The same documents with their scores and metadata, in the same order; enforced, none where none answers."""
    for question in (ANSWERED, UNANSWERED):
        before, observed, enforced = (
            given(pipeline, asked(question), socket)
            for pipeline, asked, socket in (
                adopted(shape, filled("app"), mode) for mode in (None, "observe", "enforce")
            )
        )
        assert before
        assert [replace(one, meta={k: v for k, v in one.meta.items() if k != META_KEY}) for one in observed] == before
        assert all(META_KEY in one.meta for one in observed)
        assert all(one in observed for one in enforced)  # of a document that came twice there is one
        assert bool(enforced) == (question == ANSWERED)


def answering(mode: Any, *, joins: bool) -> Pipeline:
    """An app without an AnswerBuilder, which reads the model's reply."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", by_words(filled("replies")))
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("{{ documents|length }} {{ query }}")]))
    pipeline.add_component("llm", MockChatGenerator("Within 14 days."))
    watch(pipeline, "bm25.documents", mode)
    pipeline.connect("router.generate", "prompt.documents")
    pipeline.connect("prompt.prompt", "llm.messages")
    if joins:
        pipeline.add_component("replies", BranchJoiner(list[ChatMessage]))
        pipeline.connect("llm.replies", "replies.value")
        pipeline.connect("router.abstain", "replies.value")
    return pipeline


def test_an_app_that_reads_the_models_reply_finds_an_abstention_beside_it() -> None:
    """Either the model's entry is in the result, or the router's words."""
    answered = answering("enforce", joins=False).run({"query": ANSWERED})
    assert answered["llm"]["replies"][0].text == "Within 14 days."
    assert "abstain" not in answered["router"]
    refused = answering("enforce", joins=False).run({"query": UNANSWERED})
    assert "llm" not in refused
    assert refused["router"]["abstain"].startswith("The documents do not answer this question.")


def test_an_abstention_that_is_joined_with_messages_is_one_of_the_user() -> None:
    """Haystack makes such a message of any text: the page says so."""
    (message,) = answering("enforce", joins=True).run({"query": UNANSWERED})["replies"]["value"]
    assert message.is_from(ChatRole.USER)


@pytest.mark.parametrize("both", [False, True])
def test_in_the_place_of_one_of_two_searches_what_it_drops_comes_back_from_the_other(both: bool) -> None:
    """So it takes the place of both, and of their joiner."""
    store = filled("hybrid")
    parts, wires, last, asked = joined(store)
    pipeline = Pipeline()
    corrective = CorrectiveRetriever(store, top_k=3, settings={"dense": {"text_embedder": MockTextEmbedder()}})
    pipeline.add_component("bm25", corrective)
    if not both:
        for name in ("embedder", "dense", "joiner", "ranker"):
            pipeline.add_component(name, parts[name])
        for sender, receiver in wires:
            pipeline.connect(sender, receiver)
    data = {"bm25": {"query": UNANSWERED}} if both else asked(UNANSWERED)
    assert bool(given(pipeline, data, "bm25.documents" if both else last)) != both


def replying(template: str) -> tuple[ChatPromptBuilder, MockChatGenerator]:
    """A prompt of the app's own, and a model that says what it was asked."""
    prompt = ChatPromptBuilder([ChatMessage.from_user(template)])
    return prompt, MockChatGenerator(response_fn=lambda messages: messages[-1].text or "")


@pytest.mark.parametrize("beside", [False, True])
def test_where_its_own_connections_stay_an_app_reads_not_even_a_grade(beside: bool) -> None:
    """Its prompt prints all metadata: with the grades, where the documents come by way of the router."""

    def asked(question: str, *, watched: bool) -> str:
        pipeline = Pipeline()
        pipeline.add_component("bm25", by_words(filled("beside")))
        prompt, model = replying("{% for each in documents %}{{ each }} {{ each.meta }}{% endfor %}{{ query }}")
        pipeline.add_component("prompt", prompt)
        pipeline.add_component("llm", model)
        pipeline.connect("prompt.prompt", "llm.messages")
        if watched:
            watch(pipeline, "bm25.documents", "observe")
        pipeline.connect("bm25.documents" if beside or not watched else "router.generate", "prompt.documents")
        result = pipeline.run({"query": question})
        assert watched == ("decision" in result.get("router", {}))
        return str(result["llm"]["replies"][0].text)

    for question in (ANSWERED, UNANSWERED):
        assert (asked(question, watched=True) == asked(question, watched=False)) == beside


@component
class Web:
    """Stands for a web search."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [Document(content=f"Found: {query}", meta={"url": "https://example.com"})]}


@pytest.mark.parametrize("mode", ["enforce", "observe"])
def test_the_verdict_sends_an_app_to_the_web_search_that_it_has(mode: str) -> None:
    """Where it only watches, nothing leaves; both prompts take the question from the run."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", by_words(filled("web")))
    pipeline.add_component("web", WebFallback(Web()))
    watch(pipeline, "bm25.documents", mode, on_incorrect="web")
    pipeline.connect("router.web", "web.state")
    for name, documents in (("own", "router.generate"), ("other", "web.documents")):
        prompt, model = replying("{{ documents[0].content }} {{ query }}")
        pipeline.add_component(f"{name}_prompt", prompt)
        pipeline.add_component(f"{name}_llm", model)
        pipeline.connect(documents, f"{name}_prompt.documents")
        pipeline.connect(f"{name}_prompt.prompt", f"{name}_llm.messages")
    first, last = (pipeline.run({"query": question}) for question in (ANSWERED, UNANSWERED))
    assert first["own_llm"]["replies"][0].text == f"{PAGES[0]} {ANSWERED}"
    assert "other_llm" not in first
    assert last["router"]["decision"]["action"] == "web"
    if mode == "observe":
        assert "other_llm" not in last
    else:
        assert last["other_llm"]["replies"][0].text == f"Found: {UNANSWERED} {UNANSWERED}"


def test_an_app_keeps_its_own_prompt_in_a_shipped_pipeline() -> None:
    """Haystack's builder in the place of ours: it knows `documents` and `question`."""
    prompt, model = replying("{% for each in documents %}{{ each.content }} {% endfor %}{{ question }}")
    rag = load("corrective_rag", store=filled("own"), grader=HeuristicGrader(), generator=model, prompt=prompt)
    assert rag.run(query=ANSWERED)["answers"][0].data == f"{PAGES[0]} {ANSWERED}"
    assert rag.run(query=UNANSWERED)["crag"]["answer"]["status"] == "none"
