"""Which source tells: the store, else the file, else nobody; and `crag index --statistics`."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_runner import crag, refused, two_documents
from haystack import Document

from haystack_integrations.crag.cli.errors import ExitCode
from haystack_integrations.crag.corpus_statistics import (
    StatisticsSource,
    collect,
    memory,
    read_statistics,
    write_statistics,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.store_profiles import open_store

QUESTION = "Which novels did Austen write?"
TEXTS = ["A novel.", "Austen's novels.", "Austen"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A file with statistics of three documents."""
    write_statistics(collect(TEXTS), tmp_path / "corpus.json")
    return tmp_path / "corpus.json"


@pytest.fixture
def store(in_memory_store: Any) -> Any:
    """A store with one document."""
    in_memory_store.write_documents([Document(content="A novel.")])
    return in_memory_store


def test_the_store_comes_before_the_file(store: Any, corpus: Path) -> None:
    """It knows the documents that are there now."""
    known = StatisticsSource(file=corpus, store=store).resolve(QUESTION)
    assert known is not None
    assert (known.origin, known.documents) == ("store", 1)
    assert known.frequency(["novel", "austen"]) == {"novel": 1, "austen": 0}


def test_the_file_tells_where_there_is_no_store(corpus: Path) -> None:
    """Also in place of a store of a kind that tells nothing."""
    for store in (None, SimpleNamespace(write_documents=None)):
        known = StatisticsSource(file=corpus, store=store).resolve(QUESTION)
        assert known is not None
        assert (known.origin, known.documents) == ("file", 3)
        assert known.frequency(["novel", "austen"]) == {"novel": 2, "austen": 2}


def test_the_file_tells_where_the_server_is_down(corpus: Path) -> None:
    """And without a file nobody does."""
    dead = open_store("elasticsearch", "http://127.0.0.1:9")
    known = StatisticsSource(file=corpus, store=dead).resolve(QUESTION)
    assert known is not None
    assert known.origin == "file"
    assert StatisticsSource(store=dead).resolve(QUESTION) is None


def test_a_corpus_without_documents_tells_nothing(tmp_path: Path, in_memory_store: Any) -> None:
    """A store that is still empty, and the file of one."""
    write_statistics(collect([]), tmp_path / "empty.json")
    assert StatisticsSource(file=tmp_path / "empty.json", store=in_memory_store).resolve(QUESTION) is None


def test_a_store_that_is_too_large_leaves_it_to_the_file(
    store: Any, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which was counted when there was time."""
    monkeypatch.setattr(memory, "MOST_DOCUMENTS", 0)
    known = StatisticsSource(file=corpus, store=store).resolve(QUESTION)
    assert known is not None
    assert known.origin == "file"


def test_a_question_without_words_or_with_stop_words_only_is_none_to_fail_on(store: Any, corpus: Path) -> None:
    """There is nothing to tell of its terms."""
    for query in ("", "?!", "Who was it?", "\ud800"):
        for source in (StatisticsSource(store=store), StatisticsSource(file=corpus)):
            known = source.resolve(query)
            assert known is not None
            assert known.documents


def test_a_bad_file_is_an_error_at_warm_up(tmp_path: Path, store: Any) -> None:
    """Though the store would tell: it is what the file is kept for that matters."""
    with pytest.raises(ConfigurationError, match="no statistics at"):
        StatisticsSource(file=tmp_path / "none.json", store=store).warm_up()


def test_indexing_counts_the_whole_index_and_nothing_twice(tmp_path: Path, place: list[str]) -> None:
    """A second run writes the same file; what is indexed later, or gone, is counted then."""
    docs, file = two_documents(tmp_path), tmp_path / "corpus.json.gz"
    (docs / "emperors.md").write_text("Emperor penguins are birds.")
    report = json.loads(crag("index", docs, *place, "--base", docs, "--statistics", file, "--json").stdout)
    known = read_statistics(file)
    assert known.documents == report["documents_written"] == 3
    assert known.frequency(["penguin", "camel"]) == {"penguin": 2, "camel": 1}
    first = file.read_bytes()
    assert crag("index", docs, *place, "--base", docs, "--statistics", file).exit_code == 0
    assert file.read_bytes() == first
    (docs / "emperors.md").unlink()
    crag("index", docs, *place, "--base", docs, "--statistics", file)
    assert read_statistics(file).documents == 2


def test_a_file_that_cannot_be_written_is_refused_before_indexing(tmp_path: Path) -> None:
    """The server is not even asked."""
    place = ["--store", "elasticsearch", "--url", "http://127.0.0.1:9"]
    said = refused(crag("index", two_documents(tmp_path), *place, "--statistics", "corpus.txt"), ExitCode.USAGE)
    assert "wanted a name that ends with .json" in said
