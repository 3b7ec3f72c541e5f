"""Indexing files and records, in memory: what is written, replaced, removed and left alone."""

import codecs
import contextlib
import functools
import io
import json
import logging
import os
import random
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import openpyxl
import pptx
import pytest
import yaml
from files import EMMA, jsonl, long_text, pdf, record
from haystack import Document, component
from haystack.components.converters import TextFileToDocument
from haystack.components.embedders import MockDocumentEmbedder
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError
from makers import PartStore, events
from openpyxl import Workbook
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, BooleanObject, DictionaryObject, NameObject, NumberObject, StreamObject

from haystack_integrations.crag.components import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.crag.errors import ConfigurationError, SourceError, StoreError
from haystack_integrations.crag.pipelines.identity import identity_of
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.pipelines.loader import read
from haystack_integrations.crag.texts.text import sentences
from haystack_integrations.crag.texts.titles import untitled


def encrypted_pdf(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("Hidden words."))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def aes_pdf() -> bytes:
    """A PDF as Acrobat encrypts it today; the keys fit no password."""
    filter_ = b"<</CFM/AESV3/AuthEvent/DocOpen/Length 32>>"
    encryption = (
        b"<</Filter/Standard/V 5/R 6/Length 256/P -4/StmF/S/StrF/S/CF<</S%s>>/O<%s>/U<%s>/OE<%s>/UE<%s>/Perms<%s>>>"
    )
    values = encryption % (filter_, b"00" * 48, b"11" * 48, b"22" * 32, b"33" * 32, b"44" * 16)
    return pdf("Hidden words.").replace(b"/Root 1 0 R", b"/Root 1 0 R /ID [<00><00>] /Encrypt %s" % values)


def word(text: str) -> bytes:
    document = docx.Document()
    document.add_paragraph(text)
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def workbook(rows: Sequence[Sequence[object]]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def presentation(text: str) -> bytes:
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[1]).placeholders[1].text = text
    written = io.BytesIO()
    slides.save(written)
    return written.getvalue()


def contents(store: InMemoryDocumentStore) -> dict[str, str]:
    """The text of each source, put together from its chunks in order, each without the title before it."""
    chunks: dict[str, list[Document]] = {}
    for document in store.filter_documents():
        chunks.setdefault(document.meta["source"], []).append(document)
    for parts in chunks.values():
        parts.sort(key=lambda part: part.meta["chunk"])
        assert [part.meta["chunk"] for part in parts] == list(range(parts[0].meta["chunks"]))
        assert len({part.meta["source_sha256"] for part in parts}) == 1
    return {
        name: "".join(untitled(part.content, part.meta.get("title", "")) for part in parts)
        for name, parts in chunks.items()
    }


@pytest.fixture
def store(in_memory_store: InMemoryDocumentStore) -> InMemoryDocumentStore:
    return in_memory_store


def test_every_kind_of_file_is_indexed_with_its_text(tmp_path, store):
    """Markdown, text, HTML, PDF, office files, CSV and records, also with suffixes in capitals."""
    page = f"<html><body><article><h1>Emma</h1><p>{EMMA * 5}</p></article></body></html>"
    files = {"a.md": f"# Emma\n\n{EMMA}", "b.markdown": EMMA, "c.TXT": EMMA, "d.html": page, "e.htm": page}
    files["e.rst"] = f"Emma\n====\n\n{EMMA}"
    files |= {"e.csv": f"No,Text\n1,{EMMA}\n", "e.tsv": f"No\tText\n1\t{EMMA}\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "f.pdf").write_bytes(pdf(EMMA))
    (tmp_path / "g.docx").write_bytes(word(EMMA))
    (tmp_path / "g.XLSX").write_bytes(workbook([["No", "Text"], [1, EMMA]]))
    (tmp_path / "g.pptx").write_bytes(presentation(EMMA))
    (tmp_path / "h.pdf").write_bytes(encrypted_pdf(""))
    jsonl(tmp_path / "i.jsonl", record(1))
    report = index(tmp_path, store, base=tmp_path)
    assert report.failures == ()
    found = contents(store)
    assert sorted(found) == [*sorted(files), "f.pdf", "g.XLSX", "g.docx", "g.pptx", "h.pdf", "i.jsonl#1"]
    assert "Hidden words" in found.pop("h.pdf")
    assert all("Jane Austen" in text for text in found.values())


def test_every_document_says_which_part_of_what_it_is_and_can_be_found(folder, store):
    """Source, hash of the source, number of the chunk and of all chunks, and a vector."""
    report = index(folder, store, base=folder)
    assert events(report) == {"sources": 5, "added": 5, "documents_written": store.count_documents()}
    documents = {document.id: document for document in store.filter_documents()}
    chunks = [document for document in documents.values() if document.meta["source"] == "long.md"]
    assert len(chunks) > 1
    assert {chunk.meta["chunks"] for chunk in chunks} == {len(chunks)}
    assert documents["2"].meta | {"source_sha256": ""} == {
        "title": "Title 2",
        "source": "c.jsonl#2",
        "source_sha256": "",
        "source_pipeline": identity_of("indexing"),
        "chunk": 0,
        "chunks": 1,
    }
    assert all(len(document.embedding) == 256 for document in documents.values())
    assert contents(store)["long.md"] == long_text("Emma")


def test_each_passage_of_a_file_begins_with_the_words_of_its_path(tmp_path, store):
    """A search finds the subject in each of them, and a record stays as it is."""
    (tmp_path / "hr").mkdir()
    (tmp_path / "hr" / "travel_policy.md").write_text(long_text("Emma"))
    jsonl(tmp_path / "c.jsonl", record(1))
    index(tmp_path, store, base=tmp_path)
    found = [document for document in store.filter_documents() if document.meta["source"] == "hr/travel_policy.md"]
    assert len(found) > 1
    assert all(document.content.startswith("hr travel policy\n\nParagraph") for document in found)
    assert {document.meta["title"] for document in found} == {"hr travel policy"}


@pytest.mark.parametrize("columns", [3, 28, 40])
def test_each_passage_of_a_wide_table_has_the_names_of_its_columns(columns, tmp_path, store):
    """With 28 of them all but the first were rows of nothing but numbers."""
    head = [f"Metric {n:02}" for n in range(columns)]
    rows = [[f"Plant {row}", *map(str, range(100 * row, 100 * row + columns - 1))] for row in range(30)]
    (tmp_path / "wide.csv").write_text("\n".join(map(",".join, [head, *rows])))
    index(tmp_path, store)
    passages = [one.content for one in store.filter_documents()]
    assert len(passages) > 1
    assert all("Metric" in passage for passage in passages)
    assert sum(passage.count("Plant") for passage in passages) >= len(rows)


def test_a_second_run_writes_and_deletes_nothing(folder, store):
    """Also under another kind of base directory path, as long as the names are the same."""
    index(folder, store, base=folder)
    before = {document.id: document for document in store.filter_documents()}
    assert events(index(folder, store, base=str(folder))) == {"sources": 5, "unchanged": 5}
    assert events(index([folder / "long.md", folder / "c.jsonl"], store, base=folder)) == {"sources": 4, "unchanged": 4}
    assert {document.id: document for document in store.filter_documents()} == before


class FloatingStore(InMemoryDocumentStore):
    """As Weaviate: whole numbers come back as floats, and no filter knows ids."""

    def filter_documents(self, filters=None):
        assert not filters
        found = super().filter_documents()
        metas = [{key: float(v) if isinstance(v, int) else v for key, v in one.meta.items()} for one in found]
        return [replace(one, meta=meta) for one, meta in zip(found, metas, strict=True)]


def test_a_store_that_gives_whole_numbers_back_as_floats_knows_its_sources_again(folder):
    store = FloatingStore(index=uuid4().hex)
    index(folder, store, base=folder)
    assert events(index(folder, store, base=folder)) == {"sources": 5, "unchanged": 5}
    (folder / "long.md").unlink()
    jsonl(folder / "new.jsonl", record("new"))
    report = events(index(folder, store, base=folder))
    assert (report["added"], report["removed"], report["unchanged"]) == (1, 1, 4)
    assert "long.md" not in {one.meta["source"] for one in store.filter_documents()}


class ShortStore(InMemoryDocumentStore):
    """As OpenSearch, Milvus and Pinecone: lists so many documents, whatever there are. As Weaviate: deletes so many."""

    listed, deleted = 10_000, 1_000

    def filter_documents(self, filters=None):
        return super().filter_documents(filters)[: self.listed]

    def delete_documents(self, document_ids):
        super().delete_documents(document_ids[: self.deleted])


def test_a_list_of_names_beside_the_text_of_a_record_is_metadata_and_no_vector_and_no_text_in_parts_is(tmp_path):
    """A filter on `teams` found none of them, and `not in` let all through."""
    store = InMemoryDocumentStore(index=uuid4().hex)
    kept = {"teams": ["sales", "board"], "tags": [], "rank": 3}
    left_out = {
        "sentences": ["It is."],
        "vector": [0.1],
        "more": {"a": 1},
        "tokens": ["it"] * 20_000,
        "parts": ["a" * 201],
    }
    index(jsonl(tmp_path / "c.jsonl", record(1, **kept, **left_out)), store, base=tmp_path)
    (written,) = store.filter_documents({"field": "meta.teams", "operator": "==", "value": ["sales", "board"]})
    assert {name: written.meta[name] for name in kept} == kept
    assert left_out.keys().isdisjoint(written.meta)


def test_a_store_that_does_not_list_all_of_its_documents_is_refused_before_anything_is_written(folder):
    """Old versions of the others stayed beside the new ones."""
    store = ShortStore(index=uuid4().hex)
    index(folder, store, base=folder)
    (folder / "short.txt").write_text("Persuasion was written anew.")
    count = store.count_documents()
    store.listed = count - 1
    with pytest.raises(StoreError, match=f"{count - 1} of its {count}; old versions.*nothing was indexed"):
        index(folder, store, base=folder)
    assert store.count_documents() == count


def test_all_that_vanished_is_removed_where_a_store_deletes_so_many_at_once(tmp_path):
    """The report said that all were."""
    store = ShortStore(index=uuid4().hex)
    path = jsonl(tmp_path / "c.jsonl", *(record(number, f"Text {number}.") for number in range(1_200)))
    index(path, store, base=tmp_path)
    jsonl(path, record(0, "Text 0."))
    assert events(index(path, store, base=tmp_path))["documents_deleted"] == 1_199
    assert store.count_documents() == 1


def test_a_store_that_lists_so_many_at_once_is_listed_in_parts(tmp_path):
    """Of a file of more passages than it lists at once, too; what another program wrote is left alone."""
    store = PartStore(listed=100)
    (tmp_path / "long.txt").write_text(long_text("Emma", 300))
    path = jsonl(tmp_path / "c.jsonl", *(record(number, f"Text {number}.") for number in range(300)))
    index(tmp_path, store, base=tmp_path)
    store.inner.write_documents([Document(id="7000", content="Of another program.")])
    assert sum(one.meta.get("source") == "long.txt" for one in store.inner.filter_documents()) > store.listed
    assert events(index(tmp_path, store, base=tmp_path)) == {"sources": 301, "unchanged": 301}
    (tmp_path / "long.txt").write_text(long_text("Persuasion", 7))
    jsonl(path, record(0, "Text 0."), record(1, "Changed."), record(7000, "Of us."))
    report = index(tmp_path, store, base=tmp_path)
    assert (report.unchanged, report.updated, report.removed) == (1, 2, 298)
    assert [failure.source for failure in report.failures] == ["c.jsonl#7000"]  # its id is another program's
    assert contents_by_source(store) == {"long.txt", "c.jsonl#0", "c.jsonl#1", None}


def contents_by_source(store: PartStore) -> set[str | None]:
    return {one.meta.get("source") for one in store.inner.filter_documents()}


def test_a_store_that_cannot_list_all_in_parts_is_refused(tmp_path):
    """Where most were written by another program, no part has few enough of them."""
    store = PartStore(listed=100)
    store.write_documents([Document(content=f"Of another program, {number}.") for number in range(150)])
    jsonl(tmp_path / "c.jsonl", record(0))
    with pytest.raises(StoreError, match=r"lists 100 documents at once.*100 of its 150.*nothing was indexed"):
        index(tmp_path, store, base=tmp_path)
    assert store.count_documents() == 150


def test_a_store_that_refuses_to_filter_by_the_number_is_refused_for_what_it_does_not_list(tmp_path):
    """The store's own error is the cause of ours, which says what to do."""

    class Strict(PartStore):
        def filter_documents(self, filters=None):
            if filters:
                raise FilterError("no such field")
            return super().filter_documents()

    store = Strict(listed=100)
    store.write_documents([Document(content=f"Text {number}.") for number in range(150)])
    jsonl(tmp_path / "c.jsonl", record(0))
    with pytest.raises(StoreError, match="nothing was indexed") as refused:
        index(tmp_path, store, base=tmp_path)
    assert isinstance(refused.value.__cause__, FilterError)


def test_a_store_that_heeds_no_filter_is_refused_soon(tmp_path):
    """Listed by halves of what it lists in full each time, it would be for hours."""

    class Heedless(PartStore):
        def filter_documents(self, filters=None):
            return super().filter_documents()

    store = Heedless(listed=100)
    store.write_documents([Document(content=f"Text {number}.") for number in range(150)])
    jsonl(tmp_path / "c.jsonl", record(0))
    with pytest.raises(StoreError, match="nothing was indexed"):
        index(tmp_path, store, base=tmp_path)
    assert store.listings < 30


def test_a_store_is_not_listed_again_to_see_what_it_kept_where_it_told_before(tmp_path):
    """Of 100,000 passages that cost as much as finding what is there."""
    store = PartStore(listed=100)
    path = jsonl(tmp_path / "c.jsonl", record(0))
    index(path, store, base=tmp_path)
    assert store.listings == 2
    jsonl(path, record(0, "Changed."))
    index(path, store, base=tmp_path)
    assert store.listings == 3


class SchemaStore(InMemoryDocumentStore):
    """As LanceDB's: keeps the metadata that its schema names, and drops others in silence."""

    def write_documents(self, documents, policy=DuplicatePolicy.NONE):
        kept = [replace(one, meta={"source": one.meta["source"]}) for one in documents]
        return super().write_documents(kept, policy)


def test_a_store_that_drops_what_a_source_is_known_again_by_is_told(folder):
    """Each run wrote all of it anew, and old versions stayed beside new ones."""
    with pytest.raises(StoreError, match=r"\['source_sha256', 'source_pipeline', 'chunk', 'chunks'\].*schema"):
        index(folder, SchemaStore(index=uuid4().hex), base=folder)


def test_a_changed_file_is_replaced(folder, store):
    """Its documents get other ids, and no old one is left."""
    index(folder, store, base=folder)
    old = {document.id for document in store.filter_documents() if document.meta["source"] == "long.md"}
    (folder / "long.md").write_text(long_text("Persuasion", 7))
    report = index(folder, store, base=folder)
    new = {document.id for document in store.filter_documents() if document.meta["source"] == "long.md"}
    assert contents(store)["long.md"] == long_text("Persuasion", 7)
    assert old.isdisjoint(new)
    assert events(report) == {
        "sources": 5,
        "updated": 1,
        "unchanged": 4,
        "documents_written": len(new),
        "documents_deleted": len(old),
    }


def test_a_changed_record_is_overwritten_under_its_id(folder, store):
    """One write: at no moment is the record missing or there twice."""
    index(folder, store, base=folder)
    jsonl(folder / "c.jsonl", record(0), record(1, "Changed."), record(2))
    report = index(folder, store, base=folder)
    assert events(report) == {"sources": 5, "updated": 1, "unchanged": 4, "documents_written": 1}
    (document,) = store.filter_documents({"field": "id", "operator": "==", "value": "1"})
    assert document.content == "Title 1\n\nChanged."


def test_a_record_is_found_by_its_title_and_keeps_its_id(tmp_path, store):
    """A text seldom says what it is about; a record without a title is named by nothing, least of all by its line."""
    texts = [("a", "Ulm", "He was born there."), ("b", "Bonn", "He was born there."), ("c", None, "Nobody was.")]
    jsonl(tmp_path / "people.JSONL", *({"id": id_, "text": text, "title": title} for id_, title, text in texts))
    index(tmp_path, store)
    assert [found.id for found in store.bm25_retrieval("Who was born in Bonn?", top_k=1)] == ["b"]
    assert {found.id: found.content for found in store.filter_documents()} == {
        "a": "Ulm\n\nHe was born there.",
        "b": "Bonn\n\nHe was born there.",
        "c": "Nobody was.",
    }


def test_a_long_record_is_split_as_a_file_is(tmp_path, store):
    """A judge would see its beginning only, and an answer's prompt all of it; what it tells besides is on each part."""
    text = " ".join(f"Sentence {number} is about notice." for number in range(1_000))
    lines = record("long", text, title="Travel policy", lang="en"), record("unnamed", text, title=""), record("short")
    jsonl(tmp_path / "c.jsonl", *lines)
    report = index(tmp_path, store)
    parts: dict[str, list[Document]] = {}
    for document in store.filter_documents():
        parts.setdefault(document.meta["source"], []).append(document)
    assert {name: len(some) > 20 for name, some in parts.items()} == {
        "c.jsonl#long": True,
        "c.jsonl#unnamed": True,
        "c.jsonl#short": False,
    }
    assert {(one.meta["title"], one.meta["lang"]) for one in parts["c.jsonl#long"]} == {("Travel policy", "en")}
    assert all((one.content or "").startswith("Travel policy\n\n") for one in parts["c.jsonl#long"])
    assert all((one.content or "").startswith(("Sentence", "is", " ")) for one in parts["c.jsonl#unnamed"])
    assert (report.added, index(tmp_path, store).unchanged) == (3, 3)


def test_a_record_may_become_long_and_short_again(tmp_path, store):
    """Its parts take its place, and it theirs: nothing is there twice, or missing."""
    jsonl(tmp_path / "c.jsonl", record("a"))
    index(tmp_path, store)
    jsonl(tmp_path / "c.jsonl", record("a", "Longer than before. " * 1_000))
    assert events(index(tmp_path, store))["updated"] == 1
    assert "a" not in {document.id for document in store.filter_documents()}
    jsonl(tmp_path / "c.jsonl", record("a", "Short."))
    assert events(index(tmp_path, store))["updated"] == 1
    assert {document.id for document in store.filter_documents()} == {"a"}


def test_two_long_records_of_one_id_are_refused(tmp_path, store):
    """The second would take the place of the first."""
    jsonl(tmp_path / "c.jsonl", record("a", "One. " * 3_000), record("a", "Two. " * 3_000))
    report = index(tmp_path, store)
    assert (report.added, len(report.failures)) == (1, 1)
    assert "give each record an id of its own" in report.failures[0].reason


def test_a_long_and_a_short_record_of_one_id_are_refused(tmp_path, store):
    """Else each run would delete what the run before wrote of one of them, and write it again."""
    jsonl(tmp_path / "c.jsonl", record("a"), record("a", "Two. " * 3_000))
    report = index(tmp_path, store)
    assert (report.added, len(report.failures)) == (1, 1)
    assert "give each record an id of its own" in report.failures[0].reason
    assert index(tmp_path, store).documents_deleted == 0


def test_a_record_may_have_the_name_of_a_file_as_its_id(tmp_path, store):
    """It is indexed beside the file, and is removed though the file stays."""
    (tmp_path / "emma.md").write_text("Emma is a novel.", "utf-8")
    jsonl(tmp_path / "c.jsonl", record("emma.md"), record("b"))
    assert events(index(tmp_path, store, base=tmp_path))["added"] == 3
    jsonl(tmp_path / "c.jsonl", record("b"))
    assert index(tmp_path, store, base=tmp_path).removed == 1
    assert "emma.md" not in {document.id for document in store.filter_documents()}


@pytest.mark.parametrize(
    ("title", "content"), [(None, "He was born there."), (["Ulm", "Bonn"], "Ulm, Bonn\n\nHe was born there.")]
)
def test_a_title_among_the_metadata_of_a_record_may_be_none_or_several(tmp_path, store, title, content):
    """`null` became the title `None` before the text that is searched and shown, and a list kept its brackets."""
    jsonl(tmp_path / "c.jsonl", {"id": "a", "text": "He was born there.", "meta": {"title": title}})
    index(tmp_path, store)
    assert [found.content for found in store.filter_documents()] == [content]


def test_what_another_pipeline_made_is_made_anew(folder, store, tmp_path_factory):
    """Also of files that have not changed: else a store would keep passages that are no longer made so."""
    index(folder, store, base=folder)
    spec = read("indexing")
    spec["components"]["split"]["init_parameters"]["split_length"] = 90
    smaller = tmp_path_factory.mktemp("yaml") / "smaller.yml"
    smaller.write_text(yaml.safe_dump(spec), "utf-8")
    report = index(folder, store, base=folder, pipeline=smaller)
    assert (report.updated, report.unchanged, report.added) == (5, 0, 0)
    assert max(len((document.content or "").split()) for document in store.filter_documents()) < 120
    assert contents(store)["short.txt"]  # and nothing is there twice
    assert index(folder, store, base=folder, pipeline=smaller).unchanged == 5


def test_what_was_indexed_before_pipelines_were_noted_is_made_anew(folder, store):
    """As by a version of this package from before."""
    index(folder, store, base=folder)
    for document in store.filter_documents():
        document.meta.pop("source_pipeline")
    assert events(index(folder, store, base=folder))["updated"] == 5
    assert index(folder, store, base=folder).unchanged == 5


def test_an_embedder_is_no_other_pipeline(tmp_path_factory):
    """Its settings may name a folder of one machine, and what is up to date is not embedded again."""
    spec = read("indexing")
    spec["components"]["embedder"]["init_parameters"]["model"] = "/somewhere"
    other = tmp_path_factory.mktemp("yaml") / "other.yml"
    other.write_text(yaml.safe_dump(spec), "utf-8")
    assert identity_of(other) == identity_of("indexing")


class WatchedStore(InMemoryDocumentStore):
    """Notes after each operation which complete versions of the source `long.md` are there."""

    def __init__(self) -> None:
        super().__init__(index=f"test_{uuid4().hex}")
        self.seen: list[set[str]] = []

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        written = 0
        for document in documents:
            written += super().write_documents([document], policy)
            self._look()
        return written

    def delete_documents(self, document_ids: list[str]) -> None:
        for document_id in document_ids:
            super().delete_documents([document_id])
            self._look()

    def _look(self) -> None:
        versions: dict[tuple[str, int], int] = {}
        for document in self.filter_documents({"field": "meta.source", "operator": "==", "value": "long.md"}):
            key = (document.meta["source_sha256"], document.meta["chunks"])
            versions[key] = versions.get(key, 0) + 1
        self.seen.append({sha256 for (sha256, chunks), there in versions.items() if there == chunks})


def test_at_every_moment_a_complete_version_of_a_file_is_there(folder):
    """The new one is written completely before the old one is touched."""
    store = WatchedStore()
    index(folder / "long.md", store, base=folder)
    (folder / "long.md").write_text(long_text("Persuasion", 7))
    store.seen.clear()
    index(folder / "long.md", store, base=folder)
    assert len(store.seen) > 8
    assert all(store.seen)
    assert {len(versions) for versions in store.seen} == {1, 2}
    assert store.seen[0].isdisjoint(store.seen[-1])


class UndeletingStore(InMemoryDocumentStore):
    """Breaks when it is to delete."""

    def delete_documents(self, document_ids: list[str]) -> None:
        msg = f"no deletion of {len(document_ids)} documents"
        raise OSError(msg)


def test_a_crash_between_writing_the_new_and_deleting_the_old_version_heals(folder):
    """The next run has nothing to write; it only deletes what the crash left."""
    broken = UndeletingStore(index=f"test_{uuid4().hex}")
    index(folder, broken, base=folder)
    count = broken.count_documents()
    (folder / "long.md").write_text(long_text("Persuasion"))
    with pytest.raises(OSError, match="no deletion"):
        index(folder, broken, base=folder)
    assert broken.count_documents() > count
    healed = InMemoryDocumentStore(index=broken.index)
    report = index(folder, healed, base=folder)
    assert (report.unchanged, report.documents_written) == (5, 0)
    assert report.documents_deleted > 1
    assert healed.count_documents() == count
    assert contents(healed)["long.md"] == long_text("Persuasion")
    assert events(index(folder, healed, base=folder)) == {"sources": 5, "unchanged": 5}


def test_a_half_written_version_is_completed_and_the_old_one_then_goes(folder, store):
    """What a run leaves that was killed while it wrote the new version of a file."""
    index(folder, store, base=folder)
    (folder / "long.md").write_text(long_text("Persuasion", 7))
    other = InMemoryDocumentStore(index=f"test_{uuid4().hex}")
    index(folder, other, base=folder)
    new = [document for document in other.filter_documents() if document.meta["source"] == "long.md"]
    store.write_documents(new[::2], policy=DuplicatePolicy.OVERWRITE)
    report = index(folder, store, base=folder)
    assert (report.updated, report.unchanged, report.documents_written) == (1, 4, len(new))
    assert contents(store) == contents(other)


@pytest.mark.parametrize(
    "text", ["退款在十四天内支付。" * 600, "ein\tzwei\n" * 3000, "x" * 60_000], ids=["Chinese", "table", "one word"]
)
def test_text_without_spaces_is_indexed_in_passages_too(tmp_path, store, text):
    """A whole file as one passage would be judged by its first lines, and fill a prompt alone."""
    (tmp_path / "a.txt").write_text(text)
    index(tmp_path, store, base=tmp_path)
    assert contents(store) == {"a.txt": text}
    assert max(len(document.content) for document in store.filter_documents()) <= 2000


def test_of_a_handbook_in_html_all_sections_are_indexed_and_not_the_longest_alone(tmp_path, store):
    """As DocBook writes it: its paragraphs are `div`, and what stands round about is no advertisement but the text."""

    def para(text: str) -> str:
        return f'<div class="para">{text}</div>'

    levels = "".join(
        f"<li>{para(f'<code>level{n}</code>: its messages mean that something of kind {n} has happened;')}</li>"
        for n in range(6)
    )
    longest = "A selector is a list of pairs, with semicolons between them. " * 12
    (tmp_path / "syslog.html").write_text(
        f"""<html><body><ul class="docnav"><li><a href="a.html">Previous</a></li></ul>
        <div class="section"><h2>Syslog</h2>
        {para("The daemon collects the messages of the kernel and of all services, and sorts them into files.")}
        {para("Each message has a level.")}<div class="itemizedlist"><ul>{levels}</ul></div>
        <div class="section"><h3>Configuration</h3>{para("The file has a rule in each line.")}
        <div class="section"><h4>Selectors</h4>{para(longest)}{para("Each element takes precedence. " * 16)}</div></div>
        </div></body></html>"""
    )
    index(tmp_path, store)
    text = contents(store)["syslog.html"]
    for said in ("The daemon collects", "level3", "a rule in each line", "with semicolons", "takes precedence"):
        assert said in text
    assert "Previous" not in text


def test_comments_in_markdown_are_no_evidence_and_code_stays_as_it_is(tmp_path, store):
    """Nobody who reads the page sees them; in a text that is no Markdown there are none."""
    text = (
        "# Refunds\n\n<!-- Was 14 days\nuntil May. -->A refund is paid within 30 days.<!-- check -->\n\n"
        "Write `<!-- more -->` to fold.\n\n```html\n<!-- shown -->\n```\n\n"
        "- In an item:\n\n    ```xml\n    <!-- so, too -->\n    ```\n\n"
        "```md\n- as written:\n\n    ```xml\n    <!-- within -->\n    ```\n```\n\n<!-- never closed\n\nThe end."
    )
    for name in ("page.md", "page.txt"):
        (tmp_path / name).write_text(text)
    index(tmp_path, store)
    found = contents(store)
    assert "14 days" in found["page.txt"]
    assert not re.search("14 days|check", found["page.md"])
    for said in (
        "\n\nA refund is paid within 30 days.\n\n",
        "`<!-- more -->`",
        "<!-- shown -->",
        "<!-- so, too -->",
        "<!-- within -->",
        "never closed",
        "The end.",
    ):
        assert said in found["page.md"]


def test_addresses_at_the_end_of_a_log_of_changes_are_no_passages(tmp_path, store):
    """Of versions, issues and people; those that a text refers to by words or numbers stay, and notes."""
    text = (
        "# Changelog\n\n## [1.1.0] - 2026-03-01\n\n- Tabs ([#12], thanks [@ann]), see [the guide] and [2][2].[^1]\n\n"
        "[Unreleased]: https://example.org/v1.1.0...HEAD\n[1.1.0]: https://example.org/v1.0.0...v1.1.0\n"
        "[#12]: https://example.org/12\n[@ann]: https://example.org/ann\n"
        "[the guide]: https://example.org/guide\n[2]: https://example.org/2\n[^1]: A note.\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(text)
    index(tmp_path, store)
    found = contents(store)["CHANGELOG.md"]
    assert "HEAD" not in found and "v1.0.0" not in found and "/12" not in found and "/ann" not in found
    assert "## [1.1.0] - 2026-03-01" in found and "Tabs ([#12], thanks [@ann])" in found
    assert "[the guide]: https://example.org/guide\n[2]: https://example.org/2\n[^1]: A note." in found


def test_the_pages_of_docusaurus_are_read_without_their_comments(tmp_path, store):
    """Its pages are MDX, whichever suffix they have; all of a folder of `.mdx` was passed over."""
    text = (
        "---\ntitle: Set up\n---\n\n# Ports\n\n{/* Was 81\nuntil May. */}The port is 4471.\n\n"
        "Write `{/* a note */}`.\n\n```jsx\n{/* shown */}\n```\n\n{/* never closed\n\nThe end."
    )
    for name in ("page.md", "page.mdx"):
        (tmp_path / name).write_text(text)
    assert index(tmp_path, store).skipped == 0
    for found in contents(store).values():
        assert "Was 81" not in found
        for said in ("The port is 4471.", "`{/* a note */}`", "{/* shown */}", "never closed", "The end."):
            assert said in found


def test_a_file_of_asciidoc_is_read_under_its_headings(tmp_path, store):
    """It was passed over as another kind, and read in full where its name ended in `.txt`."""
    (tmp_path / "manual.adoc").write_text(f"= Manual\n\n== Ports\n\n{'A word. ' * 100}\n\nThe port is 4471.\n")
    assert index(tmp_path, store).skipped == 0
    last = max(store.filter_documents(), key=lambda one: one.meta["chunk"])
    assert last.content.startswith("manual - Ports\n\n")
    assert "The port is 4471." in last.content


def test_each_paragraph_list_item_and_table_of_a_word_file_is_a_strip_of_its_own(tmp_path, store):
    """In a DOCX a line is a paragraph, however short: no heading or item runs into the next one."""
    document = docx.Document()
    lines = ["\u00a7 5 Zuschl\u00e4ge", "Zu allen L\u00f6hnen kommt ein Zuschlag", "Nachtarbeit", "Sonntagsarbeit"]
    for line, style in zip(lines, ["Heading 1", "Normal", "List Bullet", "List Bullet"], strict=True):
        document.add_paragraph(line, style=style)
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Anlass", "Zuschlag", "Sonntag", "50 %"], strict=True):
        cell.text = text
    document.add_heading("\u00a7 6 K\u00fcndigung")
    document.save(tmp_path / "agreement.docx")
    index(tmp_path, store)
    text = contents(store)["agreement.docx"]
    strips = [text[start:end] for start, end in sentences(text)]
    table = ["| Anlass | Zuschlag |", "| --- | --- |", "| Sonntag | 50 % |"]
    items = [f"- {line}" for line in lines[2:]]
    assert strips == [f"# {lines[0]}", lines[1], *items, *table, "# \u00a7 6 K\u00fcndigung"]


def test_files_with_macros_are_read_as_those_without(tmp_path, store):
    """Nothing runs in them; and a workbook whose formulas have no results is named, as every other."""
    document = docx.Document()
    document.add_heading("Refunds")
    document.add_paragraph("A refund is paid within 30 days.")
    document.save(word := io.BytesIO())
    kinds = {
        "refunds.docm": (word.getvalue(), "wordprocessingml.document", "ms-word.document.macroEnabled"),
        "ferries.pptm": (
            presentation("Ferries leave at noon"),
            "presentationml.presentation",
            "ms-powerpoint.presentation.macroEnabled",
        ),
        "fares.xlsm": (
            workbook([["Zone", "Fare"], ["1", "=1+1"]]),
            "spreadsheetml.sheet",
            "ms-excel.sheet.macroEnabled",
        ),
    }
    for name, (data, plain, macros) in kinds.items():
        with ZipFile(io.BytesIO(data)) as old, ZipFile(tmp_path / name, "w") as new:
            for part in old.namelist():
                told = old.read(part)
                if part == "[Content_Types].xml":
                    usual, other = f"openxmlformats-officedocument.{plain}.main", f"{macros}.main"
                    assert usual.encode() in told
                    told = told.replace(usual.encode(), other.encode())
                new.writestr(part, told)
            new.writestr("vbaProject.bin", b"macros")
    report = index(tmp_path, store)
    assert not report.failures
    assert [doubt.source for doubt in report.doubts] == [str(tmp_path / "fares.xlsm")]
    found = contents(store)
    assert found["refunds.docm"] == "# Refunds\n\nA refund is paid within 30 days."
    assert "Ferries leave at noon" in found["ferries.pptm"]
    assert "| Zone | Fare |" in found["fares.xlsm"]


@pytest.mark.parametrize("suffix", [".md", ".html", ".docx", ".txt", ".xlsx", ".csv"])
def test_every_part_of_a_long_table_has_its_caption_and_the_names_of_its_columns(tmp_path, store, suffix):
    """A row alone is numbers: neither would a question on a column find it, nor could anybody read it."""
    head, rows = ["Tariff", "Sunday fare"], [[f"zone {n}", f"{n + 300} cents"] for n in range(200)]
    path = tmp_path / f"fares{suffix}"
    if suffix == ".docx":
        document = docx.Document()
        document.add_paragraph("Fares of the harbour ferry")
        table = document.add_table(rows=0, cols=2)
        for row in [head, *rows]:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
        document.save(path)
    elif suffix in {".xlsx", ".csv"}:
        all_rows = [["Fares of the harbour ferry"], [], head, *rows]
        text = "\n".join(map(";".join, all_rows)).encode()
        path.write_bytes(workbook(all_rows) if suffix == ".xlsx" else text)
    elif suffix == ".html":
        lines = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)
        head_row = f"<caption>Fares of the harbour ferry</caption><tr><th>{head[0]}</th><th>{head[1]}</th></tr>"
        path.write_text(f"<html><body><h1>Ferries</h1><table>{head_row}{lines}</table></body></html>")
    else:
        lines = "".join(f"| {a} | {b} |\n" for a, b in rows)
        path.write_text(f"Fares of the harbour ferry\n\n| {head[0]} | {head[1]} |\n|---------|---|\n{lines}")
    index(tmp_path, store)
    passages = [one.content for one in store.filter_documents() if "cents" in one.content]
    assert len(passages) > 3
    assert all("Fares of the harbour ferry\n\n| Tariff | Sunday fare |" in passage for passage in passages)
    assert sum(passage.count(" cents") for passage in passages) == len(rows)


def test_words_are_found_however_a_typesetter_wrote_their_letters(tmp_path, store):
    """As PDF files have them: "fi" as one sign, an umlaut as two, and hyphens that only break a word or a line."""
    (tmp_path / "typeset.txt").write_text(
        "The \ufb01rst modi\ufb01cation of an o\ufb03ce \ufb02ag.\n\nDie Ku\u0308ndi\u00adgungs\u00ad\nfrist eines\n"
        "      sym\u2010\n      bolischen Verweises.\n\nAn east\u2010west\nline, 10\u00b2 m\u2010\n\nEnd.",
        encoding="utf-8",
    )
    index(tmp_path, store)
    assert contents(store) == {
        "typeset.txt": "The first modification of an office flag.\n\nDie Kündigungsfrist eines\n"
        "      symbolischen Verweises.\n\nAn east\u2010west\nline, 10\u00b2 m\u2010\n\nEnd."
    }
    for word in ("first", "modification", "office", "flag", "K\u00fcndigungsfrist", "symbolischen"):
        assert store.bm25_retrieval(word), word


@pytest.mark.parametrize("suffix", [".md", ".txt"])
@pytest.mark.parametrize(
    "ends", [("\n", "\r\n"), ("\n", "\r"), ("\n\n", "\n \t\n")], ids=["Windows", "old Mac", "blanks between paragraphs"]
)
def test_lines_of_another_system_make_the_same_passages(tmp_path, store, suffix, ends):
    """No paragraph was seen, and no word that a soft hyphen breaks: passages began in the middle of a list."""
    table = "\n".join(f"| Fare {number} | {number} cents in the harbour |" for number in range(40))
    text = f"# Ferry\n\n{long_text('ferries')}\n\nTide\n====\n\n| name | fare |\n|---|---|\n{table}\n\nKu\u00ad\nnden."
    (tmp_path / f"a{suffix}").write_bytes(text.encode())
    (tmp_path / f"b{suffix}").write_bytes(text.replace(*ends).encode())
    index(tmp_path, store, base=tmp_path)
    made = sorted(store.filter_documents(), key=lambda one: one.meta["chunk"])
    ours, theirs = (
        [one.content.removeprefix(name) for one in made if one.meta["source"] == f"{name}{suffix}"] for name in "ab"
    )
    assert ours == theirs
    assert len(ours) > 3


def test_a_record_is_written_in_the_letters_of_a_file(tmp_path, store):
    """The same text as .txt and in JSON Lines: one search finds both, title and all, and the record keeps its id."""
    text = "Die Ku\u0308ndi\u00adgungsfrist im o\ufb03ce."
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    jsonl(tmp_path / "b.jsonl", record(1, text, title="Vertra\u0308ge"), record(2, "\ufb01rst", title=""), record(3))
    index(tmp_path, store, base=tmp_path)
    assert contents(store) == {
        "a.txt": "Die K\u00fcndigungsfrist im office.",
        "b.jsonl#1": "Die K\u00fcndigungsfrist im office.",
        "b.jsonl#2": "first",
        "b.jsonl#3": EMMA,
    }
    (one,) = store.filter_documents({"field": "id", "operator": "==", "value": "1"})
    assert one.meta["title"] == "Vertr\u00e4ge"
    assert one.content.startswith("Vertr\u00e4ge\n\n")


def test_what_vanished_is_removed(folder, store):
    """A file, a record of a file that is still there, and a whole JSON Lines file."""
    jsonl(folder / "d.jsonl", record("d"))
    index(folder, store, base=folder)
    (folder / "short.txt").unlink()
    (folder / "d.jsonl").unlink()
    jsonl(folder / "c.jsonl", record(0), record(2))
    report = index(folder, store, base=folder)
    assert events(report) == {"sources": 3, "unchanged": 3, "removed": 3, "documents_deleted": 3}
    assert sorted(contents(store)) == ["c.jsonl#0", "c.jsonl#2", "long.md"]


def test_only_what_is_under_the_given_paths_is_removed(folder, store):
    """Neither the neighbours of a path nor documents that something else wrote."""
    store.write_documents([Document(content="mine", meta={"source": "docs/mine.md"})])
    (folder.parent / "docs2").mkdir()
    (folder.parent / "docs2" / "a.md").write_text("A neighbour.")
    index([folder, folder.parent / "docs2"], store, base=folder.parent)
    (folder / "short.txt").unlink()
    (folder.parent / "docs2" / "a.md").unlink()
    jsonl(folder / "c.jsonl", record(0))
    report = index(folder / "c.jsonl", store, base=folder.parent)
    assert (report.removed, report.unchanged) == (2, 1)
    report = index(folder, store, base=folder.parent)
    assert report.removed == 1
    left = {document.meta["source"] for document in store.filter_documents()}
    assert left == {"docs/mine.md", "docs/long.md", "docs/c.jsonl#0", "docs2/a.md"}


def test_a_source_is_shown_without_the_path_of_this_machine_and_known_again_by_it(folder, store):
    """Shown from the folder that the paths share; a part of them, and a folder with the same names, change no other."""
    (folder / "deep").mkdir()
    (folder / "deep" / "short.txt").write_text("Mansfield Park is a third novel.")
    other = folder.parent / "other"
    other.mkdir()
    (other / "short.txt").write_text("Persuasion is another novel.")  # the same name and the same words
    assert index(folder, store).added == 6
    assert sorted(contents(store)) == [*(f"c.jsonl#{n}" for n in range(3)), "deep/short.txt", "long.md", "short.txt"]
    assert events(index(folder / "deep", store)) == {"sources": 1, "unchanged": 1}
    assert events(index(other / "short.txt", store)) == {"sources": 1, "added": 1, "documents_written": 1}
    assert events(index([folder, other], store)) == {"sources": 7, "unchanged": 7}
    (other / "short.txt").unlink()
    assert events(index(other, store, allow_empty=True)) == {"removed": 1, "documents_deleted": 1}
    assert events(index(folder, store)) == {"sources": 6, "unchanged": 6}
    assert not any(str(folder.parent) in document.meta["source"] for document in store.filter_documents())


def test_a_part_that_is_indexed_later_is_shown_from_the_folder_of_the_whole(folder, store):
    """Else two files of one name are cited alike, and titles lose the words of folders."""
    (folder / "deep").mkdir()
    (folder / "deep" / "short.txt").write_text("Mansfield Park is a third novel.")
    index(folder, store)
    (folder / "deep" / "short.txt").write_text("Mansfield Park is her third novel.")
    (folder / "deep" / "new.txt").write_text("Emma is the fourth.")
    assert events(index(folder / "deep", store))["updated"] == 1
    assert {"deep/short.txt", "deep/new.txt", "short.txt"} < set(contents(store))
    assert index(folder, store).unchanged == 7


def test_a_file_that_is_given_itself_is_shown_by_its_name_and_no_path_of_this_machine(folder, store):
    """Alone, and beside a folder: from the folder that both are in."""
    index(folder / "short.txt", store)
    assert list(contents(store)) == ["short.txt"]
    (folder / "deep").mkdir()
    (folder / "deep" / "emma.txt").write_text(EMMA)
    index([folder / "deep", folder / "long.md"], store)
    assert set(contents(store)) == {"short.txt", "deep/emma.txt", "long.md"}


def test_files_of_one_name_in_two_folders_that_are_indexed_one_after_the_other_are_cited_by_two_names(tmp_path, store):
    """Whatever is indexed first, and also where the index has names below a base, or of a folder within this one."""
    for name in ("cars/docs", "bikes/docs", "boats/docs", "bikes/docs/old"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "index.md").write_text(f"All of {name}.")
    index(tmp_path / "cars" / "docs", store)
    index(tmp_path / "bikes" / "docs" / "old", store)
    index(tmp_path / "bikes" / "docs", store)
    index(tmp_path / "boats" / "docs", store, base=tmp_path / "boats")
    named = {"index.md", "bikes/docs/old/index.md", "bikes/docs/index.md", "docs/index.md"}
    assert set(contents(store)) == named
    other = tmp_path / "trains"
    (other / "docs").mkdir(parents=True)
    (other / "docs" / "index.md").write_text("All of trains.")
    (other / "new.md").write_text("New trains.")
    index(other, store)
    assert set(contents(store)) == {*named, "trains/docs/index.md", "trains/new.md"}
    for path in ("cars", "bikes", "trains"):
        assert events(index(tmp_path / path, store)).keys() == {"sources", "unchanged"}


def test_records_of_two_files_of_one_name_that_are_indexed_one_after_the_other_are_cited_by_two_names(tmp_path, store):
    """A user could not tell of which a cited record is; and who goes on with either writes nothing."""
    for name in ("cars", "bikes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "faq.jsonl").write_text(f'{{"id": "{name}-1", "text": "All of {name}."}}\n')
        index(tmp_path / name / "faq.jsonl", store)
    assert set(contents(store)) == {"faq.jsonl#cars-1", "bikes/faq.jsonl#bikes-1"}
    for name in ("cars", "bikes"):
        assert events(index(tmp_path / name / "faq.jsonl", store)) == {"sources": 1, "unchanged": 1}


def test_files_of_one_name_in_folders_that_share_none_are_not_cited_by_their_whole_path(folder, store):
    """Of a machine's folders clients are told no more than what parts the two."""
    index(folder, store)
    passages = store.filter_documents()
    store.delete_documents([one.id for one in passages])
    moved = [replace(one, meta={**one.meta, "source_path": f"/elsewhere/{one.meta['source']}"}) for one in passages]
    store.write_documents(moved)
    (folder / "c.jsonl").unlink()
    index(folder, store)
    shown = {one.meta["source"] for one in store.filter_documents() if one.meta["source_path"].startswith(str(folder))}
    assert shown == {"docs/long.md", "docs/short.txt"}


@pytest.mark.parametrize("base", ["", "docs"])
def test_what_was_indexed_with_a_base_is_told_to_be_there_twice_after_a_run_without_one(folder, store, base):
    """The run that it names heals it; a file of the same name and other words is another one."""
    index(folder, store, base=folder.parent / base)
    (folder.parent / "new").mkdir()
    (folder.parent / "new" / "short.txt").write_text("Persuasion is no novel.")
    assert index(folder.parent / "new", store).doubts == ()
    (doubt,) = index(folder, store).doubts
    assert f"run again with --base {(folder.parent / base).as_posix()}," in doubt.reason
    index(folder, store, base=folder.parent / base)
    assert len(contents(store)) == 6
    by_path = {one.meta["source_path"] for one in store.filter_documents() if "source_path" in one.meta}
    assert by_path == {(folder.parent / "new" / "short.txt").as_posix()}


def test_a_folder_outside_of_the_base_that_is_indexed_beside_it_is_kept_up_to_date_too(folder, tmp_path, store):
    """What vanished from it is removed, and what is beside it is not."""
    for name in ("given", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "emma.txt").write_text(EMMA)
    index([folder, tmp_path / "given", tmp_path / "other"], store, base=folder)
    (tmp_path / "given" / "emma.txt").unlink()
    (tmp_path / "given" / "new.txt").write_text("Emma is a novel.")
    (tmp_path / "other" / "emma.txt").unlink()
    report = index([folder, tmp_path / "given"], store, base=folder)
    assert (report.added, report.removed, report.documents_deleted) == (1, 1, 1)


def test_what_was_indexed_without_a_base_is_replaced_by_the_first_run_with_one(folder, store):
    """Nothing is twice in the store, and no old version stays beside what is changed later."""
    index(folder, store)
    (folder / "short.txt").write_text("")  # cannot be read any more: its old version stays
    report = index(folder, store, base=folder.parent)
    assert (report.updated, report.added, report.removed, len(report.failures)) == (4, 0, 0, 1)
    (folder / "short.txt").write_text("Persuasion is another novel.")
    assert events(index(folder, store, base=folder.parent))["updated"] == 1
    assert sorted(contents(store)) == [*(f"docs/c.jsonl#{n}" for n in range(3)), "docs/long.md", "docs/short.txt"]
    assert not any("source_path" in document.meta for document in store.filter_documents())


def test_the_base_itself_being_indexed_takes_nothing_that_is_named_outside_of_it(folder, tmp_path, store):
    """Another folder that was indexed by its absolute path has not vanished, on whatever system that was."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "emma.txt").write_text(EMMA)
    index(other, store)
    kept = store.filter_documents()
    windows = {**kept[0].meta, "source": "emma.txt", "source_path": "C:/elsewhere/emma.txt"}
    store.write_documents([replace(kept[0], id="windows", meta=windows)])
    index(folder, store, base=folder)
    assert index(folder, store, base=folder).removed == 0
    assert {"windows", *(document.id for document in kept)} < {one.id for one in store.filter_documents()}


def test_a_record_that_moved_before_the_first_run_with_a_base_is_kept(tmp_path, store):
    docs = tmp_path / "docs"
    docs.mkdir()
    jsonl(docs / "a.jsonl", record("1"), record("2"))
    index(docs, store)
    jsonl(docs / "a.jsonl", record("1"))
    jsonl(docs / "b.jsonl", record("2"))
    assert index(docs, store, base=docs).failures == ()
    assert sorted(contents(store)) == ["a.jsonl#1", "b.jsonl#2"]


def test_a_record_that_moved_to_another_file_is_kept(folder, store):
    """It is overwritten under its id, and not deleted as a record of the file that is gone."""
    index(folder, store, base=folder)
    (folder / "c.jsonl").rename(folder / "renamed.jsonl")
    report = index(folder, store, base=folder)
    assert (report.added, report.removed, report.documents_deleted) == (3, 3, 0)
    assert sorted(contents(store)) == ["long.md", *(f"renamed.jsonl#{number}" for number in range(3)), "short.txt"]
    assert events(index(folder, store, base=folder)) == {"sources": 5, "unchanged": 5}


def test_two_records_with_one_id_are_a_failure_and_the_first_is_kept(folder, store):
    """In one file or in two: otherwise each run would overwrite the one with the other."""
    jsonl(folder / "c.jsonl", record(0), record(0, "Another."))
    jsonl(folder / "d.jsonl", record(0, "A third."))
    for _ in range(2):
        report = index(folder, store, base=folder)
        assert [failure.source for failure in report.failures] == ["c.jsonl#0", "d.jsonl#0"]
        assert "c.jsonl#0" in report.failures[1].reason
        assert contents(store)["c.jsonl#0"] == EMMA


def test_a_record_does_not_take_the_id_of_a_document_from_elsewhere(folder, store):
    """Neither of a file that is not given now, nor of a document that something else wrote."""
    store.write_documents([Document(id="mine", content="mine")])
    index(folder, store, base=folder)
    other = jsonl(folder.parent / "other.jsonl", record(0, "Other."), record("mine", "Other."), record("new", "New."))
    report = index(other, store, base=folder.parent)
    assert {failure.source: "docs" in failure.reason for failure in report.failures} == {
        "other.jsonl#0": False,
        "other.jsonl#mine": False,
    }
    assert "c.jsonl#0" in report.failures[0].reason
    assert report.added == 1
    by_id = {document.id: document.content for document in store.filter_documents()}
    assert (by_id["0"], by_id["mine"], by_id["new"]) == (f"Title 0\n\n{EMMA}", "mine", "Title new\n\nNew.")


def bomb() -> bytes:
    """A small DOCX whose text is large unpacked."""
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        text = b"<w:p>" + b"word " * 1_000 + b"</w:p>"
        archive.writestr("word/document.xml", b'<w:document xmlns:w="w">' + text * 11_000)
    return file.getvalue()


BAD_FILES = {
    "bomb.docx": (bomb(), "bytes of text and marks"),
    "text.pdf": (b"I am plain text.", "begin like a PDF"),
    "locked.pdf": (encrypted_pdf("secret"), "password"),
    "aes.pdf": (aes_pdf(), "without a password"),
    "certified.pdf": (aes_pdf().replace(b"/Filter/Standard", b"/Filter/Adobe.PubSec"), "not by a password"),
    "damaged.pdf": (pdf("Damaged words.")[:150], "damaged"),
    "pictures.pdf": (pdf(), "text recognition"),
    "crowded.html": (b"<p " + b" ".join(b"a%d" % number for number in range(20_000)) + b">x", "2000 attributes"),
    "text.docx": (b"I am plain text.", "no zip archive"),
    "locked.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
    "binary.txt": (bytes(range(256)) * 4, "binary"),
    "cyrillic.txt": ("Приветствие: schöner.".encode("cp1251", "ignore"), "not UTF-8"),
    "utf16.md": ("A sentence.".encode("utf-16")[:-1], "damaged text in UTF-16"),
    "empty.docx": (b"", "empty"),
    "picture.html": (b"\x89PNG\r\n\x1a\n" + bytes(100), "binary"),
    "script.html": (b"<html><script>var x = 1</script></html>", "no text"),
}


def test_text_that_windows_calls_unicode_is_read(tmp_path, store):
    """Excel's "Unicode text", and what PowerShell's `>` writes, begin with the mark of UTF-16: nothing is guessed."""
    table = "Tarif\tGebühr\r\nBasis\t4,90 €\r\n"
    page = '<html><head><meta charset="utf-16"><title>Büro</title></head><p>Das Büro öffnet um acht.</p></html>'
    files = {"fees.tsv": table, "notes.txt": "Das Büro öffnet um acht.\r\n", "office.html": page}
    for name, text in files.items():
        (tmp_path / name).write_bytes(codecs.BOM_UTF16_LE + text.encode("utf-16-le"))
    (tmp_path / "big.md").write_bytes(codecs.BOM_UTF16_BE + "# Büro\n\nDas Büro öffnet um acht.\n".encode("utf-16-be"))
    report = index(tmp_path, store, base=tmp_path)
    assert not report.failures
    found = contents(store)
    assert "| Basis | 4,90 € |" in found["fees.tsv"]
    assert all("Das Büro öffnet um acht." in found[name] for name in ("notes.txt", "office.html", "big.md"))
    assert events(index(tmp_path, store, base=tmp_path)) == {"sources": 4, "unchanged": 4}


def test_text_of_windows_in_western_europe_is_read_and_named(tmp_path, store):
    """So Excel writes CSV; each such file had to be converted by hand."""
    (tmp_path / "fees.csv").write_bytes("Tarif;Gebühr\r\nGroß;4,90 €\r\n".encode("cp1252"))
    (tmp_path / "hours.md").write_text("Das Büro öffnet um acht.")
    report = index(tmp_path, store, base=tmp_path)
    assert not report.failures
    (doubt,) = report.doubts
    assert doubt.source == "fees.csv"
    assert doubt.reason.startswith("got text that is not UTF-8, and read it as Windows-1252; ")
    assert "| Groß | 4,90 € |" in contents(store)["fees.csv"]
    assert events(index(tmp_path, store, base=tmp_path)) == {"sources": 2, "unchanged": 2}


def test_bad_files_do_not_stop_the_others(folder, store, caplog):
    """Each is reported with a reason and a way out, and neither the report nor the log quotes a file."""
    for name, (data, _) in BAD_FILES.items():
        (folder / name).write_bytes(data)
    os.symlink(folder / "nowhere", folder / "gone.md")
    (folder / "c.jsonl").write_text('{"id": "0", "text": "one"}\n{"id": "1", "text": \n{"id": "2", "text": "two"}\n')
    with caplog.at_level(logging.WARNING):
        report = index(folder, store, base=folder)
    reasons = {failure.source: failure.reason for failure in report.failures}
    assert sorted(reasons) == sorted([*BAD_FILES, "gone.md", "c.jsonl"])
    for name, (_, words) in BAD_FILES.items():
        assert words in reasons[name], reasons[name]
        assert ";" in reasons[name] or "," in reasons[name]
    said = " ".join([*reasons.values(), caplog.text])
    assert not [word for word in ("plain text.", "schöner", "sentence", "Damaged words", "var x") if word in said]
    assert sorted(contents(store)) == ["c.jsonl#0", "c.jsonl#2", "long.md", "short.txt"]
    assert report.sources == report.added + len(report.failures) == 4 + len(reasons)


def test_a_file_that_became_unreadable_keeps_its_old_version(folder, store):
    """So does what a bad line in a JSON Lines file may have been."""
    index(folder, store, base=folder)
    before = contents(store)
    (folder / "long.md").write_bytes(b"\xff\xfe\x00")
    (folder / "short.txt").unlink()
    (folder / "short.txt").symlink_to(folder / "nowhere")
    (folder / "c.jsonl").write_text(json.dumps(record(0)) + '\n{"id": "1", "te\n' + json.dumps(record(2)) + "\n")
    report = index(folder, store, base=folder)
    assert len(report.failures) == 3
    assert (report.removed, report.documents_deleted) == (0, 0)
    assert contents(store) == before


@pytest.mark.parametrize("base", [True, False])
def test_a_folder_that_may_not_be_listed_any_more_keeps_what_it_had_and_says_so(folder, store, monkeypatch, base):
    """Who took the right away may want it gone from the answers, too."""
    root = folder.parent if base else None
    (folder / "deep").mkdir()
    (folder / "deep" / "new.md").write_text("Persuasion is a novel.")
    index(folder, store, base=root)
    list_really = os.scandir

    def refuse(path: Path) -> object:
        if path == folder / "deep":  # root, as whom containers run tests, may list all
            raise PermissionError(13, "Permission denied")
        return list_really(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = index(folder, store, base=root)
    (failure,) = report.failures
    assert (report.removed, failure.source) == (0, "docs/deep" if base else (folder / "deep").as_posix())
    assert "cannot be listed" in failure.reason
    assert failure.reason.endswith("what was indexed of it before stays and is found")


@pytest.mark.parametrize("base", [True, False])
def test_a_folder_that_became_empty_keeps_what_was_indexed_from_it_until_it_is_said_otherwise(folder, store, base):
    """It may not be mounted; the other given paths are brought up to date, and a file of another kind is none."""
    root = folder.parent if base else None
    other = folder.parent / "other"
    other.mkdir()
    (other / "new.md").write_text("Persuasion is a novel.")
    index([folder, other], store, base=root)
    before = store.count_documents()
    for path in [*folder.iterdir(), other / "new.md"]:
        path.unlink()
    (folder / "not-mounted").write_text("")
    (other / "newer.md").write_text("Persuasion is another novel.")
    report = index([folder, other], store, base=root)
    assert (report.added, report.removed, store.count_documents()) == (1, 1, before)
    (failure,) = report.failures
    assert failure.source == ("docs" if base else folder.as_posix())
    assert failure.reason.startswith("got no file to index in it, but the index has sources of it (5), which stay; ")
    assert "--allow-empty" in failure.reason
    report = index([folder, other], store, base=root, allow_empty=True)
    assert (report.removed, report.failures, store.count_documents()) == (5, (), 1)


@pytest.mark.parametrize("base", [True, False])
def test_a_folder_below_the_given_one_that_became_empty_keeps_its_sources_too(folder, store, base):
    """What is mounted there may hold folders of its own; what vanished from a folder that holds more is removed."""
    root = folder if base else None
    (folder / "drive" / "2024").mkdir(parents=True)
    (folder / "drive" / "2024" / "old.md").write_text("Sanditon was never finished.")
    index(folder, store, base=root)
    shutil.rmtree(folder / "drive" / "2024")
    (folder / "short.txt").unlink()
    report = index(folder, store, base=root)
    (failure,) = report.failures
    assert (report.removed, failure.source) == (1, "drive" if base else (folder / "drive").as_posix())
    assert failure.reason.startswith("got nothing in it, but the index has sources of it (1), which stay; ")
    (folder / "drive").rmdir()
    report = index(folder, store, base=root)
    assert (report.removed, report.failures) == (1, ())


def test_what_fails_and_did_not_before_is_told_to_be_found_still(folder, store):
    """Who empties a file, or saves it in a form that cannot be read, is answered from what it said before."""
    index(folder, store, base=folder)
    before = contents(store)
    (folder / "short.txt").write_text("")
    (folder / "long.md").unlink()
    (folder / "long.md").symlink_to("gone.md")
    jsonl(folder / "c.jsonl", {"id": "0", "text": ""}, record(1), record(2))
    (folder / "new.md").write_bytes(b"\0")
    report = index(folder, store, base=folder)
    told = {failure.source: failure.reason for failure in report.failures}
    kept = "the file is empty, but the index has sources of it (1), which stay; mount or restore it, or pass "
    assert told.pop("short.txt") == f"{kept}--allow-empty to remove them"
    stays = "; until then, what was indexed of it before stays and is found"
    assert {name for name, reason in told.items() if reason.endswith(stays)} == before.keys() & told.keys()
    assert told.keys() == {"long.md", "c.jsonl#0", "new.md"}
    assert contents(store) == before
    assert "short.txt" in contents(store)
    assert index(folder, store, base=folder, allow_empty=True).removed == 1
    assert "short.txt" not in contents(store)


def test_an_empty_text_among_others_is_counted_and_fails_where_it_was_named(folder, store):
    """A note that nobody wrote yet made each run of a folder fail, every night."""
    for name in ("empty.md", "sub.html"):
        (folder / name).write_text(" \n\t\n")
    report = index(folder, store, base=folder)
    assert (report.failures, report.skipped, report.skipped_kinds) == ((), 2, {"empty": 2})
    assert report.sources == report.added == 5
    (failure,) = index(folder / "empty.md", store, base=folder).failures
    assert failure.reason == "the file is empty; write something into it, or remove it"
    assert not {"empty.md", "sub.html"} & set(contents(store))


def test_a_folder_from_which_all_files_moved_is_no_drive_that_is_not_mounted(folder, store):
    """Each run failed, and the old names stayed beside the new ones: answers cited files that are not there."""
    for name in ("drafts", "final"):
        (folder / name).mkdir()
    for name in ("one.md", "two.md"):
        (folder / "drafts" / name).write_text(f"Sanditon was never finished, says {name}.")
    index(folder, store, base=folder)
    (folder / "drafts" / "one.md").rename(folder / "final" / "first.md")
    two = (folder / "drafts" / "two.md").rename(folder.parent / "two.md")
    (failure,) = index(folder, store, base=folder).failures
    assert (failure.source, "sources of it (2), which stay" in failure.reason) == ("drafts", True)
    assert {"drafts/one.md", "drafts/two.md", "final/first.md"} <= set(contents(store))
    two.rename(folder / "final" / "two.md")
    report = index(folder, store, base=folder)
    assert (report.failures, report.added, report.removed) == ((), 1, 2)
    assert {"final/first.md", "final/two.md"} == {name for name in contents(store) if "/" in name}


def test_a_file_that_moved_and_cannot_be_written_keeps_its_old_version(folder, store):
    """Its old folder is empty, and nothing else has its text."""
    for name in ("drafts", "final"):
        (folder / name).mkdir()
    (folder / "drafts" / "one.md").write_text("This is poison.")
    index(folder, store, base=folder)
    (folder / "drafts" / "one.md").rename(folder / "final" / "one.md")
    report = index(folder, store, base=folder, embedder=PickyEmbedder())
    assert {"drafts", "final/one.md"} <= {failure.source for failure in report.failures}
    assert "drafts/one.md" in contents(store)


def test_the_base_itself_may_be_what_is_empty(folder, store):
    """As in a nightly `crag index /documents --base /documents` whose volume is not there."""
    index(folder, store, base=folder)
    before = contents(store)
    for path in folder.iterdir():
        path.unlink()
    (failure,) = index(folder, store, base=folder).failures
    assert (failure.source, contents(store)) == (".", before)


def test_a_json_lines_file_that_became_empty_keeps_its_records(folder, store):
    """Of an export that broke off; records that moved to another file are where they are now."""
    index(folder, store, base=folder)
    (folder / "c.jsonl").write_text("\n")
    (failure,) = index(folder / "c.jsonl", store, base=folder).failures
    assert failure.source == "c.jsonl"
    assert failure.reason.startswith("got no record in it, but the index has sources of it (3)")
    jsonl(folder / "moved.jsonl", record(0), record(1), record(2))
    report = index(folder, store, base=folder)
    assert (report.failures, report.added, report.removed, report.documents_deleted) == ((), 3, 3, 0)
    (folder / "moved.jsonl").write_bytes(b"")
    assert index(folder, store, base=folder, allow_empty=True).removed == 3
    assert sorted(contents(store)) == ["long.md", "short.txt"]


def test_what_is_empty_and_always_was_is_no_failure(tmp_path, store):
    """There is nothing to be kept."""
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    assert index([tmp_path, tmp_path / "sub"], store).failures == ()


def test_a_folder_whose_files_are_found_by_another_path_is_not_empty(folder, store):
    """Given twice, below another one, or behind a link: each file is indexed once."""
    link = folder.parent / "link"
    link.symlink_to(folder, target_is_directory=True)
    index(link, store)
    assert index([folder, folder, link], store).failures == ()


@component
class PickyEmbedder:
    """Fails on a document with the word poison."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        if any("poison" in document.content for document in documents):
            raise ArithmeticError
        return {"documents": documents}


def test_a_file_that_breaks_the_pipeline_does_not_take_others_along(folder, store, tmp_path):
    """Here the embedder fails on one word; the files that were converted together are tried one by one."""
    for number in range(12):
        (folder / f"n{number:02}.md").write_text("poison" if number == 5 else f"Text {number}.")
    report = index(folder, store, base=folder, embedder=PickyEmbedder())
    (failure,) = report.failures
    assert failure.source == "n05.md"
    assert "'embedder' failed on it (ArithmeticError); look at its server and key" in failure.reason
    assert report.added == 5 + 11


@pytest.mark.parametrize("told", [{}, {"source": 5, "source_path": ["a"]}])
def test_a_converter_that_tells_no_source_costs_no_source(folder, store, monkeypatch, told):
    """That of markitdown-haystack drops what a stream tells of itself, and a model's metadata may be named as ours."""
    convert = TextFileToDocument.run

    @functools.wraps(convert)
    def without(self, sources, meta=None):
        made = convert(self, sources, meta)["documents"]
        return {"documents": [replace(one, meta={**told, "page": 1}) for one in made]}

    monkeypatch.setattr(TextFileToDocument, "run", without)
    assert index(folder, store, base=folder).added == 5
    assert contents(store)["short.txt"] == (folder / "short.txt").read_text()
    assert {one.meta["page"] for one in store.filter_documents() if one.meta["source"] == "long.md"} == {1}
    assert index(folder, store, base=folder).unchanged == 5


@component
class SkippingEmbedder:
    """Gives a document with the word poison no vector, as OpenAIDocumentEmbedder does after a failure."""

    raise_on_failure = False

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        vectors = [None if "poison" in (one.content or "") else [0.6, 0.8] for one in documents]
        return {"documents": [replace(one, embedding=vector) for one, vector in zip(documents, vectors, strict=True)]}


def test_what_the_embedder_failed_on_in_silence_is_a_failure_and_tried_again(tmp_path, store):
    """Written without vectors it would be up to date, and found by words only, for ever: a wrong key, a server away."""
    (tmp_path / "emma.md").write_text(EMMA)
    (tmp_path / "bad.md").write_text("A page of poison.")
    (tmp_path / "lines.jsonl").write_text('{"id": "1", "text": "Fine."}\n{"id": "2", "text": "More poison."}\n')
    embedder = SkippingEmbedder()
    for counted in ({"added": 2, "unchanged": 0}, {"added": 0, "unchanged": 2}):
        report = index(tmp_path, store, base=tmp_path, embedder=embedder)
        assert {failure.source for failure in report.failures} == {"bad.md", "lines.jsonl#2"}
        assert "failed on 1 of its 1 passages" in report.failures[0].reason
        assert {name: getattr(report, name) for name in counted} == counted
    assert all(document.embedding for document in store.filter_documents())


@component
class CountingEmbedder:
    """Remembers how many documents each call brought."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        self.calls.append(len(documents))
        return {"documents": documents}


def test_an_embedder_is_not_called_about_nothing(tmp_path, store):
    """A call may cost seconds, and some services refuse an empty one: files alone have no records to embed."""
    embedder = CountingEmbedder()
    (tmp_path / "emma.md").write_text(EMMA)
    assert index(tmp_path, store, base=tmp_path, embedder=embedder).added == 1
    assert embedder.calls == [1]
    assert index(tmp_path, store, base=tmp_path, embedder=embedder).unchanged == 1
    assert embedder.calls == [1]


def test_an_embedder_can_be_used_again(folder, store):
    """A component instance belongs to one pipeline only; the caller's embedder is borrowed."""
    embedder = MockDocumentEmbedder()
    assert index(folder, store, base=folder, embedder=embedder, allow_empty=True).added == 5
    assert index(folder, store, base=folder, embedder=embedder, allow_empty=True).unchanged == 5
    assert {len(document.embedding) for document in store.filter_documents()} != {256}


def test_a_text_without_any_word_is_indexed_without_a_vector(folder, store):
    """It has no direction; it can still be found by what it is."""
    jsonl(folder / "c.jsonl", record("signs", "⁂ ☃", title=""))
    report = index(folder / "c.jsonl", store, base=folder)
    assert report.failures == ()
    assert [document.embedding for document in store.filter_documents()] == [None]


def test_progress_is_told_after_each_source(folder, store):
    """Number done, total and name; the total counts files and lines, also a last one that does not end."""
    (folder / "bad.pdf").write_bytes(b"no PDF")
    (folder / "one.jsonl").write_text(json.dumps(record("only")))
    told = []
    index(folder, store, base=folder, progress=lambda done, total, source: told.append((done, total, source)))
    assert [done for done, _, _ in told] == list(range(1, 8))
    assert {total for _, total, _ in told} == {7}
    assert {source for _, _, source in told} >= {"long.md", "bad.pdf", "c.jsonl#1"}


def test_nothing_is_done_when_a_path_does_not_exist(folder, store):
    """Not even for the paths that do."""
    with pytest.raises(SourceError, match="nowhere"):
        index([folder, folder / "nowhere"], store)
    assert store.count_documents() == 0


def test_a_report_is_plain_json(folder, store):
    """As `crag index --json` prints it."""
    (folder / "photo.png").write_bytes(b"x")
    (folder / "bad.pdf").write_bytes(b"no PDF")
    values = json.loads(json.dumps(index(folder, store, base=folder).to_dict()))
    assert (values["added"], values["skipped"], values["sources"]) == (5, 1, 6)
    assert [failure["source"] for failure in values["failures"]] == ["bad.pdf"]
    assert values["seconds"] > 0


def scanned(*pages: str, has_pictures: bool = True, forms: int = 0) -> bytes:
    """Give a PDF of such pages; those without text show a picture, as a scanner makes it, in forms, or nothing."""
    writer = PdfWriter()
    for text in pages:
        writer.append(PdfReader(io.BytesIO(pdf(text))))
        if not text and has_pictures:
            picture = StreamObject()
            picture[NameObject("/Subtype")] = NameObject("/Image")
            drawn = DictionaryObject({NameObject("/P"): writer._add_object(picture)})
            for _ in range(forms):
                form = StreamObject()
                form[NameObject("/Subtype")] = NameObject("/Form")
                form[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): drawn})
                drawn = DictionaryObject({NameObject("/F"): writer._add_object(form)})
            writer.pages[-1]["/Resources"][NameObject("/XObject")] = drawn
    writer.write(data := io.BytesIO())
    return data.getvalue()


def test_a_workbook_that_lacks_results_of_formulas_is_indexed_and_named(folder, store):
    """Programs write it that do not calculate: its totals were missing without a word. An empty text is a result."""
    for name, formulas in (("bill", ["=SUM(A2:A2)", "=A2*2"]), ("list", ["=A2"]), ("done", ['=IF(A2=9,"","no")'])):
        book = Workbook()
        for row in (["Net", "Gross", "Sum"], [9, *formulas]):
            book.active.append(row)
        book.save(file := io.BytesIO())
        with ZipFile(file) as old, ZipFile(folder / f"{name}.xlsx", "w") as new:
            for part in old.namelist():
                data = old.read(part)
                new.writestr(part, data.replace(b'r="B2"', b'r="B2" t="str"') if name == "done" else data)
    report = index(folder, store, base=folder).to_dict()
    told = {doubt["source"]: doubt["reason"].partition(":")[0] for doubt in report["doubts"]}
    assert told == {
        "bill.xlsx": "got a workbook with 2 formulas without a result",
        "list.xlsx": "got a workbook with a formula without a result",
    }
    assert report["failures"] == []


def test_a_pdf_of_which_pages_are_pictures_is_indexed_and_named(folder, store):
    """A cover letter before a scanned contract: nothing of the contract will be found, and somebody must know."""
    long = "Goods can be returned within thirty days after their delivery. " * 40
    files = {
        "letter.pdf": scanned("The contract is enclosed.", ""),
        "form.pdf": scanned("The contract is enclosed.", "", forms=2),
        "book.pdf": scanned("", *[long] * 4, ""),  # a cover, and its back
        "annex.pdf": scanned(*[long] * 4, "", long, "", "", long),
        "blank.pdf": scanned(long, "", "", "", has_pictures=False),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    report = index(folder, store, base=folder).to_dict()
    told = {doubt["source"]: doubt["reason"].partition(" are pictures")[0] for doubt in report["doubts"]}
    assert told == {
        "annex.pdf": "got a PDF of which 3 of 9 pages, page 5 first,",
        "form.pdf": "got a PDF of which 1 of 2 pages, page 2 first,",
        "letter.pdf": "got a PDF of which 1 of 2 pages, page 2 first,",
    }
    assert report["failures"] == []


def test_a_pdf_with_a_damaged_page_is_indexed_without_it_and_named(folder, store):
    """Of nineteen pages with three such nothing was read."""
    writer = PdfWriter(clone_from=io.BytesIO(scanned("The first page.", "Another page.", "The last page.")))
    writer.pages[1]["/Contents"].get_object().set_data(b"BT /F1 12 Tf (lost) Tj [628 FR 13] TJ ET")
    writer.write(folder / "torn.pdf")
    report = index(folder, store, base=folder)
    (doubt,) = report.doubts
    assert doubt.reason.startswith("got a PDF of which 1 of 3 pages, page 2 first, are damaged")
    text = "".join(one.content for one in store.filter_documents())
    assert ("The first page." in text, "The last page." in text) == (True, True)


def test_a_pdf_that_lists_its_pictures_wrongly_ends_no_run(folder, store):
    """Its text is read; the look for scanned pages ended the run, for all files after it."""
    writer = PdfWriter(clone_from=io.BytesIO(scanned("The first page.", "")))
    writer.pages[1][NameObject("/Resources")] = DictionaryObject(
        {NameObject("/XObject"): ArrayObject([NumberObject(7)])}
    )
    writer.write(folder / "a.pdf")
    report = index(folder, store, base=folder)
    assert (report.added, report.failures) == (6, ())


def test_a_pdf_that_shows_its_form_to_few_programs_is_named(folder, store):
    """All others are told to wait; nothing that was filled in is on its pages."""
    writer = PdfWriter(clone_from=io.BytesIO(pdf("Please wait... Your PDF viewer may not be able to display this.")))
    writer.root_object[NameObject("/NeedsRendering")] = BooleanObject(True)
    writer.write(folder / "form.pdf")
    (doubt,) = index(folder, store, base=folder).doubts
    assert (doubt.source, "XFA" in doubt.reason) == ("form.pdf", True)


def test_a_pdf_whose_text_is_of_no_use_is_indexed_and_named(folder, store):
    """Its pages look right; without a word, "no document answers" would be all that is heard of it."""
    text = (
        "A refund is paid within two weeks after the returned goods have arrived at our warehouse. The money goes back "
        "to the card that was used for the payment. Goods can be returned within thirty days after their delivery. "
        "Batteries are covered by the warranty for six months, all other parts of a device for two years. "
    )
    (folder / "glued.pdf").write_bytes(pdf(text.replace(" ", "")))
    (folder / "good.pdf").write_bytes(pdf(text))
    report = index(folder, store, base=folder).to_dict()
    assert [doubt["source"] for doubt in report["doubts"]] == ["glued.pdf"]
    assert "its words are not separated" in report["doubts"][0]["reason"]
    assert (report["added"], report["failures"]) == (7, [])
    assert index(folder, store, base=folder).doubts == ()


class FragileStore(InMemoryDocumentStore):
    """Breaks after a number of operations, half-way through what it was asked to do."""

    left = -1

    def _one(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise ConnectionError

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        for document in documents:
            self._one()
            super().write_documents([document], policy)
        return len(documents)

    def delete_documents(self, document_ids: list[str]) -> None:
        for document_id in document_ids:
            self._one()
            super().delete_documents([document_id])


def change_something(folder: Path, rng: random.Random) -> None:
    """Add, change, move or remove a file or records; ids stay unique in all files."""
    name = f"{rng.choice('abc')}.{rng.choice(['md', 'txt', 'jsonl', 'jsonl'])}"
    path = folder / rng.choice(["", "sub"]) / name
    if rng.random() < 0.3:
        path.unlink(missing_ok=True)
    elif path.suffix == ".jsonl":
        others = {line for other in folder.rglob("*.jsonl") if other != path for line in other.read_text().splitlines()}
        taken = {json.loads(line)["id"] for line in others}
        keys = [key for key in rng.sample("0123456789", rng.randint(0, 6)) if key not in taken]
        jsonl(path, *(record(key, rng.choice(["One.", "Two."])) for key in keys))
    else:
        path.write_text(long_text(rng.choice(["Emma", "Persuasion"]), rng.randint(1, 4)))


@pytest.mark.parametrize("seed", range(12))
def test_after_any_changes_and_crashes_the_store_holds_what_a_fresh_one_would(tmp_path, seed):
    """Files and records come, change, move and go; some runs break at a random operation."""
    rng = random.Random(seed)
    folder, embedder = tmp_path / "docs", MockDocumentEmbedder()
    (folder / "sub").mkdir(parents=True)
    store = FragileStore(index=f"test_{uuid4().hex}")
    for _ in range(6):
        for _ in range(rng.randint(1, 5)):
            change_something(folder, rng)
        store.left = rng.randint(1, 12)
        with contextlib.suppress(ConnectionError):
            index(folder, store, base=folder, embedder=embedder, allow_empty=True)
    store.left = -1
    assert index(folder, store, base=folder, embedder=embedder, allow_empty=True).failures == ()
    fresh = InMemoryDocumentStore(index=f"test_{uuid4().hex}")
    report = index(folder, fresh, base=folder, embedder=embedder)
    by_id = [{document.id: document for document in one.filter_documents()} for one in (store, fresh)]
    assert by_id[0] == by_id[1]
    assert events(index(folder, store, base=folder, embedder=embedder, allow_empty=True)) == (
        {"sources": report.sources, "unchanged": report.sources} if report.sources else {}
    )


def test_pages_that_only_lead_to_others_are_skipped_and_what_was_indexed_of_them_goes(tmp_path: Path) -> None:
    """They failed as if they were damaged, or stayed found by what they had said before."""
    store, page = InMemoryDocumentStore(), tmp_path / "halls.html"
    page.write_text("<html><body><h1>Halls</h1><p>The hall opens at nine.</p></body></html>")
    assert index(tmp_path, store).added == 1
    redirect = "<html><head><meta http-equiv='refresh' content='0; url=new.html'></head><body>Moved.</body></html>"
    page.write_text(redirect)
    (tmp_path / "index.html").write_text("<html><body><ul><li><a href='halls.html'>Halls</a></li></ul></body></html>")
    (tmp_path / "app.html").write_text("<html><body><div id='app'></div></body></html>")
    for deleted in (1, 0):
        report = index(tmp_path, store)
        assert (report.sources, report.skipped_kinds, report.documents_deleted) == (3, {"pages of links": 2}, deleted)
        assert [failure.source for failure in report.failures] == [str(tmp_path / "app.html")]
        assert store.count_documents() == 0


def test_a_page_that_shows_the_sign_of_number_zero_is_no_binary_file(tmp_path: Path) -> None:
    """As Javadoc does of a constant; a picture that is named as a page is one."""
    store = InMemoryDocumentStore()
    text = "<p>All signs of the hall. " + "They are carved in stone. " * 50
    (tmp_path / "signs.html").write_text(f"<html><body><h1>Signs</h1><p>NUL is \0 in code.</p>{text}</body></html>")
    (tmp_path / "picture.html").write_bytes(b"\x89PNG\r\n\0\0\0\rIHDR\0\0\0\1" * 50)
    report = index(tmp_path, store)
    assert [(one.source, one.reason[:17]) for one in report.failures] == [
        (str(tmp_path / "picture.html"), "got a binary file")
    ]
    found = "\n".join(one.content or "" for one in store.filter_documents())
    assert "NUL is in code." in " ".join(found.split())
    assert "carved in stone. They" in found


@pytest.mark.parametrize(
    ("name", "page"),
    [
        (
            "index.rst",
            ".. _halls:\n\n=====\nHalls\n=====\n\n:Release: 2\n\n.. toctree::\n   :maxdepth: 2\n\n   gates\n",
        ),
        ("index.rst.txt", ".. SPDX-License-Identifier: MIT\n\nHalls\n=====\n\n.. automodule:: halls\n   :members:\n"),
        ("index.md", "(halls)=\n# Halls\n\n```{toctree}\n:maxdepth: 2\n\ngates\n```\n"),
    ],
)
def test_a_page_of_sphinx_that_only_leads_to_others_is_skipped(tmp_path: Path, name: str, page: str) -> None:
    """It has the words of a question in its title and the names of files, and answers none; with a sentence it may."""
    store = InMemoryDocumentStore()
    (tmp_path / name).write_text(page)
    report = index(tmp_path, store)
    assert (report.skipped_kinds, report.failures, store.count_documents()) == ({"pages of links": 1}, (), 0)
    (tmp_path / name).write_text(f"{page}\nThe hall opens at nine.\n")
    assert index(tmp_path, store).added == 1


@pytest.mark.parametrize(
    "page",
    [
        *("Halls\n=====\n", "Halls\n=====\n\n.. note::\n\n   At nine.\n\n.. toctree::\n\n   gates\n", "* one\n* two\n"),
        *("Halls\n=====\n\n.. toctree::\n\n   gates\n\n.. function:: open()\n", "# Halls\n\n```python\nopen()\n```\n"),
    ],
)
def test_other_pages_of_few_words_are_indexed(tmp_path: Path, page: str) -> None:
    """A title alone, a note, a list, a signature, code."""
    (tmp_path / "index.rst").write_text(page)
    assert index(tmp_path, InMemoryDocumentStore()).added == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"store": None}, "got a NoneType as store"),
        ({"store": InMemoryDocumentStore}, "got the class InMemoryDocumentStore as store"),
        ({"embedder": "a-model"}, "got a str as embedder, wanted a document embedder"),
        ({"embedder": StaticTextEmbedder()}, "got a StaticTextEmbedder as embedder"),
        ({"embedder": StaticDocumentEmbedder}, "got the class StaticDocumentEmbedder as embedder"),
        ({"shard": 1}, "shard must be K/N .* but got 1"),
    ],
)
def test_a_slip_in_an_argument_is_told_before_a_file_is_read(folder: Path, wrong: dict[str, Any], said: str) -> None:
    """Python's words said nothing of it, or each file failed: look at its server and key."""
    with pytest.raises(ConfigurationError, match=said):
        index(folder, **{"store": InMemoryDocumentStore(), **wrong})


def test_files_and_their_base_are_found_in_a_users_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As all else that Python is told; of `--base=~/docs` a shell writes nothing out either."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder.parent))
    store = InMemoryDocumentStore(index=uuid4().hex)
    assert index("~/docs/short.txt", store, base="~/docs").added == 1
    assert [one.meta["source"] for one in store.filter_documents()] == ["short.txt"]
    with pytest.raises(SourceError):
        index("", store)
