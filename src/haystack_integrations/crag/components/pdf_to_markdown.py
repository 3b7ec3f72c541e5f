"""PDF files whose headings are told as Markdown's: what a section is about stands in its heading alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.inputs import checked


@component
@checked
class PdfToMarkdown:
    """
    Haystack's `PyPDFToDocument`, with `#` before the headings that the file's outline names, one for each level.

    A PDF without an outline is read as ever.

    ### Usage example

    ```python
    from io import BytesIO
    from haystack.dataclasses import ByteStream
    from pypdf import PdfWriter
    from haystack_integrations.crag.components.pdf_to_markdown import PdfToMarkdown

    file, saved = PdfWriter(), BytesIO()
    file.add_blank_page(width=72, height=72)
    file.add_outline_item(title="Refunds", page_number=0)
    file.write(saved)
    (document,) = PdfToMarkdown().run([ByteStream(saved.getvalue())])["documents"]
    assert document.content == ""  # nothing is printed on the page
    ```
    """

    def __init__(self) -> None:
        """Take no options: what a pipeline needs otherwise, `PyPDFToDocument` has."""
        from haystack.components.converters import PyPDFToDocument  # a tenth of a second that no question needs

        self._converter = PyPDFToDocument()

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: PDF files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: As `PyPDFToDocument` gives them, pages parted by form feeds: none for a source that cannot be
              read, which is logged. A line that begins with `#` and is no heading has a backslash before it.
        """
        from haystack.components.converters.utils import get_bytestream_from_source, normalize_metadata

        from haystack_integrations.crag.texts.pdf_headings import outline_of, with_headings

        documents = []
        for source, own in zip(sources, normalize_metadata(meta, len(sources)), strict=True):
            for one in self._converter.run(sources=[source], meta=own)["documents"]:
                headings = outline_of(get_bytestream_from_source(source).data)
                documents.append(replace(one, id="", content=with_headings(one.content or "", headings)))
        return {"documents": documents}
