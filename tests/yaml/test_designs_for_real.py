"""The designs that go to the web, with every real part: Elasticsearch for retrieval, a metasearch server."""

from collections.abc import Iterator
from typing import Any

import pytest
from haystack import Document
from makers import asked, run_by_door, scripted

from haystack_integrations.crag.components.static_document_embedder import StaticDocumentEmbedder
from haystack_integrations.crag.pipelines import load
from haystack_integrations.crag.store_profiles import open_store, prepare

QUESTION = "Where do penguins live?"
DESIGNS = ["heuristic_rag", "ranked_rag", "signals_rag", "strict_rag", "paper_rag"]
BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["run", "run_async"])


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    """An index that knows nothing of penguins."""
    made = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    prepare(made)
    documents = [Document(content="Quarterly figures of the dairy.", meta={"source": "dairy.md"})]
    made.write_documents(StaticDocumentEmbedder().run(documents=documents)["documents"])
    yield made
    made.close()


def reply(messages: Any) -> str:
    """A model that finds only web pages relevant, whatever scale it is asked for."""
    scale = 10 if "from 0 to 10" in messages[-1].text else 1
    scores = {key: 0.0 if "dairy" in text else 0.9 * scale for key, text in asked(messages).items()}
    return str(scores).replace("'", '"') if scores else "penguins habitat"


def run(name: str, store: Any, *, asynchronous: bool, **inputs: Any) -> dict[str, Any]:
    """Run a design by one of the doors."""
    rag = load(name, store=store, generator=scripted(reply))
    return run_by_door(rag, asynchronous=asynchronous, query=QUESTION, **inputs)


@BOTH
@pytest.mark.parametrize("name", DESIGNS)
def test_what_the_index_does_not_know_comes_from_the_web(
    name: str, asynchronous: bool, store: Any, searx_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged incorrect, replaced, graded again, labelled with its address; the record tells all of it."""
    monkeypatch.setenv("CRAG_SEARXNG_URL", searx_url)
    result = run(name, store, asynchronous=asynchronous)
    record = result["crag"]
    assert record["trail"][0]["verdict"] == "incorrect"
    assert record["strategy"] == "web"
    assert record["coverage"]["web"] == "ok"
    assert result["documents"]
    for document in result["documents"]:
        assert document.meta["crag"]["origin"] == "web"
        assert document.meta["crag"]["provenance"]["trust"] == "untrusted"
        assert document.meta["url"].startswith("https://example.org/")
        assert document.meta["crag"]["status"] in ("graded", "cached")


@pytest.mark.parametrize("name", DESIGNS)
def test_with_the_web_switched_off_nothing_is_asked(name: str, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is one where nobody listens; the record says `skipped`, and nothing fails."""
    monkeypatch.setenv("CRAG_SEARXNG_URL", "http://127.0.0.1:9")
    result = run(name, store, asynchronous=False, web=False)
    assert result["crag"]["coverage"]["web"] == "skipped"
    assert result["crag"]["web_used"] is False


@pytest.mark.parametrize("name", DESIGNS)
def test_without_a_server_for_the_web_a_run_ends_with_a_reason(name: str, store: Any) -> None:
    """CRAG_SEARXNG_URL is not set: nothing failed, nobody was asked, and no correction by the web is told."""
    result = run(name, store, asynchronous=False)
    assert result["crag"]["coverage"]["web"] == "skipped"
    assert result["crag"]["strategy"] in ("none", "refine")
    assert result["crag"]["iterations"] == 2
