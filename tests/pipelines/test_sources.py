"""Finding what is to be indexed: files below paths, records of JSON Lines files, and everything that can be wrong."""

import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from haystack_integrations.crag.errors import SourceError
from haystack_integrations.crag.pipelines import contents
from haystack_integrations.crag.pipelines.contents import Failure, Source
from haystack_integrations.crag.pipelines.shards import Shard
from haystack_integrations.crag.pipelines.sources import find, read


def names(*paths, base=None):
    return [found.name for found in read(find(paths, base)) if isinstance(found, Source)]


def failures(*paths, base=None):
    return [found for found in read(find(paths, base)) if isinstance(found, Failure)]


def jsonl(path: Path, *records) -> Path:
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_directories_are_read_recursively_in_the_order_of_the_names(tmp_path):
    """Other kinds of files are counted, hidden files, Office's among them, and directories are not looked at."""
    hidden = (".hidden.md", ".git/x.md", "~$b.docx")
    for name in ("b.md", "a.TXT", "sub/deep/c.html", "sub/a.htm", "z.markdown", "photo.png", *hidden):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    listing = find(tmp_path, base=tmp_path)
    assert [name for _, name in listing.files] == ["a.TXT", "b.md", "sub/a.htm", "sub/deep/c.html", "z.markdown"]
    assert listing.skipped == {".png": 1}
    assert listing.failures == ()


def test_what_is_left_out_is_counted_by_kind_the_most_frequent_first(tmp_path):
    """In lower case; a name that ends in none of the usual ways is of no kind."""
    for name in ("a.md", "x.ODS", "y.ods", "t.eml", "README", "odd.a\x1bb"):
        (tmp_path / name).write_text("text")
    skipped = find(tmp_path, base=tmp_path).skipped
    assert list(skipped.items())[:1] in ([(".xlsx", 2)], [("", 2)])
    assert skipped == {".ods": 2, ".eml": 1, "": 2}
    assert find(tmp_path, base=tmp_path, shard=Shard(2, 2)).skipped == {}


def test_a_name_is_relative_to_the_base_and_absolute_without_one_or_outside_of_it(tmp_path, monkeypatch):
    """So an index can be made on one machine and brought up to date on another."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("text")
    (tmp_path / "b.md").write_text("text")
    absolute = (tmp_path / "docs" / "a.md").as_posix()
    assert names(tmp_path / "docs") == [absolute]
    assert names(tmp_path / "docs", base=tmp_path) == ["docs/a.md"]
    assert names(tmp_path / "docs", tmp_path / "b.md", base=tmp_path / "docs") == [
        (tmp_path / "b.md").as_posix(),
        "a.md",
    ]
    monkeypatch.chdir(tmp_path / "docs")
    assert names(".") == names("../docs/a.md") == [absolute]


def test_a_loop_of_links_ends_and_a_directory_is_read_once(tmp_path):
    """Also when it is given twice, or lies below another given path."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one.md").write_text("text")
    (tmp_path / "a" / "b" / "two.md").write_text("text")
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a" / "self").symlink_to(".", target_is_directory=True)
    assert names(tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a", base=tmp_path) == ["a/b/two.md", "a/one.md"]


def test_a_path_that_does_not_exist_is_an_error_before_anything_is_read(tmp_path):
    """The message names what is missing."""
    (tmp_path / "a.md").write_text("text")
    with pytest.raises(SourceError, match="nowhere"):
        find([tmp_path / "a.md", tmp_path / "nowhere"])
    with pytest.raises(SourceError, match="any path"):
        find([])


@pytest.mark.parametrize("paths", ["", ["", "a.md"]])
def test_an_empty_path_is_not_the_folder_one_works_in(tmp_path, monkeypatch, paths):
    """As of a variable that is not set: all that lies there was indexed."""
    (tmp_path / "a.md").write_text("text")
    monkeypatch.chdir(tmp_path)
    assert names(".", base=tmp_path) == ["a.md"]
    with pytest.raises(SourceError, match=r"no file or directory at \[''\]"):
        find(paths)


def test_a_named_file_of_another_kind_is_a_failure(tmp_path):
    """Who names it wants it; what lies around in a directory is skipped."""
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (failure,) = failures(tmp_path / "photo.png", base=tmp_path)
    assert failure.source == "photo.png"
    assert ".pdf" in failure.reason and "convert it" in failure.reason


@pytest.mark.parametrize(
    "kind", ["dangling link", "link to itself", "pipe", "file name that is not UTF-8", "too long a name", "too large"]
)
def test_a_file_that_cannot_be_read_is_a_failure_and_the_others_are_read(tmp_path, monkeypatch, kind):
    """None of them raises, and none of them waits for ever."""
    (tmp_path / "good.md").write_text("text")
    if kind == "dangling link":
        (tmp_path / "bad.md").symlink_to(tmp_path / "nowhere.md")
    elif kind == "link to itself":
        (tmp_path / "bad.md").symlink_to("bad.md")
    elif kind == "pipe":
        os.mkfifo(tmp_path / "bad.md")
    elif kind == "file name that is not UTF-8":
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_text("text")
    elif kind == "too long a name":
        monkeypatch.setattr("haystack_integrations.crag.pipelines.sources.MAX_NAME", 10)
        (tmp_path / "bad-and-long.md").write_text("text")
    else:
        monkeypatch.setattr("haystack_integrations.crag.pipelines.sources._MAX_FILE", 10)
        (tmp_path / "bad.md").write_text("text " * 10)
    assert names(tmp_path, base=tmp_path) == ["good.md"]
    (failure,) = failures(tmp_path, base=tmp_path)
    assert failure.source.startswith("bad")
    failure.source.encode()
    assert ";" in failure.reason or "check" in failure.reason


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode there")
def test_a_file_has_the_same_name_in_a_locale_without_its_letters(tmp_path):
    """A nightly run in such a locale could not read it, and removed from the index what had been indexed of it."""
    (folder := tmp_path / "Größe").mkdir()
    for name in ("日本.md", "a.md"):
        (folder / name).write_text("text")
    listed = (
        "import json, sys; from haystack_integrations.crag.pipelines.sources import find, read, shared_folder; "
        "print(json.dumps([[one.name for base in (sys.argv[1], None) for one in read(find(sys.argv[1], base))], "
        "shared_folder([sys.argv[1]])]))"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", listed, folder], env={**os.environ, **plain}, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [
        ["a.md", "日本.md", f"{folder}/a.md", f"{folder}/日本.md"],
        str(folder),
    ]


def test_a_file_comes_with_its_bytes_and_their_hash(tmp_path):
    """What is hashed is what is converted: the file is read once."""
    (tmp_path / "a.MD").write_bytes(b"# Title\r\n")
    (found,) = read(find(tmp_path, tmp_path))
    expected = hashlib.sha256(b"# Title\r\n").hexdigest()
    assert (found.name, found.sha256, found.data, found.suffix) == ("a.MD", expected, b"# Title\r\n", ".md")


def test_a_record_is_a_ready_document_with_its_own_id(tmp_path):
    """Title, meta, other scalar fields and lists of names are metadata; objects and other lists beside meta are not."""
    plain = {"title": "Emma", "text": "A novel.", "year": 1815, "tags": ["x"], "sizes": [1], "more": {"a": 1}}
    record = {"id": "q1", **plain, "meta": {"lang": "en"}}
    (found,) = read(find(jsonl(tmp_path / "c.jsonl", record), tmp_path))
    sha256 = hashlib.sha256(json.dumps(record).encode()).hexdigest()
    assert (found.name, found.sha256) == ("c.jsonl#q1", sha256)
    assert (found.document.id, found.document.content) == ("q1", "A novel.")
    assert found.document.meta == {
        "lang": "en",
        "title": "Emma",
        "year": 1815,
        "tags": ["x"],
        "source": "c.jsonl#q1",
        "source_sha256": sha256,
        "chunk": 0,
        "chunks": 1,
    }


def test_a_record_may_have_content_for_text_and_a_number_for_an_id(tmp_path):
    """Both are common in public data."""
    (found,) = read(find(jsonl(tmp_path / "c.jsonl", {"id": 7, "content": "Seven.", "title": 7}), tmp_path))
    assert (found.document.id, found.document.content, found.document.meta["title"]) == ("7", "Seven.", "7")


@pytest.mark.parametrize("title", [None, False, {"en": "Emma"}])
def test_a_title_that_is_no_text_and_no_number_is_none(tmp_path, title):
    """Of `null` in `meta` the text began with the word None, which was searched for and shown."""
    (found,) = read(find(jsonl(tmp_path / "c.jsonl", {"id": "1", "text": "One.", "meta": {"title": title}}), tmp_path))
    assert "title" not in found.document.meta


@pytest.mark.parametrize("title", ["", "  ", None, False, [], [None]])
def test_an_empty_title_does_not_hide_the_one_in_meta(tmp_path, title):
    """Exports write an empty one where their own field is not filled; the record was indexed without any."""
    record = {"id": "1", "text": "One.", "title": title, "meta": {"title": "Emma"}}
    (found,) = read(find(jsonl(tmp_path / "c.jsonl", record), tmp_path))
    assert found.document.meta["title"] == "Emma"
    (found,) = read(find(jsonl(tmp_path / "c.jsonl", {"id": "1", "text": "One.", "title": title}), tmp_path))
    assert "title" not in found.document.meta


def test_what_a_record_itself_calls_source_or_crag_is_kept_under_another_name(tmp_path):
    """It neither hides where the record is from, nor poses as a grade."""
    record = {"id": "1", "text": "t", "source": "wiki", "chunk": 9, "meta": {"crag": {"score": 1.0}}}
    (found,) = read(find(jsonl(tmp_path / "c.jsonl", record), tmp_path))
    meta = found.document.meta
    assert (meta["source"], meta["record_source"], meta["chunk"], meta["record_chunk"]) == ("c.jsonl#1", "wiki", 0, 9)
    assert "crag" not in meta and meta["record_crag"] == {"score": 1.0}


def test_line_endings_and_a_byte_order_mark_do_not_change_a_record(tmp_path):
    """The same record gives the same hash, wherever it stands."""
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"id":"1","text":"t"}\r\n\r\n{"id":"2","text":"t"}')
    (tmp_path / "b.jsonl").write_bytes(b'{"id":"2","text":"t"}\n{"id":"1","text":"t"}\n')
    hashes = {found.name: found.sha256 for found in read(find(tmp_path, tmp_path))}
    assert hashes["a.jsonl#1"] == hashes["b.jsonl#1"] and hashes["a.jsonl#2"] == hashes["b.jsonl#2"]
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("line", "source", "words"),
    [
        (b'{"id": "x", "text": "cut o', "c.jsonl", "no JSON"),
        (b'{"id": "x", "text": "\xff"}', "c.jsonl", "not UTF-8 (at byte 21); save the file"),
        ('{"id": "x", "text": "y"}'.encode("utf-16"), "c.jsonl", "not UTF-8 (at byte 0); save the file"),
        (b'["a list"]', "c.jsonl", "a list"),
        (b'{"text": "secret words"}', "c.jsonl", "no id"),
        (b'{"id": "", "text": "secret words"}', "c.jsonl", "no id"),
        (b'{"id": true, "text": "secret words"}', "c.jsonl", "no id"),
        (b'{"id": "x", "title": "secret words"}', "c.jsonl#x", "no text"),
        (b'{"id": "x", "text": " "}', "c.jsonl#x", "no text"),
        (b'{"id": "' + b"x" * 600 + b'", "text": "secret words"}', "c.jsonl", "600 characters"),
    ],
)
def test_a_bad_line_is_a_failure_with_its_number_and_the_others_are_read(tmp_path, line, source, words):
    """The message never quotes the record."""
    path = jsonl(tmp_path / "c.jsonl", {"id": "1", "text": "one"}, line, {"id": "2", "text": "two"})
    assert names(path, base=tmp_path) == ["c.jsonl#1", "c.jsonl#2"]
    (failure,) = failures(path, base=tmp_path)
    assert failure.source == source
    assert "line 2 " in failure.reason and words in failure.reason
    assert "secret" not in failure.reason


def test_a_line_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    """It is never held in memory as a whole."""
    monkeypatch.setattr(contents, "_MAX_LINE", 50)
    records = [{"id": "1", "text": "one"}, {"id": "2", "text": "long " * 100}, {"id": "3", "text": "x" * 26}]
    path = jsonl(tmp_path / "c.jsonl", *records)
    assert names(path, base=tmp_path) == ["c.jsonl#1", "c.jsonl#3"]
    assert ["line 2 has over 50 bytes" in failure.reason for failure in failures(path)] == [True]


def test_a_file_that_is_no_json_lines_at_all_is_given_up_soon(tmp_path):
    """Not a failure for each of a million lines."""
    (tmp_path / "c.jsonl").write_text("[\n" + '  "x",\n' * 5000 + "]")
    found = failures(tmp_path / "c.jsonl")
    assert len(found) == 101
    assert "the rest is not read" in found[-1].reason


def test_however_many_lines_are_bad_a_file_with_a_record_is_read_to_its_end(tmp_path):
    """Only one of which nothing is a record may be given up."""
    good = [{"id": id_, "text": "fine"} for id_ in "ab"]
    path = jsonl(tmp_path / "c.jsonl", good[0], *[b"broken"] * 150, good[1])
    found = [*read(find(path, tmp_path))]
    assert [one.name for one in found if isinstance(one, Source)] == ["c.jsonl#a", "c.jsonl#b"]
    assert len(found) == 152


def test_json_lines_are_streamed(tmp_path):
    """The memory needed does not grow with the file."""
    with (tmp_path / "c.jsonl").open("w") as file:
        for number in range(2000):
            file.write(json.dumps({"id": number, "text": "word " * 1000}) + "\n")
    assert (tmp_path / "c.jsonl").stat().st_size > 10_000_000
    tracemalloc.start()
    try:
        assert sum(isinstance(found, Source) for found in read(find(tmp_path))) == 2000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_listing_knows_what_belongs_to_its_paths(tmp_path):
    """Directories by prefix, JSON Lines files with their records, other files by name; no neighbours."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.md").write_text("text")
    jsonl(tmp_path / "c.jsonl", {"id": "1", "text": "one"})
    listing = find([tmp_path / "docs", tmp_path / "a.md", tmp_path / "c.jsonl"], base=tmp_path)
    assert all(listing.covers(name) for name in ("docs/gone.md", "docs/x.jsonl#9", "a.md", "c.jsonl#gone"))
    assert not any(listing.covers(name) for name in ("docs2/a.md", "a.md2", "b.md", "d.jsonl#1", "/docs/a.md"))
    whole = find(tmp_path, base=tmp_path)
    assert whole.covers("anything/else.md") and not whole.covers("/somewhere/else.md")
    assert not whole.covers("C:/somewhere/else.md") and not whole.covers("//server/share/else.md")  # of Windows


def test_a_listing_counts_files_and_lines(tmp_path):
    """What a progress bar needs to know beforehand."""
    (tmp_path / "a.md").write_text("text")
    jsonl(tmp_path / "c.jsonl", *({"id": number, "text": "t"} for number in range(30)))
    assert find(tmp_path).count() == 31
