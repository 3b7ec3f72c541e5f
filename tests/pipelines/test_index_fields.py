"""An index that somebody else made can be searched, or it is said before the first question why it cannot."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines import load
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

TEXT = "A refund is paid within 14 days after the goods have arrived."
QUESTION = "When is a refund paid?"

Made = Callable[..., Any]


@pytest.fixture
def made(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Made]:
    """Make an index with a mapping and documents; gives its store."""
    with Elasticsearch(elasticsearch_url) as client:

        def make(*documents: dict[str, Any], name: str = elasticsearch_index, **mappings: Any) -> Any:
            client.indices.create(index=name, mappings=mappings or None)
            for document in documents:
                client.index(index=name, document=document, refresh=True)
            return ElasticsearchDocumentStore(hosts=elasticsearch_url, index=name)

        yield make


@pytest.mark.parametrize(
    ("mapping", "content", "got"),
    [
        ({"content": {"type": "keyword"}}, TEXT, "wanted the type text, but got keyword"),
        ({"content": {"type": "text", "index": False}}, TEXT, "but got text that is not indexed"),
        ({"content": {"properties": {"en": {"type": "text"}}}}, {"en": TEXT}, "but got object"),
        ({"content": {"type": "alias", "path": "body"}, "body": {"type": "text"}}, None, "but got alias"),
        ({}, 14, "but got long"),
        ({}, [TEXT], "gives a list as 'content' of a document, wanted a string"),
    ],
)
def test_a_text_that_no_search_by_words_finds_is_told_before_the_first_question(
    made: Made, mapping: dict[str, Any], content: Any, got: str
) -> None:
    """Every question would end as if nothing answered, or in an error of the server's."""
    store = made({"body": TEXT} | ({} if content is None else {"content": content}), properties=mapping)
    with pytest.raises(ConfigurationError, match=got) as refused:
        load("corrective_retrieval", store=store)
    assert "copy the documents into an index that has their text as 'content'" in str(refused.value)


@pytest.mark.parametrize("mappings", [{"enabled": False}, {"dynamic": False}])
def test_documents_of_which_nothing_is_mapped_are_told_instead_of_found_empty(
    made: Made, mappings: dict[str, Any]
) -> None:
    with pytest.raises(ConfigurationError, match=r"has the field 'content', .* its fields are \[\]"):
        load("corrective_retrieval", store=made({"content": TEXT}, **mappings))


def test_a_text_that_the_mapping_keeps_from_coming_back_is_told(made: Made) -> None:
    """Documents would be found, and judged without a word of them."""
    store = made({"content": TEXT}, _source={"excludes": ["content"]})
    with pytest.raises(ConfigurationError, match=r"gives nothing .* as 'content' of a document"):
        load("corrective_retrieval", store=store)


def test_one_of_several_indices_without_the_text_is_a_warning(
    made: Made, elasticsearch_url: str, elasticsearch_index: str, caplog: pytest.LogCaptureFixture
) -> None:
    """An alias that names them answers from the others; one that was just made has no fields yet."""
    names = [f"{elasticsearch_index}-{number}" for number in range(3)]
    made({"content": TEXT}, name=names[0])
    made(name=names[1])
    with Elasticsearch(elasticsearch_url) as client:
        client.indices.put_alias(index=",".join(names[:2]), name=elasticsearch_index)
        store = ElasticsearchDocumentStore(hosts=elasticsearch_url, index=elasticsearch_index)
        load("corrective_retrieval", store=store)
        assert "lack the field" not in caplog.text
        made({"body": TEXT}, name=names[2])
        client.indices.put_alias(index=names[2], name=elasticsearch_index)
    rag = load("corrective_retrieval", store=store)
    assert "1 of the 2 indices of" in caplog.text
    assert rag.run(query=QUESTION)["crag"]["verdict"] == "correct"


def test_only_the_text_is_searched_and_no_metadata(made: Made) -> None:
    """An index made elsewhere searches all its fields: a title without a text passed for an answer."""
    store = made({"content": "", "title": TEXT}, {"content": "Dogs bark.", "author": "Paid Refund"})
    result = load("corrective_retrieval", store=store).run(query=QUESTION)
    assert (result["documents"], result["crag"]["documents_before"]) == ([], 0)


def test_a_long_question_is_searched_for_in_an_index_of_many_fields(made: Made) -> None:
    """400 fields and 300 words were 120,000 clauses: a server of 512 MB came to its end."""
    store = made({"content": TEXT, **{f"field_{number}": "value" for number in range(400)}})
    question = " ".join([QUESTION, *(f"word{number}" for number in range(300))])
    record = load("corrective_retrieval", store=store).run(query=question)["crag"]
    assert record["trail"][0]["retrieval"]["status"] == "ok"
    assert record["documents_before"] == 1


@pytest.mark.parametrize("kind", ["byte", "bit"])
def test_vectors_of_whole_numbers_are_told_where_the_question_has_fractions(made: Made, kind: str) -> None:
    """Elasticsearch would refuse every question; an embedder of one's own may give what it wants."""
    embedding = {"type": "dense_vector", "dims": 256, "element_type": kind}
    store = made(
        {"content": TEXT, "embedding": [1] * (32 if kind == "bit" else 256)},
        properties={"content": {"type": "text"}, "embedding": embedding},
    )
    with pytest.raises(
        ConfigurationError, match=f"vectors of the element_type {kind}, and the question's has fractions"
    ):
        load("corrective_retrieval", store=store)


def test_documents_without_vectors_are_a_warning_and_an_empty_index_is_none(
    made: Made, elasticsearch_index: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Else a search by vectors that never finds anything looks like one that does."""
    load("corrective_retrieval", store=made(name=f"{elasticsearch_index}-empty"))
    assert "have no vector" not in caplog.text
    rag = load("corrective_retrieval", store=made({"content": TEXT, "vector": [0.5] * 256}))
    assert "1 of 1 documents have no vector in the field 'embedding'; they are found by words only" in caplog.text
    assert rag.run(query=QUESTION)["crag"]["verdict"] == "correct"
