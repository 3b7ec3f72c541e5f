"""HTML files as Markdown: headings, paragraphs, lists and code stay what they are, and code stays as written."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.converting import rewritten
from haystack_integrations.crag.inputs import checked

# The pages are the user's own, so what is left out matters more than a menu that is not: where paragraphs are `div`,
# only the longest section would be kept.
_EXTRACTION: Final = {"favor_recall": True, "output_format": "markdown"}
# Fenced and inline code, in which a backslash is one; else a sign that is marked as none of Markdown's. A `#` stays
# marked, or its line would be a heading, and so does what parts the cells of a table.
_ESCAPED: Final = re.compile(r"(```[\s\S]*?```|`[^`\n]*`)|\\([\\`*_\[\]<>~+.-])")
# Code behind the words of an item: what opens it stands on a line of its own, or what ends it would open another.
_GLUED: Final = re.compile(r"(?<=[^\s`\\])[ \t]*(?=```\n)")
_HEADING: Final = re.compile(r"#{1,6} .*|\s*")


@component
@checked
class HtmlToMarkdown:
    """
    Haystack's `HTMLToDocument`, by Trafilatura, with Markdown as its output and no backslashes before signs.

    To a search, `find\\_all` is another word than `find_all`. The whole page is content, but for menus and what else an
    id or a class calls furniture, and all that stands in `pre` is code.

    ### Usage example

    ```python
    from haystack.dataclasses import ByteStream
    from haystack_integrations.crag.components.html_to_markdown import HtmlToMarkdown

    page = ByteStream(b"<h2>Refunds</h2><p>The refund_total is paid in two weeks.</p>", mime_type="text/html")
    (document,) = HtmlToMarkdown().run([page])["documents"]
    assert document.content == "## Refunds\\n\\nThe refund_total is paid in two weeks."
    ```
    """

    def __init__(self) -> None:
        """Take no options: what a pipeline needs otherwise, `HTMLToDocument` has."""
        from haystack.components.converters import HTMLToDocument  # a tenth of a second that no question needs
        from trafilatura.settings import use_config

        config = use_config()
        # Of a page with little text all would be taken, menus too, without marks for headings and tables.
        config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "1")
        self._converter = HTMLToDocument(extraction_kwargs={**_EXTRACTION, "config": config})

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: HTML files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: As `HTMLToDocument` gives them: none for a source that cannot be read, which is logged. None
              for a page that only leads to others, as a redirect or a table of contents does.
        """
        from haystack.components.converters.utils import normalize_metadata

        metas = normalize_metadata(meta, len(sources))
        return {"documents": [one for pair in zip(sources, metas, strict=True) for one in self._converted(*pair)]}

    def _converted(self, source: str | Path | ByteStream, meta: dict[str, Any]) -> list[Document]:
        from haystack_integrations.crag.formats.html_content import with_content_marked
        from haystack_integrations.crag.formats.html_leading import leads_away

        marked = rewritten(source, with_content_marked)
        page = marked.data if isinstance(marked, ByteStream) else b""
        found: list[Document] = self._converter.run(sources=[marked], meta=meta)["documents"]
        read = [replace(one, id="", content=_as_read(one.content or "")) for one in found]
        return [one for one in read if not leads_away(page, one.content or "")]


def _as_read(text: str) -> str:
    from haystack_integrations.crag.formats.html_marks import MARK

    text = _GLUED.sub("\n", _ESCAPED.sub(r"\1\2", text.replace(MARK, "").rstrip()))
    lines = text.split("\n")
    while lines and _HEADING.fullmatch(lines[-1]):  # of what is left out, such as links
        lines.pop()
    return "\n".join(lines) or text
