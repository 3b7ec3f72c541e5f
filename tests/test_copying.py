"""Copies of components: Haystack makes none, but it copies settings when it loads, and a user may copy anything."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from makers import cacheable, fill, graded, scripted

from haystack_integrations.crag.caching import MemoryGradeCache, RedisGradeCache
from haystack_integrations.crag.components import (
    AnswerGenerator,
    BatchRelevanceGrader,
    CragRouter,
    EvidencePromptBuilder,
    FollowUpRewriter,
    HeuristicGrader,
    QueryExpander,
    ReportingTextEmbeddingRetriever,
    SearXNGWebSearch,
    StaticDocumentEmbedder,
    StaticTextEmbedder,
    StripRefiner,
    WebFallback,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import CorrectiveRetriever, load

QUESTION = "When is a refund paid?"
PAGE = Document(content="A refund is paid within 30 days of the return.")


class EqualGrader(HeuristicGrader):  # noqa: PLW1641 # that is what is tested
    """A grader of one's own that can be compared, and so has no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EqualGrader)


@pytest.fixture
def chat() -> Any:
    """A chat generator with an open client, which nobody can copy."""
    made = OpenAIChatGenerator(api_key=Secret.from_token("k"), api_base_url="http://127.0.0.1:9/v1")
    made.warm_up()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (AnswerGenerator, {}),
        (BatchRelevanceGrader, {"max_documents": 5}),
        (QueryExpander, {"mode": "llm", "strategies": [{"name": "other", "weights": {"bm25": 1.0}}]}),
        (StripRefiner, {"scorer": "llm"}),
        (FollowUpRewriter, {"max_messages": 2}),
    ],
    ids=["answer", "grader", "expander", "refiner", "follow-up"],
)
def test_a_copy_of_what_asks_a_model_asks_the_same_one(kind: Any, settings: dict[str, Any], chat: Any) -> None:
    """With settings of its own."""
    made = kind(chat_generator=chat, **settings)
    copied = deepcopy(made)
    assert copied.chat_generator is chat
    for name, value in settings.items():
        assert getattr(copied, name) == value
        assert not isinstance(value, list) or getattr(copied, name) is not value


def test_a_copy_of_a_grader_shares_its_cache_and_so_does_one_that_is_loaded_with_it() -> None:
    """A second cache would be paid for once more."""
    cache = MemoryGradeCache()
    first = BatchRelevanceGrader(cacheable(), cache=cache)
    second = deepcopy(first)
    page = Document(content="one")
    assert first.run(query=QUESTION, documents=[page])["report"]["llm_calls"] == 1
    assert second.run(query=QUESTION, documents=[page])["report"]["llm_calls"] == 0
    assert deepcopy({"cache": cache})["cache"] is cache


@pytest.mark.parametrize("given", [True, False], ids=["a store", "the YAML's store"])
def test_what_holds_a_lock_or_a_client_may_stand_among_settings(given: bool, in_memory_store: Any, chat: Any) -> None:
    """It is the very object that the pipeline uses, not a copy of it."""
    store = {"store": in_memory_store} if given else {}
    cache, embedder, search = MemoryGradeCache(), StaticTextEmbedder(), SearXNGWebSearch(url="http://127.0.0.1:9")
    own = {"grader": {"cache": cache}, "dense": {"text_embedder": embedder}, "web": {"websearch": search}}
    rag = load("strict_rag", **store, **own, rewriter={"chat_generator": chat})
    parts: dict[str, Any] = {name: rag.pipeline.get_component(name) for name in ("grader", "dense", "web", "rewriter")}
    assert parts["grader"].cache is cache
    assert parts["dense"].text_embedder is embedder
    assert parts["web"].websearch is search
    assert parts["rewriter"].chat_generator is chat


def test_a_copy_of_a_corrective_retriever_searches_the_same_store(in_memory_store: Any) -> None:
    """Used or not, and in a pipeline or not."""
    fill(in_memory_store, [PAGE])
    first = CorrectiveRetriever(in_memory_store, settings={"router": {"max_iterations": 1}})
    assert len(first.run(query=QUESTION)["documents"]) == 1
    second = deepcopy(first)
    assert second.document_store is in_memory_store
    assert second.settings == first.settings
    assert second.settings is not first.settings
    assert len(second.run(query=QUESTION)["documents"]) == 1


def test_corrective_retrievers_may_be_given_one_grader(in_memory_store: Any) -> None:
    """Such as a copy of one that was used: the second refused it, as of another pipeline, at its first question."""
    fill(in_memory_store, [PAGE])
    grader = HeuristicGrader()
    first = CorrectiveRetriever(in_memory_store, grader=grader)
    assert len(first.run(query=QUESTION)["documents"]) == 1
    for other in (deepcopy(first), CorrectiveRetriever(in_memory_store, grader=grader)):
        assert other.grader is grader
        assert len(other.run(query=QUESTION)["documents"]) == 1


def test_a_grader_that_says_what_it_is_equal_to_is_taken(in_memory_store: Any) -> None:
    """As a data class does, by which nothing can be looked up."""
    fill(in_memory_store, [PAGE])
    grader = EqualGrader()
    for _ in range(2):
        assert len(CorrectiveRetriever(in_memory_store, grader=grader).run(query=QUESTION)["documents"]) == 1


def test_corrective_retrievers_with_one_grader_may_be_asked_at_the_same_time(in_memory_store: Any) -> None:
    """Each loads its pipeline with the first question, and only one can have the grader itself."""
    fill(in_memory_store, [PAGE])
    for _ in range(5):
        grader = HeuristicGrader()
        made = [CorrectiveRetriever(in_memory_store, grader=grader) for _ in range(4)]
        with ThreadPoolExecutor(4) as threads:
            found = [*threads.map(lambda one: len(one.run(query=QUESTION)["documents"]), made)]
        assert found == [1, 1, 1, 1]


def test_a_copy_of_a_web_fallback_has_memories_of_its_own() -> None:
    """Its breakers and cool-downs are those of the component."""
    first = WebFallback(SearXNGWebSearch(url="http://127.0.0.1:9"), deny_domains=["example.org"])
    assert first.run(query=QUESTION)["status"] == "failed"
    second = deepcopy(first)
    assert (first.run(query=QUESTION)["status"], second.run(query=QUESTION)["status"]) == ("cooldown", "failed")
    assert second.websearch is first.websearch


@pytest.mark.parametrize(
    "again", [copy, deepcopy, lambda part: pickle.loads(pickle.dumps(part))], ids=["copied", "deep", "pickled"]
)
def test_a_web_search_that_was_used_is_copied_by_its_settings(again: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it trusts cannot be written down, and the password of its setting must not be."""
    monkeypatch.setenv("CRAG_SEARXNG_URL", "https://me:tell-nobody@127.0.0.1:9")
    search = SearXNGWebSearch(top_k=3, engines=["bing"])
    search.warm_up()
    assert b"tell-nobody" not in pickle.dumps(search)
    copied = again(search)
    assert (copied.top_k, copied.engines, copied.is_set_up) == (3, ["bing"], True)
    copied.warm_up()


def test_copies_of_what_computes_compute_the_same(in_memory_store: Any) -> None:
    """A grader that counted a store, and a prompt with a compiled template."""
    fill(in_memory_store, [PAGE])
    grader = HeuristicGrader(document_store=in_memory_store)
    scores = grader.run(query=QUESTION, documents=[PAGE])["scores"]
    assert deepcopy(grader).run(query=QUESTION, documents=[PAGE])["scores"] == scores
    documents = [graded("A refund is paid within 30 days.", 0.9, QUESTION)]
    prompt = EvidencePromptBuilder()
    first, second = (one.run(question=QUESTION, documents=documents) for one in (prompt, deepcopy(prompt)))
    assert first.keys() == second.keys()


@component
class Found:
    """A retriever that holds nothing open."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": [PAGE]}


def test_a_pipeline_that_holds_nothing_open_is_copied_with_its_connections() -> None:
    """And both run; a component by itself is copied without them."""
    parts = {"bm25": Found(), "dense": Found(), "grader": HeuristicGrader()}
    rag = load("corrective_rag", **parts, generator=scripted("Within 30 days [1]."))
    copied = deepcopy(rag)
    first, second = (one.run(query=QUESTION) for one in (rag, copied))
    assert first["answers"][0].data == second["answers"][0].data == "Within 30 days [1]."
    assert first["crag"]["kept"] == second["crag"]["kept"]
    assert copied.pipeline.get_component("prompt") is not rag.pipeline.get_component("prompt")
    alone: Any = deepcopy(parts["grader"])
    assert alone.__haystack_added_to_pipeline__ is None
    Pipeline().add_component("grader", alone)


def test_a_loaded_pipeline_that_cannot_be_copied_says_what_to_do() -> None:
    """Python's words name a queue, and not what it belongs to."""
    rag = load("corrective_retrieval", store=InMemoryDocumentStore())
    with pytest.raises(ConfigurationError, match=r"this pipeline cannot be copied, .*; load it once more"):
        deepcopy(rag)


@pytest.mark.parametrize("cache", [MemoryGradeCache(max_entries=5, tenant="a"), RedisGradeCache(tenant="a")])
def test_a_pickled_cache_is_one_of_the_same_settings_that_keeps_nothing_yet(cache: Any) -> None:
    """So a grader that has one can be sent to another process."""
    cache.write({"key": 0.9}, seconds=0.01)
    made = pickle.loads(pickle.dumps(BatchRelevanceGrader(cacheable(), cache=cache))).cache
    assert (type(made), made.to_dict()) == (type(cache), cache.to_dict())
    assert made.read(["key"], seconds=0.01).scores == {}


def test_a_copy_of_a_retriever_by_vectors_searches_the_same_store(in_memory_store: Any) -> None:
    """As one by words does; a store's own threads cannot be copied."""
    fill(in_memory_store, StaticDocumentEmbedder().run([PAGE])["documents"])
    by_vector = InMemoryEmbeddingRetriever(in_memory_store)
    first = ReportingTextEmbeddingRetriever(retriever=by_vector, text_embedder=StaticTextEmbedder(), timeout_s=9.0)
    second = deepcopy(first)
    assert (second.retriever, second.timeout_s) == (by_vector, 9.0)
    assert len(second.run(query=QUESTION)["documents"]) == 1


@pytest.mark.parametrize("again", [copy, lambda part: pickle.loads(pickle.dumps(part))], ids=["copied", "pickled"])
def test_components_are_pickled_as_their_settings_as_haystacks_own_can_be(again: Any) -> None:
    """Also those that hold a compiled template or a lock, used before, alone or in a pipeline."""
    pages = [Document(content="one"), Document(content="two")]
    grader = BatchRelevanceGrader(cacheable(), max_documents=1)
    web = WebFallback(SearXNGWebSearch(url="http://127.0.0.1:9"), deny_domains=["example.org"])
    prompt = EvidencePromptBuilder(system="Be brief.")
    graded_before = grader.run(query=QUESTION, documents=pages)["scores"]
    assert again(grader).run(query=QUESTION, documents=pages)["scores"] == graded_before
    assert again(web).deny_domains == ["example.org"]
    assert again(prompt).run(question=QUESTION, documents=pages)["prompt"][0].text == "Be brief."

    pipeline = Pipeline()
    pipeline.add_component("grader", grader)
    pipeline.add_component("router", CragRouter())
    pipeline.connect("grader.documents", "router.documents")
    inputs = {"grader": {"query": QUESTION, "documents": pages}, "router": {"query": QUESTION}}
    assert (
        again(pipeline).run(inputs)["router"]["decision"]["kept"] == pipeline.run(inputs)["router"]["decision"]["kept"]
    )
    assert again(pipeline).graph.number_of_edges() == 1
