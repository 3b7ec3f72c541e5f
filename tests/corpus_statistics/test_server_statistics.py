"""Statistics of Elasticsearch: exact, cheap, and no question waits long for a server that fails."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from wire import wire_to

from haystack_integrations.crag.corpus_statistics import count_store
from haystack_integrations.crag.corpus_statistics.server import ServerStatistics
from haystack_integrations.crag.errors import StoreError
from haystack_integrations.crag.store_profiles import open_store, prepare
from haystack_integrations.crag.texts.text import terms, words

TEXTS = ["Emma is a novel.", "Two novels by Austen.", "Cities of Europe.", "It costs 3.5 or 1,200."]
DEAD = "http://127.0.0.1:9"


@pytest.fixture
def client(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elasticsearch]:
    """Of a real server, which is given time: what is counted is not how long it takes on a busy machine."""
    monkeypatch.setattr("haystack_integrations.crag.corpus_statistics.server._TIMEOUT_S", 10.0)
    with Elasticsearch(elasticsearch_url) as connected:
        yield connected


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str, client: Elasticsearch) -> Any:
    """Four documents, one of them with a title, in our mapping."""
    opened = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    prepare(opened)
    write(client, elasticsearch_index, TEXTS)
    return opened


def write(client: Elasticsearch, index: str, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        client.index(index=index, id=str(number), document={"content": text, "title": f"Title{number}"})
    client.indices.refresh(index=index)


@contextmanager
def asking(store: Any, clock: Callable[[], float] = lambda: 0.0) -> Iterator[Callable[[str], dict[str, int] | None]]:
    """Ask by a text; gives the frequencies, and the number of documents as the term ``""``."""

    class Clocked(ServerStatistics):
        _timer = staticmethod(clock)

    statistics = Clocked(store)

    def ask(text: str) -> dict[str, int] | None:
        known = statistics.known({term: [word] for word in words(text) for term in terms(word)})
        return None if known is None else {"": known.documents, **known.frequencies}

    try:
        yield ask
    finally:
        statistics.close()


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a server that accepts connections and does with them what it is told."""
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connections.append(connection)
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    for connection in connections:
        connection.close()


def drip(connection: socket.socket) -> None:
    """Send an answer that never ends, a byte at a time."""
    with suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            connection.sendall(b" ")
            time.sleep(0.05)


def test_documents_are_counted_by_the_forms_of_a_word(store: Any) -> None:
    """The server's analyser does not stem: it is asked by the word and its regular forms."""
    with asking(store) as ask:
        assert ask("novel") == {"": 4, "novel": 2}
        assert ask("Novels in which city?") == {"": 4, "novel": 2, "citi": 1}
        assert ask("penguins cost 3.5 and 1,200") == {"": 4, "penguin": 0, "cost": 1, "3.5": 1, "1200": 0}


def test_deleted_documents_are_not_counted_and_all_shards_are(
    elasticsearch_url: str, elasticsearch_index: str, client: Elasticsearch
) -> None:
    """Term vectors would tell of one shard, and of what is gone."""
    client.indices.create(index=elasticsearch_index, settings={"number_of_shards": 3})
    write(client, elasticsearch_index, [f"novel number {number}" for number in range(20)])
    for number in range(5):
        client.delete(index=elasticsearch_index, id=str(number))
    client.indices.refresh(index=elasticsearch_index)
    with asking(open_store("elasticsearch", elasticsearch_url, elasticsearch_index)) as ask:
        assert ask("novel number 17") == {"": 15, "novel": 15, "number": 15, "17": 1}


def test_a_word_that_the_analyser_drops_is_in_all_documents_and_one_that_it_cuts_must_be_whole(
    elasticsearch_url: str, elasticsearch_index: str, client: Elasticsearch
) -> None:
    """A dropped word is not in none, which would make it the rarest of all, and half a word is none."""
    default = {"type": "standard", "stopwords": ["novel", "novels"], "max_token_length": 6}
    analysis = {"analyzer": {"default": default}}
    client.indices.create(index=elasticsearch_index, settings={"analysis": analysis})
    write(client, elasticsearch_index, [*TEXTS, "penguins", "pengui"])
    with asking(open_store("elasticsearch", elasticsearch_url, elasticsearch_index)) as ask:
        assert ask("novel Emma penguins") == {"": 6, "novel": 6, "emma": 1, "penguin": 1}


def test_what_is_known_is_not_asked_again_until_it_is_old(
    store: Any, client: Elasticsearch, elasticsearch_index: str
) -> None:
    """After ten minutes it is."""
    now = [0.0]
    with asking(store, lambda: now[0]) as ask:
        assert ask("novel") == {"": 4, "novel": 2}
        client.delete(index=elasticsearch_index, id="0", refresh=True)
        now[0] = 599.0
        assert ask("novel") == {"": 4, "novel": 2}
        now[0] = 601.0
        assert ask("novel") == {"": 3, "novel": 1}


def test_questions_share_a_connection(store: Any, elasticsearch_url: str, elasticsearch_index: str) -> None:
    """A new one for each would shake hands within the third of a second, and stay open."""
    with wire_to(elasticsearch_url) as wire, asking(open_store("elasticsearch", wire.url, elasticsearch_index)) as ask:
        before = len(wire._open)
        assert [ask(word) for word in ("novel", "austen", "city")] == [
            {"": 4, "novel": 2},
            {"": 4, "austen": 1},
            {"": 4, "citi": 1},
        ]
        assert len(wire._open) == before + 2  # both ends of one


def test_in_an_index_that_grows_all_words_are_counted_at_the_same_moment(
    store: Any, client: Elasticsearch, elasticsearch_index: str
) -> None:
    """A word that was in half of a small index is no rare one of a large index in which it is in half, too."""
    with asking(store) as ask:
        assert ask("novel") == {"": 4, "novel": 2}
        write(client, elasticsearch_index, [*TEXTS[:2], *["novel"] * 8, *["penguin"] * 10])
        assert ask("novel penguin") == {"": 20, "novel": 10, "penguin": 10}
    with asking(store) as ask:
        assert ask("novel") == {"": 20, "novel": 10}
        write(client, elasticsearch_index, ["novel"] * 40)
        assert ask("penguin") == {"": 40, "penguin": 0}
        assert ask("novel") == {"": 40, "novel": 40}


def test_in_an_index_that_shrinks_all_words_are_counted_anew_as_well(
    store: Any, client: Elasticsearch, elasticsearch_index: str
) -> None:
    """A word that was in half of a large index is not in more documents than there are."""
    write(client, elasticsearch_index, ["novel"] * 40)
    with asking(store) as ask:
        assert ask("novel") == {"": 40, "novel": 40}
        for number in range(30):
            client.delete(index=elasticsearch_index, id=str(number))
        client.indices.refresh(index=elasticsearch_index)
        assert ask("penguin") == {"": 10, "penguin": 0}
        assert ask("novel") == {"": 10, "novel": 10}


def test_an_empty_index_tells_nothing_and_is_asked_again(
    elasticsearch_url: str, elasticsearch_index: str, client: Elasticsearch
) -> None:
    """It is being filled."""
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    prepare(store)
    with asking(store) as ask:
        assert ask("novel") is None
        write(client, elasticsearch_index, TEXTS)
        assert ask("novel") == {"": 4, "novel": 2}


def test_a_question_without_end_is_not_asked(store: Any) -> None:
    """It would keep the server busy."""
    with asking(store) as ask:
        assert ask(" ".join(f"x{number}" for number in range(65))) is None
        assert ask(" ".join(f"x{number}" for number in range(64))) is not None


def test_threads_may_ask_at_once(store: Any) -> None:
    """Each gets its own answer."""
    with asking(store, time.monotonic) as ask, ThreadPoolExecutor(8) as pool:
        questions = ["novel", "Emma", "city", "Austen novel"] * 10
        answers = list(pool.map(ask, questions))
    assert answers == [
        {"": 4, **dict(zip(terms(q), (2, 1) if q == "novel" else (1, 2), strict=False))} for q in questions
    ]


def test_a_missing_index_is_not_made_and_found_when_it_is_there(
    elasticsearch_url: str, elasticsearch_index: str, client: Elasticsearch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until the pause is over nobody asks; the log is told once for each outage, without an address."""
    now = [0.0]
    store = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    with caplog.at_level(logging.WARNING), asking(store, lambda: now[0]) as ask:
        assert ask("novel") is None
        assert not client.indices.exists(index=elasticsearch_index)
        prepare(store)
        write(client, elasticsearch_index, TEXTS)
        assert ask("novel") is None
        now[0] = 5.0
        assert ask("novel") == {"": 4, "novel": 2}
        client.indices.delete(index=elasticsearch_index)
        assert ask("Emma") is None
    message, second = [
        record.getMessage() for record in caplog.records if "document frequencies" in record.getMessage()
    ]
    assert "NotFoundError 404" in message
    assert second == message
    assert "127.0.0.1" not in message


@pytest.mark.parametrize("answer", [lambda _: None, drip], ids=["silent", "dripping"])
def test_a_hanging_server_costs_one_question_a_third_of_a_second(answer: Callable[[socket.socket], None]) -> None:
    """The next ones nothing."""
    with listening(answer) as url, asking(open_store("elasticsearch", url)) as ask:
        started = time.monotonic()
        assert ask("novel") is None
        first = time.monotonic() - started
        for _ in range(100):
            assert ask("novel") is None
        rest = time.monotonic() - started - first
    assert 0.25 < first < 5
    assert rest < 5  # with the same wait each, it would be half a minute


def test_a_server_that_is_not_there_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Also when many ask at once; the log is told once."""
    with caplog.at_level(logging.WARNING), asking(open_store("elasticsearch", DEAD)) as ask:
        started = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, ["novel"] * 50)) == {None}
        assert time.monotonic() - started < 10
    assert len([record for record in caplog.records if "document frequencies" in record.getMessage()]) == 1


def test_settings_that_cannot_connect_are_a_failure_too(caplog: pytest.LogCaptureFixture) -> None:
    """Statistics end no run."""
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

    with caplog.at_level(logging.WARNING), asking(ElasticsearchDocumentStore(hosts="no address")) as ask:
        assert ask("novel") is None
    assert "ValueError" in caplog.text


def test_all_documents_of_an_index_are_counted_for_a_file(
    store: Any, client: Elasticsearch, elasticsearch_index: str
) -> None:
    """With their titles, by the grader's own terms; documents without text are none."""
    client.index(index=elasticsearch_index, document={"title": "empty"}, refresh=True)
    counter = count_store(store)
    assert counter.documents == 4
    assert (counter.frequencies["novel"], counter.frequencies["citi"], counter.frequencies["title2"]) == (2, 1, 1)
    assert count_store(store, title_field=None).frequencies["title2"] == 0


def test_counting_a_store_that_does_not_answer_is_an_error() -> None:
    """Unlike at run time: a file that lacks documents would lie."""
    with pytest.raises(StoreError, match="no answer from Elasticsearch"):
        count_store(open_store("elasticsearch", DEAD))
