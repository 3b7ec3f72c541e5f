"""The shipped pipelines on a real Elasticsearch: retrieval, first contact, many at once, and failures that show."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline
from haystack.utils import Secret
from lying_server import lying
from makers import grading_by, scripted, texts
from pytest_httpserver import HTTPServer
from werkzeug import Response

from haystack_integrations.crag.components.elasticsearch_retrievers import ReportingBM25Retriever
from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.components.static_text_embedder import StaticTextEmbedder
from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.pipelines import export, load
from haystack_integrations.crag.store_profiles import elasticsearch_client, open_store, prepare, server_of
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

QUESTION = "Where do penguins live?"
TEXTS = [
    "Penguins live in Antarctica and on southern coasts.",
    "Camels live in hot deserts.",
    "The emperor penguin is the tallest of all penguins.",
    "Tea is made from leaves.",
]
DENSE = {"name": "dense", "weights": {"bm25": 0.0, "dense": 1.0}}


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    """A prepared index with four documents."""
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    assert prepare(made) is True
    documents = [Document(content=text, meta={"source": f"{n}.md"}) for n, text in enumerate(TEXTS)]
    made.write_documents(StaticDocumentEmbedder().run(documents=documents)["documents"])
    yield made
    made.close()


@pytest.fixture
def empty_store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    """A store whose index does not exist yet."""
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    yield made
    made.close()


def agent(store: Any, score: Any = lambda _: 0.9) -> Any:
    """The agent pipeline with scripted words."""
    return load("agent_rag", store=store, grader=grading_by(score), generator=scripted("In Antarctica [1]."))


def test_bm25_dense_and_fused_retrieval_find_the_document(store: Any) -> None:
    """Three strategies of one wiring, each visible in what the documents say of their retrieval."""
    rag = agent(store, lambda text: 0.9 if "Penguins live" in text else 0.1)
    guard = rag.pipeline.get_component("guard")
    for strategy, found_by in (
        ({"name": "bm25", "weights": {"bm25": 1.0, "dense": 0.0}}, {"bm25"}),
        (DENSE, {"dense"}),
        ({"name": "hybrid", "weights": {"bm25": 1.0, "dense": 0.3}}, {"bm25", "dense"}),
    ):
        guard.strategy = strategy
        result = rag.run(query=QUESTION)
        assert texts(result) == [TEXTS[0]]
        assert result["crag"]["retrieval"][0] == strategy["name"]
        assert set(result["documents"][0].meta["crag"]["retrievers"]) == found_by


def test_the_similarity_is_the_cosine_and_not_elasticsearchs_score(store: Any) -> None:
    """(1 + cosine) / 2 of an unrelated text is above 0.5; its cosine is not."""
    rag = agent(store)
    rag.pipeline.get_component("guard").strategy = DENSE
    entry = rag.run(query=QUESTION)["documents"][-1].meta["crag"]["retrievers"]["dense"]
    assert entry["similarity"] == pytest.approx(2 * entry["score"] - 1, abs=1e-5)


def norm(vector: Sequence[float]) -> float:
    """Its length."""
    return sum(number * number for number in vector) ** 0.5


def test_the_cosine_is_exact(store: Any) -> None:
    """Rules and graders go by it, at 0.8 as in memory; vectors kept in 8 bits would have it up to 0.05 wrong."""
    rag = agent(store)
    rag.pipeline.get_component("guard").strategy = DENSE
    of_query = StaticTextEmbedder().run(QUESTION)["embedding"]
    found = rag.run(query=QUESTION)["documents"]
    assert found
    for document in found:
        (embedded,) = StaticDocumentEmbedder().run([Document(content=document.content)])["documents"]
        cosine = sum(a * b for a, b in zip(of_query, embedded.embedding, strict=True))
        told = document.meta["crag"]["retrievers"]["dense"]["similarity"]
        assert told == pytest.approx(cosine / (norm(of_query) * norm(embedded.embedding)), abs=1e-3)


def test_documents_come_back_without_their_vectors(store: Any) -> None:
    """They are searched, never sent."""
    assert all(document.embedding is None for document in store.filter_documents())
    with elasticsearch_client(store) as client:
        index = store.to_dict()["init_parameters"]["index"]
        mapping = client.indices.get_mapping(index=index)[index]["mappings"]
    assert mapping["properties"]["embedding"]["type"] == "dense_vector"
    assert mapping["properties"]["crag"] == {"type": "object", "enabled": False}


def test_the_asynchronous_door_finds_the_same(store: Any) -> None:
    """run and run_async of one pipeline."""
    rag = agent(store, lambda text: 0.9 if "Penguins live" in text else 0.1)

    async def ask() -> dict[str, Any]:
        try:
            return dict(await rag.run_async(query=QUESTION))
        finally:
            await rag.close_async()

    assert texts(asyncio.run(ask())) == texts(rag.run(query=QUESTION)) == [TEXTS[0]]


def test_a_missing_index_is_made_before_the_first_query(empty_store: Any) -> None:
    """The first query of an empty installation finds nothing and says so; it does not fail."""
    result = agent(empty_store).run(query=QUESTION)
    assert result["crag"]["action"] == "abstain"
    assert result["crag"]["trail"][0]["rule"] == "no_documents"
    assert prepare(empty_store) is False


@pytest.mark.parametrize("door", ["threads", "tasks"])
def test_ten_first_queries_at_once_all_succeed(empty_store: Any, door: str) -> None:
    """With the stock store nine of ten fail when the index is missing."""
    rag = agent(empty_store)

    async def ten() -> list[dict[str, Any]]:
        try:
            return list(await asyncio.gather(*(rag.run_async(query=QUESTION) for _ in range(10))))
        finally:
            await rag.close_async()

    if door == "tasks":
        results = asyncio.run(ten())
    else:
        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(lambda _: rag.run(query=QUESTION), range(10)))
    assert [result["crag"]["trail"][0]["rule"] for result in results] == ["no_documents"] * 10


def test_ten_loads_at_once_make_one_index(elasticsearch_url: str, elasticsearch_index: str) -> None:
    """Workers that start together do not trip over each other."""
    stores = [open_store("elasticsearch", elasticsearch_url, elasticsearch_index) for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        made = list(pool.map(prepare, stores))
    assert sum(made) == 1


def test_the_exported_yaml_runs_on_the_server(store: Any, elasticsearch_url: str) -> None:
    """What `crag pipelines export` writes is a whole pipeline."""
    index = store.to_dict()["init_parameters"]["index"]
    text = export("corrective_retrieval", store="elasticsearch", url=elasticsearch_url, index=index)
    pipeline = Pipeline.loads(text)
    targets = yaml.safe_load(text)["inputs"]["query"]
    data: dict[str, Any] = {}
    for path in targets:
        part, socket = path.split(".")
        data.setdefault(part, {})[socket] = QUESTION
    result = pipeline.run(data)
    assert result["record"]["documents"][0].content == TEXTS[0]
    for part in ("bm25", "dense"):
        pipeline.get_component(part).close()


def test_a_long_question_is_stopped_before_the_server(store: Any) -> None:
    """A question of the accepted length is harmless, a longer one never arrives."""
    assert agent(store).run(query="penguin " * 500)["crag"]["documents_before"] > 0
    with pytest.raises(Exception, match="4,096"):
        agent(store).run(query="penguin " * 5000)


def test_special_characters_are_only_words(store: Any) -> None:
    """No query syntax reaches the server."""
    assert agent(store).run(query='penguins AND (live OR "*" NOT /x/ [a TO b]) \\ {')["documents"]


def test_filters_work_on_the_server(store: Any) -> None:
    """The same filter for both retrievers."""
    only = {"field": "meta.source", "operator": "==", "value": "1.md"}
    assert texts(agent(store).run(query=QUESTION, filters=only)) == [TEXTS[1]]


def test_a_server_that_is_down_is_a_clear_error_that_spoils_nothing() -> None:
    """The address without its password, and the way out."""
    store = open_store("elasticsearch", "http://user:secret@127.0.0.1:9", "x")
    with pytest.raises(
        StoreError, match=r"no answer from Elasticsearch at http://127\.0\.0\.1:9.*start the server"
    ) as e:
        agent(store)
    assert "secret" not in str(e.value)


@pytest.mark.parametrize("options", [{}, {"request_timeout": 1}], ids=["the client's timeout", "one's own timeout"])
def test_a_server_that_drips_does_not_hold_the_loading(
    httpserver: HTTPServer, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client's timeout counts from byte to byte, whoever made the store."""
    monkeypatch.setattr("haystack_integrations.crag.elasticsearch.reaching._TIMEOUTS", 0.05)
    over = Event()

    def dripping() -> Iterator[bytes]:
        while not over.wait(0.05):
            yield b" "

    known = {"X-Elastic-Product": "Elasticsearch", "Content-Type": "application/json"}
    httpserver.expect_request("/x").respond_with_handler(lambda _: Response(dripping(), headers=known))
    url = httpserver.url_for("").rstrip("/")
    store = ElasticsearchDocumentStore(hosts=url, index="x", max_retries=0, **options)
    try:
        with pytest.raises(StoreError, match="no answer"), elasticsearch_client(store) as client:
            client.indices.get(index="x")
    finally:
        over.set()


def test_a_server_store_needs_an_address() -> None:
    """Got none, wanted one."""
    with pytest.raises(ConfigurationError, match="--url"):
        open_store("elasticsearch")


def test_the_record_is_plain_json_on_elasticsearch_too(store: Any) -> None:
    """The same record everywhere."""
    assert json.loads(json.dumps(agent(store).run(query=QUESTION)["crag"]))["verdict"] == "correct"


@pytest.mark.parametrize("key", [Secret.from_token("bmFtZTpzZWNyZXQ="), "bmFtZTpzZWNyZXQ="], ids=["token", "text"])
def test_a_store_of_ones_own_with_a_key_of_any_kind_is_prepared(
    elasticsearch_url: str, elasticsearch_index: str, key: Any
) -> None:
    """A key given as a token cannot be serialised; it works all the same, and the index has our mapping."""
    own = ElasticsearchDocumentStore(hosts=elasticsearch_url, index=elasticsearch_index, api_key=key)
    assert agent(own).run(query=QUESTION)["crag"]["action"] == "abstain"
    assert server_of(own).api_key == "bmFtZTpzZWNyZXQ="
    with elasticsearch_client(own) as client:
        mapping = client.indices.get_mapping(index=elasticsearch_index)[elasticsearch_index]["mappings"]
    assert mapping["_meta"] == {"crag": 1}
    own.close()


def test_a_mapping_of_ones_own_is_respected(elasticsearch_url: str, elasticsearch_index: str) -> None:
    """Only the settings of the index are ours then."""
    mapping = {"properties": {"content": {"type": "text"}, "embedding": {"type": "dense_vector", "dims": 256}}}
    own = ElasticsearchDocumentStore(hosts=elasticsearch_url, index=elasticsearch_index, custom_mapping=mapping)
    assert prepare(own) is True
    with elasticsearch_client(own) as client:
        made = client.indices.get_mapping(index=elasticsearch_index)[elasticsearch_index]["mappings"]
    assert made["properties"]["embedding"]["dims"] == 256
    assert "_meta" not in made
    own.close()


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("Where was Alois Rasin born?", "Alois Rašín was born in Smíchov."),
        ("Who founded Malmö?", "Archbishops founded Malmo."),
        ("Wo ist die Strasse?", "Die Straße ist gesperrt."),
    ],
)
def test_words_are_found_with_their_marks_and_without(store: Any, asked: str, held: str) -> None:
    """Many people type none; of popqa's questions that name something with marks, a third lost their page by that."""
    store.write_documents([Document(content=held)])
    assert held in [one.content for one in ReportingBM25Retriever(document_store=store).run(query=asked)["documents"]]


def test_an_index_template_may_say_how_words_are_read(
    elasticsearch_url: str, elasticsearch_index: str, empty_store: Any
) -> None:
    """Who has one for a language of their own finds its words as it says."""
    its_own = {"analyzer": {"default": {"type": "standard", "max_token_length": "40"}}}
    with elasticsearch_client(empty_store) as client:
        client.indices.put_index_template(
            name=elasticsearch_index,
            index_patterns=[f"{elasticsearch_index}*"],
            template={"settings": {"analysis": its_own}},
        )
        try:
            assert prepare(empty_store) is True
            made = client.indices.get_settings(index=elasticsearch_index)[elasticsearch_index]["settings"]["index"]
        finally:
            client.indices.delete_index_template(name=elasticsearch_index)
    assert made["analysis"] == its_own
    assert made["query"] == {"default_field": ["content"]}


def test_an_index_is_made_behind_a_proxy_that_bars_index_templates(
    elasticsearch_url: str, elasticsearch_index: str
) -> None:
    """By a page, where a key without the right gets JSON."""
    with lying(elasticsearch_url) as wire:
        wire.barred = "_index_template"
        store = open_store("elasticsearch", wire.url, elasticsearch_index)
        assert prepare(store) is True
        with elasticsearch_client(store) as client:
            made = client.indices.get_settings(index=elasticsearch_index)[elasticsearch_index]["settings"]["index"]
        store.close()
    assert "analyzer" in made["analysis"]


def test_an_index_is_made_where_the_server_lacks_what_folds_marks(
    empty_store: Any, elasticsearch_index: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A server without its usual modules is told of."""
    assert (
        prepare(empty_store, analysis={"analyzer": {"default": {"type": "custom", "tokenizer": "none_such"}}}) is True
    )
    assert f"the index {elasticsearch_index} is made without its analysis" in caplog.text
