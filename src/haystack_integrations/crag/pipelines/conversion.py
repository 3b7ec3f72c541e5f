"""Turn files and records into documents with embeddings; what cannot be turned says why."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from haystack import Document, component
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.deadlines import GivenUpError, call_or_end
from haystack_integrations.crag.errors import ConfigurationError
from haystack_integrations.crag.formats import html_leading, sphinx_leading
from haystack_integrations.crag.pipelines.contents import MADE_BY, Failure, Source, provenance
from haystack_integrations.crag.pipelines.file_checks import HTML, doubt, in_utf8, problem
from haystack_integrations.crag.pipelines.identity import identity_of
from haystack_integrations.crag.pipelines.kinds import MIME_TYPES
from haystack_integrations.crag.pipelines.loader import load
from haystack_integrations.crag.pipelines.sources import by_source
from haystack_integrations.crag.sockets import is_part, sockets_of

_SPHINX: Final = (".rst", ".txt", ".md")
_SECONDS: Final = 60.0  # for files to be read, and as much for each megabyte of them: fifty times what most take


@component
class _HandBack:
    """Stands where the pipeline's writer would, and hands the documents back."""

    @component.output_types(documents_written=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Hand the documents back."""
        return {"documents_written": documents}


@component
class _Borrowed:
    """Stands for an embedder, which as a component could be in one pipeline only, and once; says when it is reached."""

    def __init__(self, embedder: Any) -> None:
        self.embedder, self.is_reached = embedder, False

    def warm_up(self) -> None:
        """Warm up the embedder."""
        if hasattr(self.embedder, "warm_up"):
            self.embedder.warm_up()

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Embed documents."""
        self.is_reached = True
        return {"documents": self.embedder.run(documents=documents)["documents"]}

    def failed_on(self, documents: Sequence[Document]) -> str | None:
        """Say that vectors are missing: Haystack's embedders for OpenAI's API log a failure, and go on without."""
        if getattr(self.embedder, "raise_on_failure", True):
            return None
        lacking = sum(one.embedding is None for one in documents)
        why = f"the embedder failed on {lacking} of its {len(documents)} passages, and logged why; index it again"
        return why if lacking else None


class _File(ByteStream):
    def __repr__(self) -> str:
        # The converters log what they cannot read; the beginning of a file is nothing for a log.
        return repr(self.meta["source"])


class Converter:
    """
    Turns sources into documents with embeddings, by a pipeline whose writer is exchanged.

    :param pipeline: Name or file of the pipeline, with components `embedder` and `writer`. Records, which need no
        converter, pass through the former, and before it through `letters` and `titles`, if it has these.
    :param embedder: Document embedder instead of the pipeline's own, or None.

    `doubts` are the files that were turned into documents and will hardly be found, with the reason; `made_by` is the
    identity of the pipeline, in each document's metadata: what another one made of a file is not up to date.
    """

    def __init__(self, pipeline: str | Path, embedder: Any) -> None:
        """Load and warm up the pipeline; what embeds no documents is refused."""
        if embedder is None:
            embedder = load(pipeline, writer=_HandBack()).pipeline.get_component("embedder")
        _check_embedder(embedder)
        self.doubts: list[Failure] = []
        self.made_by = identity_of(pipeline)
        self._embedder = _Borrowed(embedder)
        self._pipeline = load(pipeline, writer=_HandBack(), embedder=self._embedder)
        self._pipeline.warm_up()
        made = self._pipeline.pipeline
        self._letters, self._titler = (made.graph.nodes.get(name, {}).get("instance") for name in ("letters", "titles"))

    def records(self, sources: list[Source]) -> list[list[Document] | Failure]:
        """
        Embed the documents of records.

        :param sources: Records.
        :returns: One result per record, same order.
        """
        documents = [source.document for source in sources if source.document is not None]
        if self._letters is not None:
            documents = [self._lettered(document) for document in documents]
        if self._titler is not None:
            documents = self._titler.run(documents=documents)["documents"]
        made = self._embedder.run(documents=documents)["documents"]
        results = ([replace(one, meta={**one.meta, MADE_BY: self.made_by})] for one in made)
        return [self._embedded(source, result) for source, result in zip(sources, results, strict=True)]

    def files(self, sources: list[Source]) -> list[list[Document] | Failure]:
        """
        Convert, split and embed files; a bad one does not harm the others.

        :param sources: Files.
        :returns: One result per file, same order: its documents, numbered, or why there are none; none of a page that
            only leads to others.
        """
        sources = [in_utf8(source) for source in sources]
        problems = {source.name: _problem_in_time(source) for source in sources}
        good = [source for source in sources if problems[source.name] is None]
        results: dict[str, list[Document] | Failure] = {
            name: Failure(name, reason) for name, reason in problems.items() if reason is not None
        }
        away = {source.name for source in good if _leads_away(source)}
        results.update({name: [] for name in away} | self._run([source for source in good if source.name not in away]))
        return [results[source.name] for source in sources]

    def _run(self, sources: list[Source]) -> dict[str, list[Document] | Failure]:
        streams = [
            _File(
                source.data,
                {**source.meta, **provenance(source.name, source.shown, source.sha256)},
                MIME_TYPES[source.suffix],
            )
            for source in sources
        ]
        try:
            documents = self._read(streams, _allowed(*sources)) if streams else []
        except (PipelineRuntimeError, GivenUpError) as error:
            if len(sources) > 1:
                return self._one_by_one(sources)
            if isinstance(error, GivenUpError):
                return {sources[0].name: Failure(sources[0].name, _too_slow(sources[0]))}
            kind = type(error.__cause__ or error).__name__  # not its text, which may quote the file
            way = "look at its server and key" if error.component_name == "embedder" else "save it in another format"
            reason = f"the pipeline's {error.component_name!r} failed on it ({kind}); {way}"
            return {sources[0].name: Failure(sources[0].name, reason)}
        parts = by_source(sources, documents)
        if parts is None:
            return self._one_by_one(sources)
        for source in sources:
            self._look_at(source, parts[source.name])
        results = ((source, _numbered(source, parts[source.name], self.made_by)) for source in sources)
        return {source.name: self._embedded(source, result) for source, result in results}

    def _lettered(self, record: Document) -> Document:
        """Write a record in the letters of files: its words are searched for in the same way."""
        texts = [record.content or "", record.meta.get("title", "")]
        if all(one.isascii() and "\r" not in one for one in texts):
            # Most are, and nothing changes in them but lines of blanks: no record that comes here is cut at paragraphs.
            return record
        written = self._letters.run([Document(content=one) for one in texts])["documents"]
        content, title = (one.content for one in written)
        return replace(record, content=content, meta={**record.meta, "title": title} if title else record.meta)

    def _one_by_one(self, sources: list[Source]) -> dict[str, list[Document] | Failure]:
        return {name: result for source in sources for name, result in self._run([source]).items()}

    def _embedded(self, source: Source, result: list[Document] | Failure) -> list[Document] | Failure:
        """Refuse what would be found by words only, and be up to date for ever."""
        why = None if isinstance(result, Failure) else self._embedder.failed_on(result)
        return result if why is None else Failure(source.name, why)

    def _look_at(self, source: Source, parts: Sequence[Document]) -> None:
        """Note a file that looks right, and of which few questions will find what it shows."""
        if any(map(_has_text, parts)) and (why := doubt(source, parts)) is not None:
            self.doubts.append(Failure(source.name, why))

    def _read(self, streams: Sequence[ByteStream], seconds: float) -> list[Document]:
        """Run the pipeline; what reads the files has its time, an embedder as much as it needs."""
        self._embedder.is_reached = False
        run = partial(self._pipeline.run, sources=streams)
        found: list[Document] = call_or_end(seconds, run, lambda: self._embedder.is_reached).get(
            "documents_written", []
        )
        return found


def _check_embedder(embedder: Any) -> None:
    """Refuse what embeds no documents: each file failed on it, as if its server or key were wrong."""
    takes = sockets_of(embedder, "input")
    if not is_part(embedder) or (takes is not None and "documents" not in takes):
        got = f"the class {embedder.__name__}" if isinstance(embedder, type) else f"a {type(embedder).__name__}"
        msg = f"got {got} as embedder, wanted a document embedder; pass for example StaticDocumentEmbedder()"
        raise ConfigurationError(msg)


def _has_text(document: Document) -> bool:
    return bool((document.content or "").strip())


def _leads_away(source: Source) -> bool:
    """Tell whether a page of Sphinx only leads to others; of one of HTML it is seen when it was read."""
    return source.suffix in _SPHINX and sphinx_leading.leads_away(source.data.decode("utf-8-sig"))


def _numbered(source: Source, made: list[Document], made_by: str) -> list[Document] | Failure:
    if not (parts := [one for one in made if _has_text(one)]):
        if source.suffix in HTML and html_leading.leads_away(source.data):
            return []
        hint = "; a scanned PDF needs text recognition first" if source.suffix == ".pdf" else ""
        return Failure(source.name, f"no text was found in it, or it is damaged{hint}; repair it or leave it out")
    documents = []
    for chunk, part in enumerate(parts):
        # Another version has other ids, so that it can be written completely beside the old one.
        key = hashlib.sha256("\0".join([source.name, source.sha256, made_by, str(chunk)]).encode()).hexdigest()
        meta = {**part.meta, MADE_BY: made_by, "chunk": chunk, "chunks": len(parts)}
        documents.append(replace(part, id=key, meta=meta))
    return documents


def _allowed(*sources: Source) -> float:
    """Give the seconds that files may take to be read."""
    return _SECONDS * (1 + sum(len(source.data) for source in sources) / 1_000_000)


def _too_slow(source: Source) -> str:
    return f"got a file of which nothing was read in {_allowed(source):.0f} s; split it, or save it in another format"


def _problem_in_time(source: Source) -> str | None:
    try:
        return call_or_end(_allowed(source), partial(problem, source), lambda: False)
    except GivenUpError:
        return _too_slow(source)
