"""DOCX files as Markdown: what a section or a column is about stands in its heading alone."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.converting import rewritten
from haystack_integrations.crag.inputs import checked

_ROW: Final = re.compile(r"(?m)^\|.*\|$")
_WIDTH: Final = re.compile(r"(?<= ) +|(?<=---)-+")
# A table's first two rows. Below the names of columns the reader writes as many dashes as a column is wide: none below
# one without a text, and then nobody sees a table there.
_HEAD: Final = re.compile(r"(?m)(?<!\|\n)^(\|.*\|\n)(\|(?: *+-*+ *+\|)++)$")


@component
@checked
class DocxToMarkdown:
    """
    Haystack's `DOCXToDocument`, by python-docx, with tables in Markdown and `#` before titles and headings, by level.

    ### Usage example

    ```python
    from io import BytesIO
    import docx
    from haystack.dataclasses import ByteStream
    from haystack_integrations.crag.components.docx_to_markdown import DocxToMarkdown

    file, saved = docx.Document(), BytesIO()
    file.add_heading("Refunds", level=2)
    file.add_paragraph("Two weeks.")
    file.save(saved)
    (document,) = DocxToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    assert document.content == "## Refunds\\nTwo weeks."
    ```
    """

    def __init__(self) -> None:
        """Take no options: what a pipeline needs otherwise, `DOCXToDocument` has."""
        from haystack.components.converters import DOCXToDocument  # a tenth of a second that no question needs

        self._converter = DOCXToDocument(table_format="markdown")

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: DOCX files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: As `DOCXToDocument` gives them, a paragraph on a line: none for a source that cannot be read,
              which is logged.
        """
        from haystack_integrations.crag.formats.docx_content import with_content_marked

        marked = [rewritten(source, with_content_marked) for source in sources]
        found = self._converter.run(sources=marked, meta=meta)["documents"]
        return {"documents": [replace(one, id="", content=_narrowed(one.content or "")) for one in found]}


def _narrowed(text: str) -> str:
    return _HEAD.sub(lambda head: head[1] + "| --- " * (head[2].count("|") - 1) + "|", _ROW.sub(_narrow, text))


def _narrow(row: re.Match[str]) -> str:
    """Take out what only makes the cells of a column equally wide."""
    return _WIDTH.sub("", row[0])
