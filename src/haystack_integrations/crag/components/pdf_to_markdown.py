"""PDF files whose headings are told as Markdown's: what a section is about stands in its heading alone."""

from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream

from haystack_integrations.crag.converting import converted
from haystack_integrations.crag.inputs import checked


@component
@checked
class PdfToMarkdown:
    """
    Reads PDF files by pypdf, with `#` before the headings that the file's outline or tags name, by level.

    Tables are told as Markdown where tags say what their rows and cells are; word processors and browsers write tags.

    As Haystack's `PyPDFToDocument`, but that words stay apart in files whose fonts have no space, as TeX writes them,
    and that the values of forms and text typed upon a page are read. Comments and attached files are not.

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

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """
        Convert files.

        :param sources: PDF files, or what was read of them.
        :param meta: Metadata for all documents, or for each.
        :returns: A dictionary with the following keys:
            - `documents`: One per source, pages parted by form feeds; none for a source that cannot be read, which is
              logged. A line that begins with `#` and is no heading has a backslash before it.
        """
        from haystack_integrations.crag.formats.pdf_pages import pdf_as_markdown

        return {"documents": converted(sources, meta, pdf_as_markdown)}
