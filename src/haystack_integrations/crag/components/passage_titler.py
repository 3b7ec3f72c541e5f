"""Put before each passage what it seldom repeats: the name of its file, its headings, the names of its columns."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, groupby, pairwise
from pathlib import PurePosixPath
from typing import Any, Final
from unicodedata import normalize
from urllib.parse import unquote

from haystack import Document, component

from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.metadata import source_name, title_of, told
from haystack_integrations.crag.texts.headings import Headings
from haystack_integrations.crag.texts.marked_words import MARKS
from haystack_integrations.crag.texts.table_heads import TableHeads
from haystack_integrations.crag.texts.titles import LONGEST_TITLE, identified, shows, titled

# Digits alone are of a version or a date.
_SUFFIX: Final = re.compile(r"\.(?:(?i:markdown|asciidoc)|(?=\d*[A-Za-z])[A-Za-z0-9]{1,5})$")
_BETWEEN: Final = re.compile(rf"(?:[^\w{MARKS}]|_)+")
_ID: Final = re.compile(r"[ _-](?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9A-Za-z])")  # Notion's
_RECORD: Final = ".jsonl#"
_LONGEST_NAME: Final = 100
_LEVEL: Final = "__level"  # Haystack's HierarchicalDocumentSplitter gives a text once whole, then again in parts
_HEADER: Final = "header"  # and its MarkdownHeaderSplitter cuts at headings, which are here then
_MOST_WORDS: Final = 40  # of headings that begin the next passage: more of them are a list
_OFFSET: Final = "split_idx_start"  # of the text that a splitter gave; who joins passages by it would cut off words
# What the converters of `indexing.yml` give as Markdown. Elsewhere a line that begins with # may be a comment.
_OFFICE: Final = (".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm")
_MARKDOWN: Final = {".md", ".markdown", ".mdx", ".html", ".htm", ".pdf", *_OFFICE, ".csv", ".tsv"}
_WITH_HEADINGS: Final = {*_MARKDOWN, ".txt", ".rst", ".adoc", ".asciidoc"}


@component
@checked
class PassageTitler:
    """
    Gives passages a title, which is also the first line of their text: the words of their path, and their headings.

    A question names its subject, "How long is the notice in the travel policy?", and of `travel-policy.pdf` only the
    first page may do so. Searches, graders and the embedding read the text, whatever store it is in. Headings that end
    a passage begin the next one, and rows that go on with a Markdown table stand below the names of its columns.

    Source of the idea: contextual chunk headers, as in "Contextual Retrieval" (Anthropic, 2024), without a model.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.passage_titler import PassageTitler

    texts = ["# Leaving\\n\\nBy letter only.", "The notice is two weeks."]
    passages = [Document(content=text, meta={"source": "hr/travel-policy.md"}) for text in texts]
    titled = PassageTitler().run(passages)["documents"]
    assert [each.meta["title"] for each in titled] == ["hr travel policy", "hr travel policy - Leaving"]
    assert titled[1].content == "hr travel policy - Leaving\\n\\nThe notice is two weeks."
    ```
    """

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Add titles.

        :param documents: Passages, those of a document one after the other. `meta["title"]` names it, else its
            `source`, `url` or `file_path`; headings are looked for in files, `# ...` in what becomes Markdown only.
        :returns: A dictionary with the following keys:
            - `documents`: Same order, same ids; headings alone are in the next. A text that begins with its title or
              has nothing to be named by stays as it is; any other has no embedding and no `split_idx_start`.
        """
        texts = groupby(documents, _text_of)
        return {"documents": [each for (name, *_), some in texts for each in _titled_all(name or "", some)]}


def _text_of(passage: Document) -> tuple[Any, ...]:
    """Tell which text a passage is of: that of its file, else by what its splitter and its title say."""
    name, meta = source_name(passage), passage.meta
    return name, meta.get(_LEVEL), *(() if name else (meta.get("source_id"), told(meta, "title")))


def _titled_all(source: str, passages: Iterator[Document]) -> Iterator[Document]:
    """Give the passages of one document their titles."""
    suffix = PurePosixPath(source).suffix.lower()
    headings, tables = Headings(is_markdown=suffix in _MARKDOWN), TableHeads()
    for passage, above in _led(passages, headings) if suffix in _WITH_HEADINGS else ((each, []) for each in passages):
        own, text = " ".join(title_of(passage).split()) or _words_of(source), passage.content or ""
        yield _titled(_below(tables.over(text), passage), identified(own, source, text), _taken_out(passage) or above)


def _led(passages: Iterator[Document], headings: Headings) -> Iterator[tuple[Document, list[str]]]:
    """Give passages with the headings above them; those that one ends with are of what follows, and begin the next."""
    held = ""
    for passage, following in pairwise(chain(passages, [None])):
        if passage is None:
            return
        text = held + (passage.content or "")
        above, end = headings.over(text), headings.closing
        held = text[end:].rstrip() + "\n\n" if end < len(text) else ""
        is_own = not {_LEVEL, _HEADER}.isdisjoint(passage.meta)  # cut as it is meant
        if following is None or is_own or len(held.split()) > _MOST_WORDS:
            end, held = len(text), ""
        if text[:end].strip() or not held:
            yield (passage if text[:end] == passage.content else _changed(passage, text[:end], passage.meta)), above


def _below(head: str, passage: Document) -> Document:
    """Put what stands above its table before the rows of a passage."""
    return _changed(passage, head + (passage.content or ""), passage.meta) if head else passage


def _taken_out(passage: Document) -> list[str]:
    """Give the headings that Haystack's MarkdownHeaderSplitter has in the metadata, and perhaps nowhere else."""
    own, parents = passage.meta.get(_HEADER), passage.meta.get("parent_headers")
    if not isinstance(own, str) or not isinstance(parents, list):
        return []
    return [*map(str, parents), *([] if shows(passage.content or "", own) else [own])]


def _changed(passage: Document, text: str, meta: dict[str, Any]) -> Document:
    """Give a passage another text: its vectors are no longer those of it, and it begins where no source does."""
    meta = {name: value for name, value in meta.items() if name != _OFFSET}
    return replace(passage, content=text, meta=meta, embedding=None, sparse_embedding=None)


def _titled(passage: Document, name: str, headings: list[str]) -> Document:
    text = passage.content or ""
    if not name or not text.strip():
        return passage
    said = set(_BETWEEN.split(name.casefold()))
    parts = [name, *(words for words in headings if not said.issuperset(_BETWEEN.split(words.casefold())))]
    while len(parts) > 1 and len(" - ".join(parts)) > LONGEST_TITLE:
        del parts[1]  # the outermost: the others say more of the passage
    title = " - ".join(parts)
    meta = {**passage.meta, "title": title}
    if shows(text, title):
        return replace(passage, meta=meta)
    return _changed(passage, titled(text, title), meta)


def _words_of(source: str) -> str:
    """Read a path or address as words; of a long one the end says more. A record's number or an id says nothing."""
    if _RECORD in source.lower():
        return ""
    source = unquote(source) if "://" in source else source  # in an address, letters beyond ASCII are numbers
    # macOS writes accents apart from their letters, and a mark alone would part a word.
    words = _BETWEEN.sub(" ", _ID.sub("", _SUFFIX.sub("", normalize("NFC", source)))).strip()
    return words if len(words) <= _LONGEST_NAME else words[-_LONGEST_NAME:].partition(" ")[2]
