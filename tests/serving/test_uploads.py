"""Files uploaded into the index: switched on, of known kinds, with names that are no paths."""

import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import httpx
import pytest
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from serving.conftest import QUESTION

from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.pipelines.indexing import index
from haystack_integrations.crag.serving import uploads
from haystack_integrations.crag.serving.deployment import deploy
from haystack_integrations.crag.serving.guarded_store import GuardedMemoryStore
from haystack_integrations.crag.serving.settings import read_settings
from haystack_integrations.crag.serving.uploads import uploads_router

PATH = "/indexing/run"


def test_uploads_are_off_by_default(serve: Any) -> None:
    with serve().client() as client:
        assert client.post(PATH, files={"files": ("a.md", b"text")}).status_code == 404


@pytest.mark.parametrize("is_on", [False, True])
def test_a_path_that_is_none_is_refused_with_that_of_uploads_where_they_are_switched_on(
    serve: Any, is_on: bool
) -> None:
    with serve(uploads=is_on).client() as client:
        told = client.post("/upload", files={"files": ("a.md", b"text")}).json()
    assert (PATH in told["detail"][0]["accepted"]) == is_on


def test_an_uploaded_file_is_found_afterwards(serve: Any) -> None:
    """Through the package's own indexing: the same file again changes nothing, a new version replaces the old one."""
    first = b"# Lighthouses\n\nThe lighthouse of Bishop Rock was lit in 1858.\n"
    second = first.replace(b"1858", b"1887")
    with serve(uploads=True).client() as client:
        added = client.post(PATH, files=[("files", ("rocks.md", first)), ("files", ("b.txt", b"Another text."))]).json()
        same = client.post(PATH, files={"files": ("rocks.md", first)}).json()
        changed = client.post(PATH, files={"files": ("rocks.md", second)}).json()
        asked = {"question": "When was the lighthouse of Bishop Rock lit?"}
        evidence = client.post("/corrective_retrieval/run", json=asked).json()["result"]["evidence"]
        emma = client.post("/corrective_retrieval/run", json={"question": QUESTION}).json()["result"]["evidence"]
    assert (added["result"]["added"], added["result"]["failures"]) == (2, [])
    assert (same["result"]["unchanged"], same["result"]["removed"]) == (1, 0)
    assert (changed["result"]["updated"], changed["result"]["removed"]) == (1, 0)
    assert "1887" in evidence[0]["content"]
    assert evidence[0]["source"] == "uploads/rocks.md"
    assert not any("1858" in one["content"] for one in evidence)
    assert emma[0]["source"] == "emma.md"


def test_records_are_uploaded_too(serve: Any) -> None:
    lines = b'{"id": "r1", "text": "Bishop Rock is a lighthouse.", "title": "Bishop Rock"}\nno json\n'
    with serve(uploads=True).client() as client:
        report = client.post(PATH, files={"files": ("records.jsonl", lines)}).json()["result"]
    assert report["added"] == 1
    assert [failure["source"] for failure in report["failures"]] == ["uploads/records.jsonl"]
    assert gettempdir() not in str(report)


@pytest.mark.parametrize("size", [10, 2_000_000])
def test_an_upload_that_cannot_be_kept_is_no_fault_of_the_client_and_the_log_has_the_reason(
    serve: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path, size: int
) -> None:
    """Small ones are written by us, large ones by the server's own reading of the body."""
    with serve(uploads=True, upload_bytes=10_000_000).client() as client:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
        answer = client.post(PATH, files={"files": ("a.txt", b"word " * (size // 5))})
        monkeypatch.undo()
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert "An upload cannot be kept: No such file or directory; make room" in caplog.text
        assert "gone" not in caplog.text
        assert client.post(PATH, files={"files": ("a.txt", b"A word.")}).json()["result"]["added"] == 1


def test_uploads_without_a_folder_for_temporary_files_stop_the_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere"])
    with pytest.raises(ConfigurationError, match="set TMPDIR"):
        uploads_router(InMemoryDocumentStore())


def test_an_upload_whose_client_has_left_keeps_its_place_until_it_has_ended(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is still being written would otherwise be written over the next version."""
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def slowly(*given: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        try:
            return index(*given, **options)
        finally:
            done.set()

    index = uploads.index
    monkeypatch.setattr(uploads, "index", slowly)
    with serve(uploads=True).client() as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post(PATH, files={"files": ("price.md", b"The old price is 1 euro.")}, timeout=1)
        assert begun.wait(60)
        time.sleep(0.5)  # the server sees that the client has left
        refused = client.post(PATH, files={"files": ("price.md", b"The new price is 2 euros.")})
        assert (refused.status_code, refused.json()["error"]) == (429, "too_many_requests")
        go_on.set()
        assert done.wait(60)
        while (taken := client.post(PATH, files={"files": ("price.md", b"The new price is 2 euros.")})).is_error:
            assert taken.status_code == 429
        asked = {"question": "What is the price?", "mode": "off"}
        evidence = client.post("/corrective_retrieval/run", json=asked).json()["result"]["evidence"]
    assert taken.json()["result"]["updated"] == 1
    assert [one["content"] for one in evidence if "price" in one["content"]] == [
        "uploads price\n\nThe new price is 2 euros."
    ]


def test_a_memory_store_that_takes_uploads_is_searched_while_it_is_written() -> None:
    """Haystack's own store fails then, since a search walks through what another thread changes."""
    store = deploy(read_settings(uploads=True)).store
    assert isinstance(store, GuardedMemoryStore)
    texts = [f"The tariff {number} of parrots in the year {number % 97}" for number in range(300)]
    documents = [Document(id=str(n), content=text, embedding=[1.0, n / 300]) for n, text in enumerate(texts)]
    year = {"field": "content", "operator": "!=", "value": "nothing"}

    def write() -> None:
        for _ in range(20):
            store.write_documents(documents, DuplicatePolicy.OVERWRITE)
            store.delete_documents([document.id for document in documents[::2]])

    def search(number: int) -> int:
        if number % 2:
            return len(store.bm25_retrieval("tariff of parrots", filters=year, top_k=5))
        return len(store.filter_documents(year)) and len(store.embedding_retrieval([1.0, 0.5], top_k=5))

    store.write_documents(documents)
    with ThreadPoolExecutor(4) as pool:
        writing = pool.submit(write)
        found = set(pool.map(search, range(300)))
        writing.result()
    assert found == {5}


@pytest.mark.parametrize(
    "name",
    [
        "../up.md",
        "a/b.md",
        "..\\up.md",
        "/etc/passwd.md",
        ".hidden.md",
        "..",
        "C:up.md",
        "a\u202edm.md",
        "x" * 300 + ".md",
    ],
)
def test_a_name_that_is_a_path_is_refused(answering: Any, name: str) -> None:
    with answering.client() as client:
        response = client.post(PATH, files={"files": (name, b"text")})
    assert response.status_code in (415, 422), name
    assert response.json()["error"] in ("invalid_filename", "invalid_request", "unsupported_media_type")


def test_a_name_is_the_same_however_its_letters_are_written(answering: Any) -> None:
    """Letters with accents apart, marks of direction; joiners are a part of Persian words and of emoji, and stay."""
    for names in (
        ["ho\u0323\u031bp.md", "h\u1ee3p.md"],
        ["\u05e9\u200f.md", "\u05e9.md"],
        ["\u0645\u06cc\u200c\u062e.md"] * 2,
    ):
        with answering.client() as client:
            for name, counted in zip(names, ("added", "updated"), strict=True):
                response = client.post(PATH, files={"files": (name, f"It was {counted}.".encode())})
                assert response.json()["result"][counted] == 1, ascii(name)


@pytest.mark.parametrize("name", ["run.exe", "archive.zip", "no-suffix", "page.php", "code.py"])
def test_a_file_of_another_kind_is_refused(answering: Any, name: str) -> None:
    with answering.client() as client:
        response = client.post(PATH, files={"files": (name, b"text")})
    assert (response.status_code, response.json()["error"]) == (415, "unsupported_media_type")


def test_the_same_name_twice_in_one_upload_is_refused(answering: Any) -> None:
    with answering.client() as client:
        response = client.post(PATH, files=[("files", ("a.md", b"one")), ("files", ("a.md", b"two"))])
    assert (response.status_code, response.json()["error"]) == (422, "invalid_filename")


def test_an_upload_has_a_limit_of_its_own(serve: Any) -> None:
    with serve(uploads=True, upload_bytes=200_000).client() as client:
        fits = client.post(PATH, files={"files": ("a.txt", b"word " * 20_000)})
        over = client.post(PATH, files={"files": ("a.txt", b"word " * 50_000)})
    assert fits.status_code == 200
    assert (over.status_code, over.json()["error"]) == (413, "body_too_large")


def test_a_damaged_file_is_reported_and_the_others_are_indexed(serve: Any) -> None:
    files = [("files", ("bad.pdf", b"%PDF-1.7 no more")), ("files", ("good.txt", b"Good text."))]
    with serve(uploads=True).client() as client:
        report = client.post(PATH, files=files).json()["result"]
    assert report["added"] == 1
    assert [failure["source"] for failure in report["failures"]] == ["uploads/bad.pdf"]
    assert report["doubts"] == []
    assert "crag-upload" not in str(report)


def test_what_was_uploaded_stays_when_a_folder_is_indexed_beside_it(tmp_path: Path) -> None:
    """`crag index FOLDER --base FOLDER` every night, as in Kubernetes: only what vanished from the folder goes."""
    store = InMemoryDocumentStore(shared=False)
    mine = tmp_path / "documents"
    (mine / "uploads").mkdir(parents=True)
    for name in ("uploads/emma.md", "uploads/notes.md"):
        (mine / name).write_text(f"In the folder: {name}.")
    index(mine, store, base=mine)
    report = uploads._index({"notes.md": b"Uploaded: first.", "old.txt": b"Uploaded: old.", "bad.pdf": b"%PDF-"}, store)
    assert (report["added"], report["updated"], report["removed"]) == (2, 0, 0)
    assert [one["source"] for one in report["failures"]] == ["uploads/bad.pdf"]
    (mine / "uploads" / "notes.md").unlink()
    assert index(mine, store, base=mine).removed == 1
    assert uploads._index({"notes.md": b"Uploaded: second."}, store)["updated"] == 1
    texts = {(one.meta["source"], (one.content or "").split(": ")[-1]) for one in store.filter_documents()}
    kept, newer, older = ("emma.md", "uploads/emma.md."), ("notes.md", "second."), ("old.txt", "old.")
    assert texts == {(f"uploads/{name}", text) for name, text in (kept, newer, older)}
