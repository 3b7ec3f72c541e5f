"""Cut passages that are still long when words were counted: text without spaces, tables, lists of a word a line."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from haystack import Document, component

from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.settings import check_whole
from haystack_integrations.crag.texts.text import count_tokens, sentences

_WORDS: Final = re.compile(r"\S+\s*|\s+")


@component
@checked
class LongPassageSplitter:
    """
    Cuts passages that are longer than so many tokens; all others stay as they are.

    It stands behind a splitter that counts words. Chinese, Japanese and Thai have no spaces between them, so to such a
    splitter a whole file is one word; and Haystack's counts nothing but blanks, so a table without any is one, too.

    ### Usage example

    ```python
    from haystack import Document
    from haystack_integrations.crag.components.long_passage_splitter import LongPassageSplitter

    page = Document(content="退款在十四天内支付。" * 60)  # 600 characters, and no space
    passages = LongPassageSplitter(max_tokens=300).run([page])["documents"]
    assert [len(passage.content) for passage in passages] == [270, 270, 60]
    ```
    """

    def __init__(self, max_tokens: int = 300) -> None:
        """
        Choose the limit.

        :param max_tokens: Most tokens of a passage, as estimated piece by piece: an ideograph is one, six letters
            without a space at least one. Prose of 180 words has about 240; the shipped embedding model reads 512.
        :raises ConfigurationError: For a number below 1.
        """
        check_whole("max_tokens", max_tokens)
        self.max_tokens = max_tokens

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Cut at the ends of sentences and lines, else between words, else anywhere; no character is left out.

        :param documents: Passages, in order.
        :returns: A dictionary with the following keys:
            - `documents`: Passages, same order. What a splitter wrote down is continued: `split_id` counts on through
              a source, `split_idx_start` and `page_number` are those of each part.
        """
        passages: list[Document] = []
        added = Counter[str]()  # how many more passages a source has now
        for document in documents:
            source = str(document.meta.get("source_id", document.id))
            parts = list(self._parts(document.content or ""))
            if len(parts) > 1:
                passages += _cut(document, parts, added[source])
            elif added[source]:
                passages.append(replace(document, meta=_continued(document.meta, split_id=added[source])))
            else:
                passages.append(document)
            added[source] += len(parts) - 1
        return {"documents": passages}

    def _parts(self, text: str) -> Iterator[str]:
        """Put as many pieces together as a passage may have."""
        part, tokens = "", 0
        for piece in [text] if count_tokens(text) <= self.max_tokens else self._pieces(text):
            more = count_tokens(piece)
            if part and tokens + more > self.max_tokens:
                yield part
                part, tokens = "", 0
            part, tokens = part + piece, tokens + more
        yield part

    def _pieces(self, text: str) -> Iterator[str]:
        starts = [0, *(start for start, _ in sentences(text)[1:]), len(text)]
        for sentence in (text[start:end] for start, end in pairwise(starts)):
            if count_tokens(sentence) <= self.max_tokens:
                yield sentence
                continue
            for word in _WORDS.findall(sentence):
                # Cut anywhere, a character counts 1.3 tokens at most.
                most = len(word) if count_tokens(word) <= self.max_tokens else max(1, self.max_tokens * 3 // 4)
                yield from (word[start : start + most] for start in range(0, len(word), most))


def _cut(document: Document, parts: Sequence[str], shift: int) -> Iterator[Document]:
    """Give the parts of a document; Haystack's page is that of a passage's first letter."""
    places = {} if "source_id" in document.meta else {"split_idx_start": 0, "page_number": 1}
    # Of a splitter's passage nobody knows where it stands, if the splitter does not say it: Markdown's does not.
    meta = {"source_id": document.id, "split_id": 0, **places, **document.meta}
    start, pages = 0, -_opening_pages(parts[0])
    for number, part in enumerate(parts):
        page = pages + _opening_pages(part)
        own = _continued(meta, split_id=shift + number, split_idx_start=start, page_number=page)
        yield replace(document, id="", content=part, meta=own, embedding=None, sparse_embedding=None)
        start, pages = start + len(part), pages + part.count("\f")


def _opening_pages(part: str) -> int:
    """Count the pages that end before the first letter."""
    return part[: len(part) - len(part.lstrip())].count("\f")


def _continued(meta: dict[str, Any], **more: int) -> dict[str, Any]:
    """Count on from the numbers that a splitter wrote down."""
    return {**meta, **{name: meta[name] + add for name, add in more.items() if isinstance(meta.get(name), int)}}
