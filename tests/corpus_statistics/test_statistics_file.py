"""The file of statistics: what is written is read, and what is wrong is said."""

import gzip
import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_integrations.crag.corpus_statistics import (
    CorpusStatistics,
    check_target,
    collect,
    counting,
    file,
    read_statistics,
    write_statistics,
)
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.texts.text import terms

TEXTS = ["Emma is a novel.", "Persuasion is a novel.", "Persuasion is read by Emma.", "Rain."]
GOOD = {"format": file.FORMAT, "version": file.VERSION, "documents": 3, "terms": {"novel": 2}}


def stored(path: Path, body: object) -> Path:
    path.write_text(json.dumps(body))
    return path


def test_the_version_goes_up_with_the_terms() -> None:
    """A file of other terms would give each word that is written otherwise now for one that no document has."""
    text = (
        "Cities fly; l'eau coûte 3,50 €, Straße STRASSE İstanbul 東京のカメラ สวัสดี 환불은 os.path.join GPT-4 1,000 x_y."
    )
    known = "citi fli eau cout 3 50 strass strass istanbul 東 京 カメラ ส วั ส ดี 환불 os path join gpt 4 1000 x y"
    assert (file.VERSION, " ".join(terms(text))) == (4, known)


@pytest.mark.parametrize("name", ["corpus.json", "corpus.json.gz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    """With the terms in one document, so that it says the same as a store; one never met is in none."""
    counter = collect(TEXTS)
    assert write_statistics(counter, tmp_path / name) == 5
    known = read_statistics(tmp_path / name)
    assert (known.documents, known.origin) == (4, "file")
    assert dict(known.frequencies) == {"novel": 2, "emma": 2, "persuas": 2, "read": 1, "rain": 1}
    wanted = ["novel", "rain", "penguin"]
    assert (
        known.frequency(wanted)
        == counter.statistics("store").frequency(wanted)
        == {"novel": 2, "rain": 1, "penguin": 0}
    )
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("rare", ["file", "counter"])
def test_the_terms_of_one_document_are_left_out_of_a_large_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rare: str
) -> None:
    """They are said to be in one, as is one that was never met: nobody can tell the two apart."""
    monkeypatch.setattr(*((file, "MOST_TERMS", 4) if rare == "file" else (counting, "_MOST_TERMS", 4)))
    counter = collect(TEXTS)
    write_statistics(counter, tmp_path / "corpus.json")
    known = read_statistics(tmp_path / "corpus.json")
    assert known.frequency(["novel", "rain", "penguin"]) == {"novel": 2, "rain": 1, "penguin": 1}


def test_a_file_that_does_not_say_whether_it_is_whole_is_taken_as_one_without_the_rare_terms(tmp_path: Path) -> None:
    """As those were that are older than this word."""
    assert read_statistics(stored(tmp_path / "old.json", GOOD)).frequency(["penguin"]) == {"penguin": 1}


@given(texts=st.lists(st.text(max_size=30), max_size=8))
def test_any_texts_survive_the_file(tmp_path_factory: Any, texts: list[str]) -> None:
    """Whatever language, and with broken characters."""
    path = tmp_path_factory.mktemp("texts") / "corpus.json.gz"
    counter = collect(texts)
    write_statistics(counter, path)
    known = read_statistics(path)
    wanted = terms(" ".join(texts))
    assert known.documents == len(texts)
    assert known.frequency(wanted) == {term: counter.frequencies[term] for term in wanted}


def test_the_same_corpus_makes_the_same_bytes(tmp_path: Path) -> None:
    """In whatever order its documents came."""
    write_statistics(collect(TEXTS), tmp_path / "one.json.gz")
    write_statistics(collect(reversed(TEXTS)), tmp_path / "two.json.gz")
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()


def test_only_the_most_frequent_terms_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large corpus the rarest go."""
    monkeypatch.setattr(file, "MOST_TERMS", 1)
    write_statistics(collect([*TEXTS, "A novel."]), tmp_path / "corpus.json")
    assert dict(read_statistics(tmp_path / "corpus.json").frequencies) == {"novel": 3}


def test_a_file_is_replaced_and_seen_without_a_restart(tmp_path: Path) -> None:
    """It is read once until it changes."""
    path = tmp_path / "corpus.json"
    write_statistics(collect(TEXTS), path)
    first = read_statistics(path)
    assert read_statistics(str(path)) is first
    write_statistics(collect(TEXTS * 2), path)
    assert read_statistics(path).documents == 8


def test_statistics_are_written_where_a_link_leads(tmp_path: Path) -> None:
    """A link to one of several files was replaced by a file, and the others went on reading what it had led to."""
    (link := tmp_path / "current.json").symlink_to(path := tmp_path / "corpus.json")
    write_statistics(collect(TEXTS), link)
    assert link.is_symlink()
    assert read_statistics(path).documents == 4


@pytest.mark.skipif(sys.platform == "win32", reason="its files have other rights")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_file_that_is_replaced_stays_as_private_as_it_was(tmp_path: Path, mode: int) -> None:
    """One that its owner had closed to others could be read by all from the second time on."""
    path = tmp_path / "corpus.json"
    write_statistics(collect(TEXTS), path)
    path.chmod(mode)
    write_statistics(collect(TEXTS * 2), path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert read_statistics(path).documents == 8


def test_readers_meet_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """Never half of one, though it is replaced all the time."""
    path = tmp_path / "corpus.json"
    write_statistics(collect(TEXTS), path)

    def read(_: int) -> CorpusStatistics:
        return read_statistics(path)

    with ThreadPoolExecutor(4) as pool:
        reading = pool.map(read, range(200))
        for number in range(40):
            write_statistics(collect(TEXTS * (1 + number % 3)), path)
    assert {known.documents for known in reading} <= {4, 8, 12}


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """And nothing beside it."""
    path = tmp_path / "corpus.json"
    write_statistics(collect(TEXTS), path)
    limits = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (10, limits[1]))  # bytes, as on a full disk
    try:
        with pytest.raises(ConfigurationError, match=r"cannot be written to .*OSError.*check disk"):
            write_statistics(collect(TEXTS * 2), path)
    finally:
        setrlimit(RLIMIT_FSIZE, limits)
    assert read_statistics(path).documents == 4
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("link.json", r"in no folder that can be written to; make the folder"),
        ("corpus.txt", r"wanted a name that ends with \.json or \.json\.gz"),
        ("no/corpus.json", r"in no folder that can be written to; make the folder"),
        ("folder.json", r"is a directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_at_once(tmp_path: Path, name: str, said: str) -> None:
    """Before anything is counted."""
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "no" / "corpus.json")
    with pytest.raises(ConfigurationError, match=said):
        check_target(tmp_path / name)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([1], "holds no corpus statistics"),
        ({"format": "crag-calibration", "version": 1}, "holds no corpus statistics"),
        ({**GOOD, "version": 1}, "version 1, wanted 4"),
        ({**GOOD, "version": True}, "version True, wanted 4"),
        ({**GOOD, "documents": -1}, r"no usable 'documents' \(Input should be greater than or equal to 0\)"),
        ({**GOOD, "documents": True}, "no usable 'documents'"),
        ({**GOOD, "terms": ["novel"]}, "no usable 'terms'"),
        ({**GOOD, "terms": {"novel": 0}}, r"no usable 'terms\.novel' \(Input should be greater than 0\)"),
        ({**GOOD, "whole": "yes"}, r"no usable 'whole' \(Input should be a valid boolean\)"),
        ({**GOOD, "terms": {"novel": 1.5}}, r"no usable 'terms\.novel'"),
        ({**GOOD, "terms": {"novel": 4}}, "more than all 3 documents"),
    ],
)
def test_a_file_that_is_something_else_is_refused_with_the_way_out(tmp_path: Path, body: object, said: str) -> None:
    """Got, wanted, and the command that makes it."""
    path = stored(tmp_path / "corpus.json", body)
    with pytest.raises(ConfigurationError, match=rf"{said}.*; make it again with `crag index"):
        read_statistics(path)


def test_a_missing_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """A wrong path is the usual reason."""
    with pytest.raises(ConfigurationError, match=r"no statistics at .*correct the path, or make it again"):
        read_statistics(tmp_path / "corpus.json")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not unpacked to its end."""
    monkeypatch.setattr(file, "_MOST_BYTES", 1000)
    path = tmp_path / "corpus.json.gz"
    path.write_bytes(gzip.compress(b" " * 1_000_000))
    with pytest.raises(ConfigurationError, match="over 1000 bytes"):
        read_statistics(path)


def test_a_file_that_was_bad_is_read_again_when_it_is_good(tmp_path: Path) -> None:
    """An error is not remembered."""
    path = stored(tmp_path / "corpus.json", [])
    with pytest.raises(ConfigurationError):
        read_statistics(path)
    assert read_statistics(stored(path, GOOD)).documents == 3


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
near = st.dictionaries(st.sampled_from(list(GOOD)), junk, max_size=2).map(
    lambda changed: json.dumps({**GOOD, **changed})
)


@given(data=st.binary(max_size=200) | junk.map(json.dumps).map(str.encode) | near.map(str.encode), packed=st.booleans())
def test_whatever_is_in_a_file_it_is_statistics_or_a_clear_error(
    tmp_path_factory: Any, data: bytes, packed: bool
) -> None:
    """Nothing else is raised, and what is read can be used."""
    path = tmp_path_factory.mktemp("any") / ("corpus.json.gz" if packed else "corpus.json")
    path.write_bytes(gzip.compress(data) if packed and data[:1] != b"\0" else data)
    try:
        known = read_statistics(path)
    except ConfigurationError as error:
        assert "crag index" in str(error)
    else:
        assert known.documents >= 0
        assert all(0 <= count <= known.documents for count in known.frequency(["novel", "x"]).values())
