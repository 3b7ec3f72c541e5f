"""Embedding documents with the shipped model: copies, metadata fields, and None where there is nothing to embed."""

import math

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.errors import ConfigurationError


def test_documents_keep_id_order_and_content_and_gain_a_unit_vector() -> None:
    given = [Document(content="An iron tower."), Document(content="A bank.", meta={"page": 3})]
    documents = StaticDocumentEmbedder().run(given)["documents"]
    assert [(d.id, d.content, d.meta) for d in documents] == [(d.id, d.content, d.meta) for d in given]
    for document in documents:
        assert math.isclose(sum(value * value for value in document.embedding), 1.0, abs_tol=1e-5)


def test_the_given_documents_are_not_changed() -> None:
    given = Document(content="An iron tower.")
    StaticDocumentEmbedder().run([given])
    assert given.embedding is None


def test_a_document_is_embedded_as_its_text_would_be() -> None:
    document = StaticDocumentEmbedder().run([Document(content="An iron tower.")])["documents"][0]
    assert document.embedding == StaticTextEmbedder().run("An iron tower.")["embedding"]


def test_metadata_fields_come_before_the_content() -> None:
    embedder = StaticDocumentEmbedder(meta_fields_to_embed=["title", "missing", "year"], embedding_separator=" | ")
    document = Document(content="It opened.", meta={"title": "Eiffel Tower", "year": 1889})
    found = embedder.run([document])["documents"][0].embedding
    assert found == StaticTextEmbedder().run("Eiffel Tower | 1889 | It opened.")["embedding"]


def test_a_separator_that_is_no_text_is_refused_at_once() -> None:
    """As a YAML's setting that was left empty, and not when the first document is embedded."""
    with pytest.raises(ConfigurationError, match="got None for embedding_separator, wanted a text"):
        StaticDocumentEmbedder(embedding_separator=None)  # type: ignore[arg-type]


def test_a_field_that_is_not_in_a_list_is_refused() -> None:
    """Read letter by letter it would name fields that no document has, and no title would be embedded."""
    with pytest.raises(ConfigurationError, match="got a str for meta_fields_to_embed, wanted a list of texts"):
        StaticDocumentEmbedder(meta_fields_to_embed="title")  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [None, "", " \n", "🤖"])
def test_a_document_without_a_known_token_has_no_embedding(content: str | None) -> None:
    stale = Document(content=content, embedding=[1.0, 0.0])
    assert StaticDocumentEmbedder().run([stale])["documents"][0].embedding is None


def test_many_documents_come_back_in_order() -> None:
    given = [Document(content=f"Report number {number} on towers.") for number in range(150)]
    documents = StaticDocumentEmbedder().run(given)["documents"]
    assert [d.content for d in documents] == [d.content for d in given]
    alone = StaticDocumentEmbedder().run([given[149]])["documents"][0]
    assert documents[149].embedding == pytest.approx(alone.embedding, abs=1e-6)


def test_no_documents_give_no_documents() -> None:
    assert StaticDocumentEmbedder().run([]) == {"documents": []}


def test_anything_but_documents_is_refused_with_the_right_component() -> None:
    with pytest.raises(TypeError, match="to embed a text use StaticTextEmbedder"):
        StaticDocumentEmbedder().run("text")  # type: ignore[arg-type]


def test_a_missing_folder_is_refused_at_warm_up() -> None:
    with pytest.raises(ConfigurationError, match="is no folder"):
        StaticDocumentEmbedder(model="/nowhere/at/all").warm_up()


def test_indexing_and_asking_meet_in_a_store() -> None:
    """Text and document embedder live in one space: a question finds its document."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    contents = ["The tower is built of wrought iron.", "The bank raised its rate.", "Bees collect nectar from flowers."]
    store.write_documents(StaticDocumentEmbedder().run([Document(content=text) for text in contents])["documents"])
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    found = pipeline.run({"embedder": {"text": "What do bees gather?"}})["retriever"]["documents"]
    assert found[0].content == contents[2]


def test_settings_survive_yaml() -> None:
    embedder = StaticDocumentEmbedder(model="models/mine", meta_fields_to_embed=["title"], embedding_separator=" - ")
    pipeline = Pipeline()
    pipeline.add_component("embedder", embedder)
    loaded = Pipeline.loads(pipeline.dumps()).get_component("embedder")
    assert (loaded.model, loaded.meta_fields_to_embed, loaded.embedding_separator) == ("models/mine", ["title"], " - ")
