"""Turn files and records into documents with embeddings; what cannot be turned says why."""

import hashlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from haystack import Document, component
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ByteStream
from pypdf import PasswordType, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from haystack_integrations.crag.pipelines.contents import Failure, Source, name_of, provenance
from haystack_integrations.crag.pipelines.loader import load
from haystack_integrations.crag.pipelines.sources import MIME_TYPES
from haystack_integrations.crag.web.markup import crowded

_MAX_UNPACKED: Final = 500_000_000
_MAX_XML: Final = 50_000_000  # the text of thirty thick novels; its reader takes twelve times as much memory
_MOST_ATTRIBUTES: Final = 2_000
# Two-byte text has a mark at its start; a password-protected DOCX and an old DOC are one and the same container.
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_OLE: Final = b"\xd0\xcf\x11\xe0"


@component
class _HandBack:
    """Stands where the pipeline's writer would, and hands the documents back."""

    @component.output_types(documents_written=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Hand the documents back."""
        return {"documents_written": documents}


@component
class _Borrowed:
    """Stands for the caller's embedder, which as a component could be in one pipeline only, and once."""

    def __init__(self, embedder: Any) -> None:
        self.embedder = embedder

    def warm_up(self) -> None:
        """Warm up the embedder."""
        if hasattr(self.embedder, "warm_up"):
            self.embedder.warm_up()

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Embed documents."""
        return {"documents": self.embedder.run(documents=documents)["documents"]}


class _File(ByteStream):
    def __repr__(self) -> str:
        # The converters log what they cannot read; the beginning of a file is nothing for a log.
        return repr(self.meta["source"])


class Converter:
    """
    Turns sources into documents with embeddings, by a pipeline whose writer is exchanged.

    :param pipeline: Name or file of the pipeline, with components `embedder` and `writer`.
    :param embedder: Document embedder instead of the pipeline's own, or None.
    """

    def __init__(self, pipeline: str | Path, embedder: Any) -> None:
        """Load and warm up the pipeline."""
        given = {} if embedder is None else {"embedder": _Borrowed(embedder)}
        self._pipeline = load(pipeline, writer=_HandBack(), **given)
        self._embedder = self._pipeline.pipeline.get_component("embedder")
        self._pipeline.warm_up()

    def records(self, sources: list[Source]) -> list[list[Document] | Failure]:
        """
        Embed the documents of records.

        :param sources: Records.
        :returns: One result per record, same order.
        """
        documents = [source.document for source in sources if source.document is not None]
        return [[document] for document in self._embedder.run(documents=documents)["documents"]]

    def files(self, sources: list[Source]) -> list[list[Document] | Failure]:
        """
        Convert, split and embed files; a bad one does not harm the others.

        :param sources: Files.
        :returns: One result per file, same order: its documents, numbered, or why there are none.
        """
        problems = {source.name: problem(source) for source in sources}
        good = [source for source in sources if problems[source.name] is None]
        results: dict[str, list[Document] | Failure] = {
            name: Failure(name, reason) for name, reason in problems.items() if reason is not None
        }
        results.update(self._run(good))
        return [results[source.name] for source in sources]

    def _run(self, sources: list[Source]) -> dict[str, list[Document] | Failure]:
        streams = [
            _File(source.data, provenance(source.name, source.shown, source.sha256), MIME_TYPES[source.suffix])
            for source in sources
        ]
        try:
            documents = self._pipeline.run(sources=streams).get("documents_written", []) if streams else []
        except PipelineRuntimeError as error:
            if len(sources) > 1:
                return {name: result for source in sources for name, result in self._run([source]).items()}
            kind = type(error.__cause__ or error).__name__  # not its text, which may quote the file
            reason = f"the pipeline's {error.component_name!r} failed on it ({kind}); save it in another format"
            return {sources[0].name: Failure(sources[0].name, reason)}
        parts: dict[str, list[Document]] = {source.name: [] for source in sources}
        for document in documents:
            if document.content and document.content.strip():
                parts[name_of(document.meta)].append(document)
        return {source.name: _numbered(source, parts[source.name]) for source in sources}


def _numbered(source: Source, parts: list[Document]) -> list[Document] | Failure:
    if not parts:
        hint = "; a scanned PDF needs text recognition first" if source.suffix == ".pdf" else ""
        return Failure(source.name, f"no text was found in it, or it is damaged{hint}; repair it or leave it out")
    documents = []
    for chunk, part in enumerate(parts):
        # Another version of a file has other ids, so that it can be written completely beside the old one.
        key = hashlib.sha256(f"{source.name}\0{source.sha256}\0{chunk}".encode()).hexdigest()
        meta = {**part.meta, "chunk": chunk, "chunks": len(parts)}
        documents.append(replace(part, id=key, meta=meta))
    return documents


def problem(source: Source) -> str | None:
    """
    Look whether a file is what its name says, as far as its converter would fail on it or misread it.

    :param source: A file.
    :returns: What is wrong and the way out, or None.
    """
    data = source.data
    if not data.strip():
        return "the file is empty; write something into it, or remove it"
    if source.suffix == ".pdf":
        return _pdf_problem(data)
    if source.suffix == ".docx":
        return _docx_problem(data)
    if data.startswith(_UTF16):
        return "got text in UTF-16, wanted UTF-8; save it as UTF-8"
    if b"\0" in data:
        return f"got a binary file, wanted text; give it the suffix of what it is instead of {source.suffix}"
    if source.suffix in {".html", ".htm"}:  # may name its own encoding; in any, its marks are these
        if next(crowded(data.decode("latin-1"), _MOST_ATTRIBUTES), None) is not None:
            return f"got a tag with {_MOST_ATTRIBUTES} attributes or more, which takes hours to read; repair the file"
        return None
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"got a byte at position {error.start} that is not UTF-8, wanted UTF-8 text; save it as UTF-8"
    return None


def _pdf_problem(data: bytes) -> str | None:
    if b"%PDF-" not in data[:1024]:
        return "got a file that does not begin like a PDF; give it the suffix of what it is, or export it again"
    if b"/Encrypt" not in data:
        return None
    try:
        reader = PdfReader(BytesIO(data))
        # Many are encrypted with an empty password, only to restrict printing: those can be read.
        locked = reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED
    except DependencyError:
        return "got a PDF with AES encryption; run `pip install cryptography`, or save a copy without a password"
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return f"got a damaged PDF ({type(error).__name__}); repair or export it again"
    return "got a PDF with a password; save a copy without a password" if locked else None


def _docx_problem(data: bytes) -> str | None:
    if data.startswith(_OLE):
        return "got a DOCX with a password, or a file in the old DOC format; save it as DOCX without a password"
    try:
        with ZipFile(BytesIO(data)) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    except (BadZipFile, ValueError, NotImplementedError):
        return "got a file that is no DOCX inside (no zip archive); give it the suffix of what it is, or save it again"
    if not any(name.startswith("word/") for name in sizes):
        return "got a zip archive without a Word document in it; give it the suffix of what it is"
    if sum(sizes.values()) > _MAX_UNPACKED:
        return f"got a DOCX of {sum(sizes.values())} bytes unpacked, wanted at most {_MAX_UNPACKED}; split it"
    text = sum(size for name, size in sizes.items() if name.endswith(".xml"))
    if text > _MAX_XML:
        return f"got a DOCX with {text} bytes of text and marks, wanted at most {_MAX_XML}; split it"
    return None
