"""DOCX files whose headings are told as Markdown's: what a section is about stands in its heading alone."""

from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.inputs import checked
from haystack_integrations.crag.rewriting import rewritten


@component
@checked
class DocxToMarkdown:
    """
    Haystack's `DOCXToDocument`, by python-docx, with `#` before titles and headings, one for each level.

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

        self._converter = DOCXToDocument()

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
        from haystack_integrations.crag.texts.docx_headings import with_marks

        marked = [rewritten(source, with_marks) for source in sources]
        return {"documents": self._converter.run(sources=marked, meta=meta)["documents"]}
