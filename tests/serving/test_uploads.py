"""Files uploaded into the index: switched on, of known kinds, with names that are no paths."""

from tempfile import gettempdir
from typing import Any

import pytest
from serving.conftest import QUESTION

PATH = "/indexing/run"


def test_uploads_are_off_by_default(serve: Any) -> None:
    with serve().client() as client:
        assert client.post(PATH, files={"files": ("a.md", b"text")}).status_code == 404


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
    assert "crag-upload" not in str(report)
