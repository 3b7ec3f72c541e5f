"""Indexing into a real Elasticsearch: what a kill leaves, what the server refuses, and how documents come back."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from elasticsearch import ApiError, Elasticsearch
from elasticsearch.helpers import scan
from files import jsonl, long_text, record
from haystack import Document, component
from makers import events

from haystack_integrations.crag.errors import ConfigurationError, StoreError
from haystack_integrations.crag.pipelines import bulk, load, sending
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.listing import Listing
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.store_profiles import open_store, prepare

ROOT = Path(__file__).parents[2]


@pytest.fixture
def client(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elasticsearch_url) as connected:
        yield connected


@pytest.fixture
def store(elasticsearch_url: str, elasticsearch_index: str) -> Iterator[Any]:
    opened = open_store("elasticsearch", elasticsearch_url, elasticsearch_index)
    yield opened
    opened.close()


def hits(client: Elasticsearch, name: str) -> dict[str, dict]:
    """All documents by id, with the version that counts how often each was written."""
    client.indices.refresh(index=name)
    return {hit["_id"]: hit for hit in scan(client, {"version": True, "query": {"match_all": {}}}, index=name)}


def settled(client: Elasticsearch, name: str) -> dict[str, dict]:
    """All documents, once the server is through with the requests of a process that is dead."""
    found = hits(client, name)
    while True:
        time.sleep(1.5)
        before, found = found, hits(client, name)
        if before.keys() == found.keys():
            return found


def chunks(found: dict[str, dict]) -> dict[tuple[str, str], list[int]]:
    """The chunk numbers of each version of each source."""
    grouped: dict[tuple[str, str], list[int]] = {}
    for hit in found.values():
        fields = hit["_source"]
        grouped.setdefault((fields["source"], fields["source_sha256"]), []).append(fields["chunk"])
    return {key: sorted(numbers) for key, numbers in grouped.items()}


def complete(found: dict[str, dict]) -> set[tuple[str, str]]:
    """The versions of sources of which all chunks are there."""
    counts = {
        (hit["_source"]["source"], hit["_source"]["source_sha256"]): hit["_source"]["chunks"] for hit in found.values()
    }
    return {key for key, numbers in chunks(found).items() if numbers == list(range(counts[key]))}


INDEXING = """
import sys
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.store_profiles import open_store

url, name, folder = sys.argv[1:4]
index(folder, open_store("elasticsearch", url, name), base=folder, progress=progress)
"""


def run_to_its_death(killing: str, *arguments: object) -> int:
    """Index in a process of its own, which kills itself where `killing` says; gives its exit code."""
    code = "progress = None\n" + textwrap.dedent(killing) + INDEXING
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], env=environment, check=False).returncode


def test_the_index_is_made_with_our_mapping_and_documents_come_back_without_vectors(store, client, folder):
    """Grades make no fields, and a search by meaning finds what was written."""
    report = index(folder, store, base=folder)
    assert (report.added, report.failures) == (5, ())
    mapping = client.indices.get_mapping(index=store._index).body[store._index]["mappings"]
    assert mapping["properties"]["crag"] == {"type": "object", "enabled": False}
    assert mapping["properties"]["embedding"]["type"] == "dense_vector"
    assert mapping["properties"]["source"]["type"] == "keyword"
    assert not any("embedding" in hit["_source"] for hit in hits(client, store._index).values())
    found = store._embedding_retrieval([0.1] * 256, top_k=5)
    assert len(found) == 5
    assert all(document.embedding is None for document in found)


def test_documents_have_the_form_that_the_store_itself_writes(store, client, elasticsearch_url, elasticsearch_index):
    """Whoever reads the index cannot tell which of the two wrote a document."""
    documents = [
        Document(id="a", content="text", meta={"title": "t", "n": 1, "nested": {"x": [1, 2]}, "none": None}),
        Document(id="b", content=None, meta={"content": "a field of Haystack's name", "score": "high"}, score=0.5),
        Document(id="c", content="text", embedding=[0.25] * 256),
    ]
    other = open_store("elasticsearch", elasticsearch_url, f"{elasticsearch_index}-other")
    try:
        other.write_documents(documents, refresh=True)
        bulk_mapping = {"index": store._index, "mappings": store.to_dict()["init_parameters"]["custom_mapping"]}
        client.indices.create(**bulk_mapping)
        with bulk.open_bulk(store) as writer:
            assert writer.write(documents).result() == {}
            writer.finish()
        assert {key: hit["_source"] for key, hit in hits(client, store._index).items()} == {
            key: hit["_source"] for key, hit in hits(client, other._index).items()
        }
        assert store.filter_documents() == other.filter_documents()
    finally:
        other.close()


def test_a_second_run_writes_and_deletes_nothing(store, client, folder):
    """Not one document has a second version."""
    index(folder, store, base=folder)
    assert events(index(folder, store, base=folder)) == {"sources": 5, "unchanged": 5}
    assert {hit["_version"] for hit in hits(client, store._index).values()} == {1}


def test_another_run_has_other_names_and_what_it_indexed_twice_is_told(store, client, folder, tmp_path_factory):
    """Two files of one name are cited apart; one that is there by a name below a base is named with that base."""
    other = tmp_path_factory.mktemp("others") / "manual"
    other.mkdir()
    (other / "long.md").write_text("Another long text.")
    index(folder, store)
    index(other, store)
    assert "manual/long.md" in "".join(source for source, _ in chunks(hits(client, store._index)))
    assert index(other, store, base=other.parent).doubts == ()
    assert index(folder, store).doubts == ()
    for _ in range(2):
        (doubt,) = index(other, store).doubts
        assert f"--base {other.parent.as_posix()}," in doubt.reason


def test_records_of_a_file_of_another_folder_that_is_named_alike_are_cited_by_another_name(store, client, tmp_path):
    """Both keep their names at later runs, and other files keep theirs."""
    for name in ("cars", "bikes"):
        (tmp_path / name).mkdir()
        jsonl(tmp_path / name / "faq.jsonl", record(name, f"All of {name}."))
        index(tmp_path / name, store)
        assert index(tmp_path / name, store).unchanged == 1
    shown = {hit["_source"]["source"] for hit in hits(client, store._index).values()}
    assert shown == {"faq.jsonl#cars", "bikes/faq.jsonl#bikes"}


def test_what_changed_is_replaced_and_what_vanished_is_removed(store, client, folder):
    """A file gets new documents, a record is overwritten under its id."""
    index(folder, store, base=folder)
    old = {key for key, hit in hits(client, store._index).items() if hit["_source"]["source"] == "long.md"}
    (folder / "long.md").write_text(long_text("Persuasion", 7))
    (folder / "short.txt").unlink()
    jsonl(folder / "c.jsonl", record(0), record(1, "Changed."))
    report = index(folder, store, base=folder)
    assert (report.updated, report.unchanged, report.removed) == (2, 1, 2)
    found = hits(client, store._index)
    assert report.documents_deleted == len(old) + 2
    assert old.isdisjoint(found)
    assert found["1"]["_source"]["content"] == "Title 1\n\nChanged."
    assert {hit["_source"]["source"] for hit in found.values()} == {"long.md", "c.jsonl#0", "c.jsonl#1"}
    assert complete(found) == set(chunks(found))


def test_a_killed_run_is_taken_up_where_it_was(store, client, elasticsearch_url, folder):
    """Nothing is lost, nothing is there twice, and what was complete is not written again."""
    jsonl(folder / "c.jsonl", *(record(number, f"Record {number} of many.") for number in range(4000)))
    for number in range(30):
        (folder / f"n{number:02}.md").write_text(long_text(f"number {number}"))
    killing = """
        import os, signal

        def progress(done, total, source):
            if done == 1200:
                os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run_to_its_death(killing, elasticsearch_url, store._index, folder) == -signal.SIGKILL
    left = settled(client, store._index)
    assert 1200 <= len(left) < 4000
    report = index(folder, store, base=folder)
    found = hits(client, store._index)
    assert report.failures == ()
    assert report.unchanged == len(complete(left))
    assert report.unchanged + report.added == report.sources == 4032
    assert complete(found) == set(chunks(found))
    assert len(chunks(found)) == 4032
    written = complete(left)
    rewritten = {
        key
        for key, hit in left.items()
        if (hit["_source"]["source"], hit["_source"]["source_sha256"]) in written and found[key]["_version"] > 1
    }
    assert rewritten == set()


def test_a_kill_between_writing_the_new_and_deleting_the_old_version_heals(store, client, elasticsearch_url, folder):
    """The next run has nothing to write; it only deletes the old version."""
    index(folder, store, base=folder)
    before = hits(client, store._index)
    (folder / "long.md").write_text(long_text("Persuasion", 7))
    killing = """
        import os, signal
        from haystack_integrations.crag.pipelines.bulk import ElasticsearchBulk

        ElasticsearchBulk.delete = lambda self, ids: os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run_to_its_death(killing, elasticsearch_url, store._index, folder) == -signal.SIGKILL
    between = settled(client, store._index)
    assert set(before) < set(between)
    assert len([name for name, _ in complete(between) if name == "long.md"]) == 2
    report = index(folder, store, base=folder)
    assert events(report) == {
        "sources": 5,
        "unchanged": 5,
        "documents_deleted": len([hit for hit in before.values() if hit["_source"]["source"] == "long.md"]),
    }
    after = hits(client, store._index)
    assert complete(after) == set(chunks(after))
    assert len(complete(after)) == 5


def test_a_kill_while_a_new_version_is_written_leaves_the_old_one_complete(store, client, elasticsearch_url, folder):
    """The next run completes the new one, and only then deletes the old one."""
    index(folder, store, base=folder)
    (folder / "long.md").write_text(long_text("Persuasion", 12))
    killing = """
        import itertools, os, signal
        import elasticsearch
        from haystack_integrations.crag.pipelines import sending

        sending._REQUEST_DOCUMENTS = 2
        write, count = elasticsearch.Elasticsearch.bulk, itertools.count(1)
        def counted(self, *args, **kwargs):
            if next(count) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return write(self, *args, **kwargs)
        elasticsearch.Elasticsearch.bulk = counted
    """
    assert run_to_its_death(killing, elasticsearch_url, store._index, folder) == -signal.SIGKILL
    between = settled(client, store._index)
    assert len(complete(between)) == 5
    assert len(chunks(between)) == 6
    report = index(folder, store, base=folder)
    assert (report.updated, report.unchanged) == (1, 4)
    after = hits(client, store._index)
    assert complete(after) == set(chunks(after))
    assert len(complete(after)) == 5


def test_a_source_of_which_another_release_left_nothing_is_a_failure_and_the_next_run_heals(
    store, client, folder, tmp_path
):
    """Each run deletes the other's version as an old one: nothing was left of a file, and both had ended well."""
    spec = read("indexing")
    spec["components"]["split"]["init_parameters"]["split_length"] = 90
    (other := tmp_path / "other.yml").write_text(yaml.safe_dump(spec), "utf-8")
    index(folder, store, base=folder)
    meanwhile = []

    def beside(*_: Any) -> None:
        """The new versions are written, and the old ones not yet deleted."""
        if not meanwhile:
            meanwhile.append(None)
            meanwhile[0] = index(folder, store, base=folder)

    report = index(folder, store, base=folder, pipeline=other, progress=beside)
    left = {source for source, _ in chunks(hits(client, store._index))}
    gone = {"long.md", "short.txt", *(f"c.jsonl#{number}" for number in range(3))} - left
    assert gone == {"long.md", "short.txt"}
    assert {failure.source: failure.reason for failure in report.failures} == dict.fromkeys(
        gone, "another run deleted passages of it meanwhile; index again, one run at a time"
    )
    assert not meanwhile[0].failures
    assert not index(folder, store, base=folder, pipeline=other).failures
    after = hits(client, store._index)
    assert complete(after) == set(chunks(after))
    assert len(complete(after)) == 5


def test_the_pipeline_itself_writes_a_file_twice(store, client, folder):
    """`load("indexing", store=...)` overwrites as its YAML says: the second time ended with a conflict."""
    indexing = load("indexing", store=store)
    written = [indexing.run(sources=[folder / "short.txt"])["documents_written"] for _ in range(2)]
    assert written == [1, 1]
    assert store.count_documents() == 1


def test_a_refused_document_is_reported_by_id_and_error_type_and_the_others_are_written(store, client, folder):
    """A field that is a number in one record and a word in another; the reason quotes neither."""
    years = [record("a", year=1815), record("b", "secret text", year="secret word"), record("c", year=1817)]
    index(jsonl(folder / "first.jsonl", years[0]), store, base=folder)
    report = index(jsonl(folder / "first.jsonl", *years), store, base=folder)
    (failure,) = report.failures
    assert failure.source == "first.jsonl#b"
    assert "document_parsing_exception" in failure.reason and "'b'" in failure.reason
    assert "secret" not in failure.reason
    assert (report.added, report.unchanged) == (1, 1)
    assert sorted(hits(client, store._index)) == ["a", "c"]


@pytest.mark.parametrize("block", ["write", "read_only_allow_delete"])
def test_an_index_that_takes_nothing_ends_the_run_with_its_reason(store, client, folder, block, caplog):
    """As a server does whose disk is full: it is no fault of the documents, and a later run goes on from here."""
    index(folder, store, base=folder)
    client.indices.put_settings(index=store._index, settings={f"index.blocks.{block}": True})
    for change in (
        (folder / "new.md").write_text,
        lambda _: [(folder / name).unlink() for name in ("new.md", "long.md")],
    ):
        change("Mansfield Park is a novel, too.")
        with pytest.raises(StoreError, match=r"refuses writes to the index .* \(cluster_block_exception\); free disk"):
            index(folder, store, base=folder)
        gc.collect()
        assert not [one for one in caplog.records if one.levelname == "ERROR"]  # of spans that ended elsewhere
    client.indices.put_settings(index=store._index, settings={f"index.blocks.{block}": None})
    assert events(index(folder, store, base=folder))["removed"] == 1


def test_an_index_that_takes_no_field_but_its_own_is_told_from_one_with_clashing_types(store, client, folder):
    """The documents are not at fault, and one type in all sources would not help."""
    client.indices.create(
        index=store._index, mappings={"dynamic": "strict", "properties": {"content": {"type": "text"}}}
    )
    report = index(folder / "short.txt", store)
    assert report.failures[0].reason.endswith("its mapping takes no field but its own: use another index")


def test_an_index_of_others_that_keeps_the_source_out_of_searches_is_refused(store, client, folder):
    """The server refused to search by it, which was told as a wrong index, or a right that the key lacks."""
    unsought = {"type": "keyword", "index": False, "doc_values": False}
    client.indices.create(index=store._index, mappings={"properties": {"source": unsought}})
    with pytest.raises(ConfigurationError, match=r"does not index \['source'\], by which an older version"):
        index(folder, store)


@pytest.mark.parametrize("kind", ["keyword", "text"])
def test_a_source_that_is_found_by_its_values_or_its_hash_alone_is_enough(store, client, folder, kind):
    """Slower, and nothing is lost."""
    client.indices.create(index=store._index, mappings={"properties": {"source": {"type": kind, "index": False}}})
    assert index(folder, store).failures == ()
    assert index(folder, store).documents_written == 0


@pytest.mark.parametrize("closed", [{"dynamic": False}, {"enabled": False}])
def test_an_index_that_keeps_sources_without_searching_them_is_refused(store, client, folder, closed):
    """Each run wrote everything again, and older versions and vanished files answered questions for ever."""
    mapped = {"content": {"type": "text"}} if "dynamic" in closed else {}
    client.indices.create(index=store._index, mappings={**closed, "properties": mapped})
    with pytest.raises(
        ConfigurationError, match=r"lacks \['source', 'source_path', 'source_sha256'\], by which an older"
    ):
        index(folder, store, base=folder)
    assert client.count(index=store._index)["count"] == 0


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ({"enabled": False}, r"\['content', 'source', 'source_path', 'source_sha256'\]"),
        ({"excludes": ["con*"]}, r"\['content'\]"),
        ({"includes": ["content", "source"]}, r"\['source_path', 'source_sha256'\]"),
    ],
)
def test_an_index_that_does_not_give_back_what_is_written_is_refused_before_anything_is_written(
    store, client, folder, source, lost
):
    """All was written, with exit code 0, and each question afterwards was refused."""
    client.indices.create(index=store._index, mappings={"_source": source, "properties": {"content": {"type": "text"}}})
    with pytest.raises(ConfigurationError, match=f"does not give back {lost}, which its mapping keeps out"):
        index(folder, store, base=folder)
    assert client.count(index=store._index)["count"] == 0


@pytest.mark.parametrize(("limit", "default"), [("max_result_window", 10_000), ("max_terms_count", 65_536)])
def test_a_limit_that_is_too_small_for_a_page_or_its_names_is_told_by_its_setting(
    store, client, folder, limit, default
):
    """It was told as a wrong index, or a right that the key lacks."""
    index(folder, store, base=folder)
    client.indices.put_settings(index=store._index, settings={f"index.{limit}": 1})
    with pytest.raises(StoreError, match=rf"set index\.{limit} of '{store._index}' to its default, {default}"):
        index(folder, store, base=folder)


def test_a_search_that_the_server_refuses_is_not_told_as_shards_that_are_not_there(store, client):
    """Who looked for a lost node found none: all shards had refused the same mistake."""
    client.indices.create(index=store._index, mappings={"_source": {"enabled": False}})
    client.index(index=store._index, document={"content": "A text."}, refresh=True)
    with pytest.raises(StoreError, match=r"400 search_phase_execution_exception; check the index '.*' and the rights"):
        load("corrective_retrieval", store=store)


@pytest.mark.parametrize("source", ["keyword", "text"])
def test_sources_whose_names_are_longer_than_an_index_takes_strings_are_known_again(store, client, folder, source):
    """By a rule of the cluster's for all strings: each run wrote everything again, and older versions stayed."""
    strings = {"match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 8}}
    mapped = {
        "content": {"type": "text"},
        "source": {"type": source, **({} if source == "text" else {"ignore_above": 8})},
    }
    client.indices.create(index=store._index, mappings={"dynamic_templates": [{"s": strings}], "properties": mapped})
    index(folder, store, base=folder)
    (folder / "short.txt").write_text("Persuasion was the last one.")
    (folder / "long.md").unlink()
    report = index(folder, store, base=folder)
    assert (report.added, report.updated, report.removed) == (0, 1, 1)


def test_an_alias_with_a_filter_that_hides_what_is_written_is_told(store, client, elasticsearch_url, folder):
    """Each run said `added`, and older versions stayed in the index behind it."""
    prepare(store)
    name = f"{store._index}-german"
    client.indices.put_alias(index=store._index, name=name, filter={"term": {"lang": "de"}})
    with pytest.raises(StoreError, match=rf"written into '{name}' is not found in it by its source"):
        index(folder, open_store("elasticsearch", elasticsearch_url, name), base=folder)


def test_an_alias_with_a_filter_that_hides_some_of_what_is_written_is_told(store, client, elasticsearch_url, folder):
    """The run said `added` for all, and those without the filter's value were in no answer of the alias."""
    prepare(store)
    name = f"{store._index}-german"
    client.indices.put_alias(index=store._index, name=name, filter={"term": {"lang": "de"}})
    records = [{"id": str(n), "text": f"Novel {n}.", "lang": "de" if n else "en"} for n in range(3)]
    jsonl(folder / "novels.jsonl", *records)
    with pytest.raises(StoreError, match=r"by its source \(1 of the last 3 documents\)"):
        index(folder / "novels.jsonl", open_store("elasticsearch", elasticsearch_url, name), base=folder)


def test_an_index_template_does_not_keep_an_index_of_ours_from_knowing_its_sources(store, client, folder):
    """A cluster's own rule for new indices; older versions would stay, or no document come back with its text."""
    mappings = {"dynamic": "false", "_source": {"enabled": False}}
    name = f"{store._index}-template"
    client.indices.put_index_template(
        name=name, index_patterns=[store._index], priority=500, template={"mappings": mappings}
    )
    try:
        index(folder, store, base=folder)
    finally:
        client.indices.delete_index_template(name=name)
    (folder / "short.txt").write_text("Persuasion was the last one.")
    assert events(index(folder, store, base=folder))["updated"] == 1
    assert any(
        hit["_source"]["content"].endswith("Persuasion was the last one.")
        for hit in hits(client, store._index).values()
    )


def test_documents_that_were_copied_without_their_vectors_are_told(store, client, elasticsearch_url, folder):
    """As `_reindex` copies them, by `_source`: no search by vectors found anything, and every run said `unchanged`."""
    assert index(folder, store, base=folder).doubts == ()
    copy = open_store("elasticsearch", elasticsearch_url, f"{store._index}-copy")
    client.indices.create(
        index=copy._index, mappings=client.indices.get_mapping(index=store._index).body[store._index]["mappings"]
    )
    for id_, hit in hits(client, store._index).items():
        client.index(index=copy._index, id=id_, document=hit["_source"], refresh=True)
    report = index(folder, copy, base=folder)
    (doubt,) = report.doubts
    assert (report.unchanged, doubt.source) == (report.sources, f"index '{copy._index}'")
    assert doubt.reason.startswith("8 of 8 documents have no vector in the field 'embedding'; they are found by words")


def test_an_alias_for_reading_is_not_written_to(store, client, elasticsearch_url, folder):
    """The index itself is named; a name by which it is written, too, is as good, also one that is reckoned."""
    prepare(store)
    reading, writing, today = f"{store._index}-r", f"{store._index}-w", f"<{store._index}{{now/d}}>"
    client.indices.put_alias(index=store._index, name=reading, is_write_index=False)
    client.indices.put_alias(index=store._index, name=writing, is_write_index=True)
    with pytest.raises(ConfigurationError, match=f"takes no writes .*pass the name of its index, '{store._index}'"):
        index(folder, open_store("elasticsearch", elasticsearch_url, reading))
    for name in (writing, today):
        assert index(folder, open_store("elasticsearch", elasticsearch_url, name)).failures == ()


@pytest.mark.parametrize("has_write_index", [False, True])
def test_an_alias_of_several_indices_is_not_written_to(store, client, elasticsearch_url, folder, has_write_index):
    """A new version would go to one of them, and the old one stay in another for ever, found and cited."""
    index(folder, store, base=folder)
    name, second = f"{store._index}-alias", f"{store._index}-2"
    client.indices.create(index=second, aliases={name: {"is_write_index": has_write_index}})
    client.indices.put_alias(index=store._index, name=name)
    (folder / "short.txt").write_text("Persuasion was the last one.")
    with pytest.raises(ConfigurationError, match=rf"got '{name}', an alias of 2 indices, wanted one to write to"):
        index(folder, open_store("elasticsearch", elasticsearch_url, name), base=folder)
    client.indices.delete_alias(index=second, name=name)
    assert events(index(folder, open_store("elasticsearch", elasticsearch_url, name), base=folder))["updated"] == 1


@component
class WrongEmbedder:
    """Gives passages about poison a vector of another length."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        sizes = [3 if "poison" in document.content else 4 for document in documents]
        vectors = [[0.5] * size for size in sizes]
        pairs = zip(documents, vectors, strict=True)
        return {"documents": [Document.from_dict({**one.to_dict(), "embedding": vector}) for one, vector in pairs]}


def test_when_a_part_of_a_new_version_is_refused_the_old_version_stays_alone(store, client, folder):
    """Half of a new version beside the old one would be found too."""
    index(folder, store, base=folder, embedder=WrongEmbedder())
    before = hits(client, store._index)
    (folder / "long.md").write_text(long_text("Emma") + "\n\n" + long_text("poison", 2))
    report = index(folder, store, base=folder, embedder=WrongEmbedder())
    (failure,) = report.failures
    assert failure.source == "long.md"
    assert "document_parsing_exception" in failure.reason and "poison" not in failure.reason
    assert hits(client, store._index) == before


def test_what_cannot_be_written_as_json_is_refused_alone(store):
    """Metadata of a converter of one's own can hold anything."""
    documents = [Document(id="good", content="text"), Document(id="bad", content="secret", meta={"kinds": {1, 2}})]
    prepare(store)
    with bulk.open_bulk(store) as writer:
        assert writer.write(documents).result() == {"bad": "its metadata cannot be written as JSON"}
        writer.finish()
    assert [document.id for document in store.filter_documents()] == ["good"]


def test_smaller_requests_are_sent_where_a_proxy_takes_no_large_ones(store, client, folder, monkeypatch):
    """nginx takes 1 MB, unless told otherwise: nothing but small folders was indexed, and metadata were blamed."""
    write, sizes = Elasticsearch.bulk, []

    def narrow(self: Elasticsearch, *args: Any, operations: list[bytes], **kwargs: Any) -> Any:
        sizes.append(sum(len(line) + 1 for line in operations))
        if sizes[-1] > 150_000:
            meta = ApiResponseMeta(413, "1.1", HttpHeaders(), 0.0, NodeConfig("http", "127.0.0.1", 9200))
            raise ApiError("413", meta, "<html>413 Request Entity Too Large</html>")
        return write(self, *args, operations=operations, **kwargs)

    monkeypatch.setattr(Elasticsearch, "bulk", narrow)
    monkeypatch.setattr(sending, "_REQUEST_BYTES", 600_000)
    jsonl(folder / "large.jsonl", record("large", "A large record.", note="x" * 200_000))
    (folder / "much.md").write_text(long_text("Persuasion", 120))
    report = index(folder, store, base=folder)
    (failure,) = report.failures
    assert failure.source == "large.jsonl#large", failure
    assert "1 of 1 documents); let the server, or the proxy before it, take longer requests" in failure.reason
    found = hits(client, store._index)
    assert complete(found) == set(chunks(found))
    assert report.documents_written == len(found) > 100
    assert max(sizes) > 150_000


def test_the_look_at_what_a_large_file_left_fits_into_one_request(store, client, monkeypatch):
    """It asks for a thousand ids: all those of a file of 20 MB are more than nginx passes on."""
    sizes, count = [], Elasticsearch.count

    def counted(self: Any, *args: Any, query: Any = None, **kwargs: Any) -> Any:
        sizes.append(len(str(query)))
        return count(self, *args, query=query, **kwargs)

    monkeypatch.setattr(Elasticsearch, "count", counted)
    prepare(store)
    with bulk.open_bulk(store) as writer:
        writer.known(Listing((), frozenset({"large.md"}), (), {}, ()))
        meta = {"source": "large.md", "source_sha256": "1"}
        writer.write([Document(id=f"{number:064}", content="text", meta=meta) for number in range(3_000)]).result()
        writer.finish()
    assert max(sizes) < 100_000


def test_the_passages_of_a_large_file_are_not_all_held_as_json_at_once(store, client, monkeypatch):
    """Of a file of 99 MB that was most of a gigabyte."""
    sizes, send = [], sending.Sender.send

    def counted(sender, actions):
        sizes.append(len(actions := list(actions)))
        return send(sender, actions)

    monkeypatch.setattr(sending.Sender, "send", counted)
    prepare(store)
    documents = [Document(id=str(number), content=f"Passage {number}.") for number in range(2_500)]
    documents[1_200].meta["bad"] = {1, 2}
    with bulk.open_bulk(store) as writer:
        assert writer.write(documents).result() == {"1200": "its metadata cannot be written as JSON"}
        writer.finish()
    assert store.count_documents() == 2_499
    assert max(sizes) <= 1_000


def test_documents_from_elsewhere_are_left_alone(store, client, folder):
    """Neither removed nor overwritten, also when a record has their id."""
    store.write_documents([Document(id="mine", content="mine", meta={"source": "c.jsonl#9"})], refresh=True)
    jsonl(folder / "c.jsonl", record(0), record("mine"))
    report = index(folder, store, base=folder)
    assert [failure.source for failure in report.failures] == ["c.jsonl#mine"]
    assert report.removed == 0
    assert hits(client, store._index)["mine"]["_source"]["content"] == "mine"


def test_more_documents_than_a_search_returns_are_known(store, client, folder):
    """Elasticsearch gives at most 10,000 per search, and says nothing about the rest."""
    count = 10_500
    jsonl(folder / "c.jsonl", *(record(number, "Short.") for number in range(count)))
    report = index(folder / "c.jsonl", store, base=folder)
    assert report.added == count
    jsonl(folder / "c.jsonl", record(0, "Short."))
    report = index(folder / "c.jsonl", store, base=folder)
    assert (report.unchanged, report.removed) == (1, count - 1)
    assert list(hits(client, store._index)) == ["0"]


def test_an_index_in_which_no_text_is_found_by_words_is_refused_before_anything_is_written(store, client, folder):
    """Its questions would all end with a search that failed."""
    client.indices.create(index=store._index, mappings={"properties": {"content": {"type": "keyword"}}})
    with pytest.raises(ConfigurationError, match=r"wanted the type text, but got keyword; .* into another one"):
        index(folder, store, base=folder)
    assert client.count(index=store._index)["count"] == 0


@pytest.mark.parametrize("kind", ["keyword", "text"])
def test_the_sources_are_known_whatever_the_index_makes_of_their_names(store, client, folder, kind):
    """An index that something else made may cut a name into words."""
    client.indices.create(index=store._index, mappings={"properties": {"source": {"type": kind}}})
    index(folder, store, base=folder.parent)
    everything = Listing((), frozenset({"docs/short.txt"}), ("docs/c.jsonl#",), {}, ())
    with bulk.open_bulk(store) as writer:
        known = writer.known(everything)
    assert sorted(known) == ["docs/c.jsonl#0", "docs/c.jsonl#1", "docs/c.jsonl#2", "docs/short.txt"]
    assert all(version.complete for versions in known.values() for version in versions)
    assert index(folder, store, base=folder.parent).unchanged == 5


def test_sources_are_known_by_their_paths_where_the_index_makes_words_of_these_alone(store, client, folder):
    """As where somebody declared `source`, which Haystack's users have; each run failed, and old versions stayed."""
    client.indices.create(index=store._index, mappings={"properties": {"source": {"type": "keyword"}}})
    assert index(folder, store).added == 5
    (folder / "short.txt").write_text("Persuasion was the last one.")
    (folder / "long.md").unlink()
    report = index(folder, store)
    assert (report.added, report.updated, report.removed) == (0, 1, 1)


def test_what_was_indexed_without_a_base_is_replaced_by_the_first_run_with_one(store, client, folder):
    """Though the server is asked only for names that begin like those of the paths."""
    index(folder, store)
    paths = [folder / "c.jsonl", folder / "long.md", folder / "short.txt"]
    report = index(paths, store, base=folder.parent)
    assert (report.updated, report.added, report.removed) == (5, 0, 0)
    assert index(folder, store, base=folder.parent).unchanged == 5
    assert not any("source_path" in hit["_source"] for hit in hits(client, store._index).values())


def test_a_server_that_does_not_answer_is_one_clear_error(folder):
    """Before anything is converted."""
    store = open_store("elasticsearch", "http://127.0.0.1:9", "crag")
    with pytest.raises(StoreError, match=r"no answer from Elasticsearch at http://127.0.0.1:9"):
        index(folder, store, base=folder)


def test_a_source_is_shown_without_the_path_of_this_machine_and_known_again_by_it(
    client: Elasticsearch, store: Any, elasticsearch_index: str, folder: Path
) -> None:
    """A second run writes nothing, a folder with the same names has others and takes nothing; what vanished goes."""
    other = folder.parent / "other"
    other.mkdir()
    (other / "short.txt").write_text("Mansfield Park is a third novel.")
    jsonl(other / "c.jsonl", record(7))
    assert index(folder, store).added == 5
    assert index(other, store).added == 2
    assert (index(folder, store).unchanged, index(other, store).unchanged) == (5, 2)
    (other / "short.txt").unlink()
    assert index(other, store).removed == 1
    shown = sorted({hit["_source"]["source"] for hit in hits(client, elasticsearch_index).values()})
    assert shown == [*(f"c.jsonl#{number}" for number in (0, 1, 2)), "long.md", "other/c.jsonl#7", "short.txt"]
    assert index(folder, store).unchanged == 5
