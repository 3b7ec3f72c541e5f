"""A question's vector and those of the documents come from one model; where they do not, someone is told what to do."""

import logging
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.retrievers.elasticsearch import ElasticsearchEmbeddingRetriever
from haystack_integrations.crag.cli.store_checks import store_checks
from haystack_integrations.crag.components import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import CorrectiveRetriever, export, load
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.vectors import stored_size
from haystack_integrations.crag.store_profiles import elasticsearch_client
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

TEXT = "A refund is paid within 14 days after the goods have arrived."
QUESTION = "When is a refund paid?"
BOTH = re.escape("vectors of 3 numbers, but 'dense' would ask with 256 (StaticTextEmbedder)")


@component
class ThreeNumbers:
    """An embedder of another model: it does not say beforehand how long its vectors are."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": [0.6, 0.8, float(len(text) > 0)]}


@pytest.fixture
def cluster(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    """A store as Haystack's own writer leaves it."""
    opened = ElasticsearchDocumentStore(hosts=elasticsearch_url, index=elasticsearch_index)
    opened.write_documents([Document(content=TEXT, embedding=[0.6, 0.8, 0.0])], refresh=True)
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "cluster"])
def store(request: pytest.FixtureRequest) -> Any:
    """A document with a vector of three numbers, on either store."""
    if request.param == "cluster":
        return request.getfixturevalue("cluster")
    opened = InMemoryDocumentStore()
    opened.write_documents([Document(content=TEXT, embedding=[0.6, 0.8, 0.0])])
    return opened


def test_a_pipeline_is_not_loaded_on_vectors_of_another_length(store: Any) -> None:
    for start in (lambda: load("corrective_retrieval", store=store), lambda: CorrectiveRetriever(store).warm_up()):
        with pytest.raises(ConfigurationError, match=BOTH) as refused:
            start()
        assert 'dense={"text_embedder": ...}' in str(refused.value)


def test_the_way_out_that_the_message_names_works(store: Any) -> None:
    rag = load("corrective_retrieval", store=store, dense={"text_embedder": ThreeNumbers()})
    assert rag.run(query=QUESTION)["crag"]["verdict"] == "correct"


def test_a_retriever_of_ones_own_before_which_our_embedder_is_put_is_checked_too() -> None:
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever

    store = InMemoryDocumentStore()
    store.write_documents([Document(content=TEXT, embedding=[0.6, 0.8, 0.0])])
    with pytest.raises(ConfigurationError, match=BOTH):
        load("corrective_retrieval", store=store, dense=InMemoryEmbeddingRetriever(store))


def test_documents_without_vectors_and_an_empty_store_are_no_mismatch() -> None:
    store = InMemoryDocumentStore()
    load("corrective_retrieval", store=store)
    store.write_documents([Document(content=TEXT)])
    assert stored_size(store) is None
    assert load("corrective_retrieval", store=store).run(query=QUESTION)["crag"]["verdict"] == "correct"


def test_the_length_of_vectors_is_told_of_a_store_that_others_write_into_meanwhile() -> None:
    """As of a server whose documents come while its pipelines are loaded."""
    store, is_over = InMemoryDocumentStore(), Event()
    store.write_documents([Document(id=str(number), content=TEXT) for number in range(20_000)])

    def write() -> None:
        for number in count(20_000):
            if is_over.is_set():
                return
            store.write_documents([Document(id=str(number), content=TEXT)])

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            assert {stored_size(store) for _ in range(200)} == {None}
        finally:
            is_over.set()
        writing.result()


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("FAISSDocumentStore", "embedding_dim"),
        ("QdrantDocumentStore", "embedding_dim"),
        ("PgvectorDocumentStore", "embedding_dimension"),
    ],
)
def test_a_store_of_another_vendor_says_by_its_setting_how_long_its_vectors_are(name: str, setting: str) -> None:
    """FAISS refuses others by an assertion without a word, and finds nothing for a question of another length."""
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever

    memory = InMemoryDocumentStore()
    theirs = type(name, (), {setting: 768, "write_documents": None})()
    parts = {"bm25": InMemoryBM25Retriever(memory), "dense": InMemoryEmbeddingRetriever(memory)}
    with pytest.raises(ConfigurationError, match=re.escape("vectors of 768 numbers, but 'dense' would ask with 256")):
        load("corrective_retrieval", store=theirs, **parts)
    assert stored_size(type("OwnStore", (), {setting: 768})()) is None


def test_vectors_of_another_length_are_not_written_beside_those_of_a_store(store: Any, tmp_path: Path) -> None:
    before = store.count_documents()
    (tmp_path / "a.md").write_text("A new page.")
    with pytest.raises(ConfigurationError, match=re.escape("vectors of 3 numbers, those to be written 256")):
        index(tmp_path, store)
    assert store.count_documents() == before == 1


def test_the_doctor_names_both_lengths(cluster: Any) -> None:
    found = {check.name: check for check in store_checks(cluster)}["vectors"]
    assert (found.status, found.found) == ("warning", "of 3 dimensions, but the shipped pipelines search with 256")


def test_the_doctor_sees_vectors_that_fit_and_none(cluster: Any) -> None:
    name = cluster._index
    with elasticsearch_client(cluster) as client:
        client.indices.delete(index=name)
        client.indices.create(index=name, mappings={"properties": {"content": {"type": "text"}}})
        assert {check.name: check.status for check in store_checks(cluster)}["vectors"] == "info"
        size = StaticTextEmbedder().dimension
        client.indices.put_mapping(index=name, properties={"embedding": {"type": "dense_vector", "dims": size}})
        assert {check.name: check.status for check in store_checks(cluster)}["vectors"] == "ok"


@pytest.mark.parametrize(
    ("compared", "is_cosine"),
    [("cosine", True), ("dot_product", True), ("l2_norm", False), ("max_inner_product", False)],
)
def test_a_score_is_read_as_a_cosine_only_where_the_index_compares_by_it(
    elasticsearch_url: str, elasticsearch_index: str, compared: Any, is_cosine: bool
) -> None:
    """The distance of small vectors would read as .99, and a negative product as the better the worse it is."""
    store = ElasticsearchDocumentStore(
        hosts=elasticsearch_url, index=elasticsearch_index, embedding_similarity_function=compared
    )
    pages = StaticDocumentEmbedder().run(
        [Document(content=TEXT), Document(content="Bicycles are repaired on Mondays.")]
    )
    store.write_documents(pages["documents"], refresh=True)
    found = load("corrective_retrieval", store=store).run(query=QUESTION, mode="off")["documents"]
    said = [document.meta["crag"]["retrievers"]["dense"].get("similarity") for document in found]
    assert [one is not None for one in said] == [is_cosine] * 2
    store.close()


@pytest.mark.parametrize(("compared", "is_cosine"), [("cosine", True), ("l2_norm", False)])
@pytest.mark.parametrize("way", ["a YAML with its own store", "retrievers of one's own"])
def test_a_store_that_load_is_not_given_is_asked_how_it_compares_vectors(
    elasticsearch_url: str, elasticsearch_index: str, tmp_path: Path, compared: Any, is_cosine: bool, way: str
) -> None:
    """What stands in the YAML was written for another index: by a distance, a rule would read a high cosine."""
    store = ElasticsearchDocumentStore(
        hosts=elasticsearch_url, index=elasticsearch_index, embedding_similarity_function=compared
    )
    store.write_documents(StaticDocumentEmbedder().run([Document(content=TEXT)])["documents"], refresh=True)
    if way == "a YAML with its own store":
        mine = tmp_path / "mine.yml"
        mine.write_text(export("corrective_retrieval", "elasticsearch", elasticsearch_url, elasticsearch_index))
        rag = load(mine)
    else:
        by_vector = ElasticsearchEmbeddingRetriever(document_store=store)
        rag = load("corrective_retrieval", bm25=ReportingBM25Retriever(document_store=store), dense=by_vector)
    said = rag.run(query=QUESTION)["documents"][0].meta["crag"]["retrievers"]["dense"]
    assert ("similarity" in said) == is_cosine
    if is_cosine:
        assert said["similarity"] == pytest.approx(2 * said["score"] - 1, abs=1e-5)
    rag.close()
    store.close()


def test_where_the_server_of_a_yaml_does_not_answer_it_loads_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It may be up by the first question; that its scores are taken for cosines is no secret."""
    mine = tmp_path / "mine.yml"
    mine.write_text(export("corrective_retrieval", "elasticsearch", "http://127.0.0.1:9", "manuals"))
    fuse: Any = load(mine).pipeline.get_component("fuse")
    assert fuse.similarity == {"dense": "half_cosine"}
    assert "could not be asked how it compares vectors" in caplog.text


@pytest.mark.parametrize(("length", "is_cosine"), [(1.0, True), (0.5, False)])
def test_a_dot_product_in_memory_is_a_cosine_of_vectors_of_length_1_only(length: float, is_cosine: bool) -> None:
    """Haystack's store compares by it unless told otherwise; what other vectors give may look like a cosine."""
    store = InMemoryDocumentStore()
    (page,) = StaticDocumentEmbedder().run([Document(content=TEXT)])["documents"]
    store.write_documents([replace(page, embedding=[length * value for value in page.embedding or ()])])
    said = load("corrective_retrieval", store=store).run(query=QUESTION)["documents"][0].meta["crag"]["retrievers"]
    assert ("similarity" in said["dense"]) == is_cosine


def test_a_scaled_score_in_memory_is_read_as_half_a_cosine() -> None:
    """As the retriever gives it."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(StaticDocumentEmbedder().run([Document(content=TEXT)])["documents"])
    rag = load("corrective_retrieval", store=store, dense={"scale_score": True})
    said = rag.run(query=QUESTION)["documents"][0].meta["crag"]["retrievers"]["dense"]
    assert said["similarity"] == pytest.approx(2 * said["score"] - 1, abs=1e-5)


@component
class Elsewhere:
    """The retriever by vectors of a store that no profile is for: it gives the score that it is told to."""

    def __init__(self, store: str, score: float = 0.9, **settings: Any) -> None:
        self.score, self._scale_score = score, settings.pop("scale_score", False)
        self._document_store = type(store, (), settings)()

    @component.output_types(documents=list[Document])
    def run(self, query_embedding: list[float], filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
        return {"documents": [Document(content=TEXT, score=self.score)]}


@pytest.mark.parametrize(
    ("dense", "wanted"),
    [
        (Elsewhere("QdrantDocumentStore", similarity="cosine"), 0.9),
        (Elsewhere("QdrantDocumentStore", similarity="cosine", scale_score=True), 0.8),
        (Elsewhere("QdrantDocumentStore", similarity="euclid"), None),
        (Elsewhere("PgvectorDocumentStore", vector_function="cosine_similarity"), 0.9),
        (Elsewhere("PgvectorDocumentStore", vector_function="l2_distance"), None),
        (Elsewhere("WeaviateDocumentStore"), 0.8),
        (Elsewhere("FAISSDocumentStore", index_string="Flat"), None),
    ],
    ids=lambda one: getattr(one, "_document_store", None) and type(one._document_store).__name__,
)
def test_a_store_without_a_profile_is_read_as_its_scores_are_made(dense: Any, wanted: float | None) -> None:
    """Weaviate's certainty of 0.9 is a cosine of 0.8, FAISS's 0.9 is `1 / (1 + distance)`: a rule approved by them."""
    found = load("corrective_retrieval", store=InMemoryDocumentStore(), dense=dense).run(query=QUESTION)["documents"]
    assert found[0].meta["crag"]["retrievers"]["dense"].get("similarity") == wanted


def test_what_the_scores_of_ones_own_store_are_can_be_said() -> None:
    """It holds, whatever the store."""
    said = {"dense": Elsewhere("MyStore"), "fuse": {"similarity": {"dense": "half_cosine"}}}
    found = load("corrective_retrieval", store=InMemoryDocumentStore(), **said).run(query=QUESTION)["documents"]
    assert found[0].meta["crag"]["retrievers"]["dense"]["similarity"] == 0.8


def hybrid(store: InMemoryDocumentStore) -> SuperComponent:
    """Search by words and by vectors in one component, by Haystack's own fusion: the best score is 1, whatever fits."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store))
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    for sender, receiver in (("embedder", "dense.query_embedding"), ("bm25", "join"), ("dense", "join")):
        pipeline.connect(sender, receiver)
    inputs = {"query": ["bm25.query", "embedder.text"]}
    inputs |= {name: [f"bm25.{name}", f"dense.{name}"] for name in ("filters", "top_k")}
    return SuperComponent(pipeline, inputs, {"join.documents": "documents"})


def test_fused_scores_of_a_hybrid_that_is_passed_pass_for_no_cosines() -> None:
    """A grader took the ranks of Haystack's joiner, 1.0 for the best, for similarities, and a rule approved by them."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(StaticDocumentEmbedder().run([Document(content=TEXT)])["documents"])
    for dense, kept in ((hybrid(store), False), (CorrectiveRetriever(store, mode="observe"), False), (None, True)):
        found = load("corrective_retrieval", store=store, dense=dense).run(query=QUESTION)
        assert ("similarity" in found["documents"][0].meta["crag"]["retrievers"]["dense"]) is kept
    said = {"dense": hybrid(store), "fuse": {"similarity": {"dense": "cosine"}}}
    found = load("corrective_retrieval", store=store, **said).run(query=QUESTION)
    assert found["documents"][0].meta["crag"]["retrievers"]["dense"]["similarity"] == 1.0  # somebody said so


@pytest.mark.parametrize("kind", [{"type": "dense_vector", "dims": 256, "index": False}, {"type": "float"}])
def test_vectors_that_cannot_be_searched_are_told_before_the_first_question(cluster: Any, kind: dict[str, Any]) -> None:
    """By `load`, and by the doctor that an error sends to; a retriever of one's own need not mind."""
    with elasticsearch_client(cluster) as client:
        client.indices.delete(index=cluster._index)
        fields = {"content": {"type": "text"}, "embedding": kind}
        client.indices.create(index=cluster._index, mappings={"properties": fields})
    with pytest.raises(ConfigurationError, match="the field 'embedding' of this index cannot be searched by vectors"):
        load("corrective_retrieval", store=cluster)
    assert {check.name: check.status for check in store_checks(cluster)}["vectors"] == "error"
    load("corrective_retrieval", store=cluster, dense=ReportingBM25Retriever(document_store=cluster))


def test_texts_in_another_field_are_told_instead_of_found_empty(cluster: Any) -> None:
    """All questions would end as if nothing answered. An index that holds nothing yet may still get the field."""
    name, fields = cluster._index, {"body": {"type": "text"}, "vector": {"type": "dense_vector", "dims": 256}}
    with elasticsearch_client(cluster) as client:
        client.indices.delete(index=name)
        client.indices.create(index=name, mappings={"properties": fields})
        load("corrective_retrieval", store=cluster)
        client.index(index=name, document={"body": TEXT}, refresh=True)
    with pytest.raises(ConfigurationError, match=r"has the field 'content', .* its fields are \['body', 'vector'\]"):
        load("corrective_retrieval", store=cluster)
    assert {check.name: check.status for check in store_checks(cluster)}["index"] == "error"


def test_loading_asks_an_index_for_its_fields_once(cluster: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Whether it can be searched, what its scores are and how long its vectors are is all in one answer."""
    with caplog.at_level(logging.INFO, logger="elastic_transport.transport"):
        load("corrective_retrieval", store=cluster, dense={"text_embedder": ThreeNumbers()})
    assert sum("/_mapping" in record.getMessage() for record in caplog.records) == 1


def test_the_doctor_asks_an_index_for_its_fields_once_for_its_vectors(
    cluster: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Another time it asks for whether the index is ours; each check stands for itself."""
    with caplog.at_level(logging.INFO, logger="elastic_transport.transport"):
        assert {check.name for check in store_checks(cluster)} >= {"index", "vectors"}
    assert sum("/_mapping" in record.getMessage() for record in caplog.records) == 2
