"""Indexing by several processes: each source is indexed by exactly one of them, whatever happens to the others."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import scan
from files import jsonl, record
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.shards import Shard
from haystack_integrations.crag.store_profiles import open_store, prepare

ROOT = Path(__file__).parents[2]
COUNTED = ("added", "updated", "unchanged", "removed", "sources")

INDEXING = """
import os, signal, sys, json
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.store_profiles import open_store

url, name, folder, shard, die_after = sys.argv[1:6]


def progress(done, total, name):
    if done == int(die_after):
        os.kill(os.getpid(), signal.SIGKILL)


report = index(folder, open_store("elasticsearch", url, name), base=folder, progress=progress, shard=shard)
print(json.dumps(report.to_dict()))
"""


def worker(store: Any, folder: Path, shard: str, die_after: int = -1) -> "subprocess.Popen[str]":
    """Index in a process of its own, which kills itself after so many sources."""
    arguments = [store._hosts, store._index, str(folder), shard, str(die_after)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    command = [sys.executable, "-c", INDEXING, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def ended(*workers: "subprocess.Popen[str]") -> list[dict[str, Any] | int]:
    """What each worker reports, or the signal that ended it."""
    said = [each.communicate()[0] for each in workers]
    return [json.loads(text) if text else each.returncode for each, text in zip(workers, said, strict=True)]


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    opened = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    yield opened
    opened.close()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Twelve files and 3,000 records in two JSON Lines files."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(12):
        (docs / f"{number}.md").write_text(f"Chapter {number} is about the sea. " * 60)
    for half in range(2):
        jsonl(docs / f"{half}.jsonl", *(record(n, f"Record {n} of the archive.") for n in range(half, 3000, 2)))
    return docs


def written(store: Any) -> dict[str, int]:
    """How often each document was written, by id, once the server is through with what a dead process sent."""
    with Elasticsearch(store._hosts) as client:
        found: dict[str, int] = {}
        while True:
            client.indices.refresh(index=store._index)
            body = {"version": True, "_source": False, "query": {"match_all": {}}}
            now = {hit["_id"]: hit["_version"] for hit in scan(client, body, index=store._index)}
            if now == found:
                return found
            found = now
            time.sleep(1.5)


def counts(report: Any) -> dict[str, int]:
    values = report if isinstance(report, dict) else report.to_dict()
    return {name: values[name] for name in COUNTED if values[name]}


@given(st.text(), st.text(), st.integers(1, 8))
def test_every_source_belongs_to_exactly_one_part(name: str, id_: str, of: int) -> None:
    """A record goes where its id goes, whatever file it stands in."""
    for arguments in ((name,), (f"{name}#{id_}", id_)):
        assert sum(Shard(number, of).takes(*arguments) for number in range(1, of + 1)) == 1
    shard = Shard(1, of)
    assert not id_ or shard.takes(f"a.jsonl#{id_}", id_) is shard.takes(f"{name}#{id_}", id_)


def test_records_of_one_id_belong_to_one_process_however_long_they_are(in_memory_store: Any, tmp_path: Path) -> None:
    """Else each of two would have written one of them, and nobody would have said that an id stands twice."""
    records = [record(number, text) for number in range(8) for text in ("A refund is paid.", "It is paid. " * 1000)]
    jsonl(tmp_path / "refunds.jsonl", *records)
    reports = [index(tmp_path, in_memory_store, base=tmp_path, shard=f"{part}/3") for part in (1, 2, 3)]
    assert sum(report.added for report in reports) == 8
    assert sum("its id is that of" in failure.reason for report in reports for failure in report.failures) == 8
    longer = [record(number, "It is paid at once. " * 1000) for number in range(8)]
    jsonl(tmp_path / "refunds.jsonl", *longer)
    again = [index(tmp_path, in_memory_store, base=tmp_path, shard=f"{part}/3") for part in (1, 2, 3)]
    assert [sum(getattr(report, name) for report in again) for name in ("updated", "added", "removed")] == [8, 0, 0]


@pytest.mark.parametrize("text", ["", "2", "0/2", "3/2", "1/0", "a/b", "-1/2", "1/2/3", "1.0/2"])
def test_an_unusable_shard_is_refused_before_anything_is_read(text: str, in_memory_store: Any) -> None:
    """What was got, and what is accepted."""
    with pytest.raises(ConfigurationError, match=r"shard must be K/N with K from 1 to N, such as 1/2, but got"):
        index("/nowhere", in_memory_store, shard=text)


def test_two_processes_of_which_one_is_killed_lose_and_double_nothing(store: Any, corpus: Path) -> None:
    """The killed one is run again and goes on; what is there then is what one process alone would have written."""
    prepare(store)
    jsonl(corpus / "more.jsonl", *(record(n, f"Record {n} of the archive.") for n in range(3000, 6000)))
    whole, killed = ended(worker(store, corpus, "1/2"), worker(store, corpus, "2/2", die_after=100))
    assert killed == -signal.SIGKILL
    assert isinstance(whole, dict)
    between = written(store)
    assert whole["documents_written"] < len(between) < 6024  # the killed one had written something, not all
    (again,) = ended(worker(store, corpus, "2/2"))
    assert isinstance(again, dict)
    assert again["unchanged"] > 0
    assert whole["sources"] + again["sources"] == 6012
    now = written(store)
    assert len(now) == 6024
    assert set(now.values()) == {1}  # each document was written exactly once
    assert counts(index(corpus, store, base=corpus)) == {"sources": 6012, "unchanged": 6012}


def test_what_vanished_is_removed_by_the_process_whose_it_is(in_memory_store: Any, corpus: Path) -> None:
    """Half of it by each of two; nobody touches what is the other's."""
    store = in_memory_store
    index(corpus, store, base=corpus)
    before = store.count_documents()
    (corpus / "1.jsonl").unlink()
    (corpus / "3.md").unlink()
    first = index(corpus, store, base=corpus, shard="1/2")
    assert first.added == first.updated == 0
    assert 0 < first.removed < 1501
    second = index(corpus, store, base=corpus, shard="2/2")
    assert first.removed + second.removed == 1501
    assert before - store.count_documents() == first.documents_deleted + second.documents_deleted >= 1501
    assert counts(index(corpus, store, base=corpus)) == {"sources": 1511, "unchanged": 1511}


def test_each_process_keeps_its_own_of_a_folder_that_became_empty(in_memory_store: Any, tmp_path: Path) -> None:
    """Each says so, and removes its own only when it is told to."""
    for number in range(10):
        (tmp_path / f"{number}.md").write_text(f"Page {number}.")
    index(tmp_path, in_memory_store)
    for page in tmp_path.iterdir():
        page.unlink()
    reports = [index(tmp_path, in_memory_store, shard=f"{number}/2") for number in (1, 2)]
    assert [(len(report.failures), report.removed) for report in reports] == [(1, 0), (1, 0)]
    first = index(tmp_path, in_memory_store, shard="1/2", allow_empty=True)
    assert 0 < first.removed == 10 - in_memory_store.count_documents() < 10


def test_a_long_record_belongs_to_one_process(in_memory_store: Any, tmp_path: Path) -> None:
    """With all of its parts, also after it was a short one."""
    for text in ("Short.", "Longer than before. " * 1_000):
        jsonl(tmp_path / "c.jsonl", *(record(number, text) for number in range(6)))
        reports = [index(tmp_path, in_memory_store, base=tmp_path, shard=f"{part}/2") for part in (1, 2)]
        assert sum(report.sources for report in reports) == 6
        assert all(report.sources for report in reports)
    sources = [document.meta["source"] for document in in_memory_store.filter_documents()]
    assert {sources.count(f"c.jsonl#{number}") for number in range(6)} == {len(sources) // 6}


def test_a_record_that_moved_to_another_file_is_lost_by_nobody(in_memory_store: Any, corpus: Path) -> None:
    """Its old and its new place belong to one process, since they go by the id."""
    index(corpus, in_memory_store, base=corpus)
    (corpus / "1.jsonl").rename(corpus / "moved.jsonl")
    reports = [index(corpus, in_memory_store, base=corpus, shard=f"{number}/3") for number in (3, 1, 2)]
    assert all(not report.failures for report in reports)
    assert counts(index(corpus, in_memory_store, base=corpus)) == {"sources": 3012, "unchanged": 3012}
    assert len(in_memory_store.filter_documents({"field": "meta.chunk", "operator": "==", "value": 0})) == 3012


def test_a_bad_line_is_reported_once_and_protects_what_it_may_have_been_everywhere(
    in_memory_store: Any, tmp_path: Path
) -> None:
    """Nobody removes a record that may stand in a line that nobody could read."""
    path = jsonl(tmp_path / "a.jsonl", *(record(number) for number in range(20)))
    index(path, in_memory_store, base=tmp_path)
    path.write_text("\n".join(["{broken", *path.read_text().splitlines()[10:]]))
    reports = [index(path, in_memory_store, base=tmp_path, shard=f"{number}/2") for number in (1, 2)]
    assert sum(len(report.failures) for report in reports) == 1
    assert [report.removed for report in reports] == [0, 0]
    assert in_memory_store.count_documents() == 20
