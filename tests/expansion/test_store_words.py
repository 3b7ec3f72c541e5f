"""A misspelt word is searched for as a store in memory spells it, too."""

import sys
import threading
import time
from typing import Any
from unittest.mock import patch

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from makers import fill, run_by_door

from haystack_integrations.crag.components import StopWordRemover
from haystack_integrations.crag.expansion import store_words
from haystack_integrations.crag.pipelines import load

HARBOUR, VINLAND = "The harbour of Kestrel is in the north.", "Leif Eriksson reached Vinland by ship."
TEXTS = [HARBOUR, VINLAND, "Bread is baked in the village.", "Karlsson lives on the roof."]


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    fill(in_memory_store, [Document(content=text) for text in TEXTS])
    return in_memory_store


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Erikssson", VINLAND),
        ("Eriskson", VINLAND),
        ("Eriksson Vinlamd", VINLAND),
        ("Where is Kestrle?", HARBOUR),
        ("kestral", HARBOUR),
        ("Kestrl", HARBOUR),
    ],
)
def test_a_misspelt_word_finds_what_the_word_that_was_meant_finds(store: Any, query: str, text: str) -> None:
    """A letter left out, doubled, exchanged or swapped; the query keeps its own words."""
    asked = StopWordRemover(document_store=store).run(query)["query"]
    assert asked.startswith(StopWordRemover().run(query)["query"])
    assert InMemoryBM25Retriever(store, top_k=1).run(query=asked)["documents"][0].content == text


@pytest.mark.parametrize(
    "query",
    [
        "Eriksson Vinland",
        "Where is the shop?",
        "roof of a house",
        "Xriksson",
        "Erikssonnen",
        "Lief",
        "2000 X-200",
        "漢字",
    ],
)
def test_a_word_that_is_known_short_or_further_away_stays_alone(store: Any, query: str) -> None:
    """So does one that English has, or that begins otherwise."""
    assert StopWordRemover(document_store=store).run(query) == StopWordRemover().run(query)


@pytest.mark.parametrize("other", [None, object(), InMemoryDocumentStore()])
def test_without_a_store_that_tells_its_words_nothing_is_looked_up(other: Any) -> None:
    assert StopWordRemover(document_store=other).run("Erikssson") == {"query": "Erikssson"}


def test_of_several_near_words_the_one_of_most_documents_is_taken(in_memory_store: Any) -> None:
    fill(in_memory_store, [Document(content=text) for text in ("Hansen sings.", "Hanson sang.", "Hanson sings again.")])
    assert StopWordRemover(document_store=in_memory_store).run("Hansxn") == {"query": "Hansxn hanson"}


def test_a_query_whose_words_are_known_costs_no_look_at_the_others(store: Any) -> None:
    """Each question is looked through, and nearly all are spelt rightly."""
    with patch.object(store_words, "_one_letter_away") as looked:
        StopWordRemover(document_store=store).run("Where did Eriksson find Vinland, and who baked bread?")
    looked.assert_not_called()


@pytest.mark.parametrize(
    "query", ["q" * 4_096, " ".join(f"{'qz' * 14}{sign}" for sign in "abcdefghijklmnopqrstuvw" * 6)]
)
def test_a_hostile_question_costs_milliseconds(store: Any, query: str) -> None:
    """It is looked through on the event loop; a word of 4,000 letters has 240,000 neighbours as long as itself."""
    remover = StopWordRemover(document_store=store)
    remover.run("warm up Erikssson")
    started = time.process_time()
    remover.run(query)
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_shipped_pipeline_finds_what_a_misspelt_question_asks_for(in_memory_store: Any, asynchronous: bool) -> None:
    """Without vectors no search found anything, and it abstained."""
    in_memory_store.write_documents([Document(content=text) for text in TEXTS])
    rag = load("corrective_retrieval", store=in_memory_store)
    (found,) = run_by_door(rag, asynchronous=asynchronous, query="Where is Kestrle?")["documents"]
    assert found.content == HARBOUR
    loaded: Any = Pipeline.loads(rag.pipeline.dumps()).get_component("keywords")
    assert loaded.document_store.to_dict() == in_memory_store.to_dict()


def test_a_store_that_is_written_to_meanwhile_ends_no_question(store: Any) -> None:
    """Its words were read one by one while others came: each question in German raised."""
    remover, over = StopWordRemover(document_store=store), threading.Event()
    fill(store, [Document(content="Darf ein Hund in den Zug? Hunde sind nicht verboten, und das ist gut.")])

    def write() -> None:
        number = 0
        while not over.is_set():
            number += 1
            fill(store, [Document(content=" ".join(f"wort{number}x{other}" for other in range(50)))])

    writer, before = threading.Thread(target=write), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        writer.start()
        asked = {remover.run("Darf ich einen Hund halten?")["query"] for _ in range(100)}
    finally:
        over.set()
        writer.join()
        sys.setswitchinterval(before)
    assert asked == {"Hund halten? hunde"}
