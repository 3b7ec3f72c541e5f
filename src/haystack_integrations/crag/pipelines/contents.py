"""What is indexed: files, and the records of JSON Lines files."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import orjson
from haystack import Document

from haystack_integrations.crag.in_parts import SLOT
from haystack_integrations.crag.inputs import is_number, levels
from haystack_integrations.crag.vocabulary import META_KEY

_SHOWN, _PATH = "source", "source_path"
MADE_BY: Final = "source_pipeline"
"""The metadata field with the identity of the pipeline that made a document of its source."""

PROVENANCE: Final = (_SHOWN, _PATH, "source_sha256", MADE_BY, "chunk", "chunks")
"""The metadata that tell which part of which version of which source a document is."""

RECORDS: Final = ".jsonl"
"""The suffix of JSON Lines files."""

MAX_NAME: Final = 1024
"""The characters of a string that Elasticsearch can search for (`ignore_above` in our mapping)."""

_MAX_ID: Final = 512  # bytes, of an id in Elasticsearch
_MAX_LINE: Final = 16_000_000
_MOST_LEVELS: Final = 20  # as many as Elasticsearch maps
_MOST_ENTRIES: Final = 10_000  # ten times what Elasticsearch maps; 200,000 of them cost each question two seconds
# Characters of a record that stays whole: ten of them fit into a prompt. Of a longer one, embeddings and graders would
# see the beginning only.
_MOST_WHOLE: Final = 10_000
_SENTENCES: Final = "sentences"  # of labelled data: the text again
_MOST_NAMES, _LONGEST_NAME = 1_000, 200  # in a list beside the text
_RESERVED: Final = {*PROVENANCE, SLOT, META_KEY}
# So many bad lines and not one good: no JSON Lines file, and the rest of it is not reported line by line.
_HOPELESS: Final = 100


@dataclass(frozen=True)
class Failure:
    """
    A source that cannot be indexed; what the store holds of it stays.

    :param source: Its name.
    :param reason: What was got, what was wanted, the way out; never a part of its text.
    """

    source: str
    reason: str


@dataclass(frozen=True)
class Empty(Failure):
    """
    A folder or a file with nothing in it to index: a failure only where something was indexed of it.

    :param is_file: Whether it is a file.
    """

    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """
    A file or a record.

    :param name: By which a later run knows it again.
    :param shown: What users and models see, and what its documents hold as `meta["source"]`.
    :param sha256: Of its bytes; for a record, of its line.
    :param data: The bytes of a file, or of the text of a long record.
    :param suffix: The kind of a file, in lower case; that of plain text for a long record.
    :param document: The ready document of a record that stays one.
    :param meta: What a long record tells besides.
    :param encoding: What it was read as, of text of which that is not certain.
    """

    name: str
    shown: str
    sha256: str
    data: bytes = b""
    suffix: str = ""
    document: Document | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    encoding: str = ""


def provenance(name: str, shown: str, sha256: str) -> dict[str, Any]:
    """
    Give the metadata that tell of which version of which source a document is.

    :param name: By which a later run knows the source again.
    :param shown: What users and models see: no path of this machine, where `name` is one.
    :param sha256: Of the source's bytes.
    :returns: Metadata; the path is in them where it is not what is shown.
    """
    return {_SHOWN: shown, **({} if shown == name else {_PATH: name}), "source_sha256": sha256}


def name_of(meta: Mapping[str, Any]) -> str:
    """
    Name the source of a document that is in a store.

    :param meta: Its metadata.
    :returns: The name that `provenance` was given; empty for what was not indexed from a source.
    """
    return str(meta.get(_PATH) or meta.get(_SHOWN) or "")


def folder_of(meta: Mapping[str, Any]) -> str:
    """
    Tell from which folder the name of a source is shown.

    :param meta: The metadata of a document of it.
    :returns: The folder, with a slash at its end; empty where the name is shown as it is.
    """
    return name_of(meta).removesuffix(str(meta.get(_SHOWN) or ""))


def names_of_records(names: Iterable[str]) -> tuple[str, ...]:
    """
    Tell how the names of records begin.

    :param names: Names of files.
    :returns: The beginning of those of each JSON Lines file.
    """
    return tuple(f"{name}#" for name in names if name.lower().endswith(RECORDS))


def records(file: BinaryIO, name: str, shown: str) -> Iterator[Source | Failure]:
    """
    Read a JSON Lines file, a line at a time.

    A record has an `id`, a `text` (or `content`), and may have a `title` and a `meta` object; its other strings,
    numbers, booleans and lists of names (1,000 strings of 200 characters at most) are metadata too. It is one document,
    with the record's id; one of more than 10,000 characters is split into passages with ids of their own, as a file is.

    :param file: The file, opened for reading bytes.
    :param name: The file's name.
    :param shown: The name that users see.
    :returns: An iterator of records and failures. A failure never ends it, but a hundred lines without a record do.
    """
    number = good = bad = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        rest = line
        while len(rest) == _MAX_LINE and not rest.endswith(b"\n"):  # passed over, never held as a whole
            rest = file.readline(_MAX_LINE)
        if rest is not line:
            bad += 1
            yield Failure(name, f"line {number} has over {_MAX_LINE} bytes; split the record into smaller ones")
            continue
        line = line.removeprefix(b"\xef\xbb\xbf").strip()
        if line:
            found = _record(line, name, shown, number)
            good += isinstance(found, Source)
            bad += isinstance(found, Failure)
            yield found
        if not good and bad >= _HOPELESS:
            yield Failure(name, f"got no record in {number} lines, wanted a JSON object per line; the rest is not read")
            return
    if not good and not bad:
        yield Empty(name, "got no record in it", is_file=True)


def _record(line: bytes, file: str, shown: str, number: int) -> Source | Failure:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if (place := _not_utf8(line)) is not None:
            return Failure(file, f"line {number} is not UTF-8 (at byte {place}); save the file as UTF-8")
        return Failure(file, f"line {number} is no JSON (at byte {error.pos}); write one JSON object per line")
    if not isinstance(fields, dict):
        return Failure(file, f"line {number} is a {type(fields).__name__}, wanted an object with id and text")
    key = fields.get("id")
    key = str(key) if isinstance(key, int) and not isinstance(key, bool) else key
    if not isinstance(key, str) or not key.strip():
        return Failure(
            file, f"line {number} has no id, wanted a string or an integer as `id`; give each record its own"
        )
    name = f"{file}#{key}"
    if len(key.encode()) > _MAX_ID or len(name) > MAX_NAME:
        return Failure(file, f"line {number} has an id of {len(key)} characters, wanted a shorter one")
    texts = [fields.get(field) for field in ("text", "content")]
    content = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    if content is None:
        return Failure(name, f"line {number} has no text, wanted a string as `text` or `content`; fill or remove it")
    if (much := _unwieldy(fields)) is not None:
        return Failure(name, f"line {number} has metadata {much}, wanted fewer; flatten it, or leave some out")
    sha256 = hashlib.sha256(line).hexdigest()
    shown = f"{shown}#{key}"
    if len(content) > _MOST_WHOLE:
        return Source(name, shown, sha256, content.replace("\0", " ").encode(), ".txt", meta=_meta(fields))
    meta = {**_meta(fields), **provenance(name, shown, sha256), "chunk": 0, "chunks": 1}
    return Source(name, shown, sha256, document=Document(id=key, content=content, meta=meta))


def _not_utf8(line: bytes) -> int | None:
    """Tell where a line is none of UTF-8: as Windows' programs write it, in UTF-16 or in one byte a letter."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _unwieldy(fields: dict[str, Any]) -> str | None:
    """Tell of metadata as no one writes it: no store takes it, or it is copied, entry by entry, at every question."""
    kept = {key: value for key, value in fields.items() if key == "meta" or _is_kept(fields, key)}
    entries = 0
    for depth, level in enumerate(levels(kept), 1):
        entries += len(level)
        if depth == _MOST_LEVELS:
            return f"in more than {_MOST_LEVELS} levels"
        if entries > _MOST_ENTRIES:
            return f"of more than {_MOST_ENTRIES} entries"
    return None


def _is_kept(fields: Mapping[str, Any], key: str) -> bool:
    """Tell what is metadata outside of `meta`: teams and tags; no vector, and not the text again, in parts or words."""
    value = fields[key]
    if not isinstance(value, list):
        return isinstance(value, str | int | float)
    is_short = len(value) <= _MOST_NAMES and key != _SENTENCES
    return is_short and all(isinstance(one, str) and len(one) <= _LONGEST_NAME for one in value)


def _meta(fields: dict[str, Any]) -> dict[str, Any]:
    own = fields.get("meta")
    values = {**(own if isinstance(own, dict) else {}), **{key: fields[key] for key in fields if _is_kept(fields, key)}}
    told = [values.pop("title", None), own.get("title") if isinstance(own, dict) else None]
    for own_field in ("id", "text", "content", "meta"):
        values.pop(own_field, None)
    if title := next(filter(str.strip, map(_title, told)), ""):  # an export writes "" where it has none
        values["title"] = title
    # What a record itself calls `source` is kept beside what this package calls so.
    return {f"record_{key}" if key in _RESERVED else key: value for key, value in values.items()}


def _title(told: Any) -> str:
    """Read a title, or several; null, a boolean or an object is none."""
    titles = told if isinstance(told, list) else [told]
    return ", ".join(str(one) for one in titles if isinstance(one, str) or is_number(one))
